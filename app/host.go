package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/app/host/config"
	"opsmon/app/host/datadir"
	hostlog "opsmon/app/host/log"
	"opsmon/app/httpapi"
	"opsmon/app/httpapi/appliance"
	"opsmon/app/web"
	"opsmon/kv"
)

// timeLimits bound how long clients may take. A request's line and headers must arrive within header, a small body
// and a small answer within body and answer; large ones get more, by their size (package httpapi).
type timeLimits struct {
	header, body, answer, idle time.Duration
	drain                      time.Duration // for requests that are being answered when the service stops
}

func defaultTimeLimits() timeLimits {
	return timeLimits{header: 10 * time.Second, body: 30 * time.Second, answer: 60 * time.Second, idle: 2 * time.Minute, drain: 20 * time.Second}
}

// maxHeader bounds a request's line and headers, in bytes.
const maxHeader = 16 << 10

// hostLock is the file in the data directory that the one service on it holds the lock of.
const hostLock = "host.lock"

// lockHost keeps services, and what only one process may do that is none, apart. Error: kv.ErrLocked.
func lockHost(dir string) (unlock func() error, err error) {
	path := filepath.Join(dir, hostLock)
	unlock, err = kv.LockFile(path, 2*time.Second)
	if errors.Is(err, kv.ErrLocked) {
		return nil, fmt.Errorf("another service runs on %s: %w; use that one, stop it first, or choose another directory with --data-dir", dir, kv.ErrLocked)
	}
	return unlock, err
}

// Host is a running service: the network and the machine's own channel, for as long as the process lives, and
// within them an App on the store. The App may be away: before the store is open, while it is replaced, and when it is
// damaged. Then what needs no store is answered all the same, /health and the control channel among it, and everything
// else is 503.
type Host struct {
	cfg    config.Settings
	log    *slog.Logger
	base   *baseURL
	limits timeLimits
	web    *web.Web
	api    *httpapi.API // answers while there is no App
	app    atomic.Pointer[App]
	away   atomic.Pointer[error] // why there is none
	turn   sync.Mutex            // held by who opens and closes Apps
	began  time.Time
	lines  *hostlog.Book
	backup atomic.Pointer[config.Backup] // how scheduled backups are made now

	restores restores
	rollback rollback

	network *limitListener
	local   net.Listener
	secure  security
	mqtt    mqttPorts
}

var errStarting, errStopping = errors.New("the service is starting"), errors.New("the service is stopping")

// NewHost makes a service that is configured so. Nothing is opened before Run. Error: *config.Error.
func NewHost(cfg config.Settings, log *slog.Logger) (*Host, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	level, err := cfg.Level()
	if err != nil {
		return nil, err
	}
	lines := hostlog.New(time.Now)
	log = slog.New(hostlog.NewHandler(lines, level, log.Handler()))
	h := &Host{cfg: cfg, log: log, lines: lines, limits: defaultTimeLimits(), began: time.Now(), base: newBaseURL(cfg)}
	h.away.Store(&errStarting)
	h.backup.Store(&cfg.Backup)
	h.restores.ctx, h.restores.end = context.WithCancel(context.Background())
	h.api = httpapi.New(httpapi.Config{Log: log, Closed: h.why, Secure: cfg.Secure(), PublicURL: cfg.URL,
		Status: h.status, Compact: h.Compact, AcceptClock: h.AcceptClock, Backups: appliance.Backups{Scratch: cfg.DataDir}, Restorer: h})
	h.web, err = web.New(web.Config{Dir: cfg.Assets, Demo: h.demo(), Version: BuildInfo().Version, Secure: cfg.Secure(), PublicURL: cfg.URL})
	return h, err
}

// Log is the service's log, whose newest lines administrators can read.
func (h *Host) Log() *slog.Logger { return h.log }

// demo is what the pages tell of the demonstration; nil when this is none.
func (h *Host) demo() *web.DemoInfo {
	if h.cfg.Demo == nil {
		return nil
	}
	d := h.cfg.Demo
	info := web.DemoInfo{
		Account: d.Account, Email: d.Email, Plants: d.Plants, Groups: d.Groups, Stations: d.Stations, SKUs: d.SKUs, APIKey: d.APIKey, BaseURL: d.BaseURL,
	}
	info.Enter = func() (string, error) {
		a := h.app.Load()
		if a == nil || !a.gate.TryRLock() {
			return "", h.why()
		}
		defer a.gate.RUnlock()
		link, err := a.services.Auth.LinkOutright(auth.Local(info.Account), info.Email)
		return link.Token, err
	}
	return &info
}

