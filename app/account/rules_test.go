package account

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"opsmon/app/account/manifest"
	"opsmon/schema"
	"opsmon/schema/schematest"
)

// rule is one rule of decisions.md section 3 that the schema cannot express, with valid and invalid documents.
type rule struct {
	name string
	good [][]string // edits of plantFile, each a valid document
	bad  [][]string // and each an invalid one; for a warning, one that causes it
}

func one(edits ...string) []string { return edits }

// rules are all rules. TestEverySentence checks that every message of the checks occurs.
var rules = []rule{
	{"shift pattern codes unique",
		[][]string{one(`shiftPatterns[1].code = "OVENS"`, `plants[0].stationGroups[0].shiftPatternCode = "OVENS"`), one(`shiftPatterns[0].code = ""`, `plants[0].stationGroups[0].stations[1].shiftPatternCode = ""`)},
		[][]string{one(`shiftPatterns += {"code": "ovens", "title": "Third", "shifts": [{"name": "A", "startHour": 0, "duration": 1, "weekDay": "1"}]}`),
			one(`shiftPatterns[0].code = ""`, `shiftPatterns[1].code = ""`, `plants[0].stationGroups[0].shiftPatternCode -`, `plants[0].stationGroups[0].stations[1].shiftPatternCode -`)}},
	{"shift pattern titles unique",
		[][]string{one(`shiftPatterns[1].title = "two shifts"`)},
		[][]string{one(`shiftPatterns[1].title = "Two shifts"`)}},
	{"reason codes unique across the tree",
		[][]string{one(`reasons[1].reasons[0].code = "brk-belt"`)},
		[][]string{one(`reasons[1].reasons[0].code = "BRK-BELT"`), one(`reasons[0].reasons[0].reasons[0].code = "BRK"`)}},
	{"Task codes unique",
		[][]string{one(`tasks[0].code = "guards"`), one(`tasks[0].code = ""`)},
		[][]string{one(`tasks[0].code = "BELT"`), one(`tasks[0].code = ""`, `tasks[1].code = ""`)}},
	{"Task list codes unique",
		[][]string{one(`taskLists[3].code = "weekly"`)},
		[][]string{one(`taskLists[3].code = "HELP"`)}},
	{"SKU codes unique",
		[][]string{one(`skus[1].code = "rye-500"`), one(`skus[1].code = ""`)},
		[][]string{one(`skus[1].code = "RYE-500"`), one(`skus[1].code = ""`, `skus[2].code = ""`),
			one(`skus[1].code = "`+strings.Repeat("long", 50)+`"`, `skus[2].code = "`+strings.Repeat("long", 50)+`"`)}},
	{"plant codes unique",
		[][]string{one(`plants[1].code = "north-2"`)},
		[][]string{one(`plants[1].code = "north"`)}},
	{"group codes unique within the plant",
		[][]string{one(`plants[1].stationGroups[1].code = "packing"`), one(`plants[1].stationGroups[1].code = ""`)},
		[][]string{one(`plants[1].stationGroups[1].code = "ovens"`), one(`plants[1].stationGroups[0].code = ""`, `plants[1].stationGroups[1].code = ""`)}},
	{"station codes unique across the account",
		[][]string{one(`plants[1].stationGroups[0].stations[0].code = "oven-1"`)},
		[][]string{one(`plants[0].stationGroups[0].stations[1].code = "OVEN-1"`, `skus[0].stationCodes = null`, `plants[0].stationGroups[0].totalEnergyStationCodes = null`),
			one(`plants[1].stationGroups[0].stations[0].code = "PACK-2"`)}},

	{"working instructions are pages of the web",
		[][]string{one(`skus[1].instructionsUrl = "https://docs.plant.example/rye"`), one(`skus[1].instructionsUrl = null`)},
		[][]string{one(`skus[1].instructionsUrl = "javascript:alert(1)"`)}},
	{"exactly one rate on a SKU",
		[][]string{one(`skus[0].unitsPerHour = null`, `skus[0].unitsPerMinute = null`), one(`skus[0].cycleTime = null`, `skus[0].unitsPerMinute = 1`)},
		[][]string{one(`skus[0].cycleTime = null`), one(`skus[2].unitsPerHour -`), one(`skus[0].unitsPerMinute = 1.5`),
			one(`skus[0].unitsPerMinute = 1.5`, `skus[0].unitsPerHour = 90`)}},

	{"IANA time zone",
		[][]string{one(`plants[0].timezone = "UTC"`), one(`plants[0].timezone = "Australia/Lord_Howe"`)},
		[][]string{one(`plants[0].timezone = "Local"`), one(`plants[0].timezone = ""`), one(`plants[0].timezone = "europe/berlin"`), one(`plants[1].timezone = "CEST"`),
			one(`plants[0].timezone = "Mars/Olympus"`, `plants[1].timezone = "Mars/Olympus"`)}},
	{"ISO 4217 currency",
		[][]string{one(`currency = "JPY"`), one(`currency = null`), one(`currency -`)},
		[][]string{one(`currency = "eur"`), one(`currency = "EURO"`), one(`currency = ""`), one(`currency = "DEM"`)}},

	{"cron patterns of five fields that fire",
		[][]string{one(`taskLists[3].trigger.pattern = "*/5 0-6/2 1,15 JAN-mar 7"`), one(`taskLists[3].trigger.pattern = "0  6\t*  * sun"`), one(`taskLists[3].trigger.pattern = "0 0 29 2 *"`)},
		[][]string{one(`taskLists[3].trigger.pattern = "0 12 * *"`), one(`taskLists[3].trigger.pattern = "@daily"`), one(`taskLists[3].trigger.pattern = "TZ=UTC 0 12 * * 7"`),
			one(`taskLists[3].trigger.pattern = "0 24 * * *"`), one(`taskLists[3].trigger.pattern = "0 0 30 2 *"`), one(`tasks[2].trigger.pattern = "0 0 ? * *"`)}},
	{"cron patterns that fire in every plant",
		[][]string{one(`taskLists[3].trigger.pattern = "30 */24 8-14 3 */7"`)},
		[][]string{one(`taskLists[3].trigger.pattern = "30 */24 8-14 3 */7"`, `plants[1].timezone = "America/Havana"`)}},
	{"minutes on a Task's own cron trigger",
		[][]string{one(`tasks[2].trigger.availableBeforeDeadlineMinutes = 1.0`), one(`taskLists[1].trigger.availableBeforeDeadlineMinutes -`)},
		[][]string{one(`tasks[2].trigger.availableBeforeDeadlineMinutes -`)}},
	{"minutes shorter than the smallest gap",
		[][]string{
			one(`tasks[2].trigger.availableBeforeDeadlineMinutes = 419`), // seven hours from 22:00 to 6:00 in the night when clocks go forward
			one(`taskLists[1].trigger.availableBeforeDeadlineMinutes = 59`),
			one(`tasks[2].trigger.availableBeforeDeadlineMinutes = 479`, `plants[0].timezone = "Asia/Tokyo"`, `plants[1].timezone = "UTC"`),
			one(`tasks[2].trigger.pattern = "0 0 1 1 *"`, `tasks[2].trigger.availableBeforeDeadlineMinutes = 525599`)},
		[][]string{
			one(`tasks[2].trigger.availableBeforeDeadlineMinutes = 420`),
			one(`tasks[2].trigger.availableBeforeDeadlineMinutes = 480`, `plants[0].timezone = "Asia/Tokyo"`, `plants[1].timezone = "UTC"`),
			one(`tasks[2].trigger.availableBeforeDeadlineMinutes = 479`, `plants[0].timezone = "Asia/Tokyo"`), // Lisbon changes its clocks
			one(`taskLists[1].trigger.pattern = "30 2,3 * * *"`, `taskLists[1].trigger.availableBeforeDeadlineMinutes = 30`),
			one(`tasks[2].trigger.availableBeforeDeadlineMinutes = 1e300`),
			one(`tasks[2].trigger.pattern = "* * * * *"`)}},

	{"shift pattern of a group",
		[][]string{one(`plants[0].stationGroups[0].shiftPatternCode = null`)},
		[][]string{one(`plants[0].stationGroups[0].shiftPatternCode = "three-shift"`), one(`plants[0].stationGroups[0].shiftPatternCode = ""`)}},
	{"shift pattern of a station",
		[][]string{one(`plants[0].stationGroups[0].stations[1].shiftPatternCode = "ovens"`)},
		[][]string{one(`plants[0].stationGroups[0].stations[1].shiftPatternCode = "Two shifts"`)}},
	{"Task list of a Task",
		[][]string{one(`tasks[4].taskListCodes += {"code": "WEEKLY", "order": 0.5}`)},
		[][]string{one(`tasks[4].taskListCodes += {"code": "weekly", "order": 0.5}`)}},
	{"stations of a SKU",
		[][]string{one(`skus[0].stationCodes += "OVEN-3"`)},
		[][]string{one(`skus[0].stationCodes += "OVEN-9"`)}},
	{"groups of a SKU, in any plant",
		[][]string{one(`skus[1].stationGroupCodes += "meters"`)},
		[][]string{one(`skus[1].stationGroupCodes += "north/ovens"`)}},
	{"Tasks of a SKU",
		[][]string{one(`skus[3].taskCodes += "BELT"`)},
		[][]string{one(`skus[3].taskCodes = ["START", "BELT"]`)}},
	{"energy stations of a plant",
		[][]string{one(`plants[0].totalEnergyStationCodes += "PACK-2"`)},
		[][]string{one(`plants[0].totalEnergyStationCodes += "METER-2"`)}},
	{"energy stations of a group, any of the plant",
		[][]string{one(`plants[0].stationGroups[1].totalEnergyStationCodes = ["OVEN-1"]`)},
		[][]string{one(`plants[0].stationGroups[1].totalEnergyStationCodes = ["OVEN-1", "OVEN-3"]`)}},

	{"id and domain", // no account has them yet
		[][]string{one(`id = "north-2"`, `domain = "Works.Northfield.Example"`)},
		[][]string{one(`id = "North"`), one(`id = "n2"`), one(`id = ""`), one(`domain = "northfield.example "`), one(`domain = "x@northfield.example"`), one(`domain = ""`)}},

	{"shapes and rules at once", nil, [][]string{
		one(`skus[0].cycleTime = "4 s"`, `skus[3].cycleTime = "1 min"`, `skus[3].unitsPerHour = 2`, `skus[3].unitsPerMinute = 2`, `skus[1].code = "ROLL"`, `plants[0].timezone = 7`, `plants[1].timezone = "Lisbon"`, `currency = "XXX1"`),
		one(`skus[0] = 7`, `skus[1] = 8`, `tasks[0].code -`, `tasks[1].code -`, `plants[1].code = null`, `skus[2].stationCodes = [1, "NOWHERE"]`),
		one(`reasons = "none"`, `skus[3].stationGroupCodes = ["attic"]`),
		one(`tasks[2].trigger = {"type": "cron"}`, `taskLists[1].trigger = {"type": "cron", "pattern": "", "availableBeforeDeadlineMinutes": 0}`, `taskLists[3].trigger = {"type": "weekly", "pattern": "x"}`),
		one(`plants = []`), one(`.account = null`), one(`.version = "v2"`, `currency = "EURO"`)}},
}

