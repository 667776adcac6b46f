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
	// deepAfter is how far back a line is computed again at once, ms. Beyond that it is in pieces.
	deepAfter = 2 * day
	// turnDays and turnTime bound what is computed in pieces before other work of the owner has its turn, of which there is one
	// a second. Days with few signals take a millisecond or two, so that it is the time that bounds most turns.
	turnDays = 128
	turnTime = 300 * time.Millisecond
)

// seldom is how long a line rests that was computed again, ms, when it is so far behind once more: what comes late meanwhile is
// taken in together. A device whose clock is a day behind costs its station a day's computing each minute, one of a week
// each hour.
func seldom(behind int64) int64 {
	days := float64(behind) / day
	if rest := int64(min(days*days*minute, hour)); rest >= 1000 {
		return rest
	}
	return 0 // it is looked at once a second
}

// rested tells whether a line that was last computed at a moment (0: never) may be so once more.
func rested(last, behind, now int64) bool {
	return last == 0 || now < last || now-last >= seldom(behind)
}

// reworkRecord notes that a station is being computed again beside what is kept of it. It is stored: a changed field needs a
// migration.
type reworkRecord struct {
	Late   int64           `json:"late"`             // ms: what it was late from; the mark is gone, and this stands for it
	From   int64           `json:"from,omitempty"`   // ms: it was begun from the last state before this
	Since  int64           `json:"since,omitempty"`  // ms: from here on what is kept changes; 0: not begun
	Events []monitor.Event `json:"events,omitempty"` // of schedules that run still, for rules to be told of
}

// rework is the computing of a line in pieces. Its fields but for the record are read anew from what is beside the station
// when base is nil.
type rework struct {
	reworkRecord
	replayed
	through int64 // up to when it is kept beside the station, ms
	missed  int64 // the earliest of what came meanwhile for a time that it has passed, ms; 0: nothing
}

// miss notes that something came late. What is still to be begun, or begun anew, goes back as far.
func (x *rework) miss(at int64) {
	switch {
	case x == nil:
	case x.Since == 0:
		x.Late = earlier(x.Late, at)
	case x.at == 0 || at < max(x.at, x.read): // nothing is known to be kept beside it, or that has passed the moment
		x.missed = earlier(x.missed, at)
	}
}

// recall reads what is noted of a line that was late when the service ended.
func (o *owner) recall(tx *kv.Tx, l *line, now int64) error {
	k := kv.Pair[string, string]{A: o.account, B: l.code}
	switch rec, err := anews.Get(tx, k); {
	case err == nil:
		l.anew = &rework{reworkRecord: rec}
		if l.anew.at, err = o.f.cfg.History.Through(tx, o.account, history.Beside(l.code)); err != nil {
			return err
		}
	case !errors.Is(err, kv.ErrNotFound):
		return err
	}
	note := func(at int64) {
		l.anew.miss(at)
		if now-at > deepAfter {
			l.deep = earlier(l.deep, max(at, 1))
		} else {
			l.late = earlier(l.late, max(at, 1))
		}
	}
	if at, ok, err := signal.Late(tx, o.account, l.code); err != nil {
		return err
	} else if ok {
		note(at)
	}
	if at, ok, err := o.f.cfg.History.Lost(tx, o.account, l.code); err != nil {
		return err
	} else if ok {
		note(at)
		l.lost = true
	}
	switch at, err := lates.Get(tx, k); {
	case err == nil:
		note(at)
		l.entered = now-at <= deepAfter
	case !errors.Is(err, kv.ErrNotFound):
		return err
	}
	return nil
}

