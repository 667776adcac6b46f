package service

import (
	"context"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// Run runs fn until it returns. On Windows it answers the service control manager for it.
func Run(ctx context.Context, fn func(context.Context) error) error { return fn(ctx) }

func notify(state string) error {
	_, err := daemon.SdNotify(false, state)
	return err
}

// watchInterval returns the time between two signs of life: a third of what systemd waits for one. 0 = it wants none.
func watchInterval() time.Duration {
	d, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		return 0
	}
	return d / 3
}

// watched probes; systemd bites when it takes too long.
func watched(_ KeepConfig, probe func() error) error { return probe() }
