package httpapi

import (
	"opsmon/app/auth"
	"opsmon/schema"
)

// form says what the body of a success is.
type form uint8

const (
	formDone   form = iota // {isSuccess: true}
	formResult             // {isSuccess: true, result}
	formList               // {isSuccess: true, results}
	formPage               // {isSuccess: true, results, paging}
	formBare               // the thing itself
	formText               // no JSON
	formEmpty              // 204
	formFile               // the bytes of a file
	formEvents             // a stream of events
	formTable              // rows with commas between their cells
)

// operation is what the OpenAPI document says of a route beyond what the route itself says.
type operation struct {
	id, tag, summary string
	about            string // what it does and changes, in paragraphs
	answer           string // what a success means
	role             auth.Role
	security         string // "" = as the route's access says

	body     schema.Name // "" = none
	optional bool        // the body may be left out
	example  string      // of the body; "" = the schema's own
	upload   bool        // the body is a file

	form   form
	gives  string // name of the schema of the result, or of an item of the list
	sample string // an example of it

	also     []int // statuses beyond those of every route of its kind
	tagged   bool  // answers carry an entity tag
	match    bool  // takes If-Match
	location bool  // answers carry Location
}

// tags are the groups of http-api.md section 1 that have operations, in the order of that section.
const tags = `[
{"name": "Account", "description": "The account and its configuration: plants, station groups, stations, SKUs, shift patterns, reasons, Tasks."},
{"name": "Signal", "description": "What machines send, and the devices that may."},
{"name": "Admin", "description": "What administrators do: tablets, the audit record, the first set-up."},
{"name": "ApiKey", "description": "API keys for programs."},
{"name": "Authenticate", "description": "Signing in by one-time link, sessions and who is behind a request."},
{"name": "Event", "description": "What changes, as it changes."},
{"name": "Health Check", "description": "For load balancers and monitoring."},
{"name": "Issue", "description": "Stops, slow periods and manual downtimes, and what people say of them."},
{"name": "Message", "description": "What people at a station tell those who come after them."},
{"name": "Monitoring", "description": "What stations did, and the figures made of it."},
{"name": "OpenAPI", "description": "This description."},
{"name": "Production", "description": "What operators enter by hand."},
{"name": "Schedule", "description": "What stations are to make, and when."},
{"name": "Station", "description": "What holds at one station."},
{"name": "Task", "description": "What operators have to do, and when."},
{"name": "User", "description": "The people of the account and their roles."}
]`

const introduction = "The HTTP API of a plant's operations monitoring. Bodies are JSON. Every answer carries `isSuccess`; an error has an `errorCode` for programs and, but for 401, a sentence for people.\n\n" +
	"Send an API key in the header `X-API-KEY`. Browsers that signed in send the cookie `session` instead. The roles are `admin`, `member`, `supervisor`, `operator` and `readonly`, highest first; a role may do what those below it may.\n\n" +
	"`GET` answers `HEAD` too, but for `/auth/callback`. A path that does not exist is 404, a method that a path does not take is 405 with `Allow`. Bodies may have 1 MiB, manifests 32 MiB. " +
	"A body that is not strict JSON, or has a property that is not known, is 400, and all problems are listed at once. Times are RFC 3339 in UTC with milliseconds. Answers tell the service's time in `X-Time`, Unix milliseconds, for clients whose own clock is wrong.\n\n" +
	"A request that must be done in nobody else's name than one person's or tablet's carries the header `X-For`: the `accountId` and the `email` of its profile with a slash between them, percent-encoded. Where another one is signed in by then the answer is 409 with an `X-For` that names that one, and nothing is done."

