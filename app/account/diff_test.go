package account

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"opsmon/app/account/manifest"
	"opsmon/app/test/apptest"
)

// diffs are changes of plantFile, at least one of each kind.
var diffs = []struct {
	name  string
	edits []string
}{
	{"settings", one(`currency = "CHF"`, `electricalCo2PerKwh = null`, `maxProductionCountPerSchedule -`, `durationFormat -`, `enableTasks = null`, `enableScheduleCutShort = "off"`,
		`includeReasonCodes = []`, `excludeTaskCodes -`, `includeTaskListCodes += "WEEKLY"`, `dashboardConfig.theme = "dark"`)},
	{"a dashboard goes", one(`dashboardConfig = null`)},
	{"system fields", one(`stationCountLimit = 7`, `appUrls = "x"`, `createdAt = "2020-01-01T00:00:00Z"`, `plants[0].updatedAt = "2020-01-01T00:00:00Z"`)},
	{"shift patterns", one(`shiftPatterns[0].title = "2 shifts"`, `shiftPatterns[0].shifts[1].duration = 7.75`,
		`shiftPatterns += {"code": "weekend", "title": "Weekend", "shifts": [{"name": "W", "startHour": 6.5, "duration": 12, "weekDay": "6"}]}`)},
	{"a shift pattern goes", one(`shiftPatterns[1] -`, `plants[0].stationGroups[0].shiftPatternCode = "two-shift"`)},
	{"reasons", one(`reasons[0].name = "Stop"`, `reasons[0].type += "non_production"`, `reasons[0].colour -`, `reasons[0].icon = {"file": "stop.svg"}`,
		`reasons[1].oee -`, `reasons[2].reasons += {"code": "PLAN-TRY", "name": "Trial", "type": ["non_production"], "reasons": [{"code": "PLAN-TRY-1"}]}`, `reasons[2].reasons[1] -`, `excludeReasonCodes -`)},
	{"a reason moves with its children", one(`reasons[0].reasons[0] -`, `reasons[1].reasons += {"code": "BRK-MECH", "name": "Mechanical", "reasons": [{"code": "BRK-BELT", "name": "Belt torn", "escalate": {"after": 900, "to": ["maintenance"]}}, {"code": "BRK-BEAR", "name": "Bearing"}]}`)},
	{"a reason becomes the top one", one(`reasons[0].reasons[0].reasons[1] -`, `reasons += {"code": "BRK-BEAR", "name": "Bearing"}`)},
	{"reasons in another order", one(`reasons[0].reasons[0].reasons = [{"code": "BRK-BEAR", "name": "Bearing"}, {"code": "BRK-BELT", "name": "Belt torn", "escalate": {"after": 9e2, "to": ["maintenance"]}}]`)},
	{"Tasks", one(`tasks[0].trigger = {"type": "on_demand"}`, `tasks[0].requireNotes = true`, `tasks[1].taskListCodes[0].order = 3`, `tasks[2].trigger.pattern = "0 7,15,23 * * *"`, `tasks[3].trigger -`, `tasks[3].description = "By radio"`)},
	{"Task lists", one(`taskLists[0].name = "Start"`, `taskLists[1].trigger.availableBeforeDeadlineMinutes -`, `taskLists += {"code": "END", "name": "End"}`)},
	{"SKUs", one(`skus[0].cycleTime = null`, `skus[0].unitsPerMinute = 13.33`, `skus[0].stationCodes = null`, `skus[1].stationGroupCodes = []`, `skus[2] -`, `skus += {"code": "BUN", "name": "Bun", "cycleTime": 100, "allowUseInQuickSchedule": false}`)},
	{"SKUs in another order", one(`skus[3] -`, `skus = [{"code": "ROLL", "name": "Rolls, 6 pieces", "unitsPerHour": 2400, "partsPerCycle": 6, "value": 0.9}, {"code": "SAMPLE", "name": "Sample", "cycleTime": 60000, "stationCodes": [], "taskCodes": []}, {"code": "RYE-1000", "name": "Rye loaf 1000 g", "unitsPerMinute": 7.25, "stationGroupCodes": ["ovens"]}]`)},
	{"a plant, a group, a station", one(`plants[0].timezone = "Europe/Vienna"`, `plants[0].enableManualProduction = "inherit"`, `plants[0].stationGroups[1].shiftPatternCode = "two-shift"`,
		`plants[0].stationGroups[0].stations[0].speedScale = 1.06`, `plants[0].stationGroups[0].stations[0].description -`, `plants[0].stationGroups[0].stations[1].minimumCycleTime = 0`)},
	{"more of them", one(`plants[1].stationGroups[1].stations += {"code": "METER-3", "name": "Meter 3"}`, `plants[1].stationGroups += {"code": "dough", "name": "Dough", "stations": [{"code": "MIX-1", "name": "Mixer 1"}]}`,
		`plants += {"code": "east", "name": "East", "timezone": "UTC", "dayStartHour": 0, "weekStartDay": 0, "stationGroups": [{"code": "ovens", "name": "O", "stations": [{"code": "OVEN-4", "name": "Oven 4", "enableMeterOnly": "off"}]}]}`)},
	{"fewer of them", one(`plants[1] -`, `plants[0].stationGroups[1].stations[1] -`)},
	{"a station moves to another group", one(`plants[0].stationGroups[1].stations[1] -`, `plants[1].stationGroups[0].stations += {"code": "PACK-2", "name": "Packer two", "includeReasonCodes": []}`)},
	{"a group gets another code", one(`plants[0].stationGroups[1].code = "wrapping"`)},
	{"a plant gets another code", one(`plants[1].code = "south-2"`)},
	{"another order of all", one(`plants[0].stationGroups[1].stations = [{"code": "PACK-2", "name": "Packer 2", "includeReasonCodes": []}, {"code": "PACK-1", "name": "Packer 1", "includeTaskListCodes": ["START"], "enableSchedulingOnly": "off"}]`)},
}

