package account

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/account/manifest"
	"opsmon/app/errdefs"
	"opsmon/app/test/apptest"
)

// oracle resolves a station from the decoded document, with a slow algorithm independent of Resolve: literally by
// decisions.md section 3.
type oracle struct {
	account, plant, group, station map[string]any
}

func (o oracle) levels() []map[string]any {
	return []map[string]any{o.account, o.plant, o.group, o.station}
}

func items(v any) []any {
	list, _ := v.([]any)
	return list
}

func strs(v any) []string {
	var out []string
	for _, s := range items(v) {
		out = append(out, s.(string))
	}
	return out
}

func (o oracle) flags() map[string]any {
	out := map[string]any{}
	names := []string{"default", "account", "plant", "group", "station"}
	for f := range manifest.FlagCount {
		out[f.String()] = map[string]any{"value": "off", "from": "default"}
		for i, level := range o.levels() {
			if v := level[f.String()]; v == "on" || v == "off" {
				out[f.String()] = map[string]any{"value": v, "from": names[i+1]}
			}
		}
	}
	return out
}

// reasons works on sets of codes, level by level.
func (o oracle) reasons() []any {
	above := map[string][]string{} // code -> itself and its ancestors
	var walk func(list []any, way []string)
	walk = func(list []any, way []string) {
		for _, v := range list {
			r := v.(map[string]any)
			own := append(slices.Clone(way), r["code"].(string))
			above[r["code"].(string)] = own
			walk(items(r["reasons"]), own)
		}
	}
	walk(items(o.account["reasons"]), nil)
	left := map[string]bool{}
	for code := range above {
		left[code] = true
	}
	names := func(code string, list any) bool {
		return slices.ContainsFunc(above[code], func(c string) bool { return slices.Contains(strs(list), c) })
	}
	for _, level := range o.levels() {
		for code := range above {
			if include := level["includeReasonCodes"]; include != nil && !names(code, include) || names(code, level["excludeReasonCodes"]) {
				delete(left, code)
			}
		}
	}
	var show func(list []any) []any
	show = func(list []any) []any {
		out := []any{}
		for _, v := range list {
			r := v.(map[string]any)
			children := show(items(r["reasons"]))
			if code := r["code"].(string); left[code] || len(children) > 0 {
				out = append(out, map[string]any{"code": code, "name": r["name"], "description": r["description"], "type": r["type"], "oee": r["oee"], "heading": !left[code], "reasons": children})
			}
		}
		return out
	}
	return show(items(o.account["reasons"]))
}

func (o oracle) taskLists() []any {
	out := []any{}
	for _, v := range items(o.account["taskLists"]) {
		l := v.(map[string]any)
		code := l["code"].(string)
		some, there := false, true
		for _, level := range o.levels() {
			if include := level["includeTaskListCodes"]; include != nil {
				some = true
				there = there && slices.Contains(strs(include), code)
			}
			there = there && !slices.Contains(strs(level["excludeTaskListCodes"]), code)
		}
		if !some || !there {
			continue
		}
		type placed struct {
			order float64
			view  any
		}
		var tasks []placed
		for _, v := range items(o.account["tasks"]) {
			t := v.(map[string]any)
			for _, v := range items(t["taskListCodes"]) {
				in := v.(map[string]any)
				if in["code"] != code {
					continue
				}
				n, _ := in["order"].(json.Number)
				order, _ := n.Float64()
				tasks = append(tasks, placed{order, map[string]any{"code": t["code"], "title": t["title"], "description": t["description"],
					"requireNotes": t["requireNotes"] == true, "order": in["order"], "trigger": t["trigger"]}})
				break
			}
		}
		shown := []any{}
		for len(tasks) > 0 { // repeatedly select the first of the smallest
			first := 0
			for i, t := range tasks {
				if t.order < tasks[first].order {
					first = i
				}
			}
			shown = append(shown, tasks[first].view)
			tasks = slices.Delete(tasks, first, first+1)
		}
		out = append(out, map[string]any{"code": code, "name": l["name"], "description": l["description"], "trigger": l["trigger"], "tasks": shown})
	}
	return out
}

func (o oracle) shiftPattern() any {
	for _, at := range []struct {
		level map[string]any
		from  string
	}{{o.station, "station"}, {o.group, "group"}} {
		for _, v := range items(o.account["shiftPatterns"]) {
			if p := v.(map[string]any); at.level["shiftPatternCode"] != nil && p["code"] == at.level["shiftPatternCode"] {
				return map[string]any{"code": p["code"], "title": p["title"], "shifts": p["shifts"], "from": at.from}
			}
		}
	}
	return nil
}

