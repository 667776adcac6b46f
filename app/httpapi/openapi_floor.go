package httpapi

import (
	"opsmon/app/auth"
	"opsmon/schema"
)

// floorOperations are about what stations do now, what they are to do, and what people and machines say of it.
var floorOperations = map[string]operation{
	"GET /station": {
		id: "listStations", tag: "Station", summary: "What the stations do now",
		about:  "Each station (meters only where they are named) with its status and since when, the schedules that run with what they have counted, its speed, the stops that go on, and the figures of the shift so far: to the last bit those that `GET /oee` gives by station from its `startAt` to `until`. The sequence number grows with each change that `GET /events` tells; equal numbers show equal values. With `archived` those that have left the manifest come last, as they were then.",
		answer: "The stations, in the manifest's order.", form: formList, gives: "StationStatus", sample: statusSample, also: []int{400, 503},
	},
	"GET /station/:stationCode": {
		id: "getStation", tag: "Station", summary: "Read what holds at a station",
		about:  "The station's configuration with everything that it takes from its group, its plant and the account: every flag with the level that decided it, reasons, Task lists with their Tasks, the shift pattern, the SKUs it can run, and its own settings with their defaults filled in. Beside it, what the station does now, who works there and what alert is up; null where that is not known, or not yet.",
		answer: "The resolved configuration.", form: formResult, gives: "StationConfiguration", also: []int{404},
	},
	"POST /station/:stationCode/operator": {
		id: "setOperator", tag: "Station", summary: "Say who works at a station", role: auth.Operator, body: schema.StationOperator,
		about:  "The initials show at the station until others are told, or null. A tablet says so of its own stations. Nobody works at an energy meter: 400.",
		answer: "What is put up at the station.", form: formResult, gives: "StationNote", sample: noteSample, also: []int{404, 409},
	},
	"POST /station/:stationCode/alert": {
		id: "setAlert", tag: "Station", summary: "Put an alert up at a station", role: auth.Supervisor, body: schema.StationAlert,
		about:  "A message that all should see who look at the station, until it expires or is taken down with null. There is one at a time: a new one takes the place of the one before.",
		answer: "What is put up at the station.", form: formResult, gives: "StationNote", sample: noteSample, also: []int{404, 409},
	},

	"GET /schedule": {
		id: "listSchedules", tag: "Schedule", summary: "List schedules",
		about:  "Those that have time in the range, by their begin; without a range, in today's production day. A planned schedule without a known end is a moment. Counts change while signals come late.",
		answer: "A page of schedules.", form: formPage, gives: "Schedule", sample: scheduleSample, also: []int{400},
	},
	"POST /schedule": {
		id: "writeSchedule", tag: "Schedule", summary: "Make or change a schedule",
		about: "Without `id` a schedule is made. With it, what is given changes: wholly of a planned one, quantity, end and note of a running one.\n\n" +
			"With `dryrun=true` all is checked as for real, and answered as it would be: nothing is stored, no idempotency key is used up, and a refusal is not listed.\n\n" +
			"403: it has its own partsPerCycle, or goes to another station, and the flag for that is off. 409: it overlaps another of its kind, one of the same SKU and planned start is there, or it has ended.",
		answer: "The schedule as it is now.", body: schema.ScheduleWrite, form: formResult, gives: "Schedule", sample: scheduleSample, also: []int{404, 409},
	},
	"GET /schedule/:scheduleId": {
		id: "getSchedule", tag: "Schedule", summary: "Read a schedule",
		answer: "The schedule.", form: formResult, gives: "Schedule", sample: scheduleSample, also: []int{404},
	},
	"DELETE /schedule/:scheduleId": {
		id: "deleteSchedule", tag: "Schedule", summary: "Delete a planned schedule",
		about:  "Also a success when it was deleted before. 409: it has started.",
		answer: "Deleted.", form: formEmpty, also: []int{404, 409},
	},
	"POST /schedule/:scheduleId/start": {
		id: "startSchedule", tag: "Schedule", summary: "Start a schedule",
		about: "One production and one non-production schedule run at a station at a time; a non-production one pauses the production one. The body may be left out.\n\n" +
			"403: another station, or a correction, and the flag for that is off; or an operator would cut short what runs. 409: another of its kind runs, which the message names, or ran then; or it is not planned any more.",
		answer: "The schedule, running.", body: schema.ScheduleStart, optional: true, form: formResult, gives: "Schedule", sample: scheduleSample, also: []int{404, 409},
	},
	"POST /schedule/:scheduleId/end": {
		id: "endSchedule", tag: "Schedule", summary: "End a schedule",
		about:  "Before its planned end this is a cut short. The body may be left out.\n\n403: it is a cut short, and enableScheduleCutShort is off. 409: it does not run.",
		answer: "The schedule, completed.", body: schema.ScheduleEnd, optional: true, form: formResult, gives: "Schedule", sample: scheduleSample, also: []int{404, 409},
	},
	"POST /schedule/:scheduleId/move": {
		id: "moveSchedule", tag: "Schedule", summary: "Move a planned schedule",
		about:  "To another station where enableDragBetweenStationsOnGantt is on, or within the group where enableScheduleStationFlexibility is; or to another time. A planned end moves along with the start. With `dryrun=true` it is only checked, as for `POST /schedule`.\n\n409: as for `POST /schedule`, or it has started.",
		answer: "The schedule as it is now.", body: schema.ScheduleMove, form: formResult, gives: "Schedule", sample: scheduleSample, also: []int{404, 409},
	},
	"POST /quick-schedule": {
		id: "quickSchedule", tag: "Schedule", summary: "Start a schedule that nobody planned",
		about:  "Of a SKU with allowUseInQuickSchedule, or of a reason for non-production. A tablet has to tell initials.\n\n403: enableQuickScheduleStart is off at the station. 409: another of its kind runs.",
		answer: "The schedule, running.", body: schema.ScheduleQuick, form: formResult, gives: "Schedule", sample: scheduleSample, also: []int{409},
	},
	"GET /production": {
		id: "listProduction", tag: "Production", summary: "List what operators entered",
		about:  "Those in the range, by time; without a range, in today's production day. None is ever changed: one that was wrong is taken back by another. What later facts (a late batch, manual downtime entered over it) left no room for is shown as unapplied, and is in no total.",
		answer: "A page of entries.", form: formPage, gives: "ProductionEntry", sample: entrySample, also: []int{400},
	},
	"POST /production": {
		id: "enterProduction", tag: "Production", summary: "Enter units by hand",
		about: "Good and bad units that were made (enableManualProduction), good units that turned out bad (enableRejectProduction), or a correction of a count by a difference (enableProductionCorrection; of a schedule that has ended enableHistoricalCorrection, for admins). " +
			"A schedule's good count has one source: where the machine counts, good units that are entered are shown and not added.\n\n" +
			"403: the flag is off at the station. 409: no production schedule ran then, a total would be negative then or at a later moment, the schedule would have more units than one may, manual downtime is active, or the signals of that time are not kept any more.",
		answer: "The entry.", body: schema.ProductionCreate, form: formResult, gives: "ProductionEntry", sample: entrySample, also: []int{404, 409},
	},
	"POST /production/:entryId/undo": {
		id: "undoProduction", tag: "Production", summary: "Take an entry back",
		about:  "By a counter-entry; both stay in the list. Who may enter it may take it back while the schedule runs, then an admin.\n\n403: the flag is off. 409: it was taken back before, a total would be negative at some moment, or the signals of its time are not kept any more.",
		answer: "The counter-entry.", body: schema.ProductionUndo, form: formResult, gives: "ProductionEntry", sample: entrySample, also: []int{404, 409},
	},
	"GET /refused": {
		id: "listRefused", tag: "Admin", summary: "List writes of the floor that were refused",
		about:  "Those that came with an `Idempotency-Key`, the latest first: what a tablet sent that had been offline, and nobody saw refused. Without the key only the answer tells of a refusal: nothing would show that the same was accepted later. One that is accepted in the end is not in the list any more.",
		answer: "A page of requests.", form: formPage, gives: "RefusedRequest", also: []int{400},
		sample: `{"key":"5f0c1b9e-7d1a","firstAt":"2026-11-20T08:15:30.123Z","lastAt":"2026-11-20T08:15:31.200Z","times":2,"method":"POST","path":"/schedule/q4m2x7c3w6zd/start","body":"{\"at\":\"2026-11-20T06:00:00Z\"}","status":409,"errorMessage":"at PACK-1 the schedule m5k2q7x3c6wd is running since 2026-11-20T05:58:12.000Z; end it first, or start with endrunning=true","details":[],"by":"tablet:line 1@acme.example","from":"192.0.2.17"}`,
	},

	"GET /signal": {
		id: "listSignals", tag: "Signal", summary: "List what was sent of a station",
		about:  "Every signal that was taken, as it is kept, the oldest first. A range may have a day: 25 hours where the clock goes back.",
		answer: "A page of signals.", form: formPage, gives: "SignalLine", also: []int{400},
		sample: `{"at":"2026-11-20T08:15:30.123Z","arrivedAt":"2026-11-20T08:15:30.320Z","source":"device:acme/press-gateway","id":"81723","clockCorrected":false,"values":{"productive":true,"productionCountGood":48211,"electricalKw":4.2}}`,
	},
	"POST /signal": {
		id: "sendSignals", tag: "Signal", summary: "Send signals of machines",
		about:  "For devices, members and admins. What is accepted is durable when this is answered. A signal that cannot be taken does no harm to the others: what is no object, an unknown station, a wrong value, a time before what is kept, a millisecond of which the station has 20,000 signals already. One that is more than two minutes in the future is taken at its arrival.\n\nBodies may have 4 MiB.\n\n409: the account is archived. 429: more signals come from this credential than it may send; send the same again after `Retry-After`.",
		answer: "What became of each signal.", body: schema.SignalBatch, form: formList, gives: "SignalOutcome", also: []int{409},
		sample: `{"index":0,"accepted":true,"issue":""}`,
	},
	"GET /task": {
		id: "listTasks", tag: "Task", summary: "List what operators have to do, or had",
		about: "A Task of a list, each time it falls due at a station. With `state=pending` and no range all that is pending, by its deadline; otherwise those that became available in the range, which is the last seven days when none is given, the newest first. " +
			"A range may have 400 days for one station and 31 for several.\n\nOnly where `enableTasks` is on are Tasks made, and never at energy meters. When that goes off, what is pending of schedules that run, and of lists that were started, stays until it can be completed again, or is missed at its schedule's end. What was completed or missed is kept for 400 days, and of a station the newest 10,000.",
		answer: "A page of Tasks.", form: formPage, gives: "TaskInstance", sample: taskSample, also: []int{400, 503},
	},
	"POST /task/:taskId/complete": {
		id: "completeTask", tag: "Task", summary: "Say that a Task is done", role: auth.Operator,
		about: "At the stations that the caller may act on. What was missed can be completed with an `at` before its deadline, up to 24 hours back: a tablet that was offline sends it late.\n\n" +
			"403: the station is not the caller's, or `enableTasks` is off. 409: it was completed before, or missed.",
		answer: "The Task as it is now.", body: schema.TaskComplete, form: formResult, gives: "TaskInstance", sample: taskSample, also: []int{404, 409, 503},
	},
	"POST /task-list/:taskListCode/start": {
		id: "startTaskList", tag: "Task", summary: "Start a Task list that is on demand", role: auth.Operator,
		about: "Its Tasks on demand are pending from then on, until they are completed: they have no deadline.\n\n" +
			"403: the station is not the caller's, or `enableTasks` is off. 404: no such list is available at the station. 409: the list has no Task on demand, or Tasks of an earlier start are pending.",
		answer: "The Tasks, in their order.", body: schema.TaskListStart, form: formResult, gives: "StartedTaskList", sample: `{"tasks":[` + taskSample + `]}`, also: []int{404, 409, 503},
	},
	"GET /message": {
		id: "listMessages", tag: "Message", summary: "List what people left for the next shift",
		about:  "The newest first, done or not; with `open=true` those that nobody has done yet. A message is kept for 31 days, and of a station the newest 200.",
		answer: "The messages.", form: formList, gives: "Message", sample: messageSample, also: []int{400, 503},
	},
	"POST /message": {
		id: "postMessage", tag: "Message", summary: "Leave a message for the next shift", role: auth.Operator,
		about:  "Whoever watches the station sees it at once, and who comes after until somebody says that it is done.\n\n403: the station is not the caller's.",
		answer: "The message.", body: schema.MessageCreate, form: formResult, gives: "Message", sample: messageSample, also: []int{409, 503},
	},
	"POST /message/:messageId/done": {
		id: "messageDone", tag: "Message", summary: "Say that a message is done", role: auth.Operator,
		about:  "Who says so first counts: one that is done stays as it is, and the answer shows by whom.\n\n403: the station is not the caller's.",
		answer: "The message as it is now.", body: schema.MessageDone, form: formResult, gives: "Message", sample: messageSample, also: []int{404, 409, 503},
	},
	"GET /events": {
		id: "getEvents", tag: "Event", summary: "Follow what changes",
		about: "Server-sent events, for as long as the client stays. Each has an `id`, one of the types `station` (what a station does, its counts and speed; of several in quick succession the newest alone), `issue`, `schedule`, `task`, `message` (one was left for the next shift, or is done) and `account` (a new revision of the configuration: its number, time, author and note; whatever stations were asked for), and as `data` what has changed, in the form that reading it has. A Task that the manifest no longer asks for is told once more, with the state `withdrawn`; where more than 20 Tasks of a station change at once, `data` is `{stationCode, changed}` and they are to be read anew. " +
			"A client that comes back with `Last-Event-ID` goes on where it was. The type `reset` tells that it has missed what is no longer known: read everything anew. The type `beat` comes every 15 seconds when nothing else does: who hears nothing for much longer has lost the connection.\n\n" +
			"The stream ends after an hour, when the credential is revoked or expires, when the role behind it changes, and when the service stops: connect again. A client that does not read is cut off.\n\nThere may be 512 streams in all, or half of `maxConnections` where that is less: of them three quarters of one person, seven eighths of one account, and 32 with one credential.\n\n429: too many streams are open with this credential, of this person or of this account. 503: too many are open in all.",
		answer: "Events, until one side ends.", form: formEvents, also: []int{400, 429, 503},
		sample: "retry: 3000\nid: 1763626530123\n\nid: 1763626530124\nevent: station\ndata: {\"stationCode\":\"PACK-1\"}\n\n",
	},
	"GET /issue": {
		id: "listIssues", tag: "Issue", summary: "List stops, slow periods and manual downtimes",
		about: "Those that have time in the range, whole, the latest first; without a range, in today's production day. The engine finds them, and finds them again when late signals come; what people said of one follows it: to the stop that has its name or lies nearest to its time, to both where it is two now. " +
			"What fits none any more is listed with `orphaned`. The parts of each have its time exactly, and `uncausedMs` is the time that nobody has named a cause of.",
		answer: "A page of stops.", form: formPage, gives: "Issue", sample: issueSample, also: []int{400, 503},
	},
	"POST /issue": {
		id: "manualDowntime", tag: "Issue", summary: "Start, end or record a manual downtime",
		about: "Without `endAt` one starts, at `startAt` or now. With `endAt` alone the one that goes on ends. With both, one that is over is recorded, up to 24 hours back, by a supervisor up to 31 days. Nothing counts while it lasts. An energy meter has none.\n\n" +
			"403: the flag `enableManualDowntime` is off at the station; the sentence names the level that decided. 409: one goes on already or none does, or the time overlaps another.",
		answer: "The downtime as it is now.", body: schema.IssueCreate, form: formResult, gives: "Issue", sample: issueSample, also: []int{409, 503},
	},
	"POST /issue/:issueId/acknowledge": {
		id: "acknowledgeIssue", tag: "Issue", summary: "Say that somebody has seen a stop",
		about:  "The body may be left out but by a tablet, which has to tell initials. 409: somebody said so before.",
		answer: "The stop as it is now.", body: schema.IssueAcknowledge, optional: true, form: formResult, gives: "Issue", sample: issueSample, also: []int{404, 409, 503},
	},
	"POST /issue/:issueId/estimate": {
		id: "estimateIssue", tag: "Issue", summary: "Say when a stop is expected to end",
		about:  "409: it has ended.",
		answer: "The stop as it is now.", body: schema.IssueEstimate, form: formResult, gives: "Issue", sample: issueSample, also: []int{404, 409, 503},
	},
	"POST /issue/:issueId/escalate": {
		id: "escalateIssue", tag: "Issue", summary: "Take a stop further up",
		about:  "With a level from 1 to 5. 409: 200 events are kept of the stop, and no more.",
		answer: "The stop as it is now.", body: schema.IssueEscalate, form: formResult, gives: "Issue", sample: issueSample, also: []int{404, 409, 503},
	},
	"POST /issue/:issueId/cause": {
		id: "nameIssue", tag: "Issue", summary: "Say what caused a stop",
		about:  "A reason that is available at the station, is for downtime and is no heading; null takes back what people said. Of a stop that goes on, too. `partStartAt` names one part of a stop that is split. Figures follow at once.",
		answer: "The stop as it is now.", body: schema.IssueCause, form: formResult, gives: "Issue", sample: issueSample, also: []int{404, 409, 503},
	},
	"POST /issue/:issueId/split": {
		id: "splitIssue", tag: "Issue", summary: "Cut a stop into parts",
		about:  "In place of the parts that it had. Figures follow at once.",
		answer: "The stop as it is now.", body: schema.IssueSplit, form: formResult, gives: "Issue", sample: issueSample, also: []int{404, 409, 503},
	},
	"POST /issue/:issueId/exclude": {
		id: "excludeIssue", tag: "Issue", summary: "Take a stop out of the figures, or back in",
		about:  "Its time then is in no numerator and no denominator, as time without data is: `excludedMs` of `GET /oee` tells how much, while `coverage` stays as it is, since there is data of it. Its windows stay what they are. 409: it is so already, or is a slow period, in which units were made.",
		answer: "The stop as it is now.", body: schema.IssueExclude, form: formResult, gives: "Issue", sample: issueSample, also: []int{404, 409, 503},
	},
}

