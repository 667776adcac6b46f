package monitor

import (
	"errors"
	"math"
	"slices"

	"opsmon/app/instant"
)

// ErrLate says that an input belongs before what a State has already taken in: it is to be applied to an earlier state,
// followed by everything that comes after it.
var ErrLate = errors.New("the input is earlier than what the state has already taken in")

// State is one station at a moment. It is made by New or Decode, and belongs to one goroutine at a time.
type State struct {
	cfg      *Config
	now      int64 // everything before is settled
	last     int64 // when the last input took place
	lastKind InputKind
	lastSign int64 // of life; while the station is neither silent nor exempt, now is the same
	silent   bool
	heard    bool     // a device has given a sign of life at least once
	links    []string // the devices with a live connection, in order
	pending  []Input  // no signs of life, since lastSign: they wait until it is known whether the station is silent

	shift      Shift
	inShift    bool
	shiftUntil int64
	skuUntil   int64 // until when what ctx has of the SKU holds, as far as is known
	ctx        *Context

	production, nonProduction *running
	unscheduled               counter // while no production schedule runs
	manual                    Issue   // Start 0: no manual downtime

	capture
	search
	hand     byHand
	slow     candidate
	broken   bool // what a stop or slow period must not reach over has just changed
	produces bool

	tail        []Segment // the last one is open, and those before may still change; issues are marked when they end
	held        Segment   // the last final one, kept back as the next may be more of it
	minute      Minute
	minuteOpen  bool
	ended       []Issue // in order, of which those up to the end of the search may still get company
	status      Status  // but for stops and slow periods
	statusSince int64
	freed       int64 // when the last stop or slow period ended
	out         Outputs
}

// running is a schedule that runs and what it has recorded.
type running struct {
	Schedule
	counter
	due    due // up to the last full minute of its final time
	recent due // since then
}

// due is what is due of a schedule, in units per minute times ms: in scheduled production that is known, and in that without
// downtime.
type due struct{ known, run exact }

func (d *due) add(other due) {
	d.known.addAll(other.known)
	d.run.addAll(other.run)
}

func (d *due) clone() due { return due{slices.Clone(d.known), slices.Clone(d.run)} }

// fall adds final time to what is due of the schedule that runs.
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

// rate adds some of a segment's time.
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

// Outputs are what became final: it changes only when an input arrives late. All are in order of time.
type Outputs struct {
	Segments []Segment
	Minutes  []Minute // only those in which something was measured
	Issues   []Issue  // by their end
	Events   []Event
}

// EventKind says what an Event tells.
type EventKind uint8

// The kinds of event.
const (
	EventQuantityReached EventKind = iota + 1 // the good units of a schedule reached its quantity; once for each quantity
	EventMaximumReached                       // a schedule has recorded as many units as one may
	EventCounterReset                         // a running counter or a meter went back
)

// Event is something that others act upon.
type Event struct {
	At       int64
	Kind     EventKind
	Schedule string  // "" for EventCounterReset
	Quantity float64 // EventQuantityReached: the quantity
}

// New returns the state of a station that nothing is known of before the minute of from. cfg needs a Calendar.
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

// Apply takes in what happened. Inputs come in the order of Compare; one that does not is ErrLate, and nothing changed.
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

// Advance lets time pass: nothing that happened before to is expected any more, but for signals of a station that may yet
// turn out to have been alive.
func (s *State) Advance(to int64) {
	if !s.silent && !s.exempt() {
		s.checkSilence(to)
	}
	if s.silent || s.exempt() {
		// Whole minutes only: what arrives a moment later is not late.
		s.run(max(s.now, instant.FloorMinute(to)))
		s.settle()
	}
}

// Take returns the outputs since it was last called.
func (s *State) Take() Outputs {
	out := s.out
	s.out = Outputs{}
	return out
}

// exempt reports whether the station cannot be silent.
func (s *State) exempt() bool { return s.cfg.SchedulingOnly || len(s.links) > 0 }

// checkSilence decides about the time since the last sign of life, at a moment up to which none has come.
func (s *State) checkSilence(at int64) {
	if at-s.lastSign < s.cfg.SilentAfter() {
		return
	}
	s.goSilent()
	s.drain()
}

// goSilent makes the time from s.now on, that of the last sign of life, one of silence.
func (s *State) goSilent() {
	s.flush()
	s.silent = true
	s.speedKnown, s.kwKnown = false, false
	if s.cfg.AlwaysConnected {
		s.on = false // silence is "stopped"
	}
	s.refresh(false)
}

// drain takes in what waited.
func (s *State) drain() {
	for i := range s.pending {
		s.run(s.pending[i].At)
		s.do(&s.pending[i])
	}
	s.pending = s.pending[:0]
}

const never = math.MaxInt64

// run lets time pass up to t, and whatever falls due on the way happen at its moment, t included: what is due at t comes
// before the inputs of t. Of what falls due together a minute ends first, then a shift does.
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

// RunningSKU returns the SKU of the production schedule that runs; "" where none does.
func (s *State) RunningSKU() string {
	if s.production == nil {
		return ""
	}
	return s.production.SKU
}

// Now returns the moment before which everything is settled, ms.
func (s *State) Now() int64 { return s.now }

// Relook has the state look again until when what it knows of the running SKU holds, since Products know more now. It is an error
// of the caller where that is over already: then an earlier state is to be computed on.
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

// do takes in one input at s.now.
func (s *State) do(in *Input) {
	unit, code := false, ""
	if in.Kind != InputSignal && in.Kind != InputEntry {
		s.flush() // what speed made so far belongs to what ran so far
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

// change sets the terms of a schedule that runs.
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
		s.checkQuantity(&s.production.counter) // the new one may be reached already
	}
}

// finish ends a schedule, if it runs.
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

// link notes that a device's connection is there, or is not any more.
func (s *State) link(device string, up bool) {
	i, found := slices.BinarySearch(s.links, device)
	switch {
	case up && !found:
		s.links = slices.Insert(s.links, i, device)
	case !up && found:
		s.links = slices.Delete(s.links, i, i+1)
	}
}

// alive notes a sign of life.
func (s *State) alive() {
	if s.hand.from != 0 && !s.hand.sure && s.heardSince(s.hand.from) >= handHeard {
		s.hand = byHand{} // the devices tell
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

// start begins a schedule; one of its kind that still runs gives way.
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

// clone returns a copy that shares nothing that changes.
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

// Clone returns a copy: a checkpoint in memory.
func (s *State) Clone() *State { return s.clone() }

// Held returns how many things the state holds until it is known what becomes of them. They take some hundred bytes each.
func (s *State) Held() int { return len(s.tail) + len(s.marks) + len(s.ended) + len(s.pending) }

// Final is the moment before which nothing changes any more, unless an input arrives late.
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
