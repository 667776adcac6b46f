package floor

import (
	"opsmon/app/engine/calendar"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/app/engine/station"
)

// Figure is a ratio with its terms, ms or units, as answers and events carry it.
type Figure struct {
	Value       *float64 `json:"value"` // null: not known, as the denominator is empty or something is missing
	Numerator   float64  `json:"numerator"`
	Denominator float64  `json:"denominator"`
	AboveOne    bool     `json:"aboveOne,omitempty"`
	Cause       string   `json:"cause,omitempty"` // what most likely puts it above 1
}

// FigureOf gives a ratio as answers carry it.
func FigureOf(r oee.Ratio) Figure {
	f := Figure{Numerator: r.Numerator, Denominator: r.Denominator, AboveOne: r.AboveOne, Cause: r.Cause}
	if r.Known {
		f.Value = &r.Value
	}
	return f
}

// ShiftStatus is the shift that goes on, or the production day where there is no pattern, up to the last whole minute: what
// GET /oee gives by station and the default profile from StartAt to Until.
type ShiftStatus struct {
	Name                  *string  `json:"name"` // null: it has none
	StartAt               string   `json:"startAt"`
	EndAt                 *string  `json:"endAt"` // null: its time is over, and a schedule extends it
	Until                 string   `json:"until"`
	Availability          Figure   `json:"availability"`
	Performance           Figure   `json:"performance"`
	Quality               Figure   `json:"quality"`
	OEE                   Figure   `json:"oee"`
	Coverage              Figure   `json:"coverage"`
	GoodCount             float64  `json:"goodCount"`
	BadCount              float64  `json:"badCount"`
	UnscheduledGoodCount  float64  `json:"unscheduledGoodCount"` // of goodCount, made without a schedule: in no ratio
	UnscheduledBadCount   float64  `json:"unscheduledBadCount"`
	IdealCount            *float64 `json:"idealCount"`  // units due by the rate; null: there is none
	TargetCount           *float64 `json:"targetCount"` // the same without downtime
	ScheduledProductionMs int64    `json:"scheduledProductionMs"`
	DowntimeMs            int64    `json:"downtimeMs"`
	ProductiveMs          int64    `json:"productiveMs"`
}

// soFar remembers what the shift of a line adds up to, so that a look at it costs the last hour and not the shift.
type soFar struct {
	version uint64    // of what is kept of the line
	start   int64     // of the shift, a whole minute, ms
	at      int64     // a full hour, ms: what was before it changes only with version
	before  oee.Terms // of [start, at)

	until  int64 // ms
	sum    oee.Terms
	final  bool           // it changes only with version or disorder
	upsets uint64         // line.upsets at that time
	status monitor.Status // what time alone changes shows in these two
	open   int
}

// glimpse is a line at a moment.
type glimpse struct {
	monitor.View
	version, upsets uint64
	took            bool // something in since it was last looked at
}

// ongoing gives the shift of a station that goes on at the moment of a view: end is 0 when its time is over, and a schedule
// extends it. Where there is no pattern it is the production day.
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

// shift gives the figures of the shift that goes on at a line; nil when none does, or nothing is captured there. The caller
// holds the line's showing.
func (o *owner) shift(l *line, s *station.Station, g *glimpse) (*ShiftStatus, error) {
	name, start, end, in := ongoing(s, &g.View)
	if !in || s.Archived || s.Monitor.MeterOnly || s.Monitor.SchedulingOnly {
		return nil, nil
	}
	first, until := start-mod(start, minute), g.Now-mod(g.Now, minute)
	sum, err := o.addUp(l, s, g, first, max(first, until))
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

// addUp gives the terms of a line in [start, until), ms, whole minutes, of which the end has just been: the sum of the very
// rows that Rows gives, in their order, so that the two are equal to the last bit. Rows of full hours that do not change any
// more are added up once.
func (o *owner) addUp(l *line, s *station.Station, g *glimpse, start, until int64) (oee.Terms, error) {
	x := &l.soFar
	known := x.version == g.version && x.start == start && x.at != 0
	if known && x.until == until && x.upsets == g.upsets && (x.final || !g.took && x.status == g.Status && x.open == len(g.Open)) {
		return x.sum, nil
	}
	if !known {
		*x = soFar{version: g.version, start: start, at: start}
	}
	_, rows, _, err := o.rows(o.timeline, l, x.at, until)
	if err != nil {
		return oee.Terms{}, err
	}
	if full := l.fullHour(s.Calendar, min(g.Final, until), x.at); full > x.at {
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
	x.until, x.final, x.upsets, x.status, x.open = until, g.Final >= until, g.upsets, g.Status, len(g.Open)
	return x.sum, nil
}

// fullHour gives the start of the last hour, by a moment and later than another, before which nothing changes but with
// version: what comes out of order goes back to the base. It is 0 when there is none.
func (l *line) fullHour(c *calendar.Calendar, by, after int64) int64 {
	if c.Bucket(by, calendar.UnitHour).Start <= after {
		return 0
	}
	l.mu.Lock()
	settled := l.base.View(l.baseAt).Final
	l.mu.Unlock()
	return c.Bucket(min(by, settled), calendar.UnitHour).Start
}

func mod(a, b int64) int64 { return (a%b + b) % b }
