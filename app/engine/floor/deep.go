package floor

import (
	"errors"
	"slices"
	"time"

	"opsmon/app/engine/history"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/station"
	"opsmon/app/ingest/signal"
	"opsmon/kv"
)

const (
	// openWindow is how far back a tracker is computed again at once, ms. Beyond that it is in pieces.
	openWindow = 2 * day
	// slotDays and slotTime bound what is computed in pieces before other work of the worker has its turn, of which there is one
	// a second. Days with few signals take a millisecond or two, so that it is the time that bounds most turns.
	slotDays = 128
	slotTime = 300 * time.Millisecond
)

// seldom is how long a tracker rests that was computed again, ms, when it is so far behind once more: what comes late meanwhile is
// taken in together. A device whose clock is a day behind costs its station a day's computing each minute, one of a week
// each hour.
func seldom(behind int64) int64 {
	days := float64(behind) / day
	if rest := int64(min(days*days*minute, hour)); rest >= 1000 {
		return rest
	}
	return 0 // it is looked at once a second
}

// rested tells whether a tracker that was last computed at a moment (0: never) may be so once more.
func rested(last, behind, now int64) bool {
	return last == 0 || now < last || now-last >= seldom(behind)
}

// backfillRecord notes that a station is being computed again beside what is kept of it. It is stored: a changed field needs a
// migration.
type backfillRecord struct {
	Late   int64           `json:"late"`             // ms: what it was late from; the mark is gone, and this stands for it
	From   int64           `json:"from,omitempty"`   // ms: it was begun from the last state before this
	Since  int64           `json:"since,omitempty"`  // ms: from here on what is kept changes; 0: not begun
	Events []monitor.Event `json:"events,omitempty"` // of schedules that run still, for rules to be told of
}

// run is the computing of a tracker in pieces. Its fields but for the record are read anew from what is beside the station
// when base is nil.
type run struct {
	backfillRecord
	replay
	through int64 // up to when it is kept beside the station, ms
	missed  int64 // the earliest of what came meanwhile for a time that it has passed, ms; 0: nothing
}

// miss notes that something came late. What is still to be begun, or begun anew, goes back as far.
func (r *run) miss(at int64) {
	switch {
	case r == nil:
	case r.Since == 0:
		r.Late = earlier(r.Late, at)
	case r.watermark == 0 || at < max(r.watermark, r.read): // nothing is known to be kept beside it, or that has passed the moment
		r.missed = earlier(r.missed, at)
	}
}

// recall reads what is noted of a tracker that was late when the service ended.
func (wk *worker) recall(tx *kv.Tx, tr *tracker, now int64) error {
	k := kv.Pair[string, string]{A: wk.account, B: tr.code}
	switch rec, err := backfills.Get(tx, k); {
	case err == nil:
		tr.run = &run{backfillRecord: rec}
		if tr.run.watermark, err = wk.f.cfg.History.Through(tx, wk.account, history.Staging(tr.code)); err != nil {
			return err
		}
	case !errors.Is(err, kv.ErrNotFound):
		return err
	}
	note := func(at int64) {
		tr.run.miss(at)
		if now-at > openWindow {
			tr.far = earlier(tr.far, max(at, 1))
		} else {
			tr.near = earlier(tr.near, max(at, 1))
		}
	}
	if at, ok, err := signal.Late(tx, wk.account, tr.code); err != nil {
		return err
	} else if ok {
		note(at)
	}
	if at, ok, err := wk.f.cfg.History.Lost(tx, wk.account, tr.code); err != nil {
		return err
	} else if ok {
		note(at)
		tr.lost = true
	}
	switch at, err := lateMarks.Get(tx, k); {
	case err == nil:
		note(at)
		tr.entered = now-at <= openWindow
	case !errors.Is(err, kv.ErrNotFound):
		return err
	}
	return nil
}

