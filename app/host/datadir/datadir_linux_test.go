package datadir

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestHandOver: the owner of a data directory gets the file that root has made in it, and not one of root's elsewhere that
// a link in the directory leads to.
func TestHandOver(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root has something to hand over")
	}
	const nobody = 65534
	dir, secret := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	for _, path := range []string{secret, file} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(secret, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]uint32{file: nobody, link: 0} {
		if err := HandOver(dir, path); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path) // of what the link leads to
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Sys().(*syscall.Stat_t).Uid; got != want {
			t.Errorf("%s belongs to %d, want %d", filepath.Base(path), got, want)
		}
	}
}
