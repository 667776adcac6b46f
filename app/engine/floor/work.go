package floor

import (
	"errors"
	"slices"

	"opsmon/app/audit"
	"opsmon/app/deliver/event"
	"opsmon/app/engine/ledger"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/kv"
)

// Work is one transaction of a worker. It must not be used afterwards.
type Work struct {
	Tx      *kv.Tx
	Account string
	Now     int64       // ms, the same all through
	By      audit.Actor // who does it, for the ledger; whoever calls Do may set it, rules are the appliance itself
	Dry     bool        // nothing may be put: Try

	worker *worker
	inputs []placedInput
	backTo map[string]int64 // stations to recompute at once, and from when
	later  map[string]int64 // stations to recompute when there is time
	sums   map[string]int64 // stations whose sums must be recomputed, and from when
	events []event.Event
	after  []func()
	past   map[lookBack]looked
}

// placedInput is an input and its station.
type placedInput struct {
	station string
	in      monitor.Input
}

// Do runs fn on the goroutine of an account's worker, in one transaction. Everything that is due by now is processed
// first: a person who acts between the end of a schedule and the second in which it would be processed sees it ended.
// After the commit the stations process the recorded inputs, and subscribers are notified. fn may run more than once,
// so it must have no effect except through the Work, and it must not call Do. Errors: fn's, the store's; one of kind
// Unavailable while the stations are loading after a start.
func (f *Floor) Do(accountID string, fn func(w *Work) error) error {
	return f.work(accountID, func(wk *worker) error { return wk.update(fn) })
}

// Try runs fn as Do does, in a read-only transaction and with a Dry Work: it only checks what fn would do, without the
// cost of a commit.
func (f *Floor) Try(accountID string, fn func(w *Work) error) error {
	return f.work(accountID, func(wk *worker) error {
		_, err := wk.attempt(wk.f.cfg.Store.View, func(w *Work) error {
			w.Dry = true
			return fn(w)
		})
		return err
	})
}

// work runs fn on the goroutine of an account's worker, after everything that is due by now.
func (f *Floor) work(accountID string, fn func(wk *worker) error) error {
	wk, err := f.worker(accountID)
	if err != nil {
		return err
	}
	var failed error
	if err := wk.do(func() {
		wk.takeArrivals()
		now := wk.f.now()
		wk.follow(now)
		wk.notifyRules(now)
		wk.fallDue(now)
		failed = fn(wk)
	}); err != nil {
		return err
	}
	return failed
}

// attempt runs fn in a transaction, and again after computing the past that fn asked for.
func (wk *worker) attempt(transact func(func(tx *kv.Tx) error) error, fn func(w *Work) error) (w *Work, err error) {
	now, past := wk.f.now(), map[lookBack]looked{}
	for {
		err = transact(func(tx *kv.Tx) error {
			w = &Work{Tx: tx, Account: wk.account, Now: now, worker: wk, By: audit.Actor{Credential: "system"}, backTo: map[string]int64{}, later: map[string]int64{}, sums: map[string]int64{}, past: past}
			return fn(w)
		})
		var k lookBack
		if err == nil || !errors.As(err, &k) {
			return w, err
		}
		if _, again := past[k]; again {
			return w, err
		}
		if past[k], err = wk.lookBack(k); err != nil {
			return w, err
		}
	}
}

// updateSums recomputes the sums that changed with findings, in the transaction.
func (w *Work) updateSums() error {
	wk := w.worker
	for code, from := range w.sums {
		tr := wk.trackers[code]
		if tr == nil || from >= tr.through {
			continue
		}
		if err := wk.sums(w.Tx, wk.timeline, code, code, from, tr.through); err != nil {
			return err
		}
		if tr.backfill.run != nil { // which knows nothing of it
			if err := ledger.MarkLate(w.Tx, wk.account, code, from); err != nil {
				return err
			}
		}
	}
	return nil
}

// update is Do on the worker's goroutine.
func (wk *worker) update(fn func(w *Work) error) error {
	w, err := wk.attempt(wk.f.cfg.Store.Update, func(w *Work) error {
		if err := fn(w); err != nil {
			return err
		}
		return w.updateSums()
	})
	if err != nil {
		return err
	}
	wk.takeIn(w)
	wk.backfillNow(w)
	wk.publish(w)
	return nil
}

