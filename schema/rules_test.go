package schema

import (
	"flag"
	"fmt"
	"maps"
	"math/big"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"opsmon/schema/schematest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// rule lists valid and invalid values of fields, as JSON texts on both sides of each bound.
type rule struct {
	fields string // one or more names
	ok     []string
	bad    []string
}

// texts splits a list of JSON texts at spaces; § is a space within a value.
func texts(list string) []string {
	values := strings.Fields(list)
	for i, v := range values {
		values[i] = strings.ReplaceAll(v, "§", " ")
	}
	return values
}

// long returns a text of n characters of two bytes each, and ascii one of n letters.
func long(n int) string  { return `"` + strings.Repeat("é", n) + `"` }
func ascii(n int) string { return `"` + strings.Repeat("a", n) + `"` }

func r(fields, ok, bad string) rule { return rule{fields, texts(ok), texts(bad)} }

var (
	text       = func(fields string) rule { return r(fields, `"" "x"`, `1 null`) }
	someText   = func(fields string) rule { return r(fields, `"x"`, `"" 1 null`) }
	textOrNull = func(fields string) rule { return r(fields, `"" "x" null`, `1 ["x"]`) }
	codes      = func(fields string) rule { return r(fields, `null [] ["a","b"]`, `"a" {} [null] ["a",5]`) }
	codeLists  = codes("includeReasonCodes excludeReasonCodes includeTaskCodes excludeTaskCodes includeTaskListCodes excludeTaskListCodes")
	stamps     = func(fields string) rule {
		return r(fields, `null "2024-02-01T08:00:00Z" "2024-02-01T08:00:00.123+01:00"`,
			`1 "" "yesterday" "2024-02-01" "2024-02-30T08:00:00Z" "2024-02-01T8:00:00.00Z" "2024-02-01T08:00:00,5Z"`)
	}
	natural     = func(fields string) rule { return r(fields, `null 0 1 2.0 1e3`, `-1 0.5 "1" true`) }
	positive    = func(fields string) rule { return r(fields, `null 1 2.0 1e3`, `0 -1 1.5 "1"`) }
	positiveNum = func(fields string) rule { return r(fields, `null 0.001 1`, `0 -0.001 "1"`) }
	notNegative = func(fields string) rule { return r(fields, `null 0 0.001`, `-0.001 "1" []`) }
	flags       = func(fields string) rule { return r(fields, `"on" "off" null`, `"inherit" "ON" "" true`) }
	levelFlags  = func(fields string) rule { return r(fields, `"on" "off" "inherit" null`, `"yes" "ON" 1`) }
	lists       = func(fields string) rule { return r(fields, `[]`, `null {} [1]`) }
	someItems   = func(fields string) rule { return r(fields, ``, `[] null {} [1]`) }
	roles       = r("role", `"admin" "member" "supervisor" "operator" "readonly"`, `"owner" null`)
	moments     = func(fields string) rule { return r(fields, `"2027-01-01T00:00:00Z"`, `"2027-01-01" null 1`) }
	initials    = rule{"initials", []string{long(3), long(8), `" ABCDEFGH "`}, []string{long(2), `""`, `1`, `null`}} // package auth checks the content
	remark      = rule{"note", []string{`""`, long(1000)}, []string{long(1001), `1`, `null`}}
	quantities  = func(fields string) rule { return r(fields, `null 0.001 1000000000`, `0 -1 1000000001 1e300 "1"`) }
	upTo        = func(n int, fields string) rule {
		return rule{fields, []string{`null`, `""`, long(n)}, []string{long(n + 1), `1`}}
	}
	trigger = rule{"trigger", texts(`{"type":"schedule"} {"type":"on_demand"} {"type":"cron","pattern":"0§6§*§*§*"}`),
		texts(`null "cron" {} {"type":null} {"type":"daily","pattern":1} {"type":"schedule","pattern":"*"} {"type":"on_demand","availableBeforeDeadlineMinutes":1}
			{"type":"cron"} {"type":"cron","pattern":"","patern":1,"availableBeforeDeadlineMinutes":0}`)}
)

// rules are the rules of sections 2 and 4.1, and of the further request bodies, by object.
var rules = map[string][]rule{
	"manifest": {r("version", `"v1"`, `"v2" "V1" 1 null`), r("account", ``, `null []`)},
	"manifest Account": {
		text("id domain"), natural("stationCountLimit"), notNegative("electricalPricePerKwh electricalCo2PerKwh"),
		textOrNull("currency warehousePassword uploadTransforms appUrls"),
		r("maxProductionCountPerSchedule", `null 1 9999999 9999999.0`, `0 10000000 0.5 "1"`),
		r("dashboardConfig", `null {} {"a":{"b":[1]}}`, `"{}" []`),
		r("durationFormat", `"months" "days" "hours" "minutes" null`, `"weeks" 1`),
		codeLists, stamps("createdAt updatedAt archivedAt"),
		flags(`enableTasks enableCycleTimeAnalysis enableLostProductionCost enableAutoEndOnQuantityComplete enableDragBetweenStationsOnGantt
			enableHistoricalCorrection enableProductionCorrection enableManualProduction enableQuickScheduleStart enableScheduleCutShort
			enableRejectProduction enableEditPartsPerCycle enableScheduleStationFlexibility enableManualDowntime enableAlwaysConnected`),
		lists("shiftPatterns reasons tasks taskLists skus"), someItems("plants"),
	},
	"manifest ShiftPattern": {{"code", []string{`""`, long(64)}, []string{long(65), `1`, `null`}}, text("title"), someItems("shifts")},
	"manifest Shift": {text("name"), r("startHour", `0 14.5 23.999`, `-0.001 24 "6" null`), r("duration", `0.001 24 24.0`, `0 24.001 "8" null`),
		r("weekDay", `"1" "7"`, `"0" "8" "12" "" 1 null "1\n"`)},
	"manifest Reason": {someText("code"), textOrNull("name description"), r("type", `[] ["downtime"] ["downtime","non_production"] null`, `"downtime" ["stop"] [null]`),
		r("oee", `"setup" "changeover" "planned" null`, `""`), r("reasons", `[] [{"code":"c","reasons":[{"code":"d","x":1}]}] null`, `"c" [1] [{"code":"c","reasons":[{"code":""},{}]}]`)},
	"manifest Task":          {text("code title description"), trigger, r("requireNotes", `true false`, `"true" null`), r("taskListCodes", `[] [{"code":"a"}]`, `null "a" [1]`)},
	"manifest TaskListEntry": {someText("code"), r("order", `0.001 100 1e2`, `0 100.001 "1" null`)},
	"manifest TaskList":      {someText("code"), text("name description"), trigger},
	"manifest Trigger":       {r("type", ``, `"Cron" null`)},
	"manifest CronTrigger":   {r("type", `"cron"`, ``), someText("pattern"), r("availableBeforeDeadlineMinutes", `1 2.0`, `0 1.5 "1" null`)},
	"manifest SKU": {text("code name"), textOrNull("specifications instructionsUrl"), r("cycleTime", `null 1 43200000`, `0 43200001 1.5 "1"`),
		positiveNum("unitsPerMinute unitsPerHour downtimeDurationThresholdMultiplier"), r("minimumCycleTime", `null 0 43200000`, `-1 43200001 1.5 "1"`),
		positive("partsPerCycle"), r("lineSpeedTarget", `null 0.001 99999 99998.99999999999999`, `0 99999.001 99999.00000000000001 "1"`), notNegative("value"),
		r("allowUseInQuickSchedule", `true false null`, `"true" 1`), codes("stationCodes stationGroupCodes taskCodes")},
	"manifest Plant": {{"code", []string{`"a-1"`, ascii(3), ascii(55), `"---"`}, []string{`""`, ascii(2), ascii(56), `"Leeds Bakery"`, `"a_b"`, `"abc\n"`, `1`, `null`}},
		text("name timezone"), r("dayStartHour", `0 23 6.0`, `-1 24 6.5 "6" null`), r("weekStartDay", `0 6`, `-1 7 0.5 "0" null`),
		codeLists, codes("totalEnergyStationCodes"), stamps("createdAt updatedAt archivedAt"),
		levelFlags(`enableProductionCorrection enableManualProduction enableQuickScheduleStart enableScheduleCutShort enableRejectProduction
			enableEditPartsPerCycle enableScheduleStationFlexibility enableManualDowntime enableAlwaysConnected`), someItems("stationGroups")},
	"manifest StationGroup": {text("code name"), textOrNull("shiftPatternCode"), codeLists, codes("totalEnergyStationCodes"), stamps("createdAt updatedAt"),
		levelFlags(`enableProductionCorrection enableManualProduction enableQuickScheduleStart enableScheduleCutShort enableRejectProduction
			enableEditPartsPerCycle enableScheduleStationFlexibility enableManualDowntime enableAlwaysConnected enableSchedulingOnly enableMeterOnly`), someItems("stations")},
	"manifest Station": {{"code", []string{`"A"`, `"a-Z_9"`, ascii(32)}, []string{`""`, ascii(33), `"PACK 1"`, `"é"`, `"A\n"`, `1`, `null`}},
		{"name", []string{`"x"`, long(32)}, []string{`""`, long(33), `1`, `null`}}, textOrNull("description statusCode alertMessage"),
		{"shiftPatternCode", []string{`null`, `""`, long(64)}, []string{long(65), `1`}}, r("minimumCycleTime", `null 0 43200000`, `-1 43200001 1.5 "1"`),
		r("speedScale speedOffset", `null -9999 9999 0.5`, `-9999.001 9999.001 "1"`), r("speedToProductionRatio idleCostPerMinute", `null 0 99999`, `-0.001 99999.001 "1"`),
		notNegative("electricalPowerNominalKw electricalUsageStoppedThresholdKw lineSpeedStoppedThreshold"),
		r("downtimeDetectionMode", `"off" "production" "utilisation" "line_speed" null`, `"utilization" ""`),
		natural("utilisationDowntimeThreshold slowDurationThreshold"), r("forceAllShiftTimeAsPlannedProduction", `true false null`, `"true" 0`),
		r("productiveStatusMode", `"productive_signal" "electrical_usage" "line_speed" null`, `"off"`), r("productiveHoldOnTime", `null 0 86400000`, `-1 86400001 0.5 "1"`),
		{"currentOperatorInitials", []string{`null`, long(3), long(8)}, []string{`""`, long(2), long(9), `1`}}, stamps("statusCodeUpdatedAt alertExpiresAt createdAt updatedAt archivedAt"),
		r("cycleTime", `null 1 43200000`, `0 43200001 1.5 "1"`), positive("unitsPerMinute unitsPerHour"), r("lineSpeedTarget", `null 0.001 99999 99998.99999999999999`, `0 99999.001 99999.00000000000001 "1"`), codeLists,
		levelFlags(`enableProductionCorrection enableManualProduction enableQuickScheduleStart enableScheduleCutShort enableRejectProduction
			enableEditPartsPerCycle enableScheduleStationFlexibility enableManualDowntime enableAlwaysConnected enableSchedulingOnly enableMeterOnly`)},
	"account-update": {
		flags(`enableTasks enableCycleTimeAnalysis enableLostProductionCost enableAutoEndOnQuantityComplete enableDragBetweenStationsOnGantt
			enableProductionCorrection enableHistoricalCorrection enableManualProduction enableQuickScheduleStart enableScheduleCutShort
			enableRejectProduction enableEditPartsPerCycle enableScheduleStationFlexibility enableManualDowntime enableAlwaysConnected`),
		r("currency", `"GBP" "USD" "EUR" null`, `"CHF" "gbp"`), r("electricalPricePerKwh electricalCo2PerKwh", `null 0 999.999`, `-0.001 1000 "1"`),
		textOrNull("dashboardConfig uploadTransforms"), r("resetWarehousePassword", `true false`, `null "true"`),
		r("maxProductionCountPerSchedule", `null 1 9999999`, `0 10000000 0.5 "1"`), r("durationFormat", `"months" "days" "hours" "minutes"`, `"weeks" null`),
		codes("includeReasonCodes excludeReasonCodes includeTaskListCodes excludeTaskListCodes")},
	"login":          {someText("destination")},
	"approve":        {someText("token"), r("code", `"00000" "12345"`, `"1234" "123456" "１２３４５" "12345\n" 12345 null`)},
	"account-switch": {someText("accountId")},
	"key-create": {{"name", []string{`"x"`, long(64)}, []string{`""`, long(65), `1`, `null`}}, roles,
		r("expiresAt", `"2027-01-01T00:00:00Z"`, `"2027-01-01" null 1`)},
	"user-create": {someText("email"), roles},
	"user-update": {roles},
	"tablet-create": {{"name", []string{`"x"`, long(64)}, []string{`""`, long(65), `1`, `null`}}, r("role", `"operator" "readonly" "supervisor"`, `"admin" "member" null`),
		r("stationCodes", `["A"] ["A","B"]`, `[] null "A" [1]`)},
	"backup-verify":  {{"passphrase", []string{`"x"`, long(1024)}, []string{`""`, long(1025), `1`, `null`}}},
	"backup-restore": {someText("confirm"), {"passphrase", []string{`"x"`, long(1024)}, []string{`""`, long(1025), `1`, `null`}}, r("withoutSettings", `true false`, `null "true" 1`)},
	"device-create": {{"name", []string{`"x"`, `"gw_1-A"`, ascii(64)}, []string{`""`, ascii(65), `"a b"`, `"a/b"`, `"é"`, `1`, `null`}},
		r("stationCodes", `["A"] ["A","B"]`, `[] null "A" [1]`)},
	"schedule-write": {{"id", []string{`"x"`, long(64)}, []string{`""`, long(65), `1`, `null`}}, {"stationCode", []string{`"x"`, long(32)}, []string{`""`, long(33), `1`, `null`}},
		moments("at plannedStartAt"), r("kind", `"production" "nonProduction"`, `"nonproduction" "" null`), upTo(256, "skuCode reasonCode"), upTo(128, "workOrderReference"), upTo(1000, "note"),
		stamps("plannedEndAt"), quantities("plannedQuantity unitsPerMinute unitsPerHour"), r("cycleTime", `null 1 43200000`, `0 43200001 1.5 "1"`),
		r("lineSpeedTarget", `null 0.001 99999`, `0 99999.001 "1"`), r("partsPerCycle", `null 0.5 1000000`, `0 -1 1000001 "1"`),
		r("autoStart autoEnd autoEndOnQuantityComplete extendShift", `true false null`, `"true" 0`)},
	"schedule-start": {moments("at"), {"stationCode", []string{`"x"`, long(32)}, []string{`""`, long(33), `1`, `null`}}, initials, remark, r("correction", `true false`, `"true" null`)},
	"schedule-end":   {moments("at"), initials, remark},
	"schedule-move":  {moments("at plannedStartAt plannedEndAt"), {"stationCode", []string{`"x"`, long(32)}, []string{`""`, long(33), `1`, `null`}}},
	"schedule-quick": {moments("at"), stamps("plannedEndAt"), {"stationCode", []string{`"x"`, long(32)}, []string{`""`, long(33), `1`, `null`}}, {"skuCode reasonCode", []string{`"x"`, long(256), `null`}, []string{`""`, long(257), `1`}},
		upTo(128, "workOrderReference"), r("plannedQuantity", `0.001 1000000000 1e9 null`, `0 -1 1000000000.5 1e10 "1"`), initials, upTo(1000, "note")},
	"production-create": {moments("at"), {"stationCode", []string{`"x"`, long(32)}, []string{`""`, long(33), `1`, `null`}}, {"scheduleId", []string{`"x"`, long(64)}, []string{`""`, long(65), `1`, `null`}},
		r("good bad", `0 -0.5 -1000000000 1000000000`, `-1000000001 1000000001 1e300 "1" null`), r("reject", `0 0.5 1000000000`, `-0.001 1000000001 "1" null`), r("correction", `true false`, `"true" null`), initials, remark},
	"production-undo":       {moments("at"), initials, remark},
	"issue-create":          {someText("stationCode"), r("type", `"manual"`, `"stop" "slow" null 1`), stamps("startAt endAt"), moments("at"), r("causeCode", `null "x"`, `"" 1`), initials, remark},
	"issue-acknowledge":     {moments("at"), initials, remark},
	"issue-estimate":        {r("expectedEndAt", `null "2027-01-01T00:00:00Z"`, `"2027-01-01" 1`), moments("at"), initials, remark},
	"issue-escalate":        {r("level", `1 5 2.0`, `0 6 1.5 "1" null`), moments("at"), initials, remark},
	"issue-cause":           {r("causeCode", `null "x"`, `"" 1`), moments("partStartAt at"), initials, remark},
	"issue-split":           {r("parts", `[{},{"causeCode":"x"}]`, `[] [{}] null {} [1,{}]`), moments("at"), initials, remark},
	"issue-split IssuePart": {moments("startAt"), r("causeCode", `null "x"`, `"" 1`)},
	"issue-exclude":         {r("excluded", `true false`, `null 1`), moments("at"), initials, remark},
	"task-complete":         {initials, remark, moments("at")},
	"task-list-start":       {someText("stationCode"), initials, moments("at")},
	"message-create":        {someText("stationCode"), initials, moments("at"), {"text", []string{`"x"`, long(500)}, []string{`""`, long(501), `1`, `null`}}},
	"message-done":          {initials, moments("at")},
	"correction-create": {r("stationCodes", `["A"] ["A","B"]`, `[] null "A" [1]`), moments("from to"), r("changes", `{}`, `null [] {"plants":[]}`),
		{"note", []string{`""`, long(200)}, []string{long(201), `1`, `null`}}},
	"correction-create CorrectionChanges": {r("station", `{}`, `null []`), r("skus reasons shiftPatterns", `[]`, `null {} [1] [{}]`)},
	"correction-create CorrectedStation": {{"shiftPatternCode", []string{`null`, `""`, long(64)}, []string{long(65), `1`}}, r("minimumCycleTime", `null 0 43200000`, `-1 43200001 1.5 "1"`),
		r("speedScale speedOffset", `null -9999 9999 0.5`, `-9999.001 9999.001 "1"`), r("speedToProductionRatio idleCostPerMinute", `null 0 99999`, `-0.001 99999.001 "1"`),
		notNegative("electricalUsageStoppedThresholdKw lineSpeedStoppedThreshold"), r("downtimeDetectionMode", `"off" "production" "utilisation" "line_speed" null`, `"utilization" ""`),
		natural("utilisationDowntimeThreshold slowDurationThreshold"), r("forceAllShiftTimeAsPlannedProduction", `true false null`, `"true" 0`),
		r("productiveStatusMode", `"productive_signal" "electrical_usage" "line_speed" null`, `"off"`), r("productiveHoldOnTime", `null 0 86400000`, `-1 86400001 0.5 "1"`),
		r("cycleTime", `null 1 43200000`, `0 43200001 1.5 "1"`), positive("unitsPerMinute unitsPerHour"), r("lineSpeedTarget", `null 0.001 99999`, `0 99999.001 "1"`),
		codes("includeReasonCodes excludeReasonCodes"), levelFlags(`enableEditPartsPerCycle enableAlwaysConnected enableSchedulingOnly enableMeterOnly`)},
	"correction-create CorrectedSKU": {text("code"), r("cycleTime", `null 1 43200000`, `0 43200001 1.5 "1"`), positiveNum("unitsPerMinute unitsPerHour downtimeDurationThresholdMultiplier"),
		r("minimumCycleTime", `null 0 43200000`, `-1 43200001 1.5 "1"`), positive("partsPerCycle"), r("lineSpeedTarget", `null 0.001 99999`, `0 99999.001 "1"`), notNegative("value")},
	"correction-create CorrectedReason": {someText("code"), r("type", `null [] ["downtime"] ["downtime","non_production"]`, `"downtime" ["stop"] [null]`),
		r("oee", `null "setup" "changeover" "planned"`, `""`)},
	"correction-create CorrectedShiftPattern": {{"code", []string{`""`, long(64)}, []string{long(65), `1`, `null`}}, someItems("shifts")},
	"correction-create CorrectedShift": {text("name"), r("startHour", `0 14.5 23.999`, `-0.001 24 "6" null`), r("duration", `0.001 24 24.0`, `0 24.001 "8" null`),
		r("weekDay", `"1" "7"`, `"0" "8" "12" "" 1 null "1\n"`)},
	"station-operator": {{"initials", []string{long(3), long(8), `null`}, []string{long(2), `""`, `1`}}},
	"station-alert": {{"message", []string{`"x"`, long(280), `null`}, []string{`""`, long(281), `1`}},
		r("expiresAt", `null "2027-01-01T00:00:00Z"`, `"2027-01-01" 1`)},
	"signal-batch": {r("signals", `[{}] [{"rssi":1},{}]`, `[] null {} "A" [1]`)},
	"setup": {someText("code domain email"), {"id", []string{ascii(3), ascii(55), `"a-1"`}, []string{ascii(2), ascii(56), `"A-1"`, `1`, `null`}}, r("manifest", `{} {"version":"v1"}`, `null []`),
		r("plant", ``, `null [] {} {"name":"Leeds"}`), r("signIn", `true false`, `null "true" 1`)},
	"backup-settings": {r("at", `"00:00" "23:59"`, `"24:00" "1:30" "" 130 null`), r("every", `0 31 2.0`, `-1 32 0.5 "1" null`), r("keepDaily", `1 3660`, `0 3661 1.5 "1" null`),
		r("keepWeekly", `0 520`, `-1 521 0.5 "1" null`), r("keepMonthly", `0 120`, `-1 121 0.5 "1" null`), r("maxBytes", `0 1000000000000000`, `-1 1000000000000001 0.5 "1" null`)},
	"setup SetupPlant": {{"name", []string{`"x"`, long(100)}, []string{`""`, long(101), `1`, `null`}}, someText("timezone"), r("groups", `1 50 2.0`, `0 51 1.5 "1" null`), r("stationsPerGroup", `1 200`, `0 201 1.5 "1" null`)},
	"account-create":   {someText("domain email"), {"id", []string{ascii(3), ascii(55), `"a-1"`}, []string{ascii(2), ascii(56), `"A-1"`, `1`, `null`}}, r("manifest", `{} {"version":"v1"}`, `null []`)},
}

// documents are valid documents of each schema; the manifest has one of each kind of object.
var documents = map[Name]string{
	Manifest: `{"version": "v1", "account": {"id": "acme", "domain": "acme.example",
		"shiftPatterns": [{"code": "s", "title": "S", "shifts": [{"name": "Day", "startHour": 6, "duration": 8, "weekDay": "1"}]}],
		"reasons": [{"code": "r"}], "tasks": [{"code": "t", "title": "T", "trigger": {"type": "cron", "pattern": "0 6 * * *"}, "taskListCodes": [{"code": "l"}]}],
		"taskLists": [{"code": "l", "name": "L"}], "skus": [{"code": "k", "name": "K"}],
		"plants": [{"code": "leeds", "name": "Leeds", "timezone": "Europe/London", "dayStartHour": 6, "weekStartDay": 0,
			"stationGroups": [{"code": "g", "name": "G", "stations": [{"code": "ST-1", "name": "Station 1"}]}]}]}}`,
	AccountUpdate: `{}`, KeyCreate: `{}`, Login: `{"destination": "a@acme.example"}`, Approve: `{"token": "t", "code": "12345"}`,
	AccountSwitch: `{"accountId": "acme"}`, UserCreate: `{"email": "a@acme.example", "role": "member"}`, UserUpdate: `{"role": "member"}`,
	TabletCreate: `{"name": "T", "role": "operator", "stationCodes": ["ST-1"]}`, DeviceCreate: `{"name": "gw", "stationCodes": ["ST-1"]}`, SignalBatch: `{"signals": [{}]}`, Setup: `{"code": "c", "domain": "acme.example", "email": "a@acme.example", "plant": {"name": "Leeds", "timezone": "Europe/London"}}`,
	IssueCreate: `{"stationCode": "ST-1"}`, IssueAcknowledge: `{}`, IssueEstimate: `{"expectedEndAt": null}`, IssueEscalate: `{"level": 1}`,
	IssueCause: `{"causeCode": "BRK"}`, IssueSplit: `{"parts": [{}, {"startAt": "2026-11-20T08:40:00Z"}]}`, IssueExclude: `{"excluded": true}`,
	TaskComplete: `{"initials": "ABC"}`, TaskListStart: `{"stationCode": "ST-1", "initials": "ABC"}`,
	MessageCreate: `{"stationCode": "ST-1", "text": "Mind the step", "initials": "ABC"}`, MessageDone: `{"initials": "ABC"}`,
	StationOperator: `{"initials": "ABC"}`, StationAlert: `{"message": "Mind the step"}`,
	ScheduleWrite: `{}`, ScheduleStart: `{}`, ScheduleEnd: `{}`, ScheduleMove: `{}`, ScheduleQuick: `{"stationCode": "ST-1", "initials": "abc"}`,
	ProductionCreate: `{"stationCode": "ST-1", "initials": "abc"}`, ProductionUndo: `{"initials": "abc"}`,
	CorrectionCreate: `{"stationCodes": ["A"], "from": "2027-01-01T00:00:00Z", "to": "2027-01-02T00:00:00Z", "changes": {"station": {}, "skus": [{"code": "k"}], "reasons": [{"code": "r"}],
		"shiftPatterns": [{"code": "s", "shifts": [{"name": "Day", "startHour": 6, "duration": 8, "weekDay": "1"}]}]}}`,
	BackupVerify: `{}`, BackupSettings: `{}`, BackupRestore: `{"confirm": "a.backup"}`,
	AccountCreate: `{"domain": "acme.example", "email": "a@acme.example"}`,
}

// places are the paths of objects in the manifest.
var places = map[string]string{
	"": "", "Account": "account", "ShiftPattern": "account.shiftPatterns[0]", "Shift": "account.shiftPatterns[0].shifts[0]", "Reason": "account.reasons[0]",
	"Task": "account.tasks[0]", "TaskListEntry": "account.tasks[0].taskListCodes[0]", "TaskList": "account.taskLists[0]", "Trigger": "account.tasks[0].trigger",
	"CronTrigger": "account.tasks[0].trigger", "SKU": "account.skus[0]", "Plant": "account.plants[0]", "StationGroup": "account.plants[0].stationGroups[0]",
	"Station": "account.plants[0].stationGroups[0].stations[0]", "IssuePart": "parts[0]", "SetupPlant": "plant",
	"CorrectionChanges": "changes", "CorrectedStation": "changes.station", "CorrectedSKU": "changes.skus[0]", "CorrectedReason": "changes.reasons[0]",
	"CorrectedShiftPattern": "changes.shiftPatterns[0]", "CorrectedShift": "changes.shiftPatterns[0].shifts[0]",
}

// open returns a new document and the object in it that a test changes.
func (o object) open(t *testing.T) (doc any, in map[string]any, prefix string) {
	t.Helper()
	doc = decode(documents[o.name])
	place, ok := places[o.def]
	if !ok {
		t.Fatalf("%s has no place in the document", o)
	}
	in, prefix = doc.(map[string]any), ""
	for key := range strings.SplitSeq(place, ".") {
		if key == "" {
			break
		}
		name, list := strings.CutSuffix(key, "[0]")
		next := in[name]
		if list {
			next = next.([]any)[0]
		}
		in, prefix = next.(map[string]any), place+"."
	}
	return doc, in, prefix
}

func parse(of string) object {
	name, def, _ := strings.Cut(of, " ")
	return object{Name(name), def}
}

// TestRules checks every rule in a complete document: valid values are accepted, and invalid ones are reported at the
// field's path with the text of the golden file.
func TestRules(t *testing.T) {
	for _, name := range Names() {
		if found := Validate(name, decode(documents[name])); found != nil {
			t.Fatalf("%s: the document to start from: %v", name, found)
		}
	}
	var golden strings.Builder
	refuse := func(what, path string, name Name, doc any) {
		found := Validate(name, doc)
		if len(found) == 0 {
			t.Errorf("%s is accepted", what)
		}
		fmt.Fprintln(&golden, what)
		for _, v := range found {
			if v.Path != path && !strings.HasPrefix(v.Path, path+".") && !strings.HasPrefix(v.Path, path+"[") {
				t.Errorf("%s: reported under %s, want %s", what, v.Path, path)
			}
			fmt.Fprintf(&golden, "\t%s: %s\n", v.Path, v.Issue)
		}
	}
	for _, of := range slices.Sorted(maps.Keys(rules)) {
		o := parse(of)
		for _, rule := range rules[of] {
			for field := range strings.FieldsSeq(rule.fields) {
				for _, v := range rule.ok {
					doc, in, _ := o.open(t)
					in[field] = decode(v)
					if found := Validate(o.name, doc); found != nil {
						t.Errorf("%s: %s = %s is refused: %v", of, field, v, found)
					}
				}
				for _, v := range rule.bad {
					doc, in, prefix := o.open(t)
					in[field] = decode(v)
					refuse(fmt.Sprintf("%s: %s = %s", of, field, v), prefix+field, o.name, doc)
				}
			}
		}
		node := o.node()
		required, _ := node["required"].([]any)
		for _, field := range schematest.Properties(JSON(o.name), o.def) {
			doc, in, prefix := o.open(t)
			delete(in, field)
			if slices.Contains(required, any(field)) {
				refuse(fmt.Sprintf("%s: without %s", of, field), prefix+field, o.name, doc)
			} else if found := Validate(o.name, doc); found != nil && o.def != "CronTrigger" {
				t.Errorf("%s: %s is not optional: %v", of, field, found)
			}
		}
		doc, in, prefix := o.open(t)
		in["nmae"] = true
		if node["additionalProperties"] == false || o.def == "Trigger" {
			refuse(fmt.Sprintf("%s: with nmae", of), prefix+"nmae", o.name, doc)
		} else if found := Validate(o.name, doc); found != nil {
			t.Errorf("%s: another property is refused: %v", of, found)
		}
	}
	for _, root := range []string{`null`, `[]`, `"{}"`, `1`} {
		refuse("manifest = "+root, "", Manifest, decode(root))
	}
	const file = "testdata/sentences.golden"
	if *update {
		if err := os.WriteFile(file, []byte(golden.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(golden.String(), "\n")); diff != "" {
		t.Errorf("run with -update when this is meant:\n%s", diff)
	}
}

// TestRulesCoverFiles checks that every property of the files has a rule, and that every bound has values on both
// sides.
func TestRulesCoverFiles(t *testing.T) {
	for _, o := range objects() {
		if o.def == "ScheduleTrigger" || o.def == "OnDemandTrigger" {
			continue // they have only the type, which selects them
		}
		for _, field := range schematest.Properties(JSON(o.name), o.def) {
			var ok, bad []any
			for _, rule := range rules[o.String()] {
				if slices.Contains(strings.Fields(rule.fields), field) {
					for _, v := range rule.ok {
						ok = append(ok, decode(v))
					}
					for _, v := range rule.bad {
						bad = append(bad, decode(v))
					}
				}
			}
			node, _ := o.deref(o.node()["properties"].(map[string]any)[field].(map[string]any))
			for _, gap := range gaps(node, ok, bad) {
				t.Errorf("%s: %s: no value %s", o, field, gap)
			}
		}
	}
}

// gaps returns the kinds of values around a field's bounds that its rule lacks.
func gaps(node map[string]any, ok, bad []any) []string {
	var gaps []string
	need := func(list []any, what string, match func(any) bool) {
		if !slices.ContainsFunc(list, match) {
			gaps = append(gaps, what)
		}
	}
	is := func(kind string) func(any) bool { return func(v any) bool { return kindOf(v) == kind } }
	kinds := types(node)
	if node["enum"] != nil {
		for _, v := range node["enum"].([]any) {
			if node["description"] != nil && strings.HasPrefix(node["description"].(string), "schedule:") {
				break // covered by the triggers' own rules
			}
			need(ok, fmt.Sprint("accepted: ", v), func(x any) bool { return x == v })
		}
		need(bad, "refused outside of the list", is("string"))
		if !slices.Contains(node["enum"].([]any), nil) {
			need(bad, "refused: null", is("null"))
		}
		return gaps
	}
	if node["const"] != nil {
		need(ok, "accepted", func(x any) bool { return x == node["const"] })
		return gaps
	}
	if slices.Contains(kinds, "null") {
		need(ok, "accepted: null", is("null"))
	} else {
		need(bad, "refused: null", is("null"))
	}
	need(bad, "refused of another type", func(v any) bool {
		return v != nil && !slices.Contains(kinds, kindOf(v)) && (kindOf(v) != "number" || !slices.Contains(kinds, "integer"))
	})
	if kinds[0] == "integer" {
		need(bad, "refused: a fraction", func(v any) bool { n := number(v); return n != nil && !n.IsInt() })
	}
	for keyword, limit := range node {
		bound := number(limit)
		side := func(list []any, what string, signs ...int) {
			need(list, fmt.Sprintf("%s at %s %v", what, keyword, limit), func(v any) bool {
				n := number(v)
				return n != nil && slices.Contains(signs, n.Cmp(bound))
			})
		}
		length := func(list []any, what string, n int64) {
			need(list, fmt.Sprintf("%s of length %d", what, n), func(v any) bool {
				s, ok := v.(string)
				return ok && int64(utf8.RuneCountInString(s)) == n
			})
		}
		switch keyword {
		case "minimum":
			side(ok, "accepted", 0)
			side(bad, "refused", -1)
		case "maximum":
			side(ok, "accepted", 0)
			side(bad, "refused", 1)
		case "exclusiveMinimum":
			side(ok, "accepted", 1)
			side(bad, "refused", 0)
		case "exclusiveMaximum":
			side(ok, "accepted", -1)
			side(bad, "refused", 0)
		case "minLength":
			length(ok, "accepted", bound.Num().Int64())
			length(bad, "refused", bound.Num().Int64()-1)
		case "maxLength":
			length(ok, "accepted", bound.Num().Int64())
			length(bad, "refused", bound.Num().Int64()+1)
		case "pattern":
			re := regexp.MustCompile(limit.(string))
			need(bad, "refused by the pattern", func(v any) bool { s, ok := v.(string); return ok && !re.MatchString(s) })
		case "format":
			need(bad, "refused by the format", is("string"))
		case "minItems":
			need(bad, "refused: no items", func(v any) bool { list, ok := v.([]any); return ok && len(list) == 0 })
		case "items":
			need(bad, "refused: an item", func(v any) bool { list, ok := v.([]any); return ok && len(list) > 0 })
		}
	}
	return gaps
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "number"
}

func number(v any) *big.Rat {
	if kindOf(v) != "number" {
		return nil
	}
	n, _ := new(big.Rat).SetString(fmt.Sprint(v))
	return n
}
