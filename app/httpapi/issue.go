package httpapi

import (
	"net/url"
	"strings"
	"time"

	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/app/floor"
	"opsmon/app/issue"
	"opsmon/schema"
)

// issueDays is how much time of all stations together a list of stops may be about, in days.
const issueDays = 4000

// getIssues answers GET /issue (monitoring.md section 6).
func getIssues(c *call) (reply, error) {
	var q issue.Query
	var err error
	if q.Limit, q.Skip, err = c.page(100, issue.MaxList); err != nil {
		return reply{}, err
	}
	if err := issueKinds(&q, c.r.URL.Query()); err != nil {
		return reply{}, err
	}
	where, err := c.where()
	if err != nil {
		return reply{}, err
	}
	sum := int64(0)
	for _, w := range where {
		q.Where = append(q.Where, issue.Where{StationCode: w.StationCode, From: w.Range.Start, To: w.Range.End})
		sum += w.Range.End - w.Range.Start
	}
	if days := sum / (24 * time.Hour).Milliseconds(); days > issueDays {
		return reply{}, errdefs.InvalidField("from", "must make a range of %d days or less for all stations together; %d stations make %d", issueDays, len(where), days)
	}
	results, total, err := c.api.cfg.Issues.List(c.p.AccountID, q)
	if err != nil {
		return reply{}, err
	}
	return list(results, total)
}

// issueKinds reads which issues are wanted.
func issueKinds(q *issue.Query, values url.Values) error {
	if text := values.Get("type"); text != "" {
		for name := range strings.SplitSeq(text, ",") {
			t, ok := issue.ParseType(name)
			if !ok {
				return errdefs.InvalidField("type", "must be some of stop, slow and manual, with commas between them; it has %q", shorten(name))
			}
			q.Types = append(q.Types, t)
		}
	}
	if values.Has("open") {
		open, err := truth("open", values.Get("open"))
		if err != nil {
			return err
		}
		q.Open = &open
	}
	if values.Has("uncaused") {
		uncaused, err := truth("uncaused", values.Get("uncaused"))
		if err != nil {
			return err
		}
		q.Uncaused = uncaused
	}
	return nil
}

// truth reads true or false.
func truth(field, text string) (bool, error) {
	if text != "true" && text != "false" {
		return false, errdefs.InvalidField(field, "must be true or false; it is %q", shorten(text))
	}
	return text == "true", nil
}

// say does what a request about the issue of the path asks for.
func say[T any](c *call, name schema.Name, optional bool, do func(*floor.Work, auth.Principal, *issue.Target, T) (*issue.View, error)) (reply, error) {
	var in T
	if err := c.decode(name, optional, &in); err != nil {
		return reply{}, err
	}
	target := c.api.cfg.Issues.Find(c.p.AccountID, c.params.ByName("issueId"))
	return c.once(func(w *floor.Work) (any, error) { return do(w, c.p, target, in) })
}

// postIssue answers POST /issue: manual downtime begins, ends or is recorded.
func postIssue(c *call) (reply, error) {
	var in issue.CreateInput
	if err := c.decode(schema.IssueCreate, false, &in); err != nil {
		return reply{}, err
	}
	return c.once(func(w *floor.Work) (any, error) { return c.api.cfg.Issues.Manual(w, c.p, in) })
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
