package oee

import (
	"opsmon/app/engine/calendar"
	"opsmon/app/engine/monitor"
	"opsmon/app/instant"
)

// Role is the role of a reason in the profiles.
type Role uint8

// The roles.
const (
	RoleNone Role = iota
	RoleSetup
	RoleChangeover
	RolePlanned
	roles
)

// Loss is a category of lost time and units.
type Loss uint8

// The losses.
const (
	LossSchedule Loss = iota // shift time without a schedule
	LossPlanned              // non-production schedules
	LossDowntime
	LossSpeed
	LossQuality
	Losses // number of losses
)

// Terms are the sums that figures are calculated from. Times are ms, units are millionths.
type Terms struct {
	monitor.Times
	Down   [3][roles]int64 // downtime by monitor.Kind and the role of its reason
	Paused [roles]int64    // known time of non-production schedules by the role of their reason
	Ran    [roles]int64    // the productive or slow part of it
	// Excluded is the time of excluded stops by monitor.Kind. It is part of Times' NoData and counts in no figure
	// except Coverage, because it is known.
	Excluded [3]int64

	Good, Bad, Other int64
	monitor.Outside          // of Good and Bad
	All              int64   // good + bad in known scheduled production, made under a rate
	Ideal, Target    float64 // units due in known scheduled production, and in that without downtime
	HasRate          bool    // some scheduled production or units had a rate
	RatedRun         int64   // ms of known scheduled production without downtime that had a rate
	IdealTime        float64 // ms that All should have taken
	BadTime          float64 // ms that the bad units among them should have taken
	Cost             [Losses]float64
	Priced           [Losses]bool // Cost is known, at least in part
	Unpriced         [Losses]bool // some of the loss, or of the possible loss, is not in Cost
}

// Add adds o to t.
func (t *Terms) Add(o *Terms) {
	t.Times.Add(&o.Times)
	for r := range roles {
		for k := range t.Down {
			t.Down[k][r] += o.Down[k][r]
		}
		t.Paused[r] += o.Paused[r]
		t.Ran[r] += o.Ran[r]
	}
	for k := range t.Excluded {
		t.Excluded[k] += o.Excluded[k]
	}
	t.Good += o.Good
	t.Bad += o.Bad
	t.Other += o.Other
	t.Outside.Add(&o.Outside)
	t.All += o.All
	t.Ideal += o.Ideal
	t.Target += o.Target
	t.HasRate = t.HasRate || o.HasRate
	t.RatedRun += o.RatedRun
	t.IdealTime += o.IdealTime
	t.BadTime += o.BadTime
	for l := range Losses {
		t.Cost[l] += o.Cost[l]
		t.Priced[l] = t.Priced[l] || o.Priced[l]
		t.Unpriced[l] = t.Unpriced[l] || o.Unpriced[l]
	}
}

// Row is the activity of one station in one hour (or a part of it) or minute, in one shift, with one SKU.
type Row struct {
	Start int64 // of the hour or minute
	Shift monitor.Shift
	SKU   string
	Terms
}

// Config defines how a station's segments are converted to rows.
type Config struct {
	Calendar *calendar.Calendar
	Unit     calendar.Unit // unit of rows: UnitHour or UnitMinute
	// Roles has the roles of reasons; missing ones have none.
	Roles map[string]Role
	// Money is whether lost production is priced (enableLostProductionCost).
	Money bool
	// Values has the value of a unit by SKU, in the account's currency; missing ones have none.
	Values map[string]float64
	// IdleCostPerMinute is the price of lost minutes if a SKU has no value; 0: not set.
	IdleCostPerMinute float64
}

// collector makes rows. Those of one bucket, an hour or a minute, are adjacent, so the needed one is among the last.
type collector struct {
	Config
	rows   []Row
	bucket calendar.Range
	at     int // index of the bucket's first row
}

// Collect returns the rows of one station in [from, to), ordered by hour or minute. Segments and minutes must be
// ordered by time. from and to are whole minutes.
func Collect(c Config, from, to int64, segments []monitor.Segment, minutes []monitor.Minute) []Row {
	x := collector{Config: c}
	for i := range segments {
		g := &segments[i]
		start, end := max(g.Start, from), min(g.End, to)
		for start < end {
			for len(minutes) > 0 && minutes[0].Start < from {
				minutes = minutes[1:]
			}
			if x.bucket.End <= start {
				for len(minutes) > 0 && minutes[0].Start < x.bucket.End {
					x.minute(&minutes[0])
					minutes = minutes[1:]
				}
				x.bucket, x.at = c.Calendar.Bucket(start, c.Unit), len(x.rows)
			}
			stop := min(end, x.bucket.End)
			x.time(g, stop-start)
			start = stop
		}
	}
	for len(minutes) > 0 && minutes[0].Start < min(to, x.bucket.End) {
		x.minute(&minutes[0])
		minutes = minutes[1:]
	}
	for i := range x.rows {
		x.price(&x.rows[i])
	}
	return x.rows
}

// row returns the row of a context in the present bucket.
func (x *collector) row(c *monitor.Context) *Row {
	for i := len(x.rows) - 1; i >= x.at; i-- {
		if r := &x.rows[i]; r.SKU == c.SKU && r.Shift == c.Shift {
			return r
		}
	}
	x.rows = append(x.rows, Row{Start: x.bucket.Start, Shift: c.Shift, SKU: c.SKU})
	return &x.rows[len(x.rows)-1]
}

