package account

import (
	"strings"
	"testing"
	"time"

	"opsmon/app/account/manifest"
	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
)

// TestStarter checks that an account created without a manifest gets one plant, one group and one station
// (decisions.md section 2).
func TestStarter(t *testing.T) {
	h := newHouse(t)
	if err := h.tryCreate(CreateInput{Domain: " Northfield.Example "}, true); err != nil {
		t.Fatal(err)
	}
	if got := h.field("id") + h.field("domain"); got != `"northfield""northfield.example"` {
		t.Errorf("id and domain are %s", got)
	}
	m, err := h.now().Manifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Plants) != 1 || len(m.Plants[0].Groups) != 1 || m.StationCount() != 1 {
		t.Errorf("the starter has %d plants and %d stations", len(m.Plants), m.StationCount())
	}
	for path, want := range map[string]string{
		"durationFormat": `"months"`, "manifest.account.durationFormat": `"months"`, "currency": "null", "cursors": "[]", "enableTasks": "null",
		"createdAt": `"2026-01-12T08:00:00.000Z"`, "updatedAt": `"2026-01-12T08:00:00.000Z"`, "archivedAt": "null", "warehousePassword": "null",
		"manifest.account.plants[0].createdAt": `"2026-01-12T08:00:00.000Z"`, "manifest.account.plants[0].stationGroups[0].stations[0].archivedAt": "null",
	} {
		if got := h.field(path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	if report := Validate(h.now().Document().Bytes(), start); !report.Valid {
		t.Errorf("the starter cannot be applied: %v", report.Details)
	}
	if r := h.apply(h.now().Document().Bytes()); r.Changed {
		t.Errorf("applying the starter again changes %v", r.Changes)
	}
	h.whole()
}

// TestEveryFieldIsThere checks that GET /account has every field of http-api.md 2.1, unset ones as null.
func TestEveryFieldIsThere(t *testing.T) {
	h := newHouse(t)
	h.create(CreateInput{Domain: "northfield.example"})
	fields := strings.Fields(`id domain stationCountLimit electricalPricePerKwh electricalCo2PerKwh currency maxProductionCountPerSchedule dashboardConfig
		warehousePassword uploadTransforms durationFormat appUrls includeReasonCodes excludeReasonCodes includeTaskCodes excludeTaskCodes includeTaskListCodes
		excludeTaskListCodes createdAt updatedAt archivedAt enableTasks enableCycleTimeAnalysis enableLostProductionCost enableAutoEndOnQuantityComplete
		enableDragBetweenStationsOnGantt enableHistoricalCorrection enableProductionCorrection enableManualProduction enableQuickScheduleStart
		enableScheduleCutShort enableRejectProduction enableEditPartsPerCycle enableScheduleStationFlexibility enableManualDowntime enableAlwaysConnected`)
	check := func(what string, body []byte, more ...string) {
		got := decode(t, body).(map[string]any)
		if inner, ok := got["result"].(map[string]any); ok {
			got = inner
		}
		for _, name := range append(fields, more...) {
			if _, ok := got[name]; !ok {
				t.Errorf("%s lacks %s", what, name)
			}
		}
		if len(got) != len(fields)+len(more) {
			t.Errorf("%s has %d fields, want %d", what, len(got), len(fields)+len(more))
		}
	}
	check("GET /account", h.now().Answer(false).Bytes(), "cursors", "manifest")
	check("GET /account of an admin", h.now().Answer(true).Bytes(), "cursors", "manifest")
	check("POST /account", h.post(`{}`).AppendAnswer(nil, true))
}

// TestCreateFromManifest checks that system fields come from the document, except live fields (decisions.md section
// 2).
func TestCreateFromManifest(t *testing.T) {
	h := newHouse(t)
	h.create(CreateInput{ID: "northfield", Domain: "NORTHFIELD.example", Manifest: edit(t, plantFile,
		`warehousePassword = "from-elsewhere"`, `uploadTransforms = "good: $sum(rows.good)"`, `appUrls = "https://screens.northfield.example"`,
		`createdAt = "2024-03-01T09:30:00.1234+02:00"`, `updatedAt = "2025-06-07T08:09:10Z"`,
		`plants[0].createdAt = "2024-03-02T00:00:00Z"`, `plants[0].updatedAt = "2024-03-03T00:00:00Z"`, `plants[0].archivedAt = "2024-03-04T00:00:00Z"`,
		`plants[0].stationGroups[0].stations[0].createdAt = "2024-03-05T00:00:00Z"`, `plants[0].stationGroups[0].stations[0].alertMessage = "Out of flour"`,
		`plants[0].stationGroups[0].stations[0].currentOperatorInitials = "abc"`,
		`plants[0].stationGroups[0].createdAt = "9999-12-31T23:00:00-02:00"`)})
	for path, want := range map[string]string{
		"warehousePassword": `"from-elsewhere"`, "manifest.account.warehousePassword": "null", "uploadTransforms": `"good: $sum(rows.good)"`,
		"appUrls": `"https://screens.northfield.example"`, "stationCountLimit": "40", "domain": `"northfield.example"`,
		"createdAt": `"2024-03-01T07:30:00.123Z"`, "updatedAt": `"2025-06-07T08:09:10.000Z"`, "archivedAt": "null",
		"manifest.account.plants[0].createdAt": `"2024-03-02T00:00:00.000Z"`, "manifest.account.plants[0].updatedAt": `"2024-03-03T00:00:00.000Z"`,
		"manifest.account.plants[0].archivedAt":                                           `"2024-03-04T00:00:00.000Z"`,
		"manifest.account.plants[0].stationGroups[0].stations[0].createdAt":               `"2024-03-05T00:00:00.000Z"`,
		"manifest.account.plants[0].stationGroups[0].stations[0].updatedAt":               `"2026-01-12T08:00:00.000Z"`,
		"manifest.account.plants[0].stationGroups[0].stations[0].alertMessage":            "null",
		"manifest.account.plants[0].stationGroups[0].createdAt":                           `"2026-01-12T08:00:00.000Z"`, // the year 10000 in UTC
		"manifest.account.plants[1].stationGroups[0].createdAt":                           `"2026-01-12T08:00:00.000Z"`,
		"manifest.account.plants[0].stationGroups[0].stations[0].currentOperatorInitials": "null",
	} {
		if got := h.field(path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	h.whole()

	// A later document changes none of them.
	h.clock.tick()
	r := h.apply(edit(t, h.now().Document().Bytes(), `createdAt = "2001-01-01T00:00:00Z"`, `stationCountLimit = 1`, `uploadTransforms = "not: [yaml"`, `appUrls = null`,
		`plants[0].createdAt = "2001-01-01T00:00:00Z"`, `plants[0].archivedAt = null`, `plants[0].stationGroups[0].stations[0].statusCode = "X"`))
	if r.Changed {
		t.Errorf("system fields made a change: %v", r.Changes)
	}
	h.apply(edit(t, h.now().Document().Bytes(), `plants[0].archivedAt = null`, `plants[0].name = "North"`))
	if got := h.field("manifest.account.plants[0].archivedAt"); got != `"2024-03-04T00:00:00.000Z"` {
		t.Errorf("archivedAt of a plant is %s after its name changed", got)
	}
}

// TestArchivedFromElsewhere checks that the document of an archived account creates an archived account.
func TestArchivedFromElsewhere(t *testing.T) {
	h := newHouse(t)
	h.create(CreateInput{Manifest: edit(t, plantFile, `archivedAt = "2025-01-01T00:00:00Z"`)})
	if len(h.List(false)) != 0 || len(h.List(true)) != 1 {
		t.Error("the account is in the list of active ones")
	}
	_, err := h.Update(boss(), decode(t, []byte(`{}`)), nil)
	wantKind(t, err, errdefs.Conflict)
}

// TestCreateRefused lists inputs that cannot create an account.
func TestCreateRefused(t *testing.T) {
	h := newPlant(t)
	h.create(CreateInput{ID: "second", Domain: "second.example"})
	for _, c := range []struct {
		name  string
		in    CreateInput
		first bool
		kind  errdefs.Kind
		want  string // in the message or the details
	}{
		{"no domain", CreateInput{ID: "third"}, false, errdefs.Invalid, "domain is required"},
		{"bad domain and id", CreateInput{ID: "Third", Domain: "not a domain"}, false, errdefs.Invalid,
			"\ndomain must be a domain such as plant.example; it is \"not a domain\"\nid must be 3 to 55 lower-case letters, digits and hyphens; it is \"Third\""},
		{"first label too short", CreateInput{Domain: "ab.example"}, false, errdefs.Invalid, `id must be 3 to 55 lower-case letters, digits and hyphens; it is "ab"`},
		{"long id", CreateInput{ID: strings.Repeat("a", 56), Domain: "third.example"}, false, errdefs.Invalid, "id must be 3 to 55"},
		{"duplicate id", CreateInput{ID: "second", Domain: "third.example"}, false, errdefs.Conflict, "there is already an account with the id second"},
		{"duplicate domain", CreateInput{ID: "third", Domain: "SECOND.example"}, false, errdefs.Conflict, "the domain second.example belongs to the account second already"},
		{"duplicate domain in the manifest", CreateInput{Manifest: edit(t, plantFile, `id = "third"`, `domain = "Second.Example"`)}, false, errdefs.Conflict, "belongs to the account second"},
		{"not the first", CreateInput{ID: "third", Domain: "third.example"}, true, errdefs.Conflict, "set up already"},
		{"another id in the manifest", CreateInput{ID: "third", Manifest: plantFile}, false, errdefs.Conflict, `the manifest is of the account "northfield" and not of "third"`},
		{"another domain in the manifest", CreateInput{Domain: "third.example", Manifest: plantFile}, false, errdefs.Conflict, `the manifest is of the domain "northfield.example"`},
		{"more stations than the limit", CreateInput{Manifest: edit(t, plantFile, `id = "third"`, `domain = "third.example"`, `stationCountLimit = 5`)}, false, errdefs.Conflict, "the manifest has 6 stations and the account's stationCountLimit is 5"},
		{"no JSON", CreateInput{Manifest: []byte(`{"version": "v1",`)}, false, errdefs.Invalid, "line 1, column 18"},
		{"empty", CreateInput{Manifest: []byte{}}, false, errdefs.Invalid, "is empty"},
		{"bad values at once", CreateInput{Manifest: edit(t, plantFile, `id = "T!"`, `domain = "x y"`, `currency = "EURO"`, `plants[0].name = 7`)}, false, errdefs.Invalid,
			"\naccount.plants[0].name must be text; it is 7\naccount.currency must be an ISO 4217 currency code such as EUR; it is \"EURO\"\naccount.id must be 3 to 55 lower-case letters, digits and hyphens; it is \"T!\"\naccount.domain must be"},
		{"bad system fields at once", CreateInput{Manifest: edit(t, plantFile, `createdAt = "0000-01-01T00:00:00+05:00"`, `uploadTransforms = "a: $sum("`)}, false, errdefs.Invalid,
			"\naccount.createdAt must be a time such as 2026-11-20T08:15:30.123Z\naccount.uploadTransforms.a "},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := h.tryCreate(c.in, c.first)
			wantKind(t, err, c.kind)
			if err != nil && !strings.Contains(err.Error()+detailsOf(err), c.want) {
				t.Errorf("error is %v%s, want %q in it", err, detailsOf(err), c.want)
			}
		})
	}
	if n := len(h.List(true)); n != 2 {
		t.Errorf("%d accounts", n)
	}
}

// TestHugeLimit checks a stationCountLimit beyond the range of int64.
func TestHugeLimit(t *testing.T) {
	h := newHouse(t)
	h.create(CreateInput{Manifest: edit(t, plantFile, `stationCountLimit = 1e300`)})
	if got := h.field("stationCountLimit"); got != "9223372036854775807" {
		t.Errorf("stationCountLimit is %s", got)
	}
	if n := manifest.Number("-1e300").Int(); n != -1<<63 {
		t.Errorf("-1e300 is %d", n)
	}
}

// TestFlagsInOtherLetters checks that a flag written as "\u006fn" is on.
func TestFlagsInOtherLetters(t *testing.T) {
	a := newPlant(t).now().Account
	if !a.FlagOn(manifest.EnableLostProductionCost) || a.FlagOn(manifest.EnableCycleTimeAnalysis) || a.FlagOn(manifest.EnableAlwaysConnected) {
		t.Error("flags are read wrongly")
	}
	if got := strings.Join(a.FlagsOn(), " "); got != "enableTasks enableLostProductionCost enableProductionCorrection enableQuickScheduleStart enableManualDowntime" {
		t.Errorf("flags that are on: %s", got)
	}
}

// TestReopen checks that reads after a restart are unchanged, with and without Warm.
func TestReopen(t *testing.T) {
	h := newPlant(t)
	h.post(`{"currency": "GBP"}`)
	before, view := h.now().Answer(true), h.now()
	want, err := view.Resolve("OVEN-1")
	if err != nil {
		t.Fatal(err)
	}
	h.Close()
	h.reopen()
	h.Warm()
	after := h.now().Answer(true)
	if body(before) != body(after) || before.ETag != after.ETag || string(before.Gzip()) != string(after.Gzip()) {
		t.Error("the answer differs after a restart")
	}
	got, err := h.now().Resolve("OVEN-1")
	if err != nil {
		t.Fatal(err)
	}
	if string(manifest.Encode(want)) != string(manifest.Encode(got)) {
		t.Error("the station differs after a restart")
	}
}

// TestRepresentation checks that parts, size, length and tags match, and that only the admin's answer has the secret.
func TestRepresentation(t *testing.T) {
	h := newPlant(t)
	h.post(`{"resetWarehousePassword": true}`)
	snap := h.now()
	password := *snap.Account.WarehousePassword
	for i, r := range []*Representation{snap.Answer(false), snap.Answer(true), snap.Document()} {
		if len(r.Bytes()) != r.Size || r.Length != string(manifest.Encode(r.Size)) || !strings.HasPrefix(strings.TrimPrefix(r.ETag, "W/"), `"1-`) || r.GzipETag == r.ETag {
			t.Errorf("representation %d: %d bytes, size %d, length %s, tag %s", i, len(r.Bytes()), r.Size, r.Length, r.ETag)
		}
		if has := strings.Contains(body(r), password); has != (i == 1) {
			t.Errorf("representation %d holds the password: %v", i, has)
		}
	}
	if snap.Answer(true).ETag == snap.Answer(false).ETag {
		t.Error("two answers have one tag")
	}
}

// TestLookups checks the lookups of other packages.
func TestLookups(t *testing.T) {
	h := newPlant(t)
	if info, ok := h.Account("northfield"); !ok || info != (auth.AccountInfo{ID: "northfield", Domain: "northfield.example"}) {
		t.Errorf("account is %v, %v", info, ok)
	}
	if info, ok := h.AccountByDomain("NORTHFIELD.EXAMPLE"); !ok || info.ID != "northfield" {
		t.Errorf("account by domain is %v, %v", info, ok)
	}
	if _, ok := h.Account("nobody"); ok {
		t.Error("an account that is not there")
	}
	if _, ok := h.AccountByDomain("nobody.example"); ok {
		t.Error("a domain that is not there")
	}
	_, err := h.Get("nobody")
	wantKind(t, err, errdefs.NotFound)
	if err := h.HaveStations("northfield", "stationCodes", []string{"OVEN-1", "PACK-2"}); err != nil {
		t.Error(err)
	}
	err = h.HaveStations("northfield", "stationCodes", []string{"OVEN-1", "oven-1"})
	wantKind(t, err, errdefs.Invalid)
	if got := detailsOf(err); got != "\nstationCodes[1] names the station \"oven-1\", which the account does not have" {
		t.Errorf("details are %s", got)
	}
	wantKind(t, h.HaveStations("nobody", "stationCodes", nil), errdefs.NotFound)
}

// TestNowhere checks that every change of an unknown account returns errdefs.NotFound.
func TestNowhere(t *testing.T) {
	h := newPlant(t)
	nobody := auth.Local("nobody")
	_, err := h.Update(nobody, map[string]any{}, nil)
	wantKind(t, err, errdefs.NotFound)
	_, err = h.Apply(nobody, ApplyInput{Raw: plantFile})
	wantKind(t, err, errdefs.NotFound)
	_, err = h.Set(nobody, "appUrls", "x")
	wantKind(t, err, errdefs.NotFound)
	_, err = h.SetArchived(nobody, true)
	wantKind(t, err, errdefs.NotFound)
	_, _, err = h.Revisions(nobody, 10, 0)
	wantKind(t, err, errdefs.NotFound)
	_, err = h.Revision(nobody, 1)
	wantKind(t, err, errdefs.NotFound)
}

func TestParseTime(t *testing.T) {
	for text, want := range map[string]string{
		"2026-11-20T08:15:30.1239Z": "2026-11-20T08:15:30.123Z", "2026-11-20T08:15:30+01:00": "2026-11-20T07:15:30.000Z",
		"9999-12-31T23:59:59.999Z": "9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59-01:00": "", "0000-06-01T00:00:00Z": "", "2026-02-30T00:00:00Z": "", "today": "",
	} {
		got, ok := manifest.ParseTime(text)
		if ok != (want != "") || ok && got.Format(instant.Layout) != want || ok && got.Location() != time.UTC {
			t.Errorf("%s is %v, %v, want %q", text, got, ok, want)
		}
	}
}