// why returns why there is no App, or why it does not answer.
func (h *Host) why() error {
	if a := h.app.Load(); a != nil {
		if err := a.timely(); err != nil {
			return err
		}
	}
	return h.withRollback(*h.away.Load())
}

// SetupCode returns the one-time code that guards the set-up of an empty appliance, "" when there is nothing to set up.
func (h *Host) SetupCode() string {
	if a := h.app.Load(); a != nil {
		return a.SetupCode()
	}
	return ""
}

// current returns what answers requests now.
func (h *Host) current() *httpapi.API {
	if a := h.app.Load(); a != nil && a.timely() == nil {
		return a.api
	}
	return h.api
}

// ServeHTTP serves the network: pages and the API.
func (h *Host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case h.web.Handles(r):
		h.web.ServeHTTP(w, r)
		return
	case h.secure.handles(path):
		h.secure.trust.ServeHTTP(w, r)
		return
	}
	h.current().ServeHTTP(w, r)
}

// Run listens, opens the store and serves until ctx ends; then it answers what it has begun, closes the store, and
// returns. A damaged store does not end it: the service stays and says what is wrong. started, when not nil, is called
// once the store was opened, found damaged, or waits for room on a full disk or for the clock, with the address that
// people use. Run may be called once. Errors: *config.Error, kv.ErrLocked, kv.ErrNewer and others of Open.
func (h *Host) Run(ctx context.Context, started func(url string)) error {
	if err := datadir.Make(h.cfg.DataDir, StoreFile); err != nil {
		return fmt.Errorf("make the data directory: %w; choose another with --data-dir", err)
	}
	unlock, err := lockHost(h.cfg.DataDir)
	if err != nil {
		return err
	}
	defer unlock()
	tidyScratch(h.cfg.DataDir)
	limitMemory(h.cfg.Memory)
	go keepMemorySmall(ctx)
	watching, unwatch := context.WithCancel(ctx)
	var watcher sync.WaitGroup
	watcher.Go(func() { h.watchClock(watching) })
	defer watcher.Wait()
	defer unwatch()
	ended, shut, err := h.serve()
	if err != nil {
		return err
	}
	tell := sync.OnceFunc(func() {
		if started != nil {
			started(h.base.get())
		}
	})
	if err = h.openWhenCan(ctx, tell); err == nil || errors.Is(err, kv.ErrDamaged) {
		if err == nil {
			compactTidy(h.cfg.DataDir, h.log)
			settling, stop := context.WithCancel(ctx)
			var ended sync.WaitGroup
			ended.Go(func() { h.settleUpgrade(settling) })
			defer ended.Wait()
			defer stop()
		}
		err = nil
		tell()
		select {
		case <-ctx.Done():
		case err = <-ended: // it cannot end by itself but by failing
			err = fmt.Errorf("serve: %w", err)
		}
		h.log.Info("stopping")
	} else if passes(err) && ctx.Err() != nil {
		err = nil // it was told to end while it waited
	}
	if a := h.app.Load(); a != nil {
		a.stopping.Store(true)
		a.api.EndStreams()
	}
	h.rollback.mu.Lock() // whatever is begun after this sees that the service stops
	h.restores.end()
	h.rollback.mu.Unlock()
	shut()
	h.restores.running.Wait()
	h.turn.Lock()
	defer h.turn.Unlock()
	return errors.Join(err, h.leave(&errStopping))
}

// retryOpen is how long to wait before a store that does not open is tried again.
const retryOpen = 5 * time.Second

// openWhenCan is open. On a full disk, where a new store or a migration needs room, and while the clock must be wrong,
// it calls waiting and goes on trying until ctx ends.
func (h *Host) openWhenCan(ctx context.Context, waiting func()) error {
	for first := true; ; first = false {
		err := h.openUnless()
		if !passes(err) && (first || !errors.Is(err, kv.ErrLocked)) { // a command may look at the store meanwhile
			return err
		}
		if first {
			h.log.Error("the store cannot be used yet; it is tried again and again", slog.Any("error", err), slog.String("mend", h.mending(err)))
			waiting()
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(retryOpen):
		}
	}
}

// passes reports whether what keeps a store from being opened ends without anybody's doing anything to the service.
func passes(err error) bool { return errors.Is(err, kv.ErrFull) || errors.As(err, new(*clockError)) }

