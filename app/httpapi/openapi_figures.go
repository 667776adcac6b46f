package httpapi

import (
	"opsmon/app/auth"
	"opsmon/schema"
)

// figureOperations are about what stations did, the figures made of it, and corrections of it.
var figureOperations = map[string]operation{
	"GET /station-window": {
		id: "listWindows", tag: "Monitoring", summary: "What stations did, minute by minute",
		about: "A row for each station and whole minute, or hour, shift or day, in order of stations and time, from when on something is known of the station up to now. The classes of time add up to `totalMs`. A minute is made within two seconds of its end, and made again when something arrives late. " +
			"A shift is one row even where it goes on over midnight; what the range cuts off is left out.",
		answer: "A page of windows.", form: formPage, gives: "StationWindow", sample: `{"stationCode":"PACK-1","windowStartAt":"2026-11-20T08:00:00.000Z","windowEndAt":"2026-11-20T09:00:00.000Z","totalMs":3600000,"shiftMs":3600000,"scheduledProductionMs":3600000,"scheduledNonProductionMs":0,"outOfShiftMs":0,"noDataMs":0,"downtimeMs":600000,"slowMs":120000,"productiveMs":2800000,"idleMs":80000,"downtimeSince":"2026-11-20T08:15:30.000Z","productionGoodCount":2820,"productionBadCount":12,"unscheduledGoodCount":0,"unscheduledBadCount":0,"noDataGoodCount":0,"noDataBadCount":0,"productionIdealCount":3600,"productionTargetCount":3000,"lineSpeedAvg":58.2,"lineSpeedTarget":60,"electricalKwh":4.72,"electricalKnownMs":3600000,"rssiAvg":-61,"isAlive":true,"scheduleIds":["s7xk2v9m4q6w"],"issueIds":["PACK-1.stop-1795680930000"],"reasonCodes":["JAM"],"errorCodes":["E17"],"skuCode":"BOWL","manifestRevision":3,"shiftName":null}`, also: []int{400},
	},
	"GET /timeline": {
		id: "getTimeline", tag: "Monitoring", summary: "A station's time, for drawing",
		about: "Columns of numbers, a row for each `stepMs` from `from` on; the last row is shorter where `to` cuts it. The step is the shortest of 1, 2, 5, 10, 15, 30 minutes, 1, 2, 4, 6, 12 hours and 1 day by which there are no more rows than `points`, and whole days beyond. " +
			"All times in this answer are numbers: Unix milliseconds. The range begins at a whole minute, ends at the last whole minute at most, and may be a year long. Rows say what `GET /station-window` says of the same minutes; time of which nothing is known is `noData`.\n\n" +
			"For a range of 24 hours at most `runs` has the classes to the millisecond as well.",
		answer: "The columns.", form: formResult, gives: "Timeline", also: []int{400},
		sample: `{"stationCode":"PACK-1","from":1795161600000,"to":1795161720000,"final":1795161660000,"stepMs":60000,"rows":2,"classes":{"productive":[60000,42000],"slow":[0,0],"downtime":[0,0],"idle":[0,18000],"noData":[0,0],"outOfShift":[0,0]},` +
			`"scheduledProduction":[60000,60000],"runTime":[60000,60000],"scheduledNonProduction":{"total":[0,0],"productive":[0,0],"idle":[0,0]},"good":[58,40],"bad":[0,1],"ideal":[60,60],"target":[60,60],"lineSpeedAvg":[58.2,null],"lineSpeedTarget":[60,60],"electricalKwh":[0.08,null],` +
			`"schedules":[{"start":1795161600000,"end":1795161720000,"shiftName":"Early","scheduleId":"s7xk2v9m4q6w","skuCode":"BOWL","nonProductionScheduleId":null,"reasonCode":null}],` +
			`"runs":[{"class":"productive","start":1795161600000,"end":1795161702000,"scheduled":"production","issueId":null,"causeCode":null,"excluded":false},{"class":"idle","start":1795161702000,"end":1795161720000,"scheduled":"production","issueId":null,"causeCode":null,"excluded":false}]}`,
	},
	"GET /oee": {
		id: "getOEE", tag: "Monitoring", summary: "OEE, losses and counts",
		about: "Meters, and stations that are only scheduled, count where they are named one by one. Ratios are made of sums and never averaged: a group's are those of its stations' terms. They are not cut off at 1; above it `aboveOne` says so, with the likely cause. An empty denominator gives null. Time without data is in no term, and `coverage` says how much of the scheduled production is known. Ratios and losses are made of the units of known scheduled production (with `forceAllShiftTimeAsPlannedProduction` also shift time without a schedule); `unscheduledGoodCount` and `noDataGoodCount` tell what else is in `productionGoodCount`. " +
			"The time is today where none is given; buckets of time are whole even where the range cuts them.\n\n" +
			"An answer has 100,000 results at most; a request that makes more is refused before anything is read. Requests about much time run three at once for an account and two for a person; others wait, up to 15 s, then it is 503 with `Retry-After`.",
		answer: "The figures, by what was asked for.", form: formList, gives: "OEE", sample: `{"plantCode":"leeds","groupCode":"packing","stationCode":"PACK-1","skuCode":null,"shiftName":null,"startAt":"2026-11-20T08:00:00.000Z","endAt":"2026-11-20T09:00:00.000Z","profile":"default","availability":{"value":0.8333333333333334,"numerator":3000000,"denominator":3600000},"performance":{"value":0.944,"numerator":2832,"denominator":3000},"quality":{"value":0.9957627118644068,"numerator":2820,"denominator":2832},"oee":{"value":0.7833333333333334,"numerator":0.7833333333333334,"denominator":1},"coverage":{"value":1,"numerator":3600000,"denominator":3600000},"totalMs":3600000,"shiftMs":3600000,"scheduledProductionMs":3600000,"scheduledNonProductionMs":0,"outOfShiftMs":0,"noDataMs":0,"downtimeMs":600000,"slowMs":120000,"productiveMs":2800000,"idleMs":80000,"excludedMs":0,"productionGoodCount":2820,"productionBadCount":12,"productionOtherCount":0,"unscheduledGoodCount":0,"unscheduledBadCount":0,"noDataGoodCount":0,"noDataBadCount":0,"productionIdealCount":3600,"productionTargetCount":3000,"losses":{"schedule":{"ms":0,"units":null,"money":0,"moneyPartial":false},"plannedNonProduction":{"ms":0,"units":null,"money":0,"moneyPartial":false},"downtime":{"ms":600000,"units":600,"money":300,"moneyPartial":false},"speed":{"ms":168000,"units":168,"money":84,"moneyPartial":false},"quality":{"ms":12000,"units":12,"money":6,"moneyPartial":false}}}`, also: []int{400},
	},
	"GET /energy": {
		id: "getEnergy", tag: "Monitoring", summary: "Energy, its cost and its CO2",
		about:  "By the account's prices and factors of that time. What nobody measured is null, never 0; a sum that has only a part says so by its `coverage`, the share of the stations' time that its energy is of. A group's or a plant's energy is that of its stations, or of its `totalEnergyStationCodes` where they are set and all of it is asked for. The time is today where none is given. An answer has 100,000 results at most.",
		answer: "The energy, by what was asked for.", form: formList, gives: "Energy", sample: `{"plantCode":"leeds","groupCode":null,"stationCode":null,"startAt":"2026-11-20T00:00:00.000Z","endAt":"2026-11-21T00:00:00.000Z","electricalKwh":412.5,"outsideProductionKwh":38.2,"cost":97.8,"co2":80.2,"productionCount":24120,"productiveMs":50400000,"kwhPerUnit":0.0171,"kwhPerProductiveHour":29.46,"coverage":{"value":0.5,"numerator":86400000,"denominator":172800000}}`, also: []int{400},
	},
	"GET /pareto": {
		id: "getPareto", tag: "Monitoring", summary: "Downtime by its causes",
		about:  "The longest first. A stop that lies over the end of the range counts with what lies inside. Downtime that nobody has named is shown as such.",
		answer: "The causes.", form: formList, gives: "ParetoLine", sample: `{"causeCode":"JAM","name":"Jam","downtimeMs":1860000,"count":7,"share":0.62,"cumulative":0.62}`, also: []int{400},
	},
	"GET /analysis/cycletime": {
		id: "getCycleTimes", tag: "Monitoring", summary: "How long cycles take",
		about:  "Measured from signal to signal where a station ran on for the same schedule without a stop, a pause or silence in between; at most 31 days. A signal that tells of several cycles counts as so many equal ones.\n\n403: `enableCycleTimeAnalysis` is off at a station that is named, or at all of them.",
		answer: "The cycle times, by station and SKU.", form: formList, gives: "CycleTimes", sample: `{"stationCode":"PACK-1","skuCode":"BOWL","specifiedCycleMs":1000,"count":2812,"medianMs":1040,"best10PercentMs":985,"spreadMs":62}`, also: []int{400},
	},
	"GET /analysis/standstill": {
		id: "getStandstill", tag: "Monitoring", summary: "How long a station stood",
		about: "Every stretch of scheduled production in which the station's detection saw no production, however short: with the thresholds for stops out of the way. Where productive signals hold on they hold for a millisecond, so that stretches are those between signals; by production they last from one unit to the next, and a unit begins the time anew in every mode. " +
			"Detection that is off sees what it would by utilisation. Manual downtime and time without data are none. A range may have 31 days. Of more than `limit` the longest are told one by one; count, total and histogram are of all.",
		answer: "The stretches.", form: formResult, gives: "Standstill", also: []int{400},
		sample: `{"stationCode":"PACK-1","from":"2026-11-20T06:00:00.000Z","to":"2026-11-20T14:00:00.000Z","lengths":{"count":1,"totalMs":41200,"histogram":[{"fromMs":0,"toMs":1000,"count":0,"totalMs":0},{"fromMs":28800000,"toMs":null,"count":0,"totalMs":0}]},"complete":true,"stretches":[{"startAt":"2026-11-20T08:15:30.000Z","endAt":"2026-11-20T08:16:11.200Z","durationMs":41200}]}`,
	},
	"POST /analysis/tuning": {
		id: "tune", tag: "Monitoring", summary: "What other settings would have made of a station's time",
		about:  "The body is that of `POST /correction`, for one station and 31 days at most: figures and stops by what was in force, and by what the changes say. Nothing is stored.",
		answer: "Before and after.", role: auth.Supervisor, body: schema.CorrectionCreate, form: formResult, gives: "Tuning", also: []int{409},
		sample: `{"before":{"figures":{"scheduledProductionMs":28800000,"downtimeMs":3600000,"goodCount":24120,"badCount":96,"unscheduledGoodCount":0,"unscheduledBadCount":0,"targetCount":25200,"availability":0.875,"performance":0.961,"quality":0.996,"oee":0.8377,"coverage":1},"stops":{"count":4,"totalMs":3600000,"histogram":[{"fromMs":0,"toMs":1000,"count":0,"totalMs":0},{"fromMs":28800000,"toMs":null,"count":0,"totalMs":0}]}},"after":{"figures":{"scheduledProductionMs":28800000,"downtimeMs":5400000,"goodCount":24120,"badCount":96,"unscheduledGoodCount":0,"unscheduledBadCount":0,"targetCount":23400,"availability":0.8125,"performance":1.0349,"quality":0.996,"oee":0.8377,"coverage":1},"stops":{"count":31,"totalMs":5400000,"histogram":[{"fromMs":0,"toMs":1000,"count":0,"totalMs":0},{"fromMs":28800000,"toMs":null,"count":0,"totalMs":0}]}}}`,
	},
	"GET /cron": {
		id: "readCron", tag: "Monitoring", summary: "What a cron pattern means",
		about:  "In words, with its next fires in a time zone, and the smallest time between two of them, clock changes included: `availableBeforeDeadlineMinutes` must be shorter. By the code that makes Tasks come up.",
		answer: "What it means.", form: formResult, gives: "CronFires", sample: `{"words":"at 06:00 and 14:00, Monday to Friday","fires":["2026-11-20T06:00:00.000Z","2026-11-20T14:00:00.000Z"],"smallestGapMinutes":480}`, also: []int{400},
	},
	"GET /export/:table": {
		id: "exportTable", tag: "Monitoring", summary: "Export a table as CSV",
		about:  "A file by RFC 4180 with the names of the columns in its first line, sent while it is made. Texts that a spreadsheet would take for a formula have an apostrophe before them. A connection that is cut means that rows are missing.",
		answer: "The table.", form: formTable, sample: "stationCode,windowStartAt,windowEndAt\r\nPACK-1,2026-11-20T08:00:00.000Z,2026-11-20T08:01:00.000Z\r\n", also: []int{400, 404},
	},
	"GET /correction": {
		id: "listCorrections", tag: "Admin", summary: "List the corrections of the past",
		about:  "Newest first, those that were undone too.",
		answer: "A page of corrections.", form: formPage, gives: "Correction", sample: correctionSample, also: []int{400},
	},
	"POST /correction": {
		id: "makeCorrection", tag: "Admin", summary: "Correct what held at stations in the past", body: schema.CorrectionCreate,
		about: "Changes thresholds, shifts, rates, SKUs or reasons for a stretch of the past, whatever the manifest said then. Signals, schedules and what people entered stay; what follows from them is computed again. The answer comes when the figures follow, or after two seconds: `computing` names the stations that take longer, whose figures are as before until they are through, and the cursor `windows` of the account lies before that time. Where corrections overlap, the newest has the last word for each field.\n\n" +
			"With `dryrun` nothing is stored, and the answer shows OEE, by the default profile, of each station and production day that it touches, before and after; of more than 200 the first. Sent again with its `Idempotency-Key` it is not made twice: the answer is the correction as it was made, and `computing` is as of now.\n\n409: the account is archived, or the key came with another request.",
		answer: "The correction, or with `dryrun` what it would do.", form: formResult, gives: "CorrectionResult", sample: effectSample, also: []int{409, 503},
	},
	"POST /correction/:correctionId/undo": {
		id: "undoCorrection", tag: "Admin", summary: "Undo a correction",
		about:  "The figures become what they would be without it. It stays in the list. With `dryrun` the answer shows what that would do. Sent again with its `Idempotency-Key` it has the same answer.\n\n409: it was undone before, the key came with another request, or it is of a time whose signals are not kept any more.",
		answer: "The correction, or with `dryrun` what undoing it would do.", form: formResult, gives: "CorrectionResult", sample: effectSample, also: []int{400, 404, 409, 503},
	},
}

