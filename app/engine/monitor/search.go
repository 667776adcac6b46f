package monitor

import (
	"math"
	"slices"
)

// rule says what makes time a stop, from a moment on.
type rule struct {
	ctx     *Context
	may     bool  // time may become one, as nothing shows the machine at work
	need    int64 // ms that it must last
	gap     bool  // detection by production: between two units
	anyStop bool
}

// mark is a moment that the search for stops looks at: the rule changes, something shows the machine at work, or an error code
// names the cause.
type mark struct {
	at     int64
	rule        // from at on
	broken bool // a stop must not reach over it
	unit   bool
	rising bool   // the machine starts to produce
	cause  string // of the stop that is going on; nothing else counts then
	batch  batch  // it is one of these units, and nothing else counts
}

// batch is the units of a signal that lie before the signal's own moment.
type batch struct {
	left  int64   // units up to the signal's; 0: this is none
	to    int64   // the signal's moment
	step  float64 // ms from one to the next
	cycle float64 // ms from one unit to the next as they were made; less than step where they are too many to place each
}

// mostPlaced is how many units of one signal are placed one by one.
const mostPlaced = 600

// search finds stops. It goes through the marks up to the last moment that nothing is placed before any more, as a signal that
// comes later may have units of the time since the last count signal (Config.SpreadWithin).
type search struct {
	stop     candidate // as of searched
	rule     rule      // that of the last mark gone through
	told     rule      // that of the last mark
	marks    []mark    // those still to go through, in order
	searched int64     // marks up to here were gone through
	busy     int64     // units arise until then
	patience int64     // in a View: nothing is registered before it
}

// searches reports whether the search may be behind s.now: where stops are found by production.
func (s *State) searches() bool { return s.told.gap || s.rule.gap }

// mark notes what the search is to look at; what changes nothing is left out.
func (s *State) mark(m mark) {
	if !m.broken && !m.unit && !m.rising && m.cause == "" && m.rule == s.told {
		return
	}
	if !s.searches() {
		s.searched = max(s.searched, s.now)
	}
	s.told = m.rule
	s.marks = append(s.marks, m)
}

// spread places the units of a signal evenly between the last report and s.now: those before s.now, which has one of its own.
func (s *State) spread(base int64, cycles float64) {
	if !s.searches() {
		return
	}
	b := batch{to: s.now, cycle: float64(s.now-base) / cycles}
	b.step, b.left = b.cycle, int64(math.Ceil(min(cycles, mostPlaced+1)))-1
	if cycles > mostPlaced {
		b.step, b.left = float64(s.now-base)/mostPlaced, mostPlaced // the first at base
	}
	s.place(b)
}

// place puts the next unit of a batch among the marks.
func (s *State) place(b batch) {
	m := mark{at: b.to - int64(math.Round(b.step*float64(b.left))), batch: b}
	i, _ := slices.BinarySearchFunc(s.marks, m.at, func(o mark, at int64) int {
		if o.at <= at {
			return -1
		}
		return 1
	})
	s.marks = slices.Insert(s.marks, i, m)
}

// settle goes through the marks up to the moment that nothing is placed before any more, and lets go of what is found.
func (s *State) settle() {
	to := s.now
	if s.searches() {
		to = max(s.searched, s.reportBefore())
	}
	s.seek(to)
}

// reportBefore returns the moment after which units of a signal at s.now or later can lie.
func (s *State) reportBefore() int64 {
	r, within := &s.report, s.cfg.SpreadWithin()
	switch {
	case s.now-r.start < reportTime && r.base != 0 && s.now-r.base <= within:
		return r.base
	case r.at != 0 && s.now-r.at <= within:
		return r.at
	}
	return s.now
}

// seek goes through the marks up to a moment.
func (s *State) seek(to int64) {
	for len(s.marks) > 0 && s.marks[0].at <= to {
		m := s.marks[0]
		s.marks = s.marks[1:] // not moved one by one: there may be very many
		s.step(&m)
	}
	s.searched = max(s.searched, to)
	n := 0
	for n < len(s.ended) && s.ended[n].End <= to {
		n++
	}
	if n > 0 {
		s.out.Issues = append(s.out.Issues, s.ended[:n]...)
		s.ended = s.ended[:copy(s.ended, s.ended[n:])]
	}
}

// foresee finds what is most likely up to s.now, whatever may still come.
func (s *State) foresee() {
	s.patience = 0
	if due := s.report.at + min(s.report.batch*3/2, s.cfg.SpreadWithin()); s.searches() && s.now < due {
		s.patience = due
	}
	s.seek(s.now)
	if s.now >= s.patience {
		s.stop.pass(s.now)
	}
	s.slow.pass(s.now)
}

// step goes through one mark.
func (s *State) step(m *mark) {
	c := &s.stop
	if m.at >= s.patience {
		c.pass(m.at)
	}
	switch {
	case m.batch.left > 0:
		s.unitOf(m)
		return
	case m.cause != "":
		if c.active && c.cause == "" && c.start <= m.at {
			c.cause = m.cause
		}
		return
	}
	s.rule = m.rule
	// What merely may become a stop for want of units is not disturbed by a machine that starts to run without making any.
	over := m.broken || !m.may || m.unit || m.rising && (c.registered && !m.anyStop || !m.gap)
	if c.active && over {
		s.end(c, IssueStop, m.at)
	}
	if m.may && !c.active {
		*c = candidate{active: true, start: max(m.at, s.busy), ctx: m.ctx}
	}
	c.need = m.need
	if m.at >= s.patience {
		c.pass(m.at)
	}
}

// unitOf goes through one unit of a batch, and places the next.
func (s *State) unitOf(m *mark) {
	b := m.batch
	b.left--
	next := b.to - int64(math.Round(b.step*float64(b.left)))
	if c := &s.stop; c.active && s.rule.gap && c.start <= m.at {
		s.end(c, IssueStop, m.at)
		if b.cycle < b.step && b.cycle <= float64(s.rule.need-1) {
			s.busy = next
		}
		*c = candidate{active: true, start: max(m.at, s.busy), ctx: s.rule.ctx, need: s.rule.need}
		c.pass(m.at)
	}
	if b.left > 0 {
		s.place(b)
	}
}
