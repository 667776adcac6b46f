package monitor

import (
	"errors"
	"math"
	"slices"

	"opsmon/app/instant"
)

// ErrLate is the error for an input before what a State has already consumed. It must be applied to an earlier state,
// followed by all later inputs.
var ErrLate = errors.New("the input is earlier than what the state has already taken in")

// State is one station at a moment. It is made by New or Decode and must be used by one goroutine at a time.
type State struct {
	cfg      *Config
	now      int64 // everything before is decided
	last     int64 // time of the last input
	lastKind InputKind
	lastSign int64 // of life; equal to now while the station is neither silent nor exempt
	silent   bool
	heard    bool     // a device was alive at least once
	links    []string // the devices with a live connection, sorted
	// inputs since lastSign that are not signs of life: queued until it is known whether the station is silent
	pending []Input

	shift      Shift
	inShift    bool
	shiftUntil int64
	skuUntil   int64 // until when the SKU in ctx is known to be valid
	ctx        *Context

	production, nonProduction *running
	unscheduled               counter // while no production schedule is running
	manual                    Issue   // Start 0: no manual downtime

	capture
	search
	hand     byHand
	slow     candidate
	broken   bool // a stop or slow period must end here
	produces bool

	tail        []Segment // the last one is open, and those before may still change; issues are set when they end
	held        Segment   // the last final one, held back because the next may extend it
	minute      Minute
	minuteOpen  bool
	ended       []Issue // in order; those up to the end of the search may be joined by others
	status      Status  // without stops and slow periods
	statusSince int64
	freed       int64 // end of the last stop or slow period
	out         Outputs
}

// running is a running schedule with its counts.
type running struct {
	Schedule
	counter
	due    due // up to the last full minute of its final time
	recent due // since then
}

// due is the basis of a schedule's due units, in units per minute times ms: in known scheduled production, and in the
// part of it without downtime.
type due struct{ known, run exact }

func (d *due) add(other due) {
	d.known.addAll(other.known)
	d.run.addAll(other.run)
}

func (d *due) clone() due { return due{slices.Clone(d.known), slices.Clone(d.run)} }

// fall adds final time to the due units of the running schedule.
func (r *running) fall(g *Segment) {
	full := instant.FloorMinute(g.End)
	if full < g.Start {
		r.rate(&r.recent, g, g.End-g.Start)
		return
	}
	r.due.add(r.recent)
	r.rate(&r.due, g, full-g.Start)
	r.recent = due{}
	r.rate(&r.recent, g, g.End-full)
}

// rate adds ms of a segment's time to due units.
func (r *running) rate(to *due, g *Segment, ms int64) {
	class := g.Class()
	if ms == 0 || g.Ctx.Kind != Production || g.Ctx.Production != r.ID || g.Ctx.UnitsPerMinute <= 0 || class == NoData {
		return
	}
	to.known.add(g.Ctx.UnitsPerMinute, ms)
	if class != Downtime {
		to.run.add(g.Ctx.UnitsPerMinute, ms)
	}
}

// Outputs are final results, ordered by time. They change only if an input arrives late.
type Outputs struct {
	Segments []Segment
	Minutes  []Minute // only those with measurements
	Issues   []Issue  // ordered by end
	Events   []Event
}

// EventKind is the kind of an Event.
type EventKind uint8

// The kinds of event.
const (
	// the good units of a schedule reached its quantity; once for each quantity
	EventQuantityReached EventKind = iota + 1
	EventMaximumReached            // a schedule has recorded the maximum number of units
	EventCounterReset              // a running counter or a meter was reset
)

// Event is a result that other packages act on.
type Event struct {
	At       int64
	Kind     EventKind
	Schedule string  // "" for EventCounterReset
	Quantity float64 // EventQuantityReached: the quantity
}

// New returns the state of a station whose past before the minute of from is unknown. cfg must have a Calendar.
func New(cfg *Config, from int64) *State {
	s := &State{cfg: cfg, now: instant.FloorMinute(from), last: math.MinInt64}
	s.lastSign, s.accrued, s.statusSince = s.now, s.now, s.now
	s.silent = !s.exempt()
	s.lookUpShift()
	s.changed()
	s.tail = []Segment{{Start: s.now, End: s.now, Ctx: s.ctx}}
	s.refresh(false)
	return s
}

