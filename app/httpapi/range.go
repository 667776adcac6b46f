package httpapi

import (
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"opsmon/app/engine/calendar"
	"opsmon/app/errdefs"
)

// rangeForms tells what a range may be written as.
const rangeForms = "must be today, yesterday, week, last7d, month or two times with a slash between them, such as 2026-11-20T06:00:00Z/2026-11-20T14:00:00Z"

// readRange reads the time that a request asks for: from and to, or rangecode (monitoring.md section 4). A date stands for
// its production day by c, and as an end includes it; to is now when it is not given. ok is false when the request names
// no range at all. A range longer than most is refused, as is one that ends before it begins.
func readRange(q url.Values, c *calendar.Calendar, now int64, most time.Duration) (r calendar.Range, ok bool, err error) {
	code, from, to := q.Get("rangecode"), q.Get("from"), q.Get("to")
	first, last := "from", "to" // the fields to blame
	switch {
	case code == "" && from == "" && to == "":
		return r, false, nil
	case code != "" && from+to != "":
		return r, false, errdefs.InvalidField("rangecode", "must not be given together with from and to")
	case code != "":
		if r, ok = c.Named(code, now); ok {
			if r.End-r.Start > (most + clockChange).Milliseconds() {
				return r, false, errdefs.InvalidField("rangecode", "must make a range of %s or less; %s has %s", lasting(most.Milliseconds()), code, lasting(r.End-r.Start))
			}
			return r, true, nil
		}
		first, last = "rangecode", "rangecode"
		if from, to, ok = strings.Cut(code, "/"); !ok {
			return r, false, errdefs.InvalidField("rangecode", rangeForms+"; it is %q", shorten(code))
		}
	case from == "":
		return r, false, errdefs.InvalidField("from", "must be given where to is")
	}
	var problems errdefs.Problems
	r.Start, err = readMoment(first, from, c, false)
	_ = problems.Take(err) // readMoment returns no other error
	if r.End = now; to != "" || code != "" {
		r.End, err = readMoment(last, to, c, true)
		_ = problems.Take(err)
	}
	if err := problems.Err("the query"); err != nil {
		return r, false, err
	}
	switch length := r.End - r.Start; {
	case length <= 0:
		return r, false, errdefs.InvalidField(last, "must be later than the beginning of the range, %s; it is %s", moment(r.Start), moment(r.End))
	case length > most.Milliseconds():
		return r, false, errdefs.InvalidField(first, "must make a range of %s or less; it is one of %s", lasting(most.Milliseconds()), lasting(length))
	}
	return r, true, nil
}

// clockChange is how much longer than its days a range with a name may be.
const clockChange = 2 * time.Hour

// lasting writes the length of a range, ms, in days, or in hours when it has few.
func lasting(ms int64) string {
	unit, length := " days", float64(ms)/float64(dayMs)
	if ms < 2*dayMs {
		unit, length = " hours", length*24
	}
	return strconv.FormatFloat(math.Round(length*10)/10, 'f', -1, 64) + unit
}

// readMoment reads a time, or a date as the beginning or the end of its production day.
func readMoment(field, text string, c *calendar.Calendar, end bool) (int64, error) {
	// A plus that was not written as %2B has become a blank.
	text = strings.Replace(text, " ", "+", 1)
	if d, err := time.Parse(time.DateOnly, text); err == nil && inYears(d) {
		day := c.DayRange(calendar.DayOf(d.Year(), d.Month(), d.Day()))
		if end {
			return day.End, nil
		}
		return day.Start, nil
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil && inYears(t) {
		return t.UnixMilli(), nil
	}
	return 0, errdefs.InvalidField(field, "must be a time such as 2026-11-20T08:15:30Z or a date such as 2026-11-20, from 1970 to 9999; it is %q", shorten(text))
}

func inYears(t time.Time) bool { return t.Year() >= 1970 && t.UTC().Year() <= 9999 }

// moment writes a time as all answers do (decisions.md section 1).
func moment(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }
