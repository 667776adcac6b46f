package app

import (
	"opsmon/app/event"
	"opsmon/app/floor"
	"opsmon/app/history"
	"opsmon/app/schedule"
	"opsmon/app/signal"
	"opsmon/app/station"
	"opsmon/app/task"
)

// monitoring opens what follows the stations: the log of signals, the floor, and the rules that act by themselves.
func (a *App) monitoring() (err error) {
	a.events = event.NewHub(uint64(a.cfg.Clock().UnixMilli()))
	a.signals, err = signal.NewLog(signal.Config{
		Store: a.store, Clock: a.cfg.Clock, Log: a.log, Retention: days(a.cfg.Signals.Days), Rate: a.cfg.Signals.PerSecond,
		Appended: func(list []signal.Signal) { a.floor.Arrived(list) },
	})
	if err != nil {
		return err
	}
	if a.history, err = history.New(history.Config{
		Store: a.store, Clock: a.cfg.Clock, Log: a.log, Retention: days(a.cfg.Windows.Days), Signals: days(a.cfg.Signals.Days),
	}); err != nil {
		return err
	}
	a.board, err = station.NewBoard(station.BoardConfig{
		Store: a.store, Accounts: a.accounts, Authorize: a.auth.Authorize, Changed: func(id, code string) { a.floor.Noted(id, code) },
	})
	if err != nil {
		return err
	}
	timelines := station.New(station.Config{Accounts: a.accounts})
	a.floor = floor.New(floor.Config{
		Store: a.store, Accounts: a.accounts, Signals: a.signals, History: a.history, Events: a.events, Clock: a.cfg.Clock, Log: a.log,
		Notes:     a.board.Of,
		Timelines: timelines,
	})
	a.schedules, err = schedule.New(schedule.Config{Store: a.store, Authorize: a.auth.Authorize, Live: a.floor.Now, Detail: a.floor.Detail})
	if err != nil {
		return err
	}
	a.tasks = task.New(task.Config{
		Store: a.store, Timelines: timelines, Log: a.log, Revision: a.revision, Authorize: a.auth.Authorize,
	})
	a.floor.Use(a.schedules, a.tasks)
	return nil
}

// revision gives the number of the manifest's revision of an account, 0 when there is no such account.
func (a *App) revision(accountID string) int64 {
	snap, err := a.accounts.Get(accountID)
	if err != nil {
		return 0
	}
	return int64(snap.Account.Revision)
}
