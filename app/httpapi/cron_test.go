package httpapi

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"opsmon/app/auth"
)

// TestCron: a pattern is explained by the code that makes Tasks due, including a clock change.
func TestCron(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Readonly)
	a := s.do(ask{method: "GET", path: "/cron?pattern=0+6,14+*+*+1-5&timezone=Europe/London&count=3", key: key}).want(t, 200)
	holds(t, a, map[string]any{"result.words": "at 06:00 and 14:00, Monday to Friday", "result.smallestGapMinutes": 8 * 60})
	london, err := time.LoadLocation("Europe/London")
	s.must(nil, err)
	last := time.Now()
	for i := range 3 {
		at, err := time.Parse(time.RFC3339, fmt.Sprint(a.at("result", "fires", fmt.Sprint(i))))
		if err != nil || !at.After(last) {
			t.Fatalf("fire %d is %v, %v", i, at, err)
		}
		if here := at.In(london); here.Minute() != 0 || here.Hour() != 6 && here.Hour() != 14 || here.Weekday() == time.Saturday || here.Weekday() == time.Sunday {
			t.Errorf("fire %d is on %s", i, here)
		}
		last = at
	}
	// The day on which daylight saving time begins has 23 hours.
	a = s.do(ask{method: "GET", path: "/cron?pattern=0+0+*+*+*&timezone=Europe/London", key: key}).want(t, 200)
	holds(t, a, map[string]any{"result.smallestGapMinutes": 23 * 60})
	for _, tt := range []struct{ query, field, issue string }{
		{"pattern=0+24+*+*+*&timezone=UTC", "pattern", "hour must be 0 to 23; it is 24"},
		{"pattern=@daily&timezone=UTC", "pattern", "must be five fields"},
		{"timezone=UTC", "pattern", "must have exactly five fields"},
		{"pattern=*+*+*+*+*", "timezone", "must be an IANA time zone name"},
		{"pattern=*+*+*+*+*&timezone=Local", "timezone", "must be an IANA time zone name"},
		{"pattern=*+*+*+*+*&timezone=UTC&count=101", "count", "must be a whole number from 1 to 100"},
	} {
		a := s.do(ask{method: "GET", path: "/cron?" + tt.query, key: key}).want(t, 400)
		if field, issue := a.at("details", "0", "field"), fmt.Sprint(a.at("details", "0", "issue")); field != tt.field || !strings.HasPrefix(issue, tt.issue) {
			t.Errorf("%s: %v %s, want %s %s", tt.query, field, issue, tt.field, tt.issue)
		}
	}
}
