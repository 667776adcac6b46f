package httpapi

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/app/engine/station"
	"opsmon/app/ingest/signal"
)

// longestCycles is how long a range may be of which cycle times are asked for: they are worked out signal by signal.
const longestCycles = 31 * 24 * time.Hour

// barView is a line of GET /pareto.
type barView struct {
	CauseCode  *string `json:"causeCode"` // null: nobody has said why
	Name       *string `json:"name"`
	DowntimeMs int64   `json:"downtimeMs"`
	Count      int     `json:"count"`
	Share      float64 `json:"share"`
	Cumulative float64 `json:"cumulative"`
}

// getPareto answers GET /pareto.
func getPareto(c *call) (reply, error) {
	x, err := c.choose(longestDetail, "today")
	if err != nil {
		return reply{}, err
	}
	if err := c.long(x, longDetail); err != nil {
		return reply{}, err
	}
	names := map[string]string{}
	var bars [][]oee.Bar
	for _, s := range x.captured() {
		for code, r := range s.Reasons {
			names[code] = r.Name
		}
		var stops []monitor.Segment
		for _, r := range chunks(s.from, s.to) {
			if err := c.r.Context().Err(); err != nil {
				return reply{}, err
			}
			d, err := c.api.cfg.Floor.Detail(c.p.AccountID, s.Code, r.Start, r.End)
			if err != nil {
				return reply{}, err
			}
			for _, g := range d.Segments {
				if g.Class() == monitor.Downtime {
					stops = append(stops, g)
				}
			}
		}
		bars = append(bars, oee.Pareto(stops, s.from, s.to))
	}
	results := []barView{}
	for _, b := range oee.MergePareto(bars...) {
		results = append(results, barView{orNull(b.Cause), orNull(names[b.Cause]), b.Ms, b.Count, b.Share, b.Cumulative})
	}
	return list(results, -1)
}

// chunks cuts a range into pieces that fit into memory, of a week each.
func chunks(from, to int64) (list []calendar.Range) {
	for ; from < to; from += 7 * dayMs {
		list = append(list, calendar.Range{Start: from, End: min(to, from+7*dayMs)})
	}
	return list
}

// cycleView is a result of GET /analysis/cycletime; times are ms.
type cycleView struct {
	StationCode      string   `json:"stationCode"`
	SKUCode          string   `json:"skuCode"`
	SpecifiedCycleMs *float64 `json:"specifiedCycleMs"` // by the rate in force at the end; null: there is none
	Count            int      `json:"count"`
	MedianMs         float64  `json:"medianMs"`
	Best10PercentMs  float64  `json:"best10PercentMs"`
	SpreadMs         float64  `json:"spreadMs"`
}

const flagCycles = "enableCycleTimeAnalysis"

// getCycleTimes answers GET /analysis/cycletime.
func getCycleTimes(c *call) (reply, error) {
	x, err := c.choose(longestCycles, "today")
	if err != nil {
		return reply{}, err
	}
	var refused error
	var on []asked
	for _, s := range x.captured() {
		if err := s.Refuse(flagCycles); err == nil {
			on = append(on, s)
		} else if refused == nil {
			refused = err
		}
	}
	if refused != nil && (x.named || len(on) == 0) {
		return reply{}, refused
	}
	if err := c.long(x, longDetail); err != nil {
		return reply{}, err
	}
	results := []cycleView{}
	for _, s := range on {
		more, err := c.cycles(s.Station, s.from, s.to)
		if err != nil {
			return reply{}, err
		}
		results = append(results, more...)
	}
	return list(results, -1)
}

// Bounds of what is measured: of a signal with many cycles so many count, and so many of a SKU at all.
const (
	mostCyclesEach = 100
	mostCycles     = 2_000_000
)

