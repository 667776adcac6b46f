package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/app/host/control"
	"opsmon/app/test/apptest"
	"opsmon/kv"
)

// TestReplace: while the store is replaced clients are told to come back, and afterwards the new one answers; when it
// cannot, the old one does again.
func TestReplace(t *testing.T) {
	cfg := testConfig(t)
	r := serve(t, cfg)
	path := filepath.Join(cfg.DataDir, StoreFile)
	whole, aside := filepath.Join(t.TempDir(), "whole"), path+".aside"
	back := func() error { return os.Rename(aside, path) }

	seen := false
	err := r.host.Replace(t.Context(), "a test goes on", func() (func() error, error) {
		seen = true
		if status, message, header := apptest.Get(t, http.DefaultClient, r.url+"/account", r.key); status != 503 || !strings.Contains(message, "a test goes on") || header.Get("Retry-After") == "" {
			t.Errorf("GET /account meanwhile: %d %q, Retry-After %q", status, message, header.Get("Retry-After"))
		}
		if status, message, _ := apptest.Get(t, http.DefaultClient, r.url+"/ready", ""); status != 503 || !strings.Contains(message, "a test goes on") {
			t.Errorf("GET /ready meanwhile: %d %q", status, message)
		}
		if status, _, _ := apptest.Get(t, http.DefaultClient, r.url+"/health", ""); status != 200 {
			t.Errorf("GET /health meanwhile: %d", status)
		}
		if err := r.host.Replace(t.Context(), "another", nil); errdefs.KindOf(err) != errdefs.Conflict {
			t.Errorf("a second replacement at the same time: %v", err)
		}
		unlock, err := kv.LockFile(path, 0) // it is closed
		if err != nil {
			return nil, err
		}
		unlock()
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		return back, errors.Join(os.WriteFile(whole, b, 0o600), os.Rename(path, aside), os.WriteFile(path, b, 0o600))
	})
	if err != nil || !seen {
		t.Fatal(err)
	}
	if status := r.request(t, http.MethodGet, "/account", r.key, ""); status != 200 {
		t.Errorf("GET /account afterwards: %d", status)
	}
	if r.host.app.Load() == r.App {
		t.Error("the App is the old one")
	}

	// A change that fails, a store that does not open, and an undo for it.
	if err := r.host.Replace(t.Context(), "a test goes on", func() (func() error, error) { return nil, errors.New("no room") }); err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("a change that fails: %v", err)
	}
	os.Remove(aside)
	err = r.host.Replace(t.Context(), "a test goes on", func() (func() error, error) {
		return back, errors.Join(os.Rename(path, aside), os.WriteFile(path, []byte("rubbish"), 0o600))
	})
	if !errors.Is(err, kv.ErrDamaged) || !strings.Contains(err.Error(), "put back") {
		t.Errorf("a store that does not open: %v", err)
	}
	if status := r.request(t, http.MethodGet, "/account", r.key, ""); status != 200 {
		t.Errorf("GET /account after it went back: %d", status)
	}
	if err := r.host.Replace(t.Context(), "a test goes on", func() (func() error, error) {
		return func() error { return errors.New("the disk is gone") }, os.WriteFile(path, []byte("rubbish"), 0o600)
	}); err == nil || !strings.Contains(err.Error(), "the disk is gone") {
		t.Errorf("an undo that fails: %v", err)
	}
	if status, message, _ := apptest.Get(t, http.DefaultClient, r.url+"/ready", ""); status != 503 || !strings.Contains(message, "damaged") {
		t.Errorf("GET /ready with nothing to go back to: %d %q", status, message)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err = r.host.Replace(t.Context(), "a test goes on", func() (func() error, error) {
		b, err := os.ReadFile(whole)
		return nil, errors.Join(err, os.WriteFile(path, b, 0o600))
	})
	if err != nil {
		t.Errorf("out of the damage: %v", err)
	}
	if status := r.request(t, http.MethodGet, "/account", r.key, ""); status != 200 {
		t.Errorf("GET /account out of the damage: %d", status)
	}
}

