package kv

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDanglingLink checks that no store is created through a dangling link.
func TestDanglingLink(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "s.db")
	if err := os.Symlink(filepath.Join(elsewhere, "s.db"), path); err != nil {
		t.Skip("NOT RUN: this machine makes no links: ", err)
	}
	if _, err := Open(Config{Path: path}); err == nil || !strings.Contains(err.Error(), "a link to a missing file") {
		t.Errorf("opened: %v", err)
	}
	if _, err := NewImport(path); err == nil {
		t.Error("imported through the link")
	}
	for _, d := range []string{dir, elsewhere} {
		if entries, err := os.ReadDir(d); err != nil || len(entries) > 1 || d == elsewhere && len(entries) > 0 {
			t.Errorf("%s holds %v, %v", d, entries, err)
		}
	}
}

// TestLinkPlanted replaces a store that is being created by a link, as anybody with access to the directory can: the
// link's target must not be created.
func TestLinkPlanted(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	path, target := filepath.Join(dir, "s.db"), filepath.Join(elsewhere, "victim")
	planted := false
	_, err := Open(Config{Path: path, step: func(name string) {
		if name != "named" {
			return
		}
		names, err := filepath.Glob(filepath.Join(dir, "*"+leftover+"*"))
		if err != nil || len(names) != 1 {
			t.Fatal(names, err)
		}
		if err := os.Remove(names[0]); err != nil {
			t.Skip("NOT RUN: this system keeps what is open: ", err)
		}
		planted = os.Symlink(target, names[0]) == nil
	}})
	if !planted {
		t.Skip("NOT RUN: this machine makes no links")
	}
	if _, gone := os.Lstat(target); gone == nil {
		t.Errorf("a file was made through the link; %v", err)
	}
}