// cycles measures a station's cycles, day by day.
func (c *call) cycles(s *station.Station, from, to int64) ([]cycleView, error) {
	m := meter{times: map[string][]int64{}}
	for day := signal.Day(from); day*dayMs < to; day++ {
		if err := c.r.Context().Err(); err != nil {
			return nil, err
		}
		start, end := max(from, day*dayMs), min(to, (day+1)*dayMs)
		d, err := c.api.cfg.Floor.Detail(c.p.AccountID, s.Code, start, end)
		if err != nil {
			return nil, err
		}
		signals, err := c.api.cfg.Signals.Of(c.p.AccountID, s.Code, day)
		if err != nil {
			return nil, err
		}
		m.day(d.Segments, signals, start, end)
	}
	var out []cycleView
	for sku, times := range m.times {
		t := oee.Cycles(times)
		v := cycleView{StationCode: s.Code, SKUCode: sku, Count: t.Count, MedianMs: t.Median, Best10PercentMs: t.Best, SpreadMs: t.Spread}
		if rate, _ := s.Rate(sku, monitor.Rate{}); rate > 0 {
			cycle := float64(minuteMs) * s.PartsPerCycle(&monitor.Schedule{SKU: sku}) / rate
			v.SpecifiedCycleMs = &cycle
		}
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b cycleView) int { return cmp.Or(strings.Compare(a.SKUCode, b.SKUCode)) })
	return out, nil
}

// meter measures the time between signals that complete cycles, where the machine ran on for the same SKU and was not
// stopped, paused or unknown in between.
type meter struct {
	times   map[string][]int64
	last    int64            // when the last cycle was completed; 0: nobody knows, or something came in between
	context *monitor.Context // what held then
	counter [2]struct {
		known bool
		value float64
	}
}

// day takes in a day's signals and what the station did meanwhile.
func (m *meter) day(segments []monitor.Segment, signals []signal.Signal, from, to int64) {
	for i := range signals {
		s := &signals[i]
		n := m.completed(s)
		if s.At < from || s.At >= to || n <= 0 {
			continue
		}
		for len(segments) > 0 && segments[0].End <= s.At {
			m.pass(&segments[0])
			segments = segments[1:]
		}
		if len(segments) == 0 || segments[0].Start > s.At {
			m.last = 0
			continue
		}
		m.pass(&segments[0])
		x := segments[0].Ctx
		if m.last != 0 && s.At-m.last < x.MinimumCycle && !m.counts(s) {
			continue // too soon to be another one
		}
		if class := segments[0].Class(); x.Production == "" || class == monitor.NoData || class == monitor.OutOfShift {
			m.last = 0
			continue
		}
		if m.last != 0 && m.context.Production == x.Production && s.At > m.last && len(m.times[x.SKU]) < mostCycles {
			each := int64(float64(s.At-m.last) / n)
			for range int(min(n, mostCyclesEach)) {
				m.times[x.SKU] = append(m.times[x.SKU], each)
			}
		}
		m.last, m.context = s.At, x
	}
	for i := range segments {
		m.pass(&segments[i])
	}
}

// pass forgets the last cycle where a stop, a pause or time without data comes after it.
func (m *meter) pass(g *monitor.Segment) {
	if class := g.Class(); g.End > m.last && (class == monitor.Downtime || class == monitor.NoData || class == monitor.OutOfShift || g.Ctx.Kind != monitor.Production) {
		m.last = 0
	}
}

// counts tells whether a signal carries a running counter, which is not filtered by the minimum cycle time.
func (m *meter) counts(s *signal.Signal) bool {
	return s.Has(signal.ProductionCountGood) || s.Has(signal.ProductionCountBad)
}

// completed gives how many cycles, good and bad, a signal completes.
func (m *meter) completed(s *signal.Signal) (n float64) {
	for _, f := range []signal.Field{signal.ProductionCompleteGood, signal.ProductionCompleteBad} {
		if v, ok := s.Get(f); ok {
			n += v
		}
	}
	for i, f := range []signal.Field{signal.ProductionCountGood, signal.ProductionCountBad} {
		v, ok := s.Get(f)
		if !ok {
			continue
		}
		switch c := &m.counter[i]; {
		case !c.known:
		case v >= c.value:
			n += v - c.value
		default:
			n += v // it was reset
		}
		m.counter[i].known, m.counter[i].value = true, v
	}
	return n
}
