package httpapi

import (
	"opsmon/schema"
)

// form is the format of a successful answer's body.
type form uint8

const (
	formDone   form = iota // {isSuccess: true}
	formResult             // {isSuccess: true, result}
	formList               // {isSuccess: true, results}
	formPage               // {isSuccess: true, results, paging}
	formBare               // the document itself
	formText               // not JSON
	formEmpty              // 204
	formFile               // the bytes of a file
	formEvents             // a stream of events
	formTable              // CSV
)

// operation is the text of a route in the OpenAPI document.
type operation struct {
	id, tag, summary string
	about            string // effects, in paragraphs
	answer           string // meaning of a success
	params           params
	security         string // "": by the route's access

	body     schema.Name // "": no body
	optional bool        // the body is optional
	example  string      // of the body; "": the schema's
	upload   bool        // the body is a file

	form   form
	gives  string // schema of the result, or of an item of the list
	sample string // example of the result

	also     []int // statuses besides those of every route of its kind
	tagged   bool  // answers carry an entity tag
	match    bool  // takes If-Match
	location bool  // answers carry Location
}

// params has parameters by name: those of only one operation, or with another meaning in it.
type params map[string]parameter

// parameter is a parameter of the path or of the query.
type parameter struct {
	about    string
	required bool   // required in the query
	schema   string // in JSON
	example  any
}

// tags are the groups of http-api.md section 1 with operations, in the order of that section.
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

// oneStationParams describes the query of an operation that reads a range of one station: the required parameters, and
// one of the operation's own.
func oneStationParams(name string, p parameter) params {
	return params{
		"stationcode": {
			about:    "Code of the station.",
			required: true, schema: `{"type": "string"}`, example: "PACK-1",
		},
		"from": {
			about: "Start of the range: a time, or a date for its production day. Either this or `rangecode` is " +
				"required.",
			schema: `{"type": "string"}`, example: "2026-11-20T06:00:00Z",
		},
		name: p,
	}
}

// parameters are the parameters of several operations.
var parameters = params{
	"revision":    {about: "Number of the revision.", schema: `{"type": "integer", "minimum": 1}`, example: 3},
	"stationCode": {about: "Code of the station.", schema: `{"type": "string", "minLength": 1}`, example: "PACK-1"},
	"email": {
		about:  "E-mail address of the user.",
		schema: `{"type": "string", "minLength": 1}`, example: "planner@acme.example",
	},
	"name": {
		about:  "File name of the backup.",
		schema: `{"type": "string", "minLength": 1, "maxLength": 128}`, example: "app-20261120T013000Z.backup",
	},
	"scheduleId": {
		about:  "Identifier of the schedule.",
		schema: `{"type": "string", "minLength": 1}`, example: "q4m2x7c3w6zd",
	},
	"issueId": {
		about:  "Identifier of the stop.",
		schema: `{"type": "string", "minLength": 1}`, example: "PACK-1.stop-1795680930000",
	},
	"open": {
		about:  "Only open ones, or only ended ones; for messages, those that are not done, or are.",
		schema: `{"type": "boolean"}`, example: true,
	},
	"state": {
		about: "Only schedules in these states (planned, running, completed, deleted), separated by commas. " +
			"Default: all but deleted ones.",
		schema: `{"type": "string"}`, example: "planned,running",
	},
	"endrunning": {
		about:  "End the running schedule of the same kind.",
		schema: `{"type": "boolean", "default": false}`, example: true,
	},
	"from": {
		about:  "Start of the range: a time, or a date for its production day.",
		schema: `{"type": "string"}`, example: "2026-11-20T06:00:00Z",
	},
	"to": {
		about:  "End of the range. Default: now.",
		schema: `{"type": "string"}`, example: "2026-11-20T14:00:00Z",
	},
	"rangecode": {
		about:  "A named range, or two times separated by a slash. Days are production days of each station's plant.",
		schema: `{"type": "string"}`, example: "today",
	},
	"dryrun": {
		about:  "Check and compare, but change nothing.",
		schema: `{"type": "boolean", "default": false}`, example: true,
	},
	"note": {
		about:  "Reason for the change, shown in the list of revisions.",
		schema: `{"type": "string", "maxLength": 200}`, example: "third packing line",
	},
	"limit": {
		about:  "Maximum number of results.",
		schema: `{"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}`, example: 50,
	},
	"skip": {
		about:  "Number of results to skip.",
		schema: `{"type": "integer", "minimum": 0, "default": 0}`, example: 0,
	},
	"before": {
		about:  "Only lines with a smaller id.",
		schema: `{"type": "integer", "minimum": 1}`, example: 1795162530124,
	},
	"search": {
		about: "Only records that contain all these words, in any case: in the action, target, actor, address or " +
			"detail.",
		schema: `{"type": "string", "maxLength": 200}`, example: "planner press",
	},
	"action":      {about: "Only records with this action.", schema: `{"type": "string"}`, example: "manifest.apply"},
	"stationcode": {about: "Only this station.", schema: `{"type": "string"}`, example: "PACK-1"},
	"archived": {
		about:  "Include what has left the manifest.",
		schema: `{"type": "boolean", "default": false}`, example: true,
	},
	"stationcodes": {
		about:  "Only these stations, separated by commas.",
		schema: `{"type": "string"}`, example: "PACK-1,PACK-2",
	},
	"plantcode": {
		about:  "Only stations of this plant.",
		schema: `{"type": "string"}`, example: "leeds",
	},
	"groupcode": {
		about:  "Only stations of this group.",
		schema: `{"type": "string"}`, example: "packing",
	},
	"resolution": {
		about:  "The length of a window.",
		schema: `{"type": "string", "enum": ["minute", "hour", "shift", "day"], "default": "minute"}`, example: "hour",
	},
	"by": {
		about: "What to group by: up to two of plant, group, station, sku, shift, minute, hour, day, week and " +
			"month, at most one of them a time. By minute, for at most four stations and 25 hours, the terms of " +
			"the minutes add up to those of the whole. Energy cannot be grouped by sku, shift or minute.",
		schema: `{"type": "string"}`, example: "station,day",
	},
}