func (x *collector) time(g *monitor.Segment, ms int64) {
	c, class := g.Ctx, g.Class()
	r := x.row(c)
	if g.Excluded && class == monitor.Downtime {
		class = monitor.NoData
		r.Excluded[c.Kind] += ms
	}
	r.Times[c.Kind][class] += ms
	r.HasRate = r.HasRate || c.Kind == monitor.Production && c.UnitsPerMinute > 0
	switch {
	case class == monitor.NoData || class == monitor.OutOfShift:
		return
	case class == monitor.Downtime:
		r.Down[c.Kind][x.Roles[g.Cause]] += ms
	}
	if c.Kind == monitor.NonProduction {
		role := x.Roles[c.Reason]
		r.Paused[role] += ms
		if class == monitor.Productive || class == monitor.Slow {
			r.Ran[role] += ms
		}
	}
	if c.Kind == monitor.Production && c.UnitsPerMinute > 0 {
		due := c.UnitsPerMinute * float64(ms) / instant.MinuteMs
		r.Ideal += due
		if class != monitor.Downtime {
			r.Target += due
			r.RatedRun += ms
		}
	}
}

func (x *collector) minute(m *monitor.Minute) {
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Good == 0 && p.Bad == 0 && p.Other == 0 {
			continue
		}
		r := x.row(p.Ctx)
		r.Good += p.Good
		r.Bad += p.Bad
		r.Other += p.Other
		if r.Outside.Part(p); p.Ctx.Kind != monitor.Production {
			continue
		}
		good, bad := p.Good-p.UnknownGood, p.Bad-p.UnknownBad
		if rate := p.Ctx.UnitsPerMinute; rate > 0 && (good != 0 || bad != 0) { // units of the other source do not count
			r.HasRate = true
			r.All += good + bad
			r.IdealTime += float64(good+bad) / monitor.Micro * instant.MinuteMs / rate
			r.BadTime += float64(bad) / monitor.Micro * instant.MinuteMs / rate
		}
	}
}

// Scheduled returns the good and bad units of ratios and losses: those of known scheduled production, millionths.
func (t *Terms) Scheduled() (good, bad int64) {
	return t.Good - t.UnscheduledGood - t.UnknownGood, t.Bad - t.UnscheduledBad - t.UnknownBad
}

// price calculates the cost of a row's losses: units x the SKU's value, else minutes x the station's idle cost.
func (x *collector) price(r *Row) {
	if !x.Money {
		return
	}
	value, worth := x.Values[r.SKU]
	produced := &r.Times[monitor.Production]
	ran := r.Of(monitor.Production) - produced[monitor.NoData] - produced[monitor.Downtime]
	for l, lost := range r.Lost() {
		switch {
		case worth && lost.UnitsKnown:
			r.Cost[l], r.Priced[l] = lost.Units*value, true
		case x.IdleCostPerMinute > 0 && lost.TimeKnown:
			r.Cost[l], r.Priced[l] = lost.Time/instant.MinuteMs*x.IdleCostPerMinute, true
		default: // without a rate the speed loss is unknown, unless nothing ran
			some := (!lost.TimeKnown || lost.Time != 0) && (!lost.UnitsKnown || lost.Units != 0)
			r.Unpriced[l] = some && (lost.TimeKnown || lost.UnitsKnown || ran > 0)
		}
	}
}

// LossOf is the amount of one loss.
type LossOf struct {
	Time                              float64 // ms
	Units, Money                      float64
	TimeKnown, UnitsKnown, MoneyKnown bool
	Partial                           bool // Money is a part: the rest has no price
}

// Lost returns the losses. Units, and the times of the speed and quality losses, need a rate. A speed loss is negative
// if more units were made than were due.
func (t *Terms) Lost() [Losses]LossOf {
	known := func(k monitor.Kind) int64 {
		return t.Of(k) - t.Times[k][monitor.NoData] - t.Times[k][monitor.OutOfShift]
	}
	units := func(micro int64) float64 { return float64(micro) / monitor.Micro }
	_, bad := t.Scheduled()
	out := [Losses]LossOf{
		LossSchedule: {Time: float64(known(monitor.Unscheduled)), TimeKnown: true},
		LossPlanned:  {Time: float64(known(monitor.NonProduction)), TimeKnown: true},
		LossDowntime: {Time: float64(t.Times[monitor.Production][monitor.Downtime]), TimeKnown: true, Units: t.Ideal - t.Target, UnitsKnown: t.HasRate},
		LossSpeed:    {Time: float64(t.RatedRun) - t.IdealTime, TimeKnown: t.HasRate, Units: t.Target - units(t.All), UnitsKnown: t.HasRate},
		LossQuality:  {Time: t.BadTime, TimeKnown: t.HasRate, Units: units(bad), UnitsKnown: true},
	}
	for l := range out {
		out[l].Money, out[l].MoneyKnown, out[l].Partial = t.Cost[l], t.Priced[l], t.Priced[l] && t.Unpriced[l]
	}
	return out
}