const (
	correctionSample = `{"id":"3","createdAt":"2026-11-20T08:15:30.123Z","author":"it@acme.example","note":"The threshold was meant to be two minutes","stationCodes":["PACK-1"],"from":"2026-11-16T06:00:00.000Z","to":"2026-11-20T06:00:00.000Z",` +
		`"changes":{"station":{"utilisationDowntimeThreshold":120000}},"undoneAt":null,"undoneBy":null}`
	effectSample = `{"correction":null,"effects":[{"stationCode":"PACK-1","day":"2026-11-16",` +
		`"before":{"scheduledProductionMs":28800000,"downtimeMs":0,"goodCount":6120,"badCount":40,"unscheduledGoodCount":0,"unscheduledBadCount":0,"targetCount":7200,"availability":1,"performance":0.8556,"quality":0.9935,"oee":0.85,"coverage":1},` +
		`"after":{"scheduledProductionMs":28800000,"downtimeMs":2880000,"goodCount":6120,"badCount":40,"unscheduledGoodCount":0,"unscheduledBadCount":0,"targetCount":6480,"availability":0.9,"performance":0.9506,"quality":0.9935,"oee":0.85,"coverage":1}}],"complete":true,"computing":[]}`
)

// correctionModels are of corrections, and of what another configuration would have made of a stretch of time.
const correctionModels = `{
"Correction": {"description": "A change of what held at stations for a stretch of the past.", "type": "object", "required": ["id", "createdAt", "author", "note", "stationCodes", "from", "to", "changes", "undoneAt", "undoneBy"], "additionalProperties": false, "properties": {
	"id": {"type": "string"}, "createdAt": {"$ref": "#/components/schemas/Moment"},
	"author": {"description": "Who made it.", "type": "string"}, "note": {"type": "string"},
	"stationCodes": {"type": "array", "items": {"type": "string"}},
	"from": {"$ref": "#/components/schemas/Moment"}, "to": {"$ref": "#/components/schemas/Moment"},
	"changes": {"description": "As they were sent.", "type": "object"},
	"undoneAt": {"description": "Null: it counts.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
	"undoneBy": {"description": "Who undid it.", "type": ["string", "null"]}}},
"CorrectionResult": {"description": "A correction that is stored, or what one would do.", "type": "object", "required": ["correction", "effects", "complete", "computing"], "additionalProperties": false, "properties": {
	"correction": {"description": "Null: it was only looked at.", "anyOf": [{"$ref": "#/components/schemas/Correction"}, {"type": "null"}]},
	"effects": {"description": "What it would do to each station and production day.", "type": "array", "items": {"$ref": "#/components/schemas/CorrectionEffect"}},
	"complete": {"description": "Whether these are all of its effects.", "type": "boolean"},
	"computing": {"description": "Codes of the stations whose figures do not follow the correction yet; none: all do.", "type": "array", "items": {"type": "string"}}}},
"CorrectionEffect": {"description": "What a correction would do to a production day of a station.", "type": "object", "required": ["stationCode", "day", "before", "after"], "additionalProperties": false, "properties": {
	"stationCode": {"type": "string"}, "day": {"description": "The date on which the production day starts.", "type": "string", "format": "date"},
	"before": {"$ref": "#/components/schemas/CorrectionFigures"}, "after": {"$ref": "#/components/schemas/CorrectionFigures"}}},
"CorrectionFigures": {"description": "OEE by the default profile, with its terms. Null: not known.", "type": "object", "required": ["scheduledProductionMs", "downtimeMs", "goodCount", "badCount", "unscheduledGoodCount", "unscheduledBadCount", "targetCount", "availability", "performance", "quality", "oee", "coverage"], "additionalProperties": false, "properties": {
	"scheduledProductionMs": {"description": "Time scheduled for production, in milliseconds, of which there is data.", "type": "number"},
	"downtimeMs": {"description": "Of which downtime.", "type": "number"}, "goodCount": {"type": "number"}, "badCount": {"type": "number"},
	"unscheduledGoodCount": {"description": "Of goodCount, made without a production schedule: in no ratio.", "type": "number"}, "unscheduledBadCount": {"description": "Bad units, likewise.", "type": "number"},
	"targetCount": {"description": "Units due, downtime subtracted.", "type": ["number", "null"]},
	"availability": {"type": ["number", "null"]}, "performance": {"type": ["number", "null"]}, "quality": {"type": ["number", "null"]}, "oee": {"type": ["number", "null"]},
	"coverage": {"description": "How much of the scheduled time there is data of.", "type": ["number", "null"]}}},
"Tuning": {"description": "What was in force made of a stretch of time, and what other settings would have.", "type": "object", "required": ["before", "after"], "additionalProperties": false, "properties": {
	"before": {"$ref": "#/components/schemas/Tuned"}, "after": {"$ref": "#/components/schemas/Tuned"}}},
"Tuned": {"description": "Figures and stops of a stretch of time.", "type": "object", "required": ["figures", "stops"], "additionalProperties": false, "properties": {
	"figures": {"$ref": "#/components/schemas/CorrectionFigures"}, "stops": {"$ref": "#/components/schemas/Lengths"}}},
"Lengths": {"description": "Stretches of time by how long they are, as far as they lie in the range.", "type": "object", "required": ["count", "totalMs", "histogram"], "additionalProperties": false, "properties": {
	"count": {"type": "integer", "minimum": 0}, "totalMs": {"type": "integer", "minimum": 0},
	"histogram": {"description": "In order; each begins where the one before it ends.", "type": "array", "items": {"$ref": "#/components/schemas/LengthBin"}}}},
"LengthBin": {"description": "Stretches of at least fromMs, and shorter than toMs.", "type": "object", "required": ["fromMs", "toMs", "count", "totalMs"], "additionalProperties": false, "properties": {
	"fromMs": {"type": "integer", "minimum": 0}, "toMs": {"description": "null: and longer.", "type": ["integer", "null"]}, "count": {"type": "integer", "minimum": 0}, "totalMs": {"type": "integer", "minimum": 0}}},
"Standstill": {"description": "How long a station stood in scheduled production.", "type": "object", "required": ["stationCode", "from", "to", "lengths", "complete", "stretches"], "additionalProperties": false, "properties": {
	"stationCode": {"type": "string"}, "from": {"$ref": "#/components/schemas/Moment"}, "to": {"$ref": "#/components/schemas/Moment"},
	"lengths": {"$ref": "#/components/schemas/Lengths"},
	"complete": {"description": "Stretches are all, and not the longest alone.", "type": "boolean"},
	"stretches": {"description": "In order of time.", "type": "array", "items": {"type": "object", "required": ["startAt", "endAt", "durationMs"], "additionalProperties": false, "properties": {
		"startAt": {"$ref": "#/components/schemas/Moment"}, "endAt": {"$ref": "#/components/schemas/Moment"}, "durationMs": {"type": "integer", "minimum": 1}}}}}}
}`

