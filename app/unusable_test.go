package app

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/host/backup"
	"opsmon/app/host/config"
	"opsmon/app/test/apptest"
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

// TestRestoreUnusableSettings: a backup whose settings cannot be used comes back to an empty machine all the same, which
// then keeps to itself. What is wrong is told, and the text waits beside.
func TestRestoreUnusableSettings(t *testing.T) {
	apptest.Long(t)
	for want, text := range unusables {
		for _, passphrase := range []string{"", "correct horse"} {
			path := backedUpWith(t, text, passphrase)
			cfg := testConfig(t)
			got, err := Restore(t.Context(), cfg, RestoreInput{Path: path, Name: "x", Passphrase: passphrase})
			beside := filepath.Join(cfg.DataDir, backup.SettingsBeside)
			if err != nil || got.Settings != backup.SettingsDefault || got.SettingsFile != beside || !strings.Contains(got.SettingsProblem, beside+want) || got.SettingsChanged {
				t.Fatalf("%q: %+v, %v", text, got, err)
			}
			if info, err := os.Stat(beside); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 || apptest.ReadIn(t, cfg.DataDir, backup.SettingsBeside) != text {
				t.Errorf("%q: %v, %v", text, info, err)
			}
			now, err := config.Load(cfg.DataDir, os.Getenv)
			if err := errors.Join(err, now.Check()); err != nil || now.Listen != "127.0.0.1:8080" || now.InsecureHTTP || now.ClearListen != "" || now.MQTT.Listen != "" || now.MQTT.InsecureListen() != "" {
				t.Errorf("%q: afterwards %+v holds, %v", text, now, err)
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

// TestRestoreKeepsUsableSettings: settings that are here and can be used stay, whether a service runs or not; those that are
// not make room.
func TestRestoreKeepsUsableSettings(t *testing.T) {
	apptest.Long(t)
	path := backedUpWith(t, "smtp:\n  hots: mail\n  password: hunter2\n", "correct horse")
	in := RestoreInput{Path: path, Name: "x", Passphrase: "correct horse"}
	for _, here := range []string{"logLevel: warn\n", "nmae: plant\n"} {
		for _, runs := range []bool{true, false} {
			cfg := testConfig(t)
			var log bytes.Buffer
			r := serve(t, cfg, func(h *Host) { h.log = slog.New(slog.NewTextHandler(&log, nil)) })
			apptest.WriteIn(t, cfg.DataDir, config.File, here)
			if _, err := r.services.Auth.AddUser(auth.Local("northgate"), "lead@northgate.example", auth.Member); err != nil {
				t.Fatal(err)
			}
			var got Restored
			var err error
			if runs {
				got, err = r.host.Restore(t.Context(), in)
			} else if err = r.stop(); err == nil {
				got, err = Restore(t.Context(), cfg, in)
			}
			usable := strings.HasPrefix(here, "log")
			want, now := backup.SettingsUnusable, here
			if !usable {
				want, now = backup.SettingsDefault, ""
			}
			if err != nil || got.Settings != want || got.SettingsChanged == usable || !strings.Contains(got.SettingsProblem, "unknown key smtp.hots") {
				t.Errorf("%q, running %v: %+v, %v", here, runs, got, err)
			}
			if text, err := os.ReadFile(filepath.Join(cfg.DataDir, config.File)); string(text) != now || err != nil && usable {
				t.Errorf("%q, running %v: app.yaml is %q, %v", here, runs, text, err)
			}
			if names := namesIn(cfg.DataDir); !usable && !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, config.File+".before-restore-") }) {
				t.Errorf("%q, running %v: there are %v", here, runs, names)
			}
			after := r.host.app.Load()
			if !runs {
				after, _ = opened(t, cfg)
				defer after.Close()
			}
			if users := emails(t, after); strings.Contains(users, "lead@") {
				t.Errorf("%q, running %v: the users are %s", here, runs, users)
			}
			if err := r.stop(); err != nil || runs && !strings.Contains(log.String(), backup.SettingsBeside+" line 2") || strings.Contains(log.String(), "hots") {
				t.Errorf("%q, running %v: the log: %s, %v", here, runs, &log, err)
			}
		}
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

// TestUnusableNamed: a backup that is made while app.yaml cannot be read has the files that the service was started with, and
// they come with it, but in the place of none that the settings here may name.
func TestUnusableNamed(t *testing.T) {
	apptest.Long(t)
	a, cfg, etc := naming(t)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	read, err := config.Load(cfg.DataDir, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	a, _ = opened(t, read)
	whole := apptest.ReadIn(t, cfg.DataDir, config.File)
	apptest.WriteIn(t, cfg.DataDir, config.File, whole+"nmae: plant\n")
	unread := backedUp(t, a, "correct horse")
	apptest.WriteIn(t, cfg.DataDir, config.File, whole+"auditDays: 3\n")
	refused := backedUp(t, a, "correct horse")
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	for name := range namedText {
		removed(t, etc, name)
	}
	for path, named := range map[string]bool{unread: false, refused: true} {
		there := testConfig(t)
		in := RestoreInput{Path: path, Name: "x", Passphrase: "correct horse"}
		got, err := Restore(t.Context(), there, in)
		if err != nil || len(got.Brought) != 5 || got.Brought[0].Path != filepath.Join(there.DataDir, "files", "tls.crt") || (got.Brought[0].Instead != "") != named {
			t.Fatalf("%+v, %v", got, err)
		}
		if apptest.ReadIn(t, there.DataDir, "files/tls.key") != "its key" || strings.Contains(apptest.ReadIn(t, there.DataDir, backup.SettingsBeside), "files/tls.key") != named {
			t.Errorf("named %v: %s", named, apptest.ReadIn(t, there.DataDir, backup.SettingsBeside))
		}
		apptest.WriteIn(t, there.DataDir, "files/tls.key", "another key")
		apptest.WriteIn(t, there.DataDir, config.File, "tls: files/tls.crt,files/tls.key\n")
		if got, err = Restore(t.Context(), there, in); err != nil || len(got.Brought) != 0 || apptest.ReadIn(t, there.DataDir, "files/tls.key") != "another key" {
			t.Errorf("over settings that name them: %+v, %v", got, err)
		}
	}
}

// TestUnusableKeepsData: no audit records are removed as long as settings wait that may say it is kept longer.
func TestUnusableKeepsData(t *testing.T) {
	dir := t.TempDir()
	inBubble(t, func(t *testing.T) {
		cfg := testConfig(t)
		cfg.DataDir, cfg.AuditDays = dir, 30
		a, _ := opened(t, cfg)
		defer a.Close()
		count := func() int {
			page, err := a.auditList("northgate", audit.Query{Limit: 1})
			if err != nil {
				t.Fatal(err)
			}
			return page.Total
		}
		had := count()
		apptest.WriteIn(t, dir, backup.SettingsBeside, "nmae: plant\n")
		for day := range 40 {
			if err := a.upkeep(t.Context()); err != nil {
				t.Fatal(day, err)
			}
			time.Sleep(24 * time.Hour)
		}
		if n := count(); n < had || had == 0 {
			t.Errorf("%d of %d audit records are left", n, had)
		}
		removed(t, dir, backup.SettingsBeside)
		if err := a.upkeep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := count(); n >= had {
			t.Errorf("%d of %d audit records are left", n, had)
		}
	})
}

// TestUnusableHolds: as long as settings wait, no backup goes that they may keep; what no setting rules goes as ever. Then
// retention holds again.
func TestUnusableHolds(t *testing.T) {
	h := newHousehold(t)
	h.signIn()
	apptest.WriteIn(t, h.cfg.DataDir, backup.SettingsBeside, "backup:\n  keepDaily: 60\nnmae: plant\n")
	for day := range 20 {
		apptest.WriteIn(t, h.cfg.BackupDir(), h.now.AddDate(0, 0, day-20).Format("app-20060102T150405Z.backup"), "a backup")
	}
	all := h.audited()
	h.hours(31 * 24)
	if n := h.audited(); n < all || h.sessions() != 0 {
		t.Errorf("%d of %d audit records are left and %d sessions", n, all, h.sessions())
	}
	for _, waits := range []bool{true, false} {
		if !waits {
			removed(t, h.cfg.DataDir, backup.SettingsBeside)
		}
		h.now = h.now.Add(time.Minute)
		if _, err := h.keeper.Make(t.Context()); err != nil {
			t.Fatal(err)
		}
		if list, err := backup.List(h.cfg.BackupDir()); err != nil || (len(list) == 21) != waits {
			t.Errorf("waiting %v: %d backups are left, %v", waits, len(list), err)
		}
	}
}

// TestBackupTellsUnusable: a backup that is made while app.yaml cannot be used is noted by the list of backups and the log, and
// what is wrong by the warnings, as is what waits of a restored one. The reason, which may hold what was typed in a wrong
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
	apptest.WriteIn(t, cfg.DataDir, backup.SettingsBeside, "x: y\n")
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
	if told != 2 {
		t.Errorf("%+v", is.Warnings)
	}
}
