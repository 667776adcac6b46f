package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/report"
	"opsmon/app/httpapi/rest"
	"opsmon/app/ingest/signal"
	"opsmon/app/instant"
	"opsmon/app/test/apptest"
)

// monday returns the start of a past early shift of acme's packers: 6 o'clock in Berlin on a Monday.
func monday(t testing.TB, now time.Time) time.Time {
	t.Helper()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	d := now.In(berlin).AddDate(0, 0, -8)
	for d.Weekday() != time.Monday {
		d = d.AddDate(0, 0, -1)
	}
	return time.Date(d.Year(), d.Month(), d.Day(), 6, 0, 0, 0, berlin)
}

// plant runs two packers in the first hours of a Monday, with numbers that allow calculation by hand.
//
// From 6 to 8 the wafer B2 is scheduled on PACK-1, at 90 an hour. From 6 to 7 it runs: each minute has 2 good wafers,
// and one has 6 bad ones. From 7 on it is stopped, which becomes a stop after an hour, at 8. Each minute until 8 uses
// 0.1 kWh. PACK-2 sends signals from 6 to 6:30 and has no schedule; each minute uses 0.2 kWh.
func (s *server) plant() (start time.Time) {
	s.t.Helper()
	s.must(nil, s.Floor.Pass("acme"))
	start = monday(s.t, s.clock.now())
	at := func(after time.Duration) int64 { return start.Add(after).UnixMilli() }
	var list []signal.Signal
	send := func(code string, after time.Duration, fields map[signal.Field]float64) {
		x := signal.Signal{Account: "acme", Station: code, Source: "device:acme/gw", At: at(after), Arrived: s.clock.now().UnixMilli()}
		for f, v := range fields {
			x.Set(f, v)
		}
		list = append(list, x)
	}
	for m := range 120 {
		minute, running := time.Duration(m)*time.Minute, 0.0
		if m < 60 {
			running = 1
			send("PACK-1", minute+30*time.Second, map[signal.Field]float64{signal.ProductionCompleteGood: 2})
		}
		send("PACK-1", minute, map[signal.Field]float64{signal.Productive: running, signal.ElectricalKwhInterval: 0.1, signal.LineSpeed: 50 + 10*running, signal.RSSI: -60})
		if m < 30 {
			send("PACK-2", minute, map[signal.Field]float64{signal.ElectricalKwhInterval: 0.2})
		}
	}
	send("PACK-1", 2*time.Hour, map[signal.Field]float64{signal.RSSI: -60})
	send("PACK-1", 10*time.Minute+45*time.Second, map[signal.Field]float64{signal.ProductionCompleteBad: 6})
	_, err := s.Signals.Append(list)
	s.must(nil, err)
	s.must(nil, s.Floor.Do("acme", func(w *floor.Work) error {
		for _, in := range []monitor.Input{
			{At: at(0), Kind: monitor.InputScheduleStart, Schedule: monitor.Schedule{ID: "s1", SKU: "B2"}},
			{At: at(2 * time.Hour), Kind: monitor.InputScheduleEnd, ID: "s1"},
		} {
			if _, err := w.Record("PACK-1", in); err != nil {
				return err
			}
		}
		return nil
	}))
	s.caughtUp(start, "PACK-1", "PACK-2")
	return start
}

// caughtUp waits until late signals of stations were processed, which has a low priority.
func (s *server) caughtUp(start time.Time, codes ...string) {
	s.t.Helper()
	for _, code := range codes {
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			s.must(nil, s.Floor.Pass("acme"))
			since, err := s.Floor.Since("acme", code)
			s.must(nil, err)
			if since <= start.UnixMilli() {
				break
			}
			if time.Now().After(end) {
				s.t.Fatalf("what came late at %s is not accounted for", code)
			}
		}
	}
}

// rangeOf formats a range as a query.
func rangeOf(start time.Time, from, to time.Duration) string {
	return "from=" + instant.Format(start.Add(from)) + "&to=" + instant.Format(start.Add(to))
}

// holds compares members of an answer, by path, with expected values.
func holds(t *testing.T, a *answer, want map[string]any) {
	t.Helper()
	for path, value := range want {
		got := a.at(strings.Split(path, ".")...)
		if n, ok := value.(int); ok {
			value = float64(n)
		}
		if x, ok := value.(float64); ok {
			if y, ok := got.(float64); ok && math.Abs(x-y) <= 1e-9*max(1, math.Abs(x)) {
				continue
			}
		}
		if got != value {
			t.Errorf("%s is %v, want %v", path, got, value)
		}
	}
}