// warnings are the warnings for accepted documents.
var warnings = []rule{
	{name: "unknown reasons and Task lists at each level", bad: [][]string{
		one(`includeReasonCodes = ["BRK", "R1"]`, `excludeReasonCodes = ["R2"]`, `includeTaskListCodes = ["L1"]`, `excludeTaskListCodes = ["L2", "HELP"]`, `includeTaskCodes = ["NOBODY-LOOKS"]`),
		one(`plants[1].includeReasonCodes = ["R1"]`, `plants[1].excludeReasonCodes = ["R2"]`, `plants[1].includeTaskListCodes = ["L1"]`, `plants[1].excludeTaskListCodes = ["L2"]`),
		one(`plants[1].stationGroups[0].includeReasonCodes = ["R1"]`, `plants[1].stationGroups[0].excludeReasonCodes = ["R2"]`, `plants[1].stationGroups[0].includeTaskListCodes = ["L1"]`, `plants[1].stationGroups[0].excludeTaskListCodes = ["L2"]`),
		one(`plants[1].stationGroups[0].stations[0].includeReasonCodes = ["R1"]`, `plants[1].stationGroups[0].stations[0].excludeReasonCodes = ["R2"]`, `plants[1].stationGroups[0].stations[0].includeTaskListCodes = ["L1"]`, `plants[1].stationGroups[0].stations[0].excludeTaskListCodes = ["`+strings.Repeat("é", 70)+`"]`)}},
	{name: "unknown properties", bad: [][]string{
		one(`reasons[2].reasons[1].nothing = null`), one(`tasks[3].taskListCodes[0].icon = {"a": [1]}`)}},
	{name: "Tasks in no list", bad: [][]string{one(`tasks[1].taskListCodes -`), one(`tasks[1].taskListCodes = []`, `skus[3].taskCodes = ["BELT"]`)}},
}

