//go:build rig

package plants_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"opsmon/app/test/browser/webtest"
)

func TestMain(m *testing.M) { webtest.Main(m) }

type object = map[string]any

// document returns a plant with everything that its pages show: flags at every level, shifts, reasons, Task lists and
// SKUs that name stations and groups.
func document(plants ...object) []byte {
	doc := object{"version": "v1", "account": object{
		"id": "demo", "domain": "demo.example", "currency": "EUR", "enableQuickScheduleStart": "on", "enableRejectProduction": "off", "includeTaskListCodes": []string{"start", "clean"},
		"excludeReasonCodes": []string{"STAFF"},
		"shiftPatterns": []object{
			{"code": "3x8", "title": "Three shifts", "shifts": []object{{"name": "Early", "startHour": 6, "duration": 8, "weekDay": "1"}, {"name": "Night", "startHour": 22, "duration": 8, "weekDay": "7"}}},
			{"code": "days", "title": "Days only", "shifts": []object{{"name": "Day", "startHour": 8, "duration": 8.5, "weekDay": "2"}}},
		},
		"reasons": []object{
			{"code": "BRK", "name": "Breakdown", "type": []string{"downtime"}, "reasons": []object{{"code": "BRK-E", "name": "Electrical", "reasons": []object{{"code": "BRK-F", "name": "Fuse"}}}, {"code": "BRK-M", "name": "Mechanical"}}},
			{"code": "SET", "name": "Set-up", "oee": "setup"}, {"code": "STAFF", "name": "No staff"},
		},
		"taskLists": []object{{"code": "start", "name": "Start-up", "trigger": object{"type": "schedule"}}, {"code": "clean", "name": "Cleaning", "trigger": object{"type": "cron", "pattern": "0 14,22 * * 1-5"}}, {"code": "never", "name": "Never shown"}},
		"tasks": []object{
			{"code": "t2", "title": "Check the film", "taskListCodes": []object{{"code": "start", "order": 2}, {"code": "clean", "order": 1.5}}},
			{"code": "t1", "title": "Check the guards", "requireNotes": true, "taskListCodes": []object{{"code": "start", "order": 1}}},
		},
		"skus": []object{
			{"code": "ALL", "name": "Runs everywhere", "unitsPerHour": 100},
			{"code": "MIXED", "name": "Mixers only", "unitsPerHour": 90, "stationGroupCodes": []string{"mixing"}},
			{"code": "ONE", "name": "One only", "cycleTime": 1200, "stationCodes": []string{"PACK-1"}},
		},
		"plants": plants,
	}}
	b, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return b
}

// small returns a document of two plants and six stations.
func small() []byte {
	return document(
		object{
			"code": "leeds", "name": "Leeds bakery", "timezone": "Europe/London", "dayStartHour": 6, "weekStartDay": 0, "enableManualDowntime": "on", "totalEnergyStationCodes": []string{"METER"},
			"stationGroups": []object{
				{"code": "mixing", "name": "Dough mixing", "shiftPatternCode": "3x8", "excludeReasonCodes": []string{"BRK-M"}, "stations": []object{
					{"code": "MIX-1", "name": "Mixer 1", "utilisationDowntimeThreshold": 1200000, "enableManualDowntime": "inherit"}, {"code": "MIX-2", "name": "Mixer 2", "description": "Spiral, from Évora", "enableManualDowntime": "off"}}},
				{"code": "packing", "name": "Packing", "enableRejectProduction": "on", "includeTaskListCodes": []string{"start"}, "stations": []object{
					{"code": "PACK-1", "name": "Packer 1", "unitsPerMinute": 110, "downtimeDetectionMode": "production", "minimumCycleTime": 350, "includeReasonCodes": []string{"BRK-F"}},
					{"code": "PACK-2", "name": "Packer 2", "shiftPatternCode": "days", "enableSchedulingOnly": "on"}}},
				{"code": "meters", "name": "Meters", "enableMeterOnly": "on", "stations": []object{{"code": "METER", "name": "Main incomer"}}},
			},
		},
		object{
			"code": "lyon", "name": "Lyon", "timezone": "Europe/Paris", "dayStartHour": 5, "weekStartDay": 6, "excludeTaskListCodes": []string{"start"},
			"stationGroups": []object{{"code": "filling", "name": "Filling", "stations": []object{{"code": "FILL-1", "name": "Filler 1"}}}},
		},
	)
}

// large returns a document with a number of stations, in groups of 250.
func large(stations int) []byte {
	var groups []object
	for n := 0; n < stations; n += 250 {
		var list []object
		for i := n; i < min(n+250, stations); i++ {
			list = append(list, object{"code": fmt.Sprintf("S-%05d", i), "name": fmt.Sprintf("Machine %d", i), "description": fmt.Sprintf("Hall %d, café %d", i%7, i%13)})
		}
		groups = append(groups, object{"code": fmt.Sprintf("g%d", n/250), "name": fmt.Sprintf("Group %d", n/250), "stations": list})
	}
	groups[0]["code"], groups[0]["stations"].([]object)[0]["code"] = "mixing", "PACK-1" // named by SKUs
	return document(object{"code": "big", "name": "Big plant", "timezone": "Europe/Berlin", "dayStartHour": 0, "weekStartDay": 0, "stationGroups": groups})
}

// console serves a document and opens a page of the console as a user with a role.
func console(t *testing.T, doc []byte, role, path string, view webtest.Viewport) (*webtest.Service, *webtest.Tab) {
	t.Helper()
	s := webtest.Serve(t, webtest.Options{Manifest: doc})
	tab := webtest.Open(t, s.Base, view)
	s.SignIn(tab, role)
	tab.Visit(path)
	tab.Until(`document.querySelector(".tree .node")`)
	return s, tab
}

// workspace returns an expression about the draft's workspace w.
func workspace(expression string) string {
	return `import(document.querySelector("script[type=module]").src.replace("console/main.js", "shared/workspace.js")).then(({ workspace: w }) => ` + expression + `)`
}

// draft returns a property of the draft as JSON.
func draft(tab *webtest.Tab, path string) string {
	return webtest.Eval[string](tab, workspace(`JSON.stringify(w.doc.account.`+path+`) ?? "unset"`))
}

// button clicks the button with a text below a selector.
func button(tab *webtest.Tab, below, text string) {
	find := fmt.Sprintf(`[...document.querySelectorAll(%q)].find((b) => b.textContent.trim().startsWith(%q) && !b.disabled)`, below+" button", text)
	tab.Until(find)
	tab.Eval(find + `.click()`)
}

// apply reviews the draft and applies it.
func apply(tab *webtest.Tab) {
	button(tab, ".changes", "Review and apply")
	button(tab, "dialog", "Apply")
	tab.Until(`!document.querySelector("dialog") && !document.querySelector(".changes")`)
}
