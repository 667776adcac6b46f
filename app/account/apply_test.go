package account

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"opsmon/app/account/manifest"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
	"opsmon/app/test/apptest"
	"opsmon/schema/schematest"
	"opsmon/schema/strictjson"
)

// withoutSystem removes the system members from a document {version, account}, so that a sent document can be
// compared with the stored one, and fills in the one default.
func withoutSystem(t testing.TB, raw []byte) []byte {
	t.Helper()
	doc := decode(t, raw)
	acct := at(t, doc, "account").(map[string]any)
	for _, name := range []string{"stationCountLimit", "warehousePassword", "uploadTransforms", "appUrls", "createdAt", "updatedAt", "archivedAt"} {
		delete(acct, name)
	}
	if _, ok := acct["durationFormat"]; !ok {
		acct["durationFormat"] = "months"
	}
	for _, plant := range acct["plants"].([]any) {
		strip(plant)
		for _, group := range plant.(map[string]any)["stationGroups"].([]any) {
			strip(group)
			for _, station := range group.(map[string]any)["stations"].([]any) {
				strip(station)
			}
		}
	}
	return manifest.Encode(doc)
}

func strip(v any) {
	for name := range manifest.SystemFields {
		delete(v.(map[string]any), name)
	}
}

// exact compares documents digit by digit, ignoring the order of keys.
func exact(t testing.TB, what string, want, got []byte) {
	t.Helper()
	if a, b := canonical(withoutSystem(t, want)), canonical(withoutSystem(t, got)); a != b {
		i := 0
		for i < min(len(a), len(b)) && a[i] == b[i] {
			i++
		}
		t.Errorf("%s: sent …%.120s… and read …%.120s…", what, a[max(i-60, 0):], b[max(i-60, 0):])
	}
}

// canonical returns JSON with sorted keys and the original digits. encoding/json preserves json.Number's text.
func canonical(raw []byte) string {
	v, err := strictjson.Decode(raw)
	if err != nil {
		return err.Error()
	}
	return string(manifest.Encode(v))
}

// oddPlant returns plantFile with values that are hard to preserve.
func oddPlant(t testing.TB) []byte {
	raw := bytes.Replace(plantFile, []byte(`"name": "North works"`), []byte("\"n\\u0061me\" : \"N\\u006frth \\/ \\ud83c\\udf5e \u2028 \\u0000 \x7f works\""), 1)
	raw = bytes.Replace(raw, []byte(`"speedScale": 1.05`), []byte(`"speedScale": 1.0500e+0000`), 1)
	raw = bytes.Replace(raw, []byte(`"stationGroups": [`), []byte("\t\"stat\\u0069onGroups\"\r\n:\n["), 1)
	raw = bytes.Replace(raw, []byte(`"code": "OVEN-1"`), []byte(`"code": "OVEN\u002d1", "createdA\u0074": "2001-01-01T00:00:00Z", "alertMessage": "}]\"{["`), 1)
	raw = bytes.Replace(raw, []byte(`"colour": "#c0392b"`), []byte(`"": "no name", "a.b[0]": {"": [[], {}, "\\\"", -0, 0.0, 1E2]}, "\u00fc\ud83c\udf5e\"\\": null, "plants": [{"createdAt": 1}]`), 1)
	raw = bytes.Replace(raw, []byte(`"version": "v1"`), []byte(`"versi\u006fn": "\u0076\u0031"`), 1)
	return bytes.Replace(raw, []byte(`"account": {`), []byte(`"\u0061ccount": {`), 1)
}

