package app

import (
	"context"
	"log/slog"
	"time"

	"opsmon/app/upgrade"
)

// UpgradeConfig gives what an upgrade of the program that works on a data directory needs to know of it. The caller adds
// the program, the service and how to speak to people.
func UpgradeConfig(cfg Config) upgrade.Config {
	return upgrade.Config{
		DataDir: cfg.DataDir, Migrations: migrations, Key: upgrade.PublicKey(),
		HandOver: func(path string) error { return handOver(cfg.DataDir, path) }, Clock: cfg.Clock,
	}
}

// settleEvery is the time between two looks at an upgrade that is at work.
const settleEvery = 10 * time.Second

// settleUpgrade ends an upgrade that was broken off, once whoever began it is gone. The service serves by then.
func (h *Host) settleUpgrade(ctx context.Context) {
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	for upgrade.Pending(h.cfg.DataDir) {
		if err := upgrade.Settle(h.cfg.DataDir); err != nil {
			h.log.Error("what an upgrade has left could not be removed", slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
