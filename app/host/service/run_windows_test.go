package service

import (
	"context"
	"errors"
	"testing"
	"time"

	"golang.org/x/sys/windows/svc"
)

// TestExecute: the service control manager is answered before the service has begun, told how long a stop may take, and
// told of a failure but when another start would not mend it.
func TestExecute(t *testing.T) {
	failure := errors.New("a port is in use")
	for name, test := range map[string]struct {
		err     error // what the service ends with by itself; nil = it waits for the stop
		stop    svc.Cmd
		ownCode bool
		code    uint32
	}{
		"stop":                   {stop: svc.Stop},
		"the machine shuts down": {stop: svc.PreShutdown},
		"failure":                {err: failure, ownCode: true, code: 1},
		"failure that stays":     {err: &PermanentError{failure}},
	} {
		t.Run(name, func(t *testing.T) {
			requests, changes := make(chan svc.ChangeRequest), make(chan svc.Status)
			begin := make(chan struct{})
			h := &handler{ctx: t.Context(), fn: func(ctx context.Context) error {
				<-begin
				if test.err != nil {
					return test.err
				}
				<-ctx.Done()
				return nil
			}}
			type result struct {
				ownCode bool
				code    uint32
			}
			ended := make(chan result, 1)
			go func() {
				ownCode, code := h.Execute(nil, requests, changes)
				ended <- result{ownCode, code}
			}()
			if s := <-changes; s.State != svc.Running || s.Accepts != svc.AcceptStop|svc.AcceptPreShutdown {
				t.Errorf("first it says %+v", s)
			}
			close(begin)
			if test.err == nil {
				requests <- svc.ChangeRequest{Cmd: svc.Interrogate, CurrentStatus: svc.Status{State: svc.Running}}
				if s := <-changes; s.State != svc.Running {
					t.Errorf("asked, it says %+v", s)
				}
				requests <- svc.ChangeRequest{Cmd: test.stop}
				if s := <-changes; s.State != svc.StopPending || time.Duration(s.WaitHint)*time.Millisecond != stopHint {
					t.Errorf("stopped, it says %+v", s)
				}
			}
			if got := <-ended; got != (result{test.ownCode, test.code}) || !errors.Is(h.err, test.err) {
				t.Errorf("it ends with %+v and %v", got, h.err)
			}
		})
	}
}
