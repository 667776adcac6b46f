package kill_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"opsmon/app/test/apptest"

	"golang.org/x/sys/unix"
)

// TestHangup: a hangup signal does not end a service while its terminal exists.
func TestHangup(t *testing.T) {
	dir := t.TempDir()
	p := apptest.StartService(t, dir)
	for range 3 {
		if err := p.Cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if status := p.Status(http.MethodGet, "/health", "", ""); status != http.StatusOK {
		t.Errorf("after a hangup: %d", status)
	}
	if status := p.End(t, syscall.SIGTERM); status != 0 || !strings.Contains(p.Stderr.String(), "a hangup signal changes nothing") {
		t.Errorf("exit status %d: %s", status, p.Stderr)
	}

	keyboard, tty := terminal(t)
	cmd := exec.Command(apptest.Binary(t), "serve", "--data-dir", dir, "--listen", "127.0.0.1:0")
	cmd.Stdin = tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	p = apptest.StartCommand(t, "Serving on ", cmd)
	tty.Close()
	keyboard.Close() // the terminal is closed
	ended := make(chan error, 1)
	go func() { ended <- p.Cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("its terminal has closed: %v; %s", err, p.Stderr)
		}
	case <-time.After(time.Minute):
		t.Errorf("its terminal has closed, and it goes on")
		p.Cmd.Process.Kill()
	}
}

// terminal opens a pseudo-terminal and returns its two ends.
func terminal(t *testing.T) (keyboard, tty *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("NOT RUN: there is no terminal to be had: %v", err)
	}
	t.Cleanup(func() { keyboard.Close() })
	n, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	return keyboard, tty
}
