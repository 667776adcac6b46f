package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"opsmon/app/audit"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
)

// clockLook is how often the clock is looked at.
const clockLook = time.Second

// clockError says that the machine's clock shows a time whose signals have been removed for their age, as after the battery of
// its clock has died. The service waits then: what is recorded by such a clock is of no use, and taking back what was counted
// after the time that it shows would lose it for good.
type clockError struct{ now, swept time.Time }

func (e *clockError) Error() string {
	return fmt.Sprintf("the machine's clock shows %v, and signals of before %v have been removed for their age: the clock must be wrong, and nothing is recorded by it",
		instant.Format(e.now), instant.Format(e.swept))
}

// acceptClockCommand says that the clock is right.
const acceptClockCommand = "app clock accept"

// clockMargin is how far the time at which somebody says that the clock is right may be from the one that it shows.
const clockMargin = time.Hour

// timely returns nil when the clock can be right, else a *clockError.
func (a *App) timely() error {
	now, swept := a.cfg.Clock(), time.UnixMilli(a.services.Signals.Swept())
	if now.Before(swept) {
		return &clockError{now, swept}
	}
	return nil
}

// timelyHere is timely for an App without a Host, which cannot wait.
func (a *App) timelyHere() error {
	if err := a.timely(); err != nil {
		return fmt.Errorf("%w: set it right; if it is right now and was ahead before, start the service and say so with %s", err, acceptClockCommand)
	}
	return nil
}

// anyTime lets an App that only looks at the store open it whatever the clock shows.
func anyTime(*App) error { return nil }

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

// waiting returns why the service waits for the clock; nil when it does not, or when the clock has been set. The caller holds the
// turn.
func (h *Host) waiting() error {
	why := new(clockError)
	if !errors.As(*h.away.Load(), &why) {
		return nil
	}
	now := time.Now()
	if h.cfg.Clock != nil {
		now = h.cfg.Clock()
	}
	if !now.Before(why.swept) {
		return nil
	}
	return &clockError{now, why.swept}
}

// AcceptClock opens the store although the clock shows a time whose signals have been removed: somebody who saw it show now says
// that it is right, and was ahead before. What was counted for the time after it is taken back. Errors: Conflict when the service
// does not wait for that, or the clock shows another time than now.
func (h *Host) AcceptClock(now time.Time, by audit.Actor) error {
	h.turn.Lock()
	defer h.turn.Unlock()
	why := new(clockError)
	if h.app.Load() != nil || !errors.As(h.waiting(), &why) {
		return errdefs.New(errdefs.Conflict, "the service does not wait for the clock to be set right")
	}
	if now.Sub(why.now).Abs() > clockMargin {
		return errdefs.New(errdefs.Conflict, "the machine's clock shows %v now, not %v", instant.Format(why.now), instant.Format(now))
	}
	if err := h.openAfter(func(a *App) error { return a.services.Signals.SweptToday() }); err != nil {
		return err
	}
	h.log.Warn("the clock is said to be right", slog.Time("now", why.now), slog.Time("was", why.swept))
	h.app.Load().note(by, "clock.accept", instant.Format(why.now), nil)
	return nil
}
