package backup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"opsmon/app/test/apptest"
	"opsmon/kv/file"
)

// shareable fills a store with enough records for several parts.
const shareable = 20_000

// days makes the scheduled backups of several days, and changes a little in between; it gives what the store held, by
// name of the backup.
func days(t *testing.T, folder string, n int, cfg Config, clock *time.Time) map[string]map[uint64]string {
	t.Helper()
	held := map[string]map[uint64]string{}
	cfg.Share, cfg.WorkFactor, cfg.Clock = true, 1, func() time.Time { return *clock }
	for range n {
		*clock = clock.Add(24 * time.Hour)
		fill(t, cfg.Store, uint64(clock.Unix()), 50)
		name := fileName(*clock)
		if _, err := Create(t.Context(), cfg, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
		held[name] = content(t, cfg.Store)
	}
	return held
}

func partsIn(t testing.TB, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(folder, partsDir))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestShared makes backups of several days in a folder: what does not change is there once, each is whole, and each can
// be taken out as one file.
func TestShared(t *testing.T) {
	apptest.Long(t)
	for name, passphrase := range passphrases {
		t.Run(name, func(t *testing.T) {
			folder, clock := t.TempDir(), time.Now().Add(-50*24*time.Hour)
			s := openStore(t, t.TempDir())
			fill(t, s, 0, shareable)
			cfg := Config{Store: s, Passphrase: passphrase}
			held := days(t, folder, 1, cfg, &clock)
			first := partsIn(t, folder)
			if len(first) < 4 {
				t.Fatalf("%d parts", len(first))
			}
			maps.Copy(held, days(t, folder, 2, cfg, &clock))
			if all := partsIn(t, folder); len(all) > len(first)+6 || len(all) < len(first) {
				t.Errorf("%d parts after three days, %d after one", len(all), len(first))
			}
			list, err := List(folder)
			if err != nil || len(list) != 3 {
				t.Fatal(list, err)
			}
			for _, b := range list {
				path := filepath.Join(folder, b.Name)
				m, err := Verify(t.Context(), VerifyConfig{Path: path, Passphrase: passphrase})
				if err != nil || m.Entries[0].Counts["record"] != len(held[b.Name]) {
					t.Fatalf("%s: %+v, %v", b.Name, m, err)
				}
				to := t.TempDir()
				if _, err := Restore(t.Context(), RestoreConfig{Path: path, Passphrase: passphrase, Dir: to, Store: storeConfig("")}); err != nil {
					t.Fatal(err)
				}
				expectContent(t, contentOf(t, to), held[b.Name])

				var one bytes.Buffer
				var size int64
				r, err := Whole(t.Context(), path, func(n int64) io.Writer { size = n; return &one })
				if err != nil {
					t.Fatal(err)
				}
				if differs := b.Bytes - r.Bytes; int64(one.Len()) != r.Bytes || size != r.Bytes || differs < 0 || differs > 1000 || r.SHA256 != sum256hex(one.Bytes()) {
					t.Errorf("%d bytes, %+v, %+v", one.Len(), r, b)
				}
				reader, size, err := OpenWhole(t.Context(), path)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := io.ReadAll(reader); err != nil || !bytes.Equal(got, one.Bytes()) || size != r.Bytes {
					t.Errorf("read: %d bytes of %d, %v", len(got), size, err)
				}
				if err := reader.Close(); err != nil {
					t.Error(err)
				}
				alone := filepath.Join(t.TempDir(), "alone.backup")
				writeFile(t, alone, one.String())
				got, err := Verify(t.Context(), VerifyConfig{Path: alone, Passphrase: passphrase})
				if err != nil {
					t.Fatal(err)
				}
				got.Entries[0].SHA256 = m.Entries[0].SHA256 // of other checksums
				if fmt.Sprint(got) != fmt.Sprint(m) {
					t.Errorf("as one file: %+v, want %+v", got, m)
				}
			}
		})
	}
}

// TestSharedPassphrase takes no part over that the new passphrase does not open.
func TestSharedPassphrase(t *testing.T) {
	apptest.Long(t)
	folder, clock := t.TempDir(), time.Now()
	s := openStore(t, t.TempDir())
	fill(t, s, 0, shareable)
	var seen int
	for _, passphrase := range []string{"the first one", "the second one", ""} {
		held := days(t, folder, 1, Config{Store: s, Passphrase: passphrase}, &clock)
		for name := range held {
			if _, err := Verify(t.Context(), VerifyConfig{Path: filepath.Join(folder, name), Passphrase: passphrase}); err != nil {
				t.Error(err)
			}
		}
		if n := len(partsIn(t, folder)); n < seen+4 {
			t.Errorf("%q: %d parts, %d before", passphrase, n, seen)
		} else {
			seen = n
		}
	}
}

// TestSharedDamage flips, cuts and takes away parts: every backup that has one is refused, with the part named, and the
// next backup makes it anew.
func TestSharedDamage(t *testing.T) {
	apptest.Long(t)
	for name, passphrase := range passphrases {
		t.Run(name, func(t *testing.T) {
			folder, clock := t.TempDir(), time.Now()
			s := openStore(t, t.TempDir())
			fill(t, s, 0, shareable)
			cfg := Config{Store: s, Passphrase: passphrase}
			days(t, folder, 1, cfg, &clock)
			path := filepath.Join(folder, fileName(clock))
			shared, err := sharedParts(path)
			if err != nil || len(shared) < 4 {
				t.Fatal(shared, err)
			}
			var names []string
			for _, p := range shared[:3] { // which the next backup has as well
				names = append(names, p.SHA256)
			}
			for i := range 5 {
				sum := names[i%len(names)]
				file := partPath(folder, sum)
				data := []byte(readFile(t, file))
				switch i {
				case 0:
					data[0] ^= 1
				case 1:
					data[len(data)-1] ^= 0x80
				case 2:
					data = data[:len(data)-1]
				case 3:
					data = append(data, 0)
				}
				if i == 4 {
					if err := os.Remove(file); err != nil {
						t.Fatal(err)
					}
				} else {
					writeFile(t, file, string(data))
				}
				_, err := Verify(t.Context(), VerifyConfig{Path: path, Passphrase: passphrase})
				var e *Error
				if !errors.Is(err, ErrDamaged) || !errors.As(err, &e) || !strings.HasPrefix(e.Part, partsDir+"/") || !slices.Contains(names, e.Part[len(partsDir)+1:]) {
					t.Errorf("%d: %v", i, err)
				}
				if _, err := Whole(t.Context(), path, func(int64) io.Writer { return io.Discard }); !errors.Is(err, ErrDamaged) {
					t.Errorf("%d: as one file: %v", i, err)
				}
				if r, _, err := OpenWhole(t.Context(), path); err == nil {
					if _, err = io.Copy(io.Discard, r); !errors.Is(err, ErrDamaged) {
						t.Errorf("%d: read: %v", i, err)
					}
					r.Close()
				}
				to := t.TempDir()
				if _, err := Restore(t.Context(), RestoreConfig{Path: path, Passphrase: passphrase, Dir: to, Store: storeConfig("")}); !errors.Is(err, ErrDamaged) {
					t.Errorf("%d: restore: %v", i, err)
				}
				expectOnly(t, to, "backup.lock", "swap.lock")
			}
			days(t, folder, 1, cfg, &clock)
			if _, err := Verify(t.Context(), VerifyConfig{Path: filepath.Join(folder, fileName(clock)), Passphrase: passphrase}); err != nil {
				t.Errorf("the next one: %v", err)
			}
			// What is not encrypted has the same bytes again, so the earlier one is mended.
			if _, err := Verify(t.Context(), VerifyConfig{Path: path, Passphrase: passphrase}); (err == nil) != (passphrase == "") {
				t.Errorf("the earlier one: %v", err)
			}
			if err := os.RemoveAll(filepath.Join(folder, partsDir)); err != nil {
				t.Fatal(err)
			}
			expectRefusedPart(t, path, passphrase)
			days(t, folder, 1, cfg, &clock)
		})
	}
}

func expectRefusedPart(t *testing.T, path, passphrase string) {
	t.Helper()
	_, err := Verify(t.Context(), VerifyConfig{Path: path, Passphrase: passphrase})
	if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "is missing") {
		t.Errorf("without parts: %v", err)
	}
}

