package monitor

import (
	"strconv"

	"opsmon/app/instant"
)

// Segment is a range of time without a relevant change, [Start, End).
type Segment struct {
	Start, End int64
	Ctx        *Context
	Known      bool // the station was alive, or need not be
	Productive bool
	Manual     int64  // start of its manual downtime; 0: none
	Stop       int64  // start of its stop; 0: none
	Slow       int64  // start of its slow period; 0: none
	Cause      string // reason code of the issue; "": none
	// Excluded reports whether people excluded the stop from the figures (Explain). It does not change Class: windows
	// show the actual class, and package oee leaves the time out.
	Excluded bool
}

// same reports whether two segments are equal except for their times.
func (g *Segment) same(o *Segment) bool {
	return g.Ctx.Same(o.Ctx) && g.Known == o.Known && g.Productive == o.Productive && g.Manual == o.Manual && g.Stop == o.Stop && g.Slow == o.Slow && g.Cause == o.Cause && g.Excluded == o.Excluded
}

// mark returns the field with the start of the issue of a type.
func (g *Segment) mark(t IssueType) *int64 {
	switch t {
	case IssueSlow:
		return &g.Slow
	case IssueManual:
		return &g.Manual
	}
	return &g.Stop
}

// Class is the class of a millisecond: the first that applies, in this order.
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
	case g.Manual != 0: // a report by a person overrides the devices
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

// IssueType is the type of an Issue.
type IssueType uint8

// The types of issue.
const (
	IssueStop IssueType = iota + 1
	IssueSlow
	IssueManual
)

var issueNames = [...]string{"", "stop", "slow", "manual"}

// String returns the type as in API answers.
func (t IssueType) String() string { return issueNames[t] }

// Issue is a whole stop, slow period or manual downtime. At one station no two of a type start at the same time, so
// type and start identify it, however often it is recalculated.
type Issue struct {
	Type       IssueType
	Start, End int64  // End 0: in progress
	Cause      string // by the machine's error code, or as entered; "": none
	Production string // the schedule running at its start; "": none
	SKU        string
}

// IssueID returns the ID of an issue within its station, such as "stop-1767600000000".
func IssueID(t IssueType, start int64) string { return t.String() + "-" + strconv.FormatInt(start, 10) }

// Status is the current state of a station, as shown to people.
type Status uint8

// The statuses; the first that applies is the station's.
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

// String returns the status as in API answers.
func (t Status) String() string { return statusNames[t] }

// updateStatus updates the status at s.now without stops and slow periods, and its start.
func (s *State) updateStatus() {
	status, since := s.statusNow()
	if status != s.status {
		s.status, s.statusSince = status, since
	}
}

// statusNow returns the first status that applies. If no device has been alive for so long that people count, their
// reports take precedence over the silence.
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

// statusAll returns the status including stops and slow periods, with the start of the stop or slow period.
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

// View is a station at a moment: the final outputs that were not taken, followed by provisional ones.
type View struct {
	Outputs              // the last segment ends at Now; the last minute may still grow
	Now     int64        // the moment
	Final   int64        // everything before it is final, unless an input arrives late
	Open    []Issue      // issues in progress
	Status  Status       // what the station does
	Since   int64        // start of the status; for a disconnected station only valid if Heard
	Heard   bool         // a device was alive at least once
	Alive   bool         // its devices are alive, or need not be
	Running []RunningNow // running schedules
	Speed   float64      // shown speed, valid if SpeedKnown
	// SpeedKnown reports whether a speed was sent since the station last became alive.
	SpeedKnown bool
}

// RunningNow is a running schedule with its counts, millionths of units.
type RunningNow struct {
	Schedule
	Good, Bad int64
	// Ideal is the units due up to the last full minute, by the rate in the schedule's known time; Target is Ideal
	// without downtime. Both are valid if HasRate.
	Ideal, Target float64
	HasRate       bool
	Reached       bool
	Manual        bool // operators enter good units, or no good unit has been counted yet
}

// View returns the station at a moment, which should not be before the last input. It assumes that a station is alive
// until it has been silent for long enough, and that a station that sends several units at a time is not stopped until
// its next report is overdue by half of the interval. The state does not change.
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
	c.emit(Segment{}) // releases the held segment
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

// view returns the running schedule for a View.
func (r *running) view(cfg *Config) RunningNow {
	v := RunningNow{
		Schedule: r.Schedule, Good: r.recorded, Bad: r.recordedIn, Reached: r.reached, HasRate: len(r.due.known) > 0,
		Manual: r.source == sourceOperator || r.source == sourceNone && cfg.SpeedToProductionRatio <= 0,
	}
	v.Ideal, v.Target = r.due.known.value()/instant.MinuteMs, r.due.run.value()/instant.MinuteMs
	return v
}
