package app

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"opsmon/app/host/backup"
	"opsmon/app/host/config"
	"opsmon/app/test/apptest"
	"opsmon/kv"
)

// backups makes an account, backups of it in the default folder of a data directory whose name has a space, and one more
// key that none of them has. The newest backup is broken. It gives the directory, the key, and the newest whole backup.
func backups(t *testing.T) (dir, key, whole string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "data é")
	key = apptest.Initialise(t, dir, "--domain", "northgate.example")
	folder := filepath.Join(dir, "backups")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	cfg := config.Defaults()
	cfg.DataDir = dir
	s, err := kv.Open(storeConfig(cfg))
	if err != nil {
		t.Fatal(err)
	}
	for day := range 3 {
		at := time.Date(2026, 1, 1+day, 0, 0, 0, 0, time.UTC)
		whole = filepath.Join(folder, backup.ManualName(at))
		if _, err := backup.Create(t.Context(), backup.Config{Store: s, Version: "1.2.3", Clock: func() time.Time { return at }}, whole); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	broken := whole
	whole = filepath.Join(folder, "manual-20260102T000000Z.backup")
	b, err := os.ReadFile(broken)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-len(b)/3] ^= 1
	if err := os.WriteFile(broken, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, key, whole
}

// TestWayBack: a service on a damaged store, of each kind, stays up and says which backup to restore with which command;
// that command brings it back while it runs.
func TestWayBack(t *testing.T) {
	apptest.Long(t)
	dir, key, whole := backups(t)
	path := filepath.Join(dir, StoreFile)
	store, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flip := func(text string) []byte {
		b := bytes.Clone(store)
		if !bytes.Contains(b, []byte(text)) {
			t.Fatalf("%s is not in the store", text)
		}
		return bytes.ReplaceAll(b, []byte(text), []byte(strings.ToUpper(text)))
	}
	for name, content := range map[string][]byte{
		"empty":               {},
		"cut":                 store[:5*4096],
		"foreign":             []byte("SQLite format 3\x00" + strings.Repeat("x", 100_000)),
		"both metas":          append(make([]byte, 2*4096), store[2*4096:]...),
		"one meta":            append(append(bytes.Clone(store[:4096]), make([]byte, 4096)...), store[2*4096:]...),
		"every page":          append(bytes.Clone(store[:2*4096]), bytes.Repeat([]byte("page"), len(store)/4-2*1024)...),
		"a user":              flip(`"role":"admin"`),
		"an account's record": flip(`"domain":"northgate.example"`),
		"the appliance":       flip(`"createdAt":`),
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			p := apptest.StartService(t, dir)
			defer func() {
				if t.Failed() {
					t.Logf("the log: %s", p.Stderr)
				}
			}()
			want := "app restore '" + whole + "' --data-dir '" + dir + "'"
			var message string
			apptest.Eventually(t, "the rollback", func() bool {
				var status int
				status, message, _ = apptest.Get(t, http.DefaultClient, p.URL+"/ready", "")
				return status == 503 && strings.Contains(message, want)
			})
			if !strings.Contains(message, "damaged") {
				t.Errorf("/ready: %s", message)
			}
			if name == "cut" {
				toldOfDamage(t, dir, want)
			}
			if status := p.Status(http.MethodGet, "/account", key, ""); status != 503 {
				t.Errorf("/account: %d", status)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, content) {
				t.Errorf("the damaged file was changed, %v", err)
			}
			out, stderr, status := apptest.Command(t, "restore", whole, "--data-dir", dir, "--yes")
			if status != 0 {
				t.Fatalf("restore: %s%s", out, stderr)
			}
			untilReady(t, p.URL)
			for path, want := range map[string]int{"/ready": 200, "/account": 200} {
				if status, message, _ := apptest.Get(t, http.DefaultClient, p.URL+path, key); status != want {
					t.Errorf("%s after the restore: %d %q", path, status, message)
				}
			}
			if status := p.End(t, syscall.SIGTERM); status != 0 {
				t.Errorf("exit status %d", status)
			}
			log := p.Stderr.String()
			if strings.Count(log, want) != 1 || strings.Count(log, "the store is damaged:") != 1 || strings.Contains(log, "goroutine ") {
				t.Errorf("the log: %s", log)
			}
		})
	}
}

// toldOfDamage sees that the doctor's arrow leads to the command that mends a damaged store, and that the status tells it.
func toldOfDamage(t *testing.T, dir, want string) {
	t.Helper()
	out, stderr, status := apptest.Command(t, "doctor", "--data-dir", dir)
	if status != 1 || !strings.Contains(out, "-> "+want+"\n") || strings.Contains(out, "journalctl") || strings.Contains(out, "open in the service") {
		t.Errorf("the doctor: status %d, %s%s", status, out, stderr)
	}
	out, stderr, status = apptest.Command(t, "status", "--data-dir", dir)
	if status != 0 || !strings.Contains(out, "Ready      no: ") || !strings.Contains(out, want) {
		t.Errorf("the status: %d, %s%s", status, out, stderr)
	}
}

