package app

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"opsmon/app/host/config"
	"opsmon/app/httpapi/appliance"
	"opsmon/app/test/apptest"
)

// TestAPassphraseThatIsTooShortIsTold: one that was configured before there was a least length still encrypts and opens
// scheduled backups, other backups can be made as before, and whoever looks after backups is told.
func TestAPassphraseThatIsTooShortIsTold(t *testing.T) {
	apptest.Long(t)
	cfg := testConfig(t)
	cfg.Backup.PassphraseFile = filepath.Join(t.TempDir(), "passphrase")
	if err := os.WriteFile(cfg.Backup.PassphraseFile, []byte("plant123\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const want = "must be a passphrase of 12 characters or more; it has 8"
	if err := cfg.PassphraseProblem(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the settings have the problem %v", err)
	}
	a, _ := opened(t, cfg)
	defer a.Close()
	problem := func() float64 {
		for _, g := range a.backupGauges() {
			if g.Name == "app_backup_passphrase_problem" {
				return g.Value
			}
		}
		return -1
	}
	r, err := a.keeper.Make(t.Context())
	if err != nil || !r.Manifest.Encrypted {
		t.Fatalf("a scheduled backup: encrypted %v, %v", r.Manifest.Encrypted, err)
	}
	if text, mend := (&Host{cfg: cfg, log: a.log}).newestWhole(t.Context()); !strings.Contains(mend, r.File) {
		t.Errorf("a rollback is not found: %q, %q", text, mend)
	}
	for path, want := range map[string]string{
		"/local/backup": "must be a passphrase of 12 characters or more; it has 5", "/local/backup/keep": "must be a passphrase of 12 characters or more; it has 5",
		"/local/backup/upgrade": `"file"`,
	} {
		r := httptest.NewRequest(http.MethodPost, path, nil)
		r.Header.Set("X-Backup-Passphrase", "short")
		r.Header.Set("X-Backup-Name", "x.backup")
		w := httptest.NewRecorder()
		a.Local().ServeHTTP(w, r)
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s with a short passphrase of its own: %d: %.300s", path, w.Code, w.Body)
		}
	}
	if s := a.backupStatus(); s == nil || !strings.Contains(s.Problem, want) {
		t.Errorf("the status is %+v", s)
	}
	if v := a.backupView(); !strings.Contains(v.Problem, want) {
		t.Errorf("the console shows %+v", v)
	}
	if got := problem(); got != 1 {
		t.Errorf("the metric is %v", got)
	}
	if err := os.WriteFile(cfg.Backup.PassphraseFile, []byte("a longer one of 12\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s := a.backupStatus(); s == nil || s.Problem != "" || problem() != 0 {
		t.Errorf("when it is mended, the status is %+v and the metric %v", s, problem())
	}
}

// TestChangeBackups: settings of backups change at once and for later starts, with an audit record, except those that
// a flag or the environment sets.
func TestChangeBackups(t *testing.T) {
	dir := t.TempDir()
	apptest.WriteIn(t, dir, config.File, "# ours\nlisten: 127.0.0.1:0\nbackup:\n  every: 0 # later\n")
	env := func(name string) string { return map[string]string{"APP_BACKUP_KEEP_DAILY": "5"}[name] }
	read := func() config.Settings {
		cfg, err := config.Load(dir, env)
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	r := serve(t, read())
	put := func(body string, want int) (out appliance.ScheduledBackups) {
		t.Helper()
		if status := r.result(t, "PUT", "/appliance/backup-settings", body, &out); status != want {
			t.Errorf("%s: %d, want %d", body, status, want)
		}
		return out
	}
	if before := r.appliance(t, http.DefaultClient).Backup; before.NextAt != nil || before.Fixed["keepDaily"] != "APP_BACKUP_KEEP_DAILY" || len(before.Fixed) != 1 {
		t.Errorf("%+v", before)
	}
	after := put(`{"every":2,"at":"03:45","maxBytes":1000000000}`, 200)
	want := appliance.BackupSettings{At: "03:45", Every: 2, KeepDaily: 5, KeepWeekly: 4, KeepMonthly: 6, MaxBytes: 1000000000}
	if after.Settings != want || after.NextAt == nil {
		t.Errorf("%+v", after)
	}
	put(`{"every":32}`, 400)
	put(`{"evry":3}`, 400)
	put(`{"at":"3:45"}`, 400)
	put(`{"keepDaily":6,"every":9}`, 409)
	put(`{"keepDaily":5}`, 200) // as it is
	if now := r.appliance(t, http.DefaultClient).Backup; now.Settings != want {
		t.Errorf("%+v", now.Settings)
	}
	var records []struct{ Detail map[string]string }
	r.results(t, "/audit?action=backup.settings", &records)
	if len(records) != 1 || records[0].Detail["every"] != "0 -> 2" || records[0].Detail["at"] != "01:30 -> 03:45" {
		t.Errorf("%+v", records)
	}
	if err := r.host.Replace(t.Context(), "a test goes on", func() (func() error, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	if now := r.appliance(t, http.DefaultClient).Backup; now.Settings != want {
		t.Errorf("after the store was replaced: %+v", now.Settings)
	}
	text, err := os.ReadFile(filepath.Join(dir, config.File))
	if err != nil || !strings.HasPrefix(string(text), "# ours\nlisten: 127.0.0.1:0\nbackup:\n  every: 2 # later\n") {
		t.Errorf("%s, %v", text, err)
	}
	if later := read().Backup; later.Every != 2 || later.At != "03:45" || later.KeepDaily != 5 {
		t.Errorf("after a restart: %+v", later)
	}
	put(`{"every":0}`, 200)
	if now := r.appliance(t, http.DefaultClient).Backup; now.NextAt != nil || now.Settings.Every != 0 {
		t.Errorf("none are to be made: %+v", now)
	}
}
