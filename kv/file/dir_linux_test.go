package file

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestSyncDir: a file system that cannot sync a directory, as some shares cannot, is no failure.
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