// TestSweepOfParts removes the parts that no backup shares any more, and none else.
func TestSweepOfParts(t *testing.T) {
	apptest.Long(t)
	folder, clock := t.TempDir(), time.Now().Add(-40*24*time.Hour)
	s := openStore(t, t.TempDir())
	fill(t, s, 0, shareable)
	days(t, folder, 10, Config{Store: s}, &clock)
	// One with another name that shares parts, and files that have nothing to do with it.
	if err := os.Rename(filepath.Join(folder, fileName(clock.Add(-8*24*time.Hour))), filepath.Join(folder, "before the move.backup")); err != nil {
		t.Fatal(err)
	}
	stray, young := strings.Repeat("ab", digestSize), strings.Repeat("cd", digestSize)
	for _, name := range []string{stray, stray + partial + "1", young, "readme.txt"} {
		writeFile(t, filepath.Join(folder, partsDir, name), name)
		at := clock.Add(-48 * time.Hour)
		if name == young {
			at = clock
		}
		if err := os.Chtimes(filepath.Join(folder, partsDir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(folder, "notes.txt"), "")
	before := len(partsIn(t, folder))

	// While one of the files cannot be read, nobody knows which parts it shares.
	broken := filepath.Join(folder, "broken.backup")
	writeFile(t, broken, magic+"cut")
	removed, err := Prune(folder, Policy{Daily: 2}, 0, clock)
	if len(removed) != 7 || !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "broken.backup") || len(partsIn(t, folder)) != before {
		t.Errorf("removed %v, %v; %d parts of %d", removed, err, len(partsIn(t, folder)), before)
	}
	if err := os.Remove(broken); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if removed, err = Prune(folder, Policy{Daily: 2}, 0, clock); err != nil || len(removed) != 0 {
			t.Errorf("removed %v, %v", removed, err)
		}
	}
	left := partsIn(t, folder)
	if len(left) >= before || slices.Contains(left, stray) || !slices.Contains(left, young) || !slices.Contains(left, "readme.txt") {
		t.Errorf("%d parts of %d are left", len(left), before)
	}
	for _, name := range []string{fileName(clock), fileName(clock.Add(-24 * time.Hour)), "before the move.backup"} {
		if _, err := Verify(t.Context(), VerifyConfig{Path: filepath.Join(folder, name)}); err != nil {
			t.Error(err)
		}
	}
}

