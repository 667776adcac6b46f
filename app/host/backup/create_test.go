package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/kv"
	"opsmon/kv/file"
)

const settingsText = "# mail\nlisten: 0.0.0.0:8443\nsmtp:\n  host: mail.plant.example # was mail2, password hunter1\n  password: hunter2\n"

// TestRoundTrip backs up, verifies, inspects and restores, in the clear and encrypted.
func TestRoundTrip(t *testing.T) {
	for name, passphrase := range map[string]string{"plain": "", "encrypted": "correct horse"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := openStore(t, dir)
			fill(t, s, 0, 5000)
			writeFile(t, filepath.Join(dir, settingsName), settingsText)
			writeFile(t, filepath.Join(dir, "tls/ca.key"), "secret key")
			writeFile(t, filepath.Join(dir, "tls/ca.crt"), "certificate")
			path := filepath.Join(t.TempDir(), "plant.backup")
			at := time.Date(2026, 11, 20, 8, 15, 30, 0, time.UTC)
			var done, total int64
			cfg := Config{
				Store: s, Version: "1.2.3", Passphrase: passphrase, SecretSettings: []string{"smtp.password"},
				Files: []File{{Name: "tls/ca.key", Secret: true}, {Name: "tls/ca.crt"}}, Clock: func() time.Time { return at }, WorkFactor: 10,
				Progress: func(d, t int64) { done, total = max(done, d), t },
			}
			r, err := Create(t.Context(), cfg, path)
			if err != nil {
				t.Fatal(err)
			}
			if done == 0 || done != total {
				t.Errorf("the progress ends at %d of %d", done, total)
			}
			file := readFile(t, path)
			if sum := sha256.Sum256([]byte(file)); r.File != path || r.Bytes != int64(len(file)) || r.SHA256 != hex.EncodeToString(sum[:]) {
				t.Errorf("the result is %+v", r)
			}
			if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("others may read it: %v %v", info.Mode(), err)
			}
			expectOnly(t, filepath.Dir(path), "plant.backup")
			expectOnly(t, dir, "app.db", "app.yaml", "backup.lock", "tls")
			if strings.Contains(file, "secret key") || passphrase != "" && strings.Contains(file, "station") {
				t.Error("secrets can be read")
			}

			m, err := Verify(t.Context(), VerifyConfig{Path: path, Passphrase: passphrase})
			if err != nil {
				t.Fatal(err)
			}
			expectOnly(t, dir, "app.db", "app.yaml", "backup.lock", "tls")
			if diff := cmp.Diff(r.Manifest, m); diff != "" {
				t.Error(diff)
			}
			want := Header{Format: 1, App: "1.2.3", Store: 2, MadeAt: at, Encrypted: passphrase != ""}
			if diff := cmp.Diff(want, m.Header); diff != "" {
				t.Error(diff)
			}
			if got := m.Entries[0]; got.Counts["record"] != 5000 || got.Counts["session"] != 0 || len(got.Counts) != 2 || got.Size < 1<<20 || got.Size > s.Size() {
				t.Errorf("the store's entry is %+v", got)
			}
			var names []string
			for _, e := range m.Entries {
				names = append(names, e.Name+" "+string(e.Kind))
			}
			if passphrase != "" {
				if diff := cmp.Diff([]string{"app.db store", "app.yaml settings", "tls/ca.key file", "tls/ca.crt file"}, names); diff != "" || len(m.Omitted) != 0 {
					t.Error(diff, m.Omitted)
				}
			} else {
				if diff := cmp.Diff([]string{"app.db store", "app.yaml redacted", "tls/ca.crt file"}, names); diff != "" {
					t.Error(diff)
				}
				if diff := cmp.Diff([]string{"app.yaml:smtp.password", "tls/ca.key"}, m.Omitted); diff != "" {
					t.Error(diff)
				}
			}
			got, err := Inspect(path, "")
			if err != nil || got.Header != want || (got.Entries == nil) != (passphrase != "") {
				t.Errorf("inspected without a passphrase: %+v, %v", got, err)
			}
			if got, err := Inspect(path, passphrase); err != nil || !cmp.Equal(got, m) {
				t.Errorf("inspected: %+v, %v", got, err)
			}

			to := filepath.Join(t.TempDir(), "else", "where")
			restored, err := Restore(t.Context(), RestoreConfig{Path: path, Passphrase: passphrase, Dir: to, Store: storeConfig("")})
			if err != nil {
				t.Fatal(err)
			}
			expectContent(t, contentOf(t, to), content(t, s))
			settings := readFile(t, filepath.Join(to, settingsName))
			if passphrase != "" {
				if restored.Settings != SettingsRestored || settings != settingsText || readFile(t, filepath.Join(to, "tls/ca.key")) != "secret key" {
					t.Errorf("%+v: the secrets are not there: %q", restored, settings)
				}
			} else if restored.Settings != SettingsRedacted || strings.Contains(settings, "hunter") || !strings.Contains(settings, "mail.plant.example") {
				t.Errorf("%+v: the settings are %q", restored, settings)
			}
			if restored.Previous != "" || readFile(t, filepath.Join(to, "tls/ca.crt")) != "certificate" {
				t.Errorf("restored: %+v", restored)
			}
			expectOnly(t, to, "app.db", "app.yaml", "backup.lock", "swap.lock", "tls")
		})
	}
}

