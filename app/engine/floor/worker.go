package floor

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"opsmon/app/account"
	"opsmon/app/engine/ledger"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/app/ingest/signal"
	"opsmon/kv"
)

// worker is the goroutine that alone changes the stations of one account.
type worker struct {
	f       *Floor
	account string
	calls   chan func()
	hints   chan struct{} // there may be something to do
	quit    chan struct{}
	loaded  chan struct{} // closed when the trackers are there
	changed atomic.Bool   // the account has another plan

	arrivals arrivals
	changing sync.Mutex // held by a change of configuration that waits
	pending  int        // inputs that trackers hold, about; exact each second
	outputs  int        // results that are not stored or are held by states

	timeline *station.Timeline // set before loaded is closed

	mu       sync.RWMutex // held for writing by the worker while the fields below change
	trackers map[string]*tracker
	stations int   // those of the manifest among them
	loading  error // why there are no trackers yet

	seen         int64             // the revision of which the trackers know
	planned      *station.Plan     // the last that was read
	archived     map[string]bool   // stations that left the manifest, of which rules were notified
	ended        []linked          // connections whose devices may come back in a moment
	faults       map[fault]int64   // failed actions, and until when they are not retried, ms
	failing      atomic.Int64      // how many of these there are
	removedRetry int64             // ms: when rules are notified again of stations that left; 0: not needed
	dirty        map[*tracker]bool // those with new inputs that are not published yet
	later        atomic.Bool       // a hint will come for them

	cursors  atomic.Pointer[[]account.Cursor] // how far the worker has got
	computed atomic.Int64                     // how often trackers were computed again

	yields   bool // the computation may be interrupted by other work
	yielding bool // such work is being done
	yielded  int  // calls that were served so

	ticked    int64        // ms, when time last passed
	kept      atomic.Int64 // ms, the hour up to which trackers were last stored
	restUntil int64        // ms: no late station is recomputed before it, so that other work gets its turn

	pause func(time.Duration)                   // time.Sleep, but in tests
	since func(started time.Time) time.Duration // time.Since, but in tests
	// slotDays is the constant, except in tests.
	slotDays int
}

func newWorker(f *Floor, account string) *worker {
	return &worker{
		f: f, account: account, calls: make(chan func()), hints: make(chan struct{}, 1), quit: make(chan struct{}), loaded: make(chan struct{}),
		trackers: map[string]*tracker{}, faults: map[fault]int64{}, dirty: map[*tracker]bool{},
		arrivals: arrivals{signals: map[string][]signal.Signal{}, sources: map[string]int{}},
		pause:    time.Sleep, since: time.Since, slotDays: slotDays,
	}
}

// wake has the worker check for work.
func (wk *worker) wake() {
	select {
	case wk.hints <- struct{}{}:
	default: // it will look
	}
}

// arrived queues signals.
func (wk *worker) arrived(list []signal.Signal) {
	wk.arrivals.add(list)
	wk.wake()
}

// run is the worker's goroutine.
func (wk *worker) run() {
	heard := wk.heard()
	for wait := time.Duration(0); !wk.load(); wait = min(2*wait+time.Second, time.Minute) {
		select {
		case <-wk.quit:
			return
		case <-time.After(wait):
		}
	}
	wk.unlink(heard)
	wk.prepare()
	close(wk.loaded)
	for {
		select {
		case <-wk.quit:
			return
		case call := <-wk.calls:
			call()
		case <-wk.hints:
			wk.guard(wk.work)
		}
	}
}

// guard calls fn. A panic in it is logged and only affects this account: its stations are loaded again.
func (wk *worker) guard(fn func()) {
	defer func() {
		if v := recover(); v != nil {
			wk.f.cfg.Log.Error("processing of the stations failed; they are loaded again", slog.String("account", wk.account), slog.Any("panic", v), slog.String("stack", string(debug.Stack())))
			wk.mu.Lock()
			wk.trackers = map[string]*tracker{}
			clear(wk.dirty)
			wk.mu.Unlock()
			wk.changed.Store(true)
		}
	}()
	fn()
}

// stopping reports whether the service stops. Long work is then given up, and done after the next start.
func (wk *worker) stopping() bool {
	select {
	case <-wk.quit:
		return true
	default:
		return false
	}
}

// load loads the trackers. It returns false if that must be retried.
func (wk *worker) load() bool {
	t, err := wk.f.cfg.Timelines.Of(wk.account)
	if err == nil {
		wk.timeline = t
		err = wk.replan()
	}
	wk.mu.Lock()
	wk.loading = err
	wk.mu.Unlock()
	if err != nil && !wk.stopping() {
		wk.f.cfg.Log.Error("the stations cannot be loaded; retrying", slog.String("account", wk.account), slog.Any("error", err))
	}
	return err == nil
}

// prepare computes the live state of trackers with pending inputs, so that the first reader need not wait for it.
func (wk *worker) prepare() {
	now := wk.f.now()
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for _, tr := range wk.trackers {
		if tr.pending.Len() == 0 {
			continue
		}
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if !wk.stopping() {
				wk.guard(func() { wk.show(tr, now) })
			}
		})
	}
	all.Wait()
}

