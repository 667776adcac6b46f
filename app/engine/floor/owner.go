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
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/app/ingest/signal"
	"opsmon/kv"
)

// owner is the goroutine that alone changes the stations of one account.
type owner struct {
	f       *Floor
	account string
	calls   chan func()
	hints   chan struct{} // there may be something to do
	quit    chan struct{}
	loaded  chan struct{} // closed when the lines are there
	changed atomic.Bool   // the account has another plan

	arrivals arrivals
	changing sync.Mutex // held by a change of configuration that waits
	pending  int        // inputs that lines hold, about; exact each second
	outputs  int        // what lines have given out that is not kept, and what they hold back

	timeline *station.Timeline // set before loaded is closed

	mu       sync.RWMutex // held for writing by the owner while the fields below change
	lines    map[string]*line
	stations int   // those of the manifest among them
	loading  error // why there are no lines yet

	seen     int64           // the revision of which the lines know
	planned  *station.Plan   // the last that was read
	archived map[string]bool // of the stations that left the manifest, those of which rules have been told
	ended    []linked        // connections whose devices may come back in a moment
	faults   map[fault]int64 // what cannot be done at stations, and until when it is not tried again, ms
	failing  atomic.Int64    // how many of these there are
	leaveAt  int64           // ms: then rules are told once more of stations that have left; 0: they know
	stirred  map[*line]bool  // those that took something in and are to be shown in a moment
	later    atomic.Bool     // a hint will come for them

	cursors  atomic.Pointer[[]account.Cursor] // how far the owner has got
	computed atomic.Int64                     // how often lines were computed again

	breathes bool // what is being computed may be interrupted by other work
	between  bool // such work is being done
	breaths  int  // calls that were served so

	ticked int64        // ms, when time last passed
	kept   atomic.Int64 // ms, the hour up to which lines were last kept
	rest   int64        // ms: lines do not go back before it, so that the rest of the work gets its turn

	pause func(time.Duration)                   // time.Sleep, but in tests
	since func(started time.Time) time.Duration // time.Since, but in tests
	// turnDays is that of the constant, but in tests.
	turnDays int
}

func newOwner(f *Floor, account string) *owner {
	return &owner{
		f: f, account: account, calls: make(chan func()), hints: make(chan struct{}, 1), quit: make(chan struct{}), loaded: make(chan struct{}),
		lines: map[string]*line{}, faults: map[fault]int64{}, stirred: map[*line]bool{},
		arrivals: arrivals{signals: map[string][]signal.Signal{}, sources: map[string]int{}},
		pause:    time.Sleep, since: time.Since, turnDays: turnDays,
	}
}

// hint makes the owner look whether there is something to do.
func (o *owner) hint() {
	select {
	case o.hints <- struct{}{}:
	default: // it will look
	}
}

// arrived hands signals over.
func (o *owner) arrived(list []signal.Signal) {
	o.arrivals.add(list)
	o.hint()
}

// run is the owner's goroutine.
func (o *owner) run() {
	heard := o.heard()
	for wait := time.Duration(0); !o.load(); wait = min(2*wait+time.Second, time.Minute) {
		select {
		case <-o.quit:
			return
		case <-time.After(wait):
		}
	}
	o.unlink(heard)
	o.prepare()
	close(o.loaded)
	for {
		select {
		case <-o.quit:
			return
		case call := <-o.calls:
			call()
		case <-o.hints:
			o.guard(o.work)
		}
	}
}

// guard calls fn. A panic in it is one account's failure, is told, and does not take the service down: what was being done is
// computed again from what is kept.
func (o *owner) guard(fn func()) {
	defer func() {
		if v := recover(); v != nil {
			o.f.cfg.Log.Error("following the stations failed; they are read anew", slog.String("account", o.account), slog.Any("panic", v), slog.String("stack", string(debug.Stack())))
			o.mu.Lock()
			o.lines = map[string]*line{}
			clear(o.stirred)
			o.mu.Unlock()
			o.changed.Store(true)
		}
	}()
	fn()
}

// ends tells whether the service stops: what takes long is then given up, and done at the next start.
func (o *owner) ends() bool {
	select {
	case <-o.quit:
		return true
	default:
		return false
	}
}

// load makes the lines. It is false when that has to be tried again.
func (o *owner) load() bool {
	t, err := o.f.cfg.Timelines.Of(o.account)
	if err == nil {
		o.timeline = t
		err = o.replan()
	}
	o.mu.Lock()
	o.loading = err
	o.mu.Unlock()
	if err != nil && !o.ends() {
		o.f.cfg.Log.Error("what goes on at the stations cannot be followed; it is tried again", slog.String("account", o.account), slog.Any("error", err))
	}
	return err == nil
}

