package schedule

import (
	"opsmon/app/engine/calendar"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
)

// RateImplied is where a rate comes from that quantity and end imply; station.Rate names the others.
const RateImplied = "implied"

// outlook is what follows from a plan at a station.
type outlook struct {
	end      int64   // ms; 0: not known
	quantity float64 // units; 0: not known
	rate     float64 // units per minute; 0: not known
	rateFrom string
}

// outlook works out what follows, when the schedule starts at a moment, ms. The rate of a fixed quantity and end is what
// they imply from the planned start on, whenever it starts, unless it was started early and given an end before that.
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

// machine returns what the engine needs of the schedule.
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

// span returns the time that a schedule is planned to take its station for, ms: [start, end). Without a known end it is a
// moment.
func (p place) span() (start, end int64) { return p.begins, max(p.end, p.begins+1) }

// free reports whether an open schedule may stand where it does, beside the other open ones of its station: Conflict.
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

// lane is what was and is at a station, of one kind.
type lane struct {
	running *Schedule
	// ended are those that ended after a moment, or at it by a unit, the latest first.
	ended []*Schedule
}

// enter finds the moment at which a schedule can start that is to start at a moment, ms, or says why it cannot: Conflict.
// It is the moment itself, or the next ms where one of its kind has that. ends is the one that it ends.
func (l lane) enter(at int64, endRunning bool) (start int64, ends *Schedule, err error) {
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

// freed is the first moment at which another of the kind may start after one that has ended.
func (s *Schedule) freed() int64 {
	if s.byQuantity() {
		return s.End + 1
	}
	return s.End
}