const (
	statusSample = `{"stationCode":"PACK-1","name":"Packer 1","plantCode":"leeds","groupCode":"packing","statusCode":"downtime","statusCodeUpdatedAt":"2026-11-20T08:15:30.000Z","noSignalYet":false,"isAlive":true,"currentOperatorInitials":"ABC","currentOperatorSince":"2026-11-20T06:02:11.000Z","alertMessage":null,"alertExpiresAt":null,"lineSpeed":null,"lineSpeedTarget":null,` +
		`"schedule":{"id":"s7xk2v9m4q6w","skuCode":"BOWL","reasonCode":null,"workOrderReference":"WO-20417","plannedQuantity":4800,"goodCount":1212,"badCount":7,"idealCount":1350.5,"targetCount":1275,"countedByHand":false},"nonProductionSchedule":null,"issues":[{"id":"PACK-1.stop-1795680930000","type":"stop","startAt":"2026-11-20T08:15:30.000Z","causeCode":null}],"shift":` + soFarSample + `,"archived":false,"sequence":41827}`
	soFarSample = `{"name":"Early","startAt":"2026-11-20T06:00:00.000Z","endAt":"2026-11-20T14:00:00.000Z","until":"2026-11-20T08:15:00.000Z","availability":{"value":0.944,"numerator":7647000,"denominator":8100000},"performance":{"value":0.956,"numerator":1219,"denominator":1275},` +
		`"quality":{"value":0.994,"numerator":1212,"denominator":1219},"oee":{"value":0.897,"numerator":0.897,"denominator":1},"coverage":{"value":1,"numerator":8100000,"denominator":8100000},` +
		`"goodCount":1212,"badCount":7,"unscheduledGoodCount":0,"unscheduledBadCount":0,"idealCount":1350.5,"targetCount":1275,"scheduledProductionMs":8100000,"downtimeMs":453000,"productiveMs":7380000}`
	noteSample = `{"stationCode":"PACK-1","currentOperatorInitials":"ABC","currentOperatorSince":"2026-11-20T06:02:11.000Z","alertMessage":"Maintenance at 14:00","alertExpiresAt":"2026-11-20T14:00:00.000Z"}`
	taskSample = `{"id":"PACK-1.mqwkm4g0.0","stationCode":"PACK-1","state":"pending","trigger":"cron","taskCode":"WALK","title":"Walk round the machine","description":null,"requireNotes":true,"taskListCode":"ROUND","taskListName":"Round","order":1,"scheduleId":null,` +
		`"availableAt":"2026-11-20T07:30:00.000Z","deadlineAt":"2026-11-20T08:00:00.000Z","startedBy":null,"completedAt":null,"recordedAt":null,"completedBy":null,"note":null}`
	messageSample = `{"id":"PACK-1.mqwkm4g0.3","stationCode":"PACK-1","text":"The feeder jams with the blue film, run it at 80 %","initials":"ABC","shiftName":"Early","at":"2026-11-20T13:50:00.000Z","recordedAt":"2026-11-20T13:50:00.212Z","doneAt":null,"doneBy":null,"doneRecordedAt":null}`
)

