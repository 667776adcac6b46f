package floor

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"opsmon/app/account"
	"opsmon/app/deliver/event"
	"opsmon/app/engine/history"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/app/ingest/signal"
	"opsmon/kv"
)

// Rule acts by itself on the worker's goroutine.
type Rule interface {
	// Due gives from memory, and at once, the stations of a plan at which Tick has something to do at a moment, ms. It
	// is asked every second.
	Due(plan *station.Plan, now int64) (stationCodes []string)
	// Tick does it in a transaction of the worker, for some of them. Where it fails, each station is tried by itself.
	Tick(w *Work, stationCodes []string) error
	// Happened is told, in a transaction of the worker, of what the engine found. After a restart it may be told again.
	Happened(w *Work, stationCode string, e monitor.Event) error
	// Recorded is told, in the same transaction, of what is recorded at a station.
	Recorded(w *Work, stationCode string, in monitor.Input) error
	// Cancelled is told, in the same transaction, of what was recorded at a station and is taken back.
	Cancelled(w *Work, stationCode string, in monitor.Input) error
	// Left is told, in a transaction of the worker, that a station left the manifest.
	Left(w *Work, stationCode string) error
}

// Config is what New needs.
type Config struct {
	Store    *kv.Store
	Accounts *account.Service
	Signals  *signal.Log
	History  *history.Store
	Events   *event.Hub
	// Timelines gives what holds at the stations of an account, over time.
	Timelines *station.Timelines
	// Findings gives what people found about issues of a station, which are whole (End 0: it goes on); nil = nothing.
	Findings func(tx *kv.Tx, accountID, stationCode string, issues []monitor.Issue) ([]monitor.Finding, error)
	// Issue gives an issue as its event carries it at a moment, ms; nil = those that the engine finds are not told.
	Issue func(tx *kv.Tx, accountID, stationCode string, i monitor.Issue, now int64) ([]byte, error)
	// Notes gives what is put up at a station at a moment, ms; nil = nothing.
	Notes func(accountID, stationCode string, now int64) station.Note
	Clock func() time.Time // nil = time.Now
	Log   *slog.Logger
}

// Floor owns the stations of all accounts. All methods may be called from any goroutine, but for those that say
// otherwise.
type Floor struct {
	cfg   Config
	rules []Rule

	mu      sync.Mutex
	workers map[string]*worker
	closed  bool
	ending  sync.WaitGroup
}

// New makes a Floor. The caller closes it. Rules are given by Use before anything happens.
func New(cfg Config) *Floor {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Findings == nil {
		cfg.Findings = func(*kv.Tx, string, string, []monitor.Issue) ([]monitor.Finding, error) { return nil, nil }
	}
	if cfg.Notes == nil {
		cfg.Notes = func(string, string, int64) station.Note { return station.Note{} }
	}
	return &Floor{cfg: cfg, workers: map[string]*worker{}}
}

// Use adds the rules, which are asked in this order. It must be called before Run, Do and Arrived.
func (f *Floor) Use(rules ...Rule) { f.rules = append(f.rules, rules...) }

// errClosed says that the service stops.
var errClosed = errdefs.New(errdefs.Unavailable, "the service is stopping")

// worker returns the worker of an account, which starts with the first one to ask for it.
func (f *Floor) worker(accountID string) (*worker, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, errClosed
	}
	wk := f.workers[accountID]
	if wk == nil {
		wk = newWorker(f, accountID)
		f.workers[accountID] = wk
		f.ending.Go(wk.run)
	}
	return wk, nil
}

// ready returns the worker of an account when its trackers are there.
func (f *Floor) ready(accountID string) (*worker, error) {
	wk, err := f.worker(accountID)
	if err != nil {
		return nil, err
	}
	return wk, wk.wait()
}

// Run keeps the stations of all accounts going until ctx ends: time passes at them, and rules are asked.
func (f *Floor) Run(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		for _, a := range f.cfg.Accounts.List(false) {
			if wk, err := f.worker(a.ID); err == nil {
				wk.hint()
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Pass does now what Run has done every second: for who runs the Floor by hand.
func (f *Floor) Pass(accountID string) error {
	wk, err := f.worker(accountID)
	if err != nil {
		return err
	}
	return wk.do(func() {
		wk.ticked = 0
		wk.work()
	})
}

// Arrived tells of signals that have been stored: signal.Config.Appended.
func (f *Floor) Arrived(list []signal.Signal) {
	for start := 0; start < len(list); {
		end := start + 1
		for end < len(list) && list[end].Account == list[start].Account {
			end++
		}
		if wk := f.started(list[start].Account); wk != nil {
			wk.arrived(list[start:end])
		}
		start = end
	}
}

// Changed tells that an account has another manifest revision, or correction.
func (f *Floor) Changed(accountID string) {
	if wk := f.started(accountID); wk != nil {
		wk.changed.Store(true)
		wk.hint()
	}
}

// started returns the worker of an account if there is one. Notifications do not need one: a worker that
// starts later reads what is stored. So a command that stores something does not read all stations for it.
func (f *Floor) started(accountID string) *worker {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.workers[accountID]
}

// Close ends the workers. What they have not kept is made again from the log at the next start.
func (f *Floor) Close() {
	f.mu.Lock()
	if !f.closed {
		f.closed = true
		for _, wk := range f.workers {
			close(wk.quit)
		}
	}
	f.mu.Unlock()
	f.ending.Wait()
}

// now is the time, ms.
func (f *Floor) now() int64 { return f.cfg.Clock().UnixMilli() }
