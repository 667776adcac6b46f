// Package services opens the services of the accounts on a store, and connects them. The product and the tests of the API
// open them here, so that both run the same.
package services

import (
	"cmp"
	"errors"
	"log/slog"
	"slices"
	"time"

	"opsmon/app/account"
	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/deliver/event"
	"opsmon/app/engine/correction"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/history"
	"opsmon/app/engine/ledger"
	"opsmon/app/engine/report"
	"opsmon/app/engine/station"
	"opsmon/app/idempotency"
	"opsmon/app/ingest/signal"
	"opsmon/app/work/issue"
	"opsmon/app/work/message"
	"opsmon/app/work/schedule"
	"opsmon/app/work/task"
	"opsmon/kv"
)

// Config is what the services need. The zero value of a field is the default where it has one.
type Config struct {
	Store  *kv.Store
	Clock  func() time.Time
	Log    *slog.Logger
	Mailer *auth.Mailer // nil = no mail is sent

	SignalRetention time.Duration // of signals; 0 = signal.DefaultRetention
	WindowRetention time.Duration // of what is computed from them, and of schedules and stops; 0 = history.DefaultRetention
	SignalRate      int           // signals a second of one device; 0 = signal.DefaultRate
	Stations        station.Options
	FirstEvent      uint64 // number of the first event

	Changed func(accountID string)               // is called when an account has changed, instead of Floor.Changed
	Live    func(accountID string) *account.Live // what GET /account shows of the stations; nil = Floor.Account
}

// Services are those of all accounts.
type Services struct {
	Accounts    *account.Service
	Auth        *auth.Service
	Signals     *signal.Log
	History     *history.Store
	Events      *event.Hub
	Notes       *station.Notes
	Timelines   *station.Timelines
	Floor       *floor.Floor
	Reports     *report.Service
	Corrections *correction.Service
	Requests    *idempotency.Service
	Schedules   *schedule.Service
	Tasks       *task.Service
	Messages    *message.Service
	Issues      *issue.Service
}

// Buckets are the names of the buckets of all services.
func Buckets() []string {
	return slices.Concat(account.Buckets(), audit.Buckets(), auth.Buckets(), signal.Buckets(), issue.Buckets(), history.Buckets(),
		station.Buckets(), ledger.Buckets(), floor.Buckets(), idempotency.Buckets(), schedule.Buckets(), task.Buckets(), message.Buckets())
}

