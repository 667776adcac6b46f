package audit

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"opsmon/app/test/apptest"
	"opsmon/kv"
	"opsmon/kv/kvtest"
)

// TestTrim checks that records within the retention remain, that numbering continues, and that other accounts are not
// affected.
func TestTrim(t *testing.T) {
	apptest.Long(t)
	const day = 24 * time.Hour
	forty := Retention{Age: 40 * day, Max: 100}
	days := func(first, last int) (ages []int) {
		for age := first; age >= last; age-- {
			ages = append(ages, age)
		}
		return ages
	}
	for name, tt := range map[string]struct {
		ages []int // ages of the records in days, in order; negative in the future
		r    Retention
		left int // number of the first remaining record
	}{
		"none":                      {nil, forty, 0},
		"all young":                 {days(39, 0), forty, 1},
		"some old":                  {days(60, 0), forty, 21},
		"at the limit":              {[]int{40}, forty, 1},
		"all old":                   {days(60, 50), forty, 11},
		"one old":                   {[]int{60}, forty, 1},
		"too many":                  {slices.Repeat([]int{1}, 250), forty, 151},
		"too many, and old":         {append(days(60, 0), slices.Repeat([]int{0}, 90)...), forty, 52},
		"from the future":           {[]int{50, -300, 45, 10}, forty, 4},
		"from the future, then new": {[]int{50, -300, 10}, forty, 2},
		"old after new":             {[]int{50, 10, 50, 1}, forty, 2},
		"many batches":              {slices.Repeat([]int{50}, 2*trimBatch+3), forty, 2*trimBatch + 3},
	} {
		t.Run(name, func(t *testing.T) {
			clock := now
			store := kvtest.New(t, func(c *kv.Config) { c.Buckets, c.Clock = Buckets(), func() time.Time { return clock } })
			for _, age := range tt.ages {
				clock = now.Add(-time.Duration(age) * day)
				put(t, store, "plant")
			}
			clock = now.Add(-1000 * day)
			put(t, store, "plant-2")
			clock = now
			removed, calls := 0, 0
			for more := true; more; calls++ {
				if err := store.Update(func(tx *kv.Tx) (err error) {
					var n int
					n, more, err = Trim(tx, "plant", tt.r, tx.Now())
					removed += n
					return err
				}); err != nil {
					t.Fatal(err)
				}
			}
			if want := max(tt.left-1, 0); removed != want || calls > want/trimBatch+1 {
				t.Errorf("%d removed in %d calls, want %d", removed, calls, want)
			}
			_, total := list(t, store, "plant", 10, 0, "")
			if want := len(tt.ages) - removed; total != want {
				t.Errorf("%d are left, want %d", total, want)
			}
			put(t, store, "plant")
			newest := ask(t, store, "plant", Query{Limit: 1}).Records
			if err := store.View(func(tx *kv.Tx) error {
				Check(tx, map[string]bool{"plant": true, "plant-2": true}, func(problem string) { t.Error(problem) })
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if newest[0].Seq != uint64(len(tt.ages)+1) {
				t.Errorf("the next record has the number %d, want %d", newest[0].Seq, len(tt.ages)+1)
			}
			if _, total := list(t, store, "plant-2", 10, 0, ""); total != 1 {
				t.Errorf("another account has %d records", total)
			}
		})
	}
}

func put(t *testing.T, store *kv.Store, account string) {
	t.Helper()
	if err := store.Update(func(tx *kv.Tx) error { return Put(tx, account, Actor{}, "key.create", fmt.Sprint(tx.Now()), nil) }); err != nil {
		t.Fatal(err)
	}
}
