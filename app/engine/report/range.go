package report

import (
	"math"
	"strconv"
	"strings"
	"time"

	"opsmon/app/engine/calendar"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
)

// rangeForms lists the forms of a range in one value.
const rangeForms = "must be today, yesterday, week, last7d, month or two times with a slash between them, such as 2026-11-20T06:00:00Z/2026-11-20T14:00:00Z"

// ParseRange parses a range of time: from and to, or code (monitoring.md section 4). A date is its production day in c,
// and as an end includes it; an empty to is now, ms. ok is false if all three are empty. Errors are errdefs.Invalid for
// the fields from, to and rangecode, for example for a range longer than most or an end before the start.
func ParseRange(code, from, to string, c *calendar.Calendar, now int64, most time.Duration) (r calendar.Range, ok bool, err error) {
	first, last := "from", "to" // the fields that errors name
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
			return r, false, errdefs.InvalidField("rangecode", rangeForms+"; it is %q", errdefs.Shorten(code))
		}
	case from == "":
		return r, false, errdefs.InvalidField("from", "must be given where to is")
	}
	var problems errdefs.Problems
	r.Start, err = ParseMoment(first, from, c, false)
	_ = problems.Take(err) // ParseMoment returns no other error
	if r.End = now; to != "" || code != "" {
		r.End, err = ParseMoment(last, to, c, true)
		_ = problems.Take(err)
	}
	if err := problems.Err("the query"); err != nil {
		return r, false, err
	}
	switch length := r.End - r.Start; {
	case length <= 0:
		return r, false, errdefs.InvalidField(last, "must be later than the beginning of the range, %s; it is %s", instant.FormatMs(r.Start), instant.FormatMs(r.End))
	case length > most.Milliseconds():
		return r, false, errdefs.InvalidField(first, "must make a range of %s or less; it is one of %s", lasting(most.Milliseconds()), lasting(length))
	}
	return r, true, nil
}

// clockChange is how much longer than its days a named range may be.
const clockChange = 2 * time.Hour

// lasting formats the length of a range, ms, in days, or in hours if it is shorter than two days.
func lasting(ms int64) string {
	unit, length := " days", float64(ms)/float64(instant.DayMs)
	if ms < 2*instant.DayMs {
		unit, length = " hours", length*24
	}
	return strconv.FormatFloat(math.Round(length*10)/10, 'f', -1, 64) + unit
}

// ParseMoment parses a time, or a date as the start or the end of its production day.
func ParseMoment(field, text string, c *calendar.Calendar, end bool) (int64, error) {
	// In a query, a plus that is not written as %2B is decoded as a space.
	text = strings.Replace(text, " ", "+", 1)
	if d, err := time.Parse(time.DateOnly, text); err == nil && inYears(d) {
		day := c.DayRange(calendar.DayOf(d.Year(), d.Month(), d.Day()))
		if end {
			return day.End, nil
		}
		return day.Start, nil
	}
	if t, err := instant.Parse(text); err == nil && inYears(t) {
		return t.UnixMilli(), nil
	}
	return 0, errdefs.InvalidField(field, "must be a time such as 2026-11-20T08:15:30Z or a date such as 2026-11-20, from 1970 to 9999; it is %q", errdefs.Shorten(text))
}

func inYears(t time.Time) bool { return t.Year() >= 1970 && t.UTC().Year() <= 9999 }

func mod(a, b int64) int64 { return ((a % b) + b) % b }
