package floor

import (
	"errors"
	"fmt"
	"slices"

	"opsmon/app/engine/history"
	"opsmon/app/engine/ledger"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/station"
	"opsmon/app/ingest/signal"
	"opsmon/kv"
)

// step is a computed step of a run that is not committed yet.
type step struct {
	run     *run
	replay          // the run's, computed on
	last    bool    // it reaches now: the results replace those of the station
	until   int64   // results are final up to here, ms
	unsure  int64   // a signal of this time or later may be missing, ms; 0: none
	results outputs // from the run's through on, with those that are not final yet
	record  backfillRecord
}

// backfills holds the records of staged runs.
var backfills = kv.NewBucket("ledgerAgain", kv.PairOf(kv.String, kv.String), kv.JSON[backfillRecord]())

// Buckets names the buckets of this room, for kv.Config.Buckets.
func Buckets() []string { return []string{backfills.Name()} }

// Check reports records of backfills that cannot be read or that belong to an unknown account.
func Check(tx *kv.Tx, known map[string]bool, report func(problem string)) {
	for item, err := range backfills.Scan(tx, kv.Range{}) {
		if err != nil {
			report(fmt.Sprintf("records of backfills: %v", err))
			return
		}
		if !known[item.Key.A] {
			report(fmt.Sprintf("a backfill names the account %q, which does not exist", item.Key.A))
		}
	}
}

// backfillNear computes stations again in one step each, and commits all of them in one transaction, so that a plant
// whose network was away costs few syncs. The error is that of the first which failed; then nothing is stored.
func (wk *worker) backfillNear(t *station.Timeline, now int64, trackers ...*tracker) error {
	steps := make([]*step, 0, len(trackers))
	defer wk.markBusy(trackers...)()
	for _, tr := range trackers {
		tr.mu.Lock()
		r := &run{tracker: tr, backfillRecord: backfillRecord{Late: tr.backfill.near.from}}
		tr.mu.Unlock()
		s, err := wk.computeStep(t, r, now)
		if err != nil {
			return err
		}
		steps = append(steps, s)
	}
	steps = slices.DeleteFunc(steps, func(s *step) bool {
		return s.run.tracker.isOutdated() || wk.replaced(s.run.tracker)
	})
	return wk.commit(t, now, steps) // the others remain late
}

// backfillFar computes and commits the next step of a station's staged run. done reports whether it was the last;
// errNotNow means that the step must be retried in a moment.
func (wk *worker) backfillFar(t *station.Timeline, tr *tracker, now int64) (done bool, err error) {
	if tr.backfill.run == nil {
		if err := wk.beginStaging(tr); err != nil {
			return false, err
		}
	}
	defer wk.markBusy(tr)()
	s, err := wk.computeStep(t, tr.backfill.run, now)
	if err != nil {
		return false, err
	}
	if wk.replaced(tr) {
		return true, nil
	}
	if s.last && tr.isOutdated() {
		return false, errNotNow
	}
	return s.last, wk.commit(t, now, []*step{s})
}

