package service

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// KeepConfig configures Keep.
type KeepConfig struct {
	DataDir string
	URL     string       // shown by the service manager
	Probe   func() error // returns unless the service hangs; its error says why it does not serve fully
	Log     *slog.Logger
}

// Keep notifies the service manager until ctx ends: that the service is ready once it answers, then regularly that it
// is alive, after each Probe that returned, and finally that it stops. A service that hangs stops notifying, and is
// restarted. An error of Probe is reported, but does not cause a restart, which would solve neither a full disk nor a
// damaged store. Without a service manager it only waits for ctx.
func Keep(ctx context.Context, cfg KeepConfig) {
	if !Managed() {
		<-ctx.Done()
		return
	}
	said := ""
	status := func(err error) string {
		text := "Serving on " + cfg.URL
		if err != nil {
			text = "Not serving fully: " + err.Error()
		}
		if text == said {
			return ""
		}
		said = text
		return "STATUS=" + oneLine(text) + "\n"
	}
	for {
		if st, err := ask(ctx, cfg.DataDir); err == nil {
			if !st.Ready {
				err = errors.New(st.Reason)
			}
			cfg.notify(status(err) + "READY=1")
			break
		}
		if !sleep(ctx, readyPoll) {
			break
		}
	}
	for every := watchInterval(); every > 0 && sleep(ctx, every); {
		err := watched(cfg, cfg.Probe)
		cfg.notify(status(err) + "WATCHDOG=1")
	}
	<-ctx.Done()
	cfg.notify("STATUS=Stopping\nSTOPPING=1")
}

func (cfg KeepConfig) notify(state string) {
	if err := notify(state); err != nil {
		cfg.Log.Warn("the service manager could not be told how the service is", slog.Any("error", err))
	}
}

// sleep reports whether the time went by before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// oneLine makes one line of s: a line end would begin another assignment.
func oneLine(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c < ' ' {
			b[i] = ' '
		}
	}
	return string(b)
}
