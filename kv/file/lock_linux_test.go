package file

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestLockFollowsNoLink takes locks as root in a directory whose owner has created links to root's files. No target
// is created or changes its owner.
func TestLockFollowsNoLink(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT RUN: only root has files to give away")
	}
	const other = 65534
	elsewhere, dir := t.TempDir(), t.TempDir()
	if err := os.Chown(dir, other, other); err != nil {
		t.Fatal(err)
	}
	there := filepath.Join(elsewhere, "there")
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(elsewhere, "missing")
	for name, plant := range map[string]func(at string) error{
		"link to nothing": func(at string) error { return os.Symlink(missing, at) },
		"link to a file":  func(at string) error { return os.Symlink(there, at) },
		"hard link":       func(at string) error { return os.Link(there, at) },
		"nothing":         func(string) error { return nil },
	} {
		path := filepath.Join(dir, name)
		if err := plant(path); err != nil {
			t.Fatal(err)
		}
		unlock, err := Lock(path, 0)
		if (err != nil) != (name == "link to nothing") {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			if err := unlock(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if _, err := os.Lstat(missing); !os.IsNotExist(err) {
		t.Errorf("what a link leads to was made: %v", err)
	}
	for path, want := range map[string]uint32{there: 0, filepath.Join(dir, "nothing"): other} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Sys().(*syscall.Stat_t).Uid; got != want {
			t.Errorf("%s belongs to the user %d, want %d", path, got, want)
		}
	}
}
