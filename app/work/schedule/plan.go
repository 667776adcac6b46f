package schedule

import (
	"opsmon/app/engine/calendar"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
)

// RateImplied is the source of a rate implied by quantity and end. station.Rate names the other sources.
const RateImplied = "implied"

// outlook has the values calculated from a plan.
type outlook struct {
	end      int64   // ms; 0: unknown
	quantity float64 // units; 0: unknown
	rate     float64 // units per minute; 0: unknown
	rateFrom string
}

// outlook calculates the values for a start at a moment, ms. The rate implied by a fixed quantity and end is calculated
// from the planned start, not the actual one, unless the schedule was started early and its end lies before the planned
// start.
func (f *Fields) outlook(st *station.Station, start int64) outlook {
	o := outlook{end: f.PlannedEnd, quantity: f.PlannedQuantity}
	if f.Kind == NonProduction {
		return o
	}
	plan := calendar.Plan{Start: start, End: f.PlannedEnd, Quantity: f.PlannedQuantity, ExtendShift: f.ExtendShift}
	if plan.Type() == calendar.FixedBoth && f.PlannedStart < f.PlannedEnd {
		plan.Start = f.PlannedStart
	}
	o.rate, o.rateFrom = st.RateOf(&monitor.Schedule{SKU: f.SKUCode, Rate: f.override(), PartsPerCycle: f.PartsPerCycle})
	plan.UnitsPerMinute = o.rate
	implied := st.Calendar.Implied(plan)
	if plan.Type() == calendar.FixedBoth {
		if implied.UnitsPerMinute > 0 {
			o.rate, o.rateFrom = implied.UnitsPerMinute, RateImplied
		}
		return o
	}
	o.end, o.quantity = implied.End, implied.Quantity
	return o
}

// machine returns the schedule as the engine needs it.
func (s *Schedule) machine(o outlook) monitor.Schedule {
	m := monitor.Schedule{
		ID: s.ID, NonProduction: s.Kind == NonProduction, SKU: s.SKUCode, Reason: s.ReasonCode, Quantity: s.PlannedQuantity,
		Rate: s.override(), LineSpeedTarget: s.LineSpeedTarget, PartsPerCycle: s.PartsPerCycle, ExtendShift: s.ExtendShift, WorkOrder: s.WorkOrder,
	}
	if o.rateFrom == RateImplied {
		m.Rate = monitor.Rate{UnitsPerMinute: o.rate}
	}
	return m
}

// span returns the planned time of a schedule at its station, ms: [start, end). Without a known end it is one
// millisecond.
func (p place) span() (start, end int64) { return p.begins, max(p.end, p.begins+1) }

// free checks that an open schedule overlaps no other open schedule of its station. Error: Conflict.
func (p place) free(open []place) error {
	start, end := p.span()
	for _, o := range open {
		if o.id == p.id || o.kind != p.kind {
			continue
		}
		if from, to := o.span(); from < end && start < to {
			until := "without a known end"
			if to > from+1 {
				until = "until " + instant.FormatMs(to)
			}
			return errdefs.New(errdefs.Conflict, "at %s the schedule %s is %s from %s %s; schedules of a kind must not overlap", o.station, o.id, o.state, instant.FormatMs(from), until)
		}
	}
	return nil
}

// kindSchedules has the running and the recently ended schedules of one kind at a station.
type kindSchedules struct {
	running *Schedule
	// ended has those that ended after a moment, or at it by quantity, the latest first.
	ended []*Schedule
}

// enter returns the moment at which a schedule can start that should start at a moment, ms: that moment, or the next ms
// if another of its kind occupies it. ends is the running schedule that it replaces. Error: Conflict if it cannot
// start.
func (l kindSchedules) enter(at int64, endRunning bool) (start int64, ends *Schedule, err error) {
	for _, e := range l.ended {
		switch free := e.freed(); {
		case free <= at:
		case free <= at+1:
			at = free
		default:
			return 0, nil, errdefs.New(errdefs.Conflict, "at %s the schedule %s ran from %s until %s; another of its kind can start after that", e.StationCode, e.ID, instant.FormatMs(e.Start), instant.FormatMs(e.End))
		}
	}
	r := l.running
	switch {
	case r == nil:
		return at, nil, nil
	case !endRunning:
		return 0, nil, errdefs.New(errdefs.Conflict, "at %s the schedule %s is running since %s; end it first, or start with endrunning=true", r.StationCode, r.ID, instant.FormatMs(r.Start))
	case at < r.Start:
		return 0, nil, errdefs.New(errdefs.Conflict, "at %s the schedule %s is running since %s, which is later", r.StationCode, r.ID, instant.FormatMs(r.Start))
	}
	return max(at, r.Start+1), r, nil
}

// freed returns the first moment at which another of its kind may start after an ended schedule.
func (s *Schedule) freed() int64 {
	if s.byQuantity() {
		return s.End + 1
	}
	return s.End
}
