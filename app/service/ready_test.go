package service_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"opsmon/app/control"
	"opsmon/app/service"
)

// TestWaitReady: it waits for a service that comes up, and tells the reason of one that does not.
func TestWaitReady(t *testing.T) {
	dir := t.TempDir()
	soon := func(d time.Duration) context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), d)
		t.Cleanup(cancel)
		return ctx
	}
	if err := service.WaitReady(soon(100*time.Millisecond), dir); err == nil || !strings.Contains(err.Error(), control.ErrNotRunning.Error()) {
		t.Errorf("no service: %v", err)
	}
	l, err := control.Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	var up atomic.Bool
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if up.Load() && r.URL.Path == "/ready" {
			return
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		w.Write([]byte(`{"isSuccess":false,"errorCode":"unavailable","errorMessage":"not ready: the store is damaged"}`))
	})}
	go s.Serve(l)
	defer s.Close()
	if err := service.WaitReady(soon(150*time.Millisecond), dir); err == nil || !strings.Contains(err.Error(), "the store is damaged") {
		t.Errorf("a service that is not ready: %v", err)
	}
	time.AfterFunc(100*time.Millisecond, func() { up.Store(true) })
	if err := service.WaitReady(soon(10*time.Second), dir); err != nil {
		t.Errorf("a service that comes up: %v", err)
	}
}
