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

// catchUp computes late lines again, for as long as other work can wait.
func (o *owner) catchUp(now int64) {
	started := time.Now()
	o.breathes = true
	defer func() { o.breathes = false }()
	if now < o.rest && o.rest-now < minute {
		return
	}
	var late []*line
	for _, l := range o.lines {
		if l.late != 0 && !l.rests(now) && rested(l.redone, now-l.late, now) && !o.tooFar(o.timeline, l, now) {
			late = append(late, l)
		}
	}
	for batch := range lateBatches(late, now) {
		o.tryAgain(o.timeline, now, batch)
		if o.since(started) > time.Second || o.ends() {
			break
		}
	}
	o.deepen(now)
	if took := o.since(started); took > 10*time.Millisecond {
		o.rest = now + took.Milliseconds()
	}
}

// lateBatch is how much time of stations is computed again at once, ms: it bounds the memory that takes, and how long the
// owner does nothing else. A single station may have more.
const lateBatch = 16 * day

// retryAfter is how long a line rests that could not be computed, ms.
const retryAfter = 5 * minute

// tryAgain computes lines again. One that cannot be is not in the way of the others, and rests for a while.
func (o *owner) tryAgain(t *station.Timeline, now int64, lines []*line) {
	if len(lines) > 1 && o.again(t, now, lines...) == nil {
		return
	}
	for _, l := range lines {
		if err := o.again(t, now, l); err != nil {
			o.failed(l, now, err)
		}
	}
}

// rests tells whether a line that could not be computed is not tried again yet. A clock that went back by more is no reason.
func (l *line) rests(now int64) bool { return now < l.retry && now >= l.retry-hour }

// failed notes that a line could not be computed again.
func (o *owner) failed(l *line, now int64, err error) {
	if o.ends() {
		return
	}
	o.trouble("the station "+l.code+" cannot be computed again; it is tried again", err)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.retry = now + retryAfter
}

// first computes the lines again that cannot be served before: people have been told that what they entered is there.
func (o *owner) first(t *station.Timeline, now int64, lines []*line) error {
	var late []*line
	for _, l := range lines {
		if l.late != 0 && !o.tooFar(t, l, now) {
			late = append(late, l)
		}
	}
	for batch := range lateBatches(late, now) {
		if o.ends() {
			return errClosed
		}
		o.tryAgain(t, now, batch)
	}
	return nil
}

// blank is the line of a station of which nothing that is kept can be read: it starts anew, and is computed when it can be, with
// all that is noted of it.
func (o *owner) blank(t *station.Timeline, noted *line, now int64) (*line, error) {
	s, err := t.RulesAt(noted.code, now)
	if err != nil {
		return nil, err
	}
	at := now - settleAfter
	at -= at % minute
	return &line{
		code: noted.code, touched: true, base: monitor.New(s.Monitor, at), baseAt: at, late: earlier(noted.late, max(at, 1)), retry: now + retryAfter, through: at,
		deep: noted.deep, anew: noted.anew, lost: noted.lost, entered: noted.entered,
	}, nil
}

// lateBatches gives lines that are late in batches to be computed again together, those that are late by little first: a
// correction of last year does not hold them up.
func lateBatches(late []*line, now int64) iter.Seq[[]*line] {
	slices.SortFunc(late, func(a, b *line) int { return cmp.Or(cmp.Compare(b.late, a.late), cmp.Compare(a.code, b.code)) })
	return func(yield func([]*line) bool) {
		for len(late) > 0 {
			n, long := 1, now-late[0].late
			for n < min(len(late), keepBatch) && long+now-late[n].late <= lateBatch {
				long += now - late[n].late
				n++
			}
			if !yield(late[:n]) {
				return
			}
			late = late[n:]
		}
	}
}

// anew is a line computed again, before that is kept.
type anew struct {
	line         *line
	late         int64 // what it was late from
	since, until int64 // what changes, and up to when that is final
	unsure       int64 // what is kept may lack a signal of this time or later, ms; 0: it does not
	replayed
	all outputs // with what lies beyond the base's own
}

// again computes lines anew from the moment on at which something came late, and keeps what comes of it: in one transaction,
// so that a plant whose network was away costs few syncs.
func (o *owner) again(t *station.Timeline, now int64, lines ...*line) error {
	list := make([]*anew, 0, len(lines))
	defer o.occupy(lines...)()
	for _, l := range lines {
		a, err := o.computeAgain(t, l, now)
		if err != nil {
			return err
		}
		list = append(list, a)
	}
	if list = slices.DeleteFunc(list, func(a *anew) bool { return a.line.spoilt() }); len(list) == 0 {
		return nil // they are late still
	}
	if err := o.once(func(tx *kv.Tx, must bool) error { return o.keepAll(tx, t, list, must) }); err != nil {
		return err
	}
	for _, a := range list {
		a.line.mu.Lock()
		a.line.take(a, now)
		if a.line.late == a.late {
			a.line.late = 0
		}
		if a.unsure != 0 {
			a.line.goBack(a.unsure)
		}
		a.line.mu.Unlock()
	}
	o.computed.Add(int64(len(list)))
	return nil
}

