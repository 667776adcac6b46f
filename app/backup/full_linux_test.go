package backup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"opsmon/kv"
)

// mountTmpfs mounts a file system in memory for the length of the test.
func mountTmpfs(t *testing.T, megabytes int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", megabytes)); err != nil {
		t.Skipf("this user may not mount a file system, which the test needs: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestFullDisk backs up to a disk without room: a clean error, and what was there before stays, whole.
func TestFullDisk(t *testing.T) {
	dir, to := t.TempDir(), mountTmpfs(t, 1)
	s := openStore(t, dir)
	fill(t, s, 0, 1000)
	path := filepath.Join(to, "plant.backup")
	cfg := Config{Store: s, Overwrite: true}
	first, err := Create(t.Context(), cfg, path)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, s, 1000, 30_000)
	if _, err := Create(t.Context(), cfg, path); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v", err)
	}
	expectOnly(t, to, "plant.backup")
	if m, err := Verify(t.Context(), VerifyConfig{Path: path}); err != nil || m.Entries[0].SHA256 != first.Manifest.Entries[0].SHA256 {
		t.Errorf("the one before: %v", err)
	}

	// A disk that would get fuller than it may is left alone.
	large := mountTmpfs(t, 200)
	cfg.MinFreePercent = 10
	if _, err := Create(t.Context(), cfg, filepath.Join(large, "a")); err != nil {
		t.Errorf("with room: %v", err)
	}
	disk, err := DiskOf(large)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(large, "filler"), string(make([]byte, disk.Free-disk.Total/10-3<<20)))
	if _, err := Create(t.Context(), cfg, filepath.Join(large, "b")); !errors.Is(err, ErrNoRoom) {
		t.Errorf("with less room: %v", err)
	}
	expectOnly(t, large, "a", "filler")
	if err := s.Update(func(tx *kv.Tx) error { return records.Put(tx, 1, nil) }); err != nil {
		t.Errorf("the store is harmed: %v", err)
	}
}

// TestFullDataDisk makes no copy of a store where its service would be left without room, and unpacks nothing there.
func TestFullDataDisk(t *testing.T) {
	dir := mountTmpfs(t, 80)
	s := openStore(t, dir)
	fill(t, s, 0, 30_000)
	to := t.TempDir()
	if _, err := Create(t.Context(), Config{Store: s}, filepath.Join(to, "x")); !errors.Is(err, ErrNoRoom) {
		t.Errorf("got %v", err)
	}
	expectOnly(t, to)
	expectOnly(t, dir, "app.db", "backup.lock")
	closeChecked(t, s) // before the disk goes

	large := t.TempDir()
	s = openStore(t, large)
	fill(t, s, 0, 30_000)
	path := made(t, Config{Store: s})
	disk, err := DiskOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "filler"), string(make([]byte, disk.Free-2<<20)))
	if _, err := Restore(t.Context(), RestoreConfig{Path: path, Dir: dir, Store: storeConfig("")}); !errors.Is(err, ErrNoRoom) {
		t.Errorf("restore: %v", err)
	}
	if got := contentOf(t, dir); len(got) != 30_000 {
		t.Errorf("the store holds %d records", len(got))
	}
	if err := os.Remove(filepath.Join(dir, "filler")); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), RestoreConfig{Path: path, Dir: dir, Store: storeConfig("")}); err != nil {
		t.Errorf("with room: %v", err)
	}
}
