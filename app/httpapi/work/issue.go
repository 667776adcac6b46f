package work

import (
	"net/http"

	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/report"
	"opsmon/app/errdefs"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/httpapi/rest"
	"opsmon/app/instant"
	"opsmon/app/work/issue"
	"opsmon/schema"
)

// issueRoutes returns the operations on stops.
func (api *API) issueRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/issue", Handle: api.getIssues,
			Query: append(rest.SelectionParams(), "limit", "skip", "type", "open", "uncaused"),
			Operation: openapi.Operation{
				ID: "listIssues", Tag: "Issue", Summary: "List stops, slow periods and manual downtimes",
				About: "Issues that overlap the range, complete, latest first. The default range is today's " +
					"production day. Issues are calculated from signals, and calculated again when late signals " +
					"arrive. What people entered about an issue then moves to the one with the same name or the " +
					"nearest time, or to both parts of one that was divided. Entries that fit no issue are " +
					"listed with `orphaned`. The parts of an issue add up to its time exactly; `uncausedMs` is " +
					"the time without a cause.",
				Answer: "A page of stops.", Form: openapi.FormPage, Gives: "Issue", Also: []int{400, 503},
				Sample: issueSample,
				Params: openapi.Params{
					"limit": {
						About:  "Maximum number of results.",
						Schema: `{"type": "integer", "minimum": 1, "maximum": 1000, "default": 1000}`, Example: 50,
					},
					"type": {
						About:  "Only issues of these types, separated by commas.",
						Schema: `{"type": "string"}`, Example: "stop,manual",
					},
					"uncaused": {
						About:  "Only issues with time that has no cause.",
						Schema: `{"type": "boolean", "default": false}`, Example: true,
					},
				},
			},
		},
		{
			Method: http.MethodPost, Path: "/issue", Handle: api.postIssue, Body: true, Role: auth.Operator, Once: true,
			Operation: openapi.Operation{
				ID: "manualDowntime", Tag: "Issue", Summary: "Start, end or record a manual downtime",
				About: "Without `endAt`, manual downtime starts at `startAt` or now. With only `endAt`, the current " +
					"one ends. With both, a past one is recorded: up to 24 hours back, by a supervisor up to 31 " +
					"days. Nothing counts during manual downtime. Energy meters have none.\n\n403: the flag " +
					"`enableManualDowntime` is off at the station; the message names the level that decided. " +
					"409: manual downtime is already active, or none is, or the time overlaps another one.",
				Answer: "The downtime as it is now.", Body: schema.IssueCreate, Form: openapi.FormResult, Gives: "Issue",
				Also: []int{409, 503}, Sample: issueSample,
			},
		},
		{
			Method: http.MethodPost, Path: "/issue/:issueId/acknowledge", Handle: api.acknowledgeIssue, Body: true,
			Role: auth.Operator, Once: true,
			Operation: openapi.Operation{
				ID: "acknowledgeIssue", Tag: "Issue", Summary: "Acknowledge a stop",
				About: "The body is optional, except for tablets, which must send initials. 409: the stop was " +
					"acknowledged before.",
				Answer: "The stop as it is now.", Body: schema.IssueAcknowledge, Optional: true, Form: openapi.FormResult,
				Gives: "Issue", Also: []int{404, 409, 503}, Sample: issueSample,
			},
		},
		{
			Method: http.MethodPost, Path: "/issue/:issueId/estimate", Handle: api.estimateIssue, Body: true,
			Role: auth.Operator, Once: true,
			Operation: openapi.Operation{
				ID: "estimateIssue", Tag: "Issue", Summary: "Estimate the end of a stop",
				About:  "409: the stop has ended.",
				Answer: "The stop as it is now.", Body: schema.IssueEstimate, Form: openapi.FormResult, Gives: "Issue",
				Also: []int{404, 409, 503}, Sample: issueSample,
			},
		},
		{
			Method: http.MethodPost, Path: "/issue/:issueId/escalate", Handle: api.escalateIssue, Body: true,
			Role: auth.Operator, Once: true,
			Operation: openapi.Operation{
				ID: "escalateIssue", Tag: "Issue", Summary: "Escalate a stop",
				About:  "The level is 1 to 5. 409: the stop has 200 events already, the maximum.",
				Answer: "The stop as it is now.", Body: schema.IssueEscalate, Form: openapi.FormResult, Gives: "Issue",
				Also: []int{404, 409, 503}, Sample: issueSample,
			},
		},
		{
			Method: http.MethodPost, Path: "/issue/:issueId/cause", Handle: api.causeIssue, Body: true,
			Role: auth.Operator, Once: true,
			Operation: openapi.Operation{
				ID: "nameIssue", Tag: "Issue", Summary: "Set the cause of a stop",
				About: "The reason must be available at the station, be for downtime, and not be a heading. null " +
					"removes the cause that people set. An open stop can have one too. `partStartAt` selects one " +
					"part of a split stop. Figures change at once.",
				Answer: "The stop as it is now.", Body: schema.IssueCause, Form: openapi.FormResult, Gives: "Issue",
				Also: []int{404, 409, 503}, Sample: issueSample,
			},
		},
		{
			Method: http.MethodPost, Path: "/issue/:issueId/split", Handle: api.splitIssue, Body: true,
			Role: auth.Operator, Once: true,
			Operation: openapi.Operation{
				ID: "splitIssue", Tag: "Issue", Summary: "Split a stop",
				About:  "The new parts replace the existing ones. Figures change at once.",
				Answer: "The stop as it is now.", Body: schema.IssueSplit, Form: openapi.FormResult, Gives: "Issue",
				Also: []int{404, 409, 503}, Sample: issueSample,
			},
		},
		{
			Method: http.MethodPost, Path: "/issue/:issueId/exclude", Handle: api.excludeIssue, Body: true,
			Role: auth.Supervisor, Once: true,
			Operation: openapi.Operation{
				ID: "excludeIssue", Tag: "Issue", Summary: "Exclude a stop from figures",
				About: "The time of an excluded stop is in no numerator and no denominator, like time without data. " +
					"`excludedMs` of `GET /oee` is the amount; `coverage` does not change. The stop's windows " +
					"stay as they are. The same call includes it again. 409: nothing would change, or it is a " +
					"slow period, in which units were made.",
				Answer: "The stop as it is now.", Body: schema.IssueExclude, Form: openapi.FormResult, Gives: "Issue",
				Also: []int{404, 409, 503}, Sample: issueSample,
			},
		},
	}
}