// takeIn passes the inputs and changes of a committed Work to the stations.
func (wk *worker) takeIn(w *Work) {
	for _, p := range w.inputs {
		tr := wk.trackers[p.station]
		tr.mu.Lock()
		tr.feed(p.in)
		tr.mu.Unlock()
	}
	for _, back := range []map[string]int64{w.backTo, w.later} {
		for code, at := range back {
			tr := wk.trackers[code]
			tr.mu.Lock()
			tr.markLate(at)
			tr.mu.Unlock()
		}
	}
	for code := range w.later { // people wait for it, unlike for late signals
		tr := wk.trackers[code]
		tr.mu.Lock()
		tr.backfill.near.done, tr.backfill.far.done = 0, 0
		tr.mu.Unlock()
	}
	for code := range w.sums {
		if tr := wk.trackers[code]; tr != nil {
			tr.mu.Lock()
			tr.version++
			tr.touched = true // its cause is shown
			tr.backfill.run.miss(w.sums[code])
			tr.mu.Unlock()
		}
	}
}

// backfillNow recomputes the stations that a Work made late, if that is quick, so that its author sees the result.
func (wk *worker) backfillNow(w *Work) {
	now := w.Now
	var late []*tracker
	for _, p := range w.inputs {
		if tr := wk.trackers[p.station]; tr.backfill.near.from != 0 && !tr.backfill.busy && !slices.Contains(late, tr) && !wk.tooFar(wk.timeline, tr, now) {
			late = append(late, tr)
		}
	}
	for code := range w.backTo {
		if tr := wk.trackers[code]; tr.backfill.near.from != 0 && !tr.backfill.busy && !slices.Contains(late, tr) && !wk.tooFar(wk.timeline, tr, now) {
			late = append(late, tr)
		}
	}
	if len(late) > 0 {
		if err := wk.backfillNear(wk.timeline, now, late...); err != nil {
			wk.logError("a station cannot be recomputed; retrying", err)
		}
	}
}

// publish runs the functions and publishes the events and statuses of a committed Work.
func (wk *worker) publish(w *Work) {
	for _, fn := range w.after {
		fn()
	}
	for _, p := range w.inputs {
		wk.show(wk.trackers[p.station], w.Now)
	}
	for code := range w.sums {
		if tr := wk.trackers[code]; tr != nil {
			wk.show(tr, w.Now)
		}
	}
	for _, e := range w.events {
		wk.f.cfg.Events.Publish(wk.account, e)
	}
}

// Station returns a station with the configuration in force now. errdefs.NotFound.
func (w *Work) Station(code string) (*station.Station, error) {
	if s := w.worker.plan().Of(code); s != nil {
		return s, nil
	}
	return nil, errdefs.New(errdefs.NotFound, "there is no station with this code")
}

// StationAt returns a station with the configuration in force at a moment, ms. errdefs.NotFound.
func (w *Work) StationAt(code string, at int64) (*station.Station, error) {
	if _, err := w.Station(code); err != nil {
		return nil, err
	}
	s, err := w.worker.timeline.StationAt(code, at)
	if s == nil && err == nil { // it was not there yet: as it is now
		return w.Station(code)
	}
	return s, err
}

// Plan returns the configuration of all stations that is in force now. It is not to be changed.
func (w *Work) Plan() *station.Plan { return w.worker.plan() }

// Record adds an input to the ledger. If it lies in the past, the station is recomputed from there. It returns the
// number with which Cancel takes it back; a Dry Work records nothing. errdefs.NotFound if there is no such station.
func (w *Work) Record(stationCode string, in monitor.Input) (number uint64, err error) {
	if w.worker.trackers[stationCode] == nil {
		return 0, errdefs.New(errdefs.NotFound, "there is no station with this code")
	}
	if w.Dry {
		return 0, nil
	}
	if number, err = ledger.Add(w.Tx, w.Account, stationCode, &in, w.Now, w.By); err != nil {
		return 0, err
	}
	if err := w.markIfLate(stationCode, in.At); err != nil {
		return 0, err
	}
	w.inputs = append(w.inputs, placedInput{stationCode, in})
	for _, rule := range w.worker.f.rules {
		if err := rule.Recorded(w, stationCode, in); err != nil {
			return 0, err
		}
	}
	return number, nil
}

