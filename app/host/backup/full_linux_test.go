package backup

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"opsmon/app/test/apptest"
	"opsmon/kv"
	"opsmon/kv/file"
)

// mountTmpfs mounts a file system in memory for the length of the test.
func mountTmpfs(t *testing.T, megabytes int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", megabytes)); err != nil {
		if os.Getuid() == 0 {
			t.Skipf("NOT RUN: this machine does not let a test mount a file system: %v", err)
		}
		t.Skipf("only root can mount a file system to fill: %v", err)
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
	apptest.Long(t)
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
	disk, err := file.SpaceOf(large)
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

// TestSpoolRoom takes no backup that the service's disk has no room for, whether its size is told or not.
func TestSpoolRoom(t *testing.T) {
	dir := mountTmpfs(t, 80) // spoolReserve and a little
	for name, size := range map[string]int64{"told": 20 << 20, "not told": -1, "told wrong": 1} {
		if _, err := Spool(t.Context(), dir, "upload-", size, io.LimitReader(zeroes{}, 20<<20)); !errors.Is(err, ErrNoRoom) {
			t.Errorf("size %s: %v", name, err)
		}
		expectOnly(t, dir)
	}
	path, err := Spool(t.Context(), dir, "upload-", 1<<20, io.LimitReader(zeroes{}, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 1<<20 || filepath.Dir(path) != dir {
		t.Errorf("%s: %v, %v", path, info, err)
	}
}

// zeroes gives zeroes for ever.
type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestKilledAway kills a process at each step of a backup to another disk.
func TestKilledAway(t *testing.T) {
	to := mountTmpfs(t, 20)
	dir := t.TempDir()
	if same, err := file.SameDisk(dir, to); same || err != nil {
		t.Fatal(same, err)
	}
	s := openStore(t, dir)
	fill(t, s, 0, 400)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"named", "copied", "synced", "copied away", "verified", "published"} {
		path := filepath.Join(to, "plant.backup")
		writeFile(t, path, "other")
		expectKilled(t, child("create", dir, path, "BACKUP_TEST_STEP="+step))
		if _, err := Verify(t.Context(), VerifyConfig{Path: path}); (err == nil) != (step == "published") || err != nil && readFile(t, path) != "other" {
			t.Errorf("%s: %v", step, err)
		}
		s := openStore(t, dir)
		if _, err := Create(t.Context(), Config{Store: s, Overwrite: true, Clock: tomorrow}, path); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		expectOnly(t, dir, "app.db", "backup.lock")
		expectOnly(t, to, "plant.backup")
	}
}

// TestFullFolder fills and frees the disk of a folder of backups: each attempt leaves what was there, and the first with
// room succeeds.
func TestFullFolder(t *testing.T) {
	apptest.Long(t)
	folder := mountTmpfs(t, 6)
	s := openStore(t, t.TempDir())
	fill(t, s, 0, 8000)
	clock := time.Now()
	held := days(t, folder, 1, Config{Store: s}, &clock)
	first := fileName(clock)
	fill(t, s, 8000, 8000)
	disk, err := file.SpaceOf(folder)
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Store: s, Share: true, Clock: func() time.Time { return clock }}
	second := filepath.Join(folder, fileName(clock.Add(time.Hour)))
	for _, left := range []int64{0, 4 << 10, 100 << 10, 600 << 10} {
		writeFile(t, filepath.Join(folder, "filler"), string(make([]byte, disk.Free-left)))
		if _, err := Create(t.Context(), cfg, second); !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, ErrNoRoom) {
			t.Errorf("%d bytes free: %v", left, err)
		}
		if err := os.Remove(filepath.Join(folder, "filler")); err != nil {
			t.Fatal(err)
		}
		expectOnly(t, folder, first, partsDir)
		if _, err := Prune(folder, Policy{Daily: 1}, 0, clock.Add(25*time.Hour)); err != nil { // of parts without a backup
			t.Error(err)
		}
		if m, err := Verify(t.Context(), VerifyConfig{Path: filepath.Join(folder, first)}); err != nil || m.Entries[0].Counts["record"] != len(held[first]) {
			t.Errorf("%d bytes free: the one before: %+v, %v", left, m, err)
		}
	}
	if _, err := Create(t.Context(), cfg, second); err != nil {
		t.Errorf("with room: %v", err)
	}
}

// TestFullDataDisk makes no copy of a store where its service would be left without room, and unpacks nothing there.
func TestFullDataDisk(t *testing.T) {
	apptest.Long(t)
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
	disk, err := file.SpaceOf(dir)
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