func (o oracle) skus() []any {
	out := []any{}
	for _, v := range items(o.account["skus"]) {
		s := v.(map[string]any)
		free := s["stationCodes"] == nil && s["stationGroupCodes"] == nil
		if free || slices.Contains(strs(s["stationCodes"]), o.station["code"].(string)) || slices.Contains(strs(s["stationGroupCodes"]), o.group["code"].(string)) {
			out = append(out, map[string]any{"code": s["code"], "name": s["name"], "allowUseInQuickSchedule": s["allowUseInQuickSchedule"] == true})
		}
	}
	return out
}

func (o oracle) settings() map[string]any {
	out := map[string]any{
		"description": nil, "shiftPatternCode": nil, "minimumCycleTime": json.Number("0"), "speedScale": json.Number("1"), "speedOffset": json.Number("0"), "speedToProductionRatio": nil,
		"electricalPowerNominalKw": nil, "idleCostPerMinute": nil, "downtimeDetectionMode": "utilisation", "utilisationDowntimeThreshold": json.Number("3600000"),
		"slowDurationThreshold": json.Number("60000"), "forceAllShiftTimeAsPlannedProduction": false, "productiveStatusMode": "productive_signal",
		"electricalUsageStoppedThresholdKw": nil, "lineSpeedStoppedThreshold": nil, "productiveHoldOnTime": json.Number("0"), "cycleTime": nil, "unitsPerMinute": nil, "unitsPerHour": nil, "lineSpeedTarget": nil,
	}
	for name := range out {
		if v := o.station[name]; v != nil {
			out[name] = v
		}
	}
	return out
}

func (o oracle) view() map[string]any {
	return map[string]any{
		"code": o.station["code"], "name": o.station["name"], "plant": map[string]any{"code": o.plant["code"], "name": o.plant["name"], "timezone": o.plant["timezone"]},
		"group": map[string]any{"code": o.group["code"], "name": o.group["name"]}, "flags": o.flags(), "reasons": o.reasons(), "taskLists": o.taskLists(),
		"shiftPattern": o.shiftPattern(), "skus": o.skus(), "settings": o.settings(),
	}
}

// compareStations resolves every station of a document both ways and returns their number.
func compareStations(t *testing.T, h *house, raw []byte) (n int) {
	t.Helper()
	acct := at(t, decode(t, raw), "account").(map[string]any)
	for _, p := range items(acct["plants"]) {
		plant := p.(map[string]any)
		for _, g := range items(plant["stationGroups"]) {
			group := g.(map[string]any)
			for _, s := range items(group["stations"]) {
				station := s.(map[string]any)
				view, err := h.now().Resolve(station["code"].(string))
				if err != nil {
					t.Fatal(err)
				}
				want := decode(t, manifest.Encode(oracle{acct, plant, group, station}.view()))
				if diff := cmp.Diff(want, decode(t, manifest.Encode(view))); diff != "" {
					t.Fatalf("station %s of\n%s\n(-want +got):\n%s", station["code"], raw, diff)
				}
				n++
			}
		}
	}
	return n
}