// TestReadBack checks that an applied manifest is read unchanged: by GET /account, after a restart, and as a
// revision.
func TestReadBack(t *testing.T) {
	apptest.Long(t)
	for name, raw := range map[string][]byte{
		"plain": plantFile, "odd": oddPlant(t), "bare": []byte(wrap("", "")), "null": edit(t, plantFile, `durationFormat = null`, `skus[0].value = null`, `taskLists[3].trigger -`),
		"large": bytes.ReplaceAll(bytes.Replace(schematest.Large(300, 500), []byte(`"id": "large", "domain": "large.example"`), []byte(`"id": "northfield", "domain": "northfield.example"`), 1), []byte(`"stationCountLimit": 1300`), []byte(`"stationCountLimit": null`)),
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			h.create(CreateInput{Domain: "northfield.example"})
			h.apply(raw)
			first := h.now().Document().Bytes()
			exact(t, "the manifest", raw, first)
			exact(t, "the account", raw, manifest.Encode(at(t, decode(t, h.now().Answer(false).Bytes()), "result.manifest")))
			if r := h.apply(raw); r.Changed || r.Revision != 2 {
				t.Errorf("the same again: revision %d, %v", r.Revision, r.Changes)
			}
			if r := h.apply(first); r.Changed {
				t.Errorf("what was read: %v", r.Changes)
			}
			h.reopen()
			if got := h.now().Document().Bytes(); !bytes.Equal(got, first) {
				t.Error("the document differs after a restart")
			}
			if r := h.apply(raw); r.Changed {
				t.Errorf("the same after a start: %v", r.Changes)
			}
			h.post(`{"enableScheduleCutShort": "on"}`)
			rep, err := h.Revision(boss(), 2)
			if err != nil {
				t.Fatal(err)
			}
			exact(t, "revision 2", raw, rep.Bytes())
			h.whole()
		})
	}
}

// shuffle encodes a document differently: members in random order, with white space, and numbers and strings in other
// notations of the same value.
func shuffle(r *rand.Rand, v any) []byte {
	var b bytes.Buffer
	space := func() { b.WriteString([]string{"", "", " ", "\n\t", "\r\n  "}[r.IntN(5)]) }
	text := func(s string) {
		b.WriteByte('"')
		for _, c := range s {
			if c < 0x10000 && (c < ' ' || c == '"' || c == '\\' || r.IntN(6) == 0) {
				fmt.Fprintf(&b, `\u%04x`, c)
			} else {
				b.WriteRune(c)
			}
		}
		b.WriteByte('"')
	}
	var write func(v any)
	write = func(v any) {
		space()
		defer space()
		switch v := v.(type) {
		case map[string]any:
			b.WriteByte('{')
			keys := slices.Sorted(maps.Keys(v))
			r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
			for i, k := range keys {
				if i > 0 {
					b.WriteByte(',')
				}
				space()
				text(k)
				space()
				b.WriteByte(':')
				write(v[k])
			}
			b.WriteByte('}')
		case []any:
			b.WriteByte('[')
			for i, item := range v {
				if i > 0 {
					b.WriteByte(',')
				}
				write(item)
			}
			b.WriteByte(']')
		case json.Number:
			s := string(v)
			switch r.IntN(3) {
			case 0:
				if !strings.ContainsAny(s, "eE") {
					s += []string{"e0", "E+00", "e-0"}[r.IntN(3)]
				}
			case 1:
				if !strings.ContainsAny(s, ".eE") {
					s += ".000"
				}
			}
			b.WriteString(s)
		case string:
			text(v)
		default:
			b.Write(manifest.Encode(v))
		}
	}
	write(v)
	return b.Bytes()
}

