package service

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows/svc"
)

// Run runs fn until it returns. As the Windows service it answers the service control manager first, runs fn beside, and
// ends fn's context when the manager says so. The library's own loop is not used: it cannot end by itself when the
// service fails, and does not tell the manager how long the last requests may take.
func Run(ctx context.Context, fn func(context.Context) error) error {
	if !Managed() {
		return fn(ctx)
	}
	h := &handler{ctx: ctx, fn: fn}
	if err := svc.Run(Name, h); err != nil {
		return err
	}
	return h.err
}

// handler is the service as the service control manager sees it.
type handler struct {
	ctx context.Context
	fn  func(context.Context) error
	err error // fn's, when it has ended
}

// stopHint is how long the manager is asked to wait for a stop: the drain of requests and the closing of the store,
// with a margin.
const stopHint = 40 * time.Second

// Execute implements svc.Handler. A failure that starting again may mend is an error to the manager, whose recovery
// actions follow; a permanent one is a plain end, which they do not (it is in the event log all the same).
func (h *handler) Execute(_ []string, requests <-chan svc.ChangeRequest, changes chan<- svc.Status) (ownCode bool, code uint32) {
	const accepts = svc.AcceptStop | svc.AcceptPreShutdown
	ctx, stop := context.WithCancel(h.ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- h.fn(ctx) }()
	changes <- svc.Status{State: svc.Running, Accepts: accepts}
	for {
		select {
		case h.err = <-ended:
			if h.err == nil {
				return false, 0
			}
			if permanent := (*PermanentError)(nil); errors.As(h.err, &permanent) {
				return false, 0
			}
			return true, 1
		case r := <-requests:
			switch r.Cmd {
			case svc.Interrogate:
				changes <- r.CurrentStatus
			case svc.Stop, svc.PreShutdown:
				changes <- svc.Status{State: svc.StopPending, WaitHint: uint32(stopHint / time.Millisecond)}
				stop()
			}
		}
	}
}

func notify(string) error { return nil } // the manager knows two states, which Execute reports

// hung is after how long a probe that does not return ends the process.
const hung = time.Minute

func watchInterval() time.Duration { return hung / 3 }

// watched probes and ends the process when that takes too long; the manager's recovery starts it again.
func watched(cfg KeepConfig, probe func() error) error {
	bite := time.AfterFunc(hung, func() {
		cfg.Log.Error("the store has not taken a write for a minute; the service ends, to be started again")
		os.Exit(1)
	})
	defer bite.Stop()
	return probe()
}
