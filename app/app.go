// Package app puts the rooms together. An App is the store and the services on it, with the API that they answer
// through; a Host runs one on the network until it is told to stop.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"opsmon/app/account"
	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/app/host/backup"
	"opsmon/app/host/config"
	"opsmon/app/host/datadir"
	"opsmon/app/host/upgrade"
	"opsmon/app/httpapi"
	"opsmon/app/httpapi/appliance"
	"opsmon/app/httpapi/configuration"
	"opsmon/app/httpapi/rest"
	"opsmon/app/ingest/mqtt"
	"opsmon/app/services"
	"opsmon/kv"
)

// StoreFile is the name of the store in the data directory.
const StoreFile = "app.db"

// App is the product without its network: a store, the services on it, and the API.
type App struct {
	cfg      config.Settings
	log      *slog.Logger
	store    *kv.Store
	services *services.Services // nil until they are open
	broker   *mqtt.Broker
	plant    plant
	api      *httpapi.API
	told     sync.Map // by account id, the number of the revision that watchers were told last
	setup    setupCode
	base     *baseURL
	gate     sync.RWMutex // read by each request that uses the store, written by who closes it
	stopping atomic.Bool
	read     atomic.Bool // what went on at the stations has been read since the start
	host     *Host       // nil when there is none

	keeper    *backup.Keeper
	backup    *atomic.Pointer[config.Backup] // how scheduled ones are made now; cfg has how at the start
	changing  sync.Mutex                     // held by who changes that
	keeping   sync.WaitGroup                 // what goes on in the background
	endKeeper func()                         // nil when it does not run
	endUpkeep func()                         // likewise
}

// Open opens the store in the data directory, making both when they are not there, and the services on it. The
// caller closes the App. Errors: those of kv.Open, *config.Error, and one that says that the machine's clock must be
// wrong.
func Open(cfg config.Settings, log *slog.Logger) (*App, error) {
	return open(cfg, log, newBaseURL(cfg), nil, (*App).timelyHere)
}