// shake randomizes flags, reasons and Task lists of all levels, and the reasons, Tasks and SKUs themselves.
func shake(r *rand.Rand, tree any) {
	acct := tree.(map[string]any)["account"].(map[string]any)
	reasonCodes := []string{"unknown"}
	next := 0
	var forest func(depth int) []any
	forest = func(depth int) []any {
		list := []any{}
		for range r.IntN(4) {
			code := fmt.Sprintf("R%d", next)
			next++
			reasonCodes = append(reasonCodes, code)
			reason := map[string]any{"code": code, "name": code}
			if depth < 4 {
				reason["reasons"] = forest(depth + 1)
			}
			list = append(list, reason)
		}
		return list
	}
	acct["reasons"] = forest(0)
	pick := func(codes []string, empty bool) any {
		out := []any{}
		for range r.IntN(len(codes)) {
			out = append(out, codes[r.IntN(len(codes))])
		}
		if len(out) == 0 && !empty {
			return nil
		}
		return out
	}
	lists := []string{"START", "HYGIENE", "HELP", "WEEKLY"}
	level := func(m map[string]any, top, here manifest.Level, often int) {
		for _, name := range []string{"includeReasonCodes", "excludeReasonCodes", "includeTaskListCodes", "excludeTaskListCodes"} {
			delete(m, name)
			codes := reasonCodes
			if name[len(name)-len("TaskListCodes"):] == "TaskListCodes" {
				codes = append([]string{"unknown"}, lists...)
			}
			switch r.IntN(often) {
			case 0:
				m[name] = pick(codes, r.IntN(4) == 0)
			case 1:
				m[name] = nil
			}
		}
		for f := range manifest.FlagCount {
			if here < f.Top() || here > f.Bottom() {
				continue
			}
			delete(m, f.String())
			switch n := r.IntN(5); {
			case n < 2:
				m[f.String()] = []any{"on", "off"}[n]
			case n == 2 && here != manifest.LevelAccount:
				m[f.String()] = "inherit"
			case n == 3:
				m[f.String()] = nil
			}
		}
	}
	level(acct, manifest.LevelAccount, manifest.LevelAccount, 3)
	var stations, groups []string
	patterns := []any{"two-shift", "ovens", nil}
	for _, p := range items(acct["plants"]) {
		level(p.(map[string]any), manifest.LevelPlant, manifest.LevelPlant, 4)
		for _, g := range items(p.(map[string]any)["stationGroups"]) {
			group := g.(map[string]any)
			level(group, manifest.LevelGroup, manifest.LevelGroup, 4)
			group["shiftPatternCode"] = patterns[r.IntN(3)]
			groups = append(groups, group["code"].(string))
			for _, s := range items(group["stations"]) {
				level(s.(map[string]any), manifest.LevelStation, manifest.LevelStation, 4)
				s.(map[string]any)["shiftPatternCode"] = patterns[r.IntN(3)]
				stations = append(stations, s.(map[string]any)["code"].(string))
			}
		}
	}
	for _, v := range items(acct["tasks"]) {
		in := []any{}
		for range r.IntN(4) {
			place := map[string]any{"code": lists[r.IntN(4)]}
			if r.IntN(4) > 0 {
				place["order"] = json.Number(fmt.Sprintf("%d.5", r.IntN(3)))
			}
			in = append(in, place)
		}
		v.(map[string]any)["taskListCodes"] = in
	}
	for _, v := range items(acct["skus"]) {
		s := v.(map[string]any)
		s["allowUseInQuickSchedule"] = []any{true, false, nil}[r.IntN(3)]
		s["stationCodes"], s["stationGroupCodes"] = pick(stations, r.IntN(3) == 0), pick(groups, r.IntN(3) == 0)
	}
}

// TestResolve compares Resolve with the oracle, first on the fixture and then on random documents.
func TestResolve(t *testing.T) {
	apptest.Long(t)
	h := newPlant(t)
	if n := compareStations(t, h, plantFile); n != 6 {
		t.Errorf("%d stations", n)
	}
	r := rand.New(rand.NewPCG(1, 2))
	headings, lists := 0, 0
	for range 60 {
		tree := decode(t, plantFile)
		shake(r, tree)
		raw := manifest.Encode(tree)
		h.apply(raw)
		compareStations(t, h, raw)
		view, err := h.now().Resolve("OVEN-1")
		if err != nil {
			t.Fatal(err)
		}
		lists += len(view.TaskLists)
		for _, reason := range view.Reasons {
			if reason.Heading {
				headings++
			}
		}
	}
	if headings < 5 || lists < 10 {
		t.Errorf("random documents gave %d headings and %d Task lists: they say too little", headings, lists)
	}
}

