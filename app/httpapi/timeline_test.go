package httpapi

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"opsmon/app/auth"
	"opsmon/app/instant"
)

func TestTimeline(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Readonly)
	start := s.plant()
	get := func(path string) *answer {
		t.Helper()
		return s.do(ask{method: "GET", path: "/timeline?stationcode=PACK-1&" + path, key: key}).want(t, 200)
	}
	ms := func(after time.Duration) float64 { return float64(start.Add(after).UnixMilli()) }

	// Rows of half an hour, from before the shift.
	holds(t, get(rangeOf(start, -time.Hour, 2*time.Hour)+"&points=7"), map[string]any{
		"result.stationCode": "PACK-1", "result.from": ms(-time.Hour), "result.to": ms(2 * time.Hour), "result.stepMs": 30 * 60000, "result.rows": 6,
		"result.classes.outOfShift.1": 30 * 60000, "result.classes.productive.1": 0, "result.classes.productive.2": 30 * 60000, "result.classes.outOfShift.2": 0, "result.classes.downtime.4": 30 * 60000,
		"result.scheduledProduction.1": 0, "result.runTime.1": 0, "result.runTime.2": 30 * 60000, "result.runTime.4": 0, "result.scheduledProduction.2": 30 * 60000, "result.scheduledNonProduction.total.2": 0,
		"result.good.2": 60, "result.bad.2": 6, "result.ideal.1": nil, "result.ideal.2": 45, "result.target.2": 45, "result.target.4": 0,
		"result.lineSpeedAvg.1": nil, "result.lineSpeedAvg.2": 60, "result.lineSpeedAvg.4": 50, "result.lineSpeedTarget.2": nil, "result.electricalKwh.1": nil, "result.electricalKwh.4": 3,
	})
	// The last row is cut; runs are exact to the millisecond.
	a := get(rangeOf(start, 50*time.Minute, 65*time.Minute) + "&points=2")
	holds(t, a, map[string]any{
		"result.stepMs": 10 * 60000, "result.rows": 2, "result.classes.productive.0": 10 * 60000, "result.classes.downtime.1": 5 * 60000,
		"result.runs.0.class": "productive", "result.runs.0.start": ms(50 * time.Minute), "result.runs.0.end": ms(time.Hour), "result.runs.0.scheduled": "production", "result.runs.0.issueId": nil,
		"result.runs.1.class": "downtime", "result.runs.1.end": ms(65 * time.Minute), "result.runs.1.issueId": fmt.Sprintf("PACK-1.stop-%d", start.Add(time.Hour).UnixMilli()),
		"result.schedules.0.scheduleId": "s1", "result.schedules.0.skuCode": "B2", "result.schedules.0.shiftName": "Early", "result.schedules.0.nonProductionScheduleId": nil,
	})
	// A future range has no rows, and a long range has no runs.
	holds(t, get("from=2099-01-01T00:00:00Z&to=2099-01-02T00:00:00Z"), map[string]any{"result.rows": 0, "result.stepMs": 60000})
	holds(t, get(rangeOf(start, 0, 25*time.Hour)), map[string]any{"result.rows": 1500, "result.stepMs": 60000, "result.runs": nil, "result.schedules.0.scheduleId": "s1"})
	for _, bad := range [][2]string{
		{rangeOf(start, 0, time.Hour) + "&points=0", "points"},
		{rangeOf(start, 0, time.Hour) + "&points=5001", "points"},
		{"from=2024-01-01&to=2026-01-01", "from"},
		{"points=5", "from"},
	} {
		if a := s.do(ask{method: "GET", path: "/timeline?stationcode=PACK-1&" + bad[0], key: key}).want(t, 400); a.at("details", "0", "field") != bad[1] {
			t.Errorf("%s: %s", bad[0], a.body)
		}
	}
	for _, path := range []string{"/timeline?rangecode=today", "/timeline?rangecode=today&stationcode=PACK", "/signal?rangecode=today", "/signal?stationcode=NONE&rangecode=today"} {
		if a := s.do(ask{method: "GET", path: path, key: key}).want(t, 400); a.at("details", "0", "field") != "stationcode" {
			t.Errorf("%s: %s", path, a.body)
		}
	}
}

func TestListSignals(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Readonly)
	start := s.plant()
	get := func(path string, status int) *answer {
		t.Helper()
		return s.do(ask{method: "GET", path: "/signal?stationcode=PACK-1&" + path, key: key}).want(t, status)
	}
	a := get(rangeOf(start, 30*time.Second, 61*time.Minute), 200)
	holds(t, a, map[string]any{
		"paging.totalElements": 60 + 60 + 1, "results.0.at": instant.Format(start.Add(30 * time.Second)), "results.0.source": "device:acme/gw", "results.0.id": nil, "results.0.clockCorrected": false,
		"results.0.values.productionCompleteGood": 2, "results.0.values.productive": nil, "results.1.values.productive": true, "results.1.values.lineSpeed": 60, "results.1.values.electricalKwhInterval": 0.1, "results.1.values.rssi": -60,
		"results.120.at": instant.Format(start.Add(time.Hour)), "results.120.values.productive": false,
	})
	holds(t, get(rangeOf(start, 30*time.Second, 61*time.Minute)+"&limit=2&skip=119", 200), map[string]any{
		"paging.totalElements": 121, "results.0.at": instant.Format(start.Add(59*time.Minute + 30*time.Second)), "results.1.at": instant.Format(start.Add(time.Hour)), "results.2.at": nil,
	})
	// A range may extend over the end of a UTC day, and the skipped rows may be before it.
	midnight := time.Date(start.Year(), start.Month(), start.Day(), 0, 0, 0, 0, time.UTC)
	holds(t, get(rangeOf(midnight, -18*time.Hour, 6*time.Hour)+"&skip=1", 200), map[string]any{"results.0.at": instant.Format(start.Add(30 * time.Second))})
	holds(t, get(rangeOf(start, -time.Hour, 0), 200), map[string]any{"paging.totalElements": 0, "results.0.at": nil})
	// Many are read in pieces, which does not change the result.
	whole := get(rangeOf(midnight, -18*time.Hour, 6*time.Hour)+"&limit=40&skip=15", 200).body
	for _, piece := range []int{1, 7, 50} {
		s.api.signals.Piece = piece
		if got := get(rangeOf(midnight, -18*time.Hour, 6*time.Hour)+"&limit=40&skip=15", 200).body; !bytes.Equal(got, whole) {
			t.Errorf("in pieces of %d: %.300s, want %.300s", piece, got, whole)
		}
	}
	for bad, field := range map[string]string{rangeOf(start, 0, 26*time.Hour): "from", "": "from", "rangecode=today&limit=10001": "limit"} {
		if a := get(bad, 400); a.at("details", "0", "field") != field {
			t.Errorf("%s: %s", bad, a.body)
		}
	}
}
