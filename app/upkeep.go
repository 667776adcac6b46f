package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"opsmon/app/audit"
	"opsmon/kv"
)

// clocks holds what the store knows of the machine's clock.
var clocks = kv.NewBucket("clock", kv.String, kv.JSON[clockRecord]())

// clockKey is the one key of that bucket.
const clockKey = "upkeep"

// clockRecord tells whether the clock can be believed. It is stored: a changed field needs a migration.
type clockRecord struct {
	At    time.Time `json:"at"`    // of the last upkeep
	Doubt int       `json:"doubt"` // how many more upkeeps remove nothing
}

const (
	upkeepEvery = time.Hour
	// clockJump is how far the clock may go between two upkeeps and be believed at once. A machine that was switched
	// off for longer looks the same.
	clockJump = 24 * time.Hour
	// clockDoubt is for how many upkeeps, of an hour each, nothing is removed after a jump: what a wrong clock removes
	// is gone for good, and in a day somebody sets it right.
	clockDoubt = 24
)

// keepUp does the upkeep of a service until ctx ends.
func (a *App) keepUp(ctx context.Context) {
	tick := time.NewTicker(upkeepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := a.upkeep(ctx); err != nil && ctx.Err() == nil {
			a.log.Error("what has had its time was not removed", slog.Any("error", err))
		}
	}
}

// upkeep removes what has had its time: expired sessions, links and keys, signals, what stations did, what people did
// and said, keys of requests that were done, and audit records past their retention. What one room cannot remove keeps
// no other from it.
func (a *App) upkeep(ctx context.Context) error {
	now, believed, err := a.believe()
	if err != nil || !believed {
		return err
	}
	return errors.Join(
		a.services.Auth.Sweep(now), a.services.Signals.Sweep(ctx), a.services.Floor.Sweep(ctx), a.services.Requests.Sweep(ctx),
		a.services.Tasks.Sweep(ctx, now), a.services.Messages.Sweep(ctx, now), a.services.History.Sweep(ctx), a.services.Issues.Sweep(ctx), a.services.Schedules.Sweep(ctx, now), a.trimAudit(ctx, now),
	)
}

// trimAudit removes the audit records of all accounts that are past their retention.
func (a *App) trimAudit(ctx context.Context, now time.Time) error {
	keep := audit.Retention{Age: time.Duration(a.cfg.AuditDays) * 24 * time.Hour, Max: audit.MaxRecords}
	for _, account := range a.services.Accounts.List(true) {
		removed, more := 0, true
		for more && ctx.Err() == nil {
			n := 0
			err := a.store.Update(func(tx *kv.Tx) (err error) {
				n, more, err = audit.Trim(tx, account.ID, keep, now)
				return err
			})
			if err != nil {
				return err
			}
			removed += n
		}
		if removed > 0 {
			a.log.Info("old audit records removed", slog.String("account", account.ID), slog.Int("records", removed), slog.Int("auditDays", a.cfg.AuditDays))
		}
	}
	return nil
}

// clockDoubt gives for how many hours nothing will be removed yet since the clock may be wrong, 0 when it is believed.
func (a *App) clockDoubt() (hours int) {
	err := a.store.View(func(tx *kv.Tx) error {
		c, err := clocks.Get(tx, clockKey)
		hours = c.Doubt
		return err
	})
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		a.log.Warn("what is known of the clock cannot be read", slog.Any("error", err))
	}
	return hours
}

// believe returns the time, and whether things may be removed by it.
func (a *App) believe() (now time.Time, believed bool, err error) {
	var ahead time.Duration
	err = a.store.Update(func(tx *kv.Tx) error {
		now, ahead = tx.Now(), 0
		c, err := clocks.Get(tx, clockKey)
		if err != nil && !errors.Is(err, kv.ErrNotFound) {
			return err
		}
		if err == nil && now.Sub(c.At) > clockJump {
			ahead, c.Doubt = now.Sub(c.At), clockDoubt
		}
		believed = c.Doubt == 0
		c.At, c.Doubt = now, max(c.Doubt-1, 0)
		return clocks.Put(tx, clockKey, c)
	})
	if err != nil {
		return now, false, fmt.Errorf("note the time: %w", err)
	}
	if ahead > 0 {
		a.log.Warn("the clock went ahead since it was last looked at, or the service was off for so long; nothing is removed for its age until it has run for a day: see that the clock is right",
			slog.Duration("by", ahead), slog.Time("now", now))
	}
	return now, believed, nil
}
