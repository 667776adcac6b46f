package httpapi

import (
	"testing"
	"time"

	"opsmon/app/auth"
)

// TestFiguresOfNoStation checks answers without stations: they have the requested time and no figures.
func TestFiguresOfNoStation(t *testing.T) {
	s := newServer(t, options{})
	s.must(nil, s.Floor.Pass("acme"))
	key := s.roleKey(auth.Readonly)
	from := s.clock.now().Add(-time.Hour).Truncate(time.Minute)
	text := func(t time.Time) string { return iso8601(t.UnixMilli()) }
	for _, path := range []string{"/oee", "/energy"} {
		a := s.do(ask{method: "GET", path: path + "?groupcode=packing&stationcodes=KWH-1&from=" + text(from) + "&to=" + text(from.Add(30*time.Minute)), key: key}).want(t, 200)
		if a.text("results", "0", "startAt") != text(from) || a.text("results", "0", "endAt") != text(from.Add(30*time.Minute)) {
			t.Errorf("%s: %s", path, a.body)
		}
	}
}
