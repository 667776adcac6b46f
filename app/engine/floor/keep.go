package floor

import (
	"errors"
	"math"
	"slices"
	"time"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/energy"
	"opsmon/app/engine/history"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/app/engine/station"
	"opsmon/kv"
)

// keepBatch is how many stations are kept in one transaction.
const keepBatch = 50

// settleSlot is how long bases take things in at once, if none of them is a minute late with it: who reads all trackers
// waits for each one that does, one after another.
const settleSlot = 50 * time.Millisecond

// settle lets the bases take in what is old enough; at each full hour they are kept.
func (wk *worker) settle(now int64) {
	full := (now - settleAfter) / hour * hour
	due := full > wk.kept.Load()
	started := time.Now()
	for _, tr := range wk.trackers {
		to := now - settleAfter
		if due {
			to = full
		}
		tr.mu.Lock()
		var err error
		if tr.gap != 0 && to > tr.gap { // the clock was behind when the tracker was read
			tr.markLate(tr.gap)
			tr.gap = 0
		}
		if to > tr.watermark && (due || to-tr.watermark >= minute && (wk.since(started) < settleSlot || to-tr.watermark >= 2*minute)) {
			if err = tr.settle(to); err == nil && tr.pending.len() > 0 { // readers find it ready
				err = tr.refresh(now)
			}
		}
		if err != nil {
			tr.markLate(tr.watermark - hour)
		}
		tr.mu.Unlock()
		if err != nil {
			wk.trouble("a station has stopped counting; it is computed again", err)
		}
	}
	if !due {
		return
	}
	switch done, err := wk.keep(full); {
	case err != nil:
		wk.trouble("what came of the last hour is not kept yet; it is tried again", err)
	case done:
		wk.kept.Store(full)
	}
}

// Where very many signals come, trackers are kept before the hour is over: a restart reads the signals since then
// again, and their segments are in memory until then.
const (
	takenMost  = 50_000    // inputs of a tracker; less where there are many trackers
	takenLeast = 5_000     // that is what a tracker takes in within an hour or more in any plant
	takenAll   = 5_000_000 // inputs of all trackers together, about
	comeLeast  = 1_000     // segments and issues of a tracker, which no ordinary hour makes
)

// keepEarly keeps trackers that have taken in very much, and where outputs take too much memory those that have more
// than their share of them: whole minutes, so that it is once a minute at most.
func (wk *worker) keepEarly() {
	if len(wk.trackers) == 0 {
		return
	}
	taken := max(takenLeast, min(takenMost, takenAll/len(wk.trackers)))
	share := math.MaxInt
	if most := outputsMost / wk.f.share() / 8; wk.outputs > most {
		share = max(comeLeast, most/len(wk.trackers))
	}
	var trackers []*tracker
	until := int64(0)
	for _, tr := range wk.trackers {
		tr.mu.Lock()
		if tr.backfill.near.from == 0 && !tr.backfill.busy && (tr.taken >= taken || tr.settled.count() > share) && min(tr.base.Final(), tr.watermark)-tr.through >= minute {
			trackers, until = append(trackers, tr), max(until, tr.watermark)
		}
		tr.mu.Unlock()
	}
	started := time.Now()
	for batch := range slices.Chunk(trackers, keepBatch/5) {
		err := wk.keepAs(batch, until, func(tr *tracker) int64 { return tr.watermark })
		switch {
		case errors.Is(err, errNotNow):
			return
		case err != nil:
			wk.trouble("the history of a station with very many signals is not stored yet; it is tried again", err)
			return
		}
		if wk.since(started) > slotTime {
			return
		}
	}
}

var errNotNow = errors.New("signals of that time are on their way")