// tooFar tells whether a late line would have to be computed again from very far back, and has it done in pieces then.
func (o *owner) tooFar(t *station.Timeline, l *line, now int64) bool {
	from := l.late
	if now-from <= lateBatch {
		var err error
		if from, err = o.settledBefore(t, l.code, l.late, now); err != nil {
			return false // which is told when it is computed
		}
	}
	if now-from <= lateBatch {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deep, l.late = earlier(l.deep, l.late), 0
	return true
}

// deepen computes a line on that is late from far back, for a turn: one that was begun, else the one that is so by least.
func (o *owner) deepen(now int64) {
	var next *line
	for _, l := range o.lines {
		if l.rests(now) || l.anew == nil && (l.deep == 0 || !rested(l.deepAt, now-l.deep, now)) {
			continue
		}
		if next == nil || l.before(next) {
			next = l
		}
	}
	if next == nil {
		return
	}
	started := time.Now()
	for range o.turnDays {
		done, err := o.rework(o.timeline, next, now)
		if err != nil && !o.ends() {
			o.trouble("the station "+next.code+" cannot be computed again; it is tried again", err)
		}
		if done || err != nil || o.since(started) > turnTime {
			return
		}
	}
}

// before tells which of two lines is computed on first.
func (l *line) before(other *line) bool {
	if (l.anew != nil) != (other.anew != nil) {
		return l.anew != nil
	}
	if l.deep != other.deep {
		return l.deep > other.deep
	}
	return l.code < other.code
}

// rework computes a line on by a piece. It is done when it has come up to now, and has taken the place of what was kept.
// After an error it begins anew, when the line has rested.
func (o *owner) rework(t *station.Timeline, l *line, now int64) (done bool, err error) {
	if l.anew == nil {
		err = o.beginAnew(l)
	}
	if err == nil && l.anew.base == nil {
		err = o.resume(t, l, now)
	}
	if err == nil {
		x, until := l.anew, min(now-settleAfter, l.baseAt)
		if end := x.at - x.at%day + day; end+hour <= until {
			err = o.stage(t, l, end, now)
		} else {
			done, err = true, o.finish(t, l, now)
		}
	}
	if errors.Is(err, errNotNow) {
		o.pause(tellingTime) // what was just stored is being told
		return false, nil
	}
	if err != nil && !o.ends() {
		l.mu.Lock()
		l.retry = now + max(retryAfter, seldom(now-l.behind()))
		if l.anew != nil {
			l.anew.replayed, l.anew.Since = replayed{}, 0
		}
		l.mu.Unlock()
	}
	return done && err == nil, err
}

// beginAnew notes that a line is being computed again, in the place of its marks: what is stored from then on makes new ones.
func (o *owner) beginAnew(l *line) error {
	var x rework
	err := o.f.cfg.Store.Update(func(tx *kv.Tx) error {
		if all, err := o.f.cfg.Signals.AllTold(tx); err != nil {
			return err
		} else if !all {
			return errNotNow
		}
		x = rework{reworkRecord: reworkRecord{Late: l.deep}}
		k := kv.Pair[string, string]{A: o.account, B: l.code}
		if at, ok, err := signal.Late(tx, o.account, l.code); err != nil {
			return err
		} else if ok {
			x.Late = earlier(x.Late, max(at, 1))
		}
		if at, err := lates.Get(tx, k); err == nil {
			x.Late = earlier(x.Late, max(at, 1))
		} else if !errors.Is(err, kv.ErrNotFound) {
			return err
		}
		if err := unmark(tx, o.account, l.code); err != nil {
			return err
		}
		return anews.Put(tx, k, x.reworkRecord)
	})
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.anew, l.deep = &x, 0
	l.mu.Unlock()
	return nil
}

// resume finds the state to compute on from: the last that is kept beside the station, else the one to begin with.
func (o *owner) resume(t *station.Timeline, l *line, now int64) (err error) {
	x, place := l.anew, history.Beside(l.code)
	if x.Since == 0 {
		if err := o.f.cfg.Store.Update(func(tx *kv.Tx) error { return o.f.cfg.History.Forget(tx, o.account, place, 0) }); err != nil {
			return err
		}
		x.Events = nil
		if x.From, err = o.settledBefore(t, l.code, x.Late, now); err != nil {
			return err
		}
		if x.base, x.at, err = o.stateBefore(t, l.code, x.From, now); err != nil {
			return err
		}
		x.Since = o.changesFrom(l, max(x.From, x.at), now)
		x.through = x.Since
		return nil
	}
	if err := o.f.cfg.Store.View(func(tx *kv.Tx) (err error) {
		x.through, err = o.f.cfg.History.Through(tx, o.account, place)
		return err
	}); err != nil {
		return err
	}
	x.through = max(x.through, x.Since)
	if x.base, x.at, err = o.keptBefore(t, l.code, place, x.through); err == nil && x.base == nil {
		x.base, x.at, err = o.stateBefore(t, l.code, x.From, now)
	}
	return err
}

// stage computes a line on up to a moment, the end of a UTC day, and keeps what comes of it beside the station.
func (o *owner) stage(t *station.Timeline, l *line, end, now int64) error {
	x, place := l.anew, history.Beside(l.code)
	defer o.occupy(l)()
	for at := x.at; at < end; {
		list, until, err := o.gatherNew(t, l.code, at, end, x.Since)
		for i := range list {
			if err == nil {
				err = x.one(&list[i], now)
			}
		}
		if err != nil {
			return err
		}
		x.absorb()
		if at, x.read = until, until; at < end {
			o.breathe()
		}
	}
	x.keepTo(end, now)
	a := &anew{line: l, since: x.Since, replayed: x.replayed}
	a.at = end
	v := a.complete(x.through)
	rec := x.reworkRecord
	rec.Events = slices.DeleteFunc(slices.Concat(rec.Events, x.out.Events), func(e monitor.Event) bool {
		return !slices.ContainsFunc(v.Running, func(r monitor.RunningNow) bool { return r.ID == e.Schedule })
	})
	err := o.once(func(tx *kv.Tx, must bool) error {
		if err := o.reach(tx, []*anew{a}, must); err != nil {
			return err
		}
		if err := o.f.cfg.History.Replace(tx, o.account, place, x.through, a.until, a.all.Outputs); err != nil {
			return err
		}
		if err := o.putStates(tx, place, x.states, x.Since); err != nil {
			return err
		}
		// Those of a first day that is not whole are made when all is in its place.
		if err := o.sums(tx, t, l.code, place, max(x.through, (x.Since+day-1)/day*day), a.until); err != nil {
			return err
		}
		return anews.Put(tx, kv.Pair[string, string]{A: o.account, B: l.code}, rec)
	})
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	x.at, x.through, x.reworkRecord, x.states = end, a.until, rec, nil
	x.out = x.out.from(a.until)
	x.out.Events = nil
	if a.unsure != 0 {
		l.goBack(a.unsure)
	}
	return nil
}

// finish computes a line up to now, and puts what is beside the station in the place of what was kept.
func (o *owner) finish(t *station.Timeline, l *line, now int64) (err error) {
	x, code := l.anew, l.code
	defer o.occupy(l)()
	a := &anew{line: l, since: x.Since}
	if a.replayed, err = o.replayFrom(t, code, x.base.Clone(), x.at, x.Since, now); err != nil {
		return err
	}
	if l.spoilt() {
		return errNotNow
	}
	all := x.out.clone()
	all.add(a.out.Outputs)
	all.Events = slices.Concat(x.Events, all.Events)
	a.out = all
	a.complete(x.through)
	err = o.once(func(tx *kv.Tx, must bool) error {
		if err := o.reach(tx, []*anew{a}, must); err != nil {
			return err
		}
		if err := o.f.cfg.History.Adopt(tx, o.account, code, x.Since); err != nil {
			return err
		}
		if err := o.f.cfg.History.Replace(tx, o.account, code, x.through, a.until, a.all.Outputs); err != nil {
			return err
		}
		if err := o.putStates(tx, code, a.states, x.Since); err != nil {
			return err
		}
		if err := o.sums(tx, t, code, code, x.Since, min(x.Since+1, a.until)); err != nil {
			return err
		}
		if err := o.sums(tx, t, code, code, x.through, a.until); err != nil {
			return err
		}
		if err := o.f.cfg.History.Regained(tx, o.account, code, x.Late); err != nil {
			return err
		}
		if err := anews.Delete(tx, kv.Pair[string, string]{A: o.account, B: code}); err != nil || x.missed != 0 {
			return err
		}
		return o.accounted(tx, code, a.at)
	})
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.take(a, now)
	l.deepAt, l.anew, l.late, l.deep = now, nil, 0, 0
	for _, at := range []int64{x.missed, a.unsure} {
		if at != 0 {
			l.goBack(at)
		}
	}
	o.computed.Add(1)
	return nil
}

// abandon gives up what is being computed of a line, in a transaction: it is late once more.
func (o *owner) abandon(tx *kv.Tx, l *line) error {
	if l.anew == nil {
		return nil
	}
	if err := o.f.cfg.History.Forget(tx, o.account, history.Beside(l.code), 0); err != nil {
		return err
	}
	if err := markLate(tx, o.account, l.code, l.anew.Late); err != nil {
		return err
	}
	return anews.Delete(tx, kv.Pair[string, string]{A: o.account, B: l.code})
}
