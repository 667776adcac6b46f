package killtest_test

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"opsmon/app/apptest"
	"opsmon/kv/powercut"
)

// TestFailingDisk makes the disk of a running service fail in each way: read-only all of a sudden, as a file system makes
// itself after an error, worn out, full, over quota. Meanwhile writes are answered 503 and reads go on; writes go on by
// themselves when the disk is well again, and no answered one is lost.
func TestFailingDisk(t *testing.T) {
	dir := t.TempDir()
	admin := apptest.Initialise(t, dir, "--domain", "northgate.example")
	p := apptest.StartService(t, dir)
	var keys []string
	write := func() (int, string) {
		var out struct {
			Result struct {
				Key string `json:"key"`
			} `json:"result"`
			ErrorMessage string `json:"errorMessage"`
		}
		resp, err := p.Do(http.MethodPost, "/key", admin, "", &out)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode == http.StatusOK {
			keys = append(keys, out.Result.Key)
		}
		return resp.StatusCode, out.ErrorMessage
	}
	for _, tt := range []struct{ call, failure, says string }{
		{"pwrite64", "EROFS", "cannot be written"},
		{"pwrite64", "EIO", "cannot be written"},
		{"pwrite64", "EPERM", "cannot be written"},
		{"pwrite64", "ENOSPC", "the disk is full"},
		{"pwrite64", "EDQUOT", "the disk is full"},
		{"fdatasync", "EIO", "cannot be written"},
		{"fdatasync", "ENOSPC", "the disk is full"},
	} {
		if status, message := write(); status != http.StatusOK {
			t.Fatalf("before %s %s: %d %s", tt.call, tt.failure, status, message)
		}
		well, ok := powercut.Fail(t, p.Cmd.Process.Pid, tt.call, tt.failure)
		if !ok {
			return
		}
		for range 3 {
			if status, message := write(); status != http.StatusServiceUnavailable || !strings.Contains(message, tt.says) {
				t.Errorf("%s %s: a write: %d %q", tt.call, tt.failure, status, message)
			}
		}
		for path, key := range map[string]string{"/account": admin, "/audit": admin, "/ready": ""} {
			if status := p.Status(http.MethodGet, path, key, ""); status != http.StatusOK {
				t.Errorf("%s %s: %s: %d", tt.call, tt.failure, path, status)
			}
		}
		well()
	}
	apptest.Eventually(t, "a write", func() bool { status, _ := write(); return status == http.StatusOK })
	p.Kill()
	p = apptest.StartService(t, dir)
	for _, key := range keys {
		if status := p.Status(http.MethodGet, "/auth/profile", key, ""); status != http.StatusOK {
			t.Errorf("a key that was answered is lost: %d", status)
		}
	}
	agree(t, p, admin)
	if out, stderr, status := apptest.Command(t, "check", "--data-dir", dir); status != 0 {
		t.Errorf("check: %s%s", out, stderr)
	}
	if status := p.End(t, syscall.SIGTERM); status != 0 {
		t.Errorf("exit status %d: %s", status, p.Stderr)
	}
}
