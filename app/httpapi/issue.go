package httpapi

import (
	"context"
	"math"
	"slices"
	"strconv"

	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/report"
	"opsmon/app/errdefs"
	"opsmon/app/work/issue"
	"opsmon/schema"
)

// issueDays is how much time of all stations together a list of stops may be about, in days.
const issueDays = 4000

// getIssues answers GET /issue (monitoring.md section 6).
func getIssues(c *call) (reply, error) {
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
			to++ // what began just now is there
		}
		q.Where = append(q.Where, issue.Where{StationCode: a.Code, From: a.Begin, To: to})
		sum += a.End - a.Begin
	}
	if days := sum / dayMs; days > issueDays {
		return reply{}, errdefs.InvalidField("from", "must make a range of %d days or less for all stations together; %d stations make %d", issueDays, len(x.Stations), days)
	}
	if err := c.long(x, longDetail); err != nil {
		return reply{}, err
	}
	results, total, err := c.api.cfg.Issues.List(c.r.Context(), c.p.AccountID, q)
	if err != nil {
		return reply{}, err
	}
	return list(results, total)
}

// say does what a request about the issue of the path asks for.
func say[T any](c *call, name schema.Name, optional bool, do func(*floor.Work, auth.Principal, *issue.Target, T) (*issue.View, error)) (reply, error) {
	var in T
	target := c.api.cfg.Issues.Find(c.p.AccountID, c.params.ByName("issueId"))
	return c.act(name, optional, &in, func(w *floor.Work) (any, error) { return do(w, c.p, target, in) })
}

// postIssue answers POST /issue: manual downtime begins, ends or is recorded.
func postIssue(c *call) (reply, error) {
	var in issue.CreateInput
	return c.act(schema.IssueCreate, false, &in, func(w *floor.Work) (any, error) { return c.api.cfg.Issues.Manual(w, c.p, in) })
}

// acknowledgeIssue answers POST /issue/{id}/acknowledge.
func acknowledgeIssue(c *call) (reply, error) {
	return say(c, schema.IssueAcknowledge, true, c.api.cfg.Issues.Acknowledge)
}

// estimateIssue answers POST /issue/{id}/estimate.
func estimateIssue(c *call) (reply, error) {
	return say(c, schema.IssueEstimate, false, c.api.cfg.Issues.Estimate)
}

// escalateIssue answers POST /issue/{id}/escalate.
func escalateIssue(c *call) (reply, error) {
	return say(c, schema.IssueEscalate, false, c.api.cfg.Issues.Escalate)
}

// causeIssue answers POST /issue/{id}/cause.
func causeIssue(c *call) (reply, error) {
	return say(c, schema.IssueCause, false, c.api.cfg.Issues.Cause)
}

// splitIssue answers POST /issue/{id}/split.
func splitIssue(c *call) (reply, error) {
	return say(c, schema.IssueSplit, false, c.api.cfg.Issues.Split)
}

// excludeIssue answers POST /issue/{id}/exclude.
func excludeIssue(c *call) (reply, error) {
	return say(c, schema.IssueExclude, false, c.api.cfg.Issues.Exclude)
}

var issueColumns = []string{
	"id", "type", "stationCode", "startAt", "endAt", "partStartAt", "partEndAt", "partDurationMs", "causeCode", "causeFrom", "excluded", "scheduleId", "skuCode",
	"acknowledgedAt", "acknowledgedBy", "acknowledgedInitials", "expectedEndAt", "escalationLevel", "escalationNote", "orphaned", "note",
}

// exportIssues makes the table of stops that have time in the range, station by station, the oldest first: a row for each
// part that has a cause of its own.
func exportIssues(c *call) func(x *report.Selection) (*table, error) {
	return func(x *report.Selection) (*table, error) {
		return &table{issueColumns, func(ctx context.Context, row func([]string) error) error {
			for _, s := range x.Stations {
				for from := s.Begin; from < s.End; from += 31 * dayMs {
					if err := ctx.Err(); err != nil {
						return err
					}
					where := issue.Where{StationCode: s.Code, From: from, To: min(s.End, from+31*dayMs)}
					views, _, err := c.api.cfg.Issues.List(ctx, c.p.AccountID, issue.Query{Where: []issue.Where{where}, Limit: math.MaxInt32})
					if err != nil {
						return err
					}
					for _, v := range slices.Backward(views) {
						if from > s.Begin && v.StartAt.UnixMilli() < from {
							continue // it was in the month before
						}
						for i := range v.Parts {
							if err := row(issueCells(v, &v.Parts[i])); err != nil {
								return err
							}
						}
					}
				}
			}
			return nil
		}}, nil
	}
}

func issueCells(v *issue.View, p *issue.PartView) []string {
	cells := []string{
		v.ID, v.Type, v.StationCode, instant(&v.StartAt), instant(v.EndAt), instant(&p.StartAt), instant(p.EndAt), whole(p.DurationMs), text(p.CauseCode), text(p.CauseFrom),
		strconv.FormatBool(p.Excluded), text(v.ScheduleID), text(v.SKUCode), "", "", "", "", "", "", strconv.FormatBool(v.Orphaned), text(v.Note),
	}
	if a := v.Acknowledged; a != nil {
		cells[13], cells[14], cells[15] = instant(&a.At), a.By, text(a.Initials)
	}
	if e := v.Estimate; e != nil {
		cells[16] = instant(&e.ExpectedEndAt)
	}
	if e := v.Escalation; e != nil {
		cells[17], cells[18] = strconv.Itoa(e.Level), text(e.Note)
	}
	return cells
}