// figureModels are of windows, OEE, losses and energy, and of the names of what they are about.
const figureModels = `{
"StationWindow": {"description": "What a station did in a stretch of time.", "type": "object", "required": ["stationCode", "windowStartAt", "windowEndAt", "totalMs", "shiftMs", "scheduledProductionMs", "scheduledNonProductionMs", "outOfShiftMs", "noDataMs", "downtimeMs", "slowMs", "productiveMs", "idleMs", "downtimeSince", "productionGoodCount", "productionBadCount", "unscheduledGoodCount", "unscheduledBadCount", "noDataGoodCount", "noDataBadCount", "productionIdealCount", "productionTargetCount", "lineSpeedAvg", "lineSpeedTarget", "electricalKwh", "electricalKnownMs", "rssiAvg", "isAlive", "scheduleIds", "issueIds", "reasonCodes", "errorCodes", "skuCode", "manifestRevision", "shiftName"], "additionalProperties": false, "properties": {
 "stationCode": {"type": "string"},
 "windowStartAt": {"$ref": "#/components/schemas/Moment"},
 "windowEndAt": {"$ref": "#/components/schemas/Moment"},
 "totalMs": {"description": "All of the time, ms.", "type": "integer", "minimum": 0},
 "shiftMs": {"description": "Time in shift.", "type": "integer"},
 "scheduledProductionMs": {"description": "Of it for which a production schedule ran.", "type": "integer"},
 "scheduledNonProductionMs": {"description": "Of it for which a non-production schedule ran.", "type": "integer"},
 "outOfShiftMs": {"description": "Each millisecond is of one class, of which this is the first.", "type": "integer"},
 "noDataMs": {"description": "Nothing was known of the station: no device was heard, nobody reported downtime, and people did not count by hand.", "type": "integer"},
 "downtimeMs": {"description": "Stopped in scheduled production, or by hand.", "type": "integer"},
 "slowMs": {"description": "Slower than 80 % of the line speed target.", "type": "integer"},
 "productiveMs": {"type": "integer"},
 "idleMs": {"description": "None of these.", "type": "integer"},
 "downtimeSince": {"description": "The start of the last downtime that has time in the window; null: none has.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
 "productionGoodCount": {"description": "Good units that were told of in the window: made, entered, corrected, less those rejected. Below zero where more was rejected or taken away in it than was made, as those units were made before: an entry counts at its own moment and changes no earlier window, and windows add up. Of a whole schedule it is never below zero. An entry whose at is the moment at which the units were made counts there.", "type": "number"},
 "productionBadCount": {"description": "Bad units, likewise.", "type": "number"},
 "unscheduledGoodCount": {"description": "Of productionGoodCount, made without a production schedule: in no ratio and no loss.", "type": "number"},
 "unscheduledBadCount": {"description": "Bad units, likewise.", "type": "number"},
 "noDataGoodCount": {"description": "Of productionGoodCount, entered for a production schedule while nothing was known of the station: in no ratio and no loss.", "type": "number"},
 "noDataBadCount": {"description": "Bad units, likewise.", "type": "number"},
 "productionIdealCount": {"description": "Units due by the rate in scheduled production; null: there is no rate.", "type": ["number", "null"]},
 "productionTargetCount": {"description": "The same without downtime.", "type": ["number", "null"]},
 "lineSpeedAvg": {"description": "The shown speed, over the time in which it was known; null: it was not.", "type": ["number", "null"]},
 "lineSpeedTarget": {"description": "At the end of the window.", "type": ["number", "null"]},
 "electricalKwh": {"description": "By what was measured; null: nothing was.", "type": ["number", "null"]},
 "electricalKnownMs": {"description": "The time that the energy is of: less than all where nobody measured, more where a meter's reading tells of time before the window.", "type": "integer", "minimum": 0},
 "rssiAvg": {"description": "dBm; null: not known.", "type": ["number", "null"]},
 "isAlive": {"description": "Something was heard of the station, or people counted there by hand.", "type": "boolean"},
 "scheduleIds": {"description": "Schedules that ran.", "type": "array", "items": {"type": "string"}},
 "issueIds": {"description": "Stops, slow periods and manual downtimes.", "type": "array", "items": {"type": "string"}},
 "reasonCodes": {"description": "Reasons of stops and of non-production schedules.", "type": "array", "items": {"type": "string"}},
 "errorCodes": {"description": "What the machine itself reported: of each minute the first 100 different codes.", "type": "array", "items": {"type": "string"}},
 "skuCode": {"description": "At the end of the window; UNKNOWN without a production schedule.", "type": ["string", "null"]},
 "manifestRevision": {"description": "In force at the end of the window.", "type": "integer", "minimum": 0},
 "shiftName": {"description": "With resolution=shift, the shift; null for a day where there are no shifts.", "type": ["string", "null"]}}},
"OEE": {"description": "The figures of some stations and some time, each with its terms.", "type": "object", "required": ["plantCode", "groupCode", "stationCode", "skuCode", "shiftName", "startAt", "endAt", "profile", "availability", "performance", "quality", "oee", "coverage", "totalMs", "shiftMs", "scheduledProductionMs", "scheduledNonProductionMs", "outOfShiftMs", "noDataMs", "downtimeMs", "slowMs", "productiveMs", "idleMs", "excludedMs", "productionGoodCount", "productionBadCount", "productionOtherCount", "unscheduledGoodCount", "unscheduledBadCount", "noDataGoodCount", "noDataBadCount", "productionIdealCount", "productionTargetCount", "losses"], "additionalProperties": false, "properties": {
 "plantCode": {"description": "Null where it is not asked by plant.", "type": ["string", "null"]},
 "groupCode": {"type": ["string", "null"]},
 "stationCode": {"type": ["string", "null"]},
 "skuCode": {"type": ["string", "null"]},
 "shiftName": {"type": ["string", "null"]},
 "startAt": {"description": "The beginning of the time that this is of.", "$ref": "#/components/schemas/Moment"},
 "endAt": {"$ref": "#/components/schemas/Moment"},
 "profile": {"description": "How the ratios are made.", "type": "string", "enum": ["default", "iso22400", "vorne", "evocon"]},
 "availability": {"$ref": "#/components/schemas/Ratio"},
 "performance": {"$ref": "#/components/schemas/Ratio"},
 "quality": {"$ref": "#/components/schemas/Ratio"},
 "oee": {"description": "The product of the three.", "$ref": "#/components/schemas/Ratio"},
 "coverage": {"description": "Known of scheduled production: the rest is in no figure.", "$ref": "#/components/schemas/Ratio"},
 "totalMs": {"description": "All of the time, ms.", "type": "integer", "minimum": 0},
 "shiftMs": {"description": "Time in shift.", "type": "integer"},
 "scheduledProductionMs": {"description": "Of it for which a production schedule ran.", "type": "integer"},
 "scheduledNonProductionMs": {"description": "Of it for which a non-production schedule ran.", "type": "integer"},
 "outOfShiftMs": {"description": "Each millisecond is of one class, of which this is the first.", "type": "integer"},
 "noDataMs": {"description": "Nothing was known of the station: no device was heard, nobody reported downtime, and people did not count by hand.", "type": "integer"},
 "downtimeMs": {"description": "Stopped in scheduled production, or by hand.", "type": "integer"},
 "slowMs": {"description": "Slower than 80 % of the line speed target.", "type": "integer"},
 "productiveMs": {"type": "integer"},
 "idleMs": {"description": "None of these.", "type": "integer"},
 "excludedMs": {"description": "Stops that people took out of the figures; part of noDataMs, and yet known to coverage.", "type": "integer"},
 "productionGoodCount": {"description": "Good units that were told of in this time. Below zero where more of what was made before was rejected or taken away in it (see StationWindow); a ratio that is above 1 by that has the cause negativeCount.", "type": "number"},
 "productionBadCount": {"description": "Bad units, likewise.", "type": "number"},
 "productionOtherCount": {"description": "Counted by a source that is not the schedule's: shown, not added.", "type": "number"},
 "unscheduledGoodCount": {"description": "Of productionGoodCount, made without a production schedule: in no ratio and no loss.", "type": "number"},
 "unscheduledBadCount": {"description": "Bad units, likewise.", "type": "number"},
 "noDataGoodCount": {"description": "Of productionGoodCount, entered for a production schedule while nothing was known of the station: in no ratio and no loss.", "type": "number"},
 "noDataBadCount": {"description": "Bad units, likewise.", "type": "number"},
 "productionIdealCount": {"description": "Units due in known scheduled production; null: there is no rate.", "type": ["number", "null"]},
 "productionTargetCount": {"description": "The same without downtime.", "type": ["number", "null"]},
 "losses": {"description": "Where time and units went.", "$ref": "#/components/schemas/Losses"}}},
"Losses": {"description": "Losses by name.", "type": "object", "required": ["schedule", "plannedNonProduction", "downtime", "speed", "quality"], "additionalProperties": false, "properties": {
 "schedule": {"description": "Shift time for which nothing was scheduled.", "$ref": "#/components/schemas/Loss"},
 "plannedNonProduction": {"description": "Time of non-production schedules.", "$ref": "#/components/schemas/Loss"},
 "downtime": {"description": "Ideal less target.", "$ref": "#/components/schemas/Loss"},
 "speed": {"description": "Target less good and bad.", "$ref": "#/components/schemas/Loss"},
 "quality": {"description": "Bad units.", "$ref": "#/components/schemas/Loss"}}},
"Loss": {"description": "A loss; what is not known is null.", "type": "object", "required": ["ms", "units", "money", "moneyPartial"], "additionalProperties": false, "properties": {
 "ms": {"type": ["number", "null"]},
 "units": {"type": ["number", "null"]},
 "money": {"description": "In the account's currency; null where enableLostProductionCost is off or nothing has a price.", "type": ["number", "null"]},
 "moneyPartial": {"description": "The money is that of a part: something else was lost, or may have been, at a station and with a SKU that have no price.", "type": "boolean"}}},
"Energy": {"description": "The energy of some stations and some time.", "type": "object", "required": ["plantCode", "groupCode", "stationCode", "startAt", "endAt", "electricalKwh", "outsideProductionKwh", "cost", "co2", "productionCount", "productiveMs", "kwhPerUnit", "kwhPerProductiveHour", "coverage"], "additionalProperties": false, "properties": {
 "plantCode": {"description": "Null where it is not asked by plant.", "type": ["string", "null"]},
 "groupCode": {"type": ["string", "null"]},
 "stationCode": {"type": ["string", "null"]},
 "startAt": {"description": "The beginning of the time that this is of.", "$ref": "#/components/schemas/Moment"},
 "endAt": {"$ref": "#/components/schemas/Moment"},
 "electricalKwh": {"description": "Of what was measured; null: nothing was. How much that is, coverage tells.", "type": ["number", "null"]},
 "outsideProductionKwh": {"description": "Used while no production was scheduled; null where nothing is known, or some of it was measured by a meter, which has no schedules.", "type": ["number", "null"]},
 "cost": {"description": "Of the energy that is known, by the prices of that time; null: not known for all of it.", "type": ["number", "null"]},
 "co2": {"description": "Of the energy that is known, by the factors of that time; null: not known for all of it.", "type": ["number", "null"]},
 "productionCount": {"description": "Good and bad units.", "type": "number"},
 "productiveMs": {"type": "integer"},
 "kwhPerUnit": {"description": "Null: nothing was made, or nothing is known of energy.", "type": ["number", "null"]},
 "kwhPerProductiveHour": {"description": "Null: nothing was productive, or nothing is known of energy.", "type": ["number", "null"]},
 "coverage": {"description": "How much of the stations' time the energy is of, ms.", "$ref": "#/components/schemas/Ratio"}}},
"ParetoLine": {"description": "Downtime of one cause.", "type": "object", "required": ["causeCode", "name", "downtimeMs", "count", "share", "cumulative"], "additionalProperties": false, "properties": {
 "causeCode": {"description": "Code of the reason; null: nobody has said why.", "type": ["string", "null"]},
 "name": {"type": ["string", "null"]},
 "downtimeMs": {"type": "integer"},
 "count": {"description": "Stops that have time in the range.", "type": "integer"},
 "share": {"description": "Of all downtime.", "type": "number"},
 "cumulative": {"description": "The share of this and all lines before.", "type": "number"}}},
"Directory": {"description": "The names of what there is.", "type": "object", "required": ["revision", "currency", "durationFormat", "plants", "shiftPatterns", "skus", "reasons"], "additionalProperties": false, "properties": {
 "revision": {"description": "Of the configuration.", "type": "integer"},
 "currency": {"description": "ISO 4217.", "type": ["string", "null"]},
 "durationFormat": {"type": ["string", "null"]},
 "plants": {"type": "array", "items": {"type": "object", "required": ["code", "name", "timezone", "dayStartHour", "weekStartDay", "groups"], "additionalProperties": false, "properties": {
  "code": {"type": "string"}, "name": {"type": "string"}, "timezone": {"type": "string"}, "dayStartHour": {"type": ["number", "null"]}, "weekStartDay": {"description": "0 = Monday.", "type": ["number", "null"]},
  "groups": {"type": "array", "items": {"type": "object", "required": ["code", "name", "stations"], "additionalProperties": false, "properties": {
   "code": {"type": "string"}, "name": {"type": "string"},
   "stations": {"type": "array", "items": {"type": "object", "required": ["code", "name", "shiftPatternCode"], "additionalProperties": false, "properties": {"code": {"type": "string"}, "name": {"type": "string"},
    "shiftPatternCode": {"description": "The pattern in force, its own or the group's; null: all time is shift time.", "type": ["string", "null"]}}}}}}}}}},
 "shiftPatterns": {"type": "array", "items": {"$ref": "#/components/schemas/ShiftPattern"}},
 "skus": {"type": "array", "items": {"type": "object", "required": ["code", "name"], "additionalProperties": false, "properties": {"code": {"type": "string"}, "name": {"type": "string"}}}},
 "reasons": {"description": "Each before those below it.", "type": "array", "items": {"type": "object", "required": ["code", "name", "parent"], "additionalProperties": false, "properties": {
  "code": {"type": "string"}, "name": {"type": ["string", "null"]}, "parent": {"description": "The code of the reason above; null: it is at the top.", "type": ["string", "null"]}}}}}},
"CronFires": {"description": "What a cron pattern means.", "type": "object", "required": ["words", "fires", "smallestGapMinutes"], "additionalProperties": false, "properties": {
 "words": {"description": "In English.", "type": "string"},
 "fires": {"description": "The next ones.", "type": "array", "items": {"$ref": "#/components/schemas/Moment"}},
 "smallestGapMinutes": {"description": "The smallest elapsed time between two fires. Null: it does not fire twice.", "type": ["integer", "null"]}}},
"CycleTimes": {"description": "How long cycles of a SKU took at a station, ms.", "type": "object", "required": ["stationCode", "skuCode", "specifiedCycleMs", "count", "medianMs", "best10PercentMs", "spreadMs"], "additionalProperties": false, "properties": {
 "stationCode": {"type": "string"},
 "skuCode": {"type": "string"},
 "specifiedCycleMs": {"description": "By the rate that holds now; null: there is none.", "type": ["number", "null"]},
 "count": {"description": "Cycles that were measured.", "type": "integer"},
 "medianMs": {"type": "number"},
 "best10PercentMs": {"description": "A tenth of the cycles took at most this long.", "type": "number"},
 "spreadMs": {"description": "From the first to the third quartile.", "type": "number"}}}
}`