// TestDiff compares manifests with plantFile in both directions.
func TestDiff(t *testing.T) {
	var b strings.Builder
	list := func(changes []manifest.Change) {
		for _, c := range changes {
			fmt.Fprintf(&b, "%-8s %s: %s -> %s\n", c.Kind, c.Path, manifest.Encode(c.From), manifest.Encode(c.To))
		}
	}
	h := newPlant(t)
	for _, d := range diffs {
		changed := edit(t, plantFile, d.edits...)
		if d.name == "reasons" { // a name that an edit cannot contain
			changed = bytes.Replace(changed, []byte(`"old key":true`), []byte(`"old key":false`), 1)
		}
		r := h.apply(changed)
		fmt.Fprintf(&b, "# %s\n", d.name)
		list(r.Changes)
		if r.TotalChanges != len(r.Changes) || r.Changed != (len(r.Changes) > 0) {
			t.Errorf("%s: %d changes of %d", d.name, len(r.Changes), r.TotalChanges)
		}
		b.WriteString("# and back\n")
		list(h.apply(plantFile).Changes)
	}
	// The order of plants and groups, which an edit cannot swap.
	tree := decode(t, plantFile)
	plants := at(t, tree, "account.plants").([]any)
	plants[0], plants[1] = plants[1], plants[0]
	groups := at(t, plants[0], "stationGroups").([]any)
	groups[0], groups[1] = groups[1], groups[0]
	b.WriteString("# plants and groups in another order\n")
	list(h.apply(manifest.Encode(tree)).Changes)
	golden(t, "diff.golden", []byte(b.String()))
}

// TestManyChanges checks that the first 1,000 changes are listed and all are counted.
func TestManyChanges(t *testing.T) {
	h := newHouse(t)
	h.create(CreateInput{Domain: "northfield.example"})
	raw := wrap(`"skus":[`+list(1500, func(i int) string { return fmt.Sprintf(`{"code":"%d","name":"S","cycleTime":%d}`, i, i+1) })+`],`, "")
	r := h.apply([]byte(raw))
	if len(r.Changes) != 1000 || r.TotalChanges < 1500 || r.TotalChanges > 1520 {
		t.Errorf("%d changes of %d", len(r.Changes), r.TotalChanges)
	}
	r = h.apply([]byte(strings.ReplaceAll(raw, `"name":"S"`, `"name":"T"`)))
	// including the station
	if len(r.Changes) != 1000 || r.TotalChanges != 1501 || r.Changes[999].Path != "skus[999].name" {
		t.Errorf("%d changes of %d, the last %v", len(r.Changes), r.TotalChanges, r.Changes[len(r.Changes)-1])
	}
	h.whole()
}

// TestRandomDiffs edits the plant at random: a document has no difference from itself, and some from another.
// Applying documents in sequence always ends with the last document.
func TestRandomDiffs(t *testing.T) {
	apptest.Long(t)
	h := newPlant(t)
	r := rand.New(rand.NewPCG(3, 4))
	last := canonical(withoutSystem(t, plantFile))
	applied := 0
	for range 300 {
		tree := decode(t, h.now().Document().Bytes())
		for range 1 + r.IntN(3) {
			mutate(r, at(t, tree, "account"))
		}
		raw := manifest.Encode(tree)
		result, err := h.Apply(boss(), ApplyInput{Raw: raw})
		if err != nil {
			continue // the mutation violates a rule
		}
		now := canonical(withoutSystem(t, h.now().Document().Bytes()))
		if result.Changed {
			applied++
			exact(t, "random", raw, h.now().Document().Bytes())
		} else if now != last {
			t.Fatalf("another document without a change:\n%s\n%s", last, now)
		}
		last = now
	}
	if applied < 60 {
		t.Errorf("%d mutations were applied", applied)
	}
	h.whole()
}

// mutate changes one random value in a decoded document.
func mutate(r *rand.Rand, v any) {
	for {
		switch x := v.(type) {
		case map[string]any:
			keys := manifest.SortedKeys(x)
			if len(keys) == 0 {
				return
			}
			k := keys[r.IntN(len(keys))]
			switch x[k].(type) {
			case map[string]any, []any:
				if r.IntN(12) == 0 {
					delete(x, k)
					return
				}
				v = x[k]
			case string:
				x[k] = []any{"a", "on", "BRK", "x y", nil}[r.IntN(5)]
				return
			case json.Number:
				x[k] = []any{json.Number("1"), json.Number("2.50"), json.Number("600000"), nil}[r.IntN(4)]
				return
			default:
				delete(x, k)
				return
			}
		case []any:
			if len(x) == 0 {
				return
			}
			i := r.IntN(len(x))
			if r.IntN(6) == 0 {
				j := r.IntN(len(x))
				x[i], x[j] = x[j], x[i]
				return
			}
			if s, ok := x[i].(string); ok {
				x[i] = s + "-2"
				return
			}
			v = x[i]
		default:
			return
		}
	}
}
