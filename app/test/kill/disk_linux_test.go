package kill_test

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"opsmon/app/test/apptest"
	"opsmon/kv/powercut"
)

// TestFailingDisk makes the disk of a running service fail in several ways: suddenly read-only, as a file system does
// after an error, worn out, full, over quota. Meanwhile writes are answered 503 and reads work. When the disk works
// again, writes succeed automatically, and no answered write is lost.
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

// TestFailedSyncs makes every fourth sync of each thread of the service fail, which is usually the second one of a
// commit, when its change is already readable. A user whose creation was answered with an error does not exist, and
// writes recover automatically.
func TestFailedSyncs(t *testing.T) {
	dir := t.TempDir()
	admin := apptest.Initialise(t, dir, "--domain", "northgate.example")
	p := apptest.StartService(t, dir)
	stop, ok := powercut.Fail(t, p.Cmd.Process.Pid, "fdatasync", "EIO:when=4+4")
	if !ok {
		return
	}
	user := func(i int) string { return fmt.Sprintf("user%d@northgate.example", i) }
	answers := map[int]int{}
	made := map[string]bool{}
	for i := range 80 {
		var out struct {
			ErrorMessage string `json:"errorMessage"`
		}
		resp, err := p.Do(http.MethodPost, "/user", admin, `{"email":"`+user(i)+`","role":"readonly"}`, &out)
		if err != nil {
			t.Fatal(err)
		}
		answers[resp.StatusCode]++
		made[user(i)] = resp.StatusCode == http.StatusOK
		if resp.StatusCode == http.StatusServiceUnavailable && !strings.Contains(out.ErrorMessage, "cannot be written") {
			t.Errorf("a refused write says %q", out.ErrorMessage)
		}
		if status := p.Status(http.MethodGet, "/ready", "", ""); status != http.StatusOK {
			t.Errorf("/ready: %d", status)
		}
	}
	if answers[200] < 20 || answers[503] < 5 || answers[200]+answers[503] != 80 {
		t.Errorf("answers %v", answers)
	}
	look := func() {
		t.Helper()
		for email, want := range made {
			status := p.Status(http.MethodGet, "/user/"+email, admin, "")
			if (status == http.StatusOK) != want {
				t.Errorf("%s was made: %v, and GET answers %d", email, want, status)
			}
		}
	}
	look()
	stop()
	if status := p.Status(http.MethodPost, "/key", admin, ""); status != http.StatusOK {
		t.Errorf("a write when the disk is well again: %d", status)
	}
	p.Kill()
	p = apptest.StartService(t, dir)
	look()
	agree(t, p, admin)
	if out, stderr, status := apptest.Command(t, "check", "--data-dir", dir); status != 0 {
		t.Errorf("check: %s%s", out, stderr)
	}
}