// prepare looks at the lines that have something to take in since they were kept: who reads them first would wait for that.
func (o *owner) prepare() {
	now := o.f.now()
	turns := make(chan struct{}, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for _, l := range o.lines {
		if l.pending.len() == 0 {
			continue
		}
		turns <- struct{}{}
		all.Go(func() {
			defer func() { <-turns }()
			if !o.ends() {
				o.guard(func() { o.show(l, now) })
			}
		})
	}
	all.Wait()
}

// work does what there is to do now.
func (o *owner) work() {
	if o.between { // what goes on is part of this
		o.hint()
		return
	}
	now := o.f.now()
	o.follow(now)
	o.takeArrivals()
	o.takeLinks()
	if now-o.ticked >= 1000 || now < o.ticked {
		o.ticked = now
		o.pass(now)
	}
	o.showStirred(now)
}

// showStirred shows the lines that took something in, each at once or a short while after it was last looked at.
func (o *owner) showStirred(now int64) {
	for l := range o.stirred {
		l.mu.Lock()
		wait := l.touched && now-l.seenAt < showPause && now >= l.seenAt
		l.mu.Unlock()
		if wait {
			continue
		}
		delete(o.stirred, l)
		o.show(l, now)
	}
	if len(o.stirred) > 0 && o.later.CompareAndSwap(false, true) {
		time.AfterFunc(showPause*time.Millisecond/2, func() {
			o.later.Store(false)
			o.hint()
		})
	}
}

// pass lets time pass: lines that are late go back, bases settle and are kept, rules act, and watchers are told.
func (o *owner) pass(now int64) {
	o.clockBack(now)
	o.catchUp(now)
	o.settle(now)
	o.relieveAll()
	o.keepEarly()
	o.happened(now)
	for _, l := range o.lines {
		o.show(l, now)
	}
	o.fallDue(now)
	o.got(now)
}

// clockBack has lines computed again that have come to a time which the clock, having been set right, no longer shows: what
// is kept of them knows nothing of what will yet happen until then.
func (o *owner) clockBack(now int64) {
	if now < o.f.cfg.Signals.Swept() {
		return // the signals are gone, and the history could not be computed again
	}
	var ahead []*line
	for _, l := range o.lines {
		if l.baseAt > now+minute {
			ahead = append(ahead, l)
		}
	}
	if len(ahead) == 0 {
		return
	}
	o.f.cfg.Log.Warn("the clock went back; what was counted for the time after it is computed again", slog.String("account", o.account), slog.Int("stations", len(ahead)))
	err := o.f.cfg.Store.Update(func(tx *kv.Tx) error {
		for _, l := range ahead {
			if err := o.abandon(tx, l); err != nil {
				return err
			}
			if err := markLate(tx, o.account, l.code, now); err != nil {
				return err
			}
		}
		return o.f.cfg.Signals.Unsettle(tx, o.account, now+minute)
	})
	if err != nil {
		o.trouble("what was counted for a time that has not come is not taken back yet; it is tried again", err)
		return
	}
	for _, l := range ahead {
		l.mu.Lock()
		if l.anew != nil {
			l.deep, l.anew = earlier(l.deep, l.anew.Late), nil
		}
		l.late = earlier(l.late, now)
		l.mu.Unlock()
	}
	o.kept.Store(0)
}

// panicked is a panic as an error: it concerns one station, and others go on.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprint("panic: ", p.value) }

// recovered makes a panic an error. It is deferred.
func recovered(err *error) {
	if v := recover(); v != nil {
		*err = &panicked{v, debug.Stack()}
	}
}

func (o *owner) trouble(what string, err error) {
	if p := (*panicked)(nil); errors.As(err, &p) {
		o.f.cfg.Log.Error(what, slog.String("account", o.account), slog.Any("error", err), slog.String("stack", string(p.stack)))
		return
	}
	if errdefs.KindOf(err) == errdefs.Unavailable {
		o.f.cfg.Log.Warn(what, slog.String("account", o.account), slog.Any("error", err))
		return
	}
	o.f.cfg.Log.Error(what, slog.String("account", o.account), slog.Any("error", err))
}

// do runs fn on the owner's goroutine, when the lines are there.
func (o *owner) do(fn func()) error {
	if err := o.wait(); err != nil {
		return err
	}
	done := make(chan struct{})
	err := errFailed
	timer := time.NewTimer(2 * patience)
	defer timer.Stop()
	select {
	case <-o.quit:
		return errClosed
	case <-timer.C:
		return &errdefs.Error{Kind: errdefs.Unavailable, Message: "the stations are being computed again; try again in a moment", RetryAfter: 5 * time.Second}
	case o.calls <- func() {
		defer close(done)
		o.guard(func() {
			fn()
			err = nil
		})
	}:
	}
	<-done
	return err
}

// errFailed says that the owner failed at what it was to do; the log has more.
var errFailed = errors.New("the stations could not be looked after; see the log")

// patience is how long a caller waits for an account's stations after the start.
const patience = 10 * time.Second

// wait waits until the lines are there.
func (o *owner) wait() error {
	select {
	case <-o.loaded:
		return nil
	default:
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-o.loaded:
		return nil
	case <-o.quit:
		return errClosed
	case <-timer.C:
	}
	o.mu.RLock()
	defer o.mu.RUnlock()
	return &errdefs.Error{Kind: errdefs.Unavailable, Message: "what went on at the stations is being read since the service started; try again in a moment", RetryAfter: 5 * time.Second, Err: o.loading}
}

// follow has the lines know of what was applied since.
func (o *owner) follow(now int64) {
	if o.changed.Swap(false) || o.leaveAt != 0 && now >= o.leaveAt {
		if err := o.replan(); err != nil {
			o.changed.Store(true)
			o.trouble("a new configuration is not in force yet", err)
		}
	}
}

// plan returns the configuration in force, which was read before.
func (o *owner) plan() *station.Plan {
	p, err := o.timeline.Now()
	if err != nil { // the store is damaged, which it tells: the last one holds
		return o.planned
	}
	return p
}

// replan brings the account's plan into force at the lines, and makes those of stations that are new. What it costs is what
// changed: lines of stations that nothing touched are not looked at.
func (o *owner) replan() error {
	plan, err := o.timeline.Now()
	if err != nil {
		return err
	}
	now := o.f.now()
	if o.leaveAt != 0 || !o.has(plan) {
		if err := o.muster(plan, now); err != nil {
			return err
		}
	}
	rules, skus, err := o.timeline.Since(o.seen)
	if err != nil {
		return err
	}
	for _, l := range o.lines {
		if o.ends() {
			return errClosed
		}
		seen := o.seen
		if seen == 0 { // a line that was just opened knows of what was there when it was kept
			if seen, err = o.timeline.Revision(l.baseAt - settleAfter); err != nil {
				return err
			}
		}
		if rules {
			err = o.reconfigure(l, seen, now)
		}
		if skus && err == nil {
			err = o.relook(plan, l, seen, now)
		}
		if err != nil {
			return err
		}
	}
	o.seen, o.planned = plan.Revision, plan
	return nil
}

// has reports whether the lines are those of a plan's stations.
func (o *owner) has(plan *station.Plan) bool {
	if len(plan.Stations) != o.stations {
		return false
	}
	for _, s := range plan.Stations {
		if o.lines[s.Code] == nil || o.archived[s.Code] {
			return false
		}
	}
	return true
}

// muster makes the lines of stations that are not there yet, and tells rules of those that left.
func (o *owner) muster(plan *station.Plan, now int64) error {
	gone, err := o.timeline.GoneCodes()
	if err != nil {
		return err
	}
	codes := make([]string, 0, len(plan.Stations)+len(gone))
	for _, s := range plan.Stations {
		codes = append(codes, s.Code)
	}
	codes = append(codes, gone...)
	opened, err := o.openMissing(codes, now)
	if err != nil {
		return err
	}
	lines := make(map[string]*line, len(codes))
	var late []*line
	for _, code := range codes {
		l := o.lines[code]
		if l == nil {
			if l = opened[code]; l.retry == 0 && l.entered {
				late = append(late, l)
			}
		}
		lines[code] = l
	}
	if err := o.first(o.timeline, now, late); err != nil {
		return err
	}
	o.mu.Lock()
	o.lines, o.stations = lines, len(plan.Stations)
	o.mu.Unlock()
	o.planned = plan
	o.part(gone, now)
	return nil
}

// openMissing makes the lines of the stations that have none, side by side: after a start of all.
func (o *owner) openMissing(codes []string, now int64) (map[string]*line, error) {
	var mu sync.Mutex
	opened := map[string]*line{}
	var each errgroup.Group
	each.SetLimit(runtime.GOMAXPROCS(0))
	missing := slices.DeleteFunc(slices.Clone(codes), func(code string) bool { return o.lines[code] != nil })
	for _, code := range missing {
		each.Go(func() error {
			if o.ends() {
				return errClosed
			}
			l, err := o.openOrBlank(code, now)
			mu.Lock()
			opened[code] = l
			mu.Unlock()
			return err
		})
	}
	return opened, each.Wait()
}

// openOrBlank makes the line of a station; one that cannot be read is blank until it is tried again.
func (o *owner) openOrBlank(code string, now int64) (l *line, err error) {
	defer recovered(&err)
	l, err = o.open(o.timeline, code, now)
	if err == nil {
		return l, nil
	}
	o.trouble("what is kept of the station "+code+" cannot be read; it is tried again", err)
	return o.blank(o.timeline, l, now)
}

// part tells rules of the stations that left the manifest of which they have not been told.
func (o *owner) part(gone []string, now int64) {
	archived := map[string]bool{}
	var left []string
	for _, code := range gone {
		if archived[code] = true; !o.archived[code] {
			left = append(left, code)
		}
	}
	o.archived, o.leaveAt = archived, 0
	for _, code := range o.leave(left, now) {
		delete(o.archived, code)
		o.leaveAt = now + retryAfter
	}
}
