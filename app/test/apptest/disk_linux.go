package apptest

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Mount mounts a file system of limited size for a test.
func Mount(t testing.TB, options string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can mount a file system to fill")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("NOT RUN: this machine does not let a test mount a file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// Fill fills all remaining space of a file system until free is called.
func Fill(t testing.TB, dir string) (free func()) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.Copy(f, Endless{}); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk does not get full: %v", err)
	}
	return func() {
		if err := os.Remove(f.Name()); err != nil {
			t.Fatal(err)
		}
	}
}

// Endless is an endless reader of zeros.
type Endless struct{}

// Read implements io.Reader.
func (Endless) Read(p []byte) (int, error) { return len(p), nil }