// issueSample is the example of a stop with what was said of it.
const issueSample = `{"id":"PACK-1.stop-1795680930000","type":"stop","stationCode":"PACK-1","startAt":"2026-11-20T08:15:30.000Z","endAt":"2026-11-20T08:45:30.000Z","durationMs":1800000,"causeCode":null,"causeFrom":null,"uncausedMs":600000,"note":"a fuse",` +
	`"parts":[{"startAt":"2026-11-20T08:15:30.000Z","endAt":"2026-11-20T08:35:30.000Z","durationMs":1200000,"causeCode":"BRK-E","causeFrom":"person","excluded":false},{"startAt":"2026-11-20T08:35:30.000Z","endAt":"2026-11-20T08:45:30.000Z","durationMs":600000,"causeCode":null,"causeFrom":null,"excluded":false}],` +
	`"scheduleId":"q4m2x7c3w6zd","skuCode":"BK-1000","excluded":false,"acknowledged":{"at":"2026-11-20T08:18:02.000Z","by":"tablet:line 1@acme.example","initials":"KLM"},"estimate":null,"escalation":{"level":1,"note":"the fitter is called","at":"2026-11-20T08:20:00.000Z","by":"tablet:line 1@acme.example"},"orphaned":false,` +
	`"events":[{"at":"2026-11-20T08:18:02.000Z","recordedAt":"2026-11-20T08:18:02.114Z","by":"tablet:line 1@acme.example","initials":"KLM","action":"acknowledge","value":null,"note":null}]}`

