package control_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"opsmon/app/host/control"
)

// A socket that a killed service left must not keep the next one from starting, and nobody else may open it.
func TestLeftOverSocketAndRights(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "control.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	if _, err := control.Client(dir); err != control.ErrNotRunning {
		t.Fatalf("left-over socket: %v, want ErrNotRunning", err)
	}
	serve(t, dir)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("socket has mode %v, want 0600", info.Mode().Perm())
	}
}

// otherUser is the environment variable that makes this test binary try the channel of the directory it names.
const otherUser = "CONTROL_TEST_OTHER_USER"

func TestMain(m *testing.M) {
	dir := os.Getenv(otherUser)
	if dir == "" {
		os.Exit(m.Run())
	}
	client, err := control.Client(dir)
	if err == nil {
		var resp *http.Response
		if resp, err = client.Get("http://app/x"); err == nil {
			resp.Body.Close()
		}
	}
	fmt.Println(err)
	os.Exit(0)
}

// Another user is refused by the rights of the socket and, should those be lost, by the check of who is there.
func TestOtherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	dir, err := os.MkdirTemp("", "control-") // t.TempDir's parents are closed to others
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "other")
	own, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, own, 0o755); err != nil {
		t.Fatal(err)
	}
	serve(t, dir)
	try := func() string {
		cmd := exec.Command(program)
		cmd.Env = []string{otherUser + "=" + dir}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := try(); !strings.Contains(got, "may only be spoken to by root and by the user it runs as") {
		t.Errorf("another user: %s", got)
	}
	if err := os.Chmod(filepath.Join(dir, "control.sock"), 0o777); err != nil {
		t.Fatal(err)
	}
	// The service hangs up; how that looks depends on what had been sent by then.
	if got := try(); strings.Contains(got, "<nil>") || strings.Contains(got, "permission denied") {
		t.Errorf("another user, with the rights of the socket lost: %s", got)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if client, err := control.Client(dir); err != nil {
		t.Error(err)
	} else if resp, err := client.Get("http://app/x"); err != nil {
		t.Errorf("the same user: %v", err)
	} else {
		resp.Body.Close()
		client.CloseIdleConnections()
	}
}

// TestPathLengths tries every length around the longest that a socket's address holds.
func TestPathLengths(t *testing.T) {
	base, err := os.MkdirTemp("", "c")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(base)
	for n := 90; n <= 110; n++ {
		dir := filepath.Join(base, strings.Repeat("d", n-len(base)-1))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		l, err := control.Listen(dir)
		if err != nil {
			t.Errorf("%d characters: %v", n, err)
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, "control.sock")); err != nil {
			t.Errorf("%d characters: %v", n, err)
		}
		if _, err := control.Client(dir); err != nil {
			t.Errorf("%d characters: %v", n, err)
		}
		if err := l.Close(); err != nil {
			t.Errorf("%d characters: %v", n, err)
		}
		if _, err := control.Client(dir); err != control.ErrNotRunning {
			t.Errorf("%d characters: after the end: %v", n, err)
		}
	}
}