// work processes everything that is due now.
func (wk *worker) work() {
	if wk.yielding { // the call that is running is part of this
		wk.wake()
		return
	}
	now := wk.f.now()
	wk.follow(now)
	wk.takeArrivals()
	wk.takeLinks()
	if now-wk.ticked >= 1000 || now < wk.ticked {
		wk.ticked = now
		wk.pass(now)
	}
	wk.showDirty(now)
}

// showDirty publishes trackers with new inputs, at once or a short time after the last update.
func (wk *worker) showDirty(now int64) {
	for tr := range wk.dirty {
		tr.mu.Lock()
		wait := tr.touched && now-tr.seenAt < showPause && now >= tr.seenAt
		tr.mu.Unlock()
		if wait {
			continue
		}
		delete(wk.dirty, tr)
		wk.show(tr, now)
	}
	if len(wk.dirty) > 0 && wk.later.CompareAndSwap(false, true) {
		time.AfterFunc(showPause*time.Millisecond/2, func() {
			wk.later.Store(false)
			wk.wake()
		})
	}
}

// pass processes what is due each second: late stations are recomputed, bases settle and are stored, rules run, and
// statuses are published.
func (wk *worker) pass(now int64) {
	wk.clockBack(now)
	wk.catchUp(now)
	wk.settle(now)
	wk.relieveAll()
	wk.storeEarly()
	wk.notifyRules(now)
	for _, tr := range wk.trackers {
		wk.show(tr, now)
	}
	wk.fallDue(now)
	wk.setCursors(now)
}

// clockBack recomputes trackers whose watermark lies in the future after the clock was set back: their stored results
// lack what will still happen until then.
func (wk *worker) clockBack(now int64) {
	if now < wk.f.cfg.Signals.Swept() {
		return // the signals are gone, and the history could not be computed again
	}
	var ahead []*tracker
	for _, tr := range wk.trackers {
		if tr.watermark > now+minute {
			ahead = append(ahead, tr)
		}
	}
	if len(ahead) == 0 {
		return
	}
	wk.f.cfg.Log.Warn("the clock was set back; results for the time after it are recomputed", slog.String("account", wk.account), slog.Int("stations", len(ahead)))
	err := wk.f.cfg.Store.Update(func(tx *kv.Tx) error {
		for _, tr := range ahead {
			if err := wk.abandon(tx, tr); err != nil {
				return err
			}
			if err := ledger.MarkLate(tx, wk.account, tr.code, now); err != nil {
				return err
			}
		}
		return wk.f.cfg.Signals.Unsettle(tx, wk.account, now+minute)
	})
	if err != nil {
		wk.logError("results for a future time are not removed yet; retrying", err)
		return
	}
	for _, tr := range ahead {
		tr.mu.Lock()
		tr.backfill.abandon(now)
		tr.mu.Unlock()
	}
	wk.kept.Store(0)
}

// panicked is a panic as an error. It affects one station only.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprint("panic: ", p.value) }

// recovered turns a panic into an error. It must be deferred.
func recovered(err *error) {
	if v := recover(); v != nil {
		*err = &panicked{v, debug.Stack()}
	}
}

func (wk *worker) logError(what string, err error) {
	if p := (*panicked)(nil); errors.As(err, &p) {
		wk.f.cfg.Log.Error(what, slog.String("account", wk.account), slog.Any("error", err), slog.String("stack", string(p.stack)))
		return
	}
	if errdefs.KindOf(err) == errdefs.Unavailable {
		wk.f.cfg.Log.Warn(what, slog.String("account", wk.account), slog.Any("error", err))
		return
	}
	wk.f.cfg.Log.Error(what, slog.String("account", wk.account), slog.Any("error", err))
}

// do runs fn on the worker's goroutine once the trackers are loaded.
func (wk *worker) do(fn func()) error {
	if err := wk.wait(); err != nil {
		return err
	}
	done := make(chan struct{})
	err := errFailed
	timer := time.NewTimer(2 * patience)
	defer timer.Stop()
	select {
	case <-wk.quit:
		return errClosed
	case <-timer.C:
		return &errdefs.Error{Kind: errdefs.Unavailable, Message: "the stations are being recomputed; try again in a moment", RetryAfter: 5 * time.Second}
	case wk.calls <- func() {
		defer close(done)
		wk.guard(func() {
			fn()
			err = nil
		})
	}:
	}
	<-done
	return err
}

// errFailed is returned for a panic on the worker's goroutine; the log has the details.
var errFailed = errors.New("the stations could not be processed; see the log")

// patience is how long a caller waits for an account's stations after the start.
const patience = 10 * time.Second

// wait waits until the trackers are loaded.
func (wk *worker) wait() error {
	select {
	case <-wk.loaded:
		return nil
	default:
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-wk.loaded:
		return nil
	case <-wk.quit:
		return errClosed
	case <-timer.C:
	}
	wk.mu.RLock()
	defer wk.mu.RUnlock()
	return &errdefs.Error{Kind: errdefs.Unavailable, Message: "the stations are loading after the start of the service; try again in a moment", RetryAfter: 5 * time.Second, Err: wk.loading}
}