// Apply consumes an input. Inputs must come in the order of Compare; for one that does not, it returns ErrLate and
// changes nothing.
func (s *State) Apply(in *Input) error {
	if in.At < s.now || in.At < s.last || in.At == s.last && in.Kind < s.lastKind {
		return ErrLate
	}
	s.last, s.lastKind = in.At, in.Kind
	sign := in.Kind == InputSignal || in.Kind == InputLink
	if !s.silent && !s.exempt() {
		s.checkSilence(in.At)
		if !s.silent && !s.exempt() {
			if !sign {
				s.pending = append(s.pending, *in)
				return nil
			}
			s.drain()
		}
	}
	s.run(in.At)
	s.do(in)
	return nil
}

// Advance advances time: no further input before to is expected, except signals of a station that may still turn out to
// be alive.
func (s *State) Advance(to int64) {
	if !s.silent && !s.exempt() {
		s.checkSilence(to)
	}
	if s.silent || s.exempt() {
		// Only to whole minutes, so an input that arrives a moment later is not late.
		s.run(max(s.now, instant.FloorMinute(to)))
		s.settle()
	}
}

// Take returns the outputs since the last call.
func (s *State) Take() Outputs {
	out := s.out
	s.out = Outputs{}
	return out
}

// exempt reports whether the station cannot be silent.
func (s *State) exempt() bool { return s.cfg.SchedulingOnly || len(s.links) > 0 }

// checkSilence decides about the time since the last sign of life, at a moment without a newer one.
func (s *State) checkSilence(at int64) {
	if at-s.lastSign < s.cfg.SilentAfter() {
		return
	}
	s.goSilent()
	s.drain()
}

// goSilent starts silence at s.now, the moment of the last sign of life.
func (s *State) goSilent() {
	s.flush()
	s.silent = true
	s.speedKnown, s.kwKnown = false, false
	if s.cfg.AlwaysConnected {
		s.on = false // silence means stopped
	}
	s.refresh(false)
}

// drain processes the queued inputs.
func (s *State) drain() {
	for i := range s.pending {
		s.run(s.pending[i].At)
		s.do(&s.pending[i])
	}
	s.pending = s.pending[:0]
}

const never = math.MaxInt64

// run advances time to t and processes what becomes due, including at t: it comes before the inputs of t. At one
// moment, the end of a minute comes first, then the end of a shift.
func (s *State) run(t int64) {
	const (
		minuteEnds = iota + 1
		holdEnds
		shiftEnds
		skuEnds
	)
	for {
		due, what := int64(never), 0
		if s.minuteOpen {
			due, what = s.minute.Start+instant.MinuteMs, minuteEnds
		}
		if s.produces && s.holdUntil < due && s.holdUntil > s.now {
			due, what = s.holdUntil, holdEnds
		}
		if s.shiftUntil < due {
			due, what = s.shiftUntil, shiftEnds
		}
		if s.skuUntil < due {
			due, what = s.skuUntil, skuEnds
		}
		if due > t {
			s.now = t
			return
		}
		s.now = due
		switch what {
		case minuteEnds:
			s.endMinute()
		case shiftEnds:
			s.lookUpShift()
			s.changed()
		case skuEnds:
			s.flush()
			s.changed()
		}
		s.refresh(false)
	}
}

// RunningSKU returns the SKU of the running production schedule; "": none.
func (s *State) RunningSKU() string {
	if s.production == nil {
		return ""
	}
	return s.production.SKU
}

// Now returns the moment before which everything is decided, ms.
func (s *State) Now() int64 { return s.now }

// Relook reads again until when the running SKU is valid, after Products got a change. The caller must not call it if
// the change is before Now: then an earlier state must be recalculated.
func (s *State) Relook() {
	s.skuUntil = never
	if s.production != nil && s.nonProduction == nil {
		_, s.skuUntil = s.cfg.SKU(s.production.SKU, s.now)
	}
}

func (s *State) lookUpShift() {
	instance, in, until := s.cfg.Calendar.At(s.now)
	s.inShift, s.shiftUntil, s.shift = in, until, Shift{}
	if in && !s.cfg.Calendar.Always() {
		s.shift = Shift{instance.Name, instance.Start, instance.Day}
	}
}

// do processes one input at s.now.
func (s *State) do(in *Input) {
	unit, code := false, ""
	if in.Kind != InputSignal && in.Kind != InputEntry {
		s.flush() // units made by speed so far belong to the present schedule
	}
	switch in.Kind {
	case InputConfig:
		s.setConfig(in.Config)
	case InputScheduleStart:
		s.start(in.Schedule)
	case InputScheduleChange:
		s.change(in.Schedule)
	case InputScheduleEnd, InputQuantityEnd:
		s.finish(in.ID)
	case InputManualStart:
		if s.manual.Start == 0 {
			s.manual = Issue{Type: IssueManual, Start: s.now, Cause: in.Reason, Production: s.ctx.Production, SKU: s.ctx.SKU}
		}
	case InputManualEnd:
		s.endManual()
	case InputEntry:
		unit = s.enter(in.ID, &in.Entry)
	case InputLink:
		s.alive()
		s.link(in.Source, in.Up)
	case InputSignal:
		s.alive()
		if !s.cfg.SchedulingOnly {
			unit, code = s.signal(&in.Signal), in.ErrorCode
		}
	}
	s.refresh(unit)
	if code != "" {
		s.errorCode(code)
	}
}