// TestEqualContent checks that other notations, orders of keys, white space, and null for absent do not create a
// revision.
func TestEqualContent(t *testing.T) {
	h := newPlant(t)
	before := body(h.now().Document())
	r := rand.New(rand.NewPCG(7, 7))
	for range 30 {
		raw := shuffle(r, decode(t, plantFile))
		if result := h.apply(raw); result.Changed || result.Revision != 1 || result.TotalChanges != 0 {
			t.Fatalf("%.300s\nmakes revision %d: %v", raw, result.Revision, result.Changes)
		}
	}
	for _, edits := range [][]string{
		one(`enableHistoricalCorrection = null`), one(`includeReasonCodes -`), one(`skus[0].unitsPerMinute -`), one(`skus[2].instructionsUrl = null`),
		one(`plants[0].enableScheduleCutShort = null`), one(`plants[1].stationGroups[0].shiftPatternCode = null`), one(`plants[0].includeTaskCodes = null`),
		one(`reasons[2].reasons[0].nothing = null`), one(`tasks[0].taskListCodes[0].nothing = null`), one(`tasks[4].taskListCodes -`), one(`reasons[2].reasons[0].reasons = []`),
		one(`plants[0].stationGroups[0].stations[1].description = null`, `appUrls -`, `createdAt -`),
	} {
		if result := h.apply(edit(t, plantFile, edits...)); result.Changed {
			t.Errorf("%q: %v", edits, result.Changes)
		}
	}
	if after := body(h.now().Document()); after != before {
		t.Error("the document differs")
	}
	for i, edits := range [][]string{ // these are changes, of one value each
		one(`dashboardConfig.nothing = null`), one(`dashboardConfig.tiles[1].compare -`), one(`reasons[0].reasons[0].reasons[0].escalate.nothing = null`),
		one(`includeReasonCodes = []`), one(`durationFormat = null`), one(`durationFormat -`), one(`skus[0].stationCodes = []`), one(`reasons[0].type -`),
		one(`plants[0].enableQuickScheduleStart -`), one(`plants[0].stationGroups[0].totalEnergyStationCodes = ["OVEN-2", "OVEN-1"]`),
	} {
		result := h.apply(edit(t, plantFile, edits...))
		if result.TotalChanges != 1 {
			t.Errorf("%q: %v", edits, result.Changes)
		}
		if result := h.apply(plantFile); result.Revision != uint64(2*i)+3 {
			t.Errorf("%q and back is revision %d", edits, result.Revision)
		}
	}
}