// TestResolveCases checks each sentence of decisions.md section 3 with expected results in full, because the oracle
// could share an error with Resolve.
func TestResolveCases(t *testing.T) {
	const oven = `plants[0].stationGroups[0]`
	tree := func(list []manifest.ReasonView) string {
		var show func(list []manifest.ReasonView) string
		show = func(list []manifest.ReasonView) (s string) {
			for _, r := range list {
				s += " " + r.Code
				if r.Heading {
					s += "*"
				}
				if len(r.Reasons) > 0 {
					s += " (" + show(r.Reasons) + " )"
				}
			}
			return s
		}
		return show(list)
	}
	for _, c := range []struct {
		name    string
		edits   []string
		station string
		reasons string // a heading has a star
		lists   string
	}{
		{"as it is", nil, "OVEN-1", " BRK ( BRK-MECH ( BRK-BELT BRK-BEAR ) BRK-ELEC ) CHG* ( CHG-CLEAN )", "START HYGIENE"},
		{"exclude takes the subtree", nil, "OVEN-2", " BRK ( BRK-ELEC ) CHG ( CHG-CLEAN CHG-TOOL ) PLAN", "START HYGIENE"},
		{"an empty include list is set", nil, "PACK-2", "", "START HYGIENE HELP"},
		{"a level narrows what its parent has", nil, "OVEN-3", " BRK ( BRK-MECH ( BRK-BELT BRK-BEAR ) BRK-ELEC ) CHG ( CHG-CLEAN CHG-TOOL ) PLAN ( PLAN-MEET )", "START"},
		{"a level cannot bring back what its parent lacks", one(`plants[0].includeReasonCodes = ["CHG"]`, oven+`.stations[0].includeReasonCodes = ["BRK", "CHG-TOOL"]`, oven+`.includeTaskListCodes = ["WEEKLY", "START"]`),
			"OVEN-1", " CHG* ( CHG-TOOL )", "START"},
		{"exclude comes after include", one(oven+`.stations[0].includeReasonCodes = ["BRK"]`, oven+`.stations[0].excludeReasonCodes = ["BRK-ELEC", "BRK-BELT"]`), "OVEN-1", " BRK ( BRK-MECH ( BRK-BEAR ) )", "START HYGIENE"},
		{"an excluded reason takes what was included below it", one(oven+`.stations[0].includeReasonCodes = ["BRK-BELT"]`, `excludeReasonCodes = ["BRK"]`), "OVEN-1", "", "START HYGIENE"},
		{"the parents of an included one are headings", one(oven + `.stations[0].includeReasonCodes = ["BRK-BELT"]`), "OVEN-1", " BRK* ( BRK-MECH* ( BRK-BELT ) )", "START HYGIENE"},
		{"Task lists that no level includes", one(`includeTaskListCodes = null`, oven+`.excludeTaskListCodes = null`), "OVEN-1", " BRK ( BRK-MECH ( BRK-BELT BRK-BEAR ) BRK-ELEC ) CHG* ( CHG-CLEAN )", ""},
		{"Task lists that a station alone includes", one(`includeTaskListCodes -`, oven+`.stations[0].includeTaskListCodes = ["WEEKLY", "HELP"]`), "OVEN-1", " BRK ( BRK-MECH ( BRK-BELT BRK-BEAR ) BRK-ELEC ) CHG* ( CHG-CLEAN )", "WEEKLY"},
		{"null is as good as absent in a reason", one(`reasons[0].reasons[0].reasons = null`, `reasons[0].name = null`, `reasons[0].description = null`, `reasons[0].type = null`, `reasons[0].oee = null`),
			"OVEN-1", " BRK ( BRK-MECH BRK-ELEC ) CHG* ( CHG-CLEAN )", "START HYGIENE"},
		{"the legacy lists do nothing", one(`includeTaskCodes = []`, `excludeTaskCodes = ["GUARDS", "START"]`, oven+`.stations[0].includeTaskCodes = ["BELT"]`), "OVEN-1", " BRK ( BRK-MECH ( BRK-BELT BRK-BEAR ) BRK-ELEC ) CHG* ( CHG-CLEAN )", "START HYGIENE"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newPlant(t)
			h.apply(edit(t, plantFile, c.edits...))
			view, err := h.now().Resolve(c.station)
			if err != nil {
				t.Fatal(err)
			}
			if got := tree(view.Reasons); got != c.reasons {
				t.Errorf("reasons are%s\nwant%s", got, c.reasons)
			}
			lists := ""
			for i, l := range view.TaskLists {
				if i > 0 {
					lists += " "
				}
				lists += l.Code
			}
			if lists != c.lists {
				t.Errorf("Task lists are %s, want %s", lists, c.lists)
			}
		})
	}
}

// TestResolvedFlags checks the flags of a station with different values at several levels.
func TestResolvedFlags(t *testing.T) {
	for name, want := range map[string]manifest.Decision{
		"enableTasks": {Value: "on", From: manifest.LevelAccount}, "enableLostProductionCost": {Value: "on", From: manifest.LevelAccount}, "enableManualProduction": {Value: "on", From: manifest.LevelPlant}, "enableQuickScheduleStart": {Value: "on", From: manifest.LevelAccount},
		"enableManualDowntime": {Value: "off", From: manifest.LevelGroup}, "enableAlwaysConnected": {Value: "off", From: manifest.LevelDefault}, "enableSchedulingOnly": {Value: "off", From: manifest.LevelDefault},
	} {
		view, err := newPlant(t).now().Resolve("OVEN-1")
		if err != nil || view.Flags[name] != want {
			t.Errorf("%s is %v, want %v; %v", name, view.Flags[name], want, err)
		}
	}
	_, err := newPlant(t).now().Resolve("oven-1")
	wantKind(t, err, errdefs.NotFound)
}
