package kv

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// mountTmpfs mounts an in-memory file system for the duration of the test.
func mountTmpfs(t *testing.T, options string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
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

// TestFull fills the disk. Writes must fail cleanly, reads continue, and writes work again once there is space.
func TestFull(t *testing.T) {
	dir := mountTmpfs(t, "size=2m")
	s := openStore(t, Config{Path: filepath.Join(dir, "s.db"), Buckets: []string{blobs.Name()}})
	filler := filepath.Join(dir, "filler")
	for round := range 3 {
		err := os.WriteFile(filler, make([]byte, 1<<20), 0o600)
		if err != nil && !errors.Is(err, unix.ENOSPC) {
			t.Fatal(err)
		}
		written := map[uint64]bool{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		for w := range uint64(8) {
			wg.Go(func() {
				for i := range uint64(200) {
					k := uint64(round)*10_000 + w*1000 + i
					err := s.Update(func(tx *Tx) error { return blobs.Put(tx, k, bytes.Repeat([]byte{byte(k)}, 20_000)) })
					if err != nil {
						var u interface{ Unavailable() bool }
						if !errors.Is(err, ErrFull) || !errors.As(err, &u) || !u.Unavailable() {
							t.Errorf("got %v, want ErrFull", err)
						}
						return
					}
					mu.Lock()
					written[k] = true
					mu.Unlock()
				}
				t.Error("the disk does not get full")
			})
		}
		wg.Wait()
		err = s.View(func(tx *Tx) error {
			n := 0
			for item, err := range blobs.Scan(tx, blobs.From(uint64(round)*10_000)) {
				if err != nil {
					return err
				}
				if !written[item.Key] {
					return fmt.Errorf("key %d was not acknowledged", item.Key)
				}
				n++
			}
			if n != len(written) {
				return fmt.Errorf("%d keys are there, %d were acknowledged", n, len(written))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		// There is space now; deleting makes free pages in the file for the next round.
		err = s.Update(func(tx *Tx) error {
			for k := range written {
				if err := blobs.Delete(tx, k); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatalf("with room again: %v", err)
		}
	}
	closeChecked(t, s) // before the disk is unmounted
}

// TestFullAtCreation creates a store on a full disk.
func TestFullAtCreation(t *testing.T) {
	dir := mountTmpfs(t, "size=64k")
	filler, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = filler.Write(make([]byte, 1024))
	}
	filler.Close()
	path := filepath.Join(dir, "s.db")
	if _, err := Open(Config{Path: path}); !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "free some space") {
		t.Errorf("got %v, want ErrFull with advice", err)
	}
	if err := os.Remove(filler.Name()); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, Config{Path: path})
	closeChecked(t, s)
}

// expectReadOnly opens a store that cannot be written and checks the error.
func expectReadOnly(t *testing.T, path string) {
	t.Helper()
	_, err := Open(Config{Path: path})
	var u interface{ Unavailable() bool }
	if !errors.Is(err, ErrReadOnly) || !strings.Contains(err.Error(), "write permission") || !errors.As(err, &u) || !u.Unavailable() {
		t.Errorf("got %v, want ErrReadOnly with advice", err)
	}
}

// TestReadOnlyDisk opens stores on a read-only disk, and remounts the disk of an open store read-only.
func TestReadOnlyDisk(t *testing.T) {
	dir := mountTmpfs(t, "size=1m")
	path := filepath.Join(dir, "s.db")
	closeChecked(t, openStore(t, Config{Path: path}))
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	expectReadOnly(t, path)
	expectReadOnly(t, filepath.Join(dir, "new.db"))
}

// TestNoPermission opens stores in a directory and a file without write permission. Root may write to any file, so
// the test's thread drops its privileges for a while.
func TestNoPermission(t *testing.T) {
	dir, err := os.MkdirTemp("", "kv") // t.TempDir is not accessible to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(os.Chmod(dir, 0o700), os.RemoveAll(dir)); err != nil {
			t.Error(err)
		}
	})
	path := filepath.Join(dir, "s.db")
	closeChecked(t, openStore(t, Config{Path: path}))
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode is %v, %v", info.Mode(), err)
	}
	if err := errors.Join(os.Chmod(path, 0o444), os.Chmod(dir, 0o555)); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		for up := dir; up != "/"; up = filepath.Dir(up) {
			if info, err := os.Stat(up); err != nil || info.Mode().Perm()&0o005 != 0o005 {
				t.Skipf("others than the superuser cannot reach %s, so they cannot be tried there", up)
			}
		}
		const nobody = 65534
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if _, err := unix.SetfsuidRetUid(nobody); err != nil {
			t.Fatal(err)
		}
		defer unix.SetfsuidRetUid(0)
	}
	expectReadOnly(t, path)
	expectReadOnly(t, filepath.Join(dir, "new.db"))
}

// TestTruncatedWhileOpen truncates the file of an open store. Reading the missing part is a fault in mapped memory,
// which would end the process if it were not recovered.
func TestTruncatedWhileOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s, err := Open(Config{Path: path, Buckets: []string{blobs.Name()}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(100) {
		if err := s.Update(func(tx *Tx) error { return blobs.Put(tx, i, make([]byte, 2000)) }); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(path, 2*pageSize); err != nil {
		t.Fatal(err)
	}
	read := func(tx *Tx) error { _, err := blobs.Get(tx, 50); return err }
	put := func(tx *Tx) error { return blobs.Put(tx, 50, nil) }
	count := func(tx *Tx) error { blobs.Count(tx); return nil }
	for name, err := range map[string]error{"View": s.View(read), "Update": s.Update(put), "Count": s.View(count)} {
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v, want ErrDamaged", name, err)
		}
	}
	problems := 0
	if err := s.Check(func(string) { problems++ }); err != nil || problems == 0 {
		t.Errorf("Check finds %d problems, %v", problems, err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"View": s.View(read), "Update": s.Update(put)} {
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("without meta pages, %s: %v, want ErrDamaged", name, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if unlock, err := LockFile(path, 0); err != nil {
		t.Errorf("closed, and still locked: %v", err)
	} else if err := unlock(); err != nil {
		t.Error(err)
	}
}
