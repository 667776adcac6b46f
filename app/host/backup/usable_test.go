package backup

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
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

// TestUnusableSettings: settings that cannot be used take the place of nothing. The store is restored all the same, the
// backup's text is put beside, and what is here holds when it can be used. What waits of an earlier restore makes room, also for
// settings that can be used. All of it can be undone.
func TestUnusableSettings(t *testing.T) {
	const redacted, earlier = "listen: wrong\nsmtp:\n  password: hunter2\n", "of an earlier restore"
	for _, c := range []struct {
		has, here string // "" = none
		want      Settings
		now       string // app.yaml afterwards; "" = none
		beside    string // likewise of the backup's text
		later     bool   // the backup was made by a version that could use its settings
	}{
		{"listen: wrong\n", "", SettingsDefault, "", "listen: wrong\n", false},
		{"listen: wrong\n", "listen: here\n", SettingsUnusable, "listen: here\n", "listen: wrong\n", false},
		{"listen: wrong\n", "name: wrong\n", SettingsDefault, "", "listen: wrong\n", false},
		{redacted, "listen: here\n", SettingsUnusable, "listen: here\n", "listen: wrong\nsmtp: {}\n", true},
		{redacted, "", SettingsDefault, "", "listen: wrong\nsmtp: {}\n", true},
		{"smpt: # wrong\n  password: hunter2\n", "", SettingsRedacted, "smpt: {}\n", "", true}, // what is wrong is gone
		{"listen: new\nsmtp:\n  password: hunter2\n", "listen: wrong\n", SettingsRedacted, "listen: new\nsmtp: {}\n", "", false},
		{"listen: new\n", "listen: wrong\n", SettingsRestored, "listen: new\n", "", false},
		// Nobody can say what is a secret.
		{redacted, "listen: here\n", SettingsAbsent, "listen: here\n", earlier, false},
		{"smtp:\n  hunter2 # wrong\n", "", SettingsAbsent, "", earlier, false},
		{"SMTP:\n  wrong hunter2:\n", "", SettingsAbsent, "", earlier, false},
		{"wrong:\n  Password hunter2:\n", "", SettingsAbsent, "", earlier, false},
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
			writeFile(t, in(SettingsBeside), earlier)
			at := time.Date(2026, 11, 20, 8, 15, 30, 0, time.UTC)
			r, err := Restore(t.Context(), RestoreConfig{Path: path, Dir: dir, Store: storeConfig(""), Usable: refusesWrong, Clock: func() time.Time { return at }})
			if err != nil || r.Settings != c.want {
				t.Fatalf("%+v, %v", r, err)
			}
			expectContent(t, contentOf(t, dir), fresh)
			expectText(t, in(settingsName), c.now)
			if c.beside != earlier {
				expectText(t, in(SettingsBeside+".before-restore-20261120T081530Z"), earlier)
			}
			expectText(t, in(SettingsBeside), c.beside)
			if info, err := os.Stat(in(SettingsBeside)); err != nil && c.beside != "" || runtime.GOOS != "windows" && c.want == SettingsDefault && info.Mode() != 0o600 {
				t.Errorf("%v, %v", info, err)
			}
			if c.now != c.here && c.here != "" {
				expectText(t, in(settingsName+".before-restore-20261120T081530Z"), c.here)
			}
			if err := r.Undo(); err != nil {
				t.Fatal(err)
			}
			expectText(t, in(settingsName), c.here)
			expectText(t, in(SettingsBeside), earlier)
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

// TestKilledUnusable kills a restore whose settings cannot be used, over others that cannot, at each step. The next start
// has the old store and settings, or the new store, no settings, and the backup's beside.
func TestKilledUnusable(t *testing.T) {
	from := t.TempDir()
	s := openStore(t, from)
	fill(t, s, 0, 50)
	writeFile(t, filepath.Join(from, settingsName), "listen: wrong\n")
	path := made(t, Config{Store: s})
	fresh := content(t, s)
	steps := []string{
		"begun", "unpacked", "adapted", "journal written", "journal", "kept app.db", "moved app.db", "kept app.yaml", "moved app.yaml",
		"kept " + SettingsBeside, "moved " + SettingsBeside, "moved", "journal removed",
	}
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
			writeFile(t, filepath.Join(dir, settingsName), "name: wrong\n")
			expectKilled(t, child("restore", dir, path, "BACKUP_TEST_STEP="+step))
			if i < slices.Index(steps, "journal") {
				expectContent(t, contentOf(t, dir), old)
				expectText(t, filepath.Join(dir, settingsName), "name: wrong\n")
				expectText(t, filepath.Join(dir, SettingsBeside), "")
				return
			}
			expectContent(t, contentOf(t, dir), fresh)
			expectText(t, filepath.Join(dir, settingsName), "")
			expectText(t, filepath.Join(dir, SettingsBeside), "listen: wrong\n")
			if kept, err := filepath.Glob(filepath.Join(dir, settingsName+".before-restore-*")); err != nil || len(kept) != 1 || readFile(t, kept[0]) != "name: wrong\n" {
				t.Errorf("%v, %v", kept, err)
			}
		})
	}
}

// TestKilledOverWaiting kills a restore of good settings, over an empty directory in which others wait, at each step that
// follows the journal. The next start has the good ones, and nothing waits.
func TestKilledOverWaiting(t *testing.T) {
	from := t.TempDir()
	s := openStore(t, from)
	fill(t, s, 0, 50)
	writeFile(t, filepath.Join(from, settingsName), "listen: good\n")
	path := made(t, Config{Store: s})
	fresh := content(t, s)
	for _, step := range []string{"journal", "moved app.db", "moved app.yaml", "kept " + SettingsBeside, "moved " + SettingsBeside, "moved", "journal removed"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, SettingsBeside), "listen: wrong\n")
			expectKilled(t, child("restore", dir, path, "BACKUP_TEST_STEP="+step))
			expectContent(t, contentOf(t, dir), fresh)
			expectText(t, filepath.Join(dir, settingsName), "listen: good\n")
			expectText(t, filepath.Join(dir, SettingsBeside), "")
			if kept, err := filepath.Glob(filepath.Join(dir, SettingsBeside+".before-restore-*")); err != nil || len(kept) != 1 || readFile(t, kept[0]) != "listen: wrong\n" {
				t.Errorf("%v, %v", kept, err)
			}
		})
	}
}
