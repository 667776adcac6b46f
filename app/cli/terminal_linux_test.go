package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// screen is a terminal with a person who types.
type screen struct {
	keyboard, tty *os.File

	mu    sync.Mutex
	shown bytes.Buffer
}

func newScreen(t *testing.T) *screen {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there is no terminal to be had: %v", err)
	}
	t.Cleanup(func() { keyboard.Close() })
	n, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	s := &screen{keyboard: keyboard, tty: tty}
	go func() {
		b := make([]byte, 1024)
		for {
			n, err := keyboard.Read(b)
			s.mu.Lock()
			s.shown.Write(b[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return s
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.String()
}

// await waits until a text was shown a number of times since the start.
func (s *screen) await(t *testing.T, text string, times int) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); strings.Count(s.text(), text) < times; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%q was not shown: %q", text, s.text())
		}
	}
}

func (s *screen) typed(t *testing.T, line string) {
	t.Helper()
	if _, err := s.keyboard.WriteString(line); err != nil {
		t.Fatal(err)
	}
}

// begin starts app at the terminal.
func (s *screen) begin(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("app", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.tty, s.tty, s.tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd
}

// TestTerminal: a passphrase is asked for twice and never shown, a restore asks for confirmation, and Ctrl-C at a
// prompt restores the terminal.
func TestTerminal(t *testing.T) {
	dir, work := filepath.Join(t.TempDir(), "data"), t.TempDir()
	file, plain := filepath.Join(work, "secret.backup"), filepath.Join(work, "plain.backup")
	t.Setenv("APP_DATA_DIR", dir)
	if out, err := exec.Command("app", "init", "--domain", "northgate.example", "--email", "it@northgate.example").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const secret = "correct horse battery"
	exit := func(cmd *exec.Cmd) int {
		var failed *exec.ExitError
		if err := cmd.Wait(); err != nil && !errors.As(err, &failed) {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode()
	}

	s := newScreen(t)
	cmd := s.begin(t, "backup", file, "--encrypt")
	s.await(t, "New passphrase: ", 1)
	s.typed(t, secret+"\n")
	s.await(t, "Once more: ", 1)
	s.typed(t, "correct hose battery\n")
	if code := exit(cmd); code != 1 {
		t.Fatalf("status %d: %s", code, s.text())
	}
	s.await(t, "the two passphrases differ", 1)

	cmd = s.begin(t, "backup", file, "--encrypt")
	s.await(t, "New passphrase: ", 2)
	s.typed(t, secret+"\n")
	s.await(t, "Once more: ", 2)
	s.typed(t, secret+"\n")
	if code := exit(cmd); code != 0 {
		t.Fatalf("status %d: %s", code, s.text())
	}
	s.await(t, "is made", 1)

	cmd = s.begin(t, "backup", "verify", file)
	s.await(t, "Passphrase of the backup: ", 1)
	s.typed(t, secret+"\n")
	if code := exit(cmd); code != 0 {
		t.Fatalf("status %d: %s", code, s.text())
	}
	if out, err := exec.Command("app", "backup", plain).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, answer := range []string{"y", "yes", "\x03"} {
		asked := strings.Count(s.text(), "Type yes: ")
		cmd = s.begin(t, "restore", plain)
		s.await(t, "Type yes: ", asked+1)
		s.typed(t, answer+"\n")
		if code := exit(cmd); (code == 0) != (answer == "yes") {
			t.Errorf("status %d after %q: %s", code, answer, s.text())
		}
	}
	s.await(t, "Restored: ", 1)
	if strings.Contains(s.text(), "horse") {
		t.Errorf("the passphrase was shown: %q", s.text())
	}
	if !strings.Contains(s.text(), " %") {
		t.Errorf("no progress was shown: %q", s.text())
	}

	before, err := unix.IoctlGetTermios(int(s.tty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	cmd = s.begin(t, "backup", "verify", file)
	s.await(t, "Passphrase of the backup: ", 2)
	s.typed(t, "\x03")
	if code := exit(cmd); code != 1 {
		t.Errorf("status %d after Ctrl-C", code)
	}
	if after, err := unix.IoctlGetTermios(int(s.tty.Fd()), unix.TCGETS); err != nil || *after != *before {
		t.Errorf("the terminal is left in another state: %+v, %v", after, err)
	}
}
