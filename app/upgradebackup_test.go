package app

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"opsmon/app/host/backup"
)

// TestUpgradeBackupStays: the backup that an upgrade takes in the clear stays in the data directory, wherever other ones go.
func TestUpgradeBackupStays(t *testing.T) {
	cfg := testConfig(t)
	share, secret := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("correct horse battery staple"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg.Backup.Dir, cfg.Backup.PassphraseFile = share, secret
	a, _ := opened(t, cfg)
	defer a.Close()
	w := httptest.NewRecorder()
	a.Local().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/local/backup/upgrade", nil))
	if left, err := os.ReadDir(share); err != nil || len(left) > 0 {
		t.Errorf("on the share: %v, %v", left, err)
	}
	all, err := backup.Folder(filepath.Join(cfg.DataDir, "backups")).All()
	if err != nil || len(all) != 1 || all[0].Origin != backup.Upgrade || all[0].Encrypted || all[0].Problem != "" {
		t.Errorf("in the data directory: %+v, %v; it says %d %s", all, err, w.Code, w.Body)
	}
}
