package rest

import (
	"testing"
	"time"
)

// TestAnonymousRequestsAreCounted: the log has the number of refusals once a minute, and metrics have all of them.
func TestAnonymousRequestsAreCounted(t *testing.T) {
	var s anonymousRequests
	start := time.Date(2026, 1, 12, 8, 0, 0, 0, time.UTC)
	var told []uint64
	for i := range 150 {
		if n := s.refused(map[bool]int{true: 401, false: 404}[i%3 > 0], start.Add(time.Duration(i)*time.Second)); n > 0 {
			told = append(told, n)
		}
	}
	if len(told) != 3 || told[0] != 1 || told[1] != 60 || told[2] != 60 {
		t.Errorf("the log was told of %v", told)
	}
	if n := s.refused(401, start.Add(-time.Hour)); n != 30 {
		t.Errorf("after the clock went back the log was told of %d", n)
	}
	list := s.gauges()
	if len(list) != 2 || list[0].Label[1] != "401" || list[0].Value != 101 || list[1].Value != 50 || !list[0].Total {
		t.Errorf("metrics are %+v", list)
	}
}
