package floor

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"opsmon/app/account"
	"opsmon/app/deliver/event"
	"opsmon/app/engine/history"
	"opsmon/app/engine/ledger"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/app/ingest/signal"
	"opsmon/kv"
)

// Rule reacts to events of the engine, and to time. Its methods run on the worker's goroutine.
type Rule interface {
	// Due returns the stations of a plan that need a Tick at a moment, in ms. It must be quick and use no store. It
	// is called every second.
	Due(plan *station.Plan, now int64) (stationCodes []string)
	// Tick acts on stations in a transaction of the worker. If it fails, it is called for each station alone.
	Tick(w *Work, stationCodes []string) error
	// Happened handles an event of the engine in a transaction of the worker. After a restart events may be repeated.
	Happened(w *Work, stationCode string, e monitor.Event) error
	// Recorded handles a new entry of the ledger, in its transaction.
	Recorded(w *Work, stationCode string, in monitor.Input) error
	// Cancelled handles a cancelled entry of the ledger, in the transaction of the cancellation.
	Cancelled(w *Work, stationCode string, in monitor.Input) error
	// Left handles, in a transaction of the worker, that a station left the manifest.
	Left(w *Work, stationCode string) error
}

// Config configures New.
type Config struct {
	Store    *kv.Store
	Accounts *account.Service
	Signals  *signal.Log
	History  *history.Store
	Events   *event.Hub
	// Timelines returns the configuration of an account's stations over time.
	Timelines *station.Timelines
	// Findings returns what people entered about issues of a station (End 0: ongoing); nil = nothing.
	Findings func(tx *kv.Tx, accountID, stationCode string, issues []monitor.Issue) ([]monitor.Finding, error)
	// Issue encodes an issue for its event at a moment, in ms; nil = issues of the engine are not published.
	Issue func(tx *kv.Tx, accountID, stationCode string, i monitor.Issue, now int64) ([]byte, error)
	// Notes returns the operator and alert of a station at a moment, in ms; nil = none.
	Notes func(accountID, stationCode string, now int64) station.Note
	Clock func() time.Time // nil = time.Now
	Log   *slog.Logger
}

// Floor owns the stations of all accounts. Its methods may be called from any goroutine, except where they say
// otherwise.
type Floor struct {
	cfg   Config
	rules []Rule

	mu      sync.Mutex
	workers map[string]*worker
	closed  bool
	ending  sync.WaitGroup
}

// New returns a Floor, which the caller must close. Use must be called before anything else.
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

// Use adds rules, which are called in this order. It must be called before Run, Do and Arrived.
func (f *Floor) Use(rules ...Rule) { f.rules = append(f.rules, rules...) }

// errClosed is returned while the service stops.
var errClosed = errdefs.New(errdefs.Unavailable, "the service is stopping")

// worker returns the worker of an account, and starts it at the first call.
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

// ready returns the worker of an account once its trackers are loaded.
func (f *Floor) ready(accountID string) (*worker, error) {
	wk, err := f.worker(accountID)
	if err != nil {
		return nil, err
	}
	return wk, wk.wait()
}

// Run has the workers of all accounts process arrivals, time and rules every second until ctx ends.
func (f *Floor) Run(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		for _, a := range f.cfg.Accounts.List(false) {
			if wk, err := f.worker(a.ID); err == nil {
				wk.wake()
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Pass runs once what Run does every second. It is for tests and tools that control the time.
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

// Arrived passes stored signals to the workers. It is signal.Config.Appended.
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

// Changed notes that an account has a new manifest revision or correction.
func (f *Floor) Changed(accountID string) {
	if wk := f.started(accountID); wk != nil {
		wk.changed.Store(true)
		wk.wake()
	}
}

// started returns the worker of an account if it is running. Notifications do not start a worker, since it reads the
// stored state when it starts; so a command that stores something does not read all stations.
func (f *Floor) started(accountID string) *worker {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.workers[accountID]
}

// Sweep removes entries of the ledger that are older than the state from which the oldest stored signals are computed.
func (f *Floor) Sweep(ctx context.Context) error {
	oldest := f.now() - f.cfg.Signals.Retention().Milliseconds()
	oldest -= oldest % day
	return ledger.Prune(ctx, f.cfg.Store, func(tx *kv.Tx, account, station string) (int64, bool, error) {
		at, state, err := f.cfg.History.StateBefore(tx, account, station, oldest+1)
		return at, state != nil, err
	})
}

// Close stops the workers. Results that are not stored are recomputed from the log at the next start.
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