// openUnless is open, unless somebody has put another store there meanwhile, which serves.
func (h *Host) openUnless() error {
	h.turn.Lock()
	defer h.turn.Unlock()
	if h.app.Load() != nil {
		return nil
	}
	if err := h.waiting(); err != nil {
		return err
	}
	return h.open()
}

// open opens the store and lets its App answer, unless the clock must be wrong. The caller holds the turn, or nobody
// else can have it yet.
func (h *Host) open() error { return h.openAfter((*App).timely) }

// openAfter is open with another thing to do first than to look at the clock.
func (h *Host) openAfter(prepare func(*App) error) error {
	a, err := open(h.cfg, h.log, h.base, h, prepare)
	if err != nil {
		h.away.Store(&err)
		if errors.Is(err, kv.ErrDamaged) {
			h.hurt(err)
		}
		return err
	}
	h.healed()
	a.start()
	h.app.Store(a)
	return nil
}

// leave closes the App, when there is one, after the requests that use it. The caller holds the turn.
func (h *Host) leave(why *error) error {
	h.away.Store(why)
	a := h.app.Swap(nil)
	if a == nil {
		return nil
	}
	a.api.EndStreams()
	timer := time.AfterFunc(h.limits.drain, func() {
		h.log.Warn("some requests did not end in time and were cut off")
		h.network.cut()
		a.api.CutChunked() // those of the machine itself
	})
	a.gate.Lock() // for ever: late requests are told that there is no store
	timer.Stop()
	return a.Close()
}

// Replace closes the store, lets change put another in its place, and opens that one. Requests get 503 meanwhile; those
// that are being answered are finished first, for as long as at a stop. When change fails, or the new store does not
// open and get ready, undo of change is called, the old store serves again, and the error says what happened. It must
// not be called from a request that needs the store. why is what clients are told: "a backup is being restored".
// Errors: Conflict while another replacement goes on, change's, Open's.
func (h *Host) Replace(ctx context.Context, why string, change func() (undo func() error, err error)) error {
	if !h.turn.TryLock() {
		return errdefs.New(errdefs.Conflict, "the store is being replaced already, or the service is starting or stopping; try again when that has ended")
	}
	defer func() {
		if h.app.Load() == nil {
			h.openLater(*h.away.Load())
		}
		h.turn.Unlock()
	}()
	if err := ctx.Err(); err != nil {
		return err
	}
	h.log.Info("replacing the store", slog.String("why", why))
	reason := errors.New(why)
	if err := h.leave(&reason); err != nil {
		return errors.Join(fmt.Errorf("close the store: %w", err), h.open())
	}
	undo, err := change()
	if err != nil {
		return errors.Join(err, h.back(nil))
	}
	if err = h.open(); err == nil {
		if err = h.app.Load().serves(); err == nil {
			h.log.Info("the store was replaced")
			return nil
		}
		err = errors.Join(err, h.leave(&reason))
	}
	if errors.As(err, new(*clockError)) {
		h.log.Warn("the store was replaced, and waits for the clock", slog.Any("error", err))
		return nil
	}
	h.log.Error("the new store does not get ready; the old one is put back", slog.Any("error", err))
	return errors.Join(fmt.Errorf("the new store did not get ready, and the old one was put back: %w", err), h.back(undo))
}

// openLater goes on trying to open a store that no longer opens, in the background: what is in the way may pass, such
// as another program that has the file. Damage does not pass.
func (h *Host) openLater(why error) {
	h.rollback.mu.Lock()
	defer h.rollback.mu.Unlock()
	if errors.Is(why, kv.ErrDamaged) || h.restores.ctx.Err() != nil {
		return
	}
	h.log.Error("the store cannot be used; it is tried again and again", slog.Any("error", why), slog.String("mend", h.mending(why)))
	h.restores.running.Go(func() {
		for {
			select {
			case <-h.restores.ctx.Done():
				return
			case <-time.After(retryOpen):
			}
			switch err := h.openUnless(); {
			case err == nil:
				h.log.Info("the store is in use again")
				return
			case errors.Is(err, kv.ErrDamaged):
				return
			}
		}
	})
}

// back puts the old store back.
func (h *Host) back(undo func() error) error {
	if undo != nil {
		if err := undo(); err != nil {
			return fmt.Errorf("put the old store back: %w", err)
		}
	}
	if err := h.open(); err != nil {
		return fmt.Errorf("open the old store again: %w", err)
	}
	return nil
}
