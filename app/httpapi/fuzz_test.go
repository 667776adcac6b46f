package httpapi

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"opsmon/app/errdefs"
)

// FuzzAcceptEncoding holds acceptsGzip against RFC 9110 section 12.5.3, for headers that follow its grammar; others
// must not stop it.
func FuzzAcceptEncoding(f *testing.F) {
	for _, seed := range []string{"gzip", "gzip;q=0", "*;q=0, gzip;q=0.5", "br, *", ";;;", "gzip;q=", "GZIP ; Q=0.0", ",,gzip", "gzip;q=nan", "*;q=1e-400"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		got := acceptsGzip(&http.Request{Header: http.Header{"Accept-Encoding": {header}}})
		split := acceptsGzip(&http.Request{Header: http.Header{"Accept-Encoding": strings.Split(header, ",")}})
		if got != split && header != "" {
			t.Errorf("%q in one line %v, in several %v", header, got, split)
		}
		if lower := strings.ToLower(header); !strings.Contains(lower, "gzip") && !strings.Contains(header, "*") && got {
			t.Errorf("%q does not name gzip", header)
		}
		weights := map[string]float64{}
		for part := range strings.SplitSeq(header, ",") {
			name, q, found := strings.Cut(part, ";q=")
			weight := 1.0
			if found {
				v, err := strconv.ParseFloat(q, 64)
				if err != nil || v < 0 || v > 1 || strings.Trim(q, "0123456789.") != "" {
					return // not the grammar
				}
				weight = v
			}
			name = strings.ToLower(strings.Trim(name, " \t"))
			if _, twice := weights[name]; twice || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz*-") != "" {
				return
			}
			weights[name] = weight
		}
		want, named := weights["gzip"]
		if !named {
			want = weights["*"]
		}
		if got != (want > 0) {
			t.Errorf("%q: %v, weight %v", header, got, want)
		}
	})
}

// FuzzIfNoneMatch: a tag that is in the list is found, and no other one.
func FuzzIfNoneMatch(f *testing.F) {
	for _, seed := range []string{`"1-ab"`, `W/"1-ab"`, `"x", "1-ab"`, "*", "", `"1-ab`, `"1-ab""1-ab"`, `W/W/"1-ab"`, `, ,`} {
		f.Add(seed)
	}
	const tag = `"1-ab"`
	f.Fuzz(func(t *testing.T, header string) {
		got := matches([]string{header}, tag)
		if !strings.Contains(header, tag) && !strings.Contains(header, "*") && got {
			t.Errorf("%q holds no %s", header, tag)
		}
		if !matches([]string{header, tag}, tag) || !matches([]string{header + `,` + tag}, tag) {
			t.Errorf("the tag after %q is not found", header)
		}
	})
}

// FuzzIfMatch: what is read never matches a revision that the header does not name.
func FuzzIfMatch(f *testing.F) {
	for _, seed := range []string{`"12-ab"`, `"12-ab-gzip"`, `"1-a", "2-b"`, "*", "", `W/"12-ab"`, `"-1-"`, `"99999999999999999999-"`, `"0x1f-"`, "\"1_2-"} {
		f.Add(seed, "")
	}
	f.Fuzz(func(t *testing.T, line, other string) {
		c := &call{r: &http.Request{Header: http.Header{}}}
		if c.match() != nil {
			t.Error("no header asks for something")
		}
		c.r.Header["If-Match"] = []string{line, other}
		m := c.match()
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

// FuzzQueryNumber: a number is read within its bounds, or refused with the field.
func FuzzQueryNumber(f *testing.F) {
	for _, seed := range []string{"", "1", "1000", "1001", "-1", "+5", "0x10", "1_000", "1e3", "٣", "99999999999999999999", " 1", "01"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := &call{r: &http.Request{URL: &url.URL{RawQuery: url.Values{"limit": {text}}.Encode()}}}
		n := c.number("limit", 100, 1, 1000)
		err := c.unclear()
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

// FuzzQuery: no query makes an unsafe request panic or write unless each of its names is known and there once.
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
		c := &call{r: r, route: &route{query: []string{"dryrun", "note"}}}
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
