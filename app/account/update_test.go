package account

import (
	"fmt"
	"strings"
	"testing"

	"opsmon/app/account/manifest"
	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/kv"
	"opsmon/schema"
	"opsmon/schema/schematest"
)

// updates are the fields of http-api.md 4.1: two values each, as sent and as shown, and whether null is allowed.
func updates() map[string][3]string {
	fields := map[string][3]string{
		"currency": {`"GBP"`, `"USD"`, "null"}, "electricalPricePerKwh": {`0.31`, `999.99`, "null"}, "electricalCo2PerKwh": {`0`, `1.5e-2`, "null"},
		"dashboardConfig":  {`"{\"a\": [1.50, null], \"b\": \"\\u00e9\"}"`, `"{}"`, "null"},
		"uploadTransforms": {`"rows.good"`, `"good: $sum(rows.good)\nbad: 0\n"`, "null"}, "maxProductionCountPerSchedule": {`9999999`, `1e3`, "null"},
		"durationFormat": {`"days"`, `"minutes"`, ""}, "includeReasonCodes": {`["BRK","BRK","not yet"]`, `[]`, "null"}, "excludeReasonCodes": {`[]`, `["é\\\""]`, "null"},
		"includeTaskListCodes": {`["HELP"]`, `["START","HELP"]`, "null"}, "excludeTaskListCodes": {`["START"]`, `[""]`, "null"},
	}
	for f := range manifest.FlagCount {
		if f.Top() == manifest.LevelAccount {
			fields[f.String()] = [3]string{`"on"`, `"off"`, "null"}
		}
	}
	return fields
}

// TestUpdateFields changes each field of 4.1 separately: to a value, another, the same again and null. The account,
// the manifest and the answer must agree.
func TestUpdateFields(t *testing.T) {
	fields := updates()
	for _, name := range schematest.Properties(schema.JSON(schema.AccountUpdate), "") {
		if _, ok := fields[name]; !ok && name != "resetWarehousePassword" {
			t.Errorf("no values for %s", name)
		}
	}
	h := newPlant(t)
	shown := func(name, text string) string {
		v := decode(t, []byte(text))
		if s, ok := v.(string); ok && name == "dashboardConfig" {
			v = decode(t, []byte(s))
		}
		return string(manifest.Encode(v))
	}
	for name, texts := range fields {
		t.Run(name, func(t *testing.T) {
			for i, text := range texts {
				if text == "" {
					continue
				}
				before := h.now().Account
				if h.field(name) == shown(name, text) { // the value in the fixture
					h.post(fmt.Sprintf(`{%q: %s}`, name, texts[1-i]))
					before = h.now().Account
				}
				stamp := h.clock.tick()
				a := h.post(fmt.Sprintf(`{%q: %s}`, name, text))
				want := shown(name, text)
				if a.Revision != before.Revision+1 || h.now().Account.Revision != a.Revision {
					t.Errorf("%s: revision %d after %d", text, a.Revision, before.Revision)
				}
				if got := h.field("updatedAt"); got != `"`+stamp+`"` {
					t.Errorf("%s: updatedAt is %s, want %s", text, got, stamp)
				}
				places := []string{name, "manifest.account." + name}
				for _, place := range places {
					if got := h.field(place); got != want {
						t.Errorf("%s is %s, want %s", place, got, want)
					}
				}
				if got := string(manifest.Encode(at(t, decode(t, a.AppendAnswer(nil, false)), name))); got != want {
					t.Errorf("the answer has %s, want %s", got, want)
				}
				h.clock.tick()
				if again := h.post(fmt.Sprintf(`{%q: %s}`, name, text)); again.Revision != a.Revision || h.field("updatedAt") != `"`+stamp+`"` {
					t.Errorf("%s: the same again is revision %d", text, again.Revision)
				}
				if other := h.post(`{}`); other.Revision != a.Revision {
					t.Errorf("{} is revision %d", other.Revision)
				}
			}
		})
	}
	if report := Validate(h.now().Document().Bytes(), start); !report.Valid {
		t.Errorf("the manifest cannot be applied any more: %v", report.Details)
	}
	if r := h.apply(h.now().Document().Bytes()); r.Changed {
		t.Errorf("applying what is read changes %v", r.Changes)
	}
	h.whole()
}