// follow applies a new configuration to the trackers.
func (wk *worker) follow(now int64) {
	if wk.changed.Swap(false) || wk.removedRetry != 0 && now >= wk.removedRetry {
		if err := wk.replan(); err != nil {
			wk.changed.Store(true)
			wk.logError("a new configuration is not in force yet", err)
		}
	}
}

// plan returns the configuration in force.
func (wk *worker) plan() *station.Plan {
	p, err := wk.timeline.Now()
	if err != nil { // the store is damaged, which it reports: use the last plan
		return wk.planned
	}
	return p
}

// replan applies the account's plan to the trackers, and opens those of new stations. The cost grows with the changes:
// trackers of unchanged stations are not touched.
func (wk *worker) replan() error {
	plan, err := wk.timeline.Now()
	if err != nil {
		return err
	}
	now := wk.f.now()
	if wk.removedRetry != 0 || !wk.has(plan) {
		if err := wk.openNew(plan, now); err != nil {
			return err
		}
	}
	rules, skus, err := wk.timeline.Since(wk.seen)
	if err != nil {
		return err
	}
	for _, tr := range wk.trackers {
		if wk.stopping() {
			return errClosed
		}
		seen := wk.seen
		if seen == 0 { // a tracker that was just opened has the configuration of its stored state
			if seen, err = wk.timeline.Revision(tr.watermark - settleAfter); err != nil {
				return err
			}
		}
		if rules {
			err = wk.reconfigure(tr, seen, now)
		}
		if skus && err == nil {
			err = wk.applySKUChanges(plan, tr, seen, now)
		}
		if err != nil {
			return err
		}
	}
	wk.seen, wk.planned = plan.Revision, plan
	return nil
}

// has reports whether the trackers are those of a plan's stations.
func (wk *worker) has(plan *station.Plan) bool {
	if len(plan.Stations) != wk.stations {
		return false
	}
	for _, s := range plan.Stations {
		if wk.trackers[s.Code] == nil || wk.archived[s.Code] {
			return false
		}
	}
	return true
}

// openNew opens the trackers of new stations, and notifies rules of those that left.
func (wk *worker) openNew(plan *station.Plan, now int64) error {
	gone, err := wk.timeline.GoneCodes()
	if err != nil {
		return err
	}
	codes := make([]string, 0, len(plan.Stations)+len(gone))
	for _, s := range plan.Stations {
		codes = append(codes, s.Code)
	}
	codes = append(codes, gone...)
	opened, err := wk.openMissing(codes, now)
	if err != nil {
		return err
	}
	trackers := make(map[string]*tracker, len(codes))
	var late []*tracker
	for _, code := range codes {
		tr := wk.trackers[code]
		if tr == nil {
			if tr = opened[code]; tr.backfill.retry == 0 && tr.backfill.entered {
				late = append(late, tr)
			}
		}
		trackers[code] = tr
	}
	if err := wk.backfillFirst(wk.timeline, now, late); err != nil {
		return err
	}
	wk.mu.Lock()
	wk.trackers, wk.stations = trackers, len(plan.Stations)
	wk.mu.Unlock()
	wk.planned = plan
	wk.notifyRemoved(gone, now)
	return nil
}

// openMissing opens trackers of the stations that have none, concurrently.
func (wk *worker) openMissing(codes []string, now int64) (map[string]*tracker, error) {
	var mu sync.Mutex
	opened := map[string]*tracker{}
	var each errgroup.Group
	each.SetLimit(runtime.GOMAXPROCS(0))
	missing := slices.DeleteFunc(slices.Clone(codes), func(code string) bool { return wk.trackers[code] != nil })
	for _, code := range missing {
		each.Go(func() error {
			if wk.stopping() {
				return errClosed
			}
			tr, err := wk.openOrBlank(code, now)
			mu.Lock()
			opened[code] = tr
			mu.Unlock()
			return err
		})
	}
	return opened, each.Wait()
}

// openOrBlank opens the tracker of a station; a station that cannot be read is empty until a retry succeeds.
func (wk *worker) openOrBlank(code string, now int64) (tr *tracker, err error) {
	defer recovered(&err)
	tr, err = wk.open(wk.timeline, code, now)
	if err == nil {
		return tr, nil
	}
	wk.logError("the stored state of station "+code+" cannot be read; retrying", err)
	return tr, wk.blank(wk.timeline, tr, now)
}

// notifyRemoved notifies rules of stations that left the manifest since the last time.
func (wk *worker) notifyRemoved(gone []string, now int64) {
	archived := map[string]bool{}
	var left []string
	for _, code := range gone {
		if archived[code] = true; !wk.archived[code] {
			left = append(left, code)
		}
	}
	wk.archived, wk.removedRetry = archived, 0
	for _, code := range wk.notifyRulesRemoved(left, now) {
		delete(wk.archived, code)
		wk.removedRetry = now + retryAfter
	}
}
