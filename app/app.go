// Package app puts the rooms together: it opens the store and the services on it, joins the API and the pages
// under one handler, and runs the servers until it is told to stop.
package app

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"opsmon/app/account"
	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/httpapi"
	"opsmon/app/web"
	"opsmon/kv"
)

// StoreFile is the name of the store in the data directory.
const StoreFile = "app.db"

// App is the product without its network: a store, the services on it, and the handlers.
type App struct {
	cfg      Config
	log      *slog.Logger
	store    *kv.Store
	accounts *account.Service
	auth     *auth.Service
	mailer   *auth.Mailer
	api      *httpapi.API
	web      *web.Web
	setup    setupCode
	base     baseURL
	state    state
}

// Open opens the store in the data directory, making both when they are not there, and the services on it.
func Open(cfg Config, log *slog.Logger) (*App, error) {
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data directory: %w; choose another with --data-dir", err)
	}
	a := &App{cfg: cfg, log: log}
	a.base.set(cfg.URL)
	var err error
	a.store, err = kv.Open(kv.Config{Path: filepath.Join(cfg.DataDir, StoreFile), Buckets: buckets(), Migrations: migrations})
	if err != nil {
		return nil, explainOpen(cfg.DataDir, err)
	}
	if err := a.services(); err != nil {
		return nil, errors.Join(err, a.store.Close())
	}
	return a, nil
}

func (a *App) services() (err error) {
	if a.accounts, err = account.New(account.Config{Store: a.store, Log: a.log}); err != nil {
		return err
	}
	if m := a.cfg.SMTP; m.Host != "" {
		a.mailer, err = auth.NewMailer(auth.MailConfig{Host: m.Host, Port: m.Port, Username: m.Username, Password: m.Password, From: m.From, TLS: auth.TLSMode(m.TLS), Log: a.log})
		if err != nil {
			return fmt.Errorf("set up mail: %w", err)
		}
	}
	if a.auth, err = auth.New(auth.Config{Store: a.store, Accounts: a.accounts, Mailer: a.mailer, Log: a.log}); err != nil {
		return err
	}
	if len(a.accounts.List(true)) == 0 {
		a.setup.make()
	}
	cert, _, err := a.cfg.certificate()
	if err != nil {
		return err
	}
	a.api = httpapi.New(httpapi.Config{
		Accounts: a.accounts, Auth: a.auth, Log: a.log, Version: BuildInfo().Version,
		Ready: a.ready, Audit: a.auditList, Bootstrap: a.bootstrap, SetupCode: a.setup.get, Check: a.Check,
		BaseURL: a.base.get, Secure: cert != "",
	})
	a.web, err = web.New(web.Config{Dir: a.cfg.Assets, Demo: a.cfg.Demo, Version: BuildInfo().Version, Secure: cert != ""})
	return err
}

// explainOpen says what to do about a store that does not open.
func explainOpen(dir string, err error) error {
	switch {
	case errors.Is(err, kv.ErrLocked):
		return fmt.Errorf("another process is using the store in %s: stop it, or choose another directory with --data-dir: %w", dir, err)
	case errors.Is(err, kv.ErrNewer):
		return fmt.Errorf("the store in %s was written by a newer version of app; run that version: %w", dir, err)
	case errors.Is(err, kv.ErrDamaged):
		return fmt.Errorf("the store in %s is damaged and has not been changed; put a backup of %s in its place: %w", dir, StoreFile, err)
	case errors.Is(err, kv.ErrReadOnly):
		return fmt.Errorf("the store in %s cannot be written to; give the user that runs app the right to: %w", dir, err)
	}
	return fmt.Errorf("open the store in %s: %w", dir, err)
}

// Handler serves the network: pages and the API.
func (a *App) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.web.Handles(r.URL.Path) {
			a.web.ServeHTTP(w, r)
			return
		}
		a.api.ServeHTTP(w, r)
	})
}

// SetupCode gives the one-time code that guards the set-up of an empty appliance, "" once it is set up.
func (a *App) SetupCode() string { return a.setup.get() }

// Local serves the machine's own administrator. It must never be reachable from the network.
func (a *App) Local() http.Handler { return a.api.Local() }

// Close ends the services and closes the store.
func (a *App) Close() error {
	a.state.stopping.Store(true)
	a.accounts.Close()
	err := a.auth.Close()
	return errors.Join(err, a.store.Close())
}

// ready tells whether requests can be served: not while the service stops, and not when the store does not answer.
func (a *App) ready() error {
	if a.state.stopping.Load() {
		return errors.New("the service is stopping")
	}
	return a.store.View(func(*kv.Tx) error { return nil })
}

func (a *App) auditList(accountID string, limit, skip int, action string) (records []audit.Record, total int, err error) {
	err = a.store.View(func(tx *kv.Tx) error {
		records, total, err = audit.List(tx, accountID, limit, skip, action)
		return err
	})
	return records, total, err
}

// bootstrap makes an account and, when an e-mail address is given, its first administrator with a key, all in
// one transaction.
func (a *App) bootstrap(in httpapi.BootstrapInput) (*httpapi.BootstrapResult, error) {
	draft, err := a.accounts.Draft(account.CreateInput{ID: in.ID, Domain: in.Domain, Manifest: in.Manifest})
	if err != nil {
		return nil, err
	}
	result := &httpapi.BootstrapResult{AccountID: draft.ID(), Warnings: draft.Warnings}
	var published, known func()
	err = a.store.Update(func(tx *kv.Tx) (err error) {
		by := in.By
		if published, err = a.accounts.CreateTx(tx, draft, in.First, by); err != nil || in.Email == "" {
			return err
		}
		result.APIKey, known, err = a.auth.BootstrapTx(tx, draft.ID(), in.Email, by.Actor())
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

// Check looks the whole store over: its structure, every record, every manifest. Each problem is reported; the
// error is for when the check itself could not be made.
func (a *App) Check(report func(problem string)) error {
	if err := a.store.Check(report); err != nil {
		return err
	}
	if err := a.accounts.Check(time.Now(), report); err != nil {
		return err
	}
	return a.auth.Check(report)
}