// Open opens the services on a store, whose buckets are Buckets. The caller closes them.
func Open(cfg Config) (_ *Services, err error) {
	s := &Services{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if err := s.openAccounts(cfg); err != nil {
		return nil, err
	}
	cfg.SignalRetention = cmp.Or(cfg.SignalRetention, signal.DefaultRetention)
	cfg.WindowRetention = cmp.Or(cfg.WindowRetention, history.DefaultRetention)
	if err := s.openFloor(cfg); err != nil {
		return nil, err
	}
	if err := s.openWork(cfg); err != nil {
		return nil, err
	}
	return s, nil
}

// openAccounts opens what knows who and what is configured. It closes the mailer when there is nobody to use it.
func (s *Services) openAccounts(cfg Config) (err error) {
	defer func() {
		if err != nil && cfg.Mailer != nil {
			cfg.Mailer.Close()
		}
	}()
	if cfg.Changed == nil {
		cfg.Changed = func(id string) { s.Floor.Changed(id) }
	}
	if cfg.Live == nil {
		cfg.Live = func(id string) *account.Live { return s.Floor.Account(id) }
	}
	if s.Accounts, err = account.New(account.Config{
		Store: cfg.Store, Clock: cfg.Clock, Log: cfg.Log, Changed: cfg.Changed, Live: cfg.Live, Effect: station.EffectOf,
		Await:     func(id string) { s.Floor.AwaitChange(id) },
		Authorize: func(tx *kv.Tx, p auth.Principal, need auth.Role) error { return s.Auth.Authorize(tx, p, need) },
	}); err != nil {
		return err
	}
	s.Auth, err = auth.New(auth.Config{Store: cfg.Store, Accounts: s.Accounts, Mailer: cfg.Mailer, Log: cfg.Log, Clock: cfg.Clock})
	return err
}

// openFloor opens what follows the stations: the log of signals, the history and the floor.
func (s *Services) openFloor(cfg Config) (err error) {
	s.Events = event.NewHub(cfg.FirstEvent)
	s.Signals, err = signal.NewLog(signal.Config{
		Store: cfg.Store, Clock: cfg.Clock, Log: cfg.Log, Retention: cfg.SignalRetention, Rate: cfg.SignalRate,
		Appended: func(list []signal.Signal) { s.Floor.Arrived(list) },
		Room:     func(account, source string) bool { return s.Floor.Room(account, source) },
		Meter:    func(account, code string) bool { return s.Floor.Meter(account, code) },
	})
	if err != nil {
		return err
	}
	s.History, err = history.New(history.Config{
		Store: cfg.Store, Clock: cfg.Clock, Log: cfg.Log, Retention: cfg.WindowRetention, Signals: cfg.SignalRetention,
	})
	if err != nil {
		return err
	}
	s.Notes, err = station.NewNotes(station.NotesConfig{
		Store: cfg.Store, Accounts: s.Accounts, Authorize: s.Auth.Authorize, Changed: func(id, code string) { s.Floor.Noted(id, code) },
	})
	if err != nil {
		return err
	}
	s.Timelines = station.New(station.Config{Accounts: s.Accounts, Store: cfg.Store, Options: cfg.Stations})
	s.Floor = floor.New(floor.Config{
		Store: cfg.Store, Accounts: s.Accounts, Signals: s.Signals, History: s.History, Events: s.Events, Clock: cfg.Clock, Log: cfg.Log,
		Notes: s.Notes.Of, Timelines: s.Timelines, Findings: issue.Findings, Issue: issue.EventData,
	})
	s.Reports = report.New(report.Config{Floor: s.Floor, Signals: s.Signals})
	return nil
}

// openWork opens what people do, and has the floor apply its rules.
func (s *Services) openWork(cfg Config) (err error) {
	s.Issues = issue.New(issue.Config{
		Store: cfg.Store, Authorize: s.Auth.Authorize, Detail: s.Floor.Detail, Clock: cfg.Clock, Retention: cfg.WindowRetention,
	})
	s.Requests = idempotency.New(idempotency.Config{Store: cfg.Store, Clock: cfg.Clock})
	s.Corrections = correction.New(correction.Config{
		Accounts: s.Accounts, Floor: s.Floor, Requests: s.Requests, Authorize: s.Auth.Authorize, Retention: cfg.SignalRetention,
		Clock: cfg.Clock,
	})
	s.Schedules, err = schedule.New(schedule.Config{
		Store: cfg.Store, Log: cfg.Log, Authorize: s.Auth.Authorize, Floor: s.Floor,
		Retention: cfg.WindowRetention, Late: cfg.SignalRetention,
	})
	if err != nil {
		return err
	}
	s.Tasks = task.New(task.Config{Store: cfg.Store, Timelines: s.Timelines, Log: cfg.Log, Authorize: s.Auth.Authorize})
	s.Messages = message.New(message.Config{Store: cfg.Store, Authorize: s.Auth.Authorize})
	s.Floor.Use(s.Schedules, s.Tasks, s.Issues)
	return nil
}

// Close ends the services. It writes what was not written yet, so the store is closed after it.
func (s *Services) Close() error {
	if s.Floor != nil {
		s.Floor.Close()
	}
	if s.Accounts != nil {
		s.Accounts.Close()
	}
	if s.Auth != nil {
		return s.Auth.Close()
	}
	return nil
}
