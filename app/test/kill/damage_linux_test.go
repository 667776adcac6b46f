package kill_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"opsmon/app/test/apptest"
)

// TestDamageWhileRunning damages the file of a running service. Requests that hit the damage are answered 500, or 503
// if writes are refused. From then on the service is not ready and reports the reason; data in memory is served, and
// the process stays up. The log has instructions once.
func TestDamageWhileRunning(t *testing.T) {
	for _, tt := range []struct {
		name   string
		damage func(t *testing.T, path string)
		meet   string // the request that hits it
		status int
		write  int // status of a later write
	}{
		{"a value", func(t *testing.T, path string) {
			overwrite(t, path, func(b []byte) {
				if n := bytes.Count(b, []byte("account.create")); n == 0 {
					t.Fatal("no audit record is in the file")
				}
				copy(b, bytes.ReplaceAll(b, []byte("account.create"), []byte("accouns.create")))
			})
		}, "/audit", 500, 200},
		{"pages", func(t *testing.T, path string) {
			overwrite(t, path, func(b []byte) {
				for i := range b[2*4096:] {
					b[2*4096+i] = byte(i * 31)
				}
			})
		}, "/audit", 500, 503},
		{"cut", func(t *testing.T, path string) {
			if err := os.Truncate(path, 2*4096); err != nil {
				t.Fatal(err)
			}
		}, "/account/manifest/revisions", 500, 503},
		{"emptied", func(t *testing.T, path string) {
			if err := os.Truncate(path, 0); err != nil {
				t.Fatal(err)
			}
		}, "/audit", 500, 503},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			key := apptest.Initialise(t, dir, "--domain", "northgate.example")
			p := apptest.StartService(t, dir)
			if status := p.Status(http.MethodPost, "/key", key, ""); status != 200 {
				t.Fatal(status)
			}
			resume := pause(t, p)
			tt.damage(t, filepath.Join(dir, "app.db"))
			resume()
			for range 3 {
				if status, message, _ := apptest.Get(t, http.DefaultClient, p.URL+tt.meet, key); status != tt.status || !strings.Contains(message, "damaged") || strings.Contains(message, dir) {
					t.Errorf("%s: %d %q, want %d", tt.meet, status, message, tt.status)
				}
			}
			status, message, _ := apptest.Get(t, http.DefaultClient, p.URL+"/ready", "")
			if status != 503 || !strings.Contains(message, "damaged") {
				t.Errorf("/ready: %d %q", status, message)
			}
			for path, want := range map[string]int{"/health": 200, "/account": 200, "/key": 200, "/": 200} {
				if status := p.Status(http.MethodGet, path, key, ""); status != want {
					t.Errorf("%s: %d, want %d", path, status, want)
				}
			}
			for range 2 {
				if status := p.Status(http.MethodPost, "/user", key, `{"email":"new@northgate.example","role":"member"}`); status != tt.write && status != 409 {
					t.Errorf("a write: %d, want %d", status, tt.write)
				}
			}
			_ = p.End(t, syscall.SIGTERM) // buffered data may be lost, which the status shows
			log := p.Stderr.String()
			if strings.Count(log, "the store is damaged: keep a copy") != 1 || strings.Contains(log, "goroutine ") || strings.Contains(log, "panic") {
				t.Errorf("the log: %s", log)
			}
		})
	}
}

// pause stops a service at any point, and returns a function that continues it. The service commits at any time, so
// parts of its file that a test has read may change.
func pause(t *testing.T, p *apptest.Process) (resume func()) {
	t.Helper()
	if err := p.Cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for status := fmt.Sprintf("/proc/%d/status", p.Cmd.Process.Pid); ; time.Sleep(time.Millisecond) {
		b, err := os.ReadFile(status)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), "State:\tT") {
			break
		}
	}
	return func() {
		t.Helper()
		if err := p.Cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
}

// overwrite changes bytes in a file that others have open, and writes only those.
func overwrite(t *testing.T, path string, change func(b []byte)) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	was := bytes.Clone(b)
	change(b)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for from := 0; from < len(b); from++ {
		to := from
		for to < len(b) && b[to] != was[to] {
			to++
		}
		if _, err := f.WriteAt(b[from:to], int64(from)); err != nil {
			t.Fatal(err)
		}
		from = to
	}
}