// parameters describes path and query parameters by name, or by operation and name where a name means different things.
const parameters = `{
"revision": {"description": "Number of the revision.", "schema": {"type": "integer", "minimum": 1}, "example": 3},
"stationCode": {"description": "Code of the station.", "schema": {"type": "string", "minLength": 1}, "example": "PACK-1"},
"key": {"description": "The API key, or its public id.", "schema": {"type": "string", "minLength": 1}, "example": "k3v9x2m7q4ab"},
"email": {"description": "E-mail address of the user.", "schema": {"type": "string", "minLength": 1}, "example": "planner@acme.example"},
"code": {"description": "The five digits of the request.", "schema": {"type": "string", "pattern": "^[0-9]{5}$"}, "example": "04817"},
"name": {"description": "File name of the backup.", "schema": {"type": "string", "minLength": 1, "maxLength": 128}, "example": "app-20261120T013000Z.backup"},
"id": {"description": "Identifier of the tablet.", "schema": {"type": "string", "minLength": 1}, "example": "w7p2m5x3c6zd"},
"scheduleId": {"description": "Identifier of the schedule.", "schema": {"type": "string", "minLength": 1}, "example": "q4m2x7c3w6zd"},
"issueId": {"description": "Identifier of the stop, as the list and the station's windows give it.", "schema": {"type": "string", "minLength": 1}, "example": "PACK-1.stop-1795680930000"},
"type": {"description": "Only issues of these types, with commas between them.", "schema": {"type": "string"}, "example": "stop,manual"},
"open": {"description": "Only those that go on, or only those that have ended; of messages, that are not done, or are.", "schema": {"type": "boolean"}, "example": true},
"uncaused": {"description": "Only those of which some time has no cause.", "schema": {"type": "boolean", "default": false}, "example": true},
"entryId": {"description": "Identifier of the operator's entry.", "schema": {"type": "string", "minLength": 1}, "example": "b7n4t6r3y5hj"},
"state": {"description": "Only schedules in this state; without it, all but those that were deleted.", "schema": {"type": "string", "enum": ["planned", "running", "completed", "deleted"]}, "example": "running"},
"endrunning": {"description": "End the schedule of the same kind that runs.", "schema": {"type": "boolean", "default": false}, "example": true},
"compareRevisions from": {"description": "Number of the revision to compare with; without it, the one before.", "schema": {"type": "integer", "minimum": 1}, "example": 3},
"from": {"description": "Begin of the range: a time, or a date for its production day.", "schema": {"type": "string"}, "example": "2026-11-20T06:00:00Z"},
"to": {"description": "End of the range; now when it is left out.", "schema": {"type": "string"}, "example": "2026-11-20T14:00:00Z"},
"pattern": {"description": "A pattern of five fields.", "required": true, "schema": {"type": "string"}, "example": "0 6,14 * * 1-5"},
"timezone": {"description": "The IANA name of the time zone.", "required": true, "schema": {"type": "string"}, "example": "Europe/London"},
"count": {"description": "How many fires.", "schema": {"type": "integer", "minimum": 1, "maximum": 100, "default": 5}, "example": 5},
"rangecode": {"description": "The range by its name, or two times with a slash between them. Days are production days of each station's plant.", "schema": {"type": "string"}, "example": "today"},
"correctionId": {"description": "Identifier of the correction.", "schema": {"type": "string", "minLength": 1}, "example": "3"},
"device": {"description": "The device's name, or its id.", "schema": {"type": "string", "minLength": 1}, "example": "press-gateway"},
"dryrun": {"description": "Check and compare only; change nothing.", "schema": {"type": "boolean", "default": false}, "example": true},
"note": {"description": "Why, for the list of revisions.", "schema": {"type": "string", "maxLength": 200}, "example": "third packing line"},
"limit": {"description": "How many to give at most.", "schema": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}, "example": 50},
"skip": {"description": "How many to leave out first.", "schema": {"type": "integer", "minimum": 0, "default": 0}, "example": 0},
"keepthis": {"description": "Keep the session that asks.", "schema": {"type": "boolean", "default": false}, "example": true},
"level": {"description": "Only lines of at least this severity.", "schema": {"type": "string", "enum": ["debug", "info", "warn", "error"]}, "example": "warn"},
"before": {"description": "Only lines whose id is smaller.", "schema": {"type": "integer", "minimum": 1}, "example": 1795162530124},
"token": {"description": "The token of the one-time link.", "required": true, "schema": {"type": "string", "minLength": 1}, "example": "opl_7xk2v9m4q6w3p5z8c2b7n4t6r9y3h5j2"},
"search": {"description": "Only records in which all these words occur, whatever their case: in the action, the target, who, from where, or the detail.", "schema": {"type": "string", "maxLength": 200}, "example": "planner press"},
"listAudit from": {"description": "Only what was changed since: a time, or a date in UTC.", "schema": {"type": "string"}, "example": "2026-11-01"},
"listAudit to": {"description": "Only what was changed before: a time, or the end of a date in UTC.", "schema": {"type": "string"}, "example": "2026-11-20"},
"exportAudit from": {"description": "Only what was changed since: a time, or a date in UTC.", "schema": {"type": "string"}, "example": "2026-11-01"},
"exportAudit to": {"description": "Only what was changed before: a time, or the end of a date in UTC.", "schema": {"type": "string"}, "example": "2026-11-20"},
"listAudit before": {"description": "Only records with smaller numbers (seq).", "schema": {"type": "integer", "minimum": 1}, "example": 812},
"action": {"description": "Only records of this action.", "schema": {"type": "string"}, "example": "manifest.apply"},
"listTasks state": {"description": "Only those in these states, with commas between them.", "schema": {"type": "string"}, "example": "pending"},
"taskId": {"description": "Identifier of the Task, as the list gives it.", "schema": {"type": "string", "minLength": 1}, "example": "PACK-1.mqwkm4g0.0"},
"messageId": {"description": "Identifier of the message, as the list gives it.", "schema": {"type": "string", "minLength": 1}, "example": "PACK-1.mqwkm4g0.3"},
"listMessages limit": {"description": "How many to give at most.", "schema": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}, "example": 20},
"taskListCode": {"description": "Code of the Task list.", "schema": {"type": "string", "minLength": 1}, "example": "CLEAN"},
"stationcode": {"description": "Only what is about this station.", "schema": {"type": "string"}, "example": "PACK-1"},
"archived": {"description": "What has left the manifest, too.", "schema": {"type": "boolean", "default": false}, "example": true},
"types": {"description": "Only events of these types, with commas between them.", "schema": {"type": "string"}, "example": "station,issue"},
"stationcodes": {"description": "Only what is about these stations, with commas between them.", "schema": {"type": "string"}, "example": "PACK-1,PACK-2"},
"plantcode": {"description": "Only what is about stations of this plant.", "schema": {"type": "string"}, "example": "leeds"},
"groupcode": {"description": "Only what is about stations of this group.", "schema": {"type": "string"}, "example": "packing"},
"resolution": {"description": "What a window is of.", "schema": {"type": "string", "enum": ["minute", "hour", "shift", "day"], "default": "minute"}, "example": "hour"},
"profile": {"description": "How the ratios are made.", "schema": {"type": "string", "enum": ["default", "iso22400", "vorne", "evocon"], "default": "default"}, "example": "iso22400"},
"by": {"description": "What to add up by: up to two of plant, group, station, sku, shift, minute, hour, day, week, month, of which one time at most. By the minute, for four stations and 25 hours at most, the terms of the minutes add up to those of the whole. Energy has neither sku, shift nor minute.", "schema": {"type": "string"}, "example": "station,day"},
"table": {"description": "What to export.", "schema": {"type": "string", "enum": ["windows", "schedules", "issues", "tasks"]}, "example": "windows"},
"getTimeline stationcode": {"description": "The code of the station.", "required": true, "schema": {"type": "string"}, "example": "PACK-1"},
"getTimeline from": {"description": "Begin of the range: a time, or a date for its production day. It or rangecode must be given.", "schema": {"type": "string"}, "example": "2026-11-20T06:00:00Z"},
"points": {"description": "How many rows there may be.", "schema": {"type": "integer", "minimum": 1, "maximum": 5000, "default": 1500}, "example": 1000},
"listSignals stationcode": {"description": "The code of the station.", "required": true, "schema": {"type": "string"}, "example": "PACK-1"},
"listSignals from": {"description": "Begin of the range: a time, or a date for its production day. It or rangecode must be given.", "schema": {"type": "string"}, "example": "2026-11-20T08:15:00Z"},
"listSignals limit": {"description": "How many to give at most.", "schema": {"type": "integer", "minimum": 1, "maximum": 10000, "default": 1000}, "example": 500},
"writeSchedule dryrun": {"description": "Check, and answer as it would be; store nothing.", "schema": {"type": "boolean", "default": false}, "example": true},
"moveSchedule dryrun": {"description": "Check, and answer as it would be; store nothing.", "schema": {"type": "boolean", "default": false}, "example": true},
"getStandstill stationcode": {"description": "The code of the station.", "required": true, "schema": {"type": "string"}, "example": "PACK-1"},
"getStandstill from": {"description": "Begin of the range: a time, or a date for its production day. It or rangecode must be given.", "schema": {"type": "string"}, "example": "2026-11-20T06:00:00Z"},
"getStandstill limit": {"description": "How many stretches to tell one by one: the longest.", "schema": {"type": "integer", "minimum": 1, "maximum": 10000, "default": 10000}, "example": 1000},
"listWindows limit": {"description": "How many to give at most.", "schema": {"type": "integer", "minimum": 1, "maximum": 100000, "default": 1000}, "example": 1440}
}`

