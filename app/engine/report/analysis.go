package report

import (
	"context"
	"slices"
	"strings"
	"time"

	"opsmon/app/engine/floor"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/app/engine/station"
	"opsmon/app/ingest/signal"
	"opsmon/app/instant"
)

// Cause is a row of a Pareto list with the name of its reason; "": no name.
type Cause struct {
	oee.Bar
	Name string
}

// Pareto returns the downtime of a selection's captured stations by cause, the longest first. Errors: errdefs.NotFound;
// the store's.
func (s *Service) Pareto(ctx context.Context, x *Selection) ([]Cause, error) {
	names := map[string]string{}
	var bars [][]oee.Bar
	for _, a := range x.Captured() {
		for code, r := range a.Reasons {
			names[code] = r.Name
		}
		var stops []monitor.Segment
		for from := a.From; from < a.To; from += 7 * instant.DayMs { // a week fits into memory
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			d, err := s.cfg.Floor.Detail(x.Account, a.Code, from, min(a.To, from+7*instant.DayMs))
			if err != nil {
				return nil, err
			}
			for _, g := range d.Segments {
				if g.Class() == monitor.Downtime {
					stops = append(stops, g)
				}
			}
		}
		bars = append(bars, oee.Pareto(stops, a.From, a.To))
	}
	causes := []Cause{}
	for _, b := range oee.MergePareto(bars...) {
		causes = append(causes, Cause{b, names[b.Cause]})
	}
	return causes, nil
}

// LongestCycles is the longest range of cycle times, because they are measured signal by signal.
const LongestCycles = 31 * 24 * time.Hour

// FlagCycles is the flag that allows cycle times at a station.
const FlagCycles = "enableCycleTimeAnalysis"

// CycleTimes has the statistics of a SKU's cycle times at a station.
type CycleTimes struct {
	Station, SKU string
	oee.CycleTimes
	Specified float64 // ms: by the rate in force; 0: no rate
}

// Measured returns a selection's captured stations whose cycle times may be measured. Errors: errdefs.Forbidden if the
// flag is off at a named station, or at all of them.
func (x *Selection) Measured() (on []Station, err error) {
	for _, a := range x.Captured() {
		if refused := a.Refuse(FlagCycles); refused == nil {
			on = append(on, a)
		} else if err == nil {
			err = refused
		}
	}
	if err != nil && (x.Named || len(on) == 0) {
		return nil, err
	}
	return on, nil
}

// Cycles returns the cycle times of some stations, by station and SKU. Errors: errdefs.NotFound; the store's.
func (s *Service) Cycles(ctx context.Context, account string, list []Station) ([]CycleTimes, error) {
	var out []CycleTimes
	for i := range list {
		more, err := s.cycles(ctx, account, &list[i])
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// Limits of the cycles measured from one signal, and of one SKU.
const (
	mostCyclesEach = 100
	mostCycles     = 2_000_000
)

// cycles measures a station's cycles, day by day.
func (s *Service) cycles(ctx context.Context, account string, a *Station) ([]CycleTimes, error) {
	m := stopwatch{times: map[string][]int64{}}
	for day := signal.Day(a.From); day*instant.DayMs < a.To; day++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		start, end := max(a.From, day*instant.DayMs), min(a.To, (day+1)*instant.DayMs)
		d, err := s.cfg.Floor.Detail(account, a.Code, start, end)
		if err != nil {
			return nil, err
		}
		signals, err := s.cfg.Signals.Of(account, a.Code, day)
		if err != nil {
			return nil, err
		}
		m.day(d.Segments, signals, start, end)
	}
	var out []CycleTimes
	for sku, times := range m.times {
		out = append(out, CycleTimes{Station: a.Code, SKU: sku, CycleTimes: oee.Cycles(times), Specified: specified(a.Station, sku)})
	}
	slices.SortFunc(out, func(a, b CycleTimes) int { return strings.Compare(a.SKU, b.SKU) })
	return out, nil
}

// specified returns the length of a cycle by the rate in force, ms; 0 without a rate.
func specified(s *station.Station, sku string) float64 {
	rate, _ := s.Rate(sku, monitor.Rate{})
	if rate <= 0 {
		return 0
	}
	return float64(instant.MinuteMs) * s.PartsPerCycle(&monitor.Schedule{SKU: sku}) / rate
}

// stopwatch measures the time between signals that complete cycles, if the machine made the same SKU and was not
// stopped, paused or unknown in between.
type stopwatch struct {
	times   map[string][]int64
	counts  monitor.Cycles
	last    int64            // end of the last cycle, ms; 0: unknown or interrupted since
	context *monitor.Context // at that time
}

// day processes a day's signals and segments in [from, to).
func (m *stopwatch) day(segments []monitor.Segment, signals []signal.Signal, from, to int64) {
	for i := range signals {
		at, in := signals[i].At, floor.InputOf(&signals[i])
		for len(segments) > 0 && segments[0].End <= at {
			m.pass(&segments[0])
			segments = segments[1:]
		}
		if at < from || at >= to || len(segments) == 0 || segments[0].Start > at {
			good, bad, _ := m.counts.Take(at, &in.Signal, 0, true)
			if good+bad > 0 && at >= from && at < to {
				m.last = 0
			}
			continue
		}
		g := &segments[0]
		x, class := g.Ctx, g.Class()
		good, bad, _ := m.counts.Take(at, &in.Signal, x.MinimumCycle, g.Manual == 0)
		n := good + bad
		if n <= 0 {
			continue
		}
		if m.pass(g); x.Production == "" || class == monitor.NoData || class == monitor.OutOfShift {
			m.last = 0
			continue
		}
		if m.last != 0 && m.context.Production == x.Production && at > m.last && len(m.times[x.SKU]) < mostCycles {
			each := int64(float64(at-m.last) / n)
			for range int(min(n, mostCyclesEach)) {
				m.times[x.SKU] = append(m.times[x.SKU], each)
			}
		}
		m.last, m.context = at, x
	}
	for i := range segments {
		m.pass(&segments[i])
	}
}

// pass resets the last cycle if a stop, a pause or time without data follows it.
func (m *stopwatch) pass(g *monitor.Segment) {
	if class := g.Class(); g.End > m.last && (class == monitor.Downtime || class == monitor.NoData || class == monitor.OutOfShift || g.Ctx.Kind != monitor.Production) {
		m.last = 0
	}
}
