package httpapi

import (
	"strings"
	"testing"
	"time"

	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/monitor"
	"opsmon/app/ingest/signal"
	"opsmon/app/instant"
)

// TestUnitsWithoutASchedule has two hours of 2 good units a minute and a bad one every ten, of which the second hour is
// scheduled at 90 an hour. Counts have all of them; ratios and losses those of the second hour.
func TestUnitsWithoutASchedule(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Readonly)
	s.must(nil, s.Floor.Pass("acme"))
	start := monday(t, s.clock.now())
	at := func(after time.Duration) int64 { return start.Add(after).UnixMilli() }
	var list []signal.Signal
	for m := range 120 {
		x := signal.Signal{Account: "acme", Station: "PACK-1", Source: "device:acme/gw", At: at(time.Duration(m)*time.Minute + 30*time.Second), Arrived: s.clock.now().UnixMilli()}
		x.Set(signal.ProductionCompleteGood, 2)
		if m%10 == 0 {
			x.Set(signal.ProductionCompleteBad, 1)
		}
		x.Set(signal.Productive, 1)
		list = append(list, x)
	}
	_, err := s.Signals.Append(list)
	s.must(nil, err)
	s.must(nil, s.Floor.Do("acme", func(w *floor.Work) error {
		for _, in := range []monitor.Input{
			{At: at(time.Hour), Kind: monitor.InputScheduleStart, Schedule: monitor.Schedule{ID: "s1", SKU: "B2"}},
			{At: at(2 * time.Hour), Kind: monitor.InputScheduleEnd, ID: "s1"},
		} {
			if _, err := w.Record("PACK-1", in); err != nil {
				return err
			}
		}
		return nil
	}))
	s.caughtUp(start, "PACK-1")
	two := rangeOf(start, 0, 2*time.Hour)
	holds(t, s.do(ask{method: "GET", path: "/oee?stationcodes=PACK-1&" + two, key: key}).want(t, 200), map[string]any{
		"results.0.productionGoodCount": 240, "results.0.productionBadCount": 12, "results.0.unscheduledGoodCount": 120, "results.0.unscheduledBadCount": 6,
		"results.0.noDataGoodCount": 0, "results.0.noDataBadCount": 0, "results.0.performance.numerator": 126, "results.0.quality.numerator": 120, "results.0.quality.denominator": 126,
		"results.0.losses.quality.units": 6,
	})
	for hour, want := range []string{",120,6,0,0\r\n", ",0,0,0,0\r\n"} {
		after := time.Duration(hour) * time.Hour
		window := s.do(ask{method: "GET", path: "/station-window?resolution=hour&stationcodes=PACK-1&" + rangeOf(start, after, after+time.Hour), key: key}).want(t, 200)
		holds(t, window, map[string]any{"results.0.productionGoodCount": 120, "results.0.unscheduledGoodCount": 120 * (1 - hour), "results.0.unscheduledBadCount": 6 * (1 - hour)})
		csv := s.do(ask{method: "GET", path: "/export/windows?resolution=hour&stationcodes=PACK-1&" + rangeOf(start, after, after+time.Hour), key: key}).want(t, 200)
		if !strings.HasSuffix(string(csv.body), want) {
			t.Errorf("the file of hour %d ends with %q, want %q", hour, csv.body, want)
		}
	}
}

// TestAStationThatNothingWasHeardOf is disconnected without a start, and has the reason.
func TestAStationThatNothingWasHeardOf(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Readonly)
	s.must(nil, s.Floor.Pass("acme"))
	status := func() *answer {
		t.Helper()
		return s.do(ask{method: "GET", path: "/station?stationcodes=PACK-1", key: key}).want(t, 200)
	}
	holds(t, status(), map[string]any{"results.0.statusCode": "disconnected", "results.0.statusCodeUpdatedAt": nil, "results.0.noSignalYet": true, "results.0.isAlive": false})
	holds(t, s.do(ask{method: "GET", path: "/station/PACK-1", key: key}).want(t, 200), map[string]any{"result.statusCode": "disconnected", "result.statusCodeUpdatedAt": nil})
	x := signal.Signal{Account: "acme", Station: "PACK-1", Source: "device:acme/gw", At: s.clock.now().UnixMilli(), Arrived: s.clock.now().UnixMilli()}
	x.Set(signal.RSSI, -60)
	_, err := s.Signals.Append([]signal.Signal{x})
	s.must(nil, err)
	s.must(nil, s.Floor.Pass("acme"))
	holds(t, status(), map[string]any{"results.0.noSignalYet": false, "results.0.isAlive": true})
	s.clock.advance(7 * time.Minute)
	s.must(nil, s.Floor.Pass("acme"))
	a := status()
	holds(t, a, map[string]any{"results.0.statusCode": "disconnected", "results.0.noSignalYet": false, "results.0.isAlive": false})
	if since := a.at("results", "0", "statusCodeUpdatedAt"); since != instant.FormatMs(x.At) {
		t.Errorf("it is disconnected since %v, want %s", since, instant.FormatMs(x.At))
	}
}