// TestRules applies every rule to valid and invalid documents.
func TestRules(t *testing.T) {
	plain := Validate(plantFile, start)
	if !plain.Valid {
		t.Fatalf("the fixture is not valid: %v", plain.Details)
	}
	usual := map[string]bool{}
	for _, w := range plain.Warnings {
		usual[w.Field+w.Issue] = true
	}
	var b strings.Builder
	for _, r := range rules {
		fmt.Fprintf(&b, "# %s\n", r.name)
		for _, edits := range r.good {
			if report := Validate(edit(t, plantFile, edits...), start); !report.Valid {
				t.Errorf("%s: %q is refused: %v", r.name, edits, report.Details)
			}
		}
		for _, edits := range r.bad {
			report := Validate(edit(t, plantFile, edits...), start)
			if report.Valid || len(report.Details) == 0 {
				t.Errorf("%s: %q is accepted", r.name, edits)
			}
			for _, d := range report.Details {
				fmt.Fprintf(&b, "%s %s\n", d.Field, d.Issue)
			}
			b.WriteString("--\n")
		}
	}
	b.WriteString("\n# WARNINGS\n")
	for _, r := range warnings {
		fmt.Fprintf(&b, "# %s\n", r.name)
		for _, edits := range r.bad {
			report := Validate(edit(t, plantFile, edits...), start)
			if !report.Valid {
				t.Errorf("%s: %q is refused: %v", r.name, edits, report.Details)
			}
			for _, w := range report.Warnings {
				if !usual[w.Field+w.Issue] {
					fmt.Fprintf(&b, "%s %s\n", w.Field, w.Issue)
				}
			}
			b.WriteString("--\n")
		}
	}
	golden(t, "rules.golden", []byte(b.String()))
}

