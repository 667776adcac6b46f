package app

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestABackupIsBroughtToAFreshService: before it ever made one it has no folder of its own for them, and makes it for the service
// alone. A folder that is configured is there, or the share is not mounted: it is not made.
func TestABackupIsBroughtToAFreshService(t *testing.T) {
	source := serve(t, testConfig(t))
	var made struct{ Name string }
	if status := source.result(t, "POST", "/backup", "", &made); status != 200 {
		t.Fatal(status)
	}
	content, err := os.ReadFile(filepath.Join(source.cfg.BackupDir(), made.Name))
	if err != nil {
		t.Fatal(err)
	}
	put := func(r *running) int {
		t.Helper()
		req, err := http.NewRequest("PUT", r.url+"/backup/brought.backup", bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-API-KEY", r.key)
		req.Header.Set("Content-Type", "application/octet-stream")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	fresh := serve(t, testConfig(t))
	if status := put(fresh); status != 200 {
		t.Errorf("a fresh service answers %d", status)
	}
	is, err := os.Stat(fresh.cfg.BackupDir())
	if err != nil || runtime.GOOS != "windows" && is.Mode().Perm() != 0o700 {
		t.Errorf("its folder is %v, %v", is, err)
	}
	cfg := testConfig(t)
	cfg.Backup.Dir = filepath.Join(t.TempDir(), "share")
	if status := put(serve(t, cfg)); status != 503 {
		t.Errorf("without the folder that is configured it answers %d", status)
	}
	if _, err := os.Stat(cfg.Backup.Dir); err == nil {
		t.Error("the folder that is configured was made")
	}
}