// issueDays limits the time of a list of stops, in days of all stations together.
const issueDays = 4000

// getIssues handles GET /issue (monitoring.md section 6).
func (api *API) getIssues(c *rest.Call) (rest.Reply, error) {
	var q issue.Query
	q.Limit, q.Skip = c.Page(issue.MaxList, issue.MaxList)
	q.Types = rest.Some(c, "type", "stop, slow and manual", issue.ParseType)
	q.Open, q.Uncaused = c.Flag("open"), c.On("uncaused")
	x, err := c.Choose(report.LongestDetail, "today")
	if err != nil {
		return rest.Reply{}, err
	}
	sum := int64(0)
	for _, a := range x.Stations {
		to := a.End
		if to == x.Now {
			to++ // includes what began in this millisecond
		}
		q.Where = append(q.Where, issue.Where{StationCode: a.Code, From: a.Begin, To: to})
		sum += a.End - a.Begin
	}
	if days := sum / instant.DayMs; days > issueDays {
		return rest.Reply{}, errdefs.InvalidField("from", "must make a range of %d days or less for all stations together; %d stations make %d", issueDays, len(x.Stations), days)
	}
	if err := c.WaitIfLong(x, rest.LongDetail); err != nil {
		return rest.Reply{}, err
	}
	results, total, err := api.Issues.List(c.Request.Context(), c.Principal.AccountID, q)
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.List(results, total)
}