// TestExisting never replaces a file unless it is told to, and leaves nothing beside it.
func TestExisting(t *testing.T) {
	s := openStore(t, t.TempDir())
	path := filepath.Join(t.TempDir(), "x")
	writeFile(t, path, "mine")
	cfg := Config{Store: s}
	if _, err := Create(t.Context(), cfg, path); !errors.Is(err, ErrExists) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
	// One that comes while the backup is being made.
	late := filepath.Join(t.TempDir(), "late")
	cfg.step = func(name string) {
		if name == "verified" {
			writeFile(t, late, "mine")
		}
	}
	if _, err := Create(t.Context(), cfg, late); !errors.Is(err, ErrExists) || readFile(t, late) != "mine" {
		t.Errorf("got %v", err)
	}
	expectOnly(t, filepath.Dir(late), "late")
	cfg.step, cfg.Overwrite = nil, true
	if _, err := Create(t.Context(), cfg, path); err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(t.Context(), VerifyConfig{Path: path}); err != nil {
		t.Error(err)
	}
	expectOnly(t, filepath.Dir(path), "x")
	if _, err := Create(t.Context(), cfg, filepath.Join(t.TempDir(), "none", "x")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

// TestLeftovers removes what killed processes left, but nothing that another machine may still be writing.
func TestLeftovers(t *testing.T) {
	dir, to := t.TempDir(), t.TempDir()
	s := openStore(t, dir)
	writeFile(t, filepath.Join(dir, spoolName), "half a copy")
	yesterday := time.Now().Add(-25 * time.Hour)
	leave := func() {
		t.Helper()
		for _, old := range []string{"x.backup.partial-1", "manual-20261120T081530Z.backup.partial-1", "app-20261120T021530Z.backup.partial-1", "other.backup.partial-1"} {
			writeFile(t, filepath.Join(to, old), "")
			if err := os.Chtimes(filepath.Join(to, old), yesterday, yesterday); err != nil {
				t.Fatal(err)
			}
		}
	}
	leave()
	writeFile(t, filepath.Join(to, "x.backup.partial-2"), "")
	writeFile(t, filepath.Join(to, "manual-20261120T081530Z.backup.partial-2"), "")
	stay := []string{"manual-20261120T081530Z.backup.partial-2", "other.backup.partial-1", "x.backup", "x.backup.partial-2"}
	if _, err := Create(t.Context(), Config{Store: s}, filepath.Join(to, "x.backup")); err != nil {
		t.Fatal(err)
	}
	expectOnly(t, to, stay...)
	expectOnly(t, dir, "app.db", "backup.lock")
	leave()
	from := strings.NewReader(readFile(t, filepath.Join(to, "x.backup")))
	if _, err := Receive(t.Context(), ReceiveConfig{Path: filepath.Join(to, "x.backup"), Overwrite: true}, from); err != nil {
		t.Fatal(err)
	}
	expectOnly(t, to, stay...)
}

// TestOneAtATime refuses a second backup, and a restore, while one is being made.
func TestOneAtATime(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	path := made(t, Config{Store: s})
	tried := false
	cfg := Config{Store: s, step: func(name string) {
		if name != "synced" {
			return
		}
		tried = true
		if _, err := Create(t.Context(), Config{Store: s}, path+"2"); !errors.Is(err, ErrBusy) {
			t.Errorf("a second: %v", err)
		}
		if _, err := Write(t.Context(), Config{Store: s}, &bytes.Buffer{}); !errors.Is(err, ErrBusy) {
			t.Errorf("a third: %v", err)
		}
		if _, err := Prepare(t.Context(), RestoreConfig{Path: path, Dir: dir, Store: storeConfig("")}); !errors.Is(err, ErrBusy) {
			t.Errorf("a restore: %v", err)
		}
		// A start meanwhile removes nothing that is needed.
		if err := Recover(dir, func() error { return nil }); err != nil {
			t.Error(err)
		}
	}}
	if _, err := Create(t.Context(), cfg, path+"3"); err != nil || !tried {
		t.Errorf("the first: %v", err)
	}
}

// TestCancelled ends at every step when it is told to, and leaves nothing.
func TestCancelled(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	fill(t, s, 0, 20_000)
	for _, at := range []string{"", "named", "copied", "synced"} {
		to := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		if at == "" {
			cancel()
		}
		_, err := Create(ctx, Config{Store: s, step: func(name string) {
			if name == at {
				cancel()
			}
		}}, filepath.Join(to, "x"))
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", at, err)
		}
		expectOnly(t, to)
		expectOnly(t, dir, "app.db", "backup.lock")
		cancel()
	}
}

// TestWrite streams a backup. One whose output fails lacks its end.
func TestWrite(t *testing.T) {
	s := openStore(t, t.TempDir())
	fill(t, s, 0, 3000)
	for _, passphrase := range []string{"", "correct horse"} {
		var out bytes.Buffer
		r, err := Write(t.Context(), Config{Store: s, Passphrase: passphrase, WorkFactor: 1}, &out)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(out.Bytes()); r.Bytes != int64(out.Len()) || r.SHA256 != hex.EncodeToString(sum[:]) || r.File != "" {
			t.Errorf("the result is %+v", r)
		}
		path := filepath.Join(t.TempDir(), "x")
		writeFile(t, path, out.String())
		if _, err := Verify(t.Context(), VerifyConfig{Path: path, Passphrase: passphrase}); err != nil {
			t.Error(err)
		}
		broken := errors.New("broken pipe")
		short := &limited{left: out.Len() / 2, err: broken}
		if _, err := Write(t.Context(), Config{Store: s, Passphrase: passphrase, WorkFactor: 1}, short); !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
	}
}

// limited is a writer that fails after some bytes.
type limited struct {
	left int
	err  error
}

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, l.err
	}
	return len(p), nil
}