// open is Open for a Host, which is nil when there is none. prepare is called before the App starts; its error is
// returned.
func open(cfg config.Settings, log *slog.Logger, base *baseURL, h *Host, prepare func(*App) error) (*App, error) {
	if err := datadir.Make(cfg.DataDir, StoreFile); err != nil {
		return nil, fmt.Errorf("make the data directory: %w; choose another with --data-dir", err)
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	a := &App{cfg: cfg, log: log, base: base, host: h, backup: new(atomic.Pointer[config.Backup])}
	a.backup.Store(&cfg.Backup)
	if h != nil {
		a.backup = &h.backup
	}
	if err := upgrade.Recover(cfg.DataDir, len(migrations)); err != nil {
		return nil, err
	}
	err := backup.Recover(cfg.DataDir, func() (err error) {
		c := storeConfig(cfg)
		c.OnDamage = a.damaged
		a.store, err = kv.Open(c)
		return err
	})
	if errors.Is(err, kv.ErrLocked) {
		err = fmt.Errorf("%w, or choose another directory with --data-dir", err)
	}
	if errors.Is(err, kv.ErrNewer) {
		err = newer(cfg, err)
	}
	if err != nil {
		return nil, err
	}
	if err = datadir.HandOver(cfg.DataDir, a.store.Path()); err == nil {
		err = a.openServices()
	}
	if err == nil {
		err = prepare(a)
	}
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// storeConfig returns how the store of a data directory is opened.
func storeConfig(cfg config.Settings) kv.Config {
	return kv.Config{Path: filepath.Join(cfg.DataDir, StoreFile), Clock: cfg.Clock, Buckets: buckets(), Migrations: migrations}
}

func (a *App) openServices() (err error) {
	if _, _, err := a.cfg.CertificateFiles(); err != nil {
		return err
	}
	if err := identify(a.store, BuildInfo().Version, a.log); err != nil {
		return err
	}
	if a.services, err = a.newServices(); err != nil {
		return err
	}
	for _, account := range a.services.Accounts.List(true) {
		a.told.Store(account.ID, account.Revision)
	}
	if len(a.services.Accounts.List(true)) == 0 {
		a.setup.make()
	}
	if a.broker, err = a.newBroker(); err != nil {
		return err
	}
	a.keeper = a.newKeeper()
	a.api = httpapi.New(a.apiConfig())
	return nil
}

// newServices opens the services of the accounts, with the mail that is set.
func (a *App) newServices() (*services.Services, error) {
	var mailer *auth.Mailer
	if m := a.cfg.SMTP; m.Host != "" {
		var err error
		mailer, err = auth.NewMailer(auth.MailConfig{
			Host: m.Host, Port: m.Port, Username: m.Username, Password: m.Password, From: m.From, TLS: auth.TLSMode(m.TLS), Log: a.log,
		})
		if err != nil {
			return nil, fmt.Errorf("set up mail: %w", err)
		}
	}
	set := a.cfg.Signals
	return services.Open(services.Config{
		Store: a.store, Clock: a.cfg.Clock, Log: a.log, Mailer: mailer, Changed: a.changed, FirstEvent: uint64(a.cfg.Clock().UnixMilli()),
		SignalRetention: days(set.Days), WindowRetention: days(a.cfg.Windows.Days), SignalRate: set.PerSecond,
		Stations: station.Options{
			AliveTimeout: int64(set.AliveMinutes) * time.Minute.Milliseconds(),
			Spread:       int64(set.SpreadMinutes) * time.Minute.Milliseconds(),
		},
	})
}

// apiConfig returns the API's configuration.
func (a *App) apiConfig() httpapi.Config {
	api := httpapi.Config{
		Accounts: a.services.Accounts, Auth: a.services.Auth, Signals: a.services.Signals, Connections: a.broker.Connections, Events: a.services.Events, Floor: a.services.Floor, Reports: a.services.Reports, Schedules: a.services.Schedules, Issues: a.services.Issues, Tasks: a.services.Tasks, Messages: a.services.Messages, MaxConnections: a.cfg.MaxConnections, Notes: a.services.Notes, Corrections: a.services.Corrections, Requests: a.services.Requests, Log: a.log,
		Ready: a.ready, Audit: a.auditList, Bootstrap: a.bootstrap, SetupCode: a.setup.get, Check: a.Check,
		BaseURL: a.base.get, Secure: a.cfg.Secure(), PublicURL: a.cfg.URL, Gate: &a.gate, Gauges: a.gauges,
		Status: func() appliance.Status { return statusOf(a.cfg, a) }, Appliance: a.appliance, ChangeBackups: a.changeBackups,
		Known: keepConn,
		Backups: appliance.Backups{
			Folder: backup.Folder(a.cfg.BackupDir()), Scratch: a.cfg.DataDir, Scheduled: a.scheduled, Keeper: a.keeper,
			Source: a.backupConfig, Prepare: a.makeBackupDir, Upgrades: a.upgradeBackups, Clock: a.cfg.Clock, Note: a.note, Holds: holds,
			HandOver: func(path string) error { return datadir.HandOver(a.cfg.DataDir, path) },
		},
	}
	if a.host != nil {
		api.Status, api.Compact, api.AcceptClock, api.Restorer, api.Lines = a.host.status, a.host.Compact, a.host.AcceptClock, a.host, a.host.lines.Lines
	}
	return api
}

// start begins what goes on in the background of a service. Close ends it.
func (a *App) start() {
	a.services.Accounts.Warm()
	a.startKeeper()
	ctx, cancel := context.WithCancel(context.Background())
	a.endUpkeep = cancel
	a.keeping.Go(func() { a.keepUp(ctx) })
	a.keeping.Go(func() { a.unmap(ctx) })
	a.keeping.Go(func() { a.services.Signals.Run(ctx) })
	a.keeping.Go(func() { a.services.Floor.Run(ctx) })
	if err := a.startPlant(); err != nil {
		a.log.Error("the plant's broker is not used", slog.Any("error", err))
	}
}

// SetupCode returns the one-time code that guards the set-up of an empty appliance, "" once it is set up.
func (a *App) SetupCode() string { return a.setup.get() }

// Local serves the machine's own administrator. It must never be reachable from the network.
func (a *App) Local() http.Handler { return a.api.Local() }

// Close ends the services and closes the store. No request may be running any more.
func (a *App) Close() error {
	a.stopping.Store(true)
	a.endPlant()
	if a.broker != nil { // Open closes what it has come to when it fails
		a.broker.Close()
	}
	for _, end := range []func(){a.endKeeper, a.endUpkeep} {
		if end != nil {
			end()
		}
	}
	a.keeping.Wait()
	var err error
	if a.services != nil {
		err = a.services.Close()
	}
	err = errors.Join(err, a.store.Close())
	if err != nil && (a.store.Damage() != nil || errdefs.KindOf(err) == errdefs.Unavailable) {
		// A store that cannot be written must not be in the way of the one that is put in its place.
		a.log.Warn("when keys and sessions were used last could not be written", slog.Any("error", err))
		return nil
	}
	return err
}

// ready returns nil when the service serves, and what went on at the stations has been read. An account that could not
// be read does not hold up the others: it is tried again, and its requests are answered with 503 until then.
func (a *App) ready() error {
	if err := a.timely(); err != nil {
		return err
	}
	if err := a.serves(); err != nil {
		return err
	}
	if a.read.Load() {
		return nil // what is made later is read while its first request waits
	}
	accounts, failed := a.services.Accounts.List(false), error(nil)
	read := len(accounts) == 0
	for _, account := range accounts {
		switch h := a.services.Floor.Health(account.ID); {
		case h.Loading && h.Failed == nil:
			return errLoading
		case h.Loading:
			failed = h.Failed
		default:
			read = true
		}
	}
	if !read {
		return fmt.Errorf("what went on at the stations cannot be read; it is tried again: %w", failed)
	}
	a.read.Store(true)
	return nil
}

// errLoading says that the stations of an account cannot be shown yet.
var errLoading = errors.New("what went on at the stations is being read since the service started")

// serves returns nil unless the service stops, or the store does not answer.
func (a *App) serves() error {
	if a.stopping.Load() {
		return errors.New("the service is stopping")
	}
	_ = a.store.Attached() // what it finds is damage, which the next line tells
	if err := a.store.Damage(); err != nil {
		if a.host != nil {
			err = a.host.withRollback(err)
		}
		return err
	}
	return a.store.Writable()
}

// damaged notes damage that was met while the store is open.
func (a *App) damaged(err error) {
	if a.host != nil {
		a.host.hurt(err)
	}
}

// gauges measures the appliance for /metrics. What cannot be measured is left out.
func (a *App) gauges() []rest.Gauge {
	var list []rest.Gauge
	if a.host != nil {
		list = a.host.secure.gauges(a.cfg.Clock())
	}
	list = append(list, a.backupGauges()...)
	list = append(list, a.floorGauges()...)
	list = append(list, a.signalGauges()...)
	list = append(list, a.mqttGauges()...)
	list = append(list, a.plantGauges()...)
	memory := memoryStatus()
	list = append(list,
		rest.Gauge{Name: "app_memory_bytes", Help: "Memory that the runtime uses; pages of the store's file come on top.", Value: float64(memory.Used)},
		rest.Gauge{Name: "app_memory_limit_bytes", Help: "Memory that the runtime keeps to, by collecting more often; 0 = no limit.", Value: float64(memory.Limit)},
	)
	u, err := a.store.Usage()
	if err != nil {
		a.log.Warn("the room that the store takes cannot be told", slog.Any("error", err))
		return list
	}
	return append(list,
		rest.Gauge{Name: "app_store_bytes", Help: "Size of the store's file.", Value: float64(u.Bytes)},
		rest.Gauge{Name: "app_store_disk_full", Help: "1 when the last write found the disk full.", Value: map[bool]float64{true: 1}[a.store.Full()]},
		rest.Gauge{Name: "app_store_free_bytes", Help: "Of the store's file, what later writes use again; app compact gives it back.", Value: float64(u.Free)},
	)
}

func (a *App) auditList(accountID string, q audit.Query) (page audit.Page, err error) {
	err = a.store.View(func(tx *kv.Tx) error {
		page, err = audit.List(tx, accountID, q)
		return err
	})
	return page, err
}

// bootstrap makes an account and, when an e-mail address is given, its first administrator with a key, all in
// one transaction.
func (a *App) bootstrap(in configuration.BootstrapInput) (*configuration.BootstrapResult, error) {
	if in.Email != "" {
		var err error
		if in.Email, err = auth.ParseEmail(in.Email); err != nil {
			return nil, err
		}
	}
	draft, err := a.services.Accounts.Draft(account.CreateInput{ID: in.ID, Domain: in.Domain, Manifest: in.Manifest, Plant: in.Plant})
	if err != nil {
		return nil, err
	}
	result := &configuration.BootstrapResult{AccountID: draft.ID(), Warnings: draft.Warnings}
	if in.DryRun {
		result.Email = in.Email
		return result, nil
	}
	var published, known func()
	err = a.store.Update(func(tx *kv.Tx) (err error) {
		by := in.By
		if published, err = a.services.Accounts.CreateTx(tx, draft, in.First, by); err != nil || in.Email == "" {
			return err
		}
		var raw string
		raw, known, err = a.services.Auth.BootstrapTx(tx, auth.First{AccountID: draft.ID(), Email: in.Email, SignIn: in.SignIn, Actor: by.Actor()})
		result.Credential(raw, in.SignIn)
		return err
	})
	if err != nil {
		return nil, err
	}
	published()
	if known != nil {
		known()
		result.Email = in.Email
	}
	a.setup.clear()
	return result, nil
}
