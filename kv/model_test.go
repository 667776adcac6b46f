package kv

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type tripleKey = Pair[string, Pair[string, uint64]]

var triples = NewBucket("triples", PairOf(String, PairOf(String, Uint64)), Raw)

func triple(a, b string, n uint64) tripleKey { return tripleKey{a, Pair[string, uint64]{b, n}} }

func compareTriples(x, y tripleKey) int {
	if c := strings.Compare(x.A, y.A); c != 0 {
		return c
	}
	if c := strings.Compare(x.B.A, y.B.A); c != 0 {
		return c
	}
	switch {
	case x.B.B < y.B.B:
		return -1
	case x.B.B > y.B.B:
		return 1
	}
	return 0
}

// openStore opens a store and, when the test ends, checks and closes it.
func openStore(t testing.TB, cfg Config) *Store {
	t.Helper()
	s, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeChecked(t, s) })
	return s
}

// closeChecked checks and closes a store, unless it is closed already.
func closeChecked(t testing.TB, s *Store) {
	t.Helper()
	switch err := s.Check(func(problem string) { t.Errorf("check: %s", problem) }); {
	case errors.Is(err, ErrClosed):
	case err != nil:
		t.Errorf("check: %v", err)
	default:
		// bbolt's own check must agree; it requires that nobody writes.
		bolt, err := s.begin(false)
		if err != nil {
			t.Fatal(err)
		}
		for err := range bolt.Check() {
			t.Errorf("bbolt check: %v", err)
		}
		s.rollback(bolt)
	}
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func collect[K, V any](t testing.TB, b *Bucket[K, V], tx *Tx, r Range, down bool) (items []Item[K, V]) {
	t.Helper()
	walk := b.Scan(tx, r)
	if down {
		walk = b.ScanDown(tx, r)
	}
	for item, err := range walk {
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, item)
	}
	return items
}

// TestModel applies random operations to a bucket and to a map and compares them, within transactions, after commits
// and after opening the store again.
func TestModel(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { modelRun(t, rand.New(rand.NewPCG(seed, 1))) })
	}
}

func modelRun(t *testing.T, rng *rand.Rand) {
	cfg := Config{Path: filepath.Join(t.TempDir(), "s.db"), Buckets: []string{triples.Name()}}
	s := openStore(t, cfg)
	model := map[tripleKey]string{}
	parts := []string{"", "\x00", "\x00\x00", "\x00\x01", "\x00\xff", "\x01", "a", "a\x00", "a\x00b", "ab", "b", "\xff", "\xff\xff"}
	randomKey := func() tripleKey {
		n := rng.Uint64N(40)
		if n == 39 {
			n = ^uint64(0)
		}
		return triple(parts[rng.IntN(len(parts))], parts[rng.IntN(len(parts))], n)
	}
	for round := range 60 {
		next := maps.Clone(model)
		fail := rng.IntN(4) == 0
		err := s.Update(func(tx *Tx) error {
			next = maps.Clone(model)
			for range 1 + rng.IntN(200) {
				k := randomKey()
				switch rng.IntN(5) {
				case 0, 1, 2:
					v := strings.Repeat(string(rune('a'+rng.IntN(26))), rng.IntN(600))
					if err := triples.Put(tx, k, []byte(v)); err != nil {
						return err
					}
					next[k] = v
				case 3:
					if err := triples.Delete(tx, k); err != nil {
						return err
					}
					delete(next, k)
				case 4:
					// Deleting consecutive keys leaves empty pages in the transaction.
					for item, err := range triples.Scan(tx, Under(triples, k.A)) {
						if err != nil {
							return err
						}
						if rng.IntN(8) == 0 {
							continue
						}
						if err := triples.Delete(tx, item.Key); err != nil {
							return err
						}
						delete(next, item.Key)
					}
				}
			}
			compareModel(t, rng, tx, next, randomKey)
			if fail {
				return errors.New("changed my mind")
			}
			return nil
		})
		if (err != nil) != fail {
			t.Fatalf("round %d: %v", round, err)
		}
		if !fail {
			model = next
		}
		if round%10 == 9 {
			closeChecked(t, s)
			s = openStore(t, cfg)
		}
		if err := s.View(func(tx *Tx) error { compareModel(t, rng, tx, model, randomKey); return nil }); err != nil {
			t.Fatal(err)
		}
	}
}