// say runs an operation on the issue in the path.
func say[T any](api *API, c *rest.Call, name schema.Name, optional bool, do func(*floor.Work, auth.Principal, *issue.Target, T) (*issue.View, error)) (rest.Reply, error) {
	var in T
	target := api.Issues.Find(c.Principal.AccountID, c.Params.ByName("issueId"))
	return c.FloorWrite(name, optional, &in, func(w *floor.Work) (any, error) { return do(w, c.Principal, target, in) })
}

// postIssue handles POST /issue: manual downtime begins, ends or is recorded.
func (api *API) postIssue(c *rest.Call) (rest.Reply, error) {
	var in issue.CreateInput
	return c.FloorWrite(schema.IssueCreate, false, &in, func(w *floor.Work) (any, error) { return api.Issues.Manual(w, c.Principal, in) })
}

// acknowledgeIssue handles POST /issue/{id}/acknowledge.
func (api *API) acknowledgeIssue(c *rest.Call) (rest.Reply, error) {
	return say(api, c, schema.IssueAcknowledge, true, api.Issues.Acknowledge)
}

// estimateIssue handles POST /issue/{id}/estimate.
func (api *API) estimateIssue(c *rest.Call) (rest.Reply, error) {
	return say(api, c, schema.IssueEstimate, false, api.Issues.Estimate)
}

// escalateIssue handles POST /issue/{id}/escalate.
func (api *API) escalateIssue(c *rest.Call) (rest.Reply, error) {
	return say(api, c, schema.IssueEscalate, false, api.Issues.Escalate)
}

// causeIssue handles POST /issue/{id}/cause.
func (api *API) causeIssue(c *rest.Call) (rest.Reply, error) {
	return say(api, c, schema.IssueCause, false, api.Issues.Cause)
}

// splitIssue handles POST /issue/{id}/split.
func (api *API) splitIssue(c *rest.Call) (rest.Reply, error) {
	return say(api, c, schema.IssueSplit, false, api.Issues.Split)
}

// excludeIssue handles POST /issue/{id}/exclude.
func (api *API) excludeIssue(c *rest.Call) (rest.Reply, error) {
	return say(api, c, schema.IssueExclude, false, api.Issues.Exclude)
}

// issueSample is an example of an answer.
const issueSample = `{"id":"PACK-1.stop-1795680930000","type":"stop","stationCode":"PACK-1",
	"startAt":"2026-11-20T08:15:30.000Z","endAt":"2026-11-20T08:45:30.000Z","durationMs":1800000,"causeCode":null,
	"causeFrom":null,"uncausedMs":600000,"note":"a fuse","parts":[{"startAt":"2026-11-20T08:15:30.000Z",
	"endAt":"2026-11-20T08:35:30.000Z","durationMs":1200000,"causeCode":"BRK-E","causeFrom":"person",
	"excluded":false},{"startAt":"2026-11-20T08:35:30.000Z","endAt":"2026-11-20T08:45:30.000Z","durationMs":600000,
	"causeCode":null,"causeFrom":null,"excluded":false}],"scheduleId":"q4m2x7c3w6zd","skuCode":"BK-1000",
	"excluded":false,
	"acknowledged":{"at":"2026-11-20T08:18:02.000Z","by":"tablet:line 1@acme.example","initials":"KLM"},
	"estimate":null,"escalation":{"level":1,"note":"the fitter is called","at":"2026-11-20T08:20:00.000Z",
	"by":"tablet:line 1@acme.example"},"orphaned":false,"events":[{"at":"2026-11-20T08:18:02.000Z",
	"recordedAt":"2026-11-20T08:18:02.114Z","by":"tablet:line 1@acme.example","initials":"KLM","action":"acknowledge",
	"value":null,"note":null}]}`
