package file

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestSyncDir checks that a directory on a file system that cannot sync directories, such as some shares, is no
// error.
func TestSyncDir(t *testing.T) {
	for _, dir := range []string{t.TempDir(), "/proc"} {
		if err := SyncDir(dir); err != nil {
			t.Error(err)
		}
	}
	if err := SyncDir(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing one: %v", err)
	}
}