const (
	backupSample   = `{"name":"app-20261120T013000Z.backup","madeAt":"2026-11-20T01:30:00.000Z","bytes":1846211,"origin":"scheduled","encrypted":false,"app":"1.0.0","problem":""}`
	overviewSample = `{"folder":"/var/lib/app/backups","scheduled":true,"lastAt":"2026-11-20T01:30:00.000Z","nextAt":"2026-11-21T01:30:00.000Z","running":false,"overdue":false,"problem":"","restore":null,"backups":[` + backupSample + `]}`
	statusSample   = `{"stationCode":"PACK-1","name":"Packer 1","plantCode":"leeds","groupCode":"packing","statusCode":"downtime","statusCodeUpdatedAt":"2026-11-20T08:15:30.000Z","isAlive":true,"currentOperatorInitials":"ABC","currentOperatorSince":"2026-11-20T06:02:11.000Z","alertMessage":null,"alertExpiresAt":null,"lineSpeed":null,"lineSpeedTarget":null,` +
		`"schedule":{"id":"s7xk2v9m4q6w","skuCode":"BOWL","reasonCode":null,"workOrderReference":"WO-20417","plannedQuantity":4800,"goodCount":1212,"badCount":7,"idealCount":1350.5,"targetCount":1275,"countedByHand":false},"nonProductionSchedule":null,"issues":[{"id":"PACK-1.stop-1795680930000","type":"stop","startAt":"2026-11-20T08:15:30.000Z","causeCode":null}],"shift":` + soFarSample + `,"archived":false,"sequence":41827}`
	soFarSample = `{"name":"Early","startAt":"2026-11-20T06:00:00.000Z","endAt":"2026-11-20T14:00:00.000Z","until":"2026-11-20T08:15:00.000Z","availability":{"value":0.944,"numerator":7647000,"denominator":8100000},"performance":{"value":0.956,"numerator":1219,"denominator":1275},` +
		`"quality":{"value":0.994,"numerator":1212,"denominator":1219},"oee":{"value":0.897,"numerator":0.897,"denominator":1},"coverage":{"value":1,"numerator":8100000,"denominator":8100000},` +
		`"goodCount":1212,"badCount":7,"idealCount":1350.5,"targetCount":1275,"scheduledProductionMs":8100000,"downtimeMs":453000,"productiveMs":7380000}`
	noteSample       = `{"stationCode":"PACK-1","currentOperatorInitials":"ABC","currentOperatorSince":"2026-11-20T06:02:11.000Z","alertMessage":"Maintenance at 14:00","alertExpiresAt":"2026-11-20T14:00:00.000Z"}`
	correctionSample = `{"id":"3","createdAt":"2026-11-20T08:15:30.123Z","author":"it@acme.example","note":"The threshold was meant to be two minutes","stationCodes":["PACK-1"],"from":"2026-11-16T06:00:00.000Z","to":"2026-11-20T06:00:00.000Z",` +
		`"changes":{"station":{"utilisationDowntimeThreshold":120000}},"undoneAt":null,"undoneBy":null}`
	effectSample = `{"correction":null,"effects":[{"stationCode":"PACK-1","day":"2026-11-16",` +
		`"before":{"scheduledProductionMs":28800000,"downtimeMs":0,"goodCount":6120,"badCount":40,"targetCount":7200,"availability":1,"performance":0.8556,"quality":0.9935,"oee":0.85,"coverage":1},` +
		`"after":{"scheduledProductionMs":28800000,"downtimeMs":2880000,"goodCount":6120,"badCount":40,"targetCount":6480,"availability":0.9,"performance":0.9506,"quality":0.9935,"oee":0.85,"coverage":1}}],"complete":true,"computing":[]}`
	keySample   = `{"id":"k3v9x2m7q4ab","name":"ERP export","email":"planner@acme.example","role":"readonly","createdAt":"2026-11-20T08:15:30.123Z","lastUsedAt":"2026-11-21T06:00:02.040Z","expiresAt":null}`
	userSample  = `{"email":"planner@acme.example","role":"member","createdAt":"2026-11-20T08:15:30.123Z"}`
	applySample = `{"revision":4,"changed":true,"totalChanges":1,"changes":[{"path":"stations[PACK-1].name","kind":"changed","from":"Packer","to":"Packer 1"}],"warnings":[]}`
	linkSample  = `{"link":"https://plant.example/link#opl_7xk2v9m4q6w3p5z8c2b7n4t6r9y3h5j2","code":"04817","expiresAt":"2026-11-20T08:30:30.123Z","email":"planner@acme.example","role":"member","account":"acme","from":"192.0.2.17"}`
	taskSample  = `{"id":"PACK-1.mqwkm4g0.0","stationCode":"PACK-1","state":"pending","trigger":"cron","taskCode":"WALK","title":"Walk round the machine","description":null,"requireNotes":true,"taskListCode":"ROUND","taskListName":"Round","order":1,"scheduleId":null,` +
		`"availableAt":"2026-11-20T07:30:00.000Z","deadlineAt":"2026-11-20T08:00:00.000Z","startedBy":null,"completedAt":null,"recordedAt":null,"completedBy":null,"note":null}`
	messageSample = `{"id":"PACK-1.mqwkm4g0.3","stationCode":"PACK-1","text":"The feeder jams with the blue film, run it at 80 %","initials":"ABC","shiftName":"Early","at":"2026-11-20T13:50:00.000Z","recordedAt":"2026-11-20T13:50:00.212Z","doneAt":null,"doneBy":null,"doneRecordedAt":null}`
	profileSample = `{"email":"planner@acme.example","exp":"9999-12-31T23:59:59.000Z","userRole":"customer","accountId":"acme","role":"member","featureFlags":["enableTasks"],"type":"apiKey",` +
		`"accounts":[{"role":"member","accountId":"acme","domain":"acme.example"}],"apiKey":"opk_9m4q6w3p5z8c2b7n4t6r9y3h5j2k7x","account":{"id":"acme","domain":"acme.example","enableLostProductionCost":false,"dashboardConfig":{}}}`
)

