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

// settleTurn is how long bases take things in at once, if none of them is a minute late with it: who reads all lines waits for
// each one that does, one after another.
const settleTurn = 50 * time.Millisecond

// settle lets the bases take in what is old enough; at each full hour they are kept.
func (o *owner) settle(now int64) {
	full := (now - settleAfter) / hour * hour
	due := full > o.kept.Load()
	started := time.Now()
	for _, l := range o.lines {
		to := now - settleAfter
		if due {
			to = full
		}
		l.mu.Lock()
		var err error
		if l.gap != 0 && to > l.gap { // the clock was behind when the line was read
			l.goBack(l.gap)
			l.gap = 0
		}
		if to > l.baseAt && (due || to-l.baseAt >= minute && (o.since(started) < settleTurn || to-l.baseAt >= 2*minute)) {
			if err = l.settle(to); err == nil && l.pending.len() > 0 { // readers find it ready
				err = l.refresh(now)
			}
		}
		if err != nil {
			l.goBack(l.baseAt - hour)
		}
		l.mu.Unlock()
		if err != nil {
			o.trouble("a station has stopped counting; it is computed again", err)
		}
	}
	if !due {
		return
	}
	switch done, err := o.keep(full); {
	case err != nil:
		o.trouble("what came of the last hour is not kept yet; it is tried again", err)
	case done:
		o.kept.Store(full)
	}
}

// Where very many signals come, lines are kept before the hour is over: a restart reads the signals since then again, and their
// segments are in memory until then.
const (
	takenMost  = 50_000    // inputs of a line; less where there are many lines
	takenLeast = 5_000     // that is what a line takes in within an hour or more in any plant
	takenAll   = 5_000_000 // inputs of all lines together, about
	comeLeast  = 1_000     // segments and issues of a line, which no ordinary hour makes
)

// keepEarly keeps lines that have taken in very much, and where outputs take too much memory those that have more than their
// share of them: whole minutes, so that it is once a minute at most.
func (o *owner) keepEarly() {
	if len(o.lines) == 0 {
		return
	}
	taken := max(takenLeast, min(takenMost, takenAll/len(o.lines)))
	share := math.MaxInt
	if most := outputsMost / o.f.share() / 8; o.outputs > most {
		share = max(comeLeast, most/len(o.lines))
	}
	var lines []*line
	until := int64(0)
	for _, l := range o.lines {
		l.mu.Lock()
		if l.late == 0 && !l.busy && (l.taken >= taken || l.settled.count() > share) && min(l.base.Final(), l.baseAt)-l.through >= minute {
			lines, until = append(lines, l), max(until, l.baseAt)
		}
		l.mu.Unlock()
	}
	started := time.Now()
	for batch := range slices.Chunk(lines, keepBatch/5) {
		err := o.keepAs(batch, until, func(l *line) int64 { return l.baseAt })
		switch {
		case errors.Is(err, errNotNow):
			return
		case err != nil:
			o.trouble("the history of a station with very many signals is not stored yet; it is tried again", err)
			return
		}
		if o.since(started) > turnTime {
			return
		}
	}
}

var errNotNow = errors.New("signals of that time are on their way")

// keep keeps all lines whose bases have taken in what was before a moment, a full hour. It is false when that has to be
// tried again in a moment.
func (o *owner) keep(at int64) (bool, error) {
	var lines []*line
	for _, l := range o.lines {
		if l.late == 0 && l.reached(at) { // one that is to be computed again from far back goes on meanwhile
			lines = append(lines, l)
		}
	}
	for batch := range slices.Chunk(lines, keepBatch) {
		err := o.keepLines(batch, at)
		if errors.Is(err, errNotNow) {
			return false, nil
		}
		if err == nil {
			continue
		}
		if o.f.cfg.Store.Writable() != nil {
			return false, err
		}
		for _, l := range batch { // one that cannot be must not be in the way of the others
			switch err := o.keepLines([]*line{l}, at); {
			case errors.Is(err, errNotNow):
				return false, nil
			case err != nil:
				o.trouble("what came of the last hour at the station "+l.code+" is not kept; it is computed again", err)
				l.mu.Lock()
				l.goBack(l.through)
				l.retry = at + hour
				l.mu.Unlock()
			}
		}
	}
	return true, nil
}

