package httpapi

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"opsmon/app/auth"
)

// TestTooManyResults: a request with too many results is refused before its stations are read.
func TestTooManyResults(t *testing.T) {
	s := newServer(t, options{most: 150})
	key := s.roleKey(auth.Readonly)
	start := s.plant()
	week := rangeOf(start, 0, 7*24*time.Hour)
	for path, least := range map[string]int{"/oee?by=station,hour&": 2 * 168, "/energy?by=station,hour&": 2 * 168} {
		a := s.do(ask{method: "GET", path: path + week, key: key}).want(t, 400)
		holds(t, a, map[string]any{"details.0.field": "by"})
		if want := fmt.Sprintf("makes %d results or more, and at most 150 are given", least); !strings.Contains(string(a.body), want) {
			t.Errorf("%s: %s, want %s", path, a.body, want)
		}
	}
	for _, path := range []string{"/oee?by=station,day&", "/oee?by=hour&", "/energy?by=hour&stationcodes=PACK-1&"} {
		s.do(ask{method: "GET", path: path + rangeOf(start, 0, 5*24*time.Hour), key: key}).want(t, 200)
	}
	// There is no data before: few results, however long the range.
	s.do(ask{method: "GET", path: "/oee?by=station,hour&" + rangeOf(start, -100*24*time.Hour, time.Hour), key: key}).want(t, 200)
}
