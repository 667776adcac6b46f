package kv

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// newer keeps keys whose number is at least limit, in groups by the first two parts of a key.
func newer(limit uint64) Sweeper[tripleKey] {
	return Sweeper[tripleKey]{
		Keep: func(k tripleKey) bool { return k.B.B >= limit },
		Next: func(k tripleKey) tripleKey { return triple(k.A, k.B.A+"\x00", 0) },
	}
}

// sweepStore returns a store with groups by name, each with the numbers 0, 1, 2 …
func sweepStore(t *testing.T, groups map[string]uint64) *Store {
	s := openStore(t, Config{Path: filepath.Join(t.TempDir(), "s.db"), Buckets: []string{triples.Name()}})
	if err := s.Update(func(tx *Tx) error {
		for name, n := range groups {
			for i := range n {
				if err := triples.Put(tx, triple("a", name, i), nil); err != nil {
					return err
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return s
}

// leftIn returns, by group, the number of remaining keys and the lowest one.
func leftIn(t *testing.T, s *Store) map[string][2]uint64 {
	t.Helper()
	left := map[string][2]uint64{}
	if err := s.View(func(tx *Tx) error {
		for item, err := range triples.ScanDown(tx, Range{}) {
			if err != nil {
				return err
			}
			left[item.Key.B.A] = [2]uint64{left[item.Key.B.A][0] + 1, item.Key.B.B}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return left
}

// TestSweep removes more keys than one transaction visits, within a group and across groups.
func TestSweep(t *testing.T) {
	groups := map[string]uint64{"A": 3*sweepStep + 5, "A\x00": 4, "B": sweepStep, "C": sweepStep + 10}
	for i := range uint64(sweepStep) {
		groups[fmt.Sprint("many", i)] = 1 + i%2
	}
	for _, limit := range []uint64{0, 1, 2, 7, sweepStep - 1, sweepStep, 3*sweepStep + 4, 1 << 40} {
		s := sweepStore(t, groups)
		removed, want := 0, map[string][2]uint64{}
		for name, n := range groups {
			if n > limit {
				want[name] = [2]uint64{n - limit, limit}
			}
			removed += int(min(n, limit))
		}
		n, err := triples.Sweep(t.Context(), s, newer(limit))
		if err != nil || n != removed {
			t.Errorf("up to %d: %d removed, %v; want %d", limit, n, err, removed)
		}
		if diff := cmp.Diff(want, leftIn(t, s)); diff != "" {
			t.Errorf("up to %d: %s", limit, diff)
		}
	}
}

// TestSweepRemoves checks that Remove is called only for existing keys, that Sweep continues after keys that Remove
// leaves, and that it returns Remove's error.
func TestSweepRemoves(t *testing.T) {
	s := sweepStore(t, map[string]uint64{"A": 2*sweepStep + 3, "B": 3})
	by := newer(2*sweepStep + 1)
	asked := 0
	by.Remove = func(tx *Tx, k tripleKey) error {
		if asked++; k.B.A == "A" && k.B.B%2 == 1 {
			t.Errorf("asked for %v, which is gone", k)
		}
		if k.B.A == "B" {
			return nil
		}
		return errors.Join(triples.Delete(tx, k), triples.Delete(tx, triple(k.A, k.B.A, k.B.B+1)))
	}
	if _, err := triples.Sweep(t.Context(), s, by); err != nil {
		t.Fatal(err)
	}
	if want := sweepStep + 1 + 3; asked != want {
		t.Errorf("asked for %d keys, want %d", asked, want)
	}
	if diff := cmp.Diff(map[string][2]uint64{"A": {1, 2*sweepStep + 2}, "B": {3, 0}}, leftIn(t, s)); diff != "" {
		t.Error(diff)
	}
	no := errors.New("no")
	by.Remove = func(*Tx, tripleKey) error { return no }
	if _, err := triples.Sweep(t.Context(), s, by); !errors.Is(err, no) {
		t.Errorf("Remove fails: %v", err)
	}
}

// TestSweepEndsWithItsContext checks that removals before the cancellation remain.
func TestSweepEndsWithItsContext(t *testing.T) {
	s := sweepStore(t, map[string]uint64{"A": 3 * sweepStep})
	ctx, cancel := context.WithCancel(t.Context())
	by := newer(1 << 40)
	by.Remove = func(tx *Tx, k tripleKey) error { cancel(); return triples.Delete(tx, k) }
	n, err := triples.Sweep(ctx, s, by)
	if !errors.Is(err, context.Canceled) || n != sweepStep {
		t.Errorf("%d removed, %v", n, err)
	}
	if diff := cmp.Diff(map[string][2]uint64{"A": {2 * sweepStep, sweepStep}}, leftIn(t, s)); diff != "" {
		t.Error(diff)
	}
}
