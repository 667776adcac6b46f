package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"opsmon/app/host/control"
	"opsmon/app/httpapi/appliance"
	"opsmon/app/test/apptest"
	"opsmon/kv"
)

// status asks a running service how it is, as the command line does.
func status(t *testing.T, dataDir string) appliance.Status {
	t.Helper()
	client, err := control.Client(dataDir)
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	resp, err := client.Get("http://app/local/status")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var out struct {
		Result appliance.Status `json:"result"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v", resp.Status, err)
	}
	return out.Result
}

// TestStatus: a service tells how it is, with a store and while that is away; the network is not told.
func TestStatus(t *testing.T) {
	cfg := testConfig(t)
	r := serve(t, cfg)
	st := status(t, cfg.DataDir)
	for began := time.Now(); st.Starting && time.Since(began) < time.Minute; { // its stations are being read
		time.Sleep(time.Millisecond)
		st = status(t, cfg.DataDir)
	}
	if st.Version != BuildInfo().Version || st.PID != os.Getpid() || st.URL != r.url || !st.Ready || st.Reason != "" || st.SetupCode != "" || st.DataDir != cfg.DataDir {
		t.Errorf("status %+v", st)
	}
	if at, err := time.Parse(time.RFC3339, *st.StartedAt); err != nil || time.Since(at) > time.Minute {
		t.Errorf("started at %s, %v", *st.StartedAt, err)
	}
	if info, err := os.Stat(filepath.Join(cfg.DataDir, StoreFile)); err != nil || st.Store == nil || st.Store.Bytes != info.Size() || st.Store.Free <= 0 || st.Store.Version != len(migrations) || st.Store.Free >= info.Size() {
		t.Errorf("store %+v, the file has %d bytes, %v", st.Store, info.Size(), err)
	}
	if status := r.request(t, http.MethodGet, "/local/status", r.key, ""); status != http.StatusNotFound {
		t.Errorf("over the network: %d, want 404", status)
	}
	if err := r.host.Replace(t.Context(), "a test goes on", func() (func() error, error) {
		if st := status(t, cfg.DataDir); st.Ready || st.Reason != "a test goes on" || st.Store != nil {
			t.Errorf("without a store: %+v", st)
		}
		return nil, nil
	}); err != nil {
		t.Fatal(err)
	}
}

// TestMending: a service that is not ready tells what mends that, where somebody has to do something.
func TestMending(t *testing.T) {
	cfg := testConfig(t)
	a, key := opened(t, cfg)
	if err := errors.Join(a.Close(), os.WriteFile(filepath.Join(cfg.DataDir, StoreFile), []byte("rubbish"), 0o600)); err != nil {
		t.Fatal(err)
	}
	h, err := NewHost(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	run(t, h, key)
	want := "bring a backup and restore it with: app restore FILE --data-dir " + Quote(cfg.DataDir)
	apptest.Eventually(t, "the rollback", func() bool { return status(t, cfg.DataDir).Mend == want })
	if st := status(t, cfg.DataDir); !strings.HasSuffix(st.Reason, want) || !strings.Contains(st.Reason, "damaged") {
		t.Errorf("%+v", st)
	}
	for why, want := range map[error]string{kv.ErrFull: "free some room on the disk of " + cfg.DataDir, kv.ErrReadOnly: "then: app restart", errStopping: ""} {
		if got := h.mending(fmt.Errorf("a reason: %w", why)); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%v: %q", why, got)
		}
	}
}

// TestProbe: it writes through the store, does not return while the store hangs, and does return without one.
func TestProbe(t *testing.T) {
	cfg := testConfig(t)
	r := serve(t, cfg)
	before := time.Now()
	if err := r.host.Probe(); err != nil {
		t.Fatal(err)
	}
	if err := r.store.View(func(tx *kv.Tx) error {
		at, err := pulse.Get(tx, pulseKey)
		if at.Before(before.Add(-time.Second)) {
			t.Errorf("the store was written at %v, want after %v", at, before)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}

	hung, release := make(chan struct{}), make(chan struct{})
	go r.store.Update(func(*kv.Tx) error { close(hung); <-release; return nil })
	<-hung
	ended := make(chan error, 1)
	go func() { ended <- r.host.Probe() }()
	select {
	case err := <-ended:
		t.Errorf("it returned %v while the store hung", err)
	case <-time.After(200 * time.Millisecond):
	}
	close(release)
	if err := <-ended; err != nil {
		t.Errorf("after the store hung: %v", err)
	}

	if err := r.host.Replace(t.Context(), "a test goes on", func() (func() error, error) {
		if err := r.host.Probe(); err == nil || !strings.Contains(err.Error(), "a test goes on") {
			t.Errorf("without a store: %v", err)
		}
		return nil, nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := r.store.Update(func(*kv.Tx) error { return nil }); !errors.Is(err, kv.ErrClosed) {
		t.Errorf("the first store is still open: %v", err)
	}
	if err := r.host.Probe(); err != nil {
		t.Errorf("on the new store: %v", err)
	}
}

// TestStoreTakenAway: a store whose file was removed or replaced is no place to write to.
func TestStoreTakenAway(t *testing.T) {
	for name, take := range map[string]func(path string) error{
		"removed": os.Remove,
		"replaced": func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, []byte("x"), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := testConfig(t)
			r := serve(t, cfg)
			if err := take(filepath.Join(cfg.DataDir, StoreFile)); err != nil {
				t.Fatal(err)
			}
			if err := r.host.Probe(); !errors.Is(err, kv.ErrDamaged) {
				t.Errorf("Probe: %v", err)
			}
			if status, message, _ := apptest.Get(t, http.DefaultClient, r.url+"/ready", ""); status != 503 || !strings.Contains(message, "removed or replaced") {
				t.Errorf("GET /ready: %d %s", status, message)
			}
			if status := r.request(t, http.MethodPost, "/key", r.key, ""); status != 503 {
				t.Errorf("POST /key: %d", status)
			}
			if status := r.request(t, http.MethodGet, "/account", r.key, ""); status != 200 {
				t.Errorf("GET /account: %d", status)
			}
		})
	}
}
