package control_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"opsmon/app/control"
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
