package app

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"opsmon/app/host/config"
	"opsmon/app/host/datadir"
	"opsmon/app/host/upgrade"
)

// UpgradeConfig returns what an upgrade of the program that works on a data directory needs to know of it. The caller
// adds the program, the service and how to speak to people.
func UpgradeConfig(cfg config.Settings) upgrade.Config {
	return upgrade.Config{
		DataDir: cfg.DataDir, Migrations: migrations, Key: upgrade.PublicKey(),
		HandOver: func(path string) error { return datadir.HandOver(cfg.DataDir, path) }, Clock: cfg.Clock, Holds: holds,
		BackupDirs: []string{cfg.LocalBackups(), cfg.BackupDir()}, // a service of an older version puts it into the second
	}
}

// settleEvery is the time between two looks at an upgrade that is at work.
const settleEvery = 10 * time.Second

// settleUpgrade ends an upgrade that was broken off, once whoever began it is gone, when the service has been up for as
// long as an upgrade would have watched it and its store holds what it did. Otherwise all that a rollback needs stays.
func (h *Host) settleUpgrade(ctx context.Context) {
	for wait := upgrade.Probation(); upgrade.Pending(h.cfg.DataDir); wait = settleEvery {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		a := h.app.Load()
		if a == nil || a.ready() != nil {
			continue
		}
		c, err := a.store.Contents()
		if err == nil {
			err = upgrade.Settle(h.cfg.DataDir, holds(c.Counts))
		}
		switch {
		case errors.Is(err, upgrade.ErrLost):
			h.log.Error("the upgrade was broken off, and less is there than before it; go back with: app rollback", slog.Any("error", err))
			return
		case err != nil:
			h.log.Error("what an upgrade has left could not be removed", slog.Any("error", err))
		}
	}
}

// lasting are the buckets of what lasts, with people's names of it.
var lasting = map[string]string{
	"account": upgrade.Accounts, "revision": upgrade.Revisions, "authUser": "users", "signal": upgrade.Signals,
	"ledger": "entries", "schedule": "schedules", "historyDay": upgrade.History,
}

// holds returns what a store holds that lasts, of the numbers of its keys by bucket.
func holds(counts map[string]int) map[string]int {
	out := make(map[string]int, len(lasting))
	for bucket, name := range lasting {
		out[name] = counts[bucket]
	}
	return out
}
