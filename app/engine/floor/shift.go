package floor

import (
	"slices"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/app/engine/station"
)

// Figure is a figure with its terms, ms or units.
//
//openapi:schema Ratio
type Figure struct {
	Value       *float64 `json:"value"` // never cut off; null: not known
	Numerator   float64  `json:"numerator"`
	Denominator float64  `json:"denominator"`
	// The value is above 1.
	AboveOne bool `json:"aboveOne,omitempty"`
	// What most likely puts it there.
	Cause string `json:"cause,omitempty" schema:"enum=rateTooLow|negativeCount|readingFromBefore"`
}

// FigureOf returns a ratio as answers carry it.
func FigureOf(r oee.Ratio) Figure {
	f := Figure{Numerator: r.Numerator, Denominator: r.Denominator, AboveOne: r.AboveOne, Cause: r.Cause}
	if r.Known {
		f.Value = &r.Value
	}
	return f
}

// ShiftStatus is the shift that goes on, or the production day of a station without a pattern, up to the
// last whole minute: the figures that GET /oee gives by station and the default profile from startAt to
// until.
//
//openapi:schema ShiftSoFar
type ShiftStatus struct {
	Name         *string `json:"name"` // null: it has none
	StartAt      string  `json:"startAt" schema:"ref=Moment"`
	EndAt        *string `json:"endAt" schema:"ref=Moment"` // null: its time is over, and a schedule extends it
	Until        string  `json:"until" schema:"ref=Moment"` // the end of the last whole minute in it
	Availability Figure  `json:"availability"`
	Performance  Figure  `json:"performance"`
	Quality      Figure  `json:"quality"`
	OEE          Figure  `json:"oee"`
	Coverage     Figure  `json:"coverage"`
	GoodCount    float64 `json:"goodCount"` // all good units of the time
	BadCount     float64 `json:"badCount"`
	// Of goodCount, made without a production schedule: in no ratio.
	UnscheduledGoodCount float64 `json:"unscheduledGoodCount"`
	UnscheduledBadCount  float64 `json:"unscheduledBadCount"` // bad units, likewise
	// Units due by the rate in known scheduled production; null: there is no rate.
	IdealCount            *float64 `json:"idealCount"`
	TargetCount           *float64 `json:"targetCount"` // the same without downtime
	ScheduledProductionMs int64    `json:"scheduledProductionMs"`
	DowntimeMs            int64    `json:"downtimeMs"`
	ProductiveMs          int64    `json:"productiveMs"`
}

// soFar caches the sums of a tracker's current shift, so that an update costs the last hour and not the whole shift.
type soFar struct {
	version uint64    // of the tracker's stored results
	start   int64     // of the shift, a whole minute, ms
	at      int64     // a full hour, ms: the time before it changes only with version
	before  oee.Terms // of [start, at)

	until  int64 // ms
	sum    oee.Terms
	added  int64          // when it was last right, ms
	final  bool           // it changes only with version or disorder
	stale  bool           // the tracker took something in since
	state  trackerState   // of the tracker at that time
	status monitor.Status // changes with time alone, such as a new stop, show in these
	open   []monitor.Issue
	ended  []monitor.Issue
	pieces int // segments
}

// liveView is a tracker at a moment.
type liveView struct {
	monitor.View
	trackerState
	took   bool  // something in since it was last looked at
	rated  int64 // from when on a SKU that it runs changed since then, ms; 0: none did
	heavy  bool  // very many of its results are not stored (heavyFrom)
	rest   int64 // ms: the sums of its shift may be this old
	rested bool  // it stayed so
}

// Adding up a shift goes through all segments of a tracker that are not stored yet, usually some dozens. A tracker with
// more than heavyFrom of them is summed only every showEvery, by its worker if possible. A reader waits for it only if
// the sums are twice as old, or after an input that is not a signal.
var heavyFrom = 1_000

// ongoing returns the current shift of a station at the time of a view. end is 0 if the shift is over and a schedule
// extends it. Without a shift pattern it is the production day.
func ongoing(s *station.Station, v *monitor.View) (name string, start, end int64, in bool) {
	if s.Calendar.Always() {
		today := s.Calendar.Bucket(v.Now, calendar.UnitDay)
		return "", today.Start, today.End, true
	}
	if shift, in, _ := s.Calendar.At(v.Now); in {
		return shift.Name, shift.Start, shift.End, true
	}
	if n := len(v.Segments); n > 0 && v.Segments[n-1].Ctx.InShift {
		x := v.Segments[n-1].Ctx.Shift
		return x.Name, x.Start, 0, true
	}
	return "", 0, 0, false
}