// beginStaging stores the record of a station's staged run and clears its marks; later inputs set new ones.
func (wk *worker) beginStaging(tr *tracker) (err error) {
	defer recovered(&err)
	var r run
	err = wk.f.cfg.Store.Update(func(tx *kv.Tx) error {
		if all, err := wk.f.cfg.Signals.AllDelivered(tx); err != nil {
			return err
		} else if !all {
			return errNotNow
		}
		r = run{tracker: tr, staged: true, backfillRecord: backfillRecord{Late: tr.backfill.far.from}}
		k := kv.Pair[string, string]{A: wk.account, B: tr.code}
		if at, ok, err := signal.Late(tx, wk.account, tr.code); err != nil {
			return err
		} else if ok {
			r.Late = earlier(r.Late, max(at, 1))
		}
		if at, ok, err := ledger.Late(tx, wk.account, tr.code); err != nil {
			return err
		} else if ok {
			r.Late = earlier(r.Late, max(at, 1))
		}
		if err := unmark(tx, wk.account, tr.code); err != nil {
			return err
		}
		return backfills.Put(tx, k, r.backfillRecord)
	})
	if err != nil {
		return err
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.backfill.run, tr.backfill.far.from = &r, 0
	return nil
}

// computeStep computes a run's next step: of a staged run up to the end of the UTC day, else up to now. A panic is an
// error of the station.
func (wk *worker) computeStep(t *station.Timeline, r *run, now int64) (s *step, err error) {
	defer recovered(&err)
	if r.base == nil {
		if err := wk.resume(t, r, now); err != nil {
			return nil, err
		}
	}
	s = &step{run: r, record: r.backfillRecord}
	code, end := r.tracker.code, r.watermark-r.watermark%day+day
	switch {
	case r.staged && end+hour <= min(now-settleAfter, r.tracker.watermark):
		err = wk.replay(t, code, &r.replay, r.Since, end, end, now)
		if err == nil {
			r.checkpointTo(end, now)
			s.replay = r.replay
		}
	case r.staged: // the run stays as it is, for a step that is outdated when it is computed
		s.last, s.replay = true, r.fork()
		err = wk.replayToNow(t, code, &s.replay, r.Since, now)
	default:
		err = wk.replayToNow(t, code, &r.replay, r.Since, now)
		s.last, s.replay = true, r.replay
	}
	if err != nil {
		return nil, err
	}
	v := s.base.View(s.watermark)
	s.until = max(r.through, min(v.Final, s.watermark)/minute*minute)
	if s.last {
		s.out.Events = slices.Concat(r.Events, s.out.Events)
	} else {
		s.record.Events = slices.DeleteFunc(slices.Concat(r.Events, s.out.Events), func(e monitor.Event) bool {
			return !slices.ContainsFunc(v.Running, func(r monitor.RunningNow) bool { return r.ID == e.Schedule })
		})
	}
	s.results = s.out.clone()
	s.results.add(v.Outputs)
	return s, nil
}

// resume finds the checkpoint to compute a run on from: the last one in the staging copy, else the one that it begins
// with.
func (wk *worker) resume(t *station.Timeline, r *run, now int64) (err error) {
	code, place := r.tracker.code, history.Staging(r.tracker.code)
	if r.Since == 0 {
		return wk.begin(t, r, now)
	}
	if err := wk.f.cfg.Store.View(func(tx *kv.Tx) (err error) {
		r.through, err = wk.f.cfg.History.Through(tx, wk.account, place)
		return err
	}); err != nil {
		return err
	}
	r.through = max(r.through, r.Since)
	if r.base, r.watermark, err = wk.readCheckpoint(t, code, place, r.through); err == nil && r.base == nil {
		r.base, r.watermark, err = wk.checkpointBefore(t, code, r.From)
	}
	return err
}

// begin finds the checkpoint that a run begins with, and clears the staging copy.
func (wk *worker) begin(t *station.Timeline, r *run, now int64) (err error) {
	code := r.tracker.code
	if r.staged {
		if err := wk.f.cfg.Store.Update(func(tx *kv.Tx) error {
			return wk.f.cfg.History.Forget(tx, wk.account, history.Staging(code), 0)
		}); err != nil {
			return err
		}
	}
	r.Events = nil
	if r.From, err = wk.finalBefore(t, code, r.Late); err != nil {
		return err
	}
	if r.base, r.watermark, err = wk.checkpointBefore(t, code, r.From); err != nil {
		return err
	}
	r.Since = wk.changesFrom(r.tracker, max(r.From, r.watermark), now)
	r.through = r.Since
	return nil
}

// changesFrom returns the moment from which on the stored results of a station are replaced when it is computed again
// from one on: where its signals were deleted the results stay.
func (wk *worker) changesFrom(tr *tracker, from, now int64) int64 {
	if oldest := wk.oldest(now); from < oldest && tr.through > from {
		return min(oldest, tr.through)
	}
	return from
}

// commit stores steps in one transaction, and has their trackers take them over. A panic is an error.
func (wk *worker) commit(t *station.Timeline, now int64, steps []*step) (err error) {
	defer recovered(&err)
	if len(steps) == 0 {
		return nil
	}
	if err := wk.once(func(tx *kv.Tx, must bool) error {
		if err := wk.reach(tx, steps, must); err != nil {
			return err
		}
		for _, s := range steps {
			if err := wk.putStep(tx, t, s); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	for _, s := range steps {
		if s.committed(now); s.last {
			wk.computed.Add(1)
		}
	}
	return nil
}

// once runs a transaction that goes well only when the worker was handed all that is stored; the third time it must.
func (wk *worker) once(fn func(tx *kv.Tx, must bool) error) error {
	err := errNotNow
	for try := 1; errors.Is(err, errNotNow); try++ {
		err = wk.f.cfg.Store.Update(func(tx *kv.Tx) error { return fn(tx, try == 3) })
		if errors.Is(err, errNotNow) {
			wk.pause(handoverTime)
		}
	}
	return err
}

// reach settles the time up to which steps are about to be stored: from here on a signal of that time marks its station
// when it is stored. A signal that was stored before this transaction, and that no tracker could know of, marks them
// now. So one that comes while stations are computed is not lost with the process that was to take it in. errNotNow,
// unless it must, when the worker was not yet handed all that is stored.
func (wk *worker) reach(tx *kv.Tx, steps []*step, must bool) error {
	until := int64(0)
	for _, s := range steps {
		until = max(until, s.until)
	}
	before, all, err := wk.f.cfg.Signals.SettleSome(tx, wk.account, until)
	if err != nil {
		return err
	}
	if !all && !must {
		return errNotNow
	}
	for _, s := range steps {
		code := s.run.tracker.code
		if s.unsure = 0; all && !wk.arrivals.waiting(code, s.until) || before >= s.until {
			continue
		}
		s.unsure = max(before, 1)
		if err := ledger.MarkLate(tx, wk.account, code, s.unsure); err != nil {
			return err
		}
	}
	return nil
}

// putStep stores a step: its results, checkpoints and sums by day, in the staging copy with the run's record; the last
// one in the station's own history, where the staging copy goes before it.
func (wk *worker) putStep(tx *kv.Tx, t *station.Timeline, s *step) error {
	r, code, place := s.run, s.run.tracker.code, s.run.tracker.code
	sumsFrom := r.through
	switch {
	case !s.last:
		place = history.Staging(code)
		sumsFrom = max(sumsFrom, (r.Since+day-1)/day*day) // a first day that is not whole is summed when it is in place
	case r.staged:
		if err := wk.f.cfg.History.Adopt(tx, wk.account, code, r.Since); err != nil {
			return err
		}
	}
	if err := wk.f.cfg.History.Replace(tx, wk.account, place, r.through, s.until, s.results.Outputs); err != nil {
		return err
	}
	for _, c := range s.checkpoints {
		if c.at <= r.Since { // what was stored before stays
			continue
		}
		if err := wk.f.cfg.History.PutState(tx, wk.account, place, c.at, c.state); err != nil {
			return err
		}
	}
	if err := wk.sums(tx, t, code, place, sumsFrom, s.until); err != nil {
		return err
	}
	k := kv.Pair[string, string]{A: wk.account, B: code}
	if !s.last {
		return backfills.Put(tx, k, s.record)
	}
	if r.staged {
		if err := wk.sums(tx, t, code, code, r.Since, min(r.Since+1, s.until)); err != nil {
			return err
		}
		if err := backfills.Delete(tx, k); err != nil {
			return err
		}
	}
	if err := wk.f.cfg.History.Regained(tx, wk.account, code, r.Late); err != nil {
		return err
	}
	if r.staged && r.missed != 0 || !r.staged && r.tracker.backfill.farOpen() {
		return nil // the marks stand for what is still to be computed, too
	}
	return wk.accounted(tx, code, s.watermark)
}

// accounted clears the marks of a late station when everything that is stored and older than a moment has been taken
// in.
func (wk *worker) accounted(tx *kv.Tx, code string, before int64) error {
	all, err := wk.f.cfg.Signals.AllDelivered(tx)
	if err != nil || !all || wk.arrivals.waiting(code, before) {
		return err // the next time, then
	}
	return unmark(tx, wk.account, code)
}

// unmark clears the marks of a late station.
func unmark(tx *kv.Tx, account, code string) error {
	if err := signal.ClearLate(tx, account, code); err != nil {
		return err
	}
	return ledger.Unmark(tx, account, code)
}

// committed moves the run on behind a step that is stored, or has the tracker take the last one over.
func (s *step) committed(now int64) {
	r, tr := s.run, s.run.tracker
	tr.mu.Lock()
	defer tr.mu.Unlock()
	b := &tr.backfill
	switch {
	case !s.last:
		r.backfillRecord, r.through, r.checkpoints = s.record, s.until, nil
		r.out = r.out.from(s.until)
		r.out.Events = nil
	case r.staged:
		tr.take(s, now)
		b.far.done, b.run, b.near.from, b.far.from = now, nil, 0, 0
		if r.missed != 0 {
			tr.markLate(r.missed)
		}
	default:
		tr.take(s, now)
		if b.near.from == r.Late {
			b.near.from = 0
		}
	}
	if s.unsure != 0 {
		tr.markLate(s.unsure)
	}
}

// take has the tracker take the last step of a run over. The caller holds mu.
func (tr *tracker) take(s *step, now int64) {
	tr.base, tr.watermark, tr.pending, tr.live, tr.snapshots, tr.hour = s.base, s.watermark, s.pending, nil, nil, nil
	tr.through, tr.settled, tr.taken = s.until, s.out.from(s.until), 0
	tr.settled.Events = s.out.Events // rules are to be notified of those that lie further back, too
	tr.gap, tr.touched = s.gap, true
	tr.version++
	tr.backfill.near.done, tr.backfill.outdatedTimes = now, 0
}

// abandon deletes the stored staged run of a station in a transaction, and marks the station late again.
func (wk *worker) abandon(tx *kv.Tx, tr *tracker) error {
	r := tr.backfill.run
	if r == nil {
		return nil
	}
	if err := wk.f.cfg.History.Forget(tx, wk.account, history.Staging(tr.code), 0); err != nil {
		return err
	}
	if err := ledger.MarkLate(tx, wk.account, tr.code, r.Late); err != nil {
		return err
	}
	return backfills.Delete(tx, kv.Pair[string, string]{A: wk.account, B: tr.code})
}
