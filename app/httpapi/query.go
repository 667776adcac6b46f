package httpapi

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

// parts splits a comma-separated list; nil for an empty one.
func parts(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// dryRun parses the parameter dryrun. An archived account refuses dry runs like writes.
func (c *call) dryRun() (bool, error) {
	dry := c.on("dryrun") // validated by checkQuery
	if dry && c.route.access != open {
		return dry, c.writable()
	}
	return dry, nil
}

// momentOf parses the field at of a write, whose format the schema guarantees; nil: not given.
func momentOf(text string) *int64 {
	t, err := readTime("at", text)
	if err != nil {
		return nil
	}
	ms := t.UnixMilli()
	return &ms
}

// readTime parses an RFC 3339 time.
func readTime(field, text string) (time.Time, error) {
	t, err := instant.Parse(text)
	if err != nil {
		return time.Time{}, errdefs.InvalidField(field, "must be a time such as 2026-11-20T08:15:30Z; it is %q", errdefs.Shorten(text))
	}
	return t, nil
}
