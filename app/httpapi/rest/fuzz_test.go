package rest

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"opsmon/app/errdefs"
)

// FuzzIfMatch: the parsed header never matches a revision that it does not name.
func FuzzIfMatch(f *testing.F) {
	for _, seed := range []string{`"12-ab"`, `"12-ab-gzip"`, `"1-a", "2-b"`, "*", "", `W/"12-ab"`, `"-1-"`, `"99999999999999999999-"`, `"0x1f-"`, "\"1_2-"} {
		f.Add(seed, "")
	}
	f.Fuzz(func(t *testing.T, line, other string) {
		c := &Call{Request: &http.Request{Header: http.Header{}}}
		if c.IfMatch() != nil {
			t.Error("no header asks for something")
		}
		c.Request.Header["If-Match"] = []string{line, other}
		m := c.IfMatch()
		if m == nil {
			t.Fatal("a header asks for nothing")
		}
		if m.Any && !strings.Contains(line+other, "*") {
			t.Errorf("%q, %q name no *", line, other)
		}
		for _, n := range m.Revisions {
			if !strings.Contains(line+","+other, strconv.FormatUint(n, 10)+"-") {
				t.Errorf("%q, %q do not name revision %d", line, other, n)
			}
		}
	})
}

// FuzzQueryNumber: a number is within its limits, or the field is refused.
func FuzzQueryNumber(f *testing.F) {
	for _, seed := range []string{"", "1", "1000", "1001", "-1", "+5", "0x10", "1_000", "1e3", "٣", "99999999999999999999", " 1", "01"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := &Call{Request: &http.Request{URL: &url.URL{RawQuery: url.Values{"limit": {text}}.Encode()}}}
		n := c.Number("limit", 100, 1, 1000)
		err := c.QueryError()
		if err == nil {
			if n < 1 || n > 1000 || text == "" && n != 100 || text != "" && strings.Trim(text, "+0123456789") != "" {
				t.Errorf("%q is %d", text, n)
			}
			return
		}
		var e *errdefs.Error
		if !errors.As(err, &e) || e.Kind != errdefs.Invalid || e.Details[0].Field != "limit" || len(e.Message) > 1000 {
			t.Errorf("%q: %v", text, err)
		}
	})
}

// FuzzQuery: an unsafe request never panics, and only writes if each parameter is known and unique.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"dryrun=true", "dryrun=true;x", "dryrun", "%zz", "a=b&a=c", "note=%00", "&&&", "=", "dryrun=1&note=2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		r, err := http.NewRequest("PUT", "/account/manifest", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.URL.RawQuery = query
		c := &Call{Request: r, route: &Route{Query: []string{"dryrun", "note"}}}
		if err := c.checkQuery(); err != nil {
			if errdefs.KindOf(err) != errdefs.Invalid {
				t.Errorf("%q: %v", query, err)
			}
			return
		}
		for part := range strings.SplitSeq(query, "&") {
			name, _, _ := strings.Cut(part, "=")
			if part != "" && strings.ContainsAny(part, ";") || part != "" && !strings.Contains(name, "%") && name != "dryrun" && name != "note" {
				t.Errorf("%q passes", query)
			}
		}
	})
}