func TestFigures(t *testing.T) {
	apptest.Long(t)
	s := newServer(t, options{})
	key := s.roleKey(auth.Readonly)
	start := s.plant()
	get := func(path string) *answer {
		t.Helper()
		return s.do(ask{method: "GET", path: path, key: key}).want(t, 200)
	}
	two := rangeOf(start, 0, 2*time.Hour)

	t.Run("minutes", func(t *testing.T) {
		a := get("/station-window?stationcodes=PACK-1&" + two + "&limit=60&skip=10")
		holds(t, a, map[string]any{
			"paging.totalElements": 120, "results.0.windowStartAt": instant.Format(start.Add(10 * time.Minute)), "results.0.windowEndAt": instant.Format(start.Add(11 * time.Minute)),
			"results.0.stationCode": "PACK-1", "results.0.totalMs": 60000, "results.0.shiftMs": 60000, "results.0.scheduledProductionMs": 60000, "results.0.productiveMs": 60000,
			"results.0.productionGoodCount": 2, "results.0.productionBadCount": 6, "results.0.productionIdealCount": 1.5, "results.0.productionTargetCount": 1.5,
			"results.0.electricalKwh": 0.1, "results.0.rssiAvg": -60, "results.0.lineSpeedAvg": 60, "results.0.lineSpeedTarget": nil, "results.0.downtimeSince": nil,
			"results.0.isAlive": true, "results.0.scheduleIds.0": "s1", "results.0.skuCode": "B2", "results.0.manifestRevision": 1, "results.0.shiftName": nil,
			"results.59.downtimeMs": 60000, "results.59.productionTargetCount": 0, "results.59.productionIdealCount": 1.5,
			"results.59.downtimeSince": instant.Format(start.Add(time.Hour)), "results.59.issueIds.0": fmt.Sprintf("PACK-1.stop-%d", start.Add(time.Hour).UnixMilli()),
		})
		if list := a.at("results").([]any); len(list) != 60 {
			t.Errorf("%d rows", len(list))
		}
		// A page may begin at one station and end at the next.
		a = get("/station-window?stationcodes=PACK-1,PACK-2&" + two + "&limit=4&skip=118")
		holds(t, a, map[string]any{"paging.totalElements": 240, "results.1.stationCode": "PACK-1", "results.2.stationCode": "PACK-2", "results.2.windowStartAt": instant.Format(start), "results.2.idleMs": 60000, "results.2.productionIdealCount": nil})
		if all := get("/station-window?stationcodes=PACK-1&" + rangeOf(start, 0, 24*time.Hour)).at("results").([]any); len(all) != 1440 {
			t.Errorf("a day has %d minutes", len(all))
		}
		if a = get("/station-window?stationcodes=PACK-1&" + two + "&skip=500"); len(a.at("results").([]any)) != 0 {
			t.Errorf("%s", a.body)
		}
	})
	t.Run("hours, days and shifts", func(t *testing.T) {
		hours := get("/station-window?resolution=hour&stationcodes=PACK-1&" + rangeOf(start, 30*time.Minute, 2*time.Hour))
		holds(t, hours, map[string]any{
			"paging.totalElements": 2, "results.0.totalMs": 1800000, "results.0.productiveMs": 1800000, "results.0.productionGoodCount": 60, "results.0.productionBadCount": 0,
			"results.1.downtimeMs": 3600000, "results.1.electricalKwh": 6, "results.1.lineSpeedAvg": 50, "results.1.windowEndAt": instant.Format(start.Add(2 * time.Hour)),
		})
		days := get("/station-window?resolution=day&stationcodes=PACK-1&" + rangeOf(start, 0, 24*time.Hour))
		holds(t, days, map[string]any{
			"paging.totalElements": 1, "results.0.totalMs": 86400000, "results.0.shiftMs": 15.5 * 3600000, "results.0.outOfShiftMs": 8.5 * 3600000, "results.0.scheduledProductionMs": 7200000,
			"results.0.productiveMs": 3600000, "results.0.downtimeMs": 3600000, "results.0.productionGoodCount": 120, "results.0.productionIdealCount": 180, "results.0.productionTargetCount": 90, "results.0.electricalKwh": 12,
		})
		shifts := get("/station-window?resolution=shift&stationcodes=PACK-1&" + rangeOf(start, -time.Hour, 24*time.Hour))
		holds(t, shifts, map[string]any{
			"paging.totalElements": 2, "results.0.shiftName": "Early", "results.0.totalMs": 8 * 3600000, "results.0.shiftMs": 8 * 3600000, "results.0.downtimeMs": 3600000,
			"results.1.shiftName": "Late", "results.1.totalMs": 7.5 * 3600000, "results.1.windowStartAt": instant.Format(start.Add(510 * time.Minute)),
		})
	})
	t.Run("oee by the minute", func(t *testing.T) {
		a := get("/oee?by=minute,station&stationcodes=PACK-1&" + rangeOf(start, 10*time.Minute, 2*time.Hour))
		holds(t, a, map[string]any{
			"results.0.startAt": instant.Format(start.Add(10 * time.Minute)), "results.0.endAt": instant.Format(start.Add(11 * time.Minute)), "results.0.stationCode": "PACK-1", "results.0.totalMs": 60000,
			"results.0.performance.numerator": 8, "results.0.performance.denominator": 1.5, "results.0.losses.quality.units": 6, "results.1.performance.numerator": 2,
			"results.109.availability.value": 0, "results.109.losses.downtime.units": 1.5, "results.110.startAt": nil,
		})
	})
	t.Run("oee", func(t *testing.T) {
		// A = 60 of 120 minutes, P = 126 of the 90 due in the hour without downtime, Q = 120 of 126.
		a := get("/oee?stationcodes=PACK-1&" + two)
		holds(t, a, map[string]any{
			"results.0.stationCode": nil, "results.0.startAt": instant.Format(start), "results.0.endAt": instant.Format(start.Add(2 * time.Hour)), "results.0.profile": "default",
			"results.0.availability.value": 0.5, "results.0.availability.numerator": 3600000, "results.0.availability.denominator": 7200000, "results.0.availability.aboveOne": nil,
			"results.0.performance.value": 1.4, "results.0.performance.numerator": 126, "results.0.performance.denominator": 90, "results.0.performance.aboveOne": true, "results.0.performance.cause": "rateTooLow",
			"results.0.quality.value": 120.0 / 126, "results.0.oee.value": 0.5 * 1.4 * 120 / 126, "results.0.coverage.value": 1,
			"results.0.productionGoodCount": 120, "results.0.productionIdealCount": 180, "results.0.productionTargetCount": 90,
			"results.0.losses.downtime.ms": 3600000, "results.0.losses.downtime.units": 90, "results.0.losses.downtime.money": nil,
			"results.0.losses.speed.units": 90 - 126, "results.0.losses.speed.ms": 3600000 - 126*40000, "results.0.losses.quality.units": 6, "results.0.losses.quality.ms": 240000,
			"results.0.losses.schedule.ms": 0, "results.0.losses.schedule.units": nil,
		})
		// 84 minutes of work in 60.
		holds(t, get("/oee?profile=iso22400&stationcodes=PACK-1&"+two), map[string]any{"results.0.availability.value": 0.5, "results.0.performance.value": 84.0 / 60})
		holds(t, get("/oee?profile=evocon&stationcodes=PACK-1&"+two), map[string]any{"results.0.availability.value": 0.5, "results.0.performance.value": 1})
		// A station without any planned production has no figures.
		holds(t, get("/oee?stationcodes=PACK-2&"+two), map[string]any{"results.0.availability.value": nil, "results.0.oee.value": nil, "results.0.coverage.value": nil, "results.0.losses.schedule.ms": 1740000})
		by := get("/oee?by=station,hour&plantcode=north&groupcode=packing&" + two)
		holds(t, by, map[string]any{
			"results.0.stationCode": "PACK-1", "results.0.groupCode": "packing", "results.0.plantCode": "north", "results.0.startAt": instant.Format(start), "results.0.availability.value": 1,
			"results.1.availability.value": 0, "results.1.performance.value": nil, "results.1.endAt": instant.Format(start.Add(2 * time.Hour)), "results.2.stationCode": "PACK-2",
		})
		week := get("/oee?by=sku,week&stationcodes=PACK-1,PACK-2&" + rangeOf(start, 0, 72*time.Hour))
		holds(t, week, map[string]any{"results.0.skuCode": "B2", "results.0.plantCode": nil, "results.0.startAt": instant.Format(start), "results.0.oee.value": 0.5 * 1.4 * 120 / 126, "results.1.skuCode": "UNKNOWN"})
		shift := get("/oee?by=shift,day&stationcodes=PACK-1&" + rangeOf(start, 0, 24*time.Hour))
		holds(t, shift, map[string]any{"results.1.shiftName": "Early", "results.1.productionGoodCount": 120, "results.1.shiftMs": 8 * 3600000, "results.2.shiftName": "Late", "results.0.shiftName": nil, "results.0.outOfShiftMs": 8.5 * 3600000})
	})
	t.Run("energy", func(t *testing.T) {
		// 12 kWh on PACK-1, all in scheduled production; 6 on PACK-2, all outside; 0.25 a kWh.
		holds(t, get("/energy?by=station&groupcode=packing&"+two), map[string]any{
			"results.0.stationCode": "PACK-1", "results.0.electricalKwh": 12, "results.0.outsideProductionKwh": 0, "results.0.cost": 3, "results.0.co2": nil,
			"results.0.productionCount": 126, "results.0.productiveMs": 3600000, "results.0.kwhPerUnit": 12.0 / 126, "results.0.kwhPerProductiveHour": 12,
			"results.1.electricalKwh": 6, "results.1.outsideProductionKwh": 6, "results.1.cost": 1.5, "results.1.kwhPerUnit": nil,
		})
		holds(t, get("/energy?by=plant,day&"+two), map[string]any{"results.0.plantCode": "north", "results.0.electricalKwh": 18, "results.0.startAt": instant.Format(start)})
		holds(t, get("/energy?"+two), map[string]any{"results.0.plantCode": nil, "results.0.electricalKwh": 18, "results.0.startAt": instant.Format(start)})
	})
	t.Run("energy that nobody measured", func(t *testing.T) {
		minutes := get("/station-window?stationcodes=PACK-2&limit=1000&" + two)
		holds(t, minutes, map[string]any{
			// the time covered by the first one is unknown
			"results.0.electricalKwh": 0.2, "results.0.electricalKnownMs": 0, "results.1.electricalKnownMs": 60000,
			"results.29.electricalKwh": 0.2, "results.30.electricalKwh": nil, "results.30.electricalKnownMs": 0, "results.119.electricalKwh": nil,
		})
		holds(t, get("/station-window?resolution=hour&stationcodes=PACK-2&"+two), map[string]any{"results.0.electricalKwh": 6, "results.0.electricalKnownMs": 29 * 60000, "results.1.electricalKwh": nil})
		holds(t, get("/station-window?resolution=shift&stationcodes=PACK-2&"+rangeOf(start, 0, 24*time.Hour)), map[string]any{"results.0.electricalKwh": 6, "results.1.electricalKwh": nil})
		holds(t, get("/station-window?stationcodes=KWH-1&resolution=day&"+two), map[string]any{"results.0.electricalKwh": nil})
		holds(t, get("/energy?by=station,hour&stationcodes=PACK-2&"+two), map[string]any{
			"results.0.electricalKwh": 6, "results.0.coverage.value": 29.0 / 60, "results.0.coverage.numerator": 29 * 60000, "results.0.coverage.denominator": 3600000,
			"results.1.electricalKwh": nil, "results.1.outsideProductionKwh": nil, "results.1.cost": nil, "results.1.kwhPerUnit": nil, "results.1.kwhPerProductiveHour": nil, "results.1.coverage.value": 0,
		})
		holds(t, get("/energy?by=group&"+two), map[string]any{
			"results.0.groupCode": "packing", "results.0.electricalKwh": 18, "results.0.cost": 4.5, "results.0.coverage.numerator": (119 + 29) * 60000, "results.0.coverage.denominator": 240 * 60000,
			// it did not exist yet
			"results.1.groupCode": "meters", "results.1.electricalKwh": nil, "results.1.cost": nil, "results.1.coverage.value": nil,
		})
		holds(t, get("/energy?"+two), map[string]any{"results.0.electricalKwh": 18, "results.0.coverage.value": 148.0 / 240})
		holds(t, get("/energy?"+rangeOf(start, -400*24*time.Hour, -399*24*time.Hour)), map[string]any{"results.0.electricalKwh": nil, "results.0.coverage.value": nil})
		table, err := csv.NewReader(bytes.NewReader(get("/export/windows?stationcodes=PACK-2&" + two).body)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		at := slices.Index(table[0], "electricalKwh")
		if got := fmt.Sprint(table[1][at], " ", table[30][at], " ", table[31][at], ".", table[31][at+1]); got != "0.2 0.2 .0" {
			t.Errorf("the table has %s", got)
		}
	})
	t.Run("pareto", func(t *testing.T) {
		a := get("/pareto?" + rangeOf(start, 90*time.Minute, 4*time.Hour))
		holds(t, a, map[string]any{"results.0.causeCode": nil, "results.0.downtimeMs": 1800000, "results.0.count": 1, "results.0.share": 1, "results.0.cumulative": 1})
	})
	t.Run("cycle times", func(t *testing.T) {
		// 2 wafers every 60 s, except for 6 bad ones after 15 s and 2 good ones 45 s after those.
		a := get("/analysis/cycletime?stationcodes=PACK-1&" + two)
		holds(t, a, map[string]any{"results.0.stationCode": "PACK-1", "results.0.skuCode": "B2", "results.0.specifiedCycleMs": 40000, "results.0.count": 118 + 6, "results.0.medianMs": 30000, "results.0.best10PercentMs": 30000, "results.0.spreadMs": 0})
	})
	t.Run("export", func(t *testing.T) {
		a := get("/export/windows?stationcodes=PACK-1&" + two)
		if got := a.header.Get("Content-Disposition"); got != `attachment; filename="windows-`+start.UTC().Format(time.DateOnly)+`.csv"` {
			t.Errorf("the file is %s", got)
		}
		table, err := csv.NewReader(bytes.NewReader(a.body)).ReadAll()
		if err != nil || len(table) != 121 || !bytes.Contains(a.body, []byte("\r\n")) {
			t.Fatalf("%d rows, %v", len(table), err)
		}
		row := map[string]string{}
		for i, name := range table[0] {
			row[name] = table[11][i]
		}
		for name, want := range map[string]string{"stationCode": "PACK-1", "windowStartAt": instant.Format(start.Add(10 * time.Minute)), "productionBadCount": "6", "electricalKwh": "0.1", "rssiAvg": "-60", "lineSpeedTarget": "", "isAlive": "true"} {
			if row[name] != want {
				t.Errorf("%s is %q, want %q", name, row[name], want)
			}
		}
		// A long one is sent while it is generated, and may be compressed.
		for _, encoding := range []string{"", "gzip"} {
			long := s.do(ask{method: "GET", path: "/export/windows?stationcodes=PACK-1,PACK-2&" + rangeOf(start, 0, 7*24*time.Hour), key: key, header: map[string]string{"Accept-Encoding": encoding}}).want(t, 200)
			if n := bytes.Count(long.body, []byte("\r\n")); n != 2*7*24*60+1 || long.header.Get("Content-Length") != "" {
				t.Errorf("%d lines, Content-Length %q", n, long.header.Get("Content-Length"))
			}
		}
	})
}

// TestEnergyOfStationsNeverHeardOf: the energy of stations without signals is unknown, for one station, the group and
// the plant. A day later one of them sends its energy, and the answer has the share of known time.
func TestEnergyOfStationsNeverHeardOf(t *testing.T) {
	s := newServer(t, options{})
	s.must(nil, s.Floor.Pass("acme"))
	begun := s.clock.now().Truncate(time.Minute).Add(time.Minute)
	s.clock.advance(time.Hour)
	s.must(nil, s.Floor.Pass("acme"))
	key := s.roleKey(auth.Readonly)
	get := func(path string) *answer {
		t.Helper()
		return s.do(ask{method: "GET", path: path + rangeOf(begun, 0, 10*time.Minute), key: key}).want(t, 200)
	}
	unknown := func(a *answer, minutes int) {
		t.Helper()
		holds(t, a, map[string]any{"results.0.electricalKwh": nil, "results.0.outsideProductionKwh": nil, "results.0.cost": nil, "results.0.kwhPerUnit": nil,
			"results.0.coverage.value": 0, "results.0.coverage.numerator": 0, "results.0.coverage.denominator": minutes * 60000})
	}
	unknown(get("/energy?by=station&"), 10)
	unknown(get("/energy?by=group&"), 20)
	unknown(get("/energy?by=plant&"), 30) // not by the hour: the ten minutes may be in two
	unknown(get("/energy?"), 30)
	holds(t, get("/station-window?stationcodes=KWH-1&"), map[string]any{"results.0.electricalKwh": nil, "results.0.electricalKnownMs": 0})
	var list []signal.Signal
	for i, kwh := range []float64{7, 7, 9} {
		x := signal.Signal{Account: "acme", Station: "KWH-1", Source: "device:acme/gw", At: begun.Add(time.Duration(3*i) * time.Minute).UnixMilli(), Arrived: s.clock.now().UnixMilli()}
		x.Set(signal.ElectricalKwh, kwh)
		list = append(list, x)
	}
	_, err := s.Signals.Append(list)
	s.must(nil, err)
	s.must(nil, s.Floor.Pass("acme"))
	for end := time.Now().Add(20 * time.Second); get("/energy?by=plant&").at("results", "0", "electricalKwh") == nil && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
	}
	holds(t, get("/energy?by=plant&"), map[string]any{"results.0.electricalKwh": 2, "results.0.cost": 0.5, "results.0.coverage.numerator": 6 * 60000, "results.0.coverage.denominator": 30 * 60000})
	holds(t, get("/station-window?stationcodes=KWH-1&"), map[string]any{"results.0.electricalKwh": nil, "results.3.electricalKwh": 0, "results.3.electricalKnownMs": 180000, "results.5.electricalKwh": nil, "results.6.electricalKwh": 2})
}

