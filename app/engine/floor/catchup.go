package floor

import (
	"cmp"
	"errors"
	"iter"
	"slices"
	"time"

	"opsmon/app/engine/station"
)

const (
	// batchSpan is how much time of stations is computed in one step together, ms: it bounds the memory that takes, and
	// how long the worker does nothing else. A single station may have more.
	batchSpan = 16 * day
	// retryAfter is how long a station rests that could not be computed, ms.
	retryAfter = 5 * minute
	// slotDays and slotTime bound the steps of staged runs that are computed before the worker does other work; there
	// is a slot a second. A day with few signals takes a millisecond or two, so that time bounds most slots.
	slotDays = 128
	slotTime = 300 * time.Millisecond
	// handoverTime is about how long it takes until what was just stored has been handed to the worker.
	handoverTime = 2 * time.Millisecond
)

// catchUp computes late stations, for as long as other work can wait.
func (wk *worker) catchUp(now int64) {
	started := time.Now()
	wk.yields = true
	defer func() { wk.yields = false }()
	if now < wk.restUntil && wk.restUntil-now < minute {
		return
	}
	var late []*tracker
	for _, tr := range wk.trackers {
		if b := &tr.backfill; b.near.due(now) && !b.rests(now) && !wk.tooFar(wk.timeline, tr, now) {
			late = append(late, tr)
		}
	}
	for batch := range batches(late, now) {
		wk.tryBackfill(wk.timeline, now, batch)
		if wk.since(started) > time.Second || wk.stopping() {
			break
		}
	}
	wk.advanceFar(now)
	if took := wk.since(started); took > 10*time.Millisecond {
		wk.restUntil = now + took.Milliseconds()
	}
}

// tryBackfill computes stations again in one step. One that cannot be is not in the way of the others, and rests for a
// while.
func (wk *worker) tryBackfill(t *station.Timeline, now int64, trackers []*tracker) {
	if len(trackers) > 1 && wk.backfillNear(t, now, trackers...) == nil {
		return
	}
	for _, tr := range trackers {
		if err := wk.backfillNear(t, now, tr); err != nil {
			wk.failed(tr, err, now+retryAfter)
		}
	}
}

// failed notes that a station could not be computed: it rests until a moment, ms.
func (wk *worker) failed(tr *tracker, err error, retry int64) {
	if wk.stopping() {
		return
	}
	wk.logError("the station "+tr.code+" cannot be recomputed; retrying", err)
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.backfill.retry = retry
}

// backfillFirst recomputes stations that must not be served before, because people's entries were confirmed.
func (wk *worker) backfillFirst(t *station.Timeline, now int64, trackers []*tracker) error {
	var late []*tracker
	for _, tr := range trackers {
		if tr.backfill.near.from != 0 && !wk.tooFar(t, tr, now) {
			late = append(late, tr)
		}
	}
	for batch := range batches(late, now) {
		if wk.stopping() {
			return errClosed
		}
		wk.tryBackfill(t, now, batch)
	}
	return nil
}

// batches returns late stations in batches to be computed together, those that are late by little first: a correction
// of last year does not hold them up.
func batches(late []*tracker, now int64) iter.Seq[[]*tracker] {
	from := func(tr *tracker) int64 { return tr.backfill.near.from }
	slices.SortFunc(late, func(a, b *tracker) int {
		return cmp.Or(cmp.Compare(from(b), from(a)), cmp.Compare(a.code, b.code))
	})
	return func(use func([]*tracker) bool) {
		for len(late) > 0 {
			n, long := 1, now-from(late[0])
			for n < min(len(late), storeBatch) && long+now-from(late[n]) <= batchSpan {
				long += now - from(late[n])
				n++
			}
			if !use(late[:n]) {
				return
			}
			late = late[n:]
		}
	}
}

// tooFar reports whether a late station would be computed from very far back; then it gets a staged run.
func (wk *worker) tooFar(t *station.Timeline, tr *tracker, now int64) bool {
	b := &tr.backfill
	from := b.near.from
	if now-from <= batchSpan {
		var err error
		if from, err = wk.finalBefore(t, tr.code, from); err != nil {
			return false // which is logged when it is computed
		}
	}
	if now-from <= batchSpan {
		return false
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	b.far.from, b.near.from = earlier(b.far.from, b.near.from), 0
	return true
}

// advanceFar computes a staged run for a slot: one that has begun, else that of the station which is late by least.
func (wk *worker) advanceFar(now int64) {
	var next *tracker
	for _, tr := range wk.trackers {
		b := &tr.backfill
		if b.busy || b.rests(now) || b.run == nil && !b.far.due(now) {
			continue
		}
		if next == nil || b.before(&next.backfill) || !next.backfill.before(b) && tr.code < next.code {
			next = tr
		}
	}
	if next == nil {
		return
	}
	started := time.Now()
	for range wk.slotDays {
		done, err := wk.backfillFar(wk.timeline, next, now)
		if errors.Is(err, errNotNow) {
			wk.pause(handoverTime)
			err = nil
		}
		if err != nil && !wk.stopping() {
			wk.failed(next, err, now+max(retryAfter, restAfter(now-next.backfill.behind())))
			next.mu.Lock()
			next.backfill.run.restart()
			next.mu.Unlock()
		}
		if done || err != nil || wk.since(started) > slotTime {
			return
		}
	}
}
