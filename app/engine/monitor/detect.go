package monitor

import (
	"cmp"
	"slices"
)

// candidate is a time range that is, or may become, a stop or a slow period.
type candidate struct {
	active     bool
	start      int64
	need       int64 // minimum duration, ms
	registered bool  // it lasted long enough
	cause      string
	ctx        *Context // context at its start
}

// pass advances the candidate to a moment.
func (c *candidate) pass(at int64) {
	if c.active && !c.registered && at-c.start >= min(c.need, longest) {
		c.registered = true
	}
}

// known reports whether the station's state is known.
func (s *State) known() bool { return s.heardNow() || s.hand.sure }

// heardNow reports whether the station's devices are alive, or silence counts as a standstill.
func (s *State) heardNow() bool { return !s.silent || s.cfg.AlwaysConnected }

// isProductive reports whether the machine is productive at s.now by the station's mode.
func (s *State) isProductive() bool {
	c := s.cfg
	if c.SchedulingOnly || c.MeterOnly {
		return false
	}
	switch c.ProductiveMode {
	case ProductiveElectrical:
		if c.StoppedKw > 0 {
			return s.kwKnown && s.kw >= c.StoppedKw
		}
		return s.kwKnown && s.kw > 0
	case ProductiveLineSpeed:
		return s.speedKnown && c.running(s.speed)
	}
	if c.HoldOn > 0 {
		return s.now < s.holdUntil
	}
	return s.on
}

// stopped returns the rule by which time from s.now may become a stop. It ignores manual downtime: a stop that contains
// manual downtime is one stop, and its time is cut later.
func (s *State) stopped(productive bool) rule {
	c := s.cfg
	r := rule{ctx: s.ctx, gap: c.DowntimeMode == DowntimeProduction, anyStop: c.AnyStop}
	switch c.DowntimeMode {
	case DowntimeProduction:
		r.may, r.need = true, s.ctx.UnitGap+1 // longer than
	case DowntimeUtilisation:
		r.may, r.need = !productive, c.UtilisationThreshold
	case DowntimeLineSpeed:
		// A station that is always connected and silent counts as stopped until its speed is sent again.
		r.may, r.need = s.speedKnown && !c.running(s.speed) || !s.speedKnown && c.AlwaysConnected, c.UtilisationThreshold
	}
	if s.ctx.Kind != Production || !s.heardNow() || s.flows() || c.SchedulingOnly || c.MeterOnly {
		r.may = false
	}
	if c.AnyStop {
		r.need = 0
	}
	return r
}

// isSlow reports whether the machine runs below the relevant percentage of its line speed target.
func (s *State) isSlow() bool {
	c := s.cfg
	return s.speedKnown && s.ctx.LineSpeedTarget > 0 && s.speed*100 < slowPercent*s.ctx.LineSpeedTarget && c.running(s.speed) &&
		s.ctx.InShift && s.ctx.Kind != NonProduction && s.heardNow() && !c.SchedulingOnly && !c.MeterOnly
}

// refresh evaluates the changes at s.now: it looks for stops and slow periods, and splits the time line where the class
// changes. unit reports that a unit was made at s.now.
func (s *State) refresh(unit bool) {
	productive := s.isProductive()
	rising := productive && !s.produces
	s.produces = productive
	s.mark(mark{at: s.now, rule: s.stopped(productive), broken: s.broken, unit: unit, rising: rising})
	slow := s.isSlow()
	s.slow.pass(s.now)
	if s.slow.active && (s.broken || !slow) {
		s.end(&s.slow, IssueSlow, s.now)
	}
	if slow && !s.slow.active {
		s.slow = candidate{active: true, start: s.now, ctx: s.ctx}
	}
	s.slow.need = s.cfg.SlowThreshold
	s.slow.pass(s.now)
	s.broken = false
	s.settle()
	s.cut(s.flags())
	s.release()
	s.updateStatus()
}

// end closes a candidate at a moment. If it was registered, it becomes an issue.
func (s *State) end(c *candidate, t IssueType, at int64) {
	if c.registered && c.start < at {
		s.close(Issue{Type: t, Start: c.start, End: at, Cause: c.cause, Production: c.ctx.Production, SKU: c.ctx.SKU})
		s.line(c, t, at)
		s.freed = max(s.freed, at)
	}
	*c = candidate{}
}

// line marks the segments of an issue up to a moment, and sets a stop's cause on them except where manual downtime has
// one.
func (s *State) line(c *candidate, t IssueType, to int64) {
	first, end := s.splitAt(c.start), s.splitAt(to)
	for i := first; i < end; i++ {
		g := &s.tail[i]
		*g.mark(t) = c.start
		if t == IssueStop && g.Manual == 0 {
			g.Cause = c.cause
		}
	}
}

// close appends an ended issue. Issues that ended before it may still be found.
func (s *State) close(i Issue) {
	at, _ := slices.BinarySearchFunc(s.ended, i, func(a, b Issue) int {
		return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Type, b.Type))
	})
	s.ended = slices.Insert(s.ended, at, i)
}

// flags returns the segment that starts at s.now.
func (s *State) flags() Segment {
	return Segment{Start: s.now, End: s.now, Ctx: s.ctx, Productive: s.produces, Known: s.known(), Manual: s.manual.Start, Cause: s.manual.Cause}
}

// splitAt splits the time line at a moment up to s.now, and returns the index of the segment that starts there.
func (s *State) splitAt(t int64) int {
	if t >= s.now {
		s.split()
		return len(s.tail) - 1
	}
	i := len(s.tail) - 1
	for i > 0 && s.tail[i].Start > t {
		i--
	}
	if s.tail[i].Start >= t {
		return i
	}
	if i == len(s.tail)-1 {
		s.tail[i].End = s.now // the open one
	}
	part := s.tail[i]
	s.tail[i].End, part.Start = t, t
	s.tail = slices.Insert(s.tail, i+1, part)
	return i + 1
}

// split starts another segment at s.now, for now equal to the open one.
func (s *State) split() {
	open := &s.tail[len(s.tail)-1]
	if open.Start == s.now {
		return
	}
	open.End = s.now
	next := *open
	next.Start = s.now
	s.tail = append(s.tail, next)
}

// cut makes g the open segment from s.now on.
func (s *State) cut(g Segment) {
	open := &s.tail[len(s.tail)-1]
	if open.Start != s.now {
		if open.same(&g) {
			return
		}
		s.split()
		open = &s.tail[len(s.tail)-1]
	}
	*open = g
}

// release emits the segments that are final.
func (s *State) release() {
	final := s.Final()
	n := 0
	for ; n < len(s.tail)-1 && s.tail[n].End <= final; n++ {
		s.emit(s.tail[n])
	}
	if n > 0 {
		s.tail = s.tail[:copy(s.tail, s.tail[n:])]
	}
}

// emit emits a segment, merged with the previous one if they are equal.
func (s *State) emit(g Segment) {
	if s.production != nil && g.Start < g.End {
		s.production.fall(&g)
	}
	if s.held.End == g.Start && s.held.Start < s.held.End && s.held.same(&g) {
		s.held.End = g.End
		return
	}
	if s.held.Start < s.held.End {
		s.out.Segments = append(s.out.Segments, s.held)
	}
	s.held = g
}
