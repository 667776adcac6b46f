package openapi

import (
	"opsmon/app/auth"
	"opsmon/schema"
)

// Form is the format of a successful answer's body.
type Form uint8

// Formats of answers.
const (
	FormDone   Form = iota // {isSuccess: true}
	FormResult             // {isSuccess: true, result}
	FormList               // {isSuccess: true, results}
	FormPage               // {isSuccess: true, results, paging}
	FormBare               // the document itself
	FormText               // not JSON
	FormEmpty              // 204
	FormFile               // the bytes of a file
	FormEvents             // a stream of events
	FormTable              // CSV
)

// Route is an operation with the facts about its route that the document states.
type Route struct {
	Method, Path string
	Operation    Operation
	Open         bool      // needs no credential
	Role         auth.Role // the lowest role; "": auth.Readonly
	Query        []string  // names of its query parameters
	Bearer       bool      // accepts the key as a bearer token, too
	Once, Desk   bool      // accepts an idempotency key; Desk: a refusal is not recorded
}

// Operation is the text of a route.
type Operation struct {
	ID, Tag, Summary string
	About            string // effects, in paragraphs
	Answer           string // meaning of a success
	Params           Params
	Security         string // "": by the route's access

	Body     schema.Name // "": no body
	Optional bool        // the body is optional
	Example  string      // of the body; "": the schema's
	Upload   bool        // the body is a file

	Form   Form
	Gives  string // schema of the result, or of an item of the list
	Sample string // example of the result

	Also     []int // statuses besides those of every route of its kind
	Tagged   bool  // answers carry an entity tag
	Match    bool  // takes If-Match
	Location bool  // answers carry Location
}

// Params has parameters by name: those of only one operation, or with another meaning in it.
type Params map[string]Param

// Param is a parameter of the path or of the query.
type Param struct {
	About    string
	Required bool   // required in the query
	Schema   string // in JSON
	Example  any
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

// OneStation describes the query of an operation that reads a range of one station: the required parameters, and
// one of the operation's own.
func OneStation(name string, p Param) Params {
	return Params{
		"stationcode": {
			About:    "Code of the station.",
			Required: true, Schema: `{"type": "string"}`, Example: "PACK-1",
		},
		"from": {
			About: "Start of the range: a time, or a date for its production day. Either this or `rangecode` is " +
				"required.",
			Schema: `{"type": "string"}`, Example: "2026-11-20T06:00:00Z",
		},
		name: p,
	}
}

// parameters are the parameters of several operations.
var parameters = Params{
	"revision":    {About: "Number of the revision.", Schema: `{"type": "integer", "minimum": 1}`, Example: 3},
	"stationCode": {About: "Code of the station.", Schema: `{"type": "string", "minLength": 1}`, Example: "PACK-1"},
	"email": {
		About:  "E-mail address of the user.",
		Schema: `{"type": "string", "minLength": 1}`, Example: "planner@acme.example",
	},
	"name": {
		About:  "File name of the backup.",
		Schema: `{"type": "string", "minLength": 1, "maxLength": 128}`, Example: "app-20261120T013000Z.backup",
	},
	"scheduleId": {
		About:  "Identifier of the schedule.",
		Schema: `{"type": "string", "minLength": 1}`, Example: "q4m2x7c3w6zd",
	},
	"issueId": {
		About:  "Identifier of the stop.",
		Schema: `{"type": "string", "minLength": 1}`, Example: "PACK-1.stop-1795680930000",
	},
	"open": {
		About:  "Only open ones, or only ended ones; for messages, those that are not done, or are.",
		Schema: `{"type": "boolean"}`, Example: true,
	},
	"state": {
		About: "Only schedules in these states (planned, running, completed, deleted), separated by commas. " +
			"Default: all but deleted ones.",
		Schema: `{"type": "string"}`, Example: "planned,running",
	},
	"endrunning": {
		About:  "End the running schedule of the same kind.",
		Schema: `{"type": "boolean", "default": false}`, Example: true,
	},
	"from": {
		About:  "Start of the range: a time, or a date for its production day.",
		Schema: `{"type": "string"}`, Example: "2026-11-20T06:00:00Z",
	},
	"to": {
		About:  "End of the range. Default: now.",
		Schema: `{"type": "string"}`, Example: "2026-11-20T14:00:00Z",
	},
	"rangecode": {
		About:  "A named range, or two times separated by a slash. Days are production days of each station's plant.",
		Schema: `{"type": "string"}`, Example: "today",
	},
	"dryrun": {
		About:  "Check and compare, but change nothing.",
		Schema: `{"type": "boolean", "default": false}`, Example: true,
	},
	"note": {
		About:  "Reason for the change, shown in the list of revisions.",
		Schema: `{"type": "string", "maxLength": 200}`, Example: "third packing line",
	},
	"limit": {
		About:  "Maximum number of results.",
		Schema: `{"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}`, Example: 50,
	},
	"skip": {
		About:  "Number of results to skip.",
		Schema: `{"type": "integer", "minimum": 0, "default": 0}`, Example: 0,
	},
	"before": {
		About:  "Only lines with a smaller id.",
		Schema: `{"type": "integer", "minimum": 1}`, Example: 1795162530124,
	},
	"search": {
		About: "Only records that contain all these words, in any case: in the action, target, actor, address or " +
			"detail.",
		Schema: `{"type": "string", "maxLength": 200}`, Example: "planner press",
	},
	"action":      {About: "Only records with this action.", Schema: `{"type": "string"}`, Example: "manifest.apply"},
	"stationcode": {About: "Only this station.", Schema: `{"type": "string"}`, Example: "PACK-1"},
	"archived": {
		About:  "Include what has left the manifest.",
		Schema: `{"type": "boolean", "default": false}`, Example: true,
	},
	"stationcodes": {
		About:  "Only these stations, separated by commas.",
		Schema: `{"type": "string"}`, Example: "PACK-1,PACK-2",
	},
	"plantcode": {
		About:  "Only stations of this plant.",
		Schema: `{"type": "string"}`, Example: "leeds",
	},
	"groupcode": {
		About:  "Only stations of this group.",
		Schema: `{"type": "string"}`, Example: "packing",
	},
	"resolution": {
		About:  "The length of a window.",
		Schema: `{"type": "string", "enum": ["minute", "hour", "shift", "day"], "default": "minute"}`, Example: "hour",
	},
	"by": {
		About: "What to group by: up to two of plant, group, station, sku, shift, minute, hour, day, week and " +
			"month, at most one of them a time. By minute, for at most four stations and 25 hours, the terms of " +
			"the minutes add up to those of the whole. Energy cannot be grouped by sku, shift or minute.",
		Schema: `{"type": "string"}`, Example: "station,day",
	},
}
