package schedule

import (
	"fmt"
	"testing"
	"time"

	"opsmon/kv"
	"opsmon/kv/kvtest"
)

// TestSweepInSteps deletes more records than fit one transaction, of several stations, and no newer ones.
func TestSweepInSteps(t *testing.T) {
	store := kvtest.New(t, func(c *kv.Config) { c.Buckets = Buckets() })
	const before = 2010
	at := func(station string, ms int) *Entry {
		return &Entry{ID: fmt.Sprint(station, ms), StationCode: station, At: int64(ms), ScheduleID: "s"}
	}
	if err := store.Update(func(tx *kv.Tx) error {
		for _, station := range []string{"A", "B", "C"} {
			for ms := range before + 5 {
				if station == "B" && ms < before {
					continue // no old records
				}
				if err := entriesAt.Put(tx, at(station, ms).key("acme"), []byte("s")); err != nil {
					return err
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	s := &Service{cfg: Config{Store: store, Retention: time.Millisecond}}
	if err := s.Sweep(t.Context(), time.UnixMilli(before+1)); err != nil {
		t.Fatal(err)
	}
	if err := store.View(func(tx *kv.Tx) error {
		left := 0
		for item, err := range entriesAt.Scan(tx, kv.Range{}) {
			if err != nil {
				return err
			}
			if left++; item.Key.B.B.A < before {
				t.Errorf("%s at %d is left", item.Key.B.A, item.Key.B.B.A)
			}
		}
		if left != 3*5 {
			t.Errorf("%d entries are left, want 15", left)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
