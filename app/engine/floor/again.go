package floor

import (
	"cmp"
	"errors"
	"iter"
	"slices"
	"time"

	"opsmon/app/engine/monitor"
	"opsmon/app/engine/station"
	"opsmon/app/ingest/signal"
	"opsmon/kv"
)

// catchUp computes late trackers again, for as long as other work can wait.
func (wk *worker) catchUp(now int64) {
	started := time.Now()
	wk.yields = true
	defer func() { wk.yields = false }()
	if now < wk.restUntil && wk.restUntil-now < minute {
		return
	}
	var late []*tracker
	for _, tr := range wk.trackers {
		if tr.near != 0 && !tr.rests(now) && rested(tr.nearDone, now-tr.near, now) && !wk.tooFar(wk.timeline, tr, now) {
			late = append(late, tr)
		}
	}
	for batch := range batches(late, now) {
		wk.tryAgain(wk.timeline, now, batch)
		if wk.since(started) > time.Second || wk.ends() {
			break
		}
	}
	wk.advanceFar(now)
	if took := wk.since(started); took > 10*time.Millisecond {
		wk.restUntil = now + took.Milliseconds()
	}
}

// batchSpan is how much time of stations is computed again at once, ms: it bounds the memory that takes, and how long the
// worker does nothing else. A single station may have more.
const batchSpan = 16 * day

// retryAfter is how long a tracker rests that could not be computed, ms.
const retryAfter = 5 * minute

// tryAgain computes trackers again. One that cannot be is not in the way of the others, and rests for a while.
func (wk *worker) tryAgain(t *station.Timeline, now int64, trackers []*tracker) {
	if len(trackers) > 1 && wk.backfill(t, now, trackers...) == nil {
		return
	}
	for _, tr := range trackers {
		if err := wk.backfill(t, now, tr); err != nil {
			wk.failed(tr, now, err)
		}
	}
}

// rests tells whether a tracker that could not be computed is not tried again yet. A clock that went back by more is no reason.
func (tr *tracker) rests(now int64) bool { return now < tr.retry && now >= tr.retry-hour }

// failed notes that a tracker could not be computed again.
func (wk *worker) failed(tr *tracker, now int64, err error) {
	if wk.ends() {
		return
	}
	wk.trouble("the station "+tr.code+" cannot be computed again; it is tried again", err)
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.retry = now + retryAfter
}

// backfillFirst computes the trackers again that cannot be served before: people have been told that what they entered is there.
func (wk *worker) backfillFirst(t *station.Timeline, now int64, trackers []*tracker) error {
	var late []*tracker
	for _, tr := range trackers {
		if tr.near != 0 && !wk.tooFar(t, tr, now) {
			late = append(late, tr)
		}
	}
	for batch := range batches(late, now) {
		if wk.ends() {
			return errClosed
		}
		wk.tryAgain(t, now, batch)
	}
	return nil
}

// blank is the tracker of a station of which nothing that is kept can be read: it starts anew, and is computed when it can be, with
// all that is noted of it.
func (wk *worker) blank(t *station.Timeline, noted *tracker, now int64) (*tracker, error) {
	s, err := t.RulesAt(noted.code, now)
	if err != nil {
		return nil, err
	}
	at := now - settleAfter
	at -= at % minute
	return &tracker{
		code: noted.code, touched: true, base: monitor.New(s.Monitor, at), watermark: at, near: earlier(noted.near, max(at, 1)), retry: now + retryAfter, through: at,
		far: noted.far, run: noted.run, lost: noted.lost, entered: noted.entered,
	}, nil
}

// batches gives trackers that are late in batches to be computed again together, those that are late by little first: a
// correction of last year does not hold them up.
func batches(late []*tracker, now int64) iter.Seq[[]*tracker] {
	slices.SortFunc(late, func(a, b *tracker) int { return cmp.Or(cmp.Compare(b.near, a.near), cmp.Compare(a.code, b.code)) })
	return func(yield func([]*tracker) bool) {
		for len(late) > 0 {
			n, long := 1, now-late[0].near
			for n < min(len(late), keepBatch) && long+now-late[n].near <= batchSpan {
				long += now - late[n].near
				n++
			}
			if !yield(late[:n]) {
				return
			}
			late = late[n:]
		}
	}
}