// keep keeps all trackers whose bases have taken in what was before a moment, a full hour. It is false when that has to
// be tried again in a moment.
func (wk *worker) keep(at int64) (bool, error) {
	var trackers []*tracker
	for _, tr := range wk.trackers {
		if tr.backfill.near.from == 0 && tr.reached(at) { // one that is to be computed again from far back goes on meanwhile
			trackers = append(trackers, tr)
		}
	}
	for batch := range slices.Chunk(trackers, keepBatch) {
		err := wk.keepTrackers(batch, at)
		if errors.Is(err, errNotNow) {
			return false, nil
		}
		if err == nil {
			continue
		}
		if wk.f.cfg.Store.Writable() != nil {
			return false, err
		}
		for _, tr := range batch { // one that cannot be must not be in the way of the others
			switch err := wk.keepTrackers([]*tracker{tr}, at); {
			case errors.Is(err, errNotNow):
				return false, nil
			case err != nil:
				wk.trouble("what came of the last hour at the station "+tr.code+" is not kept; it is computed again", err)
				tr.mu.Lock()
				tr.markLate(tr.through)
				tr.backfill.retry = at + hour
				tr.mu.Unlock()
			}
		}
	}
	return true, nil
}

// keepTrackers keeps some trackers in one transaction, as they were at a full hour.
func (wk *worker) keepTrackers(batch []*tracker, at int64) error {
	return wk.keepAs(batch, at, func(*tracker) int64 { return at })
}

