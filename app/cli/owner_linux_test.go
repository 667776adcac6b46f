package cli

import (
	"bufio"
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOwnersSession: a process of the owner has its own session, and so cannot inject input into root's terminal.
func TestOwnersSession(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can start a process of another user's")
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	socket, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	cmd := owner{uid: 65534, gid: 65534}.command(asOwnerCommand, ownFiles, "--data-dir", "/nonexistent")
	cmd.Args[0] = "app" // the test binary runs as app
	cmd.Env, cmd.Dir, cmd.Stderr, cmd.ExtraFiles = []string{}, "/", os.Stderr, []*os.File{socket}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Errorf("it says %q, %v", line, err)
	}
	if session, err := unix.Getsid(cmd.Process.Pid); err != nil || session != cmd.Process.Pid {
		t.Errorf("process %d is in the session %d, %v; want one of its own", cmd.Process.Pid, session, err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
