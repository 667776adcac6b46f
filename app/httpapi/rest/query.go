package rest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"opsmon/app/errdefs"
	"opsmon/app/instant"
)

// Functions that parse query parameters record problems and return a default, so that all problems of a query are
// reported together. Before a handler uses the values it must call QueryError, or Choose, which calls it.

// Fault records a problem with a parameter, once, because some are parsed several times, for example with the calendars
// of several plants.
func (c *Call) Fault(name, format string, args ...any) {
	if d := (errdefs.Detail{Field: name, Issue: fmt.Sprintf(format, args...)}); !slices.Contains(c.asked, d) {
		c.asked = append(c.asked, d)
	}
}

// Note records the problems of an error of kind Invalid or nil, and returns any other error.
func (c *Call) Note(err error) error {
	var problems errdefs.Problems
	err = problems.Take(err)
	for _, p := range problems {
		c.Fault(p.Field, "%s", p.Issue)
	}
	return err
}

// QueryError returns the problems with the query; nil: none.
func (c *Call) QueryError() error { return c.asked.Err("the query") }

// Query returns a parameter; "" if it is missing.
func (c *Call) Query(name string) string { return c.Request.URL.Query().Get(name) }

// Page parses limit (1 to most) and skip.
func (c *Call) Page(fallback, most int) (limit, skip int) {
	return c.Number("limit", fallback, 1, most), c.Number("skip", 0, 0, 1<<31-1)
}

// Number parses an integer; fallback if it is missing.
func (c *Call) Number(name string, fallback, least, most int) int {
	text := c.Query(name)
	if text == "" {
		return fallback
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		c.Fault(name, "must be a whole number from %d to %d; it is %q", least, most, errdefs.Shorten(text))
		return fallback
	}
	return n
}

// Flag parses true or false; nil if it is missing.
func (c *Call) Flag(name string) *bool {
	if !c.Request.URL.Query().Has(name) {
		return nil
	}
	switch text := c.Query(name); text {
	case "true", "false":
		return new(text == "true")
	default:
		c.Fault(name, "must be true or false; it is %q", errdefs.Shorten(text))
		return nil
	}
}

// On reports whether a flag is true.
func (c *Call) On(name string) bool {
	is := c.Flag(name)
	return is != nil && *is
}

// Some parses a comma-separated list of names and returns the results of of for the known ones. allowed lists them for
// an error text.
func Some[T any](c *Call, name, allowed string, of func(string) (T, bool)) (list []T) {
	for _, text := range Split(c.Query(name)) {
		one, known := of(text)
		if !known {
			c.Fault(name, "must be some of %s, with commas between them; it has %q", allowed, errdefs.Shorten(text))
			return nil
		}
		list = append(list, one)
	}
	return list
}

// Split splits a comma-separated list; nil for an empty one.
func Split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// DryRun parses the parameter dryrun. An archived account refuses dry runs like writes.
func (c *Call) DryRun() (bool, error) {
	dry := c.On("dryrun") // validated by checkQuery
	if dry && c.route.Access != Open {
		return dry, c.Writable()
	}
	return dry, nil
}

// MomentOf parses the field at of a write, whose format the schema guarantees; nil: not given.
func MomentOf(text string) *int64 {
	t, err := ReadTime("at", text)
	if err != nil {
		return nil
	}
	ms := t.UnixMilli()
	return &ms
}

// ReadTime parses an RFC 3339 time.
func ReadTime(field, text string) (time.Time, error) {
	t, err := instant.Parse(text)
	if err != nil {
		return time.Time{}, errdefs.InvalidField(field, "must be a time such as 2026-11-20T08:15:30Z; it is %q", errdefs.Shorten(text))
	}
	return t, nil
}
