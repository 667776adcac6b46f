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

// Takes has the worker of an account believe that what it computes again takes so long. Real time passes as it does.
func (f *Floor) Takes(accountID string, d time.Duration) error {
	wk, err := f.worker(accountID)
	if err != nil {
		return err
	}
	return wk.do(func() { wk.since = func(time.Time) time.Duration { return d } })
}

// Slots has the worker of an account compute so many days in a turn of what it computes in pieces.
func (f *Floor) Slots(accountID string, days int) error {
	wk, err := f.worker(accountID)
	if err != nil {
		return err
	}
	return wk.do(func() { wk.slotDays = days })
}

// Told returns how many events of a station are marked as notified.
func (f *Floor) Told(accountID, stationCode string) int {
	wk, err := f.worker(accountID)
	if err != nil {
		return -1
	}
	tr := wk.trackers[stationCode]
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return len(tr.delivered)
}

// Held returns how many inputs the trackers of an account hold in memory.
func (f *Floor) Held(accountID string) (n int) {
	wk, err := f.worker(accountID)
	if err != nil {
		return -1
	}
	_ = wk.do(func() {
		for _, tr := range wk.trackers {
			n += tr.pending.Len()
		}
	})
	return n
}

// Outputs returns how much came of signals that is held in memory.
func (f *Floor) Outputs(accountID string) (n int) {
	wk, err := f.worker(accountID)
	if err != nil {
		return -1
	}
	_ = wk.do(func() {
		for _, tr := range wk.trackers {
			tr.mu.Lock()
			n += tr.outputs()
			tr.mu.Unlock()
		}
	})
	return n
}

// Panics opens and computes the tracker of a station in ways that panic, and returns the errors that come of it.
func (f *Floor) Panics(accountID, stationCode string) (opened, all, again error) {
	wk, err := f.worker(accountID)
	if err != nil {
		return err, err, err
	}
	_ = wk.do(func() {
		_, opened = wk.open(nil, stationCode, f.now())
		tr, t := wk.trackers[stationCode], wk.timeline
		wk.timeline = nil
		delete(wk.trackers, stationCode)
		_, all = wk.openMissing([]string{stationCode}, f.now())
		wk.timeline, wk.trackers[stationCode] = t, tr
		again = wk.backfillNear(nil, f.now(), tr)
	})
	return opened, all, again
}

// BreakRun has the staged run of a station compute on from a state that panics; it reports whether there is one.
func (f *Floor) BreakRun(accountID, stationCode string) (broken bool) {
	wk, err := f.worker(accountID)
	if err != nil {
		return false
	}
	_ = wk.do(func() {
		if r := wk.trackers[stationCode].backfill.run; r != nil && r.base != nil {
			r.base, broken = &monitor.State{}, true
		}
	})
	return broken
}

// Tracker identifies what follows a station: another one follows it when the account's stations were read again.
func (f *Floor) Tracker(accountID, stationCode string) (tr any) {
	wk, err := f.worker(accountID)
	if err != nil {
		return err
	}
	_ = wk.do(func() { tr = wk.trackers[stationCode] })
	return tr
}

// Yielded returns how many calls the worker of an account has served while it computed something again.
func (f *Floor) Yielded(accountID string) (n int) {
	wk, err := f.worker(accountID)
	if err != nil {
		return -1
	}
	_ = wk.do(func() { n = wk.yielded })
	return n
}

// The bounds of what is held in memory.
const (
	TrackerMost  = maxTrackerPending
	ChunkSignals = chunkSignals
)

func init() { snapshotInputs, snapshotAfter = 2, 1_000 }

// AllHeavy has the sums of every tracker's shift rest, as those of trackers do of which very much is not kept. done
// ends it.
func AllHeavy() (done func()) {
	was := heavyFrom
	heavyFrom = 0
	return func() { heavyFrom = was }
}

// Live compares the live states of an account's stations, and what they gave out, with what their bases and inputs
// make: stray names the first station where these differ, and how.
func (f *Floor) Live(accountID string) (compared int, stray string) {
	wk, err := f.worker(accountID)
	if err != nil {
		return 0, err.Error()
	}
	_ = wk.do(func() {
		for _, tr := range wk.trackers {
			tr.mu.Lock()
			if tr.live != nil {
				compared++
				stray = cmp.Or(stray, tr.strays())
			}
			tr.mu.Unlock()
		}
	})
	return compared, stray
}

// strays returns how the live state and the checkpoints differ from those made again.
func (tr *tracker) strays() string {
	s, gave := tr.base.Clone(), monitor.Outputs{}
	same := func(what string, state *monitor.State, out monitor.Outputs) string {
		if state = state.Clone(); state.Now() < s.Now() { // time passed at the base, and nothing came since
			state.Advance(s.Now())
			state.Take()
		}
		switch {
		case !bytes.Equal(s.Encode(), state.Encode()):
			return fmt.Sprintf("%s: %s at %d is another state", tr.code, what, state.Now())
		case lengthsOf(&gave) != lengthsOf(&out) || !slices.EqualFunc(gave.Segments, out.Segments, alikeAndAt) || !slices.EqualFunc(gave.Minutes, out.Minutes, func(a, b monitor.Minute) bool { return reflect.DeepEqual(a, b) }) || !slices.Equal(gave.Issues, out.Issues) || !slices.Equal(gave.Events, out.Events):
			return fmt.Sprintf("%s: %s at %d gave out something else:\n%+v\nnot\n%+v", tr.code, what, state.Now(), out, gave)
		}
		return ""
	}
	points := tr.snapshots
	for i := range tr.applied + 1 {
		for len(points) > 0 && points[0].applied == i {
			out := tr.fresh
			points[0].gave.cut(&out)
			if s := same("a checkpoint", points[0].state, out); s != "" {
				return s
			}
			points = points[1:]
		}
		if i < tr.applied {
			if err := s.Apply(tr.pending.At(i)); err != nil {
				return err.Error()
			}
			join(&gave, s.Take())
		}
	}
	return same("the live state", tr.live, tr.fresh)
}

func alikeAndAt(a, b monitor.Segment) bool {
	return a.Start == b.Start && a.End == b.End && a.Stop == b.Stop && alike(&a, &b)
}

// Crowd has the worker of an account believe that its stations have given out so much that is not stored, until it
// looks again.
func (f *Floor) Crowd(accountID string, outputs int) error {
	wk, err := f.worker(accountID)
	if err != nil {
		return err
	}
	wk.arrivals.Lock()
	defer wk.arrivals.Unlock()
	wk.arrivals.output = weight{total: outputs, by: map[string]int{}}
	return nil
}
