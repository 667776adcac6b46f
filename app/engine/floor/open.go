package floor

import (
	"errors"
	"math"
	"slices"

	"opsmon/app/engine/history"
	"opsmon/app/engine/ledger"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/station"
	"opsmon/app/ingest/signal"
	"opsmon/kv"
)

// open makes the tracker of a station from what is stored of it and what came since. What came late meanwhile is noted:
// the station is served without it until it is computed. So is what changed while the service was off. Where much is
// known of that time, no state was stored: the tracker starts from nothing then. After an error, which a panic is too,
// the tracker has only what is noted of the station.
func (wk *worker) open(t *station.Timeline, code string, now int64) (tr *tracker, err error) {
	tr = &tracker{code: code, touched: true}
	defer recovered(&err)
	var kept int64
	err = wk.f.cfg.Store.View(func(tx *kv.Tx) (err error) {
		if err := wk.recall(tx, tr, now); err != nil {
			return err
		}
		kept, err = wk.f.cfg.History.Through(tx, wk.account, code)
		return err
	})
	if tr.through = kept; err != nil {
		return tr, err
	}
	var r replay
	if tr.backfill.lost && kept == 0 { // start from the newest state, and recompute the time before
		r.base, r.watermark, err = wk.readCheckpoint(t, code, code, math.MaxInt64)
		kept = r.watermark
	}
	if r.base == nil && err == nil {
		r.base, r.watermark, err = wk.checkpointBefore(t, code, kept)
	}
	if err != nil {
		return tr, err
	}
	if at := r.watermark; now-at > maxStateAge {
		tr.backfill.near.from = earlier(tr.backfill.near.from, max(at, kept, 1))
		known, err := wk.gapAfter(t, code, at-at%day+2*day)
		if err == nil && known != 0 {
			if err = wk.blank(t, tr, now); err == nil {
				tr.backfill.retry = 0
			}
		}
		if err != nil || known != 0 {
			return tr, err
		}
	}
	kept = max(kept, r.watermark)
	if err := wk.replayToNow(t, code, &r, kept, now); err != nil {
		return tr, err
	}
	tr.base, tr.watermark, tr.pending, tr.gap = r.base, r.watermark, r.pending, r.gap
	tr.through, tr.settled = kept, r.out.from(kept)
	tr.settled.Events = r.out.Events
	return tr, nil
}

// maxStateAge is the maximum age of the state that a tracker is loaded from, in ms. From an older one the station is
// recomputed while it is served, and the result is stored, so that the next start is quick.
const maxStateAge = 3 * hour

// recall loads the marks of a station that was late when the service stopped.
func (wk *worker) recall(tx *kv.Tx, tr *tracker, now int64) error {
	b, k := &tr.backfill, kv.Pair[string, string]{A: wk.account, B: tr.code}
	switch rec, err := backfills.Get(tx, k); {
	case err == nil:
		b.run = &run{tracker: tr, backfillRecord: rec, staged: true}
		if b.run.watermark, err = wk.f.cfg.History.Through(tx, wk.account, history.Staging(tr.code)); err != nil {
			return err
		}
	case !errors.Is(err, kv.ErrNotFound):
		return err
	}
	if at, ok, err := signal.Late(tx, wk.account, tr.code); err != nil {
		return err
	} else if ok {
		b.add(at, now)
	}
	if at, ok, err := wk.f.cfg.History.Lost(tx, wk.account, tr.code); err != nil {
		return err
	} else if ok {
		b.add(at, now)
		b.lost = true
	}
	if at, ok, err := ledger.Late(tx, wk.account, tr.code); err != nil {
		return err
	} else if ok {
		b.add(at, now)
		b.entered = now-at <= openWindow
	}
	return nil
}

// blank makes a tracker of which nothing stored can be read: it starts from nothing, and is computed when it can be,
// with all that is noted of it.
func (wk *worker) blank(t *station.Timeline, tr *tracker, now int64) error {
	s, err := t.RulesAt(tr.code, now)
	if err != nil {
		return err
	}
	at := now - settleAfter
	at -= at % minute
	tr.base, tr.watermark, tr.through = monitor.New(s.Monitor, at), at, at
	tr.backfill.near.from, tr.backfill.retry = earlier(tr.backfill.near.from, max(at, 1)), now+retryAfter
	return nil
}

// oldest returns the start of the first UTC day of which all signals are stored, in ms.
func (wk *worker) oldest(now int64) int64 {
	at := now - wk.f.cfg.Signals.Retention().Milliseconds()
	return max(at-at%day+day, wk.f.cfg.Signals.Swept())
}

// reconfigure passes the changes of a station's rules since a revision to its tracker.
func (wk *worker) reconfigure(tr *tracker, after, now int64) error {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	from := tr.watermark
	if r, err := wk.timeline.RulesAt(tr.code, now); err == nil && r.Monitor.Revision > after {
		from = min(from, now-day) // one that comes late all the same
	}
	changes, err := changesIn(wk.timeline, tr.code, from, now+settleAfter)
	if err != nil {
		return err
	}
	for _, in := range changes {
		if in.Config.Revision <= after && in.At < tr.watermark {
			continue
		}
		if !tr.pending.Has(&in) {
			tr.feed(in)
		}
	}
	return nil
}

// applySKUChanges applies the changes of the SKUs that a station runs, from the revisions after one.
func (wk *worker) applySKUChanges(plan *station.Plan, tr *tracker, after, now int64) error {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for _, code := range tr.skus() {
		at, changed, err := wk.timeline.SKUChanged(code, after)
		if err != nil {
			return err
		}
		if !changed {
			continue
		}
		tr.backfill.outdated = true // a state that is being computed has looked the SKU up before
		tr.rates++
		tr.rated = earlier(tr.rated, max(at, 1))
		// What is due since is shown by the minute, and a stop that another rate makes within showEvery.
		s := plan.Of(tr.code)
		tr.touched = tr.touched || s != nil && speedTarget(s, code, now) != speedTarget(s, code, at-1)
		tr.base.Relook()
		if r := tr.backfill.run; r != nil && r.base != nil {
			r.base.Relook()
		}
		switch {
		case at < tr.watermark:
			tr.markLate(at)
		case tr.live != nil && at < tr.live.Now():
			tr.rewind(tr.pending.Before(at))
		}
		for i := range tr.snapshots {
			tr.snapshots[i].state.Relook()
		}
		if tr.live != nil {
			tr.live.Relook()
		}
	}
	return nil
}

// speedTarget returns the line speed target of a SKU at a station at a moment, ms; 0: none.
func speedTarget(s *station.Station, sku string, at int64) float64 {
	k, _ := s.Monitor.SKU(sku, at)
	return k.LineSpeedTarget
}

// skus returns the SKUs that a tracker has run since its base. The caller holds mu.
func (tr *tracker) skus() (list []string) {
	if code := tr.base.RunningSKU(); code != "" {
		list = append(list, code)
	}
	others := tr.pending.Others()
	for i := range others {
		if in := &others[i]; (in.Kind == monitor.InputScheduleStart || in.Kind == monitor.InputScheduleChange) && in.Schedule.SKU != "" && !slices.Contains(list, in.Schedule.SKU) {
			list = append(list, in.Schedule.SKU)
		}
	}
	return list
}
