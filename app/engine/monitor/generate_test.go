package monitor_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/monitor"
)

// plan is a random station with its inputs: days with stops, slow running, scrap, lost radio connections, counters that
// reset, entries and corrections. Every moment is a whole second.
type plan struct {
	cfg      *monitor.Config
	shifts   []calendar.Shift
	from, to int64
	inputs   []monitor.Input // in order
}

// generate returns a random station; the same seed returns the same one.
func generate(seed uint64, days int) plan {
	r := rand.New(rand.NewPCG(seed, 7))
	pick := func(n ...int64) int64 { return n[r.IntN(len(n))] }
	chance := func(percent int) bool { return r.IntN(100) < percent }
	cycle := pick(5, 12, 30, 60, 240) * second
	zero := int64(0)
	cfg := &monitor.Config{
		Revision: 1, SpeedScale: 1, UtilisationThreshold: pick(0, 60, 300, 900, 3600) * second, SlowThreshold: pick(0, 60, 180) * second,
		DowntimeMode: monitor.DowntimeMode(r.IntN(4)), ProductiveMode: monitor.ProductiveMode(r.IntN(3)),
		AlwaysConnected: chance(15), ForceShiftTime: chance(25), LineSpeedTarget: float64(pick(0, 100)),
		StoppedKw: float64(pick(0, 4)), StoppedSpeed: float64(pick(0, 20)),
		SKUs: monitor.SKUs{
			"A": {Rate: monitor.Rate{CycleTime: float64(cycle)}},
			"B": {Rate: monitor.Rate{UnitsPerMinute: 120_000 / float64(cycle)}, PartsPerCycle: 2, DowntimeMultiplier: 4, LineSpeedTarget: 120},
			"N": {MinimumCycle: &zero},
		},
	}
	if chance(30) {
		cfg.MinimumCycle = cycle / 2 / second * second
	}
	if chance(25) {
		cfg.HoldOn = pick(45, 97, 600) * second
	}
	if chance(20) {
		cfg.SpeedToProductionRatio = 0.25
	}
	if chance(10) {
		cfg.SchedulingOnly = true
	}
	if chance(25) {
		cfg.MaxUnits = 300
	}
	if chance(30) {
		cfg.UnitsPerHour = 60
	}
	p := plan{cfg: cfg, from: day, to: day + int64(days)*24*hour}
	if night := time.Duration(pick(6, 8)) * time.Hour; chance(75) {
		for d := 1; d <= 7; d++ {
			p.shifts = append(p.shifts,
				calendar.Shift{Name: "Early", Weekday: d, Start: 6 * time.Hour, Length: 4 * time.Hour},
				calendar.Shift{Name: "Early", Weekday: d, Start: 10*time.Hour + 30*time.Minute, Length: 210 * time.Minute},
				calendar.Shift{Name: "Late", Weekday: d, Start: 14 * time.Hour, Length: 8 * time.Hour},
				calendar.Shift{Name: "Night", Weekday: d, Start: 22 * time.Hour, Length: night})
		}
	}
	cfg.Calendar = calendar.NewCalendar(calendar.CalendarConfig{Zone: time.UTC, Shifts: p.shifts})

	add := func(in monitor.Input) { p.inputs = append(p.inputs, in) }
	between := func(lo, hi int64) int64 { return lo + r.Int64N(hi-lo+1) } // seconds
	signal := func(at int64, g monitor.Signal) {
		add(monitor.Input{At: at, Kind: monitor.InputSignal, Source: "plc", Signal: g})
	}
	// The machine runs and stops, and sends signals while it is connected.
	counter, hasCounter := 500.0, chance(40)
	g := rand.New(rand.NewPCG(seed, 13))
	gateway, gatewaySecond, perMinute := g.IntN(100) < 30, p.from+g.Int64N(60)*second, fullSpeed(cycle)
	for at := p.from + between(0, 1800)*second; at < p.to; {
		runs, length := chance(65), between(20, 2400)*second
		end := min(at+length, p.to)
		if chance(8) { // the radio connection is lost
			at = end + between(0, 1200)*second
			continue
		}
		speed, kw := 0.0, 1.0
		if runs {
			speed, kw = float64(pick(15, 60, 79, 80, 95, 100, 110)), 6
		}
		signal(at, monitor.Signal{Has: monitor.HasProductive | monitor.HasLineSpeed | monitor.HasKw, Productive: runs, LineSpeed: speed, Kw: kw})
		for beat := at; beat < end; beat += between(20, 150) * second {
			signal(beat, monitor.Signal{Has: monitor.HasRSSI, RSSI: -60})
			if cfg.HoldOn > 0 && runs {
				signal(beat, monitor.Signal{Has: monitor.HasProductive, Productive: true})
			}
		}
		for unit := at + cycle; runs && !gateway && unit < end; unit += max(second, (cycle+between(-3, 6)*second)/second*second) {
			g := monitor.Signal{Has: monitor.HasCompleteGood, CompleteGood: 1}
			switch {
			case chance(4):
				g = monitor.Signal{Has: monitor.HasCompleteBad, CompleteBad: 1}
			case hasCounter:
				counter++
				if chance(1) {
					// at most one unit: more would be spread over moments that are not whole seconds
					counter = float64(r.IntN(2))
				}
				g = monitor.Signal{Has: monitor.HasCountGood, CountGood: counter}
			}
			signal(unit, g)
			if chance(3) {
				signal(unit+second, g) // a bounce
			}
		}
		// A gateway sends the units of each minute, even if there are none.
		for tick := at + mod(gatewaySecond-at, minute); gateway && tick < end; tick += minute {
			n := 0.0
			if runs {
				n = perMinute[g.IntN(len(perMinute))]
			}
			signal(tick, monitor.Signal{Has: monitor.HasCompleteGood, CompleteGood: n})
		}
		at = end
	}
	if chance(20) {
		up := p.from + between(0, 43_200)*second
		add(monitor.Input{At: up, Kind: monitor.InputLink, Source: "plc", Up: true})
		add(monitor.Input{At: up + between(1, 36_000)*second, Kind: monitor.InputLink, Source: "plc"})
	}
	// Schedules follow each other, with gaps, and are interrupted.
	for n, at := 0, p.from+between(0, 7200)*second; at < p.to; n++ {
		id, end := fmt.Sprint("S", n), at+between(600, 18_000)*second
		d := monitor.Schedule{ID: id, SKU: []string{"A", "A", "B", "N"}[r.IntN(4)], Quantity: float64(pick(0, 50, 200)), ExtendShift: chance(20), WorkOrder: []string{"", "WO-1"}[r.IntN(2)]}
		add(monitor.Input{At: at, Kind: monitor.InputScheduleStart, Schedule: d})
		add(monitor.Input{At: end, Kind: monitor.InputScheduleEnd, ID: id})
		if chance(40) {
			start := at + between(60, 3600)*second
			add(monitor.Input{At: start, Kind: monitor.InputScheduleStart, Schedule: monitor.Schedule{ID: "N" + id, NonProduction: true, Reason: "clean"}})
			add(monitor.Input{At: start + between(60, 2400)*second, Kind: monitor.InputScheduleEnd, ID: "N" + id})
		}
		for range r.IntN(3) {
			add(monitor.Input{At: at + between(0, 600)*second, Kind: monitor.InputEntry, Source: "op", Entry: monitor.Entry{Good: float64(r.IntN(20)), Bad: float64(r.IntN(3))}})
			add(monitor.Input{At: at + between(0, 6000)*second, Kind: monitor.InputEntry, Source: "op", Entry: monitor.Entry{Reject: float64(r.IntN(12))}})
			add(monitor.Input{At: at + between(0, 6000)*second, Kind: monitor.InputEntry, Source: "op", Entry: monitor.Entry{Good: -2, Correction: true}})
			add(monitor.Input{At: at + between(0, 9000)*second, Kind: monitor.InputEntry, Source: "op", ID: fmt.Sprint("e", n), Entry: monitor.Entry{Schedule: id, Good: float64(r.IntN(40) - 30), Bad: float64(r.IntN(8) - 6), Reject: float64(r.IntN(8)), Correction: true}})
		}
		at = end + pick(0, 0, 300, 5400)*second
	}
	garnish(&p, seed)
	for at := p.from + between(0, 30_000)*second; at < p.to; at += between(20_000, 60_000) * second {
		add(monitor.Input{At: at, Kind: monitor.InputManualStart, Reason: []string{"mould", "tool"}[at/second%2]})
		add(monitor.Input{At: at + between(60, 5400)*second, Kind: monitor.InputManualEnd})
	}
	p.inputs = slices.DeleteFunc(p.inputs, func(in monitor.Input) bool { return in.At >= p.to })
	slices.SortStableFunc(p.inputs, func(a, b monitor.Input) int { return monitor.Compare(&a, &b) })
	return p
}

