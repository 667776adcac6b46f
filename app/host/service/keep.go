package service

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// KeepConfig is what Keep needs.
type KeepConfig struct {
	DataDir string
	URL     string       // told to the service manager
	Probe   func() error // returns unless the service hangs; its error says why it does not serve fully
	Log     *slog.Logger
}

// Keep is the service's side of the talk with the service manager, until ctx ends: that it is ready, once it answers;
// then again and again that it lives, each time after a Probe that returned; at last that it stops. A service that
// hangs falls silent, and is ended and started again. An error of Probe is told, and is no reason to be ended: starting
// again mends neither a full disk nor a damaged store. Outside of a service manager it only waits for ctx.
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