// applianceSample is the example of an appliance with something to look into.
const applianceSample = `{"version":"1.0.0","commit":"4b17c2a9d0e5f3861b7a9c2d4e6f80a1b3c5d7e9","platform":"linux/amd64","startedAt":"2026-11-20T06:00:01.250Z","hostName":"plantpc","name":"opsmon.local","dataDir":"/var/lib/app","url":"https://opsmon.local:8443","urls":["https://opsmon.local:8443","https://192.0.2.20:8443"],` +
	`"listen":[{"setting":"listen","address":"[::]:8443","tls":true},{"setting":"clearListen","address":"[::]:8080","tls":false}],"tls":"auto",` +
	`"certificate":{"endsAt":"2027-12-22T08:15:30.000Z","fingerprint":"3F:8A:01:5C:77:E2:90:4B:1D:66:AF:23:C8:59:04:BE:92:7D:E1:30:5A:F4:88:6C:0B:D7:19:A3:42:FE:65:9C","problems":[],"hosts":["opsmon.local","192.0.2.20"],"authority":{"name":"opsmon CA 3F8A","endsAt":"2036-11-17T08:15:30.000Z","pem":"-----BEGIN CERTIFICATE-----\n","pages":["http://opsmon.local:8080/trust"]},"daysLeft":397},` +
	`"store":{"bytes":1048576,"free":65536,"version":12,"full":false},"disk":{"free":9663676416,"total":120034123776},` +
	`"backup":{"settings":{"at":"01:30","every":1,"keepDaily":7,"keepWeekly":4,"keepMonthly":6,"maxBytes":0},"fixed":{"at":"APP_BACKUP_AT"},"folder":"/var/lib/app/backups","encrypted":false,"running":false,"lastAt":"2026-11-20T01:30:00.000Z","lastName":"app-20261120T013000Z.backup","lastBytes":1846211,"nextAt":"2026-11-21T01:30:00.000Z","overdue":false,"problem":""},` +
	`"retention":{"signalDays":400,"windowDays":3653,"auditDays":400},"clock":{"now":"2026-11-20T08:15:30.123Z","zone":"GMT +00:00","believed":true,"devicesAhead":0},"counts":{"accounts":1,"users":9,"tablets":4,"devices":12},` +
	`"warnings":[{"code":"disk","severity":"problem","message":"the disk of /var/lib/app has 9.0 GiB free of 111 GiB: below 10 % no scheduled backup is made, and when it is full nothing can be saved","action":"On the machine: make room: du -xh --max-depth=2 / | sort -h | tail"}]}`

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

