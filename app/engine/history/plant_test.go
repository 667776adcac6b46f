package history

import (
	"math"
	"math/rand/v2"
	"time"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/energy"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/app/instant"
)

const (
	secondMs = int64(1000)
	// firstDay is 2 March 2026, a Monday.
	firstDay = int64(20514)
)

// station is a random station whose signals were processed in order of arrival.
type station struct {
	cfg      *monitor.Config
	oee      oee.Config
	tariffs  []energy.Tariff
	from, to int64
	out      monitor.Outputs // of [from, to)
	// states are the states stored at whole hours.
	states map[int64][]byte
}

// zone returns the location of a plant; some have hours that begin at half past.
func zone(name string) *time.Location {
	z, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return z
}

// run calculates a station's days: a signal at a fixed interval in ms, with stops, slow running, scrap, silence, pauses
// and manual downtime across midnight. The same seed returns the same station.
func run(seed uint64, place *time.Location, dayCount int, every int64) *station {
	r := rand.New(rand.NewPCG(seed, 11))
	chance := func(percent int) bool { return r.IntN(100) < percent }
	s := &station{from: firstDay * instant.DayMs, to: (firstDay + int64(dayCount)) * instant.DayMs, states: map[int64][]byte{}}
	var shifts []calendar.Shift
	if seed%4 != 3 {
		for d := 1; d <= 6; d++ {
			shifts = append(shifts, calendar.Shift{Name: "Early", Weekday: d, Start: 6 * time.Hour, Length: 8 * time.Hour},
				calendar.Shift{Name: "Late", Weekday: d, Start: 14 * time.Hour, Length: 8 * time.Hour},
				calendar.Shift{Name: "Night", Weekday: d, Start: 22 * time.Hour, Length: 8 * time.Hour})
		}
	}
	s.cfg = &monitor.Config{Revision: int64(seed), SpeedScale: 1, UtilisationThreshold: 300 * secondMs, SlowThreshold: 60 * secondMs, LineSpeedTarget: 100,
		Calendar: calendar.NewCalendar(calendar.CalendarConfig{Zone: place, DayStartHour: 6, Shifts: shifts}), Causes: map[string]bool{"E7": true},
		SKUs: monitor.SKUs{"A": {Rate: monitor.Rate{UnitsPerMinute: 12}}, "B": {Rate: monitor.Rate{CycleTime: 7000}}}}
	s.oee = oee.Config{Calendar: s.cfg.Calendar, Roles: map[string]oee.Role{"clean": oee.RoleSetup, "E7": oee.RolePlanned}, Money: true,
		Values: map[string]float64{"A": 0.35}, IdleCostPerMinute: 2.1}
	s.tariffs = []energy.Tariff{{Price: 0.31, CO2: 0.4, HasPrice: true, HasCO2: true}}

	m := monitor.New(s.cfg, s.from)
	apply := func(in monitor.Input) {
		if err := m.Apply(&in); err != nil {
			panic(err)
		}
	}
	count, meter, running, speed, changeAt, silentTo, hour := 0.0, 1000.0, true, 100.0, s.from, s.from, s.from
	schedule, paused, manual := 0, false, int64(0)
	scheduleEnd := s.from
	for at := s.from + r.Int64N(every); at < s.to; at += every {
		if at-at%instant.HourMs > hour {
			hour = at - at%instant.HourMs
			s.gather(m.Take())
			s.states[hour] = m.Encode()
		}
		switch {
		case at >= scheduleEnd:
			schedule++
			sku := []string{"A", "B"}[r.IntN(2)]
			apply(monitor.Input{At: at, Kind: monitor.InputScheduleStart, Schedule: monitor.Schedule{ID: "S" + string(rune('a'+schedule%26)) + sku, SKU: sku}})
			scheduleEnd = at + 3*instant.HourMs + r.Int64N(9*instant.HourMs)
		case !paused && chance(1) && r.IntN(int(20_000/every)+1) == 0:
			paused = true
			apply(monitor.Input{At: at, Kind: monitor.InputScheduleStart, Schedule: monitor.Schedule{ID: "N", NonProduction: true, Reason: "clean"}})
		case paused && chance(1):
			paused = false
			apply(monitor.Input{At: at, Kind: monitor.InputScheduleEnd, ID: "N"})
		}
		switch clock := at % instant.DayMs; {
		case manual == 0 && clock > 23*instant.HourMs && r.IntN(int(instant.HourMs/every)) == 0:
			manual = at + instant.HourMs + r.Int64N(30*instant.HourMs)
			apply(monitor.Input{At: at, Kind: monitor.InputManualStart, Reason: "mould"})
		case manual != 0 && at > manual:
			manual = 0
			apply(monitor.Input{At: at, Kind: monitor.InputManualEnd})
		}
		if at >= changeAt {
			running, changeAt = chance(75), at+30*secondMs+r.Int64N(1500*secondMs)
			if speed = 95 + float64(r.IntN(100))/10; chance(20) {
				speed = 60
			}
			if chance(3) {
				silentTo = at + r.Int64N(3*instant.HourMs)
			}
		}
		if at < silentTo {
			continue
		}
		g := monitor.Signal{Has: monitor.HasCountGood | monitor.HasKwh | monitor.HasProductive | monitor.HasLineSpeed, Productive: running}
		if running {
			count += float64(r.IntN(3))
			meter += 0.01 * float64(r.IntN(5))
			g.LineSpeed = speed + float64(r.IntN(20))/10
		}
		g.CountGood, g.Kwh = count, math.Round(meter*100)/100
		if at%instant.MinuteMs < every {
			g.Has, g.RSSI = g.Has|monitor.HasRSSI, float64(-50-r.IntN(20))
		}
		if running && chance(1) {
			g.Has, g.CompleteBad = g.Has|monitor.HasCompleteBad, 1
		}
		if !running && chance(1) {
			g.ErrorCode = []string{"E7", "E8"}[r.IntN(2)]
		}
		apply(monitor.Input{At: at, Kind: monitor.InputSignal, Source: "plc", Signal: g})
	}
	v := m.View(s.to)
	s.gather(v.Outputs)
	for _, x := range v.Open {
		x.End = s.to
		s.out.Issues = append(s.out.Issues, x)
	}
	s.out.Events = nil
	return s
}

func (s *station) gather(more monitor.Outputs) {
	s.out.Segments = Join(s.out.Segments, more.Segments)
	s.out.Minutes = append(s.out.Minutes, more.Minutes...)
	s.out.Issues = append(s.out.Issues, more.Issues...)
}

// rows returns the sums of a part of the station's time.
func (s *station) rows(from, to int64) ([]oee.Row, []energy.Row) {
	return oee.Collect(s.oee, from, to, s.out.Segments, s.out.Minutes), energy.Collect(s.cfg.Calendar, s.tariffs, from, to, s.out.Segments, s.out.Minutes)
}
