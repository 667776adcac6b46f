package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/host/backup"
	"opsmon/app/host/config"
	"opsmon/app/test/apptest"
	"opsmon/kv"
)

// backedUp backs up the store of an App to a file, with its settings and certificates.
func backedUp(t *testing.T, a *App, passphrase string) string {
	t.Helper()
	cfg, err := a.backupConfig()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Passphrase = passphrase
	path := filepath.Join(t.TempDir(), "plant.backup")
	if _, err := backup.Create(t.Context(), cfg, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// emails lists the users of the account.
func emails(t *testing.T, a *App) string {
	t.Helper()
	users, err := a.services.Auth.ListUsers(auth.Local("northgate"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, u := range users {
		all = append(all, u.Email)
	}
	return strings.Join(all, " ")
}

// result makes a request and reads the result of its answer.
func (r *running) result(t *testing.T, method, path, body string, into any) int {
	t.Helper()
	req, err := http.NewRequest(method, r.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-KEY", r.key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode == 200 {
		err = json.Unmarshal(b, &struct {
			Result any `json:"result"`
		}{into})
	}
	if err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return resp.StatusCode
}

// TestRestoreOverTheNetwork makes a backup and goes back to it, all by an administrator's requests.
func TestRestoreOverTheNetwork(t *testing.T) {
	cfg := testConfig(t)
	r := serve(t, cfg)
	link, err := r.services.Auth.LinkOutright(auth.Local("northgate"), "it@northgate.example")
	if err != nil {
		t.Fatal(err)
	}
	grant, err := r.services.Auth.Callback(link.Token, "")
	if err != nil {
		t.Fatal(err)
	}
	var made struct{ Name string }
	if status := r.result(t, "POST", "/backup", "", &made); status != 200 {
		t.Fatal(status)
	}
	if status := r.request(t, "POST", "/user", r.key, `{"email":"late@northgate.example","role":"member"}`); status != 200 {
		t.Fatal(status)
	}
	var began struct{ State string }
	if status := r.result(t, "POST", "/backup/"+made.Name+"/restore", `{"confirm":"`+made.Name+`"}`, &began); status != 200 || began.State != "running" {
		t.Fatal(status, began)
	}
	var is struct {
		Restore struct {
			State, Error string
			EndedAt      string
			Result       Restored
		}
	}
	apptest.Eventually(t, "the end of the restore", func() bool {
		return r.result(t, "GET", "/backup", "", &is) == 200 && is.Restore.State != "running"
	})
	if is.Restore.State != "done" || is.Restore.EndedAt == "" || is.Restore.Result.Settings != backup.SettingsAbsent {
		t.Errorf("%+v", is)
	}
	a := r.host.app.Load()
	if got := emails(t, a); got != "it@northgate.example" {
		t.Errorf("the users are %s", got)
	}
	if _, err := a.services.Auth.AuthenticateSession(grant.Session); err == nil {
		t.Error("the session is there again")
	}
	if page, err := a.auditList("northgate", audit.Query{Limit: 1, Action: "backup.restore"}); err != nil || len(page.Records) != 1 || page.Records[0].Target != made.Name || page.Records[0].Actor.Email != "it@northgate.example" {
		t.Errorf("%+v, %v", page, err)
	}
	if was := filepath.Dir(is.Restore.Result.Previous); was != cfg.DataDir {
		t.Errorf("the previous store is in %s", was)
	}
	if err := a.Check(func(p string) { t.Error(p) }); err != nil {
		t.Error(err)
	}
	if got := strings.Join(namesIn(cfg.DataDir), " "); strings.Contains(got, uploads) || strings.Contains(got, "restore.") {
		t.Errorf("left behind: %s", got)
	}
}

// TestTidyScratch: a service that starts removes what killed ones left, and the copies of killed upgrades, but not that of
// one which may be at work.
func TestTidyScratch(t *testing.T) {
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{"upload-1": 0, "upgrade-trial-1": 25 * time.Hour, "upgrade-trial-2": time.Hour, "other": 48 * time.Hour} {
		apptest.WriteIn(t, dir, name+"/file", "")
		at := time.Now().Add(-age)
		if err := os.Chtimes(filepath.Join(dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	tidyScratch(dir)
	if got := strings.Join(namesIn(dir), " "); got != "other upgrade-trial-2" {
		t.Errorf("left: %s", got)
	}
}

// TestRestoreGoesBack: what cannot be used does not stay, whether the service runs or not.
func TestRestoreGoesBack(t *testing.T) {
	other := testConfig(t)
	a, _ := opened(t, other)
	apptest.WriteIn(t, other.DataDir, config.File, "logLevel: debug\n")
	if err := a.store.Update(func(tx *kv.Tx) error { // whole for the store, and nothing that this program can open
		return kv.NewBucket(settings.Name(), kv.String, kv.Raw).Put(tx, applianceSetting, []byte(`{"id":5}`))
	}); err != nil {
		t.Fatal(err)
	}
	wrong := backedUp(t, a, "")
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	for _, runs := range []bool{true, false} {
		cfg := testConfig(t)
		in := RestoreInput{Path: wrong, Name: "wrong.backup"}
		const settings = "logLevel: info\n"
		apptest.WriteIn(t, cfg.DataDir, config.File, settings)
		r := serve(t, cfg)
		if _, err := r.services.Auth.AddUser(auth.Local("northgate"), "lead@northgate.example", auth.Member); err != nil {
			t.Fatal(err)
		}
		var err error
		if runs {
			_, err = r.host.Restore(t.Context(), in)
		} else {
			if err := r.stop(); err != nil {
				t.Fatal(err)
			}
			_, err = Restore(t.Context(), cfg, in)
		}
		if err == nil || !strings.Contains(err.Error(), "put back") || !strings.Contains(err.Error(), "the appliance's settings") {
			t.Errorf("running %v: %v", runs, err)
		}
		if got := apptest.ReadIn(t, cfg.DataDir, config.File); got != settings {
			t.Errorf("running %v: app.yaml is %q", runs, got)
		}
		now := r.host.app.Load()
		if !runs {
			now, _ = opened(t, cfg)
			defer now.Close()
		}
		if got := emails(t, now); !strings.Contains(got, "lead@northgate.example") {
			t.Errorf("running %v: the users are %s", runs, got)
		}
	}
}

// TestRestoreRefused: a backup that is damaged, newer, or encrypted with another passphrase changes nothing, and neither
// does one while the service runs on the directory.
func TestRestoreRefused(t *testing.T) {
	apptest.Long(t)
	cfg := testConfig(t)
	a, _ := opened(t, cfg)
	plain, sealed := backedUp(t, a, ""), backedUp(t, a, "correct horse")
	damaged := filepath.Join(t.TempDir(), "damaged.backup")
	b, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := errors.Join(os.WriteFile(damaged, b, 0o600), a.Close()); err != nil {
		t.Fatal(err)
	}
	newer := filepath.Join(t.TempDir(), "newer.backup")
	future := filepath.Join(t.TempDir(), StoreFile)
	nothing := kv.Migration{Name: "nothing", Run: func(*kv.Tx) error { return nil }}
	s, err := kv.Open(kv.Config{Path: future, Buckets: buckets(), Migrations: append(migrations[:len(migrations):len(migrations)], nothing)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = backup.Create(t.Context(), backup.Config{Store: s, Version: "9.0.0"}, newer)
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(t.TempDir(), "foreign.backup")
	if a, err = Open(cfg, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cfg.DataDir, "upgrade.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = backup.Create(t.Context(), backup.Config{Store: a.store, Version: "x", Files: []backup.File{{Name: "upgrade.json"}}}, foreign)
	if err := errors.Join(err, os.Remove(filepath.Join(cfg.DataDir, "upgrade.json")), a.Close()); err != nil {
		t.Fatal(err)
	}
	before := apptest.ReadIn(t, cfg.DataDir, StoreFile)
	if _, err := Restore(t.Context(), cfg, RestoreInput{Path: foreign, Name: "foreign.backup"}); err == nil || !strings.Contains(err.Error(), "holds upgrade.json") {
		t.Errorf("a backup that brings what it must not: %v", err)
	}
	if _, err := os.Stat(filepath.Join(cfg.DataDir, "upgrade.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it was brought: %v", err)
	}
	for path, want := range map[string]error{plain: nil, sealed: backup.ErrPassphrase, damaged: backup.ErrDamaged, newer: backup.ErrNewer, "missing": os.ErrNotExist} {
		if want == nil {
			continue
		}
		if _, err := Restore(t.Context(), cfg, RestoreInput{Path: path, Name: "x"}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", filepath.Base(path), err, want)
		}
	}
	if apptest.ReadIn(t, cfg.DataDir, StoreFile) != before {
		t.Error("the store was changed")
	}
	unlock, err := lockHost(cfg.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), cfg, RestoreInput{Path: plain, Name: "x"}); !errors.Is(err, kv.ErrLocked) {
		t.Errorf("beside a service: %v", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
}

// TestRestoreDamaged: a service whose store is damaged is brought back over its own channel.
func TestRestoreDamaged(t *testing.T) {
	cfg := testConfig(t)
	a, key := opened(t, cfg)
	path := backedUp(t, a, "")
	if err := errors.Join(a.Close(), os.WriteFile(filepath.Join(cfg.DataDir, StoreFile), []byte("rubbish"), 0o600)); err != nil {
		t.Fatal(err)
	}
	h, err := NewHost(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, h, key)
	if status := r.request(t, "GET", "/account", key, ""); status != 503 {
		t.Errorf("status %d of a damaged store", status)
	}
	out, stderr, status := apptest.Command(t, "restore", path, "--yes", "--data-dir", cfg.DataDir)
	if status != 0 || !strings.Contains(stderr, "cannot be read") || !strings.Contains(out, "The service continues with it.") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
	if status := r.request(t, "GET", "/account", key, ""); status != 200 {
		t.Errorf("status %d afterwards", status)
	}
}

// TestRestoreMoves takes an encrypted backup to another machine: settings and certificates come with it. A plain one
// leaves them, and says what is missing.
func TestRestoreMoves(t *testing.T) {
	apptest.Long(t)
	cfg := testConfig(t)
	apptest.WriteIn(t, cfg.DataDir, config.File, "# ours\ntls: plant.crt,/nowhere/plant.key\nsmtp:\n  host: mail\n  from: a@b.example\n  password: hunter2hunter2\n"+
		"backup:\n  passphraseFile: secret.txt\nplantBroker:\n  url: mqtts://broker.plant.example\n  topics: line/+\n  ca: broker-ca.pem\n  passwordFile: broker.password\n")
	apptest.WriteIn(t, cfg.DataDir, "tls/ca.key", "a key")
	apptest.WriteIn(t, cfg.DataDir, "tls/ca.crt", "a certificate")
	a, _ := opened(t, cfg)
	sealed, plain := backedUp(t, a, "correct horse"), backedUp(t, a, "")
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(plain)
	if err != nil || bytes.Contains(b, []byte("a key")) || bytes.Contains(b, []byte("hunter2")) {
		t.Errorf("a secret is in a plain backup: %v", err)
	}
	there := testConfig(t)
	there.DataDir = filepath.Join(there.DataDir, "Wërk 2")
	got, err := Restore(t.Context(), there, RestoreInput{Path: sealed, Name: "x", Passphrase: "correct horse"})
	if err != nil || got.NewAuthority || !got.CertificatesChanged || !got.SettingsChanged || got.Previous != "" || len(got.Omitted) != 5 || len(got.Brought) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	// Files that the settings name and that were not there when the backup was made are told.
	in := func(name string) string { return filepath.Join(there.DataDir, name) }
	if want := []string{in("plant.crt"), "/nowhere/plant.key", in("secret.txt"), in("broker-ca.pem"), in("broker.password")}; !slices.Equal(got.Missing, want) {
		t.Errorf("missing: %q, want %q", got.Missing, want)
	}
	if apptest.ReadIn(t, there.DataDir, "tls/ca.key") != "a key" || !strings.Contains(apptest.ReadIn(t, there.DataDir, config.File), "hunter2") {
		t.Error("the certificates or the settings are not there")
	}
	there = testConfig(t)
	got, err = Restore(t.Context(), there, RestoreInput{Path: plain, Name: "x"})
	if err != nil || !got.NewAuthority || got.CertificatesChanged || got.Settings != backup.SettingsRedacted || !strings.HasPrefix(fmt.Sprint(got.Omitted), "[app.yaml:smtp.password tls/ca.crt tls/ca.key "+filepath.Join(cfg.DataDir, "plant.crt")) {
		t.Errorf("%+v, %v", got, err)
	}
	// Back where they are, certificates and settings stay.
	got, err = Restore(t.Context(), cfg, RestoreInput{Path: plain, Name: "x"})
	if err != nil || got.NewAuthority || got.Settings != backup.SettingsKept || apptest.ReadIn(t, cfg.DataDir, "tls/ca.key") != "a key" {
		t.Errorf("%+v, %v", got, err)
	}
	// Former stores do not pile up.
	for range 5 {
		if _, err := Restore(t.Context(), cfg, RestoreInput{Path: sealed, Name: "x", Passphrase: "correct horse"}); err != nil {
			t.Fatal(err)
		}
	}
	kept := map[string]int{}
	for _, name := range append(namesIn(cfg.DataDir), namesIn(filepath.Join(cfg.DataDir, CertificateDir))...) {
		if what, _, found := strings.Cut(name, ".before-restore-"); found {
			kept[what]++
		}
	}
	if kept[StoreFile] != keepPrevious || kept[config.File] > keepPrevious || kept["ca.key"] > keepPrevious {
		t.Errorf("%v are kept", kept)
	}
}

// TestScheduledBackups: a service makes one soon after its start and then one every night, and tells how they are doing.
func TestScheduledBackups(t *testing.T) {
	apptest.Long(t)
	dir := t.TempDir()
	inBubble(t, func(t *testing.T) {
		cfg := config.Defaults()
		cfg.DataDir = dir
		a, _ := opened(t, cfg)
		defer func() {
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		}()
		a.start()
		time.Sleep(firstBackupAfter + time.Second)
		if st := a.backupStatus(); st == nil || st.LastAt == nil || st.Problem != "" || st.Overdue {
			t.Errorf("%+v", st)
		}
		time.Sleep(3 * 24 * time.Hour)
		list, err := backup.List(cfg.BackupDir())
		if err != nil || len(list) != 3 { // the first one of the first day went when there was a second
			t.Errorf("%v, %v", list, err)
		}
		page, err := a.auditList("northgate", audit.Query{Limit: 10, Action: "backup.create"})
		if err != nil || page.Total != 4 || page.Records[0].Actor != (audit.Actor{Credential: "service"}) || page.Records[0].Target != list[0].Name {
			t.Errorf("%+v, %v", page, err)
		}
		names := map[string]float64{}
		for _, g := range a.backupGauges() {
			names[g.Name] = g.Value
		}
		if names["app_backup_last_success_timestamp_seconds"] != float64(list[0].MadeAt.Unix()) || names["app_backup_bytes"] != float64(list[0].Bytes) || names["app_backup_overdue"] != 0 {
			t.Errorf("%v", names)
		}
		// A folder that is away: told, and tried again.
		if err := os.Rename(cfg.BackupDir(), cfg.BackupDir()+".away"); err != nil {
			t.Fatal(err)
		}
		apptest.WriteIn(t, dir, "backups", "a file in its place")
		time.Sleep(40 * time.Hour)
		if st := a.backupStatus(); st.Problem == "" || !st.Overdue {
			t.Errorf("%+v", st)
		}
		if err := errors.Join(os.Remove(cfg.BackupDir()), os.Rename(cfg.BackupDir()+".away", cfg.BackupDir())); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour)
		if st := a.backupStatus(); st.Problem != "" || st.Overdue {
			t.Errorf("%+v", st)
		}
	})
}

// TestRestoreKilled kills a restore, and a backup that is written by the command line, at each of their steps, without a
// service and within one. The next start has the old store or the new one, whole.
func TestRestoreKilled(t *testing.T) {
	apptest.Long(t)
	program, err := killable()
	if err != nil {
		t.Fatal(err)
	}
	from, work := t.TempDir(), t.TempDir()
	apptest.Initialise(t, from, "--domain", "northgate.example")
	plant := filepath.Join(work, "plant.backup")
	for _, args := range [][]string{{"backup", plant}, {"user", "add", "late@northgate.example", "--role", "member"}} {
		if out, stderr, status := apptest.Command(t, append(args, "--data-dir", from)...); status != 0 {
			t.Fatalf("%v: %s%s", args, out, stderr)
		}
	}
	apptest.WriteIn(t, from, config.File, "logLevel: warn\n")
	for _, what := range []string{"restore", "backup"} {
		for _, running := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, running %v", what, running), func(t *testing.T) {
				t.Parallel()
				old, restored := 0, 0
				for step := 1; ; step++ {
					dir, file := t.TempDir(), filepath.Join(t.TempDir(), "new.backup")
					apptest.CopyTree(t, from, dir)
					env := append(os.Environ(), fmt.Sprintf("APP_FAILPOINT=%d", step))
					var serve *apptest.Process
					if running {
						cmd := exec.Command(program, "serve", "--data-dir", dir, "--listen", "127.0.0.1:0")
						cmd.Env = env
						serve = apptest.StartCommand(t, "Serving on ", cmd)
					}
					args := map[string][]string{"restore": {"restore", plant, "--yes"}, "backup": {"backup", file}}[what]
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					cmd := exec.CommandContext(ctx, program, append(args, "--data-dir", dir)...)
					cmd.Env = env
					out, err := cmd.CombinedOutput()
					cancel()
					if serve != nil {
						serve.Kill()
					}
					if text, stderr, status := apptest.Command(t, "check", "--data-dir", dir); status != 0 {
						t.Fatalf("after %s: check: %s%s", out, text, stderr)
					}
					list, stderr, _ := apptest.Command(t, "user", "list", "--data-dir", dir)
					switch {
					case !strings.Contains(list, "it@northgate.example"):
						t.Fatalf("after %s: %s%s", out, list, stderr)
					case strings.Contains(list, "late@"):
						old++
					default:
						restored++
					}
					if _, statErr := os.Stat(file); statErr == nil {
						if text, stderr, status := apptest.Command(t, "backup", "verify", file); status != 0 {
							t.Fatalf("after %s: what has the name: %s%s", out, text, stderr)
						}
					}
					if err == nil {
						break // it came to its end
					}
					if text, stderr, status := apptest.Command(t, append(args, "--data-dir", dir)...); status != 0 && !strings.Contains(stderr, "exists already") {
						t.Fatalf("after %s: again: %s%s", out, text, stderr)
					}
					if left := strings.Join(namesIn(dir), " "); strings.Contains(left, "restore.") || strings.Contains(left, ".partial-") {
						t.Errorf("after %s: left behind: %s", out, left)
					}
				}
				if what == "restore" && (old < 4 || restored < 3) || what == "backup" && old < 6 {
					t.Errorf("killed with the old store %d times, with the restored one %d times", old, restored)
				}
				t.Logf("killed with the old store %d times, with the restored one %d times", old, restored)
			})
		}
	}
}

// TestBackupWithoutKey: an encrypted backup that lacks the authority's key, because that is gone, says so.
func TestBackupWithoutKey(t *testing.T) {
	cfg := testConfig(t)
	apptest.WriteIn(t, cfg.DataDir, "tls/ca.crt", "a certificate")
	a, _ := opened(t, cfg)
	defer a.Close()
	m, err := backup.Inspect(backedUp(t, a, "correct horse"), "correct horse")
	if err != nil || fmt.Sprint(m.Omitted) != "[tls/ca.key]" {
		t.Errorf("left out is %v, %v", m.Omitted, err)
	}
}
