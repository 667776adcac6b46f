// Package schematest generates manifests for tests and benchmarks.
package schematest

import (
	"bytes"
	"fmt"
	"strings"
)

// perGroup is the number of stations in a group, and groupsPerPlant that of groups in a plant.
const (
	perGroup       = 40
	groupsPerPlant = 25
)

// Large returns a valid manifest (http-api.md, section 2.3) with the given numbers of stations and SKUs, at least one
// of each. It uses every field and kind of trigger, and all codes are unique and resolve. The account is "large" on
// the domain "large.example". 10,000 stations with 30,000 SKUs are about 14 MB. Equal arguments produce equal bytes.
func Large(stations, skus int) []byte {
	w := &writer{stations: max(stations, 1)}
	w.account()
	w.skus(max(skus, 1))
	w.plants()
	w.print(`}}`)
	return w.Bytes()
}

type writer struct {
	bytes.Buffer
	stations int
}

func (w *writer) print(format string, args ...any) { fmt.Fprintf(w, format, args...) }

// comma writes a separator before element i, unless it is the first.
func (w *writer) comma(i int) {
	if i > 0 {
		w.WriteString(",\n")
	}
}

func (w *writer) account() {
	w.print(`{"version": "v1", "account": {"id": "large", "domain": "large.example", "stationCountLimit": %d,
"electricalPricePerKwh": 0.2371, "electricalCo2PerKwh": 0.124, "currency": "GBP", "maxProductionCountPerSchedule": 2000000,
"dashboardConfig": {"home": "floor", "tiles": ["oee", "downtime", {"kind": "energy", "days": 7}]}, "warehousePassword": null,
"uploadTransforms": null, "durationFormat": "hours", "appUrls": null, "includeReasonCodes": null, "excludeReasonCodes": ["R-7-7"],
"includeTaskCodes": null, "excludeTaskCodes": ["TASK-3"], "includeTaskListCodes": ["start-up", "hourly", "help"], "excludeTaskListCodes": [],
"createdAt": "2024-02-01T08:00:00.000Z", "updatedAt": "2026-11-02T16:45:12.345Z", "archivedAt": null,
`, w.stations+1000)
	for i, name := range []string{"enableTasks", "enableCycleTimeAnalysis", "enableLostProductionCost", "enableAutoEndOnQuantityComplete",
		"enableDragBetweenStationsOnGantt", "enableHistoricalCorrection", "enableProductionCorrection", "enableManualProduction",
		"enableQuickScheduleStart", "enableScheduleCutShort", "enableRejectProduction", "enableEditPartsPerCycle",
		"enableScheduleStationFlexibility", "enableManualDowntime", "enableAlwaysConnected"} {
		w.print(`"%s": %s, `, name, []string{`"on"`, `"off"`, `null`}[i%3])
	}
	w.print("\n" + `"shiftPatterns": [`)
	for p, title := range []string{"Three shifts", "Continental"} {
		w.comma(p)
		w.print(`{"code": "SP-%d", "title": "%s", "shifts": [`, p, title)
		for day := range 7 {
			w.comma(day)
			w.print(`{"name": "Early", "startHour": 6, "duration": 8.0, "weekDay": "%d"}, {"name": "Late", "startHour": 14.5, "duration": 7.25, "weekDay": "%[1]d"}`, day+1)
		}
		w.print(`]}`)
	}
	w.print("],\n" + `"reasons": [`)
	for i := range 10 {
		w.comma(i)
		w.print(`{"code": "R-%d", "name": "Reason %[1]d", "description": "What stops the line, kind %[1]d", "type": ["downtime", "non_production"], "oee": "%s", "colour": "#c0392b", "reasons": [`,
			i, []string{"setup", "changeover", "planned"}[i%3])
		for j := range 10 {
			w.comma(j)
			w.print(`{"code": "R-%d-%d", "name": "Detail %[2]d", "reasons": [{"code": "R-%[1]d-%[2]d-a"}]}`, i, j)
		}
		w.print(`]}`)
	}
	w.print("],\n" + `"tasks": [`)
	triggers := []string{`{"type": "schedule"}`, `{"type": "on_demand"}`, `{"type": "cron", "pattern": "0 6,14,22 * * 1-5", "availableBeforeDeadlineMinutes": 45}`}
	for i := range 200 {
		w.comma(i)
		w.print(`{"code": "TASK-%d", "title": "Check point %[1]d", "description": "Look, listen, write down what you find", "trigger": %s, "requireNotes": %t,
 "taskListCodes": [{"code": "start-up", "order": %d.5}, {"code": "hourly", "order": 1, "icon": "eye"}, {"code": "help"}]}`, i, triggers[i%3], i%2 == 0, i%99)
	}
	w.print(`],
"taskLists": [{"code": "start-up", "name": "Line start-up", "description": "Before the first unit", "trigger": {"type": "schedule"}},
{"code": "hourly", "name": "Hourly checks", "trigger": {"type": "cron", "pattern": "0 * * * *", "availableBeforeDeadlineMinutes": 15}},
{"code": "help", "name": "When something jams", "trigger": {"type": "on_demand"}}],
`)
}

