package httpapi

import (
	"testing"
	"time"

	"opsmon/app/auth"
	"opsmon/app/instant"
)

func TestTuning(t *testing.T) {
	s := newServer(t, options{})
	reader, supervisor := s.roleKey(auth.Readonly), s.roleKey(auth.Supervisor)
	start := s.plant()
	stand := func(query string, status int) *answer {
		t.Helper()
		return s.do(ask{method: "GET", path: "/analysis/standstill?stationcode=PACK-1&" + query, key: reader}).want(t, status)
	}
	at := func(after time.Duration) string { return instant.Format(start.Add(after)) }
	// PACK-1 runs for an hour, and is stopped until the schedule ends. Units come every half minute, and restart the
	// time only while it is stopped.
	holds(t, stand(rangeOf(start, 0, 3*time.Hour), 200), map[string]any{
		"result.stationCode": "PACK-1", "result.from": at(0), "result.to": at(3 * time.Hour), "result.complete": true, "result.lengths.count": 1, "result.lengths.totalMs": 3600000,
		"result.stretches.0.startAt": at(time.Hour), "result.stretches.0.endAt": at(2 * time.Hour), "result.stretches.0.durationMs": 3600000, "result.stretches.1": nil,
	})
	holds(t, stand(rangeOf(start, 90*time.Minute, 95*time.Minute), 200), map[string]any{"result.stretches.0.startAt": at(90 * time.Minute), "result.stretches.0.durationMs": 300000})
	for bad, field := range map[string]string{rangeOf(start, -32*24*time.Hour, 0): "from", "rangecode=today&limit=10001": "limit", "": "from"} {
		if a := stand(bad, 400); a.at("details", "0", "field") != field {
			t.Errorf("%s: %s", bad, a.body)
		}
	}
	tune := func(changes string, status int) *answer {
		t.Helper()
		body := `{"stationCodes":["PACK-1"],"from":"` + at(0) + `","to":"` + at(2*time.Hour) + `","changes":` + changes + `}`
		return s.do(ask{method: "POST", path: "/analysis/tuning", key: supervisor, body: body}).want(t, status)
	}
	holds(t, tune(`{"station":{"utilisationDowntimeThreshold":3600001}}`, 200), map[string]any{
		"result.before.figures.downtimeMs": 3600000, "result.before.figures.availability": 0.5, "result.before.stops.count": 1, "result.before.stops.totalMs": 3600000,
		"result.after.figures.downtimeMs": 0, "result.after.figures.availability": 1, "result.after.stops.count": 0, "result.after.figures.targetCount": 180,
	})
	if a := tune(`{"station":{"utilisationDowntimeThreshold":-1}}`, 400); a.at("details", "0", "field") != "changes.station.utilisationDowntimeThreshold" {
		t.Errorf("%s", a.body)
	}
	holds(t, s.do(ask{method: "GET", path: "/correction", key: s.roleKey(auth.Admin)}).want(t, 200), map[string]any{"paging.totalElements": 0})
}
