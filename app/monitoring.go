package app

import (
	"cmp"
	"encoding/json"
	"log/slog"
	"time"

	"opsmon/app/auth"
	"opsmon/app/deliver/event"
	"opsmon/app/engine/correction"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/history"
	"opsmon/app/engine/station"
	"opsmon/app/httpapi"
	"opsmon/app/idempotency"
	"opsmon/app/ingest/signal"
	"opsmon/app/work/issue"
	"opsmon/app/work/message"
	"opsmon/app/work/schedule"
	"opsmon/app/work/task"
)

// monitoring opens what follows the stations: the log of signals, the floor, and the rules that act by themselves.
func (a *App) monitoring() (err error) {
	a.events = event.NewHub(uint64(a.cfg.Clock().UnixMilli()))
	a.signals, err = signal.NewLog(signal.Config{
		Store: a.store, Clock: a.cfg.Clock, Log: a.log, Retention: days(a.cfg.Signals.Days), Hold: a.undecided, Rate: a.cfg.Signals.PerSecond,
		Appended: func(list []signal.Signal) { a.floor.Arrived(list) }, Room: func(account, source string) bool { return a.floor.Room(account, source) },
		Meter: func(account, code string) bool { return a.floor.Meter(account, code) },
	})
	if err != nil {
		return err
	}
	if a.history, err = history.New(history.Config{
		Store: a.store, Clock: a.cfg.Clock, Log: a.log, Retention: days(a.cfg.Windows.Days), Signals: days(a.cfg.Signals.Days),
	}); err != nil {
		return err
	}
	a.notes, err = station.NewNotes(station.NotesConfig{
		Store: a.store, Accounts: a.accounts, Authorize: a.auth.Authorize, Changed: func(id, code string) { a.floor.Noted(id, code) },
	})
	if err != nil {
		return err
	}
	timelines := station.New(station.Config{Accounts: a.accounts, Store: a.store, Options: station.Options{
		AliveTimeout: int64(a.cfg.Signals.AliveMinutes) * time.Minute.Milliseconds(),
		Spread:       int64(a.cfg.Signals.SpreadMinutes) * time.Minute.Milliseconds(),
	}})
	a.floor = floor.New(floor.Config{
		Store: a.store, Accounts: a.accounts, Signals: a.signals, History: a.history, Events: a.events, Clock: a.cfg.Clock, Log: a.log,
		Notes:     a.notes.Of,
		Timelines: timelines, Findings: issue.Findings, Issue: issue.Told,
	})
	a.issues = issue.New(issue.Config{Store: a.store, Authorize: a.auth.Authorize, Detail: a.floor.Detail, Clock: a.cfg.Clock, Retention: cmp.Or(days(a.cfg.Windows.Days), history.DefaultRetention)})
	a.requests = idempotency.New(idempotency.Config{Store: a.store, Clock: a.cfg.Clock})
	a.corrections = correction.New(correction.Config{
		Accounts: a.accounts, Floor: a.floor, Requests: a.requests, Authorize: a.auth.Authorize, Retention: days(a.cfg.Signals.Days), Clock: a.cfg.Clock,
	})
	a.schedules, err = schedule.New(schedule.Config{
		Store: a.store, Log: a.log, Authorize: a.auth.Authorize, Floor: a.floor,
		Retention: cmp.Or(days(a.cfg.Windows.Days), history.DefaultRetention), Late: cmp.Or(days(a.cfg.Signals.Days), signal.DefaultRetention),
	})
	if err != nil {
		return err
	}
	a.tasks = task.New(task.Config{
		Store: a.store, Timelines: timelines, Log: a.log, Authorize: a.auth.Authorize,
	})
	a.messages = message.New(message.Config{Store: a.store, Authorize: a.auth.Authorize})
	a.floor.Use(a.schedules, a.tasks, a.issues)
	return nil
}

// changed tells the floor, and who watches, that an account has changed.
func (a *App) changed(accountID string) {
	a.floor.Changed(accountID)
	newest, _, err := a.accounts.Revisions(auth.Principal{AccountID: accountID}, 1, 0)
	if err != nil || len(newest) == 0 {
		a.log.Error("a new revision is not told to who watches", slog.String("account", accountID), slog.Any("error", err))
		return
	}
	if was, known := a.told.Swap(accountID, newest[0].Revision); known && was == newest[0].Revision {
		return // it was archived, or has come back
	}
	data, err := json.Marshal(newest[0])
	if err != nil {
		a.log.Error("a new revision is not told to who watches", slog.String("account", accountID), slog.Any("error", err))
		return
	}
	a.events.Publish(accountID, event.Event{At: a.cfg.Clock().UnixMilli(), Type: event.Account, Data: data})
}

// floorGauges measures how the stations of all accounts keep up.
func (a *App) floorGauges() []httpapi.Gauge {
	var stations, late, loading, failing, behind float64
	now, oldest := a.cfg.Clock().UnixMilli(), int64(0)
	for _, account := range a.accounts.List(false) {
		h := a.floor.Health(account.ID)
		stations += float64(h.Stations)
		late += float64(h.Late)
		failing += float64(h.Failing)
		if h.Behind != 0 {
			behind = max(behind, float64(now-h.Behind)/1000)
		}
		if h.Loading {
			loading++
		}
		if h.Kept != 0 && (oldest == 0 || h.Kept < oldest) {
			oldest = h.Kept
		}
	}
	list := []httpapi.Gauge{
		{Name: "app_floor_stations", Help: "Stations that are followed.", Value: stations},
		{Name: "app_floor_late_stations", Help: "Stations that are to be computed again because something came late.", Value: late},
		{Name: "app_floor_behind_seconds", Help: "How far back figures are still to change because something came late; 0 when none are.", Value: behind},
		{Name: "app_floor_failing", Help: "What falls due by itself at stations and cannot be done, of each station by itself; the log tells why.", Value: failing},
		{Name: "app_floor_loading_accounts", Help: "Accounts whose stations are being read since the start.", Value: loading},
	}
	if oldest != 0 {
		list = append(list, httpapi.Gauge{Name: "app_floor_kept_age_seconds", Help: "Age of what came of the signals and is kept; what is younger is computed again after a restart.", Value: float64(now-oldest) / 1000})
	}
	return list
}