// fullSpeed returns the numbers of cycles in a minute that can be spread over whole seconds, for a machine with a cycle
// time. The largest is its full speed; the smaller ones are as likely.
func fullSpeed(cycle int64) []float64 {
	full := max(1, minute/cycle)
	list := []float64{float64(full), float64(full), float64(full)}
	for n := int64(1); n < full; n++ {
		if 60%n == 0 {
			list = append(list, float64(n))
		}
	}
	return list
}

func mod(a, b int64) int64 { return (a%b + b) % b }

// garnish adds reasons of every kind to the plan, and error codes to the machine's signals.
func garnish(p *plan, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 11))
	p.cfg.Causes = map[string]bool{"jam": true, "tool": true}
	for i := range p.inputs {
		if in := &p.inputs[i]; in.Kind == monitor.InputScheduleStart && in.Schedule.NonProduction {
			in.Schedule.Reason = []string{"clean", "setup", "changeover", "meeting"}[r.IntN(4)]
		}
	}
	busy := map[int64]bool{} // an entry at the moment of an error comes after it
	for i := range p.inputs {
		busy[p.inputs[i].At] = busy[p.inputs[i].At] || p.inputs[i].Kind == monitor.InputEntry
	}
	for at := p.from + r.Int64N(3600)*second; at < p.to; at += (60 + r.Int64N(5400)) * second {
		if !busy[at] && at+30*second < p.to {
			code := []string{"jam", "tool", "E17"}[r.IntN(3)]
			p.inputs = append(p.inputs, monitor.Input{At: at, Kind: monitor.InputSignal, Source: "zzz", Signal: monitor.Signal{ErrorCode: code}},
				monitor.Input{At: at + 30*second, Kind: monitor.InputSignal, Source: "plc", Signal: monitor.Signal{Has: monitor.HasRSSI, RSSI: -60}})
		}
	}
}