func compareModel(t *testing.T, rng *rand.Rand, tx *Tx, model map[tripleKey]string, randomKey func() tripleKey) {
	t.Helper()
	if got := triples.Count(tx); got != len(model) {
		t.Fatalf("Count is %d, want %d", got, len(model))
	}
	k := randomKey()
	want, there := model[k]
	got, err := triples.Get(tx, k)
	if there != (err == nil) || string(got) != want || !there && !errors.Is(err, ErrNotFound) || triples.Has(tx, k) != there {
		t.Fatalf("Get %v: %q, %v, want %q, %v", k, got, err, want, there)
	}
	from, to := randomKey(), randomKey()
	part := k.A
	cases := []struct {
		name string
		r    Range
		in   func(k tripleKey) bool
	}{
		{"all", Range{}, func(tripleKey) bool { return true }},
		{"between", triples.Between(from, to), func(k tripleKey) bool { return compareTriples(k, from) >= 0 && compareTriples(k, to) < 0 }},
		{"from", triples.From(from), func(k tripleKey) bool { return compareTriples(k, from) >= 0 }},
		{"under", Under(triples, part), func(k tripleKey) bool { return k.A == part }},
	}
	for _, c := range cases {
		var want []Item[tripleKey, []byte]
		for k, v := range model {
			if c.in(k) {
				want = append(want, Item[tripleKey, []byte]{k, []byte(v)})
			}
		}
		slices.SortFunc(want, func(x, y Item[tripleKey, []byte]) int { return compareTriples(x.Key, y.Key) })
		if got := collect(t, triples, tx, c.r, false); !slices.EqualFunc(want, got, sameItem) {
			t.Fatalf("Scan %s: %s", c.name, cmp.Diff(want, got))
		}
		slices.Reverse(want)
		if got := collect(t, triples, tx, c.r, true); !slices.EqualFunc(want, got, sameItem) {
			t.Fatalf("ScanDown %s: %s", c.name, cmp.Diff(want, got))
		}
	}
}

// sameItem replaces cmp, which takes too long over thousands of equal items.
func sameItem(x, y Item[tripleKey, []byte]) bool {
	return x.Key == y.Key && bytes.Equal(x.Value, y.Value)
}

// TestScanWhileWriting changes the bucket in the body of a scan.
func TestScanWhileWriting(t *testing.T) {
	numbers := NewBucket("numbers", Uint64, JSON[uint64]())
	s := openStore(t, Config{Path: filepath.Join(t.TempDir(), "s.db"), Buckets: []string{"numbers"}})
	const n = 2000
	for _, down := range []bool{false, true} {
		err := s.Update(func(tx *Tx) error {
			for i := range uint64(n) {
				if err := numbers.Put(tx, 2*i, i); err != nil {
					return err
				}
			}
			walk := numbers.Scan(tx, Range{})
			if down {
				walk = numbers.ScanDown(tx, Range{})
			}
			seen := 0
			for item, err := range walk {
				if err != nil {
					return err
				}
				if item.Key%2 == 1 {
					continue
				}
				seen++
				if err := numbers.Delete(tx, item.Key); err != nil {
					return err
				}
				if item.Key > 0 {
					// The new key lies behind an ascending walk and ahead of a descending one, which meets it once.
					if err := numbers.Put(tx, item.Key-1, 0); err != nil {
						return err
					}
				}
			}
			if seen != n || numbers.Count(tx) != n-1 {
				return fmt.Errorf("saw %d, left %d", seen, numbers.Count(tx))
			}
			for item, err := range numbers.ScanDown(tx, Range{}) {
				if err != nil {
					return err
				}
				if err := numbers.Delete(tx, item.Key); err != nil {
					return err
				}
			}
			// All pages are empty now.
			for range numbers.ScanDown(tx, Range{}) {
				return errors.New("something is left")
			}
			return nil
		})
		if err != nil {
			t.Fatalf("down %v: %v", down, err)
		}
	}
}

// TestNext checks that numbers start at 1 without gaps, and that those of a failed transaction are reused.
func TestNext(t *testing.T) {
	s := openStore(t, Config{Path: filepath.Join(t.TempDir(), "s.db"), Buckets: []string{triples.Name()}})
	take := func(fail error) (n uint64) {
		t.Helper()
		err := s.Update(func(tx *Tx) (err error) {
			if n, err = triples.Next(tx); err != nil {
				return err
			}
			return fail
		})
		if err != fail {
			t.Fatal(err)
		}
		return n
	}
	got := []uint64{take(nil), take(nil), take(errors.New("no")), take(nil)}
	if diff := cmp.Diff([]uint64{1, 2, 3, 3}, got); diff != "" {
		t.Error(diff)
	}
}

// TestRawIsCopied changes the bytes passed to Put and returned by Get; the store must not change.
func TestRawIsCopied(t *testing.T) {
	blobs := NewBucket("blobs", String, Raw)
	s := openStore(t, Config{Path: filepath.Join(t.TempDir(), "s.db"), Buckets: []string{"blobs"}})
	var kept []byte
	err := s.Update(func(tx *Tx) error {
		value := []byte("right")
		if err := blobs.Put(tx, "", value); err != nil {
			return err
		}
		copy(value, "wrong")
		got, err := blobs.Get(tx, "")
		copy(got, "worse")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.View(func(tx *Tx) (err error) {
		kept, err = blobs.Get(tx, "")
		return err
	})
	if err != nil || string(kept) != "right" {
		t.Fatalf("got %q, %v", kept, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if string(kept) != "right" {
		t.Fatalf("after Close: %q", kept)
	}
}
