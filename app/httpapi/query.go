package httpapi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/report"
	"opsmon/app/errdefs"
)

// Readers of query parameters note what is wrong with one and return what stands for it, so that all problems of a query are
// reported at once. Before a handler acts on what was read, it calls unclear, or choose, which does.

// fault notes a problem with a parameter, once: some are read again, and the calendars of several plants find the same.
func (c *call) fault(name, format string, args ...any) {
	if d := (errdefs.Detail{Field: name, Issue: fmt.Sprintf(format, args...)}); !slices.Contains(c.asked, d) {
		c.asked = append(c.asked, d)
	}
}

// note notes the problems of an error; nil has none. It returns an error of another kind than Invalid.
func (c *call) note(err error) error {
	var problems errdefs.Problems
	err = problems.Take(err)
	for _, p := range problems {
		c.fault(p.Field, "%s", p.Issue)
	}
	return err
}

// unclear returns what is wrong with the query; nil when nothing is.
func (c *call) unclear() error { return c.asked.Err("the query") }

// query returns a parameter, "" when it is not there.
func (c *call) query(name string) string { return c.r.URL.Query().Get(name) }

// page reads limit (1 to most) and skip.
func (c *call) page(fallback, most int) (limit, skip int) {
	return c.number("limit", fallback, 1, most), c.number("skip", 0, 0, 1<<31-1)
}

// number reads a whole number; an absent one is fallback.
func (c *call) number(name string, fallback, least, most int) int {
	text := c.query(name)
	if text == "" {
		return fallback
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		c.fault(name, "must be a whole number from %d to %d; it is %q", least, most, errdefs.Shorten(text))
		return fallback
	}
	return n
}

// flag reads true or false; nil when it is not there.
func (c *call) flag(name string) *bool {
	if !c.r.URL.Query().Has(name) {
		return nil
	}
	switch text := c.query(name); text {
	case "true", "false":
		return new(text == "true")
	default:
		c.fault(name, "must be true or false; it is %q", errdefs.Shorten(text))
		return nil
	}
}

// on reports whether a flag is true.
func (c *call) on(name string) bool {
	is := c.flag(name)
	return is != nil && *is
}

// some reads a list of names with commas between them, and returns what of returns for each that it knows. allowed is how a
// problem puts them all.
func some[T any](c *call, name, allowed string, of func(string) (T, bool)) (list []T) {
	for _, text := range parts(c.query(name)) {
		one, known := of(text)
		if !known {
			c.fault(name, "must be some of %s, with commas between them; it has %q", allowed, errdefs.Shorten(text))
			return nil
		}
		list = append(list, one)
	}
	return list
}

// utcDays is the calendar of a request that is about no station: it is judged all the same.
var utcDays = calendar.NewCalendar(calendar.CalendarConfig{Zone: time.UTC})

// rangeOf reads a range of time, in days of a calendar. Without one it is that named fallback; where there is none, a range is
// required. given is false also for a wrong range.
func (c *call) rangeOf(days *calendar.Calendar, most time.Duration, fallback string) (r calendar.Range, given bool) {
	now := c.api.cfg.Floor.Time()
	r, given, err := report.ParseRange(c.query("rangecode"), c.query("from"), c.query("to"), days, now, most)
	if err == nil && !given {
		if r, given = days.Named(fallback, now); !given {
			err = errdefs.InvalidField("from", "must be given, or rangecode")
		}
		given = false
	}
	_ = c.note(err) // ParseRange returns no other error
	return r, given
}

// parts reads a list with commas between its items; nil for an empty one.
func parts(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}
