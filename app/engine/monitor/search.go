package monitor

import (
	"math"
	"slices"
)

// rule is the condition for a stop from a moment on.
type rule struct {
	ctx     *Context
	may     bool  // time may become a stop because nothing shows that the machine runs
	need    int64 // minimum duration, ms
	gap     bool  // detection by production: the time between two units
	anyStop bool
}

// mark is a moment that is relevant to the search for stops: the rule changes, something shows that the machine runs,
// or an error code sets the cause.
type mark struct {
	at     int64
	rule        // from at on
	broken bool // a stop must end here
	unit   bool
	rising bool   // the machine starts to produce
	cause  string // cause for the current stop; all other fields are unused
	batch  batch  // one of these units; all other fields are unused
}

// batch is the units of a signal that are placed before the signal's own time.
type batch struct {
	left  int64   // units up to the signal's; 0: no batch
	to    int64   // time of the signal
	step  float64 // ms between placed units
	cycle float64 // ms between units as they were made; less than step if there are too many to place each
}

// mostPlaced is the largest number of units of one signal that are placed one by one.
const mostPlaced = 600

// search finds stops. It processes the marks up to the moment before which no further unit can be placed, because a
// later signal may have units of the time since the last count signal (Config.SpreadWithin).
type search struct {
	stop     candidate // as of searched
	rule     rule      // of the last processed mark
	told     rule      // of the last mark
	marks    []mark    // not yet processed, in order
	searched int64     // marks before it are processed
	busy     int64     // units are made until then
	patience int64     // in a View: no stop is registered before it
}

// searches reports whether the search may be behind s.now, which requires detection by production.
func (s *State) searches() bool { return s.told.gap || s.rule.gap }

// mark appends a mark for the search, unless it changes nothing.
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

// spread places the units of a signal evenly between the last report and s.now, except the last unit, which is at
// s.now.
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

// place inserts the next unit of a batch into the marks.
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

// settle processes the marks up to the moment before which no further unit can be placed, and releases the results.
func (s *State) settle() {
	to := s.now
	if s.searches() {
		to = max(s.searched, s.reportBefore())
	}
	s.seek(to)
}

// reportBefore returns the moment after which units of a signal at s.now or later can be placed.
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

// seek processes the marks up to a moment.
func (s *State) seek(to int64) {
	for len(s.marks) > 0 && s.marks[0].at <= to {
		m := s.marks[0]
		s.marks = s.marks[1:] // not shifted one by one, because there may be very many
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

// foresee processes the marks up to s.now, assuming that no more units come.
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

// step processes one mark.
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
	// A machine that starts to run without making units does not restart the wait for units.
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

// unitOf processes one unit of a batch and places the next.
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
