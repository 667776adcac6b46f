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

// Functions that parse query parameters record problems and return a default, so that all problems of a query are
// reported together. Before a handler uses the values it must call unclear, or choose, which calls it.

// fault records a problem with a parameter, once, because some are parsed several times, for example with the calendars
// of several plants.
func (c *call) fault(name, format string, args ...any) {
	if d := (errdefs.Detail{Field: name, Issue: fmt.Sprintf(format, args...)}); !slices.Contains(c.asked, d) {
		c.asked = append(c.asked, d)
	}
}

// note records the problems of an error of kind Invalid or nil, and returns any other error.
func (c *call) note(err error) error {
	var problems errdefs.Problems
	err = problems.Take(err)
	for _, p := range problems {
		c.fault(p.Field, "%s", p.Issue)
	}
	return err
}

// unclear returns the problems with the query; nil: none.
func (c *call) unclear() error { return c.asked.Err("the query") }

// query returns a parameter; "" if it is missing.
func (c *call) query(name string) string { return c.r.URL.Query().Get(name) }

// page parses limit (1 to most) and skip.
func (c *call) page(fallback, most int) (limit, skip int) {
	return c.number("limit", fallback, 1, most), c.number("skip", 0, 0, 1<<31-1)
}

// number parses an integer; fallback if it is missing.
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

// flag parses true or false; nil if it is missing.
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

// some parses a comma-separated list of names and returns the results of of for the known ones. allowed lists them for
// an error text.
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

// utcDays is the calendar for validating a request without stations.
var utcDays = calendar.NewCalendar(calendar.CalendarConfig{Zone: time.UTC})

// rangeOf parses a range of time, in days of a calendar. The default is the range named fallback; if that is "", a
// range is required. given is also false for an invalid range.
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

// parts splits a comma-separated list; nil for an empty one.
func parts(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}