// TestUpdateEqualValues checks that other digits and another order of keys are no change, but another order of a list
// is.
func TestUpdateEqualValues(t *testing.T) {
	h := newPlant(t)
	h.post(`{"dashboardConfig": "{\"a\": 1, \"b\": {\"c\": null, \"d\": [1, 2]}}", "electricalPricePerKwh": 0.2500}`)
	for body, want := range map[string]uint64{
		`{"electricalPricePerKwh": 0.25}`: 2, `{"electricalPricePerKwh": 25e-2}`: 2, `{"maxProductionCountPerSchedule": 500000.0}`: 2,
		`{"dashboardConfig": "{\"b\": {\"d\": [1.0, 2e0], \"c\": null}, \"a\": 1}"}`: 2, `{"enableScheduleCutShort": null, "includeReasonCodes": null}`: 2,
		`{"uploadTransforms": null, "resetWarehousePassword": false}`: 2,
	} {
		if a := h.post(body); a.Revision != want {
			t.Errorf("%s makes revision %d", body, a.Revision)
		}
	}
	if got := h.field("electricalPricePerKwh"); got != "0.2500" {
		t.Errorf("the digits became %s", got)
	}
	for i, body := range []string{
		`{"dashboardConfig": "{\"a\": 1, \"b\": {\"d\": [1, 2]}}"}`, // a null in a free-form object is a value
		`{"dashboardConfig": "{\"a\": 1, \"b\": {\"d\": [2, 1]}}"}`, `{"includeTaskListCodes": ["HYGIENE", "START", "HELP"]}`,
		`{"includeReasonCodes": []}`, // an empty list is set
	} {
		if a := h.post(body); a.Revision != uint64(i)+3 {
			t.Errorf("%s makes revision %d, want %d", body, a.Revision, i+3)
		}
	}
}

// TestUpdateRefused checks that all problems are listed together and nothing is changed.
func TestUpdateRefused(t *testing.T) {
	h := newPlant(t)
	deep := strings.Repeat("[", 62) + strings.Repeat("]", 62)
	var b strings.Builder
	for _, body := range []string{
		`[]`, `null`, `{"currency": "JPY"}`, `{"electricalPricePerKwh": 1000, "electricalCo2PerKwh": -0.1}`, `{"durationFormat": null}`, `{"resetWarehousePassword": null}`,
		`{"enableSchedulingOnly": "on", "includeTaskCodes": [], "domain": "x.example", "enableTask": "on"}`, `{"enableTasks": "inherit"}`,
		`{"maxProductionCountPerSchedule": 0}`, `{"maxProductionCountPerSchedule": 10000000}`, `{"includeReasonCodes": ["A", 1]}`,
		`{"dashboardConfig": {"a": 1}}`, `{"dashboardConfig": "[1]"}`, `{"dashboardConfig": "null"}`, `{"dashboardConfig": ""}`, `{"dashboardConfig": "{\"a\": 1,\n\"a\": 2}"}`,
		`{"dashboardConfig": "{\"a\": ` + deep + `}"}`, `{"dashboardConfig": "` + strings.Repeat("[", 65) + strings.Repeat("]", 65) + `"}`,
		`{"uploadTransforms": "good: $sum(rows.good"}`, `{"uploadTransforms": "a: [unclosed"}`, `{"uploadTransforms": ""}`,
		`{"uploadTransforms": "x: ((", "dashboardConfig": "nonsense", "currency": 1, "nonsense": 2}`,
	} {
		a, err := h.Update(boss(), decode(t, []byte(body)), nil)
		if a != nil {
			t.Errorf("%s gives an account", body)
		}
		wantKind(t, err, errdefs.Invalid)
		if len(body) > 100 {
			body = body[:100] + "…"
		}
		fmt.Fprintf(&b, "# %s%s\n", body, detailsOf(err))
	}
	golden(t, "update.golden", []byte(b.String()))
	if r := h.now().Account.Revision; r != 1 {
		t.Errorf("revision is %d", r)
	}
}

// TestDeepDashboard checks that POST /account accepts only objects that are valid in a manifest.
func TestDeepDashboard(t *testing.T) {
	h := newPlant(t)
	h.post(`{"dashboardConfig": "{\"a\": ` + strings.Repeat("[", 61) + strings.Repeat("]", 61) + `}"}`)
	if _, err := h.now().Manifest(); err != nil {
		t.Error(err)
	}
	if r := h.apply(h.now().Document().Bytes()); r.Changed {
		t.Errorf("applying what is read changes %v", r.Changes)
	}
	h.whole()
}