// Cancel marks the record of a moment, in ms, and number as cancelled: it stays in the ledger and no longer counts.
// errdefs.NotFound.
func (w *Work) Cancel(stationCode string, at int64, number uint64) error {
	in, cancelled, err := ledger.Cancel(w.Tx, w.Account, stationCode, at, number, w.Now)
	if err != nil || !cancelled {
		return err
	}
	w.backfillFrom(stationCode, at)
	if err := ledger.MarkLate(w.Tx, w.Account, stationCode, at); err != nil {
		return err
	}
	for _, rule := range w.worker.f.rules {
		if err := rule.Cancelled(w, stationCode, in); err != nil {
			return err
		}
	}
	return nil
}

// markIfLate marks a station late in the transaction if an input lies before its stored results.
func (w *Work) markIfLate(code string, at int64) error {
	tr := w.worker.trackers[code]
	tr.mu.Lock()
	late := at < tr.watermark
	tr.mu.Unlock()
	if !late {
		return nil
	}
	return ledger.MarkLate(w.Tx, w.Account, code, at)
}

func (w *Work) backfillFrom(code string, at int64) {
	if old, ok := w.backTo[code]; !ok || at < old {
		w.backTo[code] = at
	}
}

// View returns the current view of a station, without outputs. errdefs.NotFound.
func (w *Work) View(stationCode string) (monitor.View, error) {
	tr := w.worker.trackers[stationCode]
	if tr == nil {
		return monitor.View{}, errdefs.New(errdefs.NotFound, "there is no station with this code")
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.view(w.Now)
}

// ViewAt returns the view of a station at a moment, in ms, with all that is known now. It may take a while for a moment
// long ago. errdefs.NotFound.
func (w *Work) ViewAt(stationCode string, at int64) (monitor.View, error) {
	tr := w.worker.trackers[stationCode]
	if tr == nil {
		return monitor.View{}, errdefs.New(errdefs.NotFound, "there is no station with this code")
	}
	if at >= w.Now {
		return w.View(stationCode)
	}
	k := lookBack{station: stationCode, at: at}
	if v, ok := w.past[k]; ok {
		return v.view, nil
	}
	return monitor.View{}, k
}

// Detail returns the history of a station in [from, to), ms, whole minutes, without the effects of this transaction.
// errdefs.NotFound.
func (w *Work) Detail(stationCode string, from, to int64) (*Detail, error) {
	if w.worker.trackers[stationCode] == nil {
		return nil, errdefs.New(errdefs.NotFound, "there is no station with this code")
	}
	k := lookBack{stationCode, from, to}
	if v, ok := w.past[k]; ok {
		return v.detail, nil
	}
	return nil, k
}

// lookBack asks for a view of the past, or for what is known of a range up to to. Making it reads the log, which cannot
// be done inside a transaction: so the transaction is given up with it as its error, and run once more when it is
// there.
type lookBack struct {
	station string
	at, to  int64 // ms; to is 0 for a view
}

// looked is the result of a lookBack.
type looked struct {
	view   monitor.View
	detail *Detail
}

func (wk *worker) lookBack(k lookBack) (found looked, err error) {
	if k.to == 0 {
		found.view, err = wk.viewAt(wk.trackers[k.station], k.at)
	} else {
		found.detail, err = wk.detail(wk.timeline, wk.trackers[k.station], nil, k.at, k.to)
	}
	return found, err
}

func (lookBack) Error() string { return "the past of a station must be computed first" }

// Changed notes that findings about a station's stops changed from a moment on, in ms; its sums are recomputed.
func (w *Work) Changed(stationCode string, from int64) {
	if old, ok := w.sums[stationCode]; !ok || from < old {
		w.sums[stationCode] = from
	}
}

// Publish publishes an event after the commit.
func (w *Work) Publish(e event.Event) {
	if e.At == 0 {
		e.At = w.Now
	}
	w.events = append(w.events, e)
}

// After runs fn on the worker's goroutine after the commit. fn must not block.
func (w *Work) After(fn func()) { w.after = append(w.after, fn) }