// timelineModels are of the columns of a timeline.
const timelineModels = `{
"Timeline": {"description": "What a station did, in columns for drawing. Times are Unix ms.", "type": "object", "required": ["stationCode", "from", "to", "final", "stepMs", "rows", "classes", "scheduledProduction", "runTime", "scheduledNonProduction", "good", "bad", "ideal", "target", "lineSpeedAvg", "lineSpeedTarget", "electricalKwh", "schedules", "runs"], "additionalProperties": false, "properties": {
	"stationCode": {"type": "string"}, "from": {"type": "integer"}, "to": {"description": "The last row ends here.", "type": "integer"},
	"final": {"description": "What lies before it changes only when something comes late.", "type": "integer"},
	"stepMs": {"description": "Length of a row, ms: row i begins at from + i x stepMs.", "type": "integer", "minimum": 60000},
	"rows": {"description": "How many there are in each column.", "type": "integer", "minimum": 0},
	"classes": {"description": "ms of each class; together they are the row. Scheduled non-production is in them, too.", "type": "object", "required": ["productive", "slow", "downtime", "idle", "noData", "outOfShift"], "additionalProperties": false, "properties": {
		"productive": {"$ref": "#/components/schemas/IntegerColumn"}, "slow": {"$ref": "#/components/schemas/IntegerColumn"}, "downtime": {"$ref": "#/components/schemas/IntegerColumn"},
		"idle": {"$ref": "#/components/schemas/IntegerColumn"}, "noData": {"$ref": "#/components/schemas/IntegerColumn"}, "outOfShift": {"$ref": "#/components/schemas/IntegerColumn"}}},
	"scheduledProduction": {"$ref": "#/components/schemas/IntegerColumn"},
	"runTime": {"description": "ms of scheduled production that are known, without downtime.", "$ref": "#/components/schemas/IntegerColumn"},
	"scheduledNonProduction": {"description": "ms for which a non-production schedule ran, and how much of it is counted as productive and as idle: to be drawn as non-production.", "type": "object", "required": ["total", "productive", "idle"], "additionalProperties": false, "properties": {
		"total": {"$ref": "#/components/schemas/IntegerColumn"}, "productive": {"$ref": "#/components/schemas/IntegerColumn"}, "idle": {"$ref": "#/components/schemas/IntegerColumn"}}},
	"good": {"$ref": "#/components/schemas/Column"}, "bad": {"$ref": "#/components/schemas/Column"},
	"ideal": {"$ref": "#/components/schemas/Column"}, "target": {"$ref": "#/components/schemas/Column"},
	"lineSpeedAvg": {"$ref": "#/components/schemas/Column"}, "lineSpeedTarget": {"$ref": "#/components/schemas/Column"}, "electricalKwh": {"$ref": "#/components/schemas/Column"},
	"schedules": {"description": "Stretches of one shift in which the same schedules ran, in order; null: more than 5,000.", "anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#/components/schemas/TimelineSchedule"}}]},
	"runs": {"description": "Stretches of one class, to the millisecond, in order; null: more than 5,000, or the range is longer than 24 hours.", "anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#/components/schemas/TimelineRun"}}]}}},
"TimelineSchedule": {"description": "A stretch of one shift in which the same schedules ran.", "type": "object", "required": ["start", "end", "shiftName", "scheduleId", "skuCode", "nonProductionScheduleId", "reasonCode"], "additionalProperties": false, "properties": {
	"start": {"type": "integer"}, "end": {"type": "integer"}, "shiftName": {"description": "null: out of shift, or there is no pattern.", "type": ["string", "null"]},
	"scheduleId": {"description": "The production schedule; null: none, or it is paused.", "type": ["string", "null"]},
	"skuCode": {"description": "UNKNOWN without a production schedule.", "type": ["string", "null"]},
	"nonProductionScheduleId": {"type": ["string", "null"]}, "reasonCode": {"description": "Of the non-production schedule.", "type": ["string", "null"]}}},
"TimelineRun": {"description": "A stretch of one class.", "type": "object", "required": ["class", "start", "end", "scheduled", "issueId", "causeCode", "excluded"], "additionalProperties": false, "properties": {
	"class": {"type": "string", "enum": ["outOfShift", "noData", "downtime", "slow", "productive", "idle"]},
	"start": {"type": "integer"}, "end": {"type": "integer"},
	"scheduled": {"description": "What the time was planned for; null: nothing.", "type": ["string", "null"], "enum": ["production", "nonProduction", null]},
	"issueId": {"description": "The stop, slow period or manual downtime that it is part of.", "type": ["string", "null"]},
	"causeCode": {"type": ["string", "null"]}, "excluded": {"description": "People took it out of the figures.", "type": "boolean"}}},
"IntegerColumn": {"description": "A number for each row, ms.", "type": "array", "items": {"type": "integer", "minimum": 0}},
"Column": {"description": "A number for each row; null: not known.", "type": "array", "items": {"type": ["number", "null"]}}
}`
