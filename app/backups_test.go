package app

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"opsmon/app/test/apptest"
)

// TestAPassphraseThatIsTooShortIsTold: one that was configured before there was a least length still encrypts and opens scheduled
// backups, other backups can be made as before, and whoever looks after backups is told.
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
		t.Errorf("a way back is not found: %q, %q", text, mend)
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