// TestRollbackWhileRunning: damage that is met while the service runs is reported with its rollback too, and the restore mends it.
func TestRollbackWhileRunning(t *testing.T) {
	apptest.Long(t)
	dir, key, whole := backups(t)
	p := apptest.StartService(t, dir)
	if err := os.Truncate(filepath.Join(dir, StoreFile), 0); err != nil {
		t.Fatal(err)
	}
	if status := p.Status(http.MethodGet, "/audit", key, ""); status != 500 {
		t.Errorf("what meets the damage: %d", status)
	}
	apptest.Eventually(t, "the rollback", func() bool {
		status, message, _ := apptest.Get(t, http.DefaultClient, p.URL+"/ready", "")
		return status == 503 && strings.Contains(message, "app restore '"+whole+"'")
	})
	toldOfDamage(t, dir, "app restore '"+whole+"' --data-dir '"+dir+"'")
	if out, stderr, status := apptest.Command(t, "restore", whole, "--data-dir", dir, "--yes"); status != 0 {
		t.Fatalf("restore: %s%s", out, stderr)
	}
	untilReady(t, p.URL)
	for _, path := range []string{"/ready", "/audit"} {
		if status, message, _ := apptest.Get(t, http.DefaultClient, p.URL+path, key); status != 200 {
			t.Errorf("%s after the restore: %d %q", path, status, message)
		}
	}
}

// TestNoWayBack: without a backup that can be restored that is what is told.
func TestNoWayBack(t *testing.T) {
	apptest.Long(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, StoreFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := apptest.StartService(t, dir)
	apptest.Eventually(t, "that there is none", func() bool {
		_, message, _ := apptest.Get(t, http.DefaultClient, p.URL+"/ready", "")
		return strings.Contains(message, "none of the 0 backups") && strings.Contains(message, "app restore FILE")
	})
}

// TestNewerStore: an older program refuses a store that a newer one has used, changes nothing in it, and says which
// program or which backup is the rollback.
func TestNewerStore(t *testing.T) {
	dir, _, _ := backups(t)
	cfg := config.Defaults()
	cfg.DataDir = dir
	c := storeConfig(cfg)
	c.Migrations = append(c.Migrations[:len(c.Migrations):len(c.Migrations)], kv.Migration{Name: "of tomorrow", Run: func(*kv.Tx) error { return nil }})
	s, err := kv.Open(c)
	if err = errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"serve", "--listen", "127.0.0.1:0"}, {"user", "list"}} {
		out, stderr, status := apptest.Command(t, append(args, "--data-dir", dir)...)
		if status == 0 || out != "" || strings.Contains(stderr, "goroutine") {
			t.Errorf("%s: status %d, %s", args[0], status, out)
		}
		for _, want := range []string{"written by a newer version", "install the newer program", "app restore '" + filepath.Join(dir, "backups")} {
			if !strings.Contains(stderr, want) {
				t.Errorf("%s does not say %q: %s", args[0], want, stderr)
			}
		}
	}
	if after, err := os.ReadFile(c.Path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the store was changed, %v", err)
	}
}

// TestFullDiskAtFirstStart: a first start without room for a store waits for it, and goes on by itself.
func TestFullDiskAtFirstStart(t *testing.T) {
	apptest.Long(t)
	dir := apptest.Mount(t, "size=1m")
	free := apptest.Fill(t, dir)
	p := apptest.StartService(t, dir)
	if status, message, _ := apptest.Get(t, http.DefaultClient, p.URL+"/ready", ""); status != 503 || !strings.Contains(message, "the disk is full") {
		t.Errorf("/ready: %d %q", status, message)
	}
	if out, stderr, status := apptest.Command(t, "status", "--data-dir", dir); status != 0 || !strings.Contains(out, "no: ") || !strings.Contains(out, "free some room on the disk of "+dir) {
		t.Errorf("the status: %d, %s%s", status, out, stderr)
	}
	free()
	apptest.Eventually(t, "a ready service", func() bool { return p.Status(http.MethodGet, "/ready", "", "") == 200 })
	if status := p.End(t, syscall.SIGTERM); status != 0 {
		t.Errorf("exit status %d: %s", status, p.Stderr)
	}
}

// untilReady waits until the stations of a service have been read.
func untilReady(t *testing.T, url string) {
	t.Helper()
	apptest.Eventually(t, "the service is ready", func() bool {
		status, _, _ := apptest.Get(t, http.DefaultClient, url+"/ready", "")
		return status == http.StatusOK
	})
}
