package backup

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"opsmon/kv/file"
)

// refusesWrong is a Usable that finds something wrong with a text that says so.
func refusesWrong(text []byte) error {
	if strings.Contains(string(text), "wrong") {
		return errors.New("line 1: wrong")
	}
	return nil
}

// TestUnusableSettings: settings that cannot be used are refused, and nothing is changed. Without them the backup is restored,
// and those that are here stay. A backup that lacks secrets replaces settings that are here only if those cannot be used.
func TestUnusableSettings(t *testing.T) {
	const redacted = "listen: wrong\nsmtp:\n  password: hunter2\n"
	for _, c := range []struct {
		has, here string   // "" = none
		want      Settings // "": refused
		now       string   // app.yaml afterwards; "" = none
		later     bool     // the backup was made by a version that could use its settings
	}{
		{"listen: wrong\n", "", "", "", false},
		{"listen: wrong\n", "listen: here\n", "", "listen: here\n", false},
		{"listen: wrong\n", "name: wrong\n", "", "name: wrong\n", false},
		{redacted, "listen: here\n", "", "listen: here\n", true},
		{redacted, "", "", "", true},
		{"smpt: # wrong\n  password: hunter2\n", "", SettingsRedacted, "smpt: {}\n", true}, // what is wrong is gone
		{"listen: new\nsmtp:\n  password: hunter2\n", "listen: wrong\n", SettingsRedacted, "listen: new\nsmtp: {}\n", false},
		{"listen: new\n", "listen: wrong\n", SettingsRestored, "listen: new\n", false},
		// Nobody can say what is a secret.
		{redacted, "listen: here\n", SettingsAbsent, "listen: here\n", false},
		{"smtp:\n  hunter2 # wrong\n", "", SettingsAbsent, "", false},
		{"SMTP:\n  wrong hunter2:\n", "", SettingsAbsent, "", false},
		{"wrong:\n  Password hunter2:\n", "", SettingsAbsent, "", false},
	} {
		t.Run(c.has+" over "+c.here, func(t *testing.T) {
			from, dir := t.TempDir(), t.TempDir()
			s := openStore(t, from)
			fill(t, s, 0, 10)
			fresh := content(t, s)
			writeFile(t, filepath.Join(from, settingsName), c.has)
			usable := refusesWrong
			if c.later {
				usable = nil
			}
			path := made(t, Config{Store: s, SecretSettings: []string{"smtp.password"}, Usable: usable})
			if m, err := Inspect(path, ""); err != nil || m.UnusableSettings != (strings.Contains(c.has, "wrong") && !c.later) || slices.Contains(m.Omitted, settingsName) != (c.want == SettingsAbsent) {
				t.Errorf("the backup says %v of its settings and lacks %v, %v", m.UnusableSettings, m.Omitted, err)
			}
			in := func(name string) string { return filepath.Join(dir, name) }
			if c.here != "" {
				writeFile(t, in(settingsName), c.here)
			}
			at := time.Date(2026, 11, 20, 8, 15, 30, 0, time.UTC)
			cfg := RestoreConfig{Path: path, Dir: dir, Store: storeConfig(""), Usable: refusesWrong, Clock: func() time.Time { return at }}
			r, err := Restore(t.Context(), cfg)
			if c.want == "" {
				if !errors.Is(err, ErrSettings) || !strings.Contains(err.Error(), "app.yaml: cannot be used on this computer: line 1: wrong") {
					t.Fatalf("%+v, %v", r, err)
				}
				expectText(t, in(settingsName), c.here)
				if file.Exists(in(storeName)) || file.Exists(in(newDir)) {
					t.Error("the refused backup left something")
				}
				cfg.WithoutSettings = true
				if r, err = Restore(t.Context(), cfg); err != nil || r.Settings != SettingsLeft {
					t.Fatalf("without settings: %+v, %v", r, err)
				}
			} else if err != nil || r.Settings != c.want {
				t.Fatalf("%+v, %v", r, err)
			}
			expectContent(t, contentOf(t, dir), fresh)
			expectText(t, in(settingsName), c.now)
			if c.now != c.here && c.here != "" {
				expectText(t, in(settingsName+".before-restore-20261120T081530Z"), c.here)
			}
			if err := r.Undo(); err != nil {
				t.Fatal(err)
			}
			expectText(t, in(settingsName), c.here)
			if file.Exists(in(storeName)) {
				t.Error("the store stays")
			}
		})
	}
}

// expectText expects a text in a file; "" = that there is none.
func expectText(t *testing.T, path, want string) {
	t.Helper()
	if b, err := os.ReadFile(path); string(b) != want || err != nil && !errors.Is(err, os.ErrNotExist) || want == "" && err == nil {
		t.Errorf("%s holds %q, want %q, %v", filepath.Base(path), b, want, err)
	}
}

// TestKilledWithoutSettings kills a restore without the settings of the backup at each step. The next start has the old store
// or the new one, and the settings that were here.
func TestKilledWithoutSettings(t *testing.T) {
	from := t.TempDir()
	s := openStore(t, from)
	fill(t, s, 0, 50)
	writeFile(t, filepath.Join(from, settingsName), "listen: wrong\n")
	path := made(t, Config{Store: s})
	fresh := content(t, s)
	steps := []string{"begun", "unpacked", "adapted", "journal written", "journal", "kept app.db", "moved app.db", "moved", "journal removed"}
	for i, step := range steps {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := openStore(t, dir)
			fill(t, s, 1000, 7)
			old := content(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(dir, settingsName), "name: here\n")
			expectKilled(t, child("restore", dir, path, "BACKUP_TEST_STEP="+step, "BACKUP_TEST_WITHOUT_SETTINGS=1"))
			if i < slices.Index(steps, "journal") {
				expectContent(t, contentOf(t, dir), old)
			} else {
				expectContent(t, contentOf(t, dir), fresh)
			}
			expectText(t, filepath.Join(dir, settingsName), "name: here\n")
		})
	}
}
