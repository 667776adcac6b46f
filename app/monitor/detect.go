package monitor

// candidate is time that may turn out to be a stop or a slow period, or has.
type candidate struct {
	active     bool
	start      int64
	need       int64 // ms that it must last
	registered bool  // it has
	cause      string
	ctx        *Context // when it started
}

// due gives when the candidate has lasted long enough.
func (c *candidate) due() int64 {
	if !c.active || c.registered {
		return never
	}
	return c.start + min(c.need, longest)
}

// known tells whether anything is known of the machine.
func (s *State) known() bool { return !s.silent || s.cfg.AlwaysConnected }

// isProductive tells whether the machine produces at s.now, by the station's mode.
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

// stopped tells whether time from s.now on may become a stop, and how long it must last.
func (s *State) stopped(productive bool) (may bool, need int64) {
	c := s.cfg
	if s.ctx.Kind != Production || !s.known() || s.manual.Start != 0 || c.SchedulingOnly || c.MeterOnly {
		return false, 0
	}
	switch c.DowntimeMode {
	case DowntimeProduction:
		may, need = true, s.ctx.UnitGap+1 // longer than
	case DowntimeUtilisation:
		may, need = !productive, c.UtilisationThreshold
	case DowntimeLineSpeed:
		may, need = s.speedKnown && !c.running(s.speed), c.UtilisationThreshold
	}
	if c.AnyStop {
		need = 0
	}
	return may, need
}

// isSlow tells whether the machine runs, but under the share of its line speed target, where that matters.
func (s *State) isSlow() bool {
	c := s.cfg
	return s.speedKnown && s.ctx.LineSpeedTarget > 0 && s.speed*100 < slowPercent*s.ctx.LineSpeedTarget && c.running(s.speed) &&
		s.ctx.InShift && s.ctx.Kind != NonProduction && s.known() && s.manual.Start == 0 && !c.SchedulingOnly && !c.MeterOnly
}

// refresh finds out what s.now changed: it ends and starts stops and slow periods, registers those that have lasted long
// enough, and cuts the time line where its class changes. unit tells that a unit was made at s.now.
func (s *State) refresh(unit bool) {
	productive := s.isProductive()
	rising := productive && !s.produces
	s.produces = productive

	may, need := s.stopped(productive)
	// What merely may become a stop for want of units is not disturbed by a machine that starts to run without making any.
	over := s.broken || !may || unit || rising && (s.stop.registered && !s.cfg.AnyStop || s.cfg.DowntimeMode != DowntimeProduction)
	s.stop = s.track(s.stop, over, may, need, IssueStop)
	slow := s.isSlow()
	s.slow = s.track(s.slow, s.broken || !slow, slow, s.cfg.SlowThreshold, IssueSlow)
	s.broken = false

	s.cut(s.flags())
	s.release()
	s.updateStatus()
}

// track takes a candidate one step on.
func (s *State) track(c candidate, over, may bool, need int64, t IssueType) candidate {
	if c.active && over {
		s.end(c, t)
		c = candidate{}
	}
	if may && !c.active {
		c = candidate{active: true, start: s.now, ctx: s.ctx}
		s.split()
	}
	c.need = need
	if c.active && !c.registered && s.now-c.start >= c.need {
		c.registered = true
		for i := len(s.tail) - 1; i >= 0 && s.tail[i].Start >= c.start; i-- {
			*s.tail[i].mark(t) = c.start
		}
	}
	return c
}

// end closes a candidate at s.now; one that was registered was an issue.
func (s *State) end(c candidate, t IssueType) {
	if !c.registered || c.start == s.now {
		return
	}
	s.out.Issues = append(s.out.Issues, Issue{Type: t, Start: c.start, End: s.now, Cause: c.cause, Production: c.ctx.Production, SKU: c.ctx.SKU})
	s.name(c, t)
}

// name puts a stop's cause on its time.
func (s *State) name(c candidate, t IssueType) {
	if t != IssueStop || c.cause == "" {
		return
	}
	for i := len(s.tail) - 1; i >= 0 && s.tail[i].Start >= c.start; i-- {
		if s.tail[i].Stop == c.start {
			s.tail[i].Cause = c.cause
		}
	}
}

// flags gives the segment that starts at s.now.
func (s *State) flags() Segment {
	g := Segment{Start: s.now, End: s.now, Ctx: s.ctx, Productive: s.produces, Known: s.known(), Manual: s.manual.Start, Cause: s.manual.Cause}
	if s.stop.registered {
		g.Stop = s.stop.start
	}
	if s.slow.registered {
		g.Slow = s.slow.start
	}
	return g
}

// split starts another segment at s.now, equal to the open one for the time being.
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

// cut makes g the open segment, from s.now on.
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

// release gives out the segments that nothing changes any more.
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

// emit gives out a segment, joined to the last one where that is the same.
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
