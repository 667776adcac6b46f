package floor

import (
	"opsmon/app/engine/monitor"
)

// What came for a station later than its watermark, or was corrected for the past, has the station computed again: a
// backfill. It replays the log and the ledger from a stored checkpoint up to now, and what comes out replaces what is
// stored. Within the open window that is one step: all in memory, and one transaction for several stations. Further
// back it takes a step for each UTC day, whose results and checkpoint go to a staging copy of the station
// (history.Staging), with other work in between; the last step puts the copy in place. A process that was killed
// resumes from the staging copy.

// openWindow is how far behind its watermark a station is computed again in one step, ms.
const openWindow = 2 * day

// backfill records which part of a station's history must be recomputed, and the progress. It is guarded by the
// tracker's mu; only the worker changes it.
type backfill struct {
	near mark // within the open window
	far  mark // further back
	run  *run // the staged run of far; nil: not begun

	retry         int64 // no step is tried before, as one failed, ms
	busy          bool  // a step is computed, with other work in between: the station's signals wait
	outdated      bool  // while it was busy something happened that the step may have passed
	outdatedTimes int   // how often that was so since the last result
	lost          bool  // the stored history was dropped
	entered       bool  // people's entries made the station late: it is not served before it is recomputed
}

// mark is the start of the time to recompute, and when it was last recomputed.
type mark struct {
	from int64 // ms; 0: it is up to date
	done int64 // ms; 0: never
}

// due reports whether there is something to recompute and the rest since the last time is over.
func (m mark) due(now int64) bool { return m.from != 0 && rested(m.done, now-m.from, now) }

// run is a backfill of a station under way.
type run struct {
	backfillRecord
	tracker *tracker
	staged  bool  // it takes several steps, and its record is stored
	replay        // so far; it is read from the staging copy where it has no base
	through int64 // up to when results are in the staging copy, ms; Since: nothing is
	missed  int64 // the earliest input that arrived after the run had passed its time, ms; 0: none
}

// backfillRecord notes that a station is being computed again in a staging copy. It is stored: a changed field needs a
// migration.
type backfillRecord struct {
	Late   int64           `json:"late"`             // ms: the mark, which is cleared: the record stands for it
	From   int64           `json:"from,omitempty"`   // ms: the run began with the last checkpoint before
	Since  int64           `json:"since,omitempty"`  // ms: from here on stored results change; 0: not begun
	Events []monitor.Event `json:"events,omitempty"` // of schedules that still run, for rules to be notified of
}

// add marks the station's history from at on, in ms, for recomputation.
func (b *backfill) add(at, watermark int64) {
	at = max(at, 1)
	b.outdated = true
	b.run.miss(at)
	if watermark-at > openWindow {
		b.far.from = earlier(b.far.from, at)
		return
	}
	b.near.from = earlier(b.near.from, at)
}

// miss notes that something came late. A run that is still to begin goes back as far.
func (r *run) miss(at int64) {
	switch {
	case r == nil:
	case r.Since == 0:
		r.Late = earlier(r.Late, at)
	case r.watermark == 0 || at < max(r.watermark, r.read): // the staging copy is empty, or has passed the moment
		r.missed = earlier(r.missed, at)
	}
}

// restart has a staged run begin again, when it is tried again after an error.
func (r *run) restart() {
	if r != nil {
		r.replay, r.Since = replay{}, 0
	}
}

// behind returns the earliest moment from which on the station's figures are still to change, ms; 0: none.
func (b *backfill) behind() int64 {
	at := earlier(b.near.from, b.far.from)
	if b.run != nil {
		at = earlier(at, b.run.Late)
	}
	return at
}

// open reports whether anything is still to be computed.
func (b *backfill) open() bool { return b.near.from != 0 || b.farOpen() }

// farOpen reports whether something further back than the open window is still to be computed: stored marks stand for
// it.
func (b *backfill) farOpen() bool { return b.far.from != 0 || b.run != nil }

// abandon drops the staged run and marks everything from a moment on for recomputation.
func (b *backfill) abandon(from int64) {
	if b.run != nil {
		b.far.from, b.run = earlier(b.far.from, b.run.Late), nil
	}
	b.near.from = earlier(b.near.from, from)
}

// rests reports whether no step is tried yet since one failed. A clock that went back by more than an hour is no
// reason.
func (b *backfill) rests(now int64) bool { return now < b.retry && now >= b.retry-hour }

// before reports whether a station's staged run comes before another's: first those that have begun, then those that
// reach back least.
func (b *backfill) before(other *backfill) bool {
	if (b.run != nil) != (other.run != nil) {
		return b.run != nil
	}
	return b.far.from > other.far.from
}

// earlier returns the earlier of two moments; 0 means none.
func earlier(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// restAfter returns how long a station rests, in ms, between two backfills that reach back this far. Late signals that
// arrive meanwhile are processed together: a device whose clock is a day behind costs its station a day's computation
// each minute, one that is a week behind each hour.
func restAfter(behind int64) int64 {
	days := float64(behind) / day
	if rest := int64(min(days*days*minute, hour)); rest >= 1000 {
		return rest
	}
	return 0 // it is looked at once a second
}

// rested reports whether a station that was last computed at a moment (0: never) may be so once more.
func rested(last, behind, now int64) bool {
	return last == 0 || now < last || now-last >= restAfter(behind)
}
