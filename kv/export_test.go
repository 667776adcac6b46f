package kv

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// exported returns a store's runs.
func exported(t testing.TB, s *Store) (runs [][]byte, c Contents) {
	t.Helper()
	c, err := s.Export(ExportConfig{Use: func(run []byte) error { runs = append(runs, run); return nil }})
	if err != nil {
		t.Fatal(err)
	}
	return runs, c
}

// imported builds a store from runs; with an empty path it only verifies them.
func imported(path string, runs [][]byte, c Contents) error {
	im, err := NewImport(path)
	if err != nil {
		return err
	}
	for _, run := range runs {
		if err := im.Add(run); err != nil {
			return errors.Join(err, im.Abort())
		}
	}
	return im.Finish(c)
}

// large fills a store with n values of 2,000 bytes.
func large(t testing.TB, s *Store, n uint64) {
	t.Helper()
	for k := uint64(0); k < n; k += 500 {
		err := s.Update(func(tx *Tx) error {
			for i := k; i < min(k+500, n); i++ {
				if err := blobs.Put(tx, i*10, bytes.Repeat(binary.BigEndian.AppendUint64(nil, i), 250)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestExport builds a store from another's runs: it has the same content and accepts writes.
func TestExport(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT RUN: -short leaves out what takes long")
	}
	nothing := Migration{Name: "nothing", Run: func(*Tx) error { return nil }}
	for name, n := range map[string]uint64{"empty": 0, "small": 3, "several transactions": 20_000} {
		t.Run(name, func(t *testing.T) {
			cfg := Config{Path: filepath.Join(t.TempDir(), "s.db"), Buckets: []string{blobs.Name(), triples.Name()}, Migrations: []Migration{nothing, nothing}}
			s := openStore(t, cfg)
			large(t, s, n)
			var last uint64
			if err := s.Update(func(tx *Tx) (err error) { last, err = blobs.Next(tx); return err }); err != nil {
				t.Fatal(err)
			}
			runs, c := exported(t, s)
			want := Contents{Version: 2, Size: c.Size, Counts: map[string]int{blobs.Name(): int(n), triples.Name(): 0}, Sequences: map[string]uint64{blobs.Name(): last}}
			if diff := cmp.Diff(want, c); diff != "" || c.Size != int64(len(bytes.Join(runs, nil))) {
				t.Error(diff, c.Size)
			}
			if err := imported("", runs, c); err != nil {
				t.Errorf("checked alone: %v", err)
			}
			cfg.Path = filepath.Join(t.TempDir(), "copy.db")
			if err := imported(cfg.Path, runs, c); err != nil {
				t.Fatal(err)
			}
			found, err := CheckFile(cfg.Path)
			if err == nil {
				err = found.Same(c)
			}
			if err != nil {
				t.Error(err)
			}
			copied := openStore(t, cfg)
			if !maps.Equal(content(t, copied), content(t, s)) {
				t.Error("the copy holds something else")
			}
			var next uint64
			if err := copied.Update(func(tx *Tx) (err error) { next, err = blobs.Next(tx); return err }); err != nil || next != last+1 {
				t.Errorf("the next number is %d, %v", next, err)
			}
			closeChecked(t, copied)
		})
	}
}

// TestRunsStay changes a few entries of a store: only the runs near them may change.
func TestRunsStay(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT RUN: -short leaves out what takes long")
	}
	s := openStore(t, Config{Path: filepath.Join(t.TempDir(), "s.db"), Buckets: []string{blobs.Name()}})
	large(t, s, 20_000)
	before, c := exported(t, s)
	if mean := int(c.Size) / len(before); mean < runTarget/2 || mean > runTarget*2 {
		t.Errorf("%d runs of %d bytes on average", len(before), mean)
	}
	for _, change := range []struct {
		name string
		fn   func(*Tx) error
	}{
		{"one more", func(tx *Tx) error { return blobs.Put(tx, 77_001, make([]byte, 3000)) }},
		{"one less", func(tx *Tx) error { return blobs.Delete(tx, 120_000) }},
		{"one changed", func(tx *Tx) error { return blobs.Put(tx, 33_000, nil) }},
		{"one at the end", func(tx *Tx) error { return blobs.Put(tx, 1<<40, nil) }},
		{"a number taken", func(tx *Tx) error { _, err := blobs.Next(tx); return err }},
	} {
		if err := s.Update(change.fn); err != nil {
			t.Fatal(err)
		}
		after, _ := exported(t, s)
		fresh := slices.DeleteFunc(slices.Clone(after), func(run []byte) bool {
			return slices.ContainsFunc(before, func(b []byte) bool { return bytes.Equal(b, run) })
		})
		if len(fresh) > 2 {
			t.Errorf("%s: %d of %d runs are new", change.name, len(fresh), len(after))
		}
		before = after
	}
}

// TestRunsInBuffers checks that a run does not depend on what precedes it in its buffer, and that Contents count only
// the runs.
func TestRunsInBuffers(t *testing.T) {
	s := openStore(t, Config{Path: filepath.Join(t.TempDir(), "s.db"), Buckets: []string{blobs.Name(), triples.Name()}})
	large(t, s, 5_000)
	want, c := exported(t, s)
	front := bytes.Repeat([]byte("in front "), 30<<10) // as long as the shortest runs
	var runs [][]byte
	got, err := s.Export(ExportConfig{Next: func() []byte { return bytes.Clone(front) }, Use: func(buf []byte) error {
		run, found := bytes.CutPrefix(buf, front)
		if !found {
			t.Error("the buffer's content is lost")
		}
		runs = append(runs, run)
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(want) < 5 || !slices.EqualFunc(runs, want, bytes.Equal) {
		t.Errorf("%d runs, other than the %d without anything in front", len(runs), len(want))
	}
	if diff := cmp.Diff(c, got); diff != "" {
		t.Error(diff)
	}
}

// TestExportDamaged checks that an export detects damage.
func TestExportDamaged(t *testing.T) {
	whole := sampleStore(t)
	noticed := 0
	for at := 2*pageSize + 20; at < len(whole); at += 509 {
		data := bytes.Clone(whole)
		data[at] ^= 1
		path := filepath.Join(t.TempDir(), "s.db")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(Config{Path: path, Buckets: []string{blobs.Name(), triples.Name()}})
		if err != nil {
			continue
		}
		var runs [][]byte
		c, err := s.Export(ExportConfig{Use: func(run []byte) error { runs = append(runs, run); return nil }})
		if err == nil {
			err = imported("", runs, c) // undetected damage must be harmless
			if err != nil {
				t.Errorf("byte %d: exported, and not imported: %v", at, err)
			}
		} else if noticed++; !errors.Is(err, ErrDamaged) {
			t.Errorf("byte %d: %v", at, err)
		}
		s.Close()
	}
	if noticed < 10 {
		t.Errorf("only %d damages were noticed", noticed)
	}
}

// TestExportTrust skips the values' checksums in the export; the import must detect the damage.
func TestExportTrust(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := openStore(t, Config{Path: path, Buckets: []string{blobs.Name()}})
	large(t, s, 100)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[bytes.Index(data, bytes.Repeat([]byte{0, 0, 0, 0, 0, 0, 0, 50}, 100))+800] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err = Open(Config{Path: path, Buckets: []string{blobs.Name()}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for trust, notices := range map[bool]string{false: "export", true: "import"} {
		var runs [][]byte
		c, err := s.Export(ExportConfig{Use: func(run []byte) error { runs = append(runs, run); return nil }, Trust: trust})
		by := "export"
		if err == nil {
			by, err = "import", imported("", runs, c)
		}
		if by != notices || !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), blobs.Name()) {
			t.Errorf("trust %v: the %s says %v", trust, by, err)
		}
	}
}

// TestImportDamaged checks that changed, missing, duplicate and reordered runs are refused.
func TestImportDamaged(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT RUN: -short leaves out what takes long")
	}
	s := openStore(t, Config{Path: filepath.Join(t.TempDir(), "s.db"), Buckets: []string{blobs.Name(), triples.Name()}})
	large(t, s, 3000)
	runs, c := exported(t, s)
	if len(runs) < 4 {
		t.Fatalf("%d runs", len(runs))
	}
	refused := func(what string, runs [][]byte, c Contents) {
		t.Helper()
		for _, path := range []string{"", filepath.Join(t.TempDir(), "copy.db")} {
			if err := imported(path, runs, c); !errors.Is(err, ErrDamaged) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	for i := range runs {
		refused("one lost", slices.Delete(slices.Clone(runs), i, i+1), c)
		refused("one doubled", slices.Insert(slices.Clone(runs), i, runs[i]), c)
		refused("another order", slices.Insert(slices.Delete(slices.Clone(runs), i, i+1), (i+1)%(len(runs)-1), runs[i]), c)
		for at := 0; at < len(runs[i]); at += 1 + len(runs[i])/23 {
			changed := slices.Clone(runs)
			changed[i] = bytes.Clone(runs[i])
			changed[i][at] ^= 4
			if err := imported("", changed, c); !errors.Is(err, ErrDamaged) {
				t.Errorf("run %d, byte %d: %v", i, at, err)
			}
			changed[i] = runs[i][:at]
			if err := imported("", changed, c); !errors.Is(err, ErrDamaged) {
				t.Errorf("run %d cut after %d: %v", i, at, err)
			}
		}
	}
	for what, other := range map[string]Contents{
		"version": {Version: 1, Counts: c.Counts},
		"counts":  {Counts: map[string]int{blobs.Name(): 2999, triples.Name(): 0}},
		"missing": {Counts: map[string]int{blobs.Name(): 3000}},
	} {
		if what == "missing" {
			other.Counts["more"] = 1
		}
		refused(what, runs, other)
	}
	path := filepath.Join(t.TempDir(), "there")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewImport(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("onto a file: %v", err)
	}
}

// FuzzImport passes arbitrary bytes as a run.
func FuzzImport(f *testing.F) {
	f.Add([]byte("\x06_about\x07version\x06\x01abcd0"))
	f.Add([]byte{1, 'a', 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1})
	f.Fuzz(func(t *testing.T, run []byte) {
		if err := imported("", [][]byte{run}, Contents{Version: 1 << 40}); !errors.Is(err, ErrDamaged) {
			t.Errorf("got %v", err)
		}
	})
}

// TestExportFails checks that an error of cfg.Use is returned, and that the store keeps working.
func TestExportFails(t *testing.T) {
	s := openStore(t, Config{Path: filepath.Join(t.TempDir(), "s.db"), Buckets: []string{blobs.Name()}})
	large(t, s, 10)
	if _, err := s.Export(ExportConfig{Use: func([]byte) error { return errBroken }}); !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
	large(t, s, 20)
	closeChecked(t, s)
	if _, err := s.Export(ExportConfig{Use: func([]byte) error { return nil }}); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// BenchmarkExport exports a store of 64 MiB.
func BenchmarkExport(b *testing.B) {
	s := openStore(b, Config{Path: filepath.Join(b.TempDir(), "s.db"), Buckets: []string{blobs.Name()}})
	for k := uint64(0); s.Size() < 64<<20; k += 2000 {
		if err := s.Update(func(tx *Tx) error {
			for i := range uint64(2000) {
				if err := blobs.Put(tx, k+i, make([]byte, 300)); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(s.Size())
	buffer := make([]byte, 0, runMost)
	for b.Loop() {
		if _, err := s.Export(ExportConfig{Use: func([]byte) error { return nil }, Next: func() []byte { return buffer }}); err != nil {
			b.Fatal(err)
		}
	}
}