// TestReplaceUnderLoad: no request meets a closed store, and no write that was acknowledged is lost.
func TestReplaceUnderLoad(t *testing.T) {
	r := serve(t, testConfig(t))
	var written, refused atomic.Int64
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				switch status := r.request(t, http.MethodPost, "/key", r.key, ""); status {
				case 200:
					written.Add(1)
				case 503:
					refused.Add(1)
				default:
					t.Errorf("POST /key: %d", status)
					return
				}
			}
		})
	}
	for range 5 {
		time.Sleep(20 * time.Millisecond)
		if err := r.host.Replace(t.Context(), "a test goes on", func() (func() error, error) {
			apptest.Eventually(t, "a client that is told to wait", func() bool { return refused.Load() > 0 })
			refused.Store(0)
			return nil, nil
		}); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	clients.Wait()
	keys, err := r.host.app.Load().services.Auth.ListKeys(auth.Local("northgate"))
	if err != nil {
		t.Fatal(err)
	}
	if got := int64(len(keys)) - 1; got != written.Load() {
		t.Errorf("%d keys are there, %d were acknowledged", got, written.Load())
	}
}

// TestReplaceOpensLater: another program has the store when it is to be opened again, and the service serves as before when
// that has let it go.
func TestReplaceOpensLater(t *testing.T) {
	cfg := testConfig(t)
	r := serve(t, cfg)
	var unlock func() error
	err := r.host.Replace(t.Context(), "a test goes on", func() (_ func() error, err error) {
		unlock, err = kv.LockFile(filepath.Join(cfg.DataDir, StoreFile), 0)
		return nil, errors.Join(err, errors.New("no room"))
	})
	if err == nil || !errors.Is(err, kv.ErrLocked) {
		t.Errorf("got %v", err)
	}
	if status := r.request(t, http.MethodGet, "/account", r.key, ""); status != 503 {
		t.Errorf("GET /account meanwhile: %d", status)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, "the service to serve again", func() bool { return r.request(t, http.MethodGet, "/account", r.key, "") == 200 })
}

// TestReplaceWaitsNotForEver: a client that never ends its request does not keep a replacement from going on.
func TestReplaceWaitsNotForEver(t *testing.T) {
	r := serve(t, testConfig(t), func(h *Host) { h.limits.drain = 100 * time.Millisecond })
	c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "POST /account HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-KEY: "+r.key+"\r\nContent-Type: application/json\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n")
	if b, err := io.ReadAll(io.LimitReader(c, 12)); err != nil || string(b) != "HTTP/1.1 100" {
		t.Fatalf("%q, %v", b, err)
	}
	start := time.Now()
	if err := r.host.Replace(t.Context(), "a test goes on", func() (func() error, error) { return nil, nil }); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestDamagedStart: a service whose store is damaged stays, says so, and is reached by the command line.
func TestDamagedStart(t *testing.T) {
	cfg := testConfig(t)
	if err := os.WriteFile(filepath.Join(cfg.DataDir, StoreFile), []byte("rubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := NewHost(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	started, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- h.Run(ctx, func(url string) { started <- url }) }()
	url := <-started
	defer http.DefaultClient.CloseIdleConnections()
	for path, want := range map[string]int{"/health": 200, "/openapi.json": 200, "/": 200, "/ready": 503, "/account": 503, "/metrics": 503} {
		status, message, header := apptest.Get(t, http.DefaultClient, url+path, "opk_x")
		if status != want || want == 503 && (!strings.Contains(message, "damaged") || header.Get("Retry-After") == "") {
			t.Errorf("%s: %d %q, want %d", path, status, message, want)
		}
	}
	local, err := control.Client(cfg.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	if status, message, _ := apptest.Get(t, local, "http://app/local/account", ""); status != 503 || !strings.Contains(message, "damaged") {
		t.Errorf("/local/account: %d %q", status, message)
	}
	local.CloseIdleConnections()
	other, err := NewHost(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Run(t.Context(), nil); !errors.Is(err, kv.ErrLocked) || !strings.Contains(err.Error(), "--data-dir") {
		t.Errorf("a second service: %v", err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