// shift returns the figures of a tracker's current shift; nil if there is none or the station captures no production.
// The caller holds the tracker's showing.
func (wk *worker) shift(tr *tracker, s *station.Station, g *liveView) (*ShiftStatus, error) {
	name, start, end, in := ongoing(s, &g.View)
	if !in || s.Archived || s.Monitor.MeterOnly || s.Monitor.SchedulingOnly {
		return nil, nil
	}
	first := start - mod(start, minute)
	sum, until, err := wk.addUp(tr, s, g, first, max(first, g.Now-mod(g.Now, minute)))
	if err != nil {
		return nil, err
	}
	f := sum.Figures(oee.ProfileDefault)
	st := &ShiftStatus{
		Name: orNull(name), StartAt: Instant(start), Until: Instant(max(start, until)),
		Availability: FigureOf(f.A), Performance: FigureOf(f.P), Quality: FigureOf(f.Q), OEE: FigureOf(f.OEE), Coverage: FigureOf(f.Coverage),
		GoodCount: float64(sum.Good) / monitor.Micro, BadCount: float64(sum.Bad) / monitor.Micro,
		UnscheduledGoodCount: float64(sum.UnscheduledGood) / monitor.Micro, UnscheduledBadCount: float64(sum.UnscheduledBad) / monitor.Micro,
		ScheduledProductionMs: sum.Of(monitor.Production), DowntimeMs: sum.Was(monitor.Downtime), ProductiveMs: sum.Was(monitor.Productive),
	}
	if end != 0 {
		st.EndAt = orNull(Instant(end))
	}
	if sum.HasRate {
		st.IdealCount, st.TargetCount = &sum.Ideal, &sum.Target
	}
	return st, nil
}

// addUp returns the terms of a tracker in [start, until), ms, whole minutes, for an until in the last minutes. It adds
// the same rows in the same order as Rows, so that both are equal to the last bit; rows of full hours that no longer
// change are added once. through is until, or a little earlier.
func (wk *worker) addUp(tr *tracker, s *station.Station, g *liveView, start, until int64) (sum oee.Terms, through int64, err error) {
	x := &tr.soFar
	known := x.version == g.version && x.start == start && x.at != 0
	if known && x.until == until && x.state.reorders == g.reorders && (x.final || !x.stale && x.shows(g)) {
		x.added = g.Now // nothing else would come of it
		return x.sum, until, nil
	}
	if known && x.until != 0 && x.state.asked == g.asked && g.Now >= x.added && g.Now-x.added < g.rest {
		g.rested = true
		return x.sum, x.until, nil
	}
	if !known {
		*x = soFar{version: g.version, start: start, at: start, stale: true}
	}
	_, rows, _, err := wk.rows(wk.timeline, tr, g, x.at, until)
	if err != nil {
		return oee.Terms{}, 0, err
	}
	if full := tr.fullHour(s.Calendar, min(g.Final, until), x.at); full > x.at {
		for len(rows) > 0 && rows[0].Start < full {
			x.before.Add(&rows[0].Terms)
			rows = rows[1:]
		}
		x.at = full
	}
	x.sum = x.before
	for i := range rows {
		x.sum.Add(&rows[i].Terms)
	}
	x.until, x.final, x.state, x.status, x.added = until, g.Final >= until, g.trackerState, g.Status, g.Now
	x.open, x.ended, x.pieces = slices.Clone(g.Open), slices.Clone(g.Issues), len(g.Segments)
	x.stale = false
	return x.sum, until, nil
}

// shows reports whether a tracker's state is the one for which its shift was added up, apart from the time. Another
// rate may move an ongoing or new stop, even one that began before it.
func (x *soFar) shows(g *liveView) bool {
	return x.state.rates == g.rates && x.status == g.Status && x.pieces == len(g.Segments) && slices.Equal(x.open, g.Open) && slices.Equal(x.ended, g.Issues)
}

// fullHour returns the start of the last hour, after one moment and not after another, before which only a new version
// changes results: inputs out of order restart from the base. It is 0 if there is none.
func (tr *tracker) fullHour(c *calendar.Calendar, by, after int64) int64 {
	if c.Bucket(by, calendar.UnitHour).Start <= after {
		return 0
	}
	tr.mu.Lock()
	settled := tr.base.View(tr.watermark).Final
	tr.mu.Unlock()
	return c.Bucket(min(by, settled), calendar.UnitHour).Start
}

func mod(a, b int64) int64 { return (a%b + b) % b }