// TestOneTruth checks that the account's fields equal those in its manifest, and that a field missing from a manifest
// is unset.
func TestOneTruth(t *testing.T) {
	h := newPlant(t)
	h.apply(edit(t, plantFile, `currency = "CHF"`, `enableTasks = "off"`, `dashboardConfig = {"home": "x"}`))
	for path, want := range map[string]string{"currency": `"CHF"`, "enableTasks": `"off"`, "dashboardConfig": `{"home":"x"}`, "electricalPricePerKwh": "0.2310"} {
		if a, b := h.field(path), h.field("manifest.account."+path); a != want || b != want {
			t.Errorf("%s is %s and %s, want %s", path, a, b, want)
		}
	}
	if got := string(h.now().Account.DashboardConfig()); got != `{"home":"x"}` {
		t.Errorf("dashboard is %s", got)
	}
	h.post(`{"currency": "USD", "enableManualDowntime": "off"}`)
	if view, err := h.now().Resolve("PACK-1"); err != nil || view.Flags["enableManualDowntime"] != (manifest.Decision{Value: "off", From: manifest.LevelAccount}) {
		t.Errorf("the station does not see the account's change: %v, %v", view, err)
	}
	bare := `{"version":"v1","account":{"id":"northfield","domain":"Northfield.Example","plants":` + string(manifest.Encode(at(t, decode(t, edit(t, plantFile,
		`plants[0].stationGroups[0].shiftPatternCode -`, `plants[0].stationGroups[0].stations[1].shiftPatternCode -`)), "account.plants"))) + `}}`
	h.apply([]byte(bare))
	for _, name := range ownFields {
		want := "null"
		if name == "durationFormat" {
			want = `"months"`
		}
		if got := h.field(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if got := h.field("domain"); got != `"northfield.example"` {
		t.Errorf("domain is %s", got)
	}
	if got := string(h.now().Account.DashboardConfig()); got != `{}` {
		t.Errorf("dashboard is %s", got)
	}
	if a := h.post(`{"durationFormat": "months"}`); a.Revision != 4 {
		t.Errorf("the default again is revision %d", a.Revision)
	}
	h.whole()
}

// TestApplyRefused checks that a refused manifest changes nothing.
func TestApplyRefused(t *testing.T) {
	h := newPlant(t)
	for _, c := range []struct {
		name string
		in   ApplyInput
		kind errdefs.Kind
		want string
	}{
		{"id", ApplyInput{Raw: edit(t, plantFile, `id = "southfield"`)}, errdefs.Conflict, `the manifest is of the account "southfield" and this account is "northfield"`},
		{"id that none can have", ApplyInput{Raw: edit(t, plantFile, `id = "South Field"`)}, errdefs.Conflict, `the manifest is of the account "South Field"`},
		{"domain", ApplyInput{Raw: edit(t, plantFile, `domain = "southfield.example"`)}, errdefs.Conflict, `the manifest is of the domain "southfield.example" and this account has "northfield.example"`},
		{"note", ApplyInput{Raw: plantFile, Note: strings.Repeat("ä", 201)}, errdefs.Invalid, "note must be 200 characters or fewer; it has 201"},
		{"version", ApplyInput{Raw: edit(t, plantFile, `.version = "v2"`)}, errdefs.Invalid, `version must be v1; it is "v2"`},
		{"nothing", ApplyInput{}, errdefs.Invalid, "is empty"},
		{"twice", ApplyInput{Raw: []byte("{\n\"version\": \"v1\", \"version\": \"v1\"}")}, errdefs.Invalid, "line 2, column 18"},
	} {
		for _, dry := range []bool{false, true} {
			c.in.DryRun = dry
			_, err := h.Apply(boss(), c.in)
			wantKind(t, err, c.kind)
			if err != nil && !strings.Contains(err.Error()+detailsOf(err), c.want) {
				t.Errorf("%s: %v, want %q in it", c.name, err, c.want)
			}
		}
	}
	if _, err := h.Apply(boss(), ApplyInput{Raw: edit(t, plantFile, `currency = "CHF"`), Note: strings.Repeat("ä", 200)}); err != nil {
		t.Error(err)
	}
	// The limit is 40 stations; the limit in the document is ignored.
	stations := func(n int) []byte {
		return edit(t, plantFile, `stationCountLimit = null`, `plants[1].stationGroups[1].stations = [`+list(n-5, func(i int) string { return fmt.Sprintf(`{"code":"M-%d","name":"M"}`, i) })+`]`)
	}
	h.apply(stations(40))
	_, err := h.Apply(boss(), ApplyInput{Raw: stations(41)})
	wantKind(t, err, errdefs.Conflict)
	if err == nil || err.Error() != "the manifest has 41 stations and the account's stationCountLimit is 40" {
		t.Errorf("41 stations: %v", err)
	}
	if got := h.now().Account.Revision; got != 3 {
		t.Errorf("revision is %d", got)
	}
}

// TestDryRun checks that a dry run returns the difference and writes nothing.
func TestDryRun(t *testing.T) {
	h := newPlant(t)
	before, records := body(h.now().Answer(true)), len(h.auditTrail())
	changed := edit(t, plantFile, `currency = "CHF"`, `includeReasonCodes = ["X"]`, `plants[1].stationGroups[1] -`)
	dry, err := h.Apply(boss(), ApplyInput{Raw: changed, DryRun: true, Note: "as a try"})
	if err != nil {
		t.Fatal(err)
	}
	if !dry.Changed || dry.Revision != 1 || dry.TotalChanges != 4 || len(dry.Warnings) != 6 {
		t.Errorf("dry run: %+v", dry)
	}
	h.reopen()
	if after := body(h.now().Answer(true)); after != before || len(h.auditTrail()) != records {
		t.Error("the dry run wrote something")
	}
	wet := h.apply(changed)
	if string(manifest.Encode(dry.Changes)) != string(manifest.Encode(wet.Changes)) || string(manifest.Encode(dry.Warnings)) != string(manifest.Encode(wet.Warnings)) || wet.Revision != 2 {
		t.Errorf("then %+v", wet)
	}
}

// TestLifetimes checks when a plant, group or station first appeared and when its definition last changed.
func TestLifetimes(t *testing.T) {
	h := newPlant(t)
	const (
		north, ovens, packing = "plants[0]", "plants[0].stationGroups[0]", "plants[0].stationGroups[1]"
		oven1, pack1, pack2   = ovens + ".stations[0]", packing + ".stations[0]", packing + ".stations[1]"
	)
	first := start.Format(instant.Layout)
	life := func(path string) string {
		var times []string
		for _, name := range []string{"createdAt", "updatedAt"} {
			s, _ := at(t, decode(t, h.now().Document().Bytes()), "account."+path+"."+name).(string)
			times = append(times, s)
		}
		return strings.Join(times, " ")
	}
	want := func(step, path, created, updated string) {
		t.Helper()
		if got := life(path); got != created+" "+updated {
			t.Errorf("%s: %s has %s, want %s %s", step, path, got, created, updated)
		}
	}
	for _, path := range []string{north, ovens, oven1, pack1} {
		want("new", path, first, first)
	}

	second := h.clock.tick()
	raw := edit(t, plantFile, oven1+`.description = "Deck oven, 12 m"`, packing+`.enableManualDowntime = "inherit"`)
	h.apply(raw)
	want("changed", oven1, first, second)
	want("changed", packing, first, second)
	for _, path := range []string{north, ovens, pack1, pack2} {
		want("unchanged", path, first, first)
	}
	h.clock.tick()
	h.post(`{"currency": "GBP"}`)
	want("the account changed", oven1, first, second)

	third := h.clock.tick()
	raw = edit(t, raw, pack1+` -`, ovens+`.stations += {"code": "PACK-1", "name": "Packer 1", "includeTaskListCodes": ["START"], "enableSchedulingOnly": "off"}`)
	h.apply(raw)
	want("moved", ovens+".stations[2]", first, third)
	want("its new group", ovens, first, first)
	want("its old group", packing, first, second)
	want("who moved up", pack1, first, first) // now PACK-2

	h.clock.tick()
	without := edit(t, raw, `plants[0].stationGroups[1] -`, `plants[1] -`)
	h.apply(without)
	fifth := h.clock.tick()
	h.apply(raw)
	want("a group came back", packing, first, fifth)
	want("with its station", pack1, first, fifth)
	want("a plant came back", "plants[1]", first, fifth)
	want("and who stayed", oven1, first, second)
	h.clock.tick()
	h.apply(edit(t, raw, `plants = [`+string(manifest.Encode(at(t, decode(t, raw), "account.plants[1]")))+`,`+string(manifest.Encode(at(t, decode(t, raw), "account.plants[0]")))+`]`))
	want("another order", "plants[1].stationGroups[0].stations[0]", first, second)
	want("another order", "plants[0]", first, fifth)

	// The lifetimes survive a restart, and restoring a revision is an ordinary change.
	h.reopen()
	seventh := h.clock.tick()
	if _, err := h.Restore(boss(), 1, "", nil); err != nil {
		t.Fatal(err)
	}
	want("restored", oven1, first, seventh)
	want("restored", pack1, first, seventh)
	want("restored", ovens, first, first)
	eighth := h.clock.tick()
	h.apply(edit(t, plantFile, packing+`.stations += {"code": "PACK-3", "name": "New"}`))
	want("added", packing+".stations[2]", eighth, eighth)
	h.whole()
}

// TestLongGroupCode removes and restores a group whose code is longer than a key of the store.
func TestLongGroupCode(t *testing.T) {
	h := newPlant(t)
	long := edit(t, plantFile, `plants[1].stationGroups[0].code = "`+strings.Repeat("g", 40_000)+`"`)
	h.apply(edit(t, long, `plants[1].name = "South"`))
	created := h.field("manifest.account.plants[1].stationGroups[0].createdAt")
	h.clock.tick()
	h.apply(plantFile)
	h.clock.tick()
	if r := h.apply(long); len(manifest.Encode(r)) > 200_000 {
		t.Errorf("the answer has %d bytes", len(manifest.Encode(r)))
	}
	if got := h.field("manifest.account.plants[1].stationGroups[0].createdAt"); got != created {
		t.Errorf("createdAt is %s, was %s", got, created)
	}
	h.whole()
}
