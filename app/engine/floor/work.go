package floor

import (
	"errors"
	"fmt"
	"slices"

	"opsmon/app/audit"
	"opsmon/app/deliver/event"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/kv"
)

// Work is what happens in one transaction of a worker. It must not be kept.
type Work struct {
	Tx      *kv.Tx
	Account string
	Now     int64       // ms, the same all through
	By      audit.Actor // who does it, for the ledger; whoever calls Do may set it, rules are the appliance itself
	Dry     bool        // nothing may be put: Try

	worker *worker
	inputs []placed
	backTo map[string]int64 // stations that are to be computed again, and from when
	later  map[string]int64 // the same, for when there is time
	sums   map[string]int64 // stations whose sums are to be made again, and from when
	events []event.Event
	after  []func()
	past   map[lookBack]looked
}

// placed is an input and its station.
type placed struct {
	station string
	in      monitor.Input
}

// Do runs fn as the worker of an account, in one transaction: what it puts and records is stored together or not at
// all. What happens by itself until now comes first: who acts between a schedule's end and the second in which that
// would be noted meets the end. After the commit the stations take the recorded inputs in, and watchers are told. fn
// may run more than once, so it must have no effect but through the Work; it must not call Do. Errors: fn's, the
// store's; one that is Unavailable while the stations are being read after a start.
func (f *Floor) Do(accountID string, fn func(w *Work) error) error {
	return f.work(accountID, func(wk *worker) error { return wk.update(fn) })
}

// Try is Do of a fn that only checks what it would do: its Work is Dry, and in a transaction that nothing can be put
// in. It costs no sync.
func (f *Floor) Try(accountID string, fn func(w *Work) error) error {
	return f.work(accountID, func(wk *worker) error {
		_, err := wk.attempt(wk.f.cfg.Store.View, func(w *Work) error {
			w.Dry = true
			return fn(w)
		})
		return err
	})
}

// work runs fn on the goroutine of an account's worker, when what happens by itself until now is done.
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
		wk.happened(now)
		wk.fallDue(now)
		failed = fn(wk)
	}); err != nil {
		return err
	}
	return failed
}

// attempt runs fn in a transaction, once more when it has to know of the past first.
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

// resum makes the sums again that changed with findings, in the transaction.
func (w *Work) resum() error {
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
			if err := markLate(w.Tx, wk.account, code, from); err != nil {
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
		return w.resum()
	})
	if err != nil {
		return err
	}
	wk.takeIn(w)
	wk.backfillNow(w)
	wk.tell(w)
	return nil
}

// takeIn has the stations take in what a Work recorded and changed, after the commit.
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
	for code := range w.later { // people wait for it, unlike for what a device sends too late
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

// backfillNow computes the stations again that a Work made late, where that is soon done: whoever did it sees what came
// of it.
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
			wk.trouble("a station cannot be computed again; it is tried again", err)
		}
	}
}

// tell does what is to be done after a Work, and tells watchers of it.
func (wk *worker) tell(w *Work) {
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

// Record adds an input to the ledger. It may lie in the past: then the station is computed again from there. It gives
// the number by which, with its moment, Cancel takes it back; a Dry Work records nothing. errdefs.NotFound when there
// is no such station.
func (w *Work) Record(stationCode string, in monitor.Input) (number uint64, err error) {
	if w.worker.trackers[stationCode] == nil {
		return 0, errdefs.New(errdefs.NotFound, "there is no station with this code")
	}
	if w.Dry {
		return 0, nil
	}
	r, err := newRecord(&in, w.Now, w.By)
	if err != nil {
		return 0, err
	}
	if number, err = ledger.Next(w.Tx); err != nil {
		return 0, err
	}
	if err := ledger.Put(w.Tx, ledgerKey(w.Account, stationCode, in.At, number), r); err != nil {
		return 0, fmt.Errorf("record at %s: %w", stationCode, err)
	}
	if err := w.lateFrom(stationCode, in.At); err != nil {
		return 0, err
	}
	w.inputs = append(w.inputs, placed{stationCode, in})
	for _, rule := range w.worker.f.rules {
		if err := rule.Recorded(w, stationCode, in); err != nil {
			return 0, err
		}
	}
	return number, nil
}

// Cancel takes back the record of a moment, ms, and number: it stays in the ledger, and no longer counts.
// errdefs.NotFound.
func (w *Work) Cancel(stationCode string, at int64, number uint64) error {
	k := ledgerKey(w.Account, stationCode, at, number)
	r, err := ledger.Get(w.Tx, k)
	if errors.Is(err, kv.ErrNotFound) {
		return errNoRecord
	}
	if err != nil || r.Cancelled != 0 {
		return err
	}
	r.Cancelled = w.Now
	if err := ledger.Put(w.Tx, k, r); err != nil {
		return err
	}
	w.back(stationCode, at)
	if err := markLate(w.Tx, w.Account, stationCode, at); err != nil {
		return err
	}
	for _, rule := range w.worker.f.rules {
		if err := rule.Cancelled(w, stationCode, r.input(at)); err != nil {
			return err
		}
	}
	return nil
}

// lateFrom marks a station in the transaction when what is recorded lies before what is kept of it.
func (w *Work) lateFrom(code string, at int64) error {
	tr := w.worker.trackers[code]
	tr.mu.Lock()
	late := at < tr.watermark
	tr.mu.Unlock()
	if !late {
		return nil
	}
	return markLate(w.Tx, w.Account, code, at)
}

func (w *Work) back(code string, at int64) {
	if old, ok := w.backTo[code]; !ok || at < old {
		w.backTo[code] = at
	}
}

// View shows a station now, without its outputs. errdefs.NotFound.
func (w *Work) View(stationCode string) (monitor.View, error) {
	tr := w.worker.trackers[stationCode]
	if tr == nil {
		return monitor.View{}, errdefs.New(errdefs.NotFound, "there is no station with this code")
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.view(w.Now)
}

// ViewAt shows a station as it was at a moment, ms, with all that is known of it now. It may compute for a while when
// the moment is long ago. errdefs.NotFound.
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

// Detail returns what is known of a station in [from, to), ms, whole minutes, before what this transaction does.
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

// looked is what a lookBack found.
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

func (lookBack) Error() string { return "the past of a station is to be looked at first" }

// Changed says that findings about a station's stops changed from a moment on, ms: its sums are made again.
func (w *Work) Changed(stationCode string, from int64) {
	if old, ok := w.sums[stationCode]; !ok || from < old {
		w.sums[stationCode] = from
	}
}

// Publish has an event told after the commit.
func (w *Work) Publish(e event.Event) {
	if e.At == 0 {
		e.At = w.Now
	}
	w.events = append(w.events, e)
}

// After has something done after the commit, on the worker's goroutine. It must not wait.
func (w *Work) After(fn func()) { w.after = append(w.after, fn) }
