package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"opsmon/app/audit"
	"opsmon/app/errdefs"
)

// clockLook is how often the clock is looked at.
const clockLook = time.Second

// clockError says that the machine's clock shows a time whose signals have been removed for their age, as after the battery of
// its clock has died. The service waits then: what is recorded by such a clock is of no use, and taking back what was counted
// after the time that it shows would lose it for good.
type clockError struct{ now, swept time.Time }

func (e *clockError) Error() string {
	return fmt.Sprintf("the machine's clock shows %v, and signals of before %v have been removed for their age: the clock must be wrong, and nothing is recorded by it",
		audit.Timestamp(e.now), audit.Timestamp(e.swept))
}

// acceptClockCommand says that the clock is right.
const acceptClockCommand = "app clock accept"

// timely returns nil when the clock can be right, else a *clockError.
func (a *App) timely() error {
	now, swept := a.cfg.Clock(), time.UnixMilli(a.signals.Swept())
	if now.Before(swept) {
		return &clockError{now, swept}
	}
	return nil
}

// watchClock has the service wait while the clock cannot be right, until ctx ends.
func (h *Host) watchClock(ctx context.Context) {
	tick := time.NewTicker(clockLook)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if a := h.app.Load(); a != nil && a.timely() != nil {
			h.waitForClock()
		}
	}
}

// waitForClock closes the store until the clock is right.
func (h *Host) waitForClock() {
	if !h.turn.TryLock() {
		return // it is being replaced, and looked at when it is opened
	}
	defer h.turn.Unlock()
	a := h.app.Load()
	if a == nil {
		return
	}
	why := a.timely()
	if why == nil {
		return
	}
	if err := h.leave(&why); err != nil {
		h.log.Error("the store was not closed as it should", slog.Any("error", err))
	}
	h.openLater(why)
}

// AcceptClock opens the store although the clock shows a time whose signals have been removed: somebody says that it is right,
// and was ahead before. What was counted after that time is taken back. Conflict when the service does not wait for that.
func (h *Host) AcceptClock() error {
	h.turn.Lock()
	defer h.turn.Unlock()
	if why := new(clockError); h.app.Load() != nil || !errors.As(*h.away.Load(), &why) {
		return errdefs.New(errdefs.Conflict, "the service does not wait for the clock to be set right")
	}
	h.log.Warn("the clock is said to be right", slog.Any("was", *h.away.Load()))
	return h.openAfter(func(a *App) error { return a.signals.ForgetSwept() })
}
