package kv

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// snapshotTo copies a store to a new file.
func snapshotTo(t *testing.T, s *Store, path string) Contents {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c, err := s.Snapshot(f)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := f.Stat(); err != nil || info.Size() != c.Size {
		t.Fatalf("the copy has %d bytes, want %d; %v", info.Size(), c.Size, err)
	}
	return c
}

// content returns all entries of a bucket.
func content(t *testing.T, s *Store) map[uint64]string {
	t.Helper()
	all := map[uint64]string{}
	err := s.View(func(tx *Tx) error {
		for item, err := range blobs.Scan(tx, Range{}) {
			if err != nil {
				return err
			}
			all[item.Key] = string(item.Value)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestSnapshot copies a store after each of several commits, because the meta pages alternate.
func TestSnapshot(t *testing.T) {
	nothing := Migration{Name: "nothing", Run: func(*Tx) error { return nil }}
	cfg := Config{Path: filepath.Join(t.TempDir(), "s.db"), Buckets: []string{blobs.Name(), triples.Name()}, Migrations: []Migration{nothing, nothing}}
	s := openStore(t, cfg)
	for i := range uint64(4) {
		if err := s.Update(func(tx *Tx) error { return blobs.Put(tx, i, bytes.Repeat([]byte{byte(i)}, 5000)) }); err != nil {
			t.Fatal(err)
		}
		copied := cfg
		copied.Path = filepath.Join(t.TempDir(), "copy.db")
		got := snapshotTo(t, s, copied.Path)
		want := Contents{Version: 2, Size: s.Size(), Counts: map[string]int{blobs.Name(): int(i) + 1, triples.Name(): 0}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		before, err := os.ReadFile(copied.Path)
		if err != nil {
			t.Fatal(err)
		}
		if found, err := CheckFile(copied.Path); err != nil || !cmp.Equal(found, want) {
			t.Errorf("the copy holds %v, %v; want %v", found, err, want)
		}
		if after, err := os.ReadFile(copied.Path); err != nil || !bytes.Equal(before, after) {
			t.Error("the check changed the file")
		}
		c := openStore(t, copied)
		if !maps.Equal(content(t, c), content(t, s)) {
			t.Error("the copy holds something else")
		}
		if err := c.Update(func(tx *Tx) error { return blobs.Put(tx, 99, nil) }); err != nil {
			t.Errorf("the copy cannot be written: %v", err)
		}
		closeChecked(t, c)
	}
}

// TestSnapshotWhileWriting copies a store during writes. Each write changes two keys together.
func TestSnapshotWhileWriting(t *testing.T) {
	s := openStore(t, Config{Path: filepath.Join(t.TempDir(), "s.db"), Buckets: []string{blobs.Name()}})
	var stop atomic.Bool
	var commits atomic.Int64
	var wg sync.WaitGroup
	for w := range uint64(8) {
		wg.Go(func() {
			for i := 0; !stop.Load(); i++ {
				err := s.Update(func(tx *Tx) error {
					v := bytes.Repeat([]byte{byte(i)}, i%3000+1)
					return errors.Join(blobs.Put(tx, 2*w, v), blobs.Put(tx, 2*w+1, v))
				})
				if err != nil {
					t.Error(err)
					return
				}
				commits.Add(1)
			}
		})
	}
	for range 20 {
		path := filepath.Join(t.TempDir(), "copy.db")
		before := commits.Load()
		for commits.Load() < before+3 {
			time.Sleep(time.Millisecond)
		}
		c := snapshotTo(t, s, path)
		if found, err := CheckFile(path); err != nil || !cmp.Equal(found, c) {
			t.Fatalf("the copy holds %v, %v; want %v", found, err, c)
		}
		copied := openStore(t, Config{Path: path})
		all := content(t, copied)
		for w := range uint64(8) {
			if all[2*w] != all[2*w+1] {
				t.Error("the copy has half a transaction")
			}
		}
		closeChecked(t, copied)
	}
	stop.Store(true)
	wg.Wait()
	closeChecked(t, s)
}

type failingWriter struct{ left int }

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

var errBroken = errors.New("broken")

// TestSnapshotFails copies to a failing writer; the store keeps working.
func TestSnapshotFails(t *testing.T) {
	s := openStore(t, Config{Path: filepath.Join(t.TempDir(), "s.db"), Buckets: []string{blobs.Name()}})
	for _, left := range []int{0, pageSize, 2 * pageSize, 3 * pageSize} {
		if _, err := s.Snapshot(&failingWriter{left}); !errors.Is(err, errBroken) || !strings.HasPrefix(err.Error(), "copy store ") {
			t.Errorf("after %d bytes: %v", left, err)
		}
	}
	if err := s.Update(func(tx *Tx) error { return blobs.Put(tx, 1, nil) }); err != nil {
		t.Error(err)
	}
	closeChecked(t, s)
	if _, err := s.Snapshot(&failingWriter{}); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// TestCheckFile damages every page of a file: CheckFile must detect everything that Check detects.
func TestCheckFile(t *testing.T) {
	whole := sampleStore(t)
	path := filepath.Join(t.TempDir(), "s.db")
	noticed := 0
	for at := 20; at < len(whole); at += 509 {
		data := bytes.Clone(whole)
		data[at] ^= 1
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := CheckFile(path)
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatalf("byte %d: %v", at, err)
		}
		problems := 0
		s, failed := Open(Config{Path: path, Buckets: []string{blobs.Name(), triples.Name()}})
		if failed == nil {
			if err := s.Check(func(string) { problems++ }); err != nil {
				t.Fatal(err)
			}
			s.Close()
		}
		if want := failed != nil || problems > 0; want != (err != nil) {
			t.Errorf("byte %d: %v; damaged: %v", at, err, want)
		}
		if err != nil {
			noticed++
		}
	}
	if noticed < 10 {
		t.Errorf("only %d damages were noticed", noticed)
	}
	for name, data := range map[string][]byte{"empty": {}, "half": whole[:len(whole)/2], "text": []byte("text")} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := CheckFile(path); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := CheckFile(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// TestLockFile detects an open store, and excludes a second holder.
func TestLockFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.db")
	s := openStore(t, Config{Path: path})
	if _, err := LockFile(path, 0); !errors.Is(err, ErrLocked) {
		t.Errorf("an open store: %v", err)
	}
	if _, err := CheckFile(path); !errors.Is(err, ErrLocked) {
		t.Errorf("check of an open store: %v", err)
	}
	closeChecked(t, s)
	unlock, err := LockFile(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	expectLocked(t, path)
	time.AfterFunc(100*time.Millisecond, func() { unlock() })
	unlock2, err := LockFile(path, 10*time.Second)
	if err != nil {
		t.Fatalf("it does not wait: %v", err)
	}
	if err := unlock2(); err != nil {
		t.Error(err)
	}
	closeChecked(t, openStore(t, Config{Path: path}))
	if _, err := LockFile(filepath.Join(dir, "none", "file"), 0); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}
