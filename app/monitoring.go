package app

import (
	"opsmon/app/event"
	"opsmon/app/floor"
	"opsmon/app/history"
	"opsmon/app/schedule"
	"opsmon/app/signal"
	"opsmon/app/station"
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
	a.floor = floor.New(floor.Config{
		Store: a.store, Accounts: a.accounts, Signals: a.signals, History: a.history, Events: a.events, Clock: a.cfg.Clock, Log: a.log,
		Notes:     a.board.Of,
		Timelines: station.New(station.Config{Accounts: a.accounts}),
	})
	a.schedules, err = schedule.New(schedule.Config{Store: a.store, Authorize: a.auth.Authorize, Live: a.floor.Now, Detail: a.floor.Detail})
	if err != nil {
		return err
	}
	a.floor.Use(a.schedules)
	return nil
}