// TestFiguresRefuse: errors name the invalid field.
func TestFiguresRefuse(t *testing.T) {
	s := newServer(t, options{})
	s.must(nil, s.Floor.Pass("acme"))
	key := s.roleKey(auth.Readonly)
	for _, tt := range []struct{ path, field, issue string }{
		{"/station-window", "from", "must be given, or rangecode"},
		{"/station-window?rangecode=today&resolution=year", "resolution", `must be minute, hour, shift or day; it is "year"`},
		{"/station-window?rangecode=today&limit=100001", "limit", `must be a whole number from 1 to 100000; it is "100001"`},
		{"/station-window?from=1976-11-20&to=2026-11-20", "from", "must make a range of 366 days or less"},
		{"/station-window?from=2026-11-20T10:00:00Z&to=2026-11-20T09:00:00Z", "to", "must be later than the beginning of the range"},
		{"/station-window?rangecode=today&stationcodes=NONE", "stationcodes", "names the station NONE, which the account does not have"},
		{"/oee?profile=best", "profile", `must be default, iso22400, vorne or evocon; it is "best"`},
		{"/oee?by=colour", "by", `must be up to two of plant, group, station, sku, shift, hour, day, week, month, minute, with a comma between them; it has "colour"`},
		{"/oee?by=plant,sku,day", "by", "must be two or fewer; it has 3"},
		{"/oee?by=hour,day", "by", `must have one time at most; it is "hour,day"`},
		{"/oee?by=day,day", "by", "has day twice"},
		{"/oee?by=minute,hour", "by", "must have one time at most"},
		{"/oee?by=minute&from=2026-11-19T06:00:00Z&to=2026-11-20T08:00:00Z", "from", "must make a range of 25 hours or less"},
		{"/oee?by=minute&rangecode=month", "rangecode", "must make a range of 25 hours or less; month has"},
		{"/signal?stationcode=PACK-1&rangecode=last7d", "rangecode", "must make a range of 25 hours or less; last7d has"},
		{"/energy?by=minute", "by", "must be up to two of"},
		{"/oee?by=hour&from=2024-01-01&to=2026-01-01", "from", "must make a range of 366 days or less"},
		{"/oee?from=1976-11-20&to=2026-11-20", "from", "must make a range of 4026 days or less"},
		{"/oee?plantcode=south", "plantcode", "names the plant south, which the account does not have"},
		{"/oee?groupcode=south", "groupcode", "names the station group south, which the account does not have"},
		{"/oee?archived=maybe", "archived", `must be true or false; it is "maybe"`},
		{"/energy?by=sku", "by", `must be up to two of plant, group, station, hour, day, week, month, with a comma between them; it has "sku"`},
		{"/pareto?rangecode=never", "rangecode", "must be today, yesterday, week, last7d, month or"},
		{"/analysis/cycletime?from=2026-01-01&to=2026-03-01", "from", "must make a range of 31 days or less"},
		{"/export/windows", "from", "must be given, or rangecode"},
	} {
		a := s.do(ask{method: "GET", path: tt.path, key: key}).want(t, 400)
		if field, issue := a.at("details", "0", "field"), fmt.Sprint(a.at("details", "0", "issue")); field != tt.field || !strings.HasPrefix(issue, tt.issue) {
			t.Errorf("%s: %v %s, want %s %s", tt.path, field, issue, tt.field, tt.issue)
		}
	}
	s.do(ask{method: "GET", path: "/export/people?rangecode=today", key: key}).want(t, 404)
	s.do(ask{method: "POST", path: "/account", key: s.roleKey(auth.Member), body: `{"enableCycleTimeAnalysis":"off"}`}).want(t, 200)
	s.must(nil, s.Floor.Pass("acme"))
	a := s.do(ask{method: "GET", path: "/analysis/cycletime?stationcodes=PACK-1", key: key}).want(t, 403)
	if message := fmt.Sprint(a.at("errorMessage")); !strings.Contains(message, report.FlagCycles) || !strings.Contains(message, "account") {
		t.Errorf("%s", message)
	}
}