// TestDamagedStore refuses to back up a store that is damaged: the backups from before are worth more.
func TestDamagedStore(t *testing.T) {
	dir, to := t.TempDir(), t.TempDir()
	s := openStore(t, dir)
	fill(t, s, 0, 300)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, storeName)
	data := []byte(readFile(t, path))
	data[bytes.Index(data, []byte("SKU-1"))] ^= 1
	writeFile(t, path, string(data))
	if s, err := kv.Open(storeConfig(dir)); err != nil {
		t.Fatal(err)
	} else {
		defer s.Close()
		if _, err := Create(t.Context(), Config{Store: s}, filepath.Join(to, "x")); !errors.Is(err, kv.ErrDamaged) || !strings.Contains(err.Error(), "bucket record") {
			t.Errorf("got %v", err)
		}
	}
	expectOnly(t, to)
}

// TestLyingDisk reads back something else than was written.
func TestLyingDisk(t *testing.T) {
	s := openStore(t, t.TempDir())
	fill(t, s, 0, 300)
	to := t.TempDir()
	_, err := Create(t.Context(), Config{Store: s, step: func(name string) {
		if name != "synced" {
			return
		}
		entries, err := os.ReadDir(to)
		if err != nil || len(entries) != 1 {
			t.Fatal(entries, err)
		}
		path := filepath.Join(to, entries[0].Name())
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteAt([]byte{0xFF}, 2000); err != nil {
			t.Fatal(err)
		}
	}}, filepath.Join(to, "x"))
	if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "app.db") {
		t.Errorf("got %v", err)
	}
	expectOnly(t, to)
}

