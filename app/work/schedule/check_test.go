package schedule_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"opsmon/app/work/schedule"
	"opsmon/kv"
)

// Key and value types of the buckets that the package comment lists, used to damage them.
var (
	ofID       = kv.PairOf(kv.String, kv.String)
	ofTime     = kv.PairOf(kv.Uint64, kv.String)
	ofList     = kv.PairOf(kv.String, kv.PairOf(kv.String, kv.PairOf(kv.String, ofTime)))
	ofOpen     = kv.PairOf(kv.String, kv.PairOf(kv.String, kv.String))
	ofPlan     = kv.PairOf(kv.String, kv.PairOf(kv.String, kv.PairOf(kv.String, kv.Uint64)))
	ofEntries  = kv.PairOf(kv.String, kv.PairOf(kv.String, ofTime))
	errUndoing = errors.New("as it was")
)

// empty deletes everything in a bucket.
func empty[K any](name string, key kv.Keys[K]) func(tx *kv.Tx) error {
	return func(tx *kv.Tx) error {
		b := kv.NewBucket(name, key, kv.Raw)
		var keys []K
		for item, err := range b.Scan(tx, kv.Range{}) {
			if err != nil {
				return err
			}
			keys = append(keys, item.Key)
		}
		for _, k := range keys {
			if err := b.Delete(tx, k); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestCheckFindsDamage damages the store in each way that the check detects.
func TestCheckFindsDamage(t *testing.T) {
	p := newPlant(t)
	v := p.make(input("08:00"))
	p.must(p.start(v.ID, schedule.StartInput{}))
	p.until("08:10")
	e, err := p.enter(schedule.EntryInput{Good: 5})
	p.must(e, err)
	whole, raw := kv.NewBucket("schedule", ofID, kv.JSON[schedule.Schedule]()), kv.NewBucket("schedule", ofID, kv.Raw)
	id := kv.Pair[string, string]{A: account, B: v.ID}
	as := func(change func(s *schedule.Schedule, at *kv.Pair[string, string])) func(tx *kv.Tx) error {
		return func(tx *kv.Tx) error {
			s, err := whole.Get(tx, id)
			at := id
			change(&s, &at)
			return errors.Join(err, whole.Put(tx, at, s))
		}
	}
	for _, tt := range []struct {
		name string
		do   func(tx *kv.Tx) error
		want string
	}{
		{"nothing", func(*kv.Tx) error { return nil }, ""},
		{"bytes that are no schedule", func(tx *kv.Tx) error { return raw.Put(tx, id, []byte("damaged")) }, "schedule: "},
		{"another's id", as(func(s *schedule.Schedule, _ *kv.Pair[string, string]) { s.ID = "other" }), "what is kept of it is not one"},
		{"a state that there is not", as(func(s *schedule.Schedule, _ *kv.Pair[string, string]) { s.State = "lost" }), "what is kept of it is not one"},
		{"another account's", as(func(_ *schedule.Schedule, at *kv.Pair[string, string]) { at.A = "gone" }), "its account gone is not there"},
		{"a schedule twice", as(func(s *schedule.Schedule, at *kv.Pair[string, string]) { s.ID, at.B = "twin", "twin" }), "schedule twin: another has its station, SKU and planned start"},
		{"no schedule", func(tx *kv.Tx) error { return raw.Delete(tx, id) }, "its schedule " + v.ID + " is not there"},
		{"no places in the list", empty("scheduleAt", ofList), "its place in the list is not there"},
		{"none open", empty("scheduleOpen", ofOpen), "it is not among the open ones"},
		{"no planned starts", empty("schedulePlan", ofPlan), "another has its station"},
		{"no entries", func(tx *kv.Tx) error {
			return kv.NewBucket("production", ofID, kv.Raw).Delete(tx, kv.Pair[string, string]{A: account, B: e.ID})
		}, "operators' entries: 1 places in the list for 0 of them"},
		{"no places of entries", empty("productionAt", ofEntries), "operator's entry " + e.ID + ": its place in the list is not there"},
	} {
		var found []string
		err := p.Store.Update(func(tx *kv.Tx) error {
			if err := tt.do(tx); err != nil {
				return err
			}
			schedule.Check(tx, map[string]bool{account: true}, func(problem string) { found = append(found, problem) })
			return errUndoing
		})
		if !errors.Is(err, errUndoing) {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if tells := slices.ContainsFunc(found, func(problem string) bool { return strings.Contains(problem, tt.want) }); tells != (tt.want != "") || tt.want == "" && len(found) > 0 {
			t.Errorf("%s: found %q, want %q", tt.name, found, tt.want)
		}
	}
}
