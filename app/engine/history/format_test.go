package history

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"

	"opsmon/app/engine/monitor"
	"opsmon/app/instant"
	"opsmon/kv"
	"opsmon/kv/kvtest"
)

// TestAnotherFormatIsDropped: days, sums and issues are deleted, states remain, and the start of each station's lost
// data is recorded until it has been recalculated.
func TestAnotherFormatIsDropped(t *testing.T) {
	store := kvtest.New(t, func(c *kv.Config) { c.Buckets = Buckets() })
	open := func() *Store {
		t.Helper()
		s, err := New(Config{Store: store})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	const first, days = 20_000 * instant.DayMs, 700 // more than one transaction deletes
	s := open()
	update(t, store, func(tx *kv.Tx) error {
		ctx := &monitor.Context{Plan: &monitor.Plan{}}
		out := monitor.Outputs{Segments: []monitor.Segment{{Start: first, End: first + days*instant.DayMs, Ctx: ctx}}}
		if err := s.Replace(tx, "a", "F1", first, first+days*instant.DayMs, out); err != nil {
			return err
		}
		if err := s.Replace(tx, "a", Staging("F1"), first, first+days*instant.DayMs, out); err != nil {
			return err
		}
		return s.PutState(tx, "a", "F1", first+days*instant.DayMs, []byte{1})
	})
	through := func() (at, lost int64, known bool) {
		view(t, store, func(tx *kv.Tx) (err error) {
			if at, err = s.Through(tx, "a", "F1"); err == nil {
				lost, known, err = s.Lost(tx, "a", "F1")
			}
			return err
		})
		return at, lost, known
	}
	s = open()
	if at, _, known := through(); at != first+days*instant.DayMs || known {
		t.Fatalf("of this format is kept up to %d, lost %v", at, known)
	}
	update(t, store, func(tx *kv.Tx) error { return formats.Put(tx, formatKey, format+1) })
	s = open()
	if at, lost, known := through(); at != 0 || !known || lost != first {
		t.Errorf("of another format is kept up to %d, lost %v from %d", at, known, lost)
	}
	view(t, store, func(tx *kv.Tx) error {
		if _, marked, err := s.Lost(tx, "a", Staging("F1")); err != nil || marked {
			t.Errorf("what was beside the station is told to be lost: %v", err)
		}
		return nil
	})
	if got := statesOf(t, store, "F1", first); len(got) != 1 {
		t.Errorf("%d states are left", len(got))
	}
	s = open()
	update(t, store, func(tx *kv.Tx) error { return s.Regained(tx, "a", "F1", first+1) })
	if _, _, known := through(); !known {
		t.Error("a later part was computed, and the whole is told to be")
	}
	update(t, store, func(tx *kv.Tx) error { return s.Regained(tx, "a", "F1", first) })
	if _, _, known := through(); known {
		t.Error("what was computed is told to be lost")
	}
}

// TestDroppingPassesDamage: a damaged value is deleted like the others and does not stop their deletion.
func TestDroppingPassesDamage(t *testing.T) {
	store := kvtest.New(t, func(c *kv.Config) { c.Buckets = Buckets() })
	if _, err := New(Config{Store: store}); err != nil {
		t.Fatal(err)
	}
	update(t, store, func(tx *kv.Tx) error {
		for _, b := range []*kv.Bucket[dayKey, []byte]{details, hours, days} {
			for day := range int64(3) {
				if err := b.Put(tx, keyOf("a", "F1", day), fmt.Appendf(nil, "day %d of %s", day, b.Name())); err != nil {
					return err
				}
			}
		}
		for end := range int64(3) {
			if err := issues.Put(tx, issueKeyOf("a", "F1", 0, end), fmt.Appendf(nil, "day %d of %s", end, issues.Name())); err != nil {
				return err
			}
		}
		return formats.Put(tx, formatKey, format+1)
	})
	data, err := os.ReadFile(store.Path())
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(store.Path(), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, name := range []string{details.Name(), hours.Name(), days.Name(), issues.Name()} {
		first := []byte("day 0 of " + name)
		for at := bytes.Index(data, first); at >= 0; at = bytes.Index(data, first) { // older pages may have it, too
			data[at] = 'D'
			if _, err := f.WriteAt(data[at:at+1], int64(at)); err != nil {
				t.Fatal(err)
			}
		}
	}
	view(t, store, func(tx *kv.Tx) error {
		if _, err := details.Get(tx, keyOf("a", "F1", 0)); !errors.Is(err, kv.ErrDamaged) {
			t.Fatalf("the first value is not damaged: %v", err)
		}
		return nil
	})
	s, err := New(Config{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	view(t, store, func(tx *kv.Tx) error {
		for _, b := range []*kv.Bucket[dayKey, []byte]{details, hours, days} {
			for range b.Scan(tx, kv.Range{}) {
				t.Error("a value is left")
			}
		}
		for range issues.Scan(tx, kv.Range{}) {
			t.Error("an issue is left")
		}
		if from, known, err := s.Lost(tx, "a", "F1"); err != nil || !known || from != 0 {
			t.Errorf("lost from %d, %v, %v", from, known, err)
		}
		return nil
	})
}
