package floor

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"

	"opsmon/app/engine/monitor"
	"opsmon/app/engine/station"
	"opsmon/kv"
)

const day = 24 * hour

// gatherMost is about how many signals are read from the log at once.
const gatherMost = 50_000

// gather gives what happened at a station in [from, end), in order; end is at most to, and of the UTC day of from. With very
// many signals it is earlier. held is called at the moment that the answer is for.
func (wk *worker) gather(t *station.Timeline, code string, from, to int64, held func()) (list []monitor.Input, end int64, err error) {
	signals, end, err := wk.f.cfg.Signals.Some(wk.account, code, from, min(to, from-mod(from, day)+day), gatherMost, held)
	if err != nil {
		return nil, 0, err
	}
	list = make([]monitor.Input, 0, len(signals)+8)
	for i := range signals {
		list = append(list, InputOf(&signals[i]))
	}
	signalsOnly := len(list)
	err = wk.f.cfg.Store.View(func(tx *kv.Tx) error {
		more, err := readLedger(tx, wk.account, code, from, end)
		list = append(list, more...)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	changes, err := changesIn(t, code, from, end)
	if err != nil {
		return nil, 0, err
	}
	list = append(list, changes...)
	if len(list) > signalsOnly || !inOrder(list) {
		slices.SortFunc(list, compare)
	}
	return list, end, nil
}

// inOrder tells whether inputs that are in order of time are in that of compare: the log has its own for those of one moment.
func inOrder(list []monitor.Input) bool {
	for i := 1; i < len(list); i++ {
		if list[i-1].At == list[i].At && compare(list[i-1], list[i]) > 0 {
			return false
		}
	}
	return true
}

// changesIn gives the changes of a station's configuration in [from, to) that matter to the engine.
func changesIn(t *station.Timeline, code string, from, to int64) ([]monitor.Input, error) {
	changes, err := t.Changes(code, from-1, to-1)
	if err != nil {
		return nil, err
	}
	var list []monitor.Input
	for _, c := range changes {
		if c.At >= from && c.Engine && !c.Gone {
			list = append(list, monitor.Input{At: c.At, Kind: monitor.InputConfig, Config: c.Rules.Monitor})
		}
	}
	return list, nil
}

// gatherNew is gather for what is computed to stay: signals that it reads do not wait any more to be taken in. What lies before
// the moment from which on figures change does so still: it makes the station late by more.
func (wk *worker) gatherNew(t *station.Timeline, code string, from, to, since int64) (list []monitor.Input, end int64, err error) {
	told := 0
	if list, end, err = wk.gather(t, code, from, to, func() { told = wk.arrivals.of(code) }); err == nil {
		wk.arrivals.forget(code, told, max(from, since), end)
	}
	return list, end, err
}

// origin is the moment before which nothing is known of a station: the start of an hour, ms; that of a UTC day where
// something was told of it that lies before it appeared.
func (wk *worker) origin(t *station.Timeline, code string) (int64, error) {
	at, err := t.Appeared(code)
	if err != nil {
		return 0, err
	}
	at = min(at, wk.f.now())
	at -= at % hour
	if first, ok, err := wk.f.cfg.Signals.First(wk.account, code); err != nil {
		return 0, err
	} else if ok {
		at = min(at, first*day)
	}
	began := at
	err = wk.f.cfg.Store.View(func(tx *kv.Tx) error {
		for item, err := range ledger.Scan(tx, ledger.Between(ledgerKey(wk.account, code, 0, 0), ledgerKey(wk.account, code, at, 0))) {
			if err != nil {
				return err
			}
			at = int64(item.Key.B.B.A)
			break
		}
		return nil
	})
	if at < began { // before it was there: people told of it later
		at -= at % day
	}
	return at, err
}

// open makes the tracker of a station of what is kept of it and what came since. What came for its past meanwhile, and is not
// accounted for, is noted: the tracker is served as it was without that until it is computed again. So is what the time that the
// service was off changes. Where much is known of that time, the state was lost: the tracker begins with nothing then.
// After an error, which a panic is too, the tracker is what is noted of it.
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
	var s *monitor.State
	var at int64
	if tr.lost && kept == 0 { // it goes on from the newest state, and what was before is computed
		s, at, err = wk.readCheckpoint(t, code, code, math.MaxInt64)
		kept = at
	}
	if s == nil && err == nil {
		s, at, err = wk.checkpointBefore(t, code, kept, now)
	}
	if err != nil {
		return tr, err
	}
	if now-at > keptLong {
		tr.near = earlier(tr.near, max(at, kept, 1))
		known, err := wk.gapAfter(t, code, at-at%day+2*day)
		if err == nil && known != 0 {
			var empty *tracker
			if empty, err = wk.blank(t, tr, now); err == nil {
				tr = empty
				tr.retry = 0
			}
		}
		if err != nil || known != 0 {
			return tr, err
		}
	}
	r, err := wk.replayFrom(t, code, s, at, kept, now)
	if err != nil {
		return tr, err
	}
	tr.base, tr.watermark, tr.pending = r.base, r.watermark, r.pending
	tr.through = max(kept, r.from)
	tr.settled = r.out.from(tr.through)
	tr.settled.Events, tr.gap = r.out.Events, r.gap
	return tr, nil
}

// oldest is the first moment, of a whole UTC day, from which on all signals are kept.
func (wk *worker) oldest(now int64) int64 {
	at := now - wk.f.cfg.Signals.Retention().Milliseconds()
	return max(at-at%day+day, wk.f.cfg.Signals.Swept())
}

// keptLong is how long ago the state that a tracker is opened with may be, ms: what is computed from an older one is kept while
// the tracker is served, so that the next start need not compute it again.
const keptLong = 3 * hour

// finalBefore gives the moment from which a station's history changes when something came late: a whole minute.
func (wk *worker) finalBefore(t *station.Timeline, code string, late, now int64) (int64, error) {
	s, _, err := wk.checkpointBefore(t, code, late, now)
	if err != nil {
		return 0, err
	}
	return max(0, min(late, s.Final())/minute*minute), nil
}

// checkpointBefore gives the last state that is kept of a station before a moment, and what its own moment is; without any, one
// that knows nothing.
func (wk *worker) checkpointBefore(t *station.Timeline, code string, before, now int64) (s *monitor.State, at int64, err error) {
	if s, at, err = wk.readCheckpoint(t, code, code, before); s != nil || err != nil {
		return s, at, err
	}
	if at, err = wk.origin(t, code); err != nil {
		return nil, 0, err
	}
	first, err := t.RulesAt(code, at)
	if err != nil {
		return nil, 0, err
	}
	return monitor.New(first.Monitor, at), at, nil
}

// readCheckpoint gives the last state before a moment that is kept of a station in a place, its code or beside it, and what its
// own moment is; nil when there is none.
func (wk *worker) readCheckpoint(t *station.Timeline, code, place string, before int64) (s *monitor.State, at int64, err error) {
	for {
		var stored []byte
		err := wk.f.cfg.Store.View(func(tx *kv.Tx) (err error) {
			at, stored, err = wk.f.cfg.History.StateBefore(tx, wk.account, place, before)
			return err
		})
		if err != nil || stored == nil {
			return nil, 0, err
		}
		s, err := monitor.Decode(stored, func(revision int64) *monitor.Config { return t.Config(code, revision) })
		if err == nil {
			return s, at, nil
		}
		if !errors.Is(err, monitor.ErrVersion) {
			wk.f.cfg.Log.Warn("a state that was kept of a station cannot be used; an earlier one is", slog.String("account", wk.account), slog.String("station", code), slog.Any("error", err))
		}
		before = at
	}
}

// replay is a station computed from a place in its past.
type replay struct {
	from        int64          // what came out before is not in out, ms
	base        *monitor.State // has taken in everything before at
	watermark   int64          // ms
	out         outputs        // of base
	pending     queue          // from at on
	checkpoints []checkpoint   // along the way
	next        int64          // when the next of them is kept, ms; 0: not known yet
	read        int64          // what is earlier was read from the log and the ledger, ms
	gap         int64          // the log and the ledger have more from here on, ms, which was not read: the clock was ahead once; 0: no
}

// checkpoint is a state to start from again.
type checkpoint struct {
	at    int64
	state []byte
}

// replay computes a station from a moment before the one given on, up to now.
func (wk *worker) replay(t *station.Timeline, code string, from, now int64) (replay, error) {
	s, at, err := wk.checkpointBefore(t, code, from, now)
	if err != nil {
		return replay{}, err
	}
	return wk.replayFrom(t, code, s, at, from, now)
}

// replayFrom computes a station from a state that has taken in everything before a moment on, up to now. Its figures change
// from since on.
func (wk *worker) replayFrom(t *station.Timeline, code string, s *monitor.State, from, since, now int64) (r replay, err error) {
	r.base, r.from, r.watermark = s, from, from
	settled := max(from, now-settleAfter)
	for at := from; at <= now+settleAfter; {
		if wk.ends() {
			return r, errClosed
		}
		list, end, err := wk.gatherNew(t, code, at, math.MaxInt64, since)
		if err != nil {
			return r, err
		}
		n := 0
		for n < len(list) && list[n].At < settled {
			n++
		}
		if err := r.take(list[:n], min(end, settled), now); err != nil {
			return r, fmt.Errorf("station %s: %w", code, err)
		}
		r.pending.put(list[n:])
		if err := r.settleMost(now); err != nil {
			return r, fmt.Errorf("station %s: %w", code, err)
		}
		if at = end; at <= now+settleAfter {
			wk.yield()
		}
	}
	r.base.Advance(r.watermark)
	r.absorb()
	end := now + settleAfter
	r.gap, err = wk.gapAfter(t, code, end-end%day+day)
	return r, err
}

// take takes inputs in that come before a moment, ms, and keeps the states on the way to it.
func (r *replay) take(list []monitor.Input, until, now int64) error {
	for i := range list {
		if err := r.one(&list[i], now); err != nil {
			return err
		}
	}
	r.reach(until, now)
	r.absorb()
	return nil
}

// absorb takes what the base has given out.
func (r *replay) absorb() { r.out.add(r.base.Take()) }

func (r *replay) one(in *monitor.Input, now int64) error {
	r.checkpointTo(in.At, now)
	if err := r.base.Apply(in); err != nil {
		return fmt.Errorf("at %d: %w", in.At, err)
	}
	return nil
}

// reach says that all before a moment, ms, was taken in.
func (r *replay) reach(until, now int64) {
	if until <= r.watermark {
		return
	}
	r.checkpointTo(until-1, now)
	r.watermark = until
}

// checkpointTo keeps the states up to a moment, ms, that was not reached before.
func (r *replay) checkpointTo(at, now int64) {
	if r.next == 0 {
		r.next = nextCheckpoint(r.watermark, now)
	}
	for ; r.next <= at; r.next = nextCheckpoint(r.next, now) {
		r.checkpoint(r.next)
	}
}

// settleMost takes in the oldest of what is pending where that is very much, as the tracker does that it is for.
func (r *replay) settleMost(now int64) error {
	n := r.pending.len() - trackerMost
	if n <= 0 {
		return nil
	}
	to := min(r.pending.list[n-1].at+1, now-settleLeast)
	n = r.pending.before(to)
	for i := range n {
		if err := r.one(r.pending.at(i), now); err != nil {
			return err
		}
	}
	r.pending.drop(n)
	r.reach(to, now)
	return nil
}

// gapAfter gives the start of a UTC day back when something is known of a station from then on, else 0.
func (wk *worker) gapAfter(t *station.Timeline, code string, from int64) (int64, error) {
	last, ok, err := wk.f.cfg.Signals.Last(wk.account, code)
	if err != nil || ok && last*day >= from {
		return from, err
	}
	err = wk.f.cfg.Store.View(func(tx *kv.Tx) error {
		ok = false
		for _, err := range ledger.Scan(tx, ledger.Between(ledgerKey(wk.account, code, from, 0), ledgerKey(wk.account, code, math.MaxInt64, 0))) {
			ok = true
			return err
		}
		return nil
	})
	if err != nil || ok {
		return from, err
	}
	changes, err := changesIn(t, code, from, math.MaxInt64)
	if err != nil || len(changes) > 0 {
		return from, err
	}
	return 0, nil
}

// checkpoint keeps the state that has taken in everything before a moment.
func (r *replay) checkpoint(at int64) {
	r.base.Advance(at)
	r.absorb()
	r.checkpoints = append(r.checkpoints, checkpoint{at, r.base.Encode()})
}

// nextCheckpoint is the moment after the one given at which a state is kept: hours of the last two days, days before.
func nextCheckpoint(after, now int64) int64 {
	if next := after - after%hour + hour; next > now-2*day {
		return next
	}
	return min(after-after%day+day, (now-2*day)/hour*hour+hour)
}

// viewAt shows a tracker as it was at a moment, ms. It is not for use inside a transaction.
func (wk *worker) viewAt(tr *tracker, at int64) (monitor.View, error) {
	tr.mu.Lock()
	if at >= tr.watermark {
		defer tr.mu.Unlock()
		s := tr.base.Clone()
		for i := range tr.pending.before(at + 1) {
			if err := s.Apply(tr.pending.at(i)); err != nil {
				return monitor.View{}, err
			}
		}
		return s.View(at), nil
	}
	tr.mu.Unlock()
	s, from, err := wk.checkpointBefore(wk.timeline, tr.code, at, at)
	if err != nil {
		return monitor.View{}, err
	}
	for start := from; start <= at; {
		list, end, err := wk.gather(wk.timeline, tr.code, start, at+1, func() {})
		if err != nil {
			return monitor.View{}, err
		}
		for i := range list {
			if err := s.Apply(&list[i]); err != nil {
				return monitor.View{}, err
			}
		}
		s.Take()
		start = end
	}
	return s.View(at), nil
}

// reconfigure gives a tracker the changes of its station's rules that revisions brought after one.
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
		if !tr.pending.has(&in) {
			tr.feed(in)
		}
	}
	return nil
}

// relook has a tracker know of the changes of SKUs that revisions brought after one, where its station runs such a SKU.
func (wk *worker) relook(plan *station.Plan, tr *tracker, after, now int64) error {
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
		tr.outdated = true // a state that is being computed has looked the SKU up before
		tr.rates++
		tr.rated = earlier(tr.rated, max(at, 1))
		// What is due since is shown by the minute, and a stop that another rate makes within showEvery.
		s := plan.Of(tr.code)
		tr.touched = tr.touched || s != nil && speedTarget(s, code, now) != speedTarget(s, code, at-1)
		tr.base.Relook()
		if r := tr.run; r != nil && r.base != nil {
			r.base.Relook()
		}
		switch {
		case at < tr.watermark:
			tr.markLate(at)
		case tr.live != nil && at < tr.live.Now():
			tr.rewind(tr.pending.before(at))
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
	for i := range tr.pending.rare {
		if in := &tr.pending.rare[i]; (in.Kind == monitor.InputScheduleStart || in.Kind == monitor.InputScheduleChange) && in.Schedule.SKU != "" && !slices.Contains(list, in.Schedule.SKU) {
			list = append(list, in.Schedule.SKU)
		}
	}
	return list
}