// TestCSVIsHarmless: cells are quoted if necessary, and none is a formula.
func TestCSVIsHarmless(t *testing.T) {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	if err := rest.WriteCSV(w, []string{"plain", "a,b", `say "x"`, "two\r\nlines", "=1+1", "+49 30", "-5.25", "-cmd", "@SUM(A1)", "\tx", "", "é"}); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	want := "plain,\"a,b\",\"say \"\"x\"\"\",\"two\r\nlines\",'=1+1,'+49 30,-5.25,'-cmd,'@SUM(A1),'\tx,,é\r\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// TestExports exports schedules, including future ones, and Tasks, with texts that must not become formulas.
func TestExports(t *testing.T) {
	s := newServer(t, options{})
	s.must(nil, s.Floor.Pass("acme"))
	key := s.roleKey(auth.Supervisor)
	start := s.clock.now().Add(50 * time.Hour).Truncate(time.Minute)
	body := fmt.Sprintf(`{"stationCode":"PACK-2","kind":"production","skuCode":"B2","plannedStartAt":%q,"plannedEndAt":%q,"note":"=HYPERLINK(\"x\")"}`, instant.Format(start), instant.Format(start.Add(time.Hour)))
	made := s.do(ask{method: "POST", path: "/schedule", key: key, body: body}).want(t, 200)
	s.do(ask{method: "POST", path: "/task-list/clean/start", key: key, body: `{"stationCode":"PACK-1","initials":"ABC"}`}).want(t, 200)
	read := func(path string) (table []map[string]string) {
		t.Helper()
		a := s.do(ask{method: "GET", path: path, key: key}).want(t, 200)
		lines, err := csv.NewReader(bytes.NewReader(a.body)).ReadAll()
		if err != nil || len(lines) == 0 {
			t.Fatalf("%s: %v", a.body, err)
		}
		for _, line := range lines[1:] {
			row := map[string]string{}
			for i, name := range lines[0] {
				row[name] = line[i]
			}
			table = append(table, row)
		}
		return table
	}
	ahead := rangeOf(s.clock.now(), -time.Hour, 72*time.Hour)
	if rows := read("/export/schedules?" + ahead); len(rows) != 1 || rows[0]["id"] != made.at("result", "id") || rows[0]["note"] != `'=HYPERLINK("x")` || rows[0]["plannedStartAt"] != instant.Format(start) {
		t.Errorf("schedules: %v", rows)
	}
	if rows := read("/export/tasks?" + ahead); len(rows) != 1 || rows[0]["taskCode"] != "wipe" || rows[0]["state"] != "pending" || rows[0]["startedBy"] != "ABC" || rows[0]["completedAt"] != "" {
		t.Errorf("tasks: %v", rows)
	}
	if rows := read("/export/tasks?stationcodes=PACK-2&" + ahead); len(rows) != 0 {
		t.Errorf("tasks of another station: %v", rows)
	}
}

// TestFiguresOfWhatIsNamedOrGone: the energy of a whole plant is that of the meters named for it. A station that left
// the manifest is included if archived stations are requested.
func TestFiguresOfWhatIsNamedOrGone(t *testing.T) {
	s := newServer(t, options{})
	start := s.plant()
	var list []signal.Signal
	for m := range 10 {
		x := signal.Signal{Account: "acme", Station: "KWH-1", Source: "device:acme/gw", At: start.Add(time.Duration(m) * time.Minute).UnixMilli(), Arrived: s.clock.now().UnixMilli()}
		x.Set(signal.ElectricalKwhInterval, 3)
		list = append(list, x)
	}
	_, err := s.Signals.Append(list)
	s.must(nil, err)
	s.caughtUp(start, "KWH-1")
	key, two := s.roleKey(auth.Member), rangeOf(start, 0, 2*time.Hour)
	get := func(path string) *answer {
		t.Helper()
		return s.do(ask{method: "GET", path: path + "&" + two, key: key}).want(t, 200)
	}
	apply := func(old, new string) {
		t.Helper()
		if !strings.Contains(acme, old) {
			t.Fatalf("the manifest has no %s", old)
		}
		s.do(ask{method: "PUT", path: "/account/manifest", key: key, body: strings.Replace(acme, old, new, 1)}).want(t, 200)
		s.must(nil, s.Floor.Pass("acme"))
	}
	holds(t, get("/energy?by=plant"), map[string]any{"results.0.electricalKwh": 12 + 6 + 30})
	apply(`"weekStartDay":0,`, `"weekStartDay":0,"totalEnergyStationCodes":["KWH-1"],`)
	holds(t, get("/energy?by=plant"), map[string]any{"results.0.electricalKwh": 30, "results.0.productionCount": 126, "results.0.coverage.numerator": 9 * 60000, "results.0.coverage.denominator": 120 * 60000})
	holds(t, get("/energy?plantcode=north"), map[string]any{"results.0.plantCode": nil, "results.0.electricalKwh": 30, "results.0.outsideProductionKwh": nil})
	holds(t, get("/energy?by=group"), map[string]any{"results.0.groupCode": "packing", "results.0.electricalKwh": 18, "results.1.groupCode": "meters", "results.1.electricalKwh": 30})
	holds(t, get("/energy?stationcodes=PACK-1,PACK-2"), map[string]any{"results.0.electricalKwh": 18, "results.0.outsideProductionKwh": 6})
	holds(t, get("/energy?by=plant&groupcode=packing"), map[string]any{"results.0.electricalKwh": 18})

	for path, named := range map[string]string{"/oee?by=station": "/oee?by=station&stationcodes=KWH-1", "/station-window?x=1": "/station-window?stationcodes=KWH-1", "/station?x=1": "/station?stationcodes=KWH-1"} {
		if a := get(path); strings.Contains(string(a.body), "KWH-1") || !strings.Contains(string(a.body), "PACK-1") {
			t.Errorf("%s shows a meter among the machines, or no machine: %s", path, a.body)
		}
		if a := get(named); !strings.Contains(string(a.body), "KWH-1") {
			t.Errorf("%s does not show what it names: %s", named, a.body)
		}
	}
	apply(`"code":"PACK-2","name":"Packer 2"`, `"code":"PACK-2","name":"Packer 2","enableSchedulingOnly":"on"`)
	if a := get("/oee?by=station"); strings.Contains(string(a.body), "PACK-2") || !strings.Contains(string(a.body), "PACK-1") {
		t.Errorf("a station at which nothing is captured is among those with figures: %s", a.body)
	}

	apply(`,{"code":"PACK-2","name":"Packer 2"}`, "")
	s.do(ask{method: "GET", path: "/oee?stationcodes=PACK-2&" + two, key: key}).wantDetail(t, "stationcodes", "names the station PACK-2")
	holds(t, get("/oee?stationcodes=PACK-2&archived=true"), map[string]any{"results.0.losses.schedule.ms": 1740000})
	holds(t, get("/station-window?stationcodes=PACK-2&archived=true"), map[string]any{"paging.totalElements": 120, "results.0.electricalKwh": 0.2, "results.0.manifestRevision": 1})
	holds(t, get("/energy?by=station&archived=true"), map[string]any{"results.2.stationCode": "PACK-2", "results.2.electricalKwh": 6})
}

// TestDaysAreThePlants: a range in days uses the days of each plant.
func TestDaysAreThePlants(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Member)
	two := strings.TrimSuffix(acme, "]}}") + `,{"code":"east","name":"East","timezone":"Asia/Tokyo","dayStartHour":0,"weekStartDay":0,"stationGroups":[{"code":"wrapping","name":"Wrapping","stations":[{"code":"WRAP-1","name":"Wrapper"}]}]}]}}`
	s.do(ask{method: "PUT", path: "/account/manifest", key: key, body: two}).want(t, 200)
	s.must(nil, s.Floor.Pass("acme"))
	day := "2026-03-02"
	for _, path := range []string{"/energy?by=plant&", "/oee?by=plant&"} {
		a := s.do(ask{method: "GET", path: path + "from=" + day + "&to=" + day, key: key}).want(t, 200)
		if path[1] == 'o' { // no data that long ago
			if len(a.at("results").([]any)) != 0 {
				t.Errorf("%s", a.body)
			}
			continue
		}
		holds(t, a, map[string]any{
			"results.0.plantCode": "north", "results.0.startAt": "2026-03-02T05:00:00.000Z", "results.0.endAt": "2026-03-03T05:00:00.000Z",
			"results.1.plantCode": "east", "results.1.startAt": "2026-03-01T15:00:00.000Z", "results.1.endAt": "2026-03-02T15:00:00.000Z",
		})
	}
}

// TestLongAnswersThatNobodyTakes: if a client disconnects in the middle of an answer, its generation ends without an
// error in the log.
func TestLongAnswersThatNobodyTakes(t *testing.T) {
	s := newServer(t, options{})
	start := s.plant()
	key := s.roleKey(auth.Readonly)
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.http.URL+"/station-window?limit=100000&groupcode=packing&"+rangeOf(start, 0, 8*24*time.Hour), nil)
		s.must(nil, err)
		req.Header.Set("X-API-KEY", key)
		a, err := s.client.Do(req)
		s.must(nil, err)
		if _, err := io.ReadFull(a.Body, make([]byte, 2000)); err != nil {
			t.Fatal(err)
		}
		cancel()
		if _, err := io.Copy(io.Discard, a.Body); err == nil {
			t.Error("the answer came whole")
		}
		s.must(nil, a.Body.Close())
	}
	s.do(ask{method: "GET", path: "/health"}).want(t, 200)
	if log := s.logged.String(); strings.Contains(log, "was cut off") || strings.Contains(log, "panic") {
		t.Error("a client that went away is told as an error")
	}
}