// scheduleSample and entrySample are examples of answers about schedules.
const (
	scheduleSample = `{"id":"q4m2x7c3w6zd","stationCode":"PACK-1","kind":"production","type":"fixedQuantity","state":"running","paused":false,"skuCode":"BK-1000","reasonCode":null,"workOrderReference":"WO-20417",` +
		`"plannedStartAt":"2026-11-20T06:00:00.000Z","plannedEndAt":null,"plannedQuantity":4800,"cycleTime":null,"unitsPerMinute":null,"unitsPerHour":null,"lineSpeedTarget":null,"partsPerCycle":null,` +
		`"autoStart":true,"autoEnd":false,"autoEndOnQuantityComplete":true,"extendShift":false,"note":null,"expectedEndAt":"2026-11-20T07:36:00.000Z","expectedQuantity":4800,"rate":{"unitsPerMinute":50,"from":"sku"},` +
		`"actualStartAt":"2026-11-20T06:00:00.000Z","actualEndAt":null,"goodCount":1311,"badCount":9,"otherCount":0,"unappliedEntries":0,` +
		`"events":[{"move":"create","at":"2026-11-19T15:12:04.551Z","recordedAt":"2026-11-19T15:12:04.551Z","by":"planner@acme.example","initials":null,"note":null},{"move":"autoStart","at":"2026-11-20T06:00:00.000Z","recordedAt":"2026-11-20T06:00:00.412Z","by":"service","initials":null,"note":null}],` +
		`"createdAt":"2026-11-19T15:12:04.551Z","updatedAt":"2026-11-20T06:00:00.412Z"}`
	entrySample = `{"id":"b7n4t6r3y5hj","stationCode":"PACK-1","scheduleId":"q4m2x7c3w6zd","at":"2026-11-20T06:41:00.000Z","effectiveAt":"2026-11-20T06:41:00.000Z","good":48,"bad":2,"reject":0,"correction":false,"initials":"KLM","note":null,"undoes":null,"undoneBy":null,"unapplied":null,"recordedAt":"2026-11-20T06:41:00.203Z","by":"tablet:line 1@acme.example"}`
)

// stationSample is the example of a station's configuration, without its flags and settings.
const stationSample = `{"code":"PACK-1","name":"Packer 1","plant":{"code":"leeds","name":"Leeds","timezone":"Europe/London"},"group":{"code":"packing","name":"Packing"},"currentOperatorInitials":"ABC","statusCode":"productive","statusCodeUpdatedAt":"2026-11-20T08:15:30.123Z","alertMessage":null,"alertExpiresAt":null,` +
	`"flags":{},"reasons":[{"code":"BRK","name":"Breakdown","description":null,"type":["downtime"],"oee":null,"heading":false,"reasons":[]}],` +
	`"taskLists":[{"code":"START","name":"Before the first piece","description":null,"trigger":{"type":"schedule"},"tasks":[{"code":"CHECK","title":"Check the mould","description":null,"requireNotes":false,"order":1,"trigger":null}]}],` +
	`"shiftPattern":{"code":"day","title":"Day shift","shifts":[{"name":"Day","startHour":6,"duration":8,"weekDay":"1"}],"from":"group"},"skus":[{"code":"BK-1000","name":"Bread, 1 kg","allowUseInQuickSchedule":true}],"settings":{}}`