// keepLines keeps some lines in one transaction, as they were at a full hour.
func (o *owner) keepLines(batch []*line, at int64) error {
	return o.keepAs(batch, at, func(*line) int64 { return at })
}

// keepAs keeps some lines in one transaction, each as it was at a moment of its own, up to the moment until.
func (o *owner) keepAs(batch []*line, until int64, at func(l *line) int64) error {
	through := make([]int64, len(batch))
	err := o.f.cfg.Store.Update(func(tx *kv.Tx) error {
		told, err := o.f.cfg.Signals.Settle(tx, o.account, until)
		if err != nil {
			return err
		}
		if !told || o.arrivals.waiting("", until) {
			return errNotNow
		}
		for i, l := range batch {
			if through[i], err = o.keepLine(tx, l, at(l)); err != nil {
				return err
			}
			if l.deep != 0 || l.anew != nil || l.gap != 0 {
				continue // the marks stand for what the line does not know
			}
			if err := unmark(tx, o.account, l.code); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, l := range batch {
		l.mu.Lock()
		l.through = through[i]
		events := l.settled.Events // which rules are still to be told of
		l.settled = l.settled.from(l.through)
		l.settled.Segments = slices.Clone(l.settled.Segments) // what is kept is to be forgotten
		l.settled.Events = events
		l.hour, l.taken = nil, 0
		l.forgetTold(o.f.now())
		l.version++
		l.mu.Unlock()
	}
	return nil
}

// reached tells whether the line's base can be kept as it was at a full hour.
func (l *line) reached(at int64) bool { return l.baseAt == at || l.hour != nil && l.hour.at == at }

// keepLine keeps what a line's base gave out, and the base; it gives the moment up to which that is.
func (o *owner) keepLine(tx *kv.Tx, l *line, at int64) (int64, error) {
	base, settled := l.base, l.settled
	if l.baseAt != at {
		base, settled = l.hour.base, l.hour.settled
	}
	v := base.View(at)
	from, to := l.through, max(l.through, min(v.Final, at)/minute*minute)
	out := settled.clone()
	out.add(v.Outputs)
	if err := o.f.cfg.History.Replace(tx, o.account, l.code, from, to, out.Outputs); err != nil {
		return 0, err
	}
	if err := o.f.cfg.History.PutState(tx, o.account, l.code, at, base.Encode()); err != nil {
		return 0, err
	}
	return to, o.sums(tx, o.timeline, l.code, l.code, from, to)
}

// sums makes the kept sums of a station's UTC days that have time in [from, to) anew. place is its code, or what is beside it.
func (o *owner) sums(tx *kv.Tx, t *station.Timeline, code, place string, from, to int64) error {
	for d := history.Day(from); d*day < to; d++ {
		kept, through, err := o.f.cfg.History.Detail(tx, o.account, place, d*day, (d+1)*day)
		if err != nil {
			return err
		}
		if through <= d*day || len(kept.Segments) == 0 {
			continue
		}
		findings, err := o.f.cfg.Findings(tx, o.account, code, withOpen(kept.Issues, kept.Segments))
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
		if err := o.f.cfg.History.ReplaceRows(tx, o.account, place, last.Calendar, d, rows, used); err != nil {
			return err
		}
	}
	return nil
}

// withOpen adds to the issues that are kept those that have time in the segments and go on: they are kept when they end.
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

// collect adds segments and minutes of [from, to) up by hour or minute, shift and SKU, and energy by the hour, each by the rules of its time.
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
	// A change in the middle of a minute counts from the next one on for the sums; the engine knows it to the millisecond.
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