// TestResetWarehousePassword checks that each password is new, and that it is shown in the account but not in a
// revision.
func TestResetWarehousePassword(t *testing.T) {
	h := newPlant(t)
	first := h.post(`{"resetWarehousePassword": true}`)
	h.clock.tick()
	second := h.post(`{"resetWarehousePassword": true}`)
	if first.WarehousePassword == nil || second.WarehousePassword == nil || len(*first.WarehousePassword) < 20 || *first.WarehousePassword == *second.WarehousePassword {
		t.Fatalf("passwords are %v and %v", first.WarehousePassword, second.WarehousePassword)
	}
	if second.Revision != 1 || !second.UpdatedAt.After(first.UpdatedAt) {
		t.Errorf("revision is %d, updated at %v after %v", second.Revision, second.UpdatedAt, first.UpdatedAt)
	}
	if got := h.post(`{"resetWarehousePassword": true, "currency": "GBP"}`); got.Revision != 2 || *got.WarehousePassword == *second.WarehousePassword {
		t.Errorf("with a setting: revision %d", got.Revision)
	} else {
		second = got
	}
	if third := h.post(`{"resetWarehousePassword": false}`); third.Revision != 2 || *third.WarehousePassword != *second.WarehousePassword {
		t.Error("false had an effect")
	}
	if got := string(second.AppendAnswer(nil, false)); strings.Contains(got, *second.WarehousePassword) {
		t.Error("the answer to a member holds the password")
	}
	if got := string(second.AppendAnswer(nil, true)); !strings.Contains(got, *second.WarehousePassword) {
		t.Error("the answer to an admin lacks the password")
	}
	err := h.store.View(func(tx *kv.Tx) error {
		for item, err := range revisions.Scan(tx, kv.Range{}) {
			if err != nil {
				return err
			}
			if item.Value.Account.WarehousePassword != nil {
				t.Errorf("revision %d holds the password", item.Value.Number)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	for _, r := range h.auditTrail() {
		if strings.Contains(fmt.Sprint(r), *second.WarehousePassword) {
			t.Error("the audit holds the password")
		}
	}
	h.apply(edit(t, plantFile, `currency = "USD"`))
	if got := h.field("warehousePassword"); got != string(manifest.Encode(*second.WarehousePassword)) {
		t.Errorf("the password is %s after a manifest", got)
	}
}

// auditTrail returns the audit records of the account, newest first.
func (h *house) auditTrail() (records []audit.Record) {
	h.t.Helper()
	if err := h.store.View(func(tx *kv.Tx) (err error) {
		page, err := audit.List(tx, "northfield", audit.Query{Limit: 1000})
		records = page.Records
		return err
	}); err != nil {
		h.t.Fatal(err)
	}
	return records
}

// TestAudit checks that each change has one audit record, and that a request without a change has none.
func TestAudit(t *testing.T) {
	h := newPlant(t)
	h.post(`{"currency": "GBP", "enableTasks": null, "durationFormat": "hours"}`)
	h.post(`{"currency": "GBP"}`)
	h.apply(plantFile)
	h.apply(plantFile)
	if _, err := h.Apply(boss(), ApplyInput{Raw: edit(t, plantFile, `currency = "USD"`), DryRun: true}); err != nil {
		t.Fatal(err)
	}
	local := auth.Local("northfield")
	for range 2 {
		if _, err := h.Set(local, "appUrls", "https://x.example"); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if _, err := h.SetArchived(local, true); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, r := range h.auditTrail() {
		got = append(got, fmt.Sprintf("%s %s %s %v", r.Action, r.Actor.Email, r.Actor.Credential, r.Detail))
	}
	want := `account.archive  local map[]
account.set  local map[fields:appUrls value:https://x.example]
manifest.apply admin@northfield.example session:s1 map[changes:2 note: revision:3]
account.update admin@northfield.example session:s1 map[fields:currency,enableTasks revision:2]
account.create  local map[]`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("audit is\n%s\nwant\n%s", text, want)
	}
}

// TestRights checks that only member and admin may write, whatever the body (decisions.md section 4).
func TestRights(t *testing.T) {
	h := newPlant(t)
	for role, may := range map[auth.Role]bool{auth.Admin: true, auth.Member: true, auth.Supervisor: false, auth.Operator: false, auth.Readonly: false, "": false, "owner": false} {
		p := person(role)
		for what, fn := range map[string]func() error{
			"update":  func() error { _, err := h.Update(p, map[string]any{}, nil); return err },
			"apply":   func() error { _, err := h.Apply(p, ApplyInput{Raw: plantFile}); return err },
			"dry run": func() error { _, err := h.Apply(p, ApplyInput{Raw: plantFile, DryRun: true}); return err },
			"restore": func() error { _, err := h.Restore(p, 1, "", nil); return err },
		} {
			if err := fn(); (err == nil) != may {
				t.Errorf("%s by %q: %v", what, role, err)
			} else if !may {
				wantKind(t, err, errdefs.Forbidden)
			}
		}
		if _, err := h.Update(p, "nonsense", nil); !may {
			wantKind(t, err, errdefs.Forbidden) // before the body is checked
		}
		_, err := h.Set(p, "appUrls", "x")
		wantKind(t, err, errdefs.Forbidden)
		_, err = h.SetArchived(p, true)
		wantKind(t, err, errdefs.Forbidden)
		if _, err := h.Revision(p, 1); err != nil {
			t.Errorf("%q may not read a revision: %v", role, err)
		}
	}
}

// TestArchived checks that an archived account can be read but not changed, and that unarchiving restores it
// unchanged.
func TestArchived(t *testing.T) {
	h := newPlant(t)
	local := auth.Local("northfield")
	stamp := h.clock.tick()
	a, err := h.SetArchived(local, true)
	if err != nil || h.field("archivedAt") != `"`+stamp+`"` || h.field("updatedAt") != `"`+stamp+`"` || a.Revision != 1 {
		t.Fatalf("archived: %v, %s, revision %d", err, h.field("archivedAt"), a.Revision)
	}
	tag := h.now().Document().ETag
	h.clock.tick()
	if _, err := h.SetArchived(local, true); err != nil || h.field("archivedAt") != `"`+stamp+`"` {
		t.Errorf("archived twice: %v, %s", err, h.field("archivedAt"))
	}
	if info, _ := h.Account("northfield"); !info.Archived || len(h.List(false)) != 0 || len(h.List(true)) != 1 {
		t.Error("it is still among the active ones")
	}
	for what, fn := range map[string]func() error{
		"update": func() error { _, err := h.Update(boss(), map[string]any{}, nil); return err },
		"apply":  func() error { _, err := h.Apply(boss(), ApplyInput{Raw: plantFile}); return err },
		"apply by local": func() error {
			_, err := h.Apply(local, ApplyInput{Raw: edit(t, plantFile, `currency = "USD"`)})
			return err
		},
		"dry run": func() error { _, err := h.Apply(boss(), ApplyInput{Raw: plantFile, DryRun: true}); return err },
		"restore": func() error { _, err := h.Restore(boss(), 1, "", nil); return err },
		"set":     func() error { _, err := h.Set(local, "appUrls", "x"); return err },
	} {
		if err := fn(); errdefs.KindOf(err) != errdefs.Conflict {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := h.now().Resolve("OVEN-1"); err != nil {
		t.Error(err)
	}
	if _, err := h.SetArchived(local, false); err != nil || h.field("archivedAt") != "null" {
		t.Errorf("unarchived: %v, %s", err, h.field("archivedAt"))
	}
	if h.now().Document().ETag == tag {
		t.Error("the tag is that of the archived account")
	}
	h.post(`{"currency": "GBP"}`)
	h.whole()
}

// TestSet checks the administrator's fields and refuses all others; the same value again creates no revision.
func TestSet(t *testing.T) {
	h := newPlant(t)
	local := auth.Local("northfield")
	for i, c := range []struct{ name, value, field string }{
		{"stationCountLimit", "7", "7"}, {"stationCountLimit", "null", "null"}, {"stationCountLimit", "6", "6"}, {"appUrls", "a \"b\"", `"a \"b\""`}, {"appUrls", "", `""`}, {"appUrls", "null", "null"},
	} {
		for range 2 {
			a, err := h.Set(local, c.name, c.value)
			if err != nil || h.field(c.name) != c.field || h.field("manifest.account."+c.name) != c.field || a.Revision != uint64(i)+2 {
				t.Errorf("%s=%s: %v, %s, revision %d", c.name, c.value, err, h.field(c.name), a.Revision)
			}
		}
	}
	for _, c := range [][2]string{{"stationCountLimit", "-1"}, {"stationCountLimit", "1.5"}, {"stationCountLimit", ""}, {"stationCountLimit", "99999999999999999999"}, {"domain", "x.example"}, {"currency", "EUR"}} {
		_, err := h.Set(local, c[0], c[1])
		wantKind(t, err, errdefs.Invalid)
	}
	_, err := h.Set(local, "stationCountLimit", "5")
	wantKind(t, err, errdefs.Conflict)
	if want := "stationCountLimit cannot be 5: the account has 6 stations; take some out of the manifest first"; err == nil || err.Error() != want {
		t.Errorf("a limit below what there is: %v, want %s", err, want)
	}
}

// TestLimitBelowStations checks an account that has more stations than its limit, from a time when nothing refused
// that. A manifest without additional stations is accepted.
func TestLimitBelowStations(t *testing.T) {
	h := newPlant(t)
	a := *h.now().Account
	a.StationCountLimit, a.Sequence = new(int64(4)), a.Sequence+1
	if err := h.store.Update(func(tx *kv.Tx) error { return accounts.Put(tx, a.ID, a) }); err != nil {
		t.Fatal(err)
	}
	if err := h.refresh(a.ID); err != nil {
		t.Fatal(err)
	}
	with := func(n int) []byte { // replaces the only station of the last plant
		return edit(t, plantFile, `plants[1].stationGroups[1].stations = [`+list(n, func(i int) string { return fmt.Sprintf(`{"code":"M-%d","name":"M"}`, i) })+`]`)
	}
	_, err := h.Apply(boss(), ApplyInput{Raw: with(2)})
	wantKind(t, err, errdefs.Conflict)
	h.apply(with(1)) // a different one in its place
	fewer := edit(t, plantFile, `plants[1].stationGroups = [{"code":"one","name":"One","stations":[{"code":"M-0","name":"M"}]}]`)
	h.apply(fewer)
	_, err = h.Apply(boss(), ApplyInput{Raw: plantFile})
	wantKind(t, err, errdefs.Conflict)
}

// TestIfMatch checks that a write based on another revision is a conflict, and that live fields do not matter.
func TestIfMatch(t *testing.T) {
	h := newPlant(t)
	tag := h.now().Answer(true).ETag
	update := func(header, body string) error {
		_, err := h.Update(boss(), decode(t, []byte(body)), ParseMatch(header))
		return err
	}
	if _, err := h.SetArchived(auth.Local("northfield"), true); err != nil {
		t.Fatal(err)
	}
	if _, err := h.SetArchived(auth.Local("northfield"), false); err != nil {
		t.Fatal(err)
	}
	if err := update(tag, `{"currency": "GBP"}`); err != nil {
		t.Errorf("the tag of revision 1: %v", err)
	}
	for _, header := range []string{tag, `"1-000"`, `W/"1-000"`, `W/` + h.now().Answer(true).ETag, `"2"`, `2`, `"x-1"`, `""`, `"1-a", "3-b"`} {
		err := update(header, `{"currency": "USD"}`)
		wantKind(t, err, errdefs.Conflict)
		if _, err := h.Apply(boss(), ApplyInput{Raw: plantFile, Match: ParseMatch(header)}); errdefs.KindOf(err) != errdefs.Conflict {
			t.Errorf("apply with If-Match %s: %v", header, err)
		}
		if _, err := h.Restore(boss(), 1, "", ParseMatch(header)); errdefs.KindOf(err) != errdefs.Conflict {
			t.Errorf("restore with If-Match %s: %v", header, err)
		}
	}
	for i, header := range []string{"", "*", `"9-x" , "3-y"`, h.now().Document().GzipETag, ""} {
		if i == 4 {
			if header = h.now().Answer(false).GzipETag; !strings.HasPrefix(header, `W/"`) {
				t.Errorf("the tag of GET /account is %s, want a weak one", header)
			}
		}
		if i == 3 {
			header = h.now().Document().GzipETag
		}
		if i == 2 {
			header = fmt.Sprintf(`"9-x" , "%d-y"`, h.now().Account.Revision)
		}
		if err := update(header, fmt.Sprintf(`{"electricalPricePerKwh": %d}`, i)); err != nil {
			t.Errorf("If-Match %s: %v", header, err)
		}
	}
}
