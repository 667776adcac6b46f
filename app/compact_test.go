package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"opsmon/app/auth"
	"opsmon/app/test/apptest"
	"opsmon/kv"
)

// fatten gives a store much free room: large manifests' worth of audit that is then gone.
func fatten(t testing.TB, dir string) {
	t.Helper()
	filler := kv.NewBucket("filler", kv.Uint64, kv.Raw)
	s, err := kv.Open(kv.Config{Path: filepath.Join(dir, StoreFile), Buckets: []string{filler.Name()}, Migrations: migrations})
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(tx *kv.Tx, k uint64) error{
		func(tx *kv.Tx, k uint64) error { return filler.Put(tx, k, make([]byte, 64<<10)) },
		func(tx *kv.Tx, k uint64) error { return filler.Delete(tx, k) },
	} {
		err := s.Update(func(tx *kv.Tx) error {
			for k := range uint64(64) {
				if err := change(tx, k); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestCompactRunning compacts the store of a service that takes requests. None fails in another way than by 503, what was
// answered before and after is there, and the file is smaller.
func TestCompactRunning(t *testing.T) {
	cfg := testConfig(t)
	a, key := opened(t, cfg)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	fatten(t, cfg.DataDir)
	r := serve(t, cfg)
	h := r.host
	before := fileSize(t, filepath.Join(cfg.DataDir, StoreFile))
	var stop atomic.Bool
	var clients sync.WaitGroup
	var away, written atomic.Int64
	for i := range 4 {
		clients.Go(func() {
			for n := 1; !stop.Load(); n++ {
				switch status := r.request(t, http.MethodPost, "/user", key, fmt.Sprintf(`{"email":"u%d-%d@northgate.example","role":"member"}`, i, n)); status {
				case http.StatusOK, http.StatusCreated:
					written.Add(1)
				case http.StatusServiceUnavailable:
					away.Add(1)
					n--
				default:
					t.Errorf("status %d", status)
				}
			}
		})
	}
	var smaller int64
	for range 5 {
		already := written.Load()
		apptest.Eventually(t, "a write", func() bool { return written.Load() > already+4 })
		result, err := h.Compact(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if result.After > result.Before || smaller == 0 && result.After > before/2 {
			t.Errorf("%+v, before %d", result, before)
		}
		smaller = result.After
	}
	stop.Store(true)
	clients.Wait()
	if err := h.app.Load().Check(func(p string) { t.Error(p) }); err != nil {
		t.Error(err)
	}
	users, err := h.app.Load().services.Auth.ListUsers(auth.Local("northgate"))
	if err != nil {
		t.Fatal(err)
	}
	if n := int(written.Load()); len(users) < n+1 {
		t.Errorf("%d users are there, %d were answered", len(users), n+1)
	}
	for _, name := range []string{compactKept, compactNew} {
		if _, err := os.Stat(filepath.Join(cfg.DataDir, name)); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", name, err)
		}
	}
	t.Logf("%d to %d bytes, %d users added, %d times 503", before, smaller, written.Load(), away.Load())
}

func fileSize(t testing.TB, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// TestCompactStopped: without a service; refused beside one, and when the store is damaged.
func TestCompactStopped(t *testing.T) {
	cfg := testConfig(t)
	a, _ := opened(t, cfg)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	fatten(t, cfg.DataDir)
	log := slog.New(slog.DiscardHandler)
	result, err := Compact(t.Context(), cfg, log)
	if err != nil || result.After > result.Before/2 {
		t.Errorf("%+v, %v", result, err)
	}
	unlock, err := lockHost(cfg.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Compact(t.Context(), cfg, log); !errors.Is(err, kv.ErrLocked) {
		t.Errorf("beside a service: %v", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Compact(ended, cfg, log); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
	path := filepath.Join(cfg.DataDir, StoreFile)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[strings.Index(string(data), `"action":"user.add"`)] ^= 1 // in the audit, which nobody reads at the start
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Compact(t.Context(), cfg, log); !errors.Is(err, kv.ErrDamaged) {
		t.Errorf("damaged: %v", err)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != string(data) {
		t.Error("the damaged store was changed")
	}
}

// killable builds the binary whose steps can be stopped at, with the tags given too.
var killable = sync.OnceValues(func() (string, error) { return apptest.BuildAs("killable", "failpoint", "") })

// TestCompactKilled kills compacting at each of its steps, without a service and within one. The next start has the old
// store or the new one, whole.
func TestCompactKilled(t *testing.T) {
	apptest.Long(t)
	t.Parallel()
	program, err := killable()
	if err != nil {
		t.Fatal(err)
	}
	from := t.TempDir()
	apptest.Initialise(t, from, "--domain", "northgate.example")
	fatten(t, from)
	for _, running := range []bool{false, true} {
		t.Run(fmt.Sprintf("running %v", running), func(t *testing.T) {
			t.Parallel()
			killed := 0
			for step := 1; ; step++ {
				dir := t.TempDir()
				apptest.CopyTree(t, from, dir)
				env := append(os.Environ(), fmt.Sprintf("APP_FAILPOINT=%d", step))
				var serve *apptest.Process
				if running {
					cmd := exec.Command(program, "serve", "--data-dir", dir, "--listen", "127.0.0.1:0")
					cmd.Env = env
					serve = apptest.StartCommand(t, "Serving on ", cmd)
				}
				cmd := exec.Command(program, "compact", "--data-dir", dir)
				cmd.Env = env
				out, err := cmd.CombinedOutput()
				if serve != nil && err == nil {
					serve.Kill()
				}
				if serve != nil && err != nil {
					serve.Cmd.Wait()
				}
				text, stderr, status := apptest.Command(t, "check", "--data-dir", dir)
				if status != 0 {
					t.Fatalf("after %s: check: %s%s", out, text, stderr)
				}
				if list, stderr, _ := apptest.Command(t, "user", "list", "--data-dir", dir); !strings.Contains(list, "it@northgate.example") {
					t.Fatalf("after %s: %s%s", out, list, stderr)
				}
				if text, stderr, status := apptest.Command(t, "compact", "--data-dir", dir); status != 0 {
					t.Fatalf("after %s: again: %s%s", out, text, stderr)
				}
				for _, name := range []string{compactKept, compactNew} {
					if _, err := os.Stat(filepath.Join(dir, name)); !os.IsNotExist(err) {
						t.Errorf("after %s: %s is left: %v", out, name, err)
					}
				}
				if err == nil {
					break // it came to its end
				}
				killed++
			}
			if killed < 6 {
				t.Errorf("it has only %d steps", killed)
			}
			t.Logf("killed at %d steps", killed)
		})
	}
}

// TestCompactUndoOfNothing: what a killed compact has kept is older than the store, and a later one that has nothing to
// gain must not put it back when it fails.
func TestCompactUndoOfNothing(t *testing.T) {
	cfg := testConfig(t)
	a, _ := opened(t, cfg)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(cfg.DataDir, StoreFile)
	for { // until there is nothing to gain
		c, err := compact(t.Context(), cfg.DataDir)
		if err != nil {
			t.Fatal(err)
		}
		if c.After >= c.Before {
			break
		}
	}
	if err := os.WriteFile(filepath.Join(cfg.DataDir, compactKept), []byte("an older store"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := compact(t.Context(), cfg.DataDir); err != nil {
		t.Fatal(err)
	}
	if err := compactUndo(cfg.DataDir); err != nil {
		t.Fatal(err)
	}
	if n, err := kv.VersionOf(path); err != nil || n != StoreVersion() {
		t.Errorf("an older store was put back: version %d, %v", n, err)
	}
}