// TestEverySentence finds the messages in the source of the checks and looks for each in the results of the rules.
func TestEverySentence(t *testing.T) {
	var all strings.Builder
	for _, r := range append(append([]rule{}, rules...), warnings...) {
		for _, edits := range r.bad {
			report := Validate(edit(t, plantFile, edits...), start)
			for _, d := range append(report.Details, report.Warnings...) {
				all.WriteString(d.Issue + "\n")
			}
		}
	}
	verbs := regexp.MustCompile(`%\w`)
	found := 0
	for _, file := range []string{"manifest/check.go", "apply.go"} {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) < 2 {
				return true
			}
			fn, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || fn.Sel.Name != "problem" && fn.Sel.Name != "warn" && fn.Sel.Name != "Add" {
				return true
			}
			text, ok := call.Args[1].(*ast.BasicLit)
			if !ok {
				t.Errorf("%s: a sentence is no literal", file)
				return true
			}
			format, err := strconv.Unquote(text.Value)
			if err != nil || format == "%s" { // a message of another package
				return true
			}
			found++
			pattern := "(?m)^" + verbs.ReplaceAllString(regexp.QuoteMeta(format), ".*") + "$"
			if !regexp.MustCompile(pattern).MatchString(all.String()) {
				t.Errorf("no rule of the test makes %q", format)
			}
			return true
		})
	}
	if found < 13 {
		t.Errorf("%d sentences were found in the source", found)
	}
}

// TestOwnFields checks that each property of a manifest's account is a setting, a field of the system or a section: the
// settings are separated from the sections by name.
func TestOwnFields(t *testing.T) {
	system := map[string]bool{"id": true, "domain": true, "stationCountLimit": true, "warehousePassword": true, "uploadTransforms": true, "appUrls": true}
	for name := range manifest.SystemFields {
		system[name] = true
	}
	for _, name := range schematest.Properties(schema.JSON(schema.Manifest), "Account") {
		own := false
		for _, o := range ownFields {
			own = own || o == name
		}
		if own == (system[name] || manifest.Sections[name]) {
			t.Errorf("account.%s is a setting: %v; a system field: %v; a section: %v", name, own, system[name], manifest.Sections[name])
		}
	}
}