// result is a tracker computed again, before that is kept.
type result struct {
	tracker      *tracker
	late         int64 // what it was late from
	since, until int64 // what changes, and up to when that is final
	unsure       int64 // what is kept may lack a signal of this time or later, ms; 0: it does not
	replay
	all outputs // with what lies beyond the base's own
}

// backfill computes trackers anew from the moment on at which something came late, and keeps what comes of it: in one transaction,
// so that a plant whose network was away costs few syncs.
func (wk *worker) backfill(t *station.Timeline, now int64, trackers ...*tracker) error {
	list := make([]*result, 0, len(trackers))
	defer wk.occupy(trackers...)()
	for _, tr := range trackers {
		res, err := wk.computeOne(t, tr, now)
		if err != nil {
			return err
		}
		list = append(list, res)
	}
	if list = slices.DeleteFunc(list, func(res *result) bool { return res.tracker.isOutdated() }); len(list) == 0 {
		return nil // they are late still
	}
	if err := wk.once(func(tx *kv.Tx, must bool) error { return wk.keepAll(tx, t, list, must) }); err != nil {
		return err
	}
	for _, res := range list {
		res.tracker.mu.Lock()
		res.tracker.take(res, now)
		if res.tracker.near == res.late {
			res.tracker.near = 0
		}
		if res.unsure != 0 {
			res.tracker.markLate(res.unsure)
		}
		res.tracker.mu.Unlock()
	}
	wk.computed.Add(int64(len(list)))
	return nil
}

// computeOne computes a tracker from the moment on at which something came late. A panic is an error of that tracker.
func (wk *worker) computeOne(t *station.Timeline, tr *tracker, now int64) (res *result, err error) {
	defer recovered(&err)
	tr.mu.Lock()
	res = &result{tracker: tr, late: tr.near}
	tr.mu.Unlock()
	from, err := wk.finalBefore(t, tr.code, res.late, now)
	if err != nil {
		return nil, err
	}
	if res.replay, err = wk.replay(t, tr.code, from, now); err != nil {
		return nil, err
	}
	res.since = wk.changesFrom(tr, max(from, res.from), now)
	res.complete(res.since)
	return res, nil
}

// changesFrom gives the moment from which on what is kept of a tracker is replaced, when it is computed again from one on: what
// is kept of a time whose signals are gone cannot be computed again, and stays as it is.
func (wk *worker) changesFrom(tr *tracker, from, now int64) int64 {
	if oldest := wk.oldest(now); from < oldest && tr.through > from {
		return min(oldest, tr.through)
	}
	return from
}

// complete finds what of a tracker computed again is final, when it was so up to a moment before. It shows the tracker as it is
// then.
func (res *result) complete(through int64) monitor.View {
	v := res.base.View(res.watermark)
	res.until = max(through, min(v.Final, res.watermark)/minute*minute)
	res.all = res.out.clone()
	res.all.add(v.Outputs)
	return v
}

// take makes the tracker what was computed again and kept. The caller holds mu.
func (tr *tracker) take(res *result, now int64) {
	tr.base, tr.watermark, tr.pending, tr.live, tr.snapshots, tr.hour = res.base, res.watermark, res.pending, nil, nil, nil
	tr.through, tr.settled, tr.taken = res.until, res.out.from(res.until), 0
	tr.settled.Events = res.out.Events // rules have to be told of those that lie further back, too
	tr.gap = res.gap
	tr.version++
	tr.nearDone, tr.touched, tr.outdatedTimes = now, true, 0
}

// tellingTime is about how long it takes until what was just stored has been told.
const tellingTime = 2 * time.Millisecond