func (w *writer) skus(n int) {
	w.print(`"skus": [`)
	for i := range n {
		w.comma(i)
		rate := []string{`"cycleTime": 1250, "unitsPerMinute": null`, `"unitsPerMinute": 96.5`, `"unitsPerHour": 5400.25`}[i%3]
		w.print(`{"code": "SKU-%05d", "name": "Sliced loaf %[1]d, 800 g, wrapped", %s, "minimumCycleTime": %d, "partsPerCycle": %d, "value": %d.%02d, "allowUseInQuickSchedule": %t, "stationCodes": ["ST-%05d", "ST-%05d"]`,
			i, rate, i%7*100, i%12+1, i%40, i%100, i%4 != 0, i%w.stations, (i*7+3)%w.stations)
		if i%6 == 0 {
			w.print(`, "specifications": "Bake loss 9.4 %%, core 96 °C", "instructionsUrl": "https://docs.large.example/sku/%d", "lineSpeedTarget": 12.5, "downtimeDurationThresholdMultiplier": 1.5`, i)
		}
		if i%5 == 0 {
			w.print(`, "stationGroupCodes": ["G-0"], "taskCodes": ["TASK-1", "TASK-%d"]`, i%200)
		}
		w.print(`}`)
	}
	w.print("],\n")
}

func (w *writer) plants() {
	w.print(`"plants": [`)
	perPlant := perGroup * groupsPerPlant
	for first := 0; first < w.stations; first += perPlant {
		w.comma(first)
		w.print(`{"code": "plant-%d", "name": "Plant %[1]d", "timezone": "Europe/London", "dayStartHour": 6, "weekStartDay": 0,
"includeReasonCodes": null, "excludeReasonCodes": ["R-1"], "includeTaskCodes": null, "excludeTaskCodes": null, "includeTaskListCodes": ["start-up", "hourly"],
"excludeTaskListCodes": ["help"], "totalEnergyStationCodes": ["ST-%05d"], "createdAt": "2024-02-01T08:00:00Z", "updatedAt": null, "archivedAt": null, %s"stationGroups": [`,
			first/perPlant, first, flags("Plant"))
		for group := first; group < min(first+perPlant, w.stations); group += perGroup {
			w.comma(group - first)
			w.group(group)
		}
		w.print(`]}`)
	}
	w.print(`]`)
}

// group writes the group whose first station has the number first. Its code is unique within its plant.
func (w *writer) group(first int) {
	w.print(`{"code": "G-%d", "name": "Line %d", "shiftPatternCode": "SP-0", "includeReasonCodes": ["R-2", "R-3"], "excludeReasonCodes": null, "includeTaskCodes": null,
"excludeTaskCodes": null, "includeTaskListCodes": null, "excludeTaskListCodes": null, "totalEnergyStationCodes": ["ST-%05d"], "createdAt": "2024-02-01T08:00:00Z", "updatedAt": null, %s"stations": [`,
		first/perGroup%groupsPerPlant, first/perGroup, first, flags("Group"))
	for i := first; i < min(first+perGroup, w.stations); i++ {
		w.comma(i - first)
		w.station(i)
	}
	w.print(`]}`)
}

func (w *writer) station(i int) {
	w.print(`{"code": "ST-%05d", "name": "Flow wrapper %[1]d", "description": "Hall %d, bay %d", "minimumCycleTime": 250, "electricalPowerNominalKw": 18.5, "idleCostPerMinute": 4.75,
 "downtimeDetectionMode": "utilisation", "utilisationDowntimeThreshold": 300000, "productiveStatusMode": "productive_signal", "productiveHoldOnTime": 30000, "lineSpeedTarget": 42.5, "enableManualDowntime": "inherit"`,
		i, i/perGroup, i%perGroup)
	if i%5 == 0 {
		w.print(`,
 "shiftPatternCode": "SP-1", "speedScale": -0.5, "speedOffset": 12, "speedToProductionRatio": 0.25, "slowDurationThreshold": 60000, "forceAllShiftTimeAsPlannedProduction": true,
 "electricalUsageStoppedThresholdKw": 1.2, "lineSpeedStoppedThreshold": 0.5, "currentOperatorInitials": "AKM", "statusCode": "R-1", "statusCodeUpdatedAt": "2026-11-02T16:45:12.345Z",
 "cycleTime": 1250, "unitsPerMinute": 48, "unitsPerHour": null, "includeReasonCodes": ["R-2"], "excludeReasonCodes": [], "includeTaskCodes": null, "excludeTaskCodes": null, "includeTaskListCodes": ["start-up"], "excludeTaskListCodes": null,
 "alertMessage": "Guard open", "alertExpiresAt": "2026-11-03T16:45:12+01:00", "createdAt": "2024-02-01T08:00:00Z", "updatedAt": null, "archivedAt": null, %s"enableRejectProduction": "off"`, flags("Station"))
	}
	w.print(`}`)
}

// flags returns the feature flags of a level, each followed by a comma. A station's list lacks those that every
// station sets.
func flags(level string) string {
	names := []string{"enableProductionCorrection", "enableManualProduction", "enableQuickScheduleStart", "enableScheduleCutShort",
		"enableEditPartsPerCycle", "enableScheduleStationFlexibility", "enableAlwaysConnected"}
	if level != "Plant" {
		names = append(names, "enableSchedulingOnly", "enableMeterOnly")
	}
	if level != "Station" {
		names = append(names, "enableRejectProduction", "enableManualDowntime")
	}
	var b strings.Builder
	for i, name := range names {
		fmt.Fprintf(&b, `"%s": %s, `, name, []string{`"on"`, `"off"`, `"inherit"`, `null`}[i%4])
	}
	return b.String()
}