// keepAs keeps some trackers in one transaction, each as it was at a moment of its own, up to the moment until.
func (wk *worker) keepAs(batch []*tracker, until int64, at func(tr *tracker) int64) error {
	through := make([]int64, len(batch))
	err := wk.f.cfg.Store.Update(func(tx *kv.Tx) error {
		told, err := wk.f.cfg.Signals.Settle(tx, wk.account, until)
		if err != nil {
			return err
		}
		if !told || wk.arrivals.waiting("", until) {
			return errNotNow
		}
		for i, tr := range batch {
			if through[i], err = wk.keepTracker(tx, tr, at(tr)); err != nil {
				return err
			}
			if tr.backfill.farOpen() || tr.gap != 0 {
				continue // the marks stand for what the tracker does not know
			}
			if err := unmark(tx, wk.account, tr.code); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, tr := range batch {
		tr.mu.Lock()
		tr.through = through[i]
		events := tr.settled.Events // which rules are still to be told of
		tr.settled = tr.settled.from(tr.through)
		tr.settled.Segments = slices.Clone(tr.settled.Segments) // what is kept is to be forgotten
		tr.settled.Events = events
		tr.hour, tr.taken = nil, 0
		tr.forgetTold(wk.f.now())
		tr.version++
		tr.mu.Unlock()
	}
	return nil
}

// reached reports whether the tracker's base can be kept as it was at a full hour.
func (tr *tracker) reached(at int64) bool {
	return tr.watermark == at || tr.hour != nil && tr.hour.at == at
}

// keepTracker keeps what a tracker's base gave out, and the base; it gives the moment up to which that is.
func (wk *worker) keepTracker(tx *kv.Tx, tr *tracker, at int64) (int64, error) {
	base, settled := tr.base, tr.settled
	if tr.watermark != at {
		base, settled = tr.hour.base, tr.hour.settled
	}
	v := base.View(at)
	from, to := tr.through, max(tr.through, min(v.Final, at)/minute*minute)
	out := settled.clone()
	out.add(v.Outputs)
	if err := wk.f.cfg.History.Replace(tx, wk.account, tr.code, from, to, out.Outputs); err != nil {
		return 0, err
	}
	if err := wk.f.cfg.History.PutState(tx, wk.account, tr.code, at, base.Encode()); err != nil {
		return 0, err
	}
	return to, wk.sums(tx, wk.timeline, tr.code, tr.code, from, to)
}

// sums makes the kept sums of a station's UTC days that have time in [from, to) again. place is its code or its staging
// copy.
func (wk *worker) sums(tx *kv.Tx, t *station.Timeline, code, place string, from, to int64) error {
	for d := history.Day(from); d*day < to; d++ {
		kept, through, err := wk.f.cfg.History.Detail(tx, wk.account, place, d*day, (d+1)*day)
		if err != nil {
			return err
		}
		if through <= d*day || len(kept.Segments) == 0 {
			continue
		}
		findings, err := wk.f.cfg.Findings(tx, wk.account, code, withOpen(kept.Issues, kept.Segments))
		if err != nil {
			return err
		}
		rows, used, err := collect(t, code, calendar.UnitHour, d*day, through, monitor.Explain(kept.Segments, findings), kept.Minutes)
		if err != nil {
			return err
		}
		last, err := t.RulesAt(code, through-1)
		if err != nil {
			return err
		}
		if err := wk.f.cfg.History.ReplaceRows(tx, wk.account, place, last.Calendar, d, rows, used); err != nil {
			return err
		}
	}
	return nil
}

// withOpen adds to the issues that are kept those that have time in the segments and go on: they are kept when they
// end.
func withOpen(issues []monitor.Issue, segments []monitor.Segment) []monitor.Issue {
	for i := range segments {
		g := &segments[i]
		for _, x := range [...]monitor.Issue{{Type: monitor.IssueStop, Start: g.Stop}, {Type: monitor.IssueSlow, Start: g.Slow}, {Type: monitor.IssueManual, Start: g.Manual}} {
			if x.Start != 0 && !slices.ContainsFunc(issues, func(y monitor.Issue) bool { return x.Type == y.Type && x.Start == y.Start }) {
				issues = append(issues, x)
			}
		}
	}
	return issues
}

// collect adds segments and minutes of [from, to) up by hour or minute, shift and SKU, and energy by the hour, each by
// the rules of its time.
func collect(t *station.Timeline, code string, unit calendar.Unit, from, to int64, segments []monitor.Segment, minutes []monitor.Minute) (rows []oee.Row, used []energy.Row, err error) {
	tariffs, err := t.Tariffs(from, to)
	if err != nil {
		return nil, nil, err
	}
	changes, err := t.Changes(code, from, to-1)
	if err != nil {
		return nil, nil, err
	}
	if len(changes) == 0 {
		r, err := t.RulesAt(code, from)
		if err != nil {
			return nil, nil, err
		}
		changes = []station.Change{{At: from, Rules: r}}
	}
	// A change in the middle of a minute counts from the next one on for the sums; the engine knows it to the
	// millisecond.
	start := from
	for i := range changes {
		end := to
		if i+1 < len(changes) {
			end = min(to, (changes[i+1].At+minute-1)/minute*minute)
		}
		if end <= start {
			continue
		}
		part := history.Cut(monitor.Outputs{Segments: segments, Minutes: minutes}, start, end)
		more, err := priced(t, changes[i].Rules, unit, start, end, part)
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, more...)
		used = append(used, energy.Collect(changes[i].Rules.Calendar, tariffs, start, end, part.Segments, part.Minutes)...)
		start = end
	}
	return rows, used, nil
}

// priced makes the rows of [from, to), each with what a unit of its SKU was worth then.
func priced(t *station.Timeline, r *station.Rules, unit calendar.Unit, from, to int64, out monitor.Outputs) (rows []oee.Row, err error) {
	by := r.OEE
	by.Unit = unit
	if !by.Money || by.Values != nil {
		return oee.Collect(by, from, to, out.Segments, out.Minutes), nil
	}
	skus := map[string]bool{}
	for i := range out.Segments {
		skus[out.Segments[i].Ctx.SKU] = true
	}
	for from < to {
		var until int64
		if by.Values, until, err = t.Values(skus, from); err != nil {
			return nil, err
		}
		end := to
		if until < to { // likewise from the next minute on
			end = min(to, max((until+minute-1)/minute*minute, from+minute))
		}
		part := history.Cut(out, from, end)
		rows = append(rows, oee.Collect(by, from, end, part.Segments, part.Minutes)...)
		from = end
	}
	return rows, nil
}
