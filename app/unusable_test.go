package app

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"opsmon/app/auth"
	"opsmon/app/host/backup"
	"opsmon/app/host/config"
	"opsmon/app/test/apptest"

	"github.com/google/go-cmp/cmp"
)

// unusables are settings that this program cannot use, by what it says of them after the file's name.
var unusables = map[string]string{
	" line 2: unknown key nmae":  "logLevel: info\nnmae: plant\n",
	" line 1: listen must be":    "listen: nowhere\n",
	" line 1: listen is :8080":   "listen: :8080\n",
	": line 2: found unexpected": "listen: \"127.0.0.1:8080\n",
}

// backedUpWith backs up an App whose app.yaml has a text.
func backedUpWith(t *testing.T, text, passphrase string) string {
	t.Helper()
	cfg := testConfig(t)
	a, _ := opened(t, cfg)
	apptest.WriteIn(t, cfg.DataDir, config.File, text)
	path := backedUp(t, a, passphrase)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRestoreRefusesUnusableSettings: a backup whose settings cannot be used here is refused before anything is changed, with
// the line. Without its settings it is restored, also to an empty machine.
func TestRestoreRefusesUnusableSettings(t *testing.T) {
	apptest.Long(t)
	for line, text := range unusables {
		for _, passphrase := range []string{"", "correct horse"} {
			path := backedUpWith(t, text, passphrase)
			in := RestoreInput{Path: path, Name: "x", Passphrase: passphrase}
			for _, had := range []bool{false, true} {
				cfg := testConfig(t)
				if had {
					a, _ := opened(t, cfg)
					if err := a.Close(); err != nil {
						t.Fatal(err)
					}
					apptest.WriteIn(t, cfg.DataDir, config.File, "logLevel: warn\n")
				}
				before := tree(t, cfg.DataDir)
				_, err := Restore(t.Context(), cfg, in)
				if !errors.Is(err, backup.ErrSettings) || !strings.Contains(err.Error(), strings.TrimPrefix(line, ":")) || strings.Contains(err.Error(), cfg.DataDir) || !strings.Contains(err.Error(), "--without-settings") {
					t.Fatalf("%q: %v", text, err)
				}
				if diff := cmp.Diff(before, tree(t, cfg.DataDir)); diff != "" {
					t.Errorf("%q, had a store %v: (-before +after) %s", text, had, diff)
				}
				in := in
				in.WithoutSettings = true
				got, err := Restore(t.Context(), cfg, in)
				if err != nil || got.Settings != backup.SettingsLeft || got.SettingsChanged || len(got.Brought) > 0 {
					t.Fatalf("%q: %+v, %v", text, got, err)
				}
				now, err := os.ReadFile(filepath.Join(cfg.DataDir, config.File))
				if had && string(now) != "logLevel: warn\n" || !had && !errors.Is(err, os.ErrNotExist) {
					t.Errorf("%q: app.yaml is %q, %v", text, now, err)
				}
				a, _ := opened(t, cfg)
				if users := emails(t, a); users != "it@northgate.example" {
					t.Errorf("%q: the users are %s", text, users)
				}
				if err := a.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// tree returns the content of the files of a data directory by name. Locks are not part of it.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || filepath.Ext(path) == ".lock" || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if e.IsDir() {
			files[name+"/"] = ""
			return nil
		}
		text, err := os.ReadFile(path)
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestRunningServiceRefusesUnusableSettings: a service that runs keeps its store and settings, and goes on.
func TestRunningServiceRefusesUnusableSettings(t *testing.T) {
	apptest.Long(t)
	path := backedUpWith(t, "smtp:\n  hots: mail\n  password: hunter2\n", "correct horse")
	in := RestoreInput{Path: path, Name: "x", Passphrase: "correct horse"}
	cfg := testConfig(t)
	var log bytes.Buffer
	r := serve(t, cfg, func(h *Host) { h.log = slog.New(slog.NewTextHandler(&log, nil)) })
	apptest.WriteIn(t, cfg.DataDir, config.File, "logLevel: warn\n")
	if _, err := r.services.Auth.AddUser(auth.Local("northgate"), "lead@northgate.example", auth.Member); err != nil {
		t.Fatal(err)
	}
	if _, err := r.host.Restore(t.Context(), in); !errors.Is(err, backup.ErrSettings) || !strings.Contains(err.Error(), "line 2: unknown key smtp.hots") {
		t.Errorf("%v", err)
	}
	if users := emails(t, r.host.app.Load()); !strings.Contains(users, "lead@") {
		t.Errorf("after the refusal the users are %s", users)
	}
	in.WithoutSettings = true
	if got, err := r.host.Restore(t.Context(), in); err != nil || got.Settings != backup.SettingsLeft {
		t.Errorf("%+v, %v", got, err)
	}
	if users := emails(t, r.host.app.Load()); strings.Contains(users, "lead@") {
		t.Errorf("after the restore the users are %s", users)
	}
	if text := apptest.ReadIn(t, cfg.DataDir, config.File); text != "logLevel: warn\n" {
		t.Errorf("app.yaml is %q", text)
	}
	if err := r.stop(); err != nil || strings.Contains(log.String(), "hots") {
		t.Errorf("%v, the log: %s", err, &log)
	}
}

// TestUnusableBeside: what flags and the environment give besides counts, and what is wrong there is no fault of the file.
func TestUnusableBeside(t *testing.T) {
	cfg := config.Defaults()
	text := []byte("listen: :8080\n")
	if err := cfg.Unusable(text); err == nil {
		t.Error("in the clear on the network, and nothing is wrong with it")
	}
	if err := cfg.Set("insecureHttp", "true", "--insecure-http"); err != nil {
		t.Fatal(err)
	}
	if err := cfg.Unusable(text); err != nil {
		t.Error(err)
	}
	cfg = config.Defaults()
	t.Setenv("APP_TLS", "auto")
	if err := cfg.Unusable(text); err != nil {
		t.Error(err)
	}
	t.Setenv("APP_AUDIT_DAYS", "many")
	if err := cfg.Unusable([]byte("listen: 127.0.0.1:1\n")); err != nil {
		t.Error(err)
	}
}

// TestRestoreWithoutNamedFiles: without the settings the files stay in the backup that they name.
func TestRestoreWithoutNamedFiles(t *testing.T) {
	apptest.Long(t)
	a, cfg, etc := naming(t)
	path := backedUp(t, a, "correct horse")
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	for name := range namedText {
		removed(t, etc, name)
	}
	there := testConfig(t)
	in := RestoreInput{Path: path, Name: "x", Passphrase: "correct horse", WithoutSettings: true}
	got, err := Restore(t.Context(), there, in)
	if err != nil || len(got.Brought) > 0 || len(got.Missing) > 0 || got.Settings != backup.SettingsLeft {
		t.Fatalf("%+v, %v", got, err)
	}
	for name := range tree(t, there.DataDir) {
		if name == config.File || strings.HasPrefix(name, config.FilesDir) {
			t.Errorf("%s came with the backup", name)
		}
	}
	text, err := backup.ReadSettings(t.Context(), path, "correct horse")
	if want := apptest.ReadIn(t, cfg.DataDir, config.File); err != nil || string(text) != want {
		t.Errorf("the settings in the backup are %q, want %q, %v", text, want, err)
	}
}

// TestBackupTellsUnusable: a backup that is made while app.yaml cannot be used is noted by the list of backups and the log, and
// what is wrong by the warnings. The reason, which may hold what was typed in a wrong
// place, is not in the clear.
func TestBackupTellsUnusable(t *testing.T) {
	cfg := testConfig(t)
	r := serve(t, cfg)
	var log bytes.Buffer
	r.host.app.Load().log = slog.New(slog.NewTextHandler(&log, nil))
	var made struct {
		Name             string
		UnusableSettings bool
	}
	if status := r.result(t, "POST", "/backup", "", &made); status != 200 || made.UnusableSettings || log.Len() > 0 {
		t.Errorf("with good settings: status %d, %+v; %s", status, made, log.String())
	}
	apptest.WriteIn(t, cfg.DataDir, config.File, "smtp:\n  password: *hunter2\n")
	if status := r.result(t, "POST", "/backup", "", &made); status != 200 || !made.UnusableSettings || !strings.Contains(log.String(), "cannot be used") || !strings.Contains(log.String(), config.File) || strings.Contains(log.String(), "hunter2") {
		t.Errorf("status %d, %+v; %s", status, made, log.String())
	}
	var all struct {
		Backups []struct {
			Name             string
			UnusableSettings bool
		}
	}
	if status := r.result(t, "GET", "/backup", "", &all); status != 200 || len(all.Backups) != 2 || all.Backups[0].UnusableSettings == all.Backups[1].UnusableSettings {
		t.Fatalf("status %d, %+v", status, all)
	}
	if m, err := backup.Inspect(filepath.Join(cfg.BackupDir(), made.Name), ""); err != nil || slices.ContainsFunc(m.Omitted, func(s string) bool { return strings.Contains(s, "hunter2") }) {
		t.Errorf("%+v, %v", m.Omitted, err)
	}
	var is struct {
		Warnings []struct{ Code, Message, Action string }
	}
	r.result(t, "GET", "/appliance", "", &is)
	told := 0
	for _, w := range is.Warnings {
		if w.Code == "settings" {
			told++
		}
	}
	if told != 1 {
		t.Errorf("%+v", is.Warnings)
	}
}