// tooFar tells whether a late tracker would have to be computed again from very far back, and has it done in pieces then.
func (wk *worker) tooFar(t *station.Timeline, tr *tracker, now int64) bool {
	from := tr.near
	if now-from <= batchSpan {
		var err error
		if from, err = wk.finalBefore(t, tr.code, tr.near, now); err != nil {
			return false // which is told when it is computed
		}
	}
	if now-from <= batchSpan {
		return false
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.far, tr.near = earlier(tr.far, tr.near), 0
	return true
}

// advanceFar computes a tracker on that is late from far back, for a turn: one that was begun, else the one that is so by least.
func (wk *worker) advanceFar(now int64) {
	var next *tracker
	for _, tr := range wk.trackers {
		if tr.rests(now) || tr.run == nil && (tr.far == 0 || !rested(tr.farDone, now-tr.far, now)) {
			continue
		}
		if next == nil || tr.before(next) {
			next = tr
		}
	}
	if next == nil {
		return
	}
	started := time.Now()
	for range wk.slotDays {
		done, err := wk.advance(wk.timeline, next, now)
		if err != nil && !wk.ends() {
			wk.trouble("the station "+next.code+" cannot be computed again; it is tried again", err)
		}
		if done || err != nil || wk.since(started) > slotTime {
			return
		}
	}
}

// before tells which of two trackers is computed on first.
func (tr *tracker) before(other *tracker) bool {
	if (tr.run != nil) != (other.run != nil) {
		return tr.run != nil
	}
	if tr.far != other.far {
		return tr.far > other.far
	}
	return tr.code < other.code
}

// advance computes a tracker on by a piece. It is done when it has come up to now, and has taken the place of what was kept.
// After an error it begins anew, when the tracker has rested.
func (wk *worker) advance(t *station.Timeline, tr *tracker, now int64) (done bool, err error) {
	if tr.run == nil {
		err = wk.beginStaging(tr)
	}
	if err == nil && tr.run.base == nil {
		err = wk.resume(t, tr, now)
	}
	if err == nil {
		r, until := tr.run, min(now-settleAfter, tr.watermark)
		if end := r.watermark - r.watermark%day + day; end+hour <= until {
			err = wk.stage(t, tr, end, now)
		} else {
			done, err = true, wk.finish(t, tr, now)
		}
	}
	if errors.Is(err, errNotNow) {
		wk.pause(tellingTime) // what was just stored is being told
		return false, nil
	}
	if err != nil && !wk.ends() {
		tr.mu.Lock()
		tr.retry = now + max(retryAfter, seldom(now-tr.behind()))
		if tr.run != nil {
			tr.run.replay, tr.run.Since = replay{}, 0
		}
		tr.mu.Unlock()
	}
	return done && err == nil, err
}

// beginStaging notes that a tracker is being computed again, in the place of its marks: what is stored from then on makes new ones.
func (wk *worker) beginStaging(tr *tracker) error {
	var x run
	err := wk.f.cfg.Store.Update(func(tx *kv.Tx) error {
		if all, err := wk.f.cfg.Signals.AllTold(tx); err != nil {
			return err
		} else if !all {
			return errNotNow
		}
		x = run{backfillRecord: backfillRecord{Late: tr.far}}
		k := kv.Pair[string, string]{A: wk.account, B: tr.code}
		if at, ok, err := signal.Late(tx, wk.account, tr.code); err != nil {
			return err
		} else if ok {
			x.Late = earlier(x.Late, max(at, 1))
		}
		if at, err := lateMarks.Get(tx, k); err == nil {
			x.Late = earlier(x.Late, max(at, 1))
		} else if !errors.Is(err, kv.ErrNotFound) {
			return err
		}
		if err := unmark(tx, wk.account, tr.code); err != nil {
			return err
		}
		return backfills.Put(tx, k, x.backfillRecord)
	})
	if err != nil {
		return err
	}
	tr.mu.Lock()
	tr.run, tr.far = &x, 0
	tr.mu.Unlock()
	return nil
}

// resume finds the state to compute on from: the last that is kept beside the station, else the one to begin with.
func (wk *worker) resume(t *station.Timeline, tr *tracker, now int64) (err error) {
	r, place := tr.run, history.Staging(tr.code)
	if r.Since == 0 {
		if err := wk.f.cfg.Store.Update(func(tx *kv.Tx) error { return wk.f.cfg.History.Forget(tx, wk.account, place, 0) }); err != nil {
			return err
		}
		r.Events = nil
		if r.From, err = wk.finalBefore(t, tr.code, r.Late, now); err != nil {
			return err
		}
		if r.base, r.watermark, err = wk.checkpointBefore(t, tr.code, r.From, now); err != nil {
			return err
		}
		r.Since = wk.changesFrom(tr, max(r.From, r.watermark), now)
		r.through = r.Since
		return nil
	}
	if err := wk.f.cfg.Store.View(func(tx *kv.Tx) (err error) {
		r.through, err = wk.f.cfg.History.Through(tx, wk.account, place)
		return err
	}); err != nil {
		return err
	}
	r.through = max(r.through, r.Since)
	if r.base, r.watermark, err = wk.readCheckpoint(t, tr.code, place, r.through); err == nil && r.base == nil {
		r.base, r.watermark, err = wk.checkpointBefore(t, tr.code, r.From, now)
	}
	return err
}

// stage computes a tracker on up to a moment, the end of a UTC day, and keeps what comes of it beside the station.
func (wk *worker) stage(t *station.Timeline, tr *tracker, end, now int64) error {
	r, place := tr.run, history.Staging(tr.code)
	defer wk.occupy(tr)()
	for at := r.watermark; at < end; {
		list, until, err := wk.gatherNew(t, tr.code, at, end, r.Since)
		for i := range list {
			if err == nil {
				err = r.one(&list[i], now)
			}
		}
		if err != nil {
			return err
		}
		r.absorb()
		if at, r.read = until, until; at < end {
			wk.yield()
		}
	}
	r.checkpointTo(end, now)
	res := &result{tracker: tr, since: r.Since, replay: r.replay}
	res.watermark = end
	v := res.complete(r.through)
	rec := r.backfillRecord
	rec.Events = slices.DeleteFunc(slices.Concat(rec.Events, r.out.Events), func(e monitor.Event) bool {
		return !slices.ContainsFunc(v.Running, func(r monitor.RunningNow) bool { return r.ID == e.Schedule })
	})
	err := wk.once(func(tx *kv.Tx, must bool) error {
		if err := wk.reach(tx, []*result{res}, must); err != nil {
			return err
		}
		if err := wk.f.cfg.History.Replace(tx, wk.account, place, r.through, res.until, res.all.Outputs); err != nil {
			return err
		}
		if err := wk.putCheckpoints(tx, place, r.checkpoints, r.Since); err != nil {
			return err
		}
		// Those of a first day that is not whole are made when all is in its place.
		if err := wk.sums(tx, t, tr.code, place, max(r.through, (r.Since+day-1)/day*day), res.until); err != nil {
			return err
		}
		return backfills.Put(tx, kv.Pair[string, string]{A: wk.account, B: tr.code}, rec)
	})
	if err != nil {
		return err
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	r.watermark, r.through, r.backfillRecord, r.checkpoints = end, res.until, rec, nil
	r.out = r.out.from(res.until)
	r.out.Events = nil
	if res.unsure != 0 {
		tr.markLate(res.unsure)
	}
	return nil
}

// finish computes a tracker up to now, and puts what is beside the station in the place of what was kept.
func (wk *worker) finish(t *station.Timeline, tr *tracker, now int64) (err error) {
	r, code := tr.run, tr.code
	defer wk.occupy(tr)()
	res := &result{tracker: tr, since: r.Since}
	if res.replay, err = wk.replayFrom(t, code, r.base.Clone(), r.watermark, r.Since, now); err != nil {
		return err
	}
	if tr.isOutdated() {
		return errNotNow
	}
	all := r.out.clone()
	all.add(res.out.Outputs)
	all.Events = slices.Concat(r.Events, all.Events)
	res.out = all
	res.complete(r.through)
	err = wk.once(func(tx *kv.Tx, must bool) error {
		if err := wk.reach(tx, []*result{res}, must); err != nil {
			return err
		}
		if err := wk.f.cfg.History.Adopt(tx, wk.account, code, r.Since); err != nil {
			return err
		}
		if err := wk.f.cfg.History.Replace(tx, wk.account, code, r.through, res.until, res.all.Outputs); err != nil {
			return err
		}
		if err := wk.putCheckpoints(tx, code, res.checkpoints, r.Since); err != nil {
			return err
		}
		if err := wk.sums(tx, t, code, code, r.Since, min(r.Since+1, res.until)); err != nil {
			return err
		}
		if err := wk.sums(tx, t, code, code, r.through, res.until); err != nil {
			return err
		}
		if err := wk.f.cfg.History.Regained(tx, wk.account, code, r.Late); err != nil {
			return err
		}
		if err := backfills.Delete(tx, kv.Pair[string, string]{A: wk.account, B: code}); err != nil || r.missed != 0 {
			return err
		}
		return wk.accounted(tx, code, res.watermark)
	})
	if err != nil {
		return err
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.take(res, now)
	tr.farDone, tr.run, tr.near, tr.far = now, nil, 0, 0
	for _, at := range []int64{r.missed, res.unsure} {
		if at != 0 {
			tr.markLate(at)
		}
	}
	wk.computed.Add(1)
	return nil
}

// abandon gives up what is being computed of a tracker, in a transaction: it is late once more.
func (wk *worker) abandon(tx *kv.Tx, tr *tracker) error {
	if tr.run == nil {
		return nil
	}
	if err := wk.f.cfg.History.Forget(tx, wk.account, history.Staging(tr.code), 0); err != nil {
		return err
	}
	if err := markLate(tx, wk.account, tr.code, tr.run.Late); err != nil {
		return err
	}
	return backfills.Delete(tx, kv.Pair[string, string]{A: wk.account, B: tr.code})
}
