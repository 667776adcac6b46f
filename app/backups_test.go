package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAPassphraseThatIsTooShortIsTold: backups that cannot be encrypted are not made, and that is told before the first is missing.
func TestAPassphraseThatIsTooShortIsTold(t *testing.T) {
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
	if s := a.backupStatus(); s == nil || !strings.Contains(s.Problem, want) {
		t.Errorf("the status is %+v", s)
	}
	if err := os.WriteFile(cfg.Backup.PassphraseFile, []byte("a longer one of 12\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s := a.backupStatus(); s == nil || s.Problem != "" {
		t.Errorf("when it is mended, the status is %+v", s)
	}
}
