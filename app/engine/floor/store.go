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

// storeBatch is how many stations are stored in one transaction.
const storeBatch = 50

// settleSlot bounds how long bases process inputs at once, as long as none of them falls a minute behind: a reader of
// all trackers waits for each base in turn.
const settleSlot = 50 * time.Millisecond

// settle has the bases process inputs that are old enough, and stores them at each full hour.
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
			if err = tr.settle(to); err == nil && tr.pending.Len() > 0 { // readers find it ready
				err = tr.refresh(now)
			}
		}
		if err != nil {
			tr.markLate(tr.watermark - hour)
		}
		tr.mu.Unlock()
		if err != nil {
			wk.logError("a station cannot be computed; it is recomputed", err)
		}
	}
	if !due {
		return
	}
	switch done, err := wk.storeHour(full); {
	case err != nil:
		wk.logError("the results of the last hour are not stored yet; retrying", err)
	case done:
		wk.kept.Store(full)
	}
}

// Where very many signals come, trackers are kept before the hour is over: a restart reads the signals since then
// again, and their segments are in memory until then.
const (
	maxTaken    = 50_000    // inputs of a tracker; less where there are many trackers
	minTaken    = 5_000     // the inputs of an hour or more in any plant
	maxTakenAll = 5_000_000 // inputs of all trackers together, about
	minOutputs  = 1_000     // segments and issues of a tracker, which no ordinary hour makes
)

// storeEarly stores trackers that have processed very many inputs, and, if results take too much memory, those with
// more than their share of them. It stores whole minutes, so that this happens once a minute at most.
func (wk *worker) storeEarly() {
	if len(wk.trackers) == 0 {
		return
	}
	taken := max(minTaken, min(maxTaken, maxTakenAll/len(wk.trackers)))
	share := math.MaxInt
	if most := maxOutputs / wk.f.share() / 8; wk.outputs > most {
		share = max(minOutputs, most/len(wk.trackers))
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
	for batch := range slices.Chunk(trackers, storeBatch/5) {
		err := wk.storeAt(batch, until, func(tr *tracker) int64 { return tr.watermark })
		switch {
		case errors.Is(err, errNotNow):
			return
		case err != nil:
			wk.logError("the history of a station with very many signals is not stored yet; retrying", err)
			return
		}
		if wk.since(started) > slotTime {
			return
		}
	}
}

var errNotNow = errors.New("signals of that time are not processed yet")

// storeHour stores all trackers whose bases have processed everything before a full hour. It returns false if that must
// be retried in a moment.
func (wk *worker) storeHour(at int64) (bool, error) {
	var trackers []*tracker
	for _, tr := range wk.trackers {
		if tr.backfill.near.from == 0 && tr.reached(at) { // a staged run goes on meanwhile
			trackers = append(trackers, tr)
		}
	}
	for batch := range slices.Chunk(trackers, storeBatch) {
		err := wk.storeTrackers(batch, at)
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
			switch err := wk.storeTrackers([]*tracker{tr}, at); {
			case errors.Is(err, errNotNow):
				return false, nil
			case err != nil:
				wk.logError("the results of the last hour at station "+tr.code+" cannot be stored; they are recomputed", err)
				tr.mu.Lock()
				tr.markLate(tr.through)
				tr.backfill.retry = at + hour
				tr.mu.Unlock()
			}
		}
	}
	return true, nil
}

// storeTrackers stores trackers in one transaction, as they were at a full hour.
func (wk *worker) storeTrackers(batch []*tracker, at int64) error {
	return wk.storeAt(batch, at, func(*tracker) int64 { return at })
}

// storeAt stores trackers in one transaction, each as it was at its own moment, not after until.
func (wk *worker) storeAt(batch []*tracker, until int64, at func(tr *tracker) int64) error {
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
			if through[i], err = wk.storeTracker(tx, tr, at(tr)); err != nil {
				return err
			}
			if tr.backfill.farOpen() || tr.gap != 0 {
				continue // the marks are still needed for inputs that the tracker does not have
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
		events := tr.settled.Events // rules are not notified of them yet
		tr.settled = tr.settled.from(tr.through)
		tr.settled.Segments = slices.Clone(tr.settled.Segments) // frees the memory of stored segments
		tr.settled.Events = events
		tr.hour, tr.taken = nil, 0
		tr.pruneDelivered(wk.f.now())
		tr.version++
		tr.mu.Unlock()
	}
	return nil
}

// reached reports whether the tracker's base can be stored as it was at a full hour.
func (tr *tracker) reached(at int64) bool {
	return tr.watermark == at || tr.hour != nil && tr.hour.at == at
}

// storeTracker stores the results and the state of a tracker's base. It returns the time up to which results are
// stored, in ms.
func (wk *worker) storeTracker(tx *kv.Tx, tr *tracker, at int64) (int64, error) {
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

// sums recomputes the stored sums of a station's UTC days that overlap [from, to). place is the station's code or that
// of its staging copy.
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
		rows, used, err := sumRows(t, code, calendar.UnitHour, d*day, through, monitor.Explain(kept.Segments, findings), kept.Minutes)
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

// withOpen adds to stored issues the ongoing ones that overlap the segments. An ongoing issue is stored when it ends.
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

// sumRows sums segments and minutes in [from, to) by hour or minute, shift and SKU, and energy by hour, with the rules
// of each time.
func sumRows(t *station.Timeline, code string, unit calendar.Unit, from, to int64, segments []monitor.Segment, minutes []monitor.Minute) (rows []oee.Row, used []energy.Row, err error) {
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
		more, err := valuedRows(t, changes[i].Rules, unit, start, end, part)
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, more...)
		used = append(used, energy.Collect(changes[i].Rules.Calendar, tariffs, start, end, part.Segments, part.Minutes)...)
		start = end
	}
	return rows, used, nil
}

// valuedRows returns the rows of [from, to) with the value of a unit of their SKU at the time.
func valuedRows(t *station.Timeline, r *station.Rules, unit calendar.Unit, from, to int64, out monitor.Outputs) (rows []oee.Row, err error) {
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
