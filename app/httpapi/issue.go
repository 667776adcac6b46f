package httpapi

import (
	"net/http"

	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/report"
	"opsmon/app/errdefs"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/instant"
	"opsmon/app/work/issue"
	"opsmon/schema"
)

// issueRoutes returns the operations on stops.
func (api *workAPI) issueRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: "/issue", handle: api.getIssues,
			query: append(chosenBy(), "limit", "skip", "type", "open", "uncaused"),
			operation: openapi.Operation{
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
			method: http.MethodPost, path: "/issue", handle: api.postIssue, body: true, role: auth.Operator, once: true,
			operation: openapi.Operation{
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
			method: http.MethodPost, path: "/issue/:issueId/acknowledge", handle: api.acknowledgeIssue, body: true,
			role: auth.Operator, once: true,
			operation: openapi.Operation{
				ID: "acknowledgeIssue", Tag: "Issue", Summary: "Acknowledge a stop",
				About: "The body is optional, except for tablets, which must send initials. 409: the stop was " +
					"acknowledged before.",
				Answer: "The stop as it is now.", Body: schema.IssueAcknowledge, Optional: true, Form: openapi.FormResult,
				Gives: "Issue", Also: []int{404, 409, 503}, Sample: issueSample,
			},
		},
		{
			method: http.MethodPost, path: "/issue/:issueId/estimate", handle: api.estimateIssue, body: true,
			role: auth.Operator, once: true,
			operation: openapi.Operation{
				ID: "estimateIssue", Tag: "Issue", Summary: "Estimate the end of a stop",
				About:  "409: the stop has ended.",
				Answer: "The stop as it is now.", Body: schema.IssueEstimate, Form: openapi.FormResult, Gives: "Issue",
				Also: []int{404, 409, 503}, Sample: issueSample,
			},
		},
		{
			method: http.MethodPost, path: "/issue/:issueId/escalate", handle: api.escalateIssue, body: true,
			role: auth.Operator, once: true,
			operation: openapi.Operation{
				ID: "escalateIssue", Tag: "Issue", Summary: "Escalate a stop",
				About:  "The level is 1 to 5. 409: the stop has 200 events already, the maximum.",
				Answer: "The stop as it is now.", Body: schema.IssueEscalate, Form: openapi.FormResult, Gives: "Issue",
				Also: []int{404, 409, 503}, Sample: issueSample,
			},
		},
		{
			method: http.MethodPost, path: "/issue/:issueId/cause", handle: api.causeIssue, body: true,
			role: auth.Operator, once: true,
			operation: openapi.Operation{
				ID: "nameIssue", Tag: "Issue", Summary: "Set the cause of a stop",
				About: "The reason must be available at the station, be for downtime, and not be a heading. null " +
					"removes the cause that people set. An open stop can have one too. `partStartAt` selects one " +
					"part of a split stop. Figures change at once.",
				Answer: "The stop as it is now.", Body: schema.IssueCause, Form: openapi.FormResult, Gives: "Issue",
				Also: []int{404, 409, 503}, Sample: issueSample,
			},
		},
		{
			method: http.MethodPost, path: "/issue/:issueId/split", handle: api.splitIssue, body: true,
			role: auth.Operator, once: true,
			operation: openapi.Operation{
				ID: "splitIssue", Tag: "Issue", Summary: "Split a stop",
				About:  "The new parts replace the existing ones. Figures change at once.",
				Answer: "The stop as it is now.", Body: schema.IssueSplit, Form: openapi.FormResult, Gives: "Issue",
				Also: []int{404, 409, 503}, Sample: issueSample,
			},
		},
		{
			method: http.MethodPost, path: "/issue/:issueId/exclude", handle: api.excludeIssue, body: true,
			role: auth.Supervisor, once: true,
			operation: openapi.Operation{
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
func (api *workAPI) getIssues(c *call) (reply, error) {
	var q issue.Query
	q.Limit, q.Skip = c.page(issue.MaxList, issue.MaxList)
	q.Types = some(c, "type", "stop, slow and manual", issue.ParseType)
	q.Open, q.Uncaused = c.flag("open"), c.on("uncaused")
	x, err := c.choose(report.LongestDetail, "today")
	if err != nil {
		return reply{}, err
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
		return reply{}, errdefs.InvalidField("from", "must make a range of %d days or less for all stations together; %d stations make %d", issueDays, len(x.Stations), days)
	}
	if err := c.long(x, longDetail); err != nil {
		return reply{}, err
	}
	results, total, err := api.Issues.List(c.r.Context(), c.p.AccountID, q)
	if err != nil {
		return reply{}, err
	}
	return list(results, total)
}

// say runs an operation on the issue in the path.
func say[T any](api *workAPI, c *call, name schema.Name, optional bool, do func(*floor.Work, auth.Principal, *issue.Target, T) (*issue.View, error)) (reply, error) {
	var in T
	target := api.Issues.Find(c.p.AccountID, c.params.ByName("issueId"))
	return c.act(name, optional, &in, func(w *floor.Work) (any, error) { return do(w, c.p, target, in) })
}

// postIssue handles POST /issue: manual downtime begins, ends or is recorded.
func (api *workAPI) postIssue(c *call) (reply, error) {
	var in issue.CreateInput
	return c.act(schema.IssueCreate, false, &in, func(w *floor.Work) (any, error) { return api.Issues.Manual(w, c.p, in) })
}

// acknowledgeIssue handles POST /issue/{id}/acknowledge.
func (api *workAPI) acknowledgeIssue(c *call) (reply, error) {
	return say(api, c, schema.IssueAcknowledge, true, api.Issues.Acknowledge)
}

// estimateIssue handles POST /issue/{id}/estimate.
func (api *workAPI) estimateIssue(c *call) (reply, error) {
	return say(api, c, schema.IssueEstimate, false, api.Issues.Estimate)
}

// escalateIssue handles POST /issue/{id}/escalate.
func (api *workAPI) escalateIssue(c *call) (reply, error) {
	return say(api, c, schema.IssueEscalate, false, api.Issues.Escalate)
}

// causeIssue handles POST /issue/{id}/cause.
func (api *workAPI) causeIssue(c *call) (reply, error) {
	return say(api, c, schema.IssueCause, false, api.Issues.Cause)
}

// splitIssue handles POST /issue/{id}/split.
func (api *workAPI) splitIssue(c *call) (reply, error) {
	return say(api, c, schema.IssueSplit, false, api.Issues.Split)
}

// excludeIssue handles POST /issue/{id}/exclude.
func (api *workAPI) excludeIssue(c *call) (reply, error) {
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