// TestExcessShared counts a part once, and as freed when the last backup goes that has it.
func TestExcessShared(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC) }
	common, second := part{Size: 100, SHA256: "a"}, part{Size: 50, SHA256: "b"}
	list := []Kept{{"3", day(3), 110}, {"2", day(2), 160}, {"1", day(1), 160}}
	shared := map[string][]part{"3": {common}, "2": {common, second}, "1": {common, second}}
	for _, test := range []struct {
		max  int64
		want int
	}{{180, 0}, {179, 1}, {169, 2}, {110, 2}, {1, 2}} {
		if got := (Policy{Daily: 9, MaxBytes: test.max}).excess(list, shared, file.Space{Free: 1, Total: 1}); len(got) != test.want {
			t.Errorf("at most %d: %v go, want %d", test.max, got, test.want)
		}
	}
	// Removing the first frees 10 bytes alone, the second 60 more.
	for _, test := range []struct {
		free int64
		want int
	}{{500, 0}, {490, 1}, {489, 2}, {430, 2}} {
		if got := (Policy{Daily: 9, MinFreePercent: 50}).excess(list, shared, file.Space{Free: test.free, Total: 1000}); len(got) != test.want {
			t.Errorf("%d free: %v go, want %d", test.free, got, test.want)
		}
	}
}

// TestSharedFlips changes single bytes, and cuts, anywhere in a folder's backup and its parts.
func TestSharedFlips(t *testing.T) {
	apptest.Long(t)
	for name, passphrase := range passphrases {
		t.Run(name, func(t *testing.T) {
			folder, clock := t.TempDir(), time.Now()
			s := openStore(t, t.TempDir())
			fill(t, s, 0, shareable/2)
			days(t, folder, 1, Config{Store: s, Passphrase: passphrase}, &clock)
			path := filepath.Join(folder, fileName(clock))
			files := []string{path}
			for _, sum := range partsIn(t, folder) {
				files = append(files, partPath(folder, sum))
			}
			rng := rand.New(rand.NewPCG(seed(t), 2))
			for i := range flips {
				file := files[i%len(files)]
				whole := []byte(readFile(t, file))
				changed, at := bytes.Clone(whole), rng.IntN(len(whole))
				if i%5 == 4 {
					changed = changed[:at]
				} else {
					changed[at] ^= 1 << rng.IntN(8)
				}
				writeFile(t, file, string(changed))
				_, err := Verify(t.Context(), VerifyConfig{Path: path, Passphrase: passphrase})
				var e *Error
				if !errors.Is(err, ErrDamaged) || !errors.As(err, &e) || file != path && e.Part != partsDir+"/"+filepath.Base(file) || file == path && !slices.Contains(named, e.Part) {
					t.Errorf("%s, byte %d: %v", file, at, err)
				}
				writeFile(t, file, string(whole))
			}
			if _, err := Verify(t.Context(), VerifyConfig{Path: path, Passphrase: passphrase}); err != nil {
				t.Errorf("whole again: %v", err)
			}
		})
	}
}