// computeAgain computes a line from the moment on at which something came late. A panic is an error of that line.
func (o *owner) computeAgain(t *station.Timeline, l *line, now int64) (a *anew, err error) {
	defer recovered(&err)
	l.mu.Lock()
	a = &anew{line: l, late: l.late}
	l.mu.Unlock()
	from, err := o.settledBefore(t, l.code, a.late, now)
	if err != nil {
		return nil, err
	}
	if a.replayed, err = o.replay(t, l.code, from, now); err != nil {
		return nil, err
	}
	a.since = o.changesFrom(l, max(from, a.from), now)
	a.complete(a.since)
	return a, nil
}

// changesFrom gives the moment from which on what is kept of a line is replaced, when it is computed again from one on: what
// is kept of a time whose signals are gone cannot be computed again, and stays as it is.
func (o *owner) changesFrom(l *line, from, now int64) int64 {
	if oldest := o.oldest(now); from < oldest && l.through > from {
		return min(oldest, l.through)
	}
	return from
}

// complete finds what of a line computed again is final, when it was so up to a moment before. It shows the line as it is
// then.
func (a *anew) complete(through int64) monitor.View {
	v := a.base.View(a.at)
	a.until = max(through, min(v.Final, a.at)/minute*minute)
	a.all = a.out.clone()
	a.all.add(v.Outputs)
	return v
}

// take makes the line what was computed again and kept. The caller holds mu.
func (l *line) take(a *anew, now int64) {
	l.base, l.baseAt, l.pending, l.live, l.points, l.hour = a.base, a.at, a.pending, nil, nil, nil
	l.through, l.settled, l.taken = a.until, a.out.from(a.until), 0
	l.settled.Events = a.out.Events // rules have to be told of those that lie further back, too
	l.gap = a.gap
	l.version++
	l.redone, l.touched, l.spoils = now, true, 0
}

// tellingTime is about how long it takes until what was just stored has been told.
const tellingTime = 2 * time.Millisecond

// once runs a transaction that goes well only when all that is stored has been told; the third time it must.
func (o *owner) once(fn func(tx *kv.Tx, must bool) error) error {
	err := errNotNow
	for try := 1; errors.Is(err, errNotNow); try++ {
		err = o.f.cfg.Store.Update(func(tx *kv.Tx) error { return fn(tx, try == 3) })
		if errors.Is(err, errNotNow) {
			o.pause(tellingTime) // what was just stored is being told
		}
	}
	return err
}

// keepAll keeps lines that were computed again, in one transaction. Unless it must, it does so only when the lines could know
// of all that is stored: errNotNow.
func (o *owner) keepAll(tx *kv.Tx, t *station.Timeline, list []*anew, must bool) error {
	if err := o.reach(tx, list, must); err != nil {
		return err
	}
	for _, a := range list {
		if err := o.keepAnew(tx, t, a); err != nil {
			return err
		}
	}
	return nil
}

// reach settles the time up to which lines are about to be kept: from here on a signal of that time marks its station when
// it is stored. A signal that was stored before this transaction, and that no line could know of, marks them now. So one
// that comes while lines go back is not lost with the process that was to take it in.
func (o *owner) reach(tx *kv.Tx, list []*anew, must bool) error {
	until := int64(0)
	for _, a := range list {
		until = max(until, a.until)
	}
	before, all, err := o.f.cfg.Signals.Reach(tx, o.account, until)
	if err != nil {
		return err
	}
	if !all && !must {
		return errNotNow
	}
	for _, a := range list {
		if a.unsure = 0; all && !o.arrivals.waiting(a.line.code, a.until) || before >= a.until {
			continue
		}
		a.unsure = max(before, 1)
		if err := markLate(tx, o.account, a.line.code, a.unsure); err != nil {
			return err
		}
	}
	return nil
}

// keepAnew keeps a line that was computed again.
func (o *owner) keepAnew(tx *kv.Tx, t *station.Timeline, a *anew) error {
	code := a.line.code
	if err := o.f.cfg.History.Replace(tx, o.account, code, a.since, a.until, a.all.Outputs); err != nil {
		return err
	}
	if err := o.putStates(tx, code, a.states, a.since); err != nil {
		return err
	}
	if err := o.sums(tx, t, code, code, a.since, a.until); err != nil {
		return err
	}
	if err := o.f.cfg.History.Regained(tx, o.account, code, a.late); err != nil {
		return err
	}
	if a.line.deep != 0 || a.line.anew != nil {
		return nil // the marks stand for what lies further back, too
	}
	return o.accounted(tx, code, a.at)
}

// putStates keeps the states of a station, or of what is beside it, of later than a moment: what was kept before stays.
func (o *owner) putStates(tx *kv.Tx, place string, list []keptState, since int64) error {
	for _, m := range list {
		if m.at <= since {
			continue
		}
		if err := o.f.cfg.History.PutState(tx, o.account, place, m.at, m.state); err != nil {
			return err
		}
	}
	return nil
}

// accounted takes the marks of a late station away, when everything that is stored and older than the moment given has been
// evaluated.
func (o *owner) accounted(tx *kv.Tx, code string, before int64) error {
	all, err := o.f.cfg.Signals.AllTold(tx)
	if err != nil || !all || o.arrivals.waiting(code, before) {
		return err // the next time, then
	}
	return unmark(tx, o.account, code)
}

// unmark takes the marks of a late station away.
func unmark(tx *kv.Tx, account, code string) error {
	if err := signal.Accounted(tx, account, code); err != nil {
		return err
	}
	if k := (kv.Pair[string, string]{A: account, B: code}); lates.Has(tx, k) {
		return lates.Delete(tx, k)
	}
	return nil
}
