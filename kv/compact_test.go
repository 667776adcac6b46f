package kv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"opsmon/kv/file"
)

// holey makes a store that consists mostly of free pages, with values over several pages, an empty bucket and a
// sequence number.
func holey(t *testing.T) (Config, *Store) {
	t.Helper()
	nothing := Migration{Name: "nothing", Run: func(*Tx) error { return nil }}
	cfg := Config{Path: filepath.Join(t.TempDir(), "s.db"), Buckets: []string{blobs.Name(), triples.Name(), "empty"}, Migrations: []Migration{nothing}}
	s := openStore(t, cfg)
	for n := range uint64(40) {
		err := s.Update(func(tx *Tx) error {
			for k := range uint64(100) {
				if err := blobs.Put(tx, n*100+k, bytes.Repeat([]byte{byte(k)}, int(k*37))); err != nil {
					return err
				}
			}
			_, err := triples.Next(tx)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for n := range uint64(36) {
		err := s.Update(func(tx *Tx) error {
			for k := range uint64(100) {
				if err := blobs.Delete(tx, n*100+k); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return cfg, s
}

func TestCompactTo(t *testing.T) {
	cfg, s := holey(t)
	want := content(t, s)
	before, err := s.Usage()
	if err != nil || before.Free < before.Bytes/2 {
		t.Fatalf("%+v, %v: too little is free for this test", before, err)
	}
	to := filepath.Join(t.TempDir(), "small.db")
	if _, err := CompactTo(t.Context(), cfg.Path, to); !errors.Is(err, ErrLocked) {
		t.Errorf("a store in use: %v, want ErrLocked", err)
	}
	if file.Exists(to) {
		t.Error("something is left")
	}
	closeChecked(t, s)
	original, err := os.ReadFile(cfg.Path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := CompactTo(t.Context(), cfg.Path, to)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(to)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{blobs.Name(): 400, triples.Name(): 0, "empty": 0}
	if diff := cmp.Diff(Compacted{int64(len(original)), info.Size(), Contents{Version: 1, Size: info.Size(), Counts: counts, Sequences: map[string]uint64{triples.Name(): 40}}, c.Commit}, c); diff != "" {
		t.Error(diff)
	}
	if c.After > c.Before/2 {
		t.Errorf("%d bytes of %d are left", c.After, c.Before)
	}
	if last, err := LastCommit(cfg.Path); err != nil || last != c.Commit || last == 0 {
		t.Errorf("commit %d was read, the last is %d, %v", c.Commit, last, err)
	}
	if now, err := os.ReadFile(cfg.Path); err != nil || !bytes.Equal(now, original) {
		t.Error("the original was changed")
	}
	if _, err := CompactTo(t.Context(), cfg.Path, to); !errors.Is(err, fs.ErrExist) || !file.Exists(to) {
		t.Errorf("over a file: %v", err)
	}
	cfg.Path = to
	small := openStore(t, cfg)
	if !maps.Equal(content(t, small), want) {
		t.Error("the new store holds something else")
	}
	if u, err := small.Usage(); err != nil || u.Bytes != info.Size() || u.Free > u.Bytes/4 {
		t.Errorf("usage %+v, %v", u, err)
	}
	err = small.Update(func(tx *Tx) error {
		if n, err := triples.Next(tx); err != nil || n != 41 {
			return fmt.Errorf("the next number is %d, %w", n, err)
		}
		return blobs.Put(tx, 1, []byte("written"))
	})
	if err != nil {
		t.Error(err)
	}
	closeChecked(t, small)
}

// TestCompactDamaged checks that a damaged store is refused and no file is left. A flipped byte in a free page is
// harmless.
func TestCompactDamaged(t *testing.T) {
	whole := sampleStore(t)
	dir := t.TempDir()
	path, to := filepath.Join(dir, "s.db"), filepath.Join(dir, "small.db")
	refused := 0
	for at := 100; at < len(whole); at += 1571 {
		data := bytes.Clone(whole)
		data[at] ^= 0x20
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := CompactTo(t.Context(), path, to)
		if err == nil {
			expectSame(t, to)
			os.Remove(to)
			continue
		}
		refused++
		if !errors.Is(err, ErrDamaged) || file.Exists(to) {
			t.Errorf("byte %d: %v, left: %v", at, err, file.Exists(to))
		}
	}
	if refused < 20 {
		t.Errorf("only %d were refused", refused)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := CompactTo(ctx, path, to); !errors.Is(err, context.Canceled) || file.Exists(to) {
		t.Errorf("got %v", err)
	}
	if _, err := CompactTo(t.Context(), filepath.Join(dir, "none.db"), to); !errors.Is(err, fs.ErrNotExist) || file.Exists(to) {
		t.Errorf("no store: %v", err)
	}
}

// expectSame checks that a file has the content of sampleStore.
func expectSame(t *testing.T, path string) {
	t.Helper()
	s := openStore(t, Config{Path: path, Buckets: []string{blobs.Name(), triples.Name()}})
	defer closeChecked(t, s)
	got := content(t, s)
	for k, v := range sampleValues() {
		if got[k] != string(v) {
			t.Fatalf("key %d differs", k)
		}
	}
}

// TestUsage reads the usage during writes, and checks that freed pages are counted.
func TestUsage(t *testing.T) {
	_, s := holey(t)
	before, err := s.Usage()
	if err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for w := range uint64(4) {
		writers.Go(func() {
			for i := range uint64(50) {
				if err := s.Update(func(tx *Tx) error { return blobs.Put(tx, 9000+w*100+i, []byte("x")) }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 200 {
		if u, err := s.Usage(); err != nil || u.Free <= 0 || u.Free >= u.Bytes {
			t.Fatalf("%+v, %v", u, err)
		}
	}
	writers.Wait()
	err = s.Update(func(tx *Tx) error {
		for item, err := range blobs.Scan(tx, Range{}) {
			if err != nil {
				return err
			}
			if err := blobs.Delete(tx, item.Key); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if after, err := s.Usage(); err != nil || after.Free <= before.Free || after.Bytes < before.Bytes {
		t.Errorf("%+v before, %+v after; %v", before, after, err)
	}
	closeChecked(t, s)
	if _, err := s.Usage(); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// TestReport lists all problems of a file that can be found.
func TestReport(t *testing.T) {
	whole := sampleStore(t)
	path := filepath.Join(t.TempDir(), "s.db")
	flip := func(pages ...int) []byte {
		data := bytes.Clone(whole)
		for _, p := range pages {
			data[p*pageSize] ^= 0xFF
		}
		return data
	}
	var leaves []int
	for p := 2; p < len(whole)/pageSize; p++ {
		if parsePage(whole[p*pageSize:][:pageHeader]).flags == flagLeaf {
			leaves = append(leaves, p)
		}
	}
	for name, test := range map[string]struct {
		data     []byte
		problems int // minimum; -1 = none
		issue    string
	}{
		"whole":    {whole, -1, ""},
		"leaves":   {flip(leaves...), 2, "has the number"},
		"one meta": {func() []byte { d := bytes.Clone(whole); d[pageHeader+48]++; return d }(), 1, "meta page"},
		"both":     {func() []byte { d := bytes.Clone(whole); d[pageHeader+48]++; d[pageSize+pageHeader+48]++; return d }(), 1, "meta page"},
		"half":     {whole[:len(whole)/2], 3, "bytes, want"},
		"empty":    {nil, 1, "empty"},
		"foreign":  {bytes.Repeat([]byte("not a store\n"), 3000), 1, "not a store"},
		"short":    {whole[:50], 1, "too short"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(path, test.data, 0o600); err != nil {
				t.Fatal(err)
			}
			var all []string
			if err := Report(path, func(p string) { all = append(all, p) }); err != nil {
				t.Fatal(err)
			}
			text := strings.Join(all, "\n")
			if test.problems == -1 && len(all) > 0 || len(all) < test.problems || !strings.Contains(text, test.issue) {
				t.Errorf("%d problems: %s", len(all), text)
			}
		})
	}
}
