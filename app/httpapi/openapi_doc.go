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
	"Send an API key in the header `X-API-KEY`. Browsers that signed in send the cookie `session` instead. The roles are `admin`, `member`, `supervisor`, `operator` and `readonly`, highest first; a role may do what those below it may. An `operator` is a tablet's role: it acts on the stations that the tablet is bound to, and on no other; a `supervisor` acts on all.\n\n" +
	"`GET` answers `HEAD` too, but for `/auth/callback`. A path that does not exist is 404, a method that a path does not take is 405 with `Allow`. Bodies may have 1 MiB, manifests 32 MiB, and 4 KiB where no credential is needed. A request whose `Host` is no name or address of the appliance is 421 (`misdirectedRequest`), but for `/health`. " +
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
"state": {"description": "Only schedules in these states (planned, running, completed, deleted), with commas between them; without it, all but those that were deleted.", "schema": {"type": "string"}, "example": "planned,running"},
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
"listIssues limit": {"description": "How many to give at most.", "schema": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 1000}, "example": 50},
"listWindows limit": {"description": "How many to give at most.", "schema": {"type": "integer", "minimum": 1, "maximum": 100000, "default": 100000}, "example": 1440}
}`

// operations has an entry for each route of the table, and nothing else.
var operations = together(accountOperations, floorOperations, figureOperations, applianceOperations)

// together joins the operations of several files. It panics when one is in two of them.
func together(files ...map[string]operation) map[string]operation {
	all := map[string]operation{}
	for _, file := range files {
		for name, op := range file {
			if _, twice := all[name]; twice {
				panic("httpapi: openapi: " + name + " has two texts")
			}
			all[name] = op
		}
	}
	return all
}
