package monitor

import (
	"strconv"

	"opsmon/app/instant"
)

// Segment is a stretch of time in which nothing that matters changes, [Start, End).
type Segment struct {
	Start, End int64
	Ctx        *Context
	Known      bool // there was a sign of life, or none is needed
	Productive bool
	Manual     int64  // the start of the manual downtime that it is part of; 0: none
	Stop       int64  // the start of the stop that it is part of; 0: none
	Slow       int64  // the start of the slow period that it is part of; 0: none
	Cause      string // reason code of the issue; "" is none
	// Excluded says that people took the stop out of the figures (Explain). Class does not change by it: windows show
	// what was, and package oee leaves the time out.
	Excluded bool
}

// same reports whether two segments differ in their time alone.
func (g *Segment) same(o *Segment) bool {
	return g.Ctx.Same(o.Ctx) && g.Known == o.Known && g.Productive == o.Productive && g.Manual == o.Manual && g.Stop == o.Stop && g.Slow == o.Slow && g.Cause == o.Cause && g.Excluded == o.Excluded
}

// mark returns where the segment has the start of its issue of a type.
func (g *Segment) mark(t IssueType) *int64 {
	switch t {
	case IssueSlow:
		return &g.Slow
	case IssueManual:
		return &g.Manual
	}
	return &g.Stop
}

// Class is what a millisecond was. Each has one: the first that fits, in this order.
type Class uint8

// The classes.
const (
	OutOfShift Class = iota
	NoData
	Downtime
	Slow
	Productive
	Idle
	classes
)

// Class returns the class of the segment's time.
func (g *Segment) Class() Class {
	switch {
	case !g.Ctx.InShift:
		return OutOfShift
	case g.Manual != 0: // people said so, whatever the devices did
		return Downtime
	case !g.Known:
		return NoData
	case g.Stop != 0:
		return Downtime
	case g.Slow != 0:
		return Slow
	case g.Productive:
		return Productive
	}
	return Idle
}

// IssueType says what an Issue is.
type IssueType uint8

// The types of issue.
const (
	IssueStop IssueType = iota + 1
	IssueSlow
	IssueManual
)

var issueNames = [...]string{"", "stop", "slow", "manual"}

// String returns the type as answers carry it.
func (t IssueType) String() string { return issueNames[t] }

// Issue is a stop, a slow period or a manual downtime, whole. At one station no two of a type start together, so that
// type and start name it, however often it is computed.
type Issue struct {
	Type       IssueType
	Start, End int64  // End 0: it goes on
	Cause      string // by the machine's error code, or as it was given; "" is none
	Production string // the schedule that ran when it began; "" is none
	SKU        string
}

// IssueID returns the name of an issue at its station, such as "stop-1767600000000".
func IssueID(t IssueType, start int64) string { return t.String() + "-" + strconv.FormatInt(start, 10) }

// Status is what a station is doing, for people.
type Status uint8

// The statuses; a station has the first that fits.
const (
	StatusDisconnected Status = iota + 1
	StatusManualDowntime
	StatusDowntime
	StatusNonProduction
	StatusSlow
	StatusProductive
	StatusIdle // in scheduled production
	StatusUnscheduled
	StatusOutOfShift
)

var statusNames = [...]string{"", "disconnected", "manualDowntime", "downtime", "nonProduction", "slow", "productive", "idle", "unscheduled", "outOfShift"}

// String returns the status as answers carry it.
func (t Status) String() string { return statusNames[t] }

// updateStatus notes what the station does at s.now but for stops and slow periods, and since when.
func (s *State) updateStatus() {
	status, since := s.statusNow()
	if status != s.status {
		s.status, s.statusSince = status, since
	}
}

// statusNow returns the first status that fits. Where no device is heard for so long that people's word is all there
// is, what they report comes before the silence.
func (s *State) statusNow() (Status, int64) {
	switch {
	case !s.known() && (s.manual.Start == 0 || !s.unheard()):
		return StatusDisconnected, s.lastSign
	case s.manual.Start != 0:
		return StatusManualDowntime, s.manual.Start
	case s.ctx.Kind == NonProduction:
		return StatusNonProduction, s.now
	case s.produces:
		return StatusProductive, s.now
	case s.ctx.Kind == Production:
		return StatusIdle, s.now
	case s.ctx.InShift:
		return StatusUnscheduled, s.now
	}
	return StatusOutOfShift, s.now
}