// once runs a transaction that goes well only when all that is stored has been told; the third time it must.
func (wk *worker) once(fn func(tx *kv.Tx, must bool) error) error {
	err := errNotNow
	for try := 1; errors.Is(err, errNotNow); try++ {
		err = wk.f.cfg.Store.Update(func(tx *kv.Tx) error { return fn(tx, try == 3) })
		if errors.Is(err, errNotNow) {
			wk.pause(tellingTime) // what was just stored is being told
		}
	}
	return err
}

// keepAll keeps trackers that were computed again, in one transaction. Unless it must, it does so only when the trackers could know
// of all that is stored: errNotNow.
func (wk *worker) keepAll(tx *kv.Tx, t *station.Timeline, list []*result, must bool) error {
	if err := wk.reach(tx, list, must); err != nil {
		return err
	}
	for _, res := range list {
		if err := wk.keepComputed(tx, t, res); err != nil {
			return err
		}
	}
	return nil
}

// reach settles the time up to which trackers are about to be kept: from here on a signal of that time marks its station when
// it is stored. A signal that was stored before this transaction, and that no tracker could know of, marks them now. So one
// that comes while trackers go back is not lost with the process that was to take it in.
func (wk *worker) reach(tx *kv.Tx, list []*result, must bool) error {
	until := int64(0)
	for _, res := range list {
		until = max(until, res.until)
	}
	before, all, err := wk.f.cfg.Signals.Reach(tx, wk.account, until)
	if err != nil {
		return err
	}
	if !all && !must {
		return errNotNow
	}
	for _, res := range list {
		if res.unsure = 0; all && !wk.arrivals.waiting(res.tracker.code, res.until) || before >= res.until {
			continue
		}
		res.unsure = max(before, 1)
		if err := markLate(tx, wk.account, res.tracker.code, res.unsure); err != nil {
			return err
		}
	}
	return nil
}

// keepComputed keeps a tracker that was computed again.
func (wk *worker) keepComputed(tx *kv.Tx, t *station.Timeline, res *result) error {
	code := res.tracker.code
	if err := wk.f.cfg.History.Replace(tx, wk.account, code, res.since, res.until, res.all.Outputs); err != nil {
		return err
	}
	if err := wk.putCheckpoints(tx, code, res.checkpoints, res.since); err != nil {
		return err
	}
	if err := wk.sums(tx, t, code, code, res.since, res.until); err != nil {
		return err
	}
	if err := wk.f.cfg.History.Regained(tx, wk.account, code, res.late); err != nil {
		return err
	}
	if res.tracker.far != 0 || res.tracker.run != nil {
		return nil // the marks stand for what lies further back, too
	}
	return wk.accounted(tx, code, res.watermark)
}

// putCheckpoints keeps the states of a station, or of what is beside it, of later than a moment: what was kept before stays.
func (wk *worker) putCheckpoints(tx *kv.Tx, place string, list []checkpoint, since int64) error {
	for _, m := range list {
		if m.at <= since {
			continue
		}
		if err := wk.f.cfg.History.PutState(tx, wk.account, place, m.at, m.state); err != nil {
			return err
		}
	}
	return nil
}

// accounted takes the marks of a late station away, when everything that is stored and older than the moment given has been
// evaluated.
func (wk *worker) accounted(tx *kv.Tx, code string, before int64) error {
	all, err := wk.f.cfg.Signals.AllTold(tx)
	if err != nil || !all || wk.arrivals.waiting(code, before) {
		return err // the next time, then
	}
	return unmark(tx, wk.account, code)
}

// unmark takes the marks of a late station away.
func unmark(tx *kv.Tx, account, code string) error {
	if err := signal.Accounted(tx, account, code); err != nil {
		return err
	}
	if k := (kv.Pair[string, string]{A: account, B: code}); lateMarks.Has(tx, k) {
		return lateMarks.Delete(tx, k)
	}
	return nil
}
