package service_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"opsmon/app/host/control"
	"opsmon/app/host/service"
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
	var up, damaged atomic.Bool
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/local/status":
			http.NotFound(w, r)
		case up.Load():
			w.Write([]byte(`{"isSuccess":true,"result":{"ready":true,"reason":""}}`))
		case damaged.Load():
			w.Write([]byte(`{"isSuccess":true,"result":{"ready":false,"reason":"the store is damaged"}}`))
		default:
			w.Write([]byte(`{"isSuccess":true,"result":{"ready":false,"starting":true,"reason":"the service is starting"}}`))
		}
	})}
	go s.Serve(l)
	defer s.Close()
	if err := service.WaitReady(soon(150*time.Millisecond), dir); err == nil || !strings.Contains(err.Error(), "the service is starting") {
		t.Errorf("a service that starts: %v", err)
	}
	damaged.Store(true)
	begin := time.Now()
	if err := service.WaitReady(soon(time.Minute), dir); err == nil || !strings.Contains(err.Error(), "the store is damaged") {
		t.Errorf("a service that is not ready: %v", err)
	}
	if took := time.Since(begin); took < time.Second || took > 20*time.Second {
		t.Errorf("it gave up after %v", took)
	}
	time.AfterFunc(100*time.Millisecond, func() { up.Store(true) })
	if err := service.WaitReady(soon(10*time.Second), dir); err != nil {
		t.Errorf("a service that comes up: %v", err)
	}
}