// statusAll returns the status with stops and slow periods: a stop's since the stop began.
func (s *State) statusAll() (Status, int64) {
	switch {
	case s.status <= StatusManualDowntime:
		return s.status, s.statusSince
	case s.stop.registered:
		return StatusDowntime, s.stop.start
	case s.status != StatusNonProduction && s.slow.registered:
		return StatusSlow, s.slow.start
	}
	return s.status, max(s.statusSince, s.freed)
}

// View is a station as it looks at a moment: what is final and has not been taken, and after it what is likely.
type View struct {
	Outputs              // the last segment ends at Now; the last minute may still grow
	Now     int64        // the moment
	Final   int64        // what lies before it does not change any more, unless an input arrives late
	Open    []Issue      // issues that go on
	Status  Status       // what the station does
	Since   int64        // since when; of a station that is disconnected it counts when Heard
	Heard   bool         // a device has given a sign of life at least once
	Alive   bool         // its devices are heard, or need not be
	Running []RunningNow // schedules that run
	Speed   float64      // shown; it counts when SpeedKnown
	// SpeedKnown tells whether a speed was sent since the station last came alive.
	SpeedKnown bool
}

// RunningNow is a schedule that runs, with what it has recorded in millionths of units.
type RunningNow struct {
	Schedule
	Good, Bad int64
	// Ideal are the units due by the last full minute, by the rate in the schedule's known time; Target those without
	// its downtime. They count when HasRate.
	Ideal, Target float64
	HasRate       bool
	Reached       bool
	Manual        bool // good units are those that operators enter, or nobody has counted any yet
}

// View shows the station at a moment, which should not lie before the last input, taking it that a station which has
// not been silent for long enough is alive, and that one which sends the units of some time together does not stand
// before its next report is overdue, half as late again. The state does not change.
func (s *State) View(now int64) View {
	c := s.clone()
	c.Advance(now)
	if !c.silent && !c.exempt() {
		c.drain()
	}
	c.run(max(c.now, now))
	c.settle()
	v := View{Now: c.now, Final: min(s.Final(), c.Final()), Heard: c.heard, Alive: c.heardNow(), Speed: c.speed, SpeedKnown: c.speedKnown}
	c.foresee()
	v.Status, v.Since = c.statusAll()
	for _, o := range []struct {
		*candidate
		t IssueType
	}{{&c.stop, IssueStop}, {&c.slow, IssueSlow}} {
		if o.registered && o.start < c.now {
			c.line(o.candidate, o.t, c.now)
			v.Open = append(v.Open, Issue{Type: o.t, Start: o.start, Cause: o.cause, Production: o.ctx.Production, SKU: o.ctx.SKU})
		}
	}
	if c.manual.Start != 0 {
		v.Open = append(v.Open, c.manual)
	}
	c.tail[len(c.tail)-1].End = c.now
	for _, g := range c.tail {
		if g.Start < g.End {
			c.emit(g)
		}
	}
	c.emit(Segment{}) // lets go of the one kept back
	for _, r := range []*running{c.production, c.nonProduction} {
		if r != nil {
			v.Running = append(v.Running, r.view(c.cfg))
		}
	}
	if c.minuteOpen && c.minute.measured() {
		c.out.Minutes = append(c.out.Minutes, c.minute)
	}
	v.Outputs = c.out
	return v
}

// view is a running schedule.
func (r *running) view(cfg *Config) RunningNow {
	v := RunningNow{
		Schedule: r.Schedule, Good: r.recorded, Bad: r.recordedIn, Reached: r.reached, HasRate: len(r.due.known) > 0,
		Manual: r.source == sourceOperator || r.source == sourceNone && cfg.SpeedToProductionRatio <= 0,
	}
	v.Ideal, v.Target = r.due.known.value()/instant.MinuteMs, r.due.run.value()/instant.MinuteMs
	return v
}
