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