// TestRedact keeps no secret in what is not encrypted.
func TestRedact(t *testing.T) {
	secrets := []string{"smtp.password"}
	for name, test := range map[string]struct {
		text, kept string // kept "" = nothing is
		removed    []string
	}{
		"none":            {"# hello\nlisten: x\n", "# hello\nlisten: x\n", nil},
		"usual":           {"listen: x\nsmtp:\n  host: h\n  password: p\n", "listen: x\nsmtp:\n    host: h\n", secrets},
		"dotted":          {"smtp.password: p\nlisten: x\n", "listen: x\n", secrets},
		"quoted":          {`{"smtp": {"password": "p", "host": "h"}}`, "{\"smtp\": {\"host\": \"h\"}}\n", secrets},
		"other case":      {"SMTP:\n  Password: p\n", "SMTP: {}\n", []string{"SMTP.Password"}},
		"empty":           {"smtp:\n  password: \"\"\n", "smtp: {}\n", nil},
		"in a comment":    {"listen: x # password p\n", "listen: x\n", nil},
		"comments alone":  {"# password: p\n", "", nil},
		"folded":          {"smtp:\n  password: |\n    p\n  host: h\n", "smtp:\n    host: h\n", secrets},
		"not YAML":        {"smtp: {password: p", "", secrets},
		"two documents":   {"listen: x\n---\nsmtp: {password: p}\n", "", secrets},
		"an alias":        {"url: &u p\nsmtp:\n  password: *u\n", "", secrets},
		"a list":          {"smtp:\n- password: p\n", "", secrets},
		"a word":          {"password", "", secrets},
		"a nested secret": {"smtp:\n  password:\n    a: p\n  host: h\n", "smtp:\n    host: h\n", secrets},
	} {
		kept, removed := redact([]byte(test.text), secrets)
		if string(kept) != test.kept || !cmp.Equal(removed, test.removed) {
			t.Errorf("%s: kept %q, removed %q; want %q, %q", name, kept, removed, test.kept, test.removed)
		}
	}
}

// TestWeakPassphraseThatIsConfigured: a short passphrase in the settings still encrypts; an invalid one does not.
func TestWeakPassphraseThatIsConfigured(t *testing.T) {
	s := openStore(t, t.TempDir())
	path := filepath.Join(t.TempDir(), "x.backup")
	cfg := Config{Store: s, Passphrase: "plant123", AllowWeak: true, WorkFactor: 1}
	if r, err := Create(t.Context(), cfg, path); err != nil || !r.Manifest.Encrypted {
		t.Errorf("encrypted %v, %v", r.Manifest.Encrypted, err)
	}
	if _, err := Verify(t.Context(), VerifyConfig{Path: path, Passphrase: "plant123"}); err != nil {
		t.Error(err)
	}
	cfg.Passphrase = "\xff"
	if _, err := Write(t.Context(), cfg, io.Discard); !errors.Is(err, ErrWeak) {
		t.Errorf("what is no passphrase: %v", err)
	}
}

// TestWeakPassphrase: nobody encrypts with a passphrase that is guessed in an afternoon, whatever asks for the backup; one that
// did so before still opens it.
func TestWeakPassphrase(t *testing.T) {
	s := openStore(t, t.TempDir())
	path := filepath.Join(t.TempDir(), "x.backup")
	for text, want := range map[string]string{"elevencelsé": "12 characters or more; it has 11", "twelvecélsiu": "", strings.Repeat("é", 600): "1024 bytes or fewer"} {
		cfg := Config{Store: s, Passphrase: text, Overwrite: true, WorkFactor: 1}
		_, err := Create(t.Context(), cfg, path)
		_, written := Write(t.Context(), cfg, io.Discard)
		for _, err := range []error{err, written} {
			if errors.Is(err, ErrWeak) != (want != "") || want != "" && !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %q", text, err, want)
			}
		}
		if file.Exists(path) == (want != "") {
			t.Errorf("%q: a backup is there: %v", text, file.Exists(path))
		}
		os.Remove(path)
		if len(text) <= maxPassphrase && CheckPassphrase(text) != nil {
			t.Errorf("%q opens nothing", text)
		}
	}
}
