package floor

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"time"

	"opsmon/app/engine/monitor"
)

// Takes has the owner of an account believe that what it computes again takes so long. Real time passes as it does.
func (f *Floor) Takes(accountID string, d time.Duration) error {
	o, err := f.owner(accountID)
	if err != nil {
		return err
	}
	return o.do(func() { o.since = func(time.Time) time.Duration { return d } })
}

// Turns has the owner of an account compute so many days in a turn of what it computes in pieces.
func (f *Floor) Turns(accountID string, days int) error {
	o, err := f.owner(accountID)
	if err != nil {
		return err
	}
	return o.do(func() { o.turnDays = days })
}

// Told tells how many events of a station are remembered as told.
func (f *Floor) Told(accountID, stationCode string) int {
	o, err := f.owner(accountID)
	if err != nil {
		return -1
	}
	l := o.lines[stationCode]
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.told)
}

// Held tells how many inputs the lines of an account hold in memory.
func (f *Floor) Held(accountID string) (n int) {
	o, err := f.owner(accountID)
	if err != nil {
		return -1
	}
	_ = o.do(func() {
		for _, l := range o.lines {
			n += l.pending.len()
		}
	})
	return n
}

// Outputs returns how much came of signals that is held in memory.
func (f *Floor) Outputs(accountID string) (n int) {
	o, err := f.owner(accountID)
	if err != nil {
		return -1
	}
	_ = o.do(func() {
		for _, l := range o.lines {
			l.mu.Lock()
			n += l.outputs()
			l.mu.Unlock()
		}
	})
	return n
}

// Panics opens and computes the line of a station in ways that panic, and returns the errors that come of it.
func (f *Floor) Panics(accountID, stationCode string) (opened, all, again error) {
	o, err := f.owner(accountID)
	if err != nil {
		return err, err, err
	}
	_ = o.do(func() {
		_, opened = o.open(nil, stationCode, f.now())
		l, t := o.lines[stationCode], o.timeline
		o.timeline = nil
		delete(o.lines, stationCode)
		_, all = o.openMissing([]string{stationCode}, f.now())
		o.timeline, o.lines[stationCode] = t, l
		again = o.again(nil, f.now(), l)
	})
	return opened, all, again
}

// Breaths tells how many calls the owner of an account has served while it computed something again.
func (f *Floor) Breaths(accountID string) (n int) {
	o, err := f.owner(accountID)
	if err != nil {
		return -1
	}
	_ = o.do(func() { n = o.breaths })
	return n
}

// The bounds of what is held in memory.
const (
	LineMost   = lineMost
	GatherMost = gatherMost
)

func init() { pointInputs, pointAfter = 2, 1_000 }

// AllHeavy has the sums of every line's shift rest, as those of lines do of which very much is not kept. done ends it.
func AllHeavy() (done func()) {
	was := heavyFrom
	heavyFrom = 0
	return func() { heavyFrom = was }
}

// Live compares the live states of an account's stations, and what they gave out, with what their bases and inputs make: stray
// names the first station where these differ, and how.
func (f *Floor) Live(accountID string) (compared int, stray string) {
	o, err := f.owner(accountID)
	if err != nil {
		return 0, err.Error()
	}
	_ = o.do(func() {
		for _, l := range o.lines {
			l.mu.Lock()
			if l.live != nil {
				compared++
				stray = cmp.Or(stray, l.strays())
			}
			l.mu.Unlock()
		}
	})
	return compared, stray
}

// strays tells how the live state and the checkpoints differ from those made anew.
func (l *line) strays() string {
	s, gave := l.base.Clone(), monitor.Outputs{}
	same := func(what string, state *monitor.State, out monitor.Outputs) string {
		if state = state.Clone(); state.Now() < s.Now() { // time passed at the base, and nothing came since
			state.Advance(s.Now())
			state.Take()
		}
		switch {
		case !bytes.Equal(s.Encode(), state.Encode()):
			return fmt.Sprintf("%s: %s at %d is another state", l.code, what, state.Now())
		case lengthsOf(&gave) != lengthsOf(&out) || !slices.EqualFunc(gave.Segments, out.Segments, alikeAndAt) || !slices.EqualFunc(gave.Minutes, out.Minutes, func(a, b monitor.Minute) bool { return reflect.DeepEqual(a, b) }) || !slices.Equal(gave.Issues, out.Issues) || !slices.Equal(gave.Events, out.Events):
			return fmt.Sprintf("%s: %s at %d gave out something else:\n%+v\nnot\n%+v", l.code, what, state.Now(), out, gave)
		}
		return ""
	}
	points := l.points
	for i := range l.applied + 1 {
		for len(points) > 0 && points[0].applied == i {
			out := l.fresh
			points[0].gave.cut(&out)
			if s := same("a checkpoint", points[0].state, out); s != "" {
				return s
			}
			points = points[1:]
		}
		if i < l.applied {
			if err := s.Apply(l.pending.at(i)); err != nil {
				return err.Error()
			}
			join(&gave, s.Take())
		}
	}
	return same("the live state", l.live, l.fresh)
}

func alikeAndAt(a, b monitor.Segment) bool {
	return a.Start == b.Start && a.End == b.End && a.Stop == b.Stop && alike(&a, &b)
}

// Crowd has the owner of an account believe that its stations have given out so much that is not stored, until it looks again.
func (f *Floor) Crowd(accountID string, outputs int) error {
	o, err := f.owner(accountID)
	if err != nil {
		return err
	}
	o.arrivals.Lock()
	defer o.arrivals.Unlock()
	o.arrivals.output = weight{total: outputs, by: map[string]int{}}
	return nil
}