// change replaces the fields of a running schedule.
func (s *State) change(to Schedule) {
	for _, r := range []*running{s.production, s.nonProduction} {
		if r != nil && r.ID == to.ID {
			if r.Quantity != to.Quantity {
				r.reached = false
			}
			r.Schedule = to
		}
	}
	s.changed()
	if s.ctx.Production != "" {
		s.checkQuantity(&s.production.counter) // the new quantity may be reached already
	}
}

// finish ends a schedule if it is running.
func (s *State) finish(id string) {
	if s.production != nil && s.production.ID == id {
		s.production, s.hand = nil, byHand{}
	}
	if s.nonProduction != nil && s.nonProduction.ID == id {
		s.nonProduction = nil
	}
	s.changed()
}

func (s *State) endManual() {
	if s.manual.Start == 0 {
		return
	}
	if s.manual.End = s.now; s.manual.Start < s.now {
		s.close(s.manual)
	}
	s.manual = Issue{}
}

// link records whether a device is connected.
func (s *State) link(device string, up bool) {
	i, found := slices.BinarySearch(s.links, device)
	switch {
	case up && !found:
		s.links = slices.Insert(s.links, i, device)
	case !up && found:
		s.links = slices.Delete(s.links, i, i+1)
	}
}

// alive records a sign of life.
func (s *State) alive() {
	if s.hand.from != 0 && !s.hand.sure && s.heardSince(s.hand.from) >= handHeard {
		s.hand = byHand{} // devices are alive again
	}
	s.lastSign, s.silent, s.heard = s.now, false, true
}

func (s *State) setConfig(c *Config) {
	old := s.cfg
	wasExempt := s.exempt()
	s.cfg = c
	switch {
	case s.exempt() && s.silent:
		s.silent = false
	case wasExempt && !s.exempt():
		s.lastSign = s.now // from now on it can be silent
	}
	if old.DowntimeMode != c.DowntimeMode {
		s.broken = true
	}
	if s.speedKnown {
		s.speed = c.shownSpeed(s.rawSpeed)
	}
	s.lookUpShift()
	s.changed()
}

// start starts a schedule; the running one of its kind ends.
func (s *State) start(d Schedule) {
	if d.NonProduction {
		s.nonProduction = &running{Schedule: d}
	} else {
		s.production, s.hand = &running{Schedule: d}, byHand{}
		if s.silent && s.unheard() {
			s.hand.from = s.now
		}
	}
	s.changed()
}

// clone returns a deep copy.
func (s *State) clone() *State {
	c := *s
	c.links, c.pending, c.tail = slices.Clone(s.links), slices.Clone(s.pending), slices.Clone(s.tail)
	c.ended, c.marks = slices.Clone(s.ended), slices.Clone(s.marks)
	c.minute.Parts, c.minute.ErrorCodes, c.minute.Unapplied = slices.Clone(s.minute.Parts), slices.Clone(s.minute.ErrorCodes), slices.Clone(s.minute.Unapplied)
	if s.production != nil {
		r := *s.production
		r.due, r.recent = r.due.clone(), r.recent.clone()
		c.production = &r
	}
	if s.nonProduction != nil {
		r := *s.nonProduction
		c.nonProduction = &r
	}
	o := &c.out
	o.Segments, o.Minutes, o.Issues, o.Events = slices.Clip(o.Segments), slices.Clip(o.Minutes), slices.Clip(o.Issues), slices.Clip(o.Events)
	return &c
}

// Clone returns a copy to be used as a checkpoint in memory.
func (s *State) Clone() *State { return s.clone() }

// Held returns the number of items that the state holds until they are decided. Each takes some hundred bytes.
func (s *State) Held() int { return len(s.tail) + len(s.marks) + len(s.ended) + len(s.pending) }

// Final returns the moment before which nothing changes unless an input arrives late.
func (s *State) Final() int64 {
	t := s.now
	if s.searches() {
		t = min(t, s.searched)
	}
	if s.stop.active {
		t = min(t, s.stop.start)
	}
	if s.slow.active {
		t = min(t, s.slow.start)
	}
	if s.hand.from != 0 && !s.hand.sure {
		t = min(t, s.hand.from)
	}
	return t
}
