package negotiate_test

import (
	"strconv"
	"strings"
	"testing"

	"opsmon/app/negotiate"
)

func TestGzip(t *testing.T) {
	for header, want := range map[string]bool{
		"": false, "gzip": true, "GZIP": true, "br, gzip;q=0.5": true, "gzip;q=0": false, "gzip; q=0.0, *": false, "*": true, "*;q=0": false,
		"identity": false, "br": false, "*;q=0, gzip": true, "gzip, *;q=0": true,
	} {
		if got := negotiate.Gzip([]string{header}); got != want {
			t.Errorf("%q: %v", header, got)
		}
	}
}

// FuzzAcceptEncoding compares Gzip with RFC 9110 section 12.5.3 for headers that follow its grammar; others must not
// make it panic.
func FuzzAcceptEncoding(f *testing.F) {
	for _, seed := range []string{"gzip", "gzip;q=0", "*;q=0, gzip;q=0.5", "br, *", ";;;", "gzip;q=", "GZIP ; Q=0.0", ",,gzip", "gzip;q=nan", "*;q=1e-400"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		got := negotiate.Gzip([]string{header})
		split := negotiate.Gzip(strings.Split(header, ","))
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
					return // does not follow the grammar
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

// FuzzIfNoneMatch checks that a tag in the list is found, and no other.
func FuzzIfNoneMatch(f *testing.F) {
	for _, seed := range []string{`"1-ab"`, `W/"1-ab"`, `"x", "1-ab"`, "*", "", `"1-ab`, `"1-ab""1-ab"`, `W/W/"1-ab"`, `, ,`} {
		f.Add(seed)
	}
	const tag = `"1-ab"`
	f.Fuzz(func(t *testing.T, header string) {
		got := negotiate.Matches([]string{header}, tag)
		if !strings.Contains(header, tag) && !strings.Contains(header, "*") && got {
			t.Errorf("%q holds no %s", header, tag)
		}
		if !negotiate.Matches([]string{header, tag}, tag) || !negotiate.Matches([]string{header + `,` + tag}, tag) {
			t.Errorf("the tag after %q is not found", header)
		}
	})
}