// operations has an entry for each route of the table, and nothing else.
var operations = map[string]operation{
	"GET /account": {
		id: "getAccount", tag: "Account", summary: "Read the account with its whole configuration",
		about:  "Fields that are not set are null. `warehousePassword` is shown to admins only. The entity tag holds the number of the configuration's revision: send it as `If-Match` with a change.",
		answer: "The account.", form: formResult, gives: "Account", tagged: true, also: []int{400, 409},
	},
	"POST /account": {
		id: "updateAccount", tag: "Account", summary: "Change fields of the account", role: auth.Member,
		about: "What is absent stays as it is, null clears. A body that changes nothing is a success and makes no revision. `dashboardConfig` is sent as text that holds a JSON object. The change is seen in the manifest at once.\n\n" +
			"409: the configuration has another revision than `If-Match` says, or the account is archived.",
		answer: "The account as it is now, without its manifest.", body: schema.AccountUpdate, form: formResult, gives: "UpdatedAccount", match: true, also: []int{409},
	},
	"GET /account/manifest": {
		id: "getManifest", tag: "Account", summary: "Read the manifest alone",
		about:  "The document as a file to keep or to edit: no envelope, the order of lists and the digits of numbers as they were sent. It holds no secret.",
		answer: "The manifest.", form: formBare, gives: "Manifest", tagged: true,
	},
	"PUT /account/manifest": {
		id: "applyManifest", tag: "Account", summary: "Replace the manifest", role: auth.Member,
		about: "The document is the whole wanted state: a field that it lacks is unset. It is checked first, and all problems are listed at once. Equal content makes no revision. With `dryrun=true` nothing is written and the answer tells what would change.\n\n" +
			"`id` and `domain` must be the account's own; fields that the system keeps are ignored. 409: they are another account's, there are more stations than `stationCountLimit` allows, the configuration has another revision than `If-Match` says, or the account is archived.",
		answer: "What changed.", body: schema.Manifest, form: formResult, gives: "ApplyResult", sample: applySample, match: true, also: []int{409},
	},
	"GET /account/manifest/revisions": {
		id: "listRevisions", tag: "Account", summary: "List the revisions of the configuration",
		about:  "Every accepted change is a revision, newest first. None is ever overwritten.",
		answer: "A page of revisions.", form: formPage, gives: "Revision", sample: `{"revision":3,"createdAt":"2026-11-20T08:15:30.123Z","author":"planner@acme.example","note":"third packing line"}`, also: []int{400},
	},
	"GET /account/manifest/revisions/:revision": {
		id: "getRevision", tag: "Account", summary: "Read the manifest of a revision",
		about:  "The document as it was, without an envelope.",
		answer: "The manifest of that revision.", form: formBare, gives: "Manifest", tagged: true, also: []int{404},
	},
	"GET /account/manifest/revisions/:revision/changes": {
		id: "compareRevisions", tag: "Account", summary: "Compare a revision with another",
		about:  "What makes the revision `from`, without it the one before, into this one, in the terms in which `PUT /account/manifest` tells what it changes. `from` may be the later one: then it is what going back would change.",
		answer: "The changes.", form: formResult, gives: "Difference", sample: `{"from":3,"to":4,"totalChanges":1,"changes":[{"path":"stations[PACK-1].name","kind":"changed","from":"Packer","to":"Packer 1"}]}`, also: []int{400, 404},
	},
	"POST /account/manifest/revisions/:revision/restore": {
		id: "restoreRevision", tag: "Account", summary: "Apply an earlier revision again", role: auth.Member,
		about:  "The manifest of that revision becomes a new revision. It is checked as any other one is.\n\n409: as for `PUT /account/manifest`.",
		answer: "What changed.", form: formResult, gives: "ApplyResult", sample: applySample, match: true, also: []int{404, 409},
	},
	"GET /directory": {
		id: "getDirectory", tag: "Account", summary: "What codes mean",
		about:  "The names of plants, groups, stations, SKUs and reasons, the shift patterns that stations follow, and what it takes to show times and money: what pages need beside the figures, without the whole manifest.",
		answer: "The names.", form: formResult, gives: "Directory", sample: `{"revision":7,"currency":"GBP","durationFormat":"months","plants":[{"code":"north","name":"North","timezone":"Europe/London","dayStartHour":6,"weekStartDay":0,"groups":[{"code":"packing","name":"Packing","stations":[{"code":"PACK-1","name":"Packer 1","shiftPatternCode":"day"}]}]}],"shiftPatterns":[{"code":"day","title":"Day shift","shifts":[{"name":"Day","startHour":6,"duration":8,"weekDay":"1"}]}],"skus":[{"code":"BOWL","name":"Bowl"}],"reasons":[{"code":"JAM","name":"Jam","parent":null}]}`,
	},
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
		about:  "Of a SKU with allowUseInQuickSchedule, or of a reason for non-production.\n\n403: enableQuickScheduleStart is off at the station. 409: another of its kind runs.",
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

	"GET /station-window": {
		id: "listWindows", tag: "Monitoring", summary: "What stations did, minute by minute",
		about: "A row for each station and whole minute, or hour, shift or day, in order of stations and time, from when on something is known of the station up to now. The classes of time add up to `totalMs`. A minute is made within two seconds of its end, and made again when something arrives late. " +
			"A shift is one row even where it goes on over midnight; what the range cuts off is left out.",
		answer: "A page of windows.", form: formPage, gives: "StationWindow", sample: `{"stationCode":"PACK-1","windowStartAt":"2026-11-20T08:00:00.000Z","windowEndAt":"2026-11-20T09:00:00.000Z","totalMs":3600000,"shiftMs":3600000,"scheduledProductionMs":3600000,"scheduledNonProductionMs":0,"outOfShiftMs":0,"noDataMs":0,"downtimeMs":600000,"slowMs":120000,"productiveMs":2800000,"idleMs":80000,"downtimeSince":"2026-11-20T08:15:30.000Z","productionGoodCount":2820,"productionBadCount":12,"productionIdealCount":3600,"productionTargetCount":3000,"lineSpeedAvg":58.2,"lineSpeedTarget":60,"electricalKwh":4.72,"electricalKnownMs":3600000,"rssiAvg":-61,"isAlive":true,"scheduleIds":["s7xk2v9m4q6w"],"issueIds":["PACK-1.stop-1795680930000"],"reasonCodes":["JAM"],"errorCodes":["E17"],"skuCode":"BOWL","manifestRevision":3,"shiftName":null}`, also: []int{400},
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
		about: "Meters, and stations that are only scheduled, count where they are named one by one. Ratios are made of sums and never averaged: a group's are those of its stations' terms. They are not cut off at 1; above it `aboveOne` says so, with the likely cause. An empty denominator gives null. Time without data is in no term, and `coverage` says how much of the scheduled production is known. " +
			"The time is today where none is given; buckets of time are whole even where the range cuts them.",
		answer: "The figures, by what was asked for.", form: formList, gives: "OEE", sample: `{"plantCode":"leeds","groupCode":"packing","stationCode":"PACK-1","skuCode":null,"shiftName":null,"startAt":"2026-11-20T08:00:00.000Z","endAt":"2026-11-20T09:00:00.000Z","profile":"default","availability":{"value":0.8333333333333334,"numerator":3000000,"denominator":3600000},"performance":{"value":0.944,"numerator":2832,"denominator":3000},"quality":{"value":0.9957627118644068,"numerator":2820,"denominator":2832},"oee":{"value":0.7833333333333334,"numerator":0.7833333333333334,"denominator":1},"coverage":{"value":1,"numerator":3600000,"denominator":3600000},"totalMs":3600000,"shiftMs":3600000,"scheduledProductionMs":3600000,"scheduledNonProductionMs":0,"outOfShiftMs":0,"noDataMs":0,"downtimeMs":600000,"slowMs":120000,"productiveMs":2800000,"idleMs":80000,"excludedMs":0,"productionGoodCount":2820,"productionBadCount":12,"productionOtherCount":0,"productionIdealCount":3600,"productionTargetCount":3000,"losses":{"schedule":{"ms":0,"units":null,"money":0,"moneyPartial":false},"plannedNonProduction":{"ms":0,"units":null,"money":0,"moneyPartial":false},"downtime":{"ms":600000,"units":600,"money":300,"moneyPartial":false},"speed":{"ms":168000,"units":168,"money":84,"moneyPartial":false},"quality":{"ms":12000,"units":12,"money":6,"moneyPartial":false}}}`, also: []int{400},
	},
	"GET /energy": {
		id: "getEnergy", tag: "Monitoring", summary: "Energy, its cost and its CO2",
		about:  "By the account's prices and factors of that time. What nobody measured is null, never 0; a sum that has only a part says so by its `coverage`, the share of the stations' time that its energy is of. A group's or a plant's energy is that of its stations, or of its `totalEnergyStationCodes` where they are set and all of it is asked for. The time is today where none is given.",
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
		sample: `{"before":{"figures":{"scheduledProductionMs":28800000,"downtimeMs":3600000,"goodCount":24120,"badCount":96,"targetCount":25200,"availability":0.875,"performance":0.961,"quality":0.996,"oee":0.8377,"coverage":1},"stops":{"count":4,"totalMs":3600000,"histogram":[{"fromMs":0,"toMs":1000,"count":0,"totalMs":0},{"fromMs":28800000,"toMs":null,"count":0,"totalMs":0}]}},"after":{"figures":{"scheduledProductionMs":28800000,"downtimeMs":5400000,"goodCount":24120,"badCount":96,"targetCount":23400,"availability":0.8125,"performance":1.0349,"quality":0.996,"oee":0.8377,"coverage":1},"stops":{"count":31,"totalMs":5400000,"histogram":[{"fromMs":0,"toMs":1000,"count":0,"totalMs":0},{"fromMs":28800000,"toMs":null,"count":0,"totalMs":0}]}}}`,
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
	"GET /auth/profile": {
		id: "getProfile", tag: "Authenticate", summary: "Who is behind this request",
		about:  "The identity, the account that requests work on, the role in it, and the other accounts of the same person.",
		answer: "The profile.", form: formResult, gives: "Profile", sample: profileSample, also: []int{400, 409},
	},
	"GET /auth/callback": {
		id: "callback", tag: "Authenticate", summary: "Use a one-time link",
		about:  "Uses the token up and signs the calling browser in: the cookie `session` is set. It changes something although it is a `GET`, so `HEAD` is 405, and calls from other sites are refused.\n\n403: the link is unknown or has expired. 409: it was used before.",
		answer: "Signed in.", form: formDone, also: []int{400, 403, 409, 429},
	},
	"POST /auth/login": {
		id: "login", tag: "Authenticate", summary: "Ask for a one-time link",
		about:  "A link goes to the address by mail, or waits for an administrator where no mail is set up. The answer's `code` is five digits to compare with those in the message. The cookie `login` lets this browser be let in later.\n\n403: the address is no user of any account here, nor on the domain of one.",
		answer: "A link is on its way.", body: schema.Login, form: formBare, also: []int{403, 409, 429},
		gives:  "LoginAnswer",
		sample: `{"code":"04817","success":true,"result":{"email":"planner@acme.example","exp":"2026-11-20T08:30:30.123Z","userRole":"customer","accountId":"acme","role":"readonly","featureFlags":[],"type":"login"}}`,
	},
	"POST /auth/logout": {
		id: "logout", tag: "Authenticate", summary: "End the session",
		about:  "Ends the session that calls and clears its cookie. With an API key it is a success and revokes nothing.",
		answer: "Signed out.", form: formDone, also: []int{409},
	},
	"POST /auth/approve": {
		id: "approve", tag: "Authenticate", summary: "Let the waiting browser in",
		about:  "For a link that was opened in another browser than the one that asked: the token is used up, and the browser that shows the five digits may call `POST /auth/claim`. Five wrong codes end the link.\n\n403: the link is unknown or has expired, or the code is wrong. 409: it was used before, or no browser waits.",
		answer: "The waiting browser may come in.", body: schema.Approve, example: `{"token":"opl_7xk2v9m4q6w3p5z8c2b7n4t6r9y3h5j2","code":"04817"}`, form: formDone, also: []int{403, 409, 429},
	},
	"POST /auth/claim": {
		id: "claim", tag: "Authenticate", summary: "Come in after being approved",
		about:  "For the browser that asked, by its cookie `login`: once its link was used to let it in, it gets its session, once.\n\n403: it did not ask, or its request has expired. 409: nobody has let it in yet.",
		answer: "Signed in.", form: formDone, security: `[{"LoginCookie":[]}]`, also: []int{400, 403, 409, 429},
	},
	"POST /auth/account": {
		id: "switchAccount", tag: "Authenticate", summary: "Enter another account",
		about:  "For a session of a person with several accounts: later requests work on the one named, and the next sign-in enters it.\n\n403: the person is no member of it, or the caller is no session.",
		answer: "The session is in that account now.", body: schema.AccountSwitch, form: formDone, security: `[{"SessionCookie":[]}]`,
	},

	"GET /session": {
		id: "listSessions", tag: "Authenticate", summary: "List where you are signed in",
		about:  "Browsers with a session, used last first. A session that an administrator's link made for one account, and an API key, are shown those of that account alone.",
		answer: "The sessions.", form: formList, gives: "SignedIn",
		sample: `{"id":"t5r9y3h5j2k7","current":true,"accountId":"acme","address":"192.0.2.17","createdAt":"2026-11-18T07:02:11.480Z","lastUsedAt":"2026-11-20T08:00:00.000Z","expiresAt":"2026-12-20T08:00:00.000Z"}`,
	},
	"DELETE /session": {
		id: "endSessions", tag: "Authenticate", summary: "Sign out everywhere",
		about:  "Ends what `GET /session` lists; with `keepthis=true` all but the session that asks. API keys stay.",
		answer: "How many have ended.", form: formResult, gives: "EndedSessions", sample: `{"ended":2}`,
	},
	"DELETE /user/:email/session": {
		id: "endUserSessions", tag: "User", summary: "Sign a user out everywhere",
		about:  "Ends the user's sessions in the caller's account. API keys stay, and the user may sign in again.",
		answer: "How many have ended.", form: formResult, gives: "EndedSessions", sample: `{"ended":2}`, also: []int{404, 409},
	},
	"GET /key": {
		id: "listKeys", tag: "ApiKey", summary: "List API keys",
		about:  "The caller's own keys; an admin's list has the whole account's. Never the keys themselves.",
		answer: "The keys, oldest first.", form: formList, gives: "Key", sample: keySample,
	},
	"POST /key": {
		id: "createKey", tag: "ApiKey", summary: "Issue an API key",
		about:  "The key has the caller's identity and at most its role. It works from the moment of the answer, and it is shown in this answer only. The body may be left out.\n\n403: the wanted role is above the caller's. 409: the account is archived.",
		answer: "The new key.", body: schema.KeyCreate, optional: true, form: formResult, gives: "NewKey", sample: `{"key":"opk_9m4q6w3p5z8c2b7n4t6r9y3h5j2k7x"}`, location: true, also: []int{409},
	},
	"DELETE /key/:key": {
		id: "revokeKey", tag: "ApiKey", summary: "Revoke an API key",
		about:  "Dead from the moment of the answer, on every connection. Also a success when it was revoked before. Everyone revokes their own keys, an admin every key of the account.\n\n400: it never was a key.",
		answer: "Revoked.", form: formEmpty, also: []int{409},
	},

	"GET /user": {
		id: "listUsers", tag: "User", summary: "List the users of the account",
		about:  "Those who were added. People on the account's domain who were never added may sign in as `readonly` and are not listed.",
		answer: "The users, by address.", form: formList, gives: "User", sample: userSample,
	},
	"POST /user": {
		id: "addUser", tag: "User", summary: "Add a user",
		about:  "409: the address is a user already, or the account is archived.",
		answer: "The new user.", body: schema.UserCreate, form: formResult, gives: "User", sample: userSample, location: true, also: []int{409},
	},
	"GET /user/:email": {
		id: "getUser", tag: "User", summary: "Read a user",
		answer: "The user.", form: formResult, gives: "User", sample: userSample, also: []int{400, 404},
	},
	"PUT /user/:email": {
		id: "setUserRole", tag: "User", summary: "Change a user's role",
		about:  "In force at once for every session and key of the user. Somebody on the account's domain who was never added is added.\n\n409: nobody would be left as an admin, or the account is archived.",
		answer: "The user as it is now.", body: schema.UserUpdate, form: formResult, gives: "User", sample: `{"email":"planner@acme.example","role":"supervisor","createdAt":"2026-11-20T08:15:30.123Z"}`, also: []int{404, 409},
	},
	"DELETE /user/:email": {
		id: "removeUser", tag: "User", summary: "Remove a user",
		about:  "Ends every key and session of the user at once. On the account's domain too, the address is refused until it is added again.\n\n409: nobody would be left as an admin, or the account is archived.",
		answer: "Removed.", form: formEmpty, also: []int{404, 409},
	},
	"GET /login-request": {
		id: "listLoginRequests", tag: "Authenticate", summary: "List who waits to be let in",
		about:  "Requests to sign in whose link was not used yet, of people of this account.",
		answer: "The requests, newest first.", form: formList, gives: "LoginRequest",
		sample: `{"code":"04817","email":"planner@acme.example","role":"member","accountId":"acme","address":"192.0.2.17","createdAt":"2026-11-20T08:15:30.123Z","expiresAt":"2026-11-20T08:30:30.123Z"}`,
	},
	"POST /login-request/:code/link": {
		id: "createLoginLink", tag: "Authenticate", summary: "Make the link of a waiting request",
		about:  "For plants without mail: a link to hand over. An earlier link of the same request stops working. The link opens this account and no other.\n\n409: the account is archived.",
		answer: "The link.", form: formResult, gives: "Link", sample: linkSample, also: []int{404, 409},
	},
	"GET /tablet": {
		id: "listTablets", tag: "Admin", summary: "List the tablets",
		about:  "Also those that have not been paired yet.",
		answer: "The tablets, by name.", form: formList, gives: "Tablet",
		sample: `{"id":"w7p2m5x3c6zd","name":"Packing hall","email":"tablet:packing-hall@acme.example","role":"operator","stationCodes":["PACK-1","PACK-2"],"createdAt":"2026-11-20T08:15:30.123Z","pairedAt":null,"lastUsedAt":null}`,
	},
	"POST /tablet": {
		id: "pairTablet", tag: "Admin", summary: "Add a tablet",
		about:  "Gives a one-time link to open on the tablet within 15 minutes. It is signed in there with its own identity, bound to its stations.\n\n409: another tablet has the name, or the account is archived.",
		answer: "The tablet and its link.", body: schema.TabletCreate, form: formResult, gives: "TabletLink", location: true, also: []int{409},
		sample: `{"id":"w7p2m5x3c6zd","link":"https://plant.example/link#opl_7xk2v9m4q6w3p5z8c2b7n4t6r9y3h5j2","expiresAt":"2026-11-20T08:30:30.123Z"}`,
	},
	"DELETE /tablet/:id": {
		id: "removeTablet", tag: "Admin", summary: "Remove a tablet",
		about:  "Its session and its link end at once.\n\n409: the account is archived.",
		answer: "Removed.", form: formEmpty, also: []int{404, 409},
	},
	"GET /device": {
		id: "listDevices", tag: "Signal", summary: "List the devices",
		about:  "With what is known of each: when it last sent, how much, how fast, what was wrong, and whether its clock is right. It is kept through restarts of the service.",
		answer: "The devices, by name.", form: formList, gives: "Device",
		sample: `{"id":"acme/press-gateway","name":"press-gateway","stationCodes":["PACK-1","PACK-2"],"createdAt":"2026-11-20T08:15:30.123Z","lastSeenAt":"2026-11-21T06:00:02.040Z","accepted":81204,"refused":1,"throttled":0,"signalsPerSecond":0.2,"clockAheadMs":0,"lastIssue":"rssi must be a number","lastIssueAt":"2026-11-20T17:31:09.412Z","connections":1}`,
	},
	"POST /device": {
		id: "addDevice", tag: "Signal", summary: "Add a device",
		about:  "A device may send the signals of its stations and nothing else. Its token is shown once; it goes into `X-API-KEY`, or over MQTT into the password, with the id as user name.\n\n409: another device has the name, or the account is archived.",
		answer: "The device's id and token.", body: schema.DeviceCreate, form: formResult, gives: "DeviceToken", location: true, also: []int{409},
		sample: `{"id":"acme/press-gateway","token":"opd_7xk2v9m4q6w3p5z8c2b7n4t6r9y3h5j2"}`,
	},
	"DELETE /device/:device": {
		id: "revokeDevice", tag: "Signal", summary: "Revoke a device",
		about:  "Its token is dead, and connections that it has open end at once.\n\n409: the account is archived.",
		answer: "Revoked.", form: formEmpty, also: []int{404, 409},
	},
	"GET /signal": {
		id: "listSignals", tag: "Signal", summary: "List what was sent of a station",
		about:  "Every signal that was taken, as it is kept, the oldest first. A range may have a day: 25 hours where the clock goes back.",
		answer: "A page of signals.", form: formPage, gives: "SignalLine", also: []int{400},
		sample: `{"at":"2026-11-20T08:15:30.123Z","arrivedAt":"2026-11-20T08:15:30.320Z","source":"device:acme/press-gateway","id":"81723","clockCorrected":false,"values":{"productive":true,"productionCountGood":48211,"electricalKw":4.2}}`,
	},
	"POST /signal": {
		id: "sendSignals", tag: "Signal", summary: "Send signals of machines",
		about:  "For devices, members and admins. What is accepted is durable when this is answered. A signal that cannot be taken does no harm to the others: what is no object, an unknown station, a wrong value, a time before what is kept. One that is more than two minutes in the future is taken at its arrival.\n\nBodies may have 4 MiB.\n\n409: the account is archived. 429: more signals come from this credential than it may send; send the same again after `Retry-After`.",
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
			"The stream ends after an hour, when the credential is revoked or expires, when the role behind it changes, and when the service stops: connect again. A client that does not read is cut off.\n\n429: too many streams are open with this credential. 503: too many are open in all.",
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
	"GET /appliance": {
		id: "getAppliance", tag: "Admin", summary: "How the appliance is",
		about: "What runs since when and where, the certificate, the store and its disk, backups, how long things are kept, the clock, and what needs a person. `warnings` has the codes `backup`, `noSchedule`, `certificate`, `clock`, `clockDoubted`, `timeZone`, `deviceClocks`, `disk`, `storeFull`, `plantBroker` and `address`; more may come. " +
			"Users, tablets and devices are counted in the caller's account.",
		answer: "The appliance.", form: formResult, gives: "Appliance", sample: applianceSample,
	},
	"PUT /appliance/backup-settings": {
		id: "changeBackups", tag: "Admin", summary: "Change how scheduled backups are made",
		about: "What is absent stays as it is. It holds at once, and in `app.yaml`, whose comments and order stay, for later starts. A backup that is due by the new settings is made soon.\n\n" +
			"409: a flag or a variable gives the setting, which counts before `app.yaml`; or that file cannot be changed as it stands; or the account is archived.",
		answer: "How they are made now.", body: schema.BackupSettings, form: formResult, gives: "ApplianceBackup", also: []int{409},
		sample: `{"settings":{"at":"02:15","every":1,"keepDaily":14,"keepWeekly":4,"keepMonthly":6,"maxBytes":0},"fixed":{},"folder":"/var/lib/app/backups","encrypted":false,"running":false,"lastAt":"2026-11-20T01:30:00.000Z","lastName":"app-20261120T013000Z.backup","lastBytes":1846211,"nextAt":"2026-11-21T02:15:00.000Z","overdue":false,"problem":""}`,
	},
	"GET /appliance/log": {
		id: "getLog", tag: "Admin", summary: "Read what the service logged",
		about: "Lines of the last day, newest first, as far as there is room for them in memory: at most 10,000, of which half are for warnings and errors alone, and 4 MiB. A restart begins anew; the machine's own log has the rest. It holds no secret. " +
			"For the lines before those of an answer ask again with `before` and the id of its last one.",
		answer: "Lines of the log.", form: formList, gives: "LogLine", also: []int{400},
		sample: `{"id":1795162530124,"at":"2026-11-20T01:30:02.114Z","level":"info","message":"backup made","attributes":{"file":"/var/lib/app/backups/app-20261120T013000Z.backup","bytes":1846211}}`,
	},
	"GET /audit": {
		id: "listAudit", tag: "Admin", summary: "List what was changed, by whom",
		about:  "Every change is a record, newest first. With `search`, `action`, `from` or `to` records are searched for: one request looks at 50,000 of them, and says in `paging.before` where the next one goes on.",
		answer: "A page of records.", form: formPage, gives: "AuditRecord", also: []int{400},
		sample: `{"seq":812,"at":"2026-11-20T08:15:30.123Z","accountId":"acme","actor":{"email":"planner@acme.example","credential":"key:k3v9x2m7q4ab","address":"192.0.2.17"},"action":"manifest.apply","target":"acme","detail":{"revision":"4","changes":"1","note":""}}`,
	},
	"GET /audit/export": {
		id: "exportAudit", tag: "Admin", summary: "Export the audit as CSV",
		about:  "A file by RFC 4180 with the names of the columns in its first line, sent while it is made, newest record first; the detail as JSON. Texts that a spreadsheet would take for a formula have an apostrophe before them. A connection that is cut means that rows are missing.",
		answer: "The records.", form: formTable, sample: "seq,at,email,credential,address,action,target,detail\r\n812,2026-11-20T08:15:30.123Z,planner@acme.example,key:k3v9x2m7q4ab,192.0.2.17,key.create,planner@acme.example,\r\n", also: []int{400},
	},
	"GET /backup": {
		id: "getBackups", tag: "Admin", summary: "What backups there are, and how they are doing",
		about:  "Every backup that was made here was verified when it got its name; an encrypted one from elsewhere is when it is verified or restored. `problem` says why the newest scheduled one failed, or that it is overdue. `restore` tells of the restore that was begun last.",
		answer: "The folder, its backups with the newest first, and the newest restore.", form: formResult, gives: "BackupOverview", sample: overviewSample, also: []int{503},
	},
	"POST /backup": {
		id: "makeBackup", tag: "Admin", summary: "Make a backup now",
		about:  "Into the folder, encrypted like the scheduled ones. The service goes on meanwhile. The answer comes when the backup is verified.",
		answer: "The backup.", form: formResult, gives: "Backup", sample: backupSample, location: true, also: []int{409},
	},
	"GET /backup/:name": {
		id: "downloadBackup", tag: "Admin", summary: "Fetch a backup",
		answer: "The file.", form: formFile, also: []int{404},
	},
	"PUT /backup/:name": {
		id: "uploadBackup", tag: "Admin", summary: "Bring a backup from elsewhere",
		about:  "Puts it into the folder, so that it can be restored: the way to another PC. Its checksums are compared; those of an encrypted one when it is verified or restored.",
		answer: "The backup.", upload: true, form: formResult, gives: "Backup", sample: backupSample, also: []int{409},
	},
	"DELETE /backup/:name": {
		id: "deleteBackup", tag: "Admin", summary: "Remove a backup",
		about:  "The newest scheduled one stays: 409.",
		answer: "It is gone.", form: formEmpty, also: []int{404, 409},
	},
	"POST /backup/:name/verify": {
		id: "verifyBackup", tag: "Admin", summary: "Verify a backup",
		about:  "Reads every byte of it, and opens, checks and counts the store in it. A damaged one is 409, with the part that is.",
		answer: "It is whole, and this is in it.", body: schema.BackupVerify, optional: true, form: formResult, gives: "VerifiedBackup",
		sample: `{"name":"app-20261120T013000Z.backup","madeAt":"2026-11-20T01:30:00.000Z","app":"1.0.0","counts":{"account":1,"audit":812,"authKey":4,"authUser":9,"revision":31},"files":["app.yaml"],"omitted":["tls/ca.key"]}`,
		also:   []int{404, 409},
	},
	"POST /backup/:name/restore": {
		id: "restoreBackup", tag: "Admin", summary: "Put a backup in the place of the store",
		about:  "All that was changed after the backup is lost, in all accounts. It is verified first; then requests get 503 for a moment. API keys stay valid as they were in the backup; sessions, one-time links and tablets end. What was there before is kept, and comes back by itself when the service does not get ready. `GET /backup` tells how it goes.",
		answer: "It has begun.", body: schema.BackupRestore, form: formResult, gives: "Restore", also: []int{404, 409},
		sample: `{"name":"app-20261120T013000Z.backup","state":"running","startedAt":"2026-11-20T08:15:30.123Z","endedAt":null,"error":"","result":null}`,
	},
	"POST /setup": {
		id: "setUp", tag: "Admin", summary: "Make the first account",
		about:  "On an empty appliance only, which `GET /ready` tells by `result.needsSetUp`. The one-time code is shown on the machine that runs the service. With `plant` the configuration begins with a plant of that name, with so many groups and stations to be renamed; with `signIn` the answer sets the cookie `session` and no API key is made. With `dryrun=true` everything is checked, the code too, and nothing is made.\n\n403: the code is wrong. 409: the appliance is set up already.",
		answer: "The account, its first admin and an API key.", body: schema.Setup, form: formResult, gives: "SetupResult",
		sample: `{"accountId":"acme","email":"planner@acme.example","apiKey":"opk_9m4q6w3p5z8c2b7n4t6r9y3h5j2k7x"}`, also: []int{403, 409, 429},
	},

	"GET /health": {
		id: "getHealth", tag: "Health Check", summary: "Is the process alive?",
		answer: "It is.", form: formDone,
	},
	"GET /ready": {
		id: "getReady", tag: "Health Check", summary: "Can requests be served?",
		about:  "503 while not. Why is told to admins and on the machine itself. When they can, these are told what else to watch: result.",
		answer: "They can.", form: formBare, gives: "Ready", security: `[{},{"ApiKeyAuth":[]}]`,
		sample: `{"isSuccess":true,"result":{"store":{"bytes":1048576,"free":65536,"full":false},"backup":null,"certificate":{"endsAt":"2027-12-22T08:15:30.000Z","fingerprint":"3F:8A:01:5C:77:E2:90:4B:1D:66:AF:23:C8:59:04:BE:92:7D:E1:30:5A:F4:88:6C:0B:D7:19:A3:42:FE:65:9C","problems":[]}}}`,
	},
	"GET /metrics": {
		id: "getMetrics", tag: "Health Check", summary: "Measurements for Prometheus",
		about:  "The text format of Prometheus. The key may come as a bearer token too.",
		answer: "The measurements.", form: formText, sample: "app_http_requests_total{method=\"GET\",route=\"/account\",status=\"2xx\"} 1024\n",
	},
	"GET /openapi.json": {
		id: "getOpenAPI", tag: "OpenAPI", summary: "This description",
		about:  "OpenAPI 3.1, made from the schemas that requests are checked against.",
		answer: "The document.", form: formBare, gives: "OpenAPIDocument", tagged: true,
	},
}

// stationSample is the example of a station's configuration, without its flags and settings.
const stationSample = `{"code":"PACK-1","name":"Packer 1","plant":{"code":"leeds","name":"Leeds","timezone":"Europe/London"},"group":{"code":"packing","name":"Packing"},"currentOperatorInitials":"ABC","statusCode":"productive","statusCodeUpdatedAt":"2026-11-20T08:15:30.123Z","alertMessage":null,"alertExpiresAt":null,` +
	`"flags":{},"reasons":[{"code":"BRK","name":"Breakdown","description":null,"type":["downtime"],"oee":null,"heading":false,"reasons":[]}],` +
	`"taskLists":[{"code":"START","name":"Before the first piece","description":null,"trigger":{"type":"schedule"},"tasks":[{"code":"CHECK","title":"Check the mould","description":null,"requireNotes":false,"order":1,"trigger":null}]}],` +
	`"shiftPattern":{"code":"day","title":"Day shift","shifts":[{"name":"Day","startHour":6,"duration":8,"weekDay":"1"}],"from":"group"},"skus":[{"code":"BK-1000","name":"Bread, 1 kg","allowUseInQuickSchedule":true}],"settings":{}}`
