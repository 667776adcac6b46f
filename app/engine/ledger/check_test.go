package ledger

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"opsmon/kv"
	"opsmon/kv/kvtest"
)

// TestCheckFindsDamage damages the ledger in each way that the check reports.
func TestCheckFindsDamage(t *testing.T) {
	store := kvtest.New(t, func(c *kv.Config) { c.Buckets = Buckets() })
	type pair = kv.Pair[string, string]
	two, three := kv.PairOf(kv.String, kv.String), kv.PairOf(kv.String, kv.PairOf(kv.String, kv.String))
	four := kv.PairOf(kv.String, kv.PairOf(kv.String, kv.PairOf(kv.Uint64, kv.Uint64)))
	press := func(account string) pair { return pair{A: account, B: "PRESS"} }
	entry := func(account string) entryKey {
		return entryKey{A: account, B: kv.Pair[string, kv.Pair[uint64, uint64]]{A: "PRESS", B: kv.Pair[uint64, uint64]{A: 1, B: 1}}}
	}
	linked := kv.Pair[string, pair]{A: "zoo", B: pair{A: "PRESS", B: "gw"}}
	damaged := []byte("damaged")
	for _, tt := range []struct {
		do   func(tx *kv.Tx) error
		want []string
	}{
		{func(tx *kv.Tx) error {
			return errors.Join(entries.Put(tx, entry("works"), record{}), late.Put(tx, press("works"), 1))
		}, nil},
		{func(tx *kv.Tx) error { return kv.NewBucket("ledger", four, kv.Raw).Put(tx, entry("works"), damaged) }, []string{"the ledger: "}},
		{func(tx *kv.Tx) error { return entries.Put(tx, entry("zoo"), record{}) }, []string{`the ledger has an entry at PRESS of the account "zoo"`}},
		{func(tx *kv.Tx) error { return kv.NewBucket("ledgerLink", three, kv.Raw).Put(tx, linked, damaged) }, []string{"the live connections: "}},
		{func(tx *kv.Tx) error { return links.Put(tx, linked, 1) }, []string{`a live connection names the account "zoo"`}},
		{func(tx *kv.Tx) error { return kv.NewBucket("ledgerLate", two, kv.Raw).Put(tx, press("works"), damaged) }, []string{"the marks of late entries: "}},
		{func(tx *kv.Tx) error { return late.Put(tx, press("zoo"), 1) }, []string{`a mark of a late entry names the account "zoo"`}},
	} {
		var found []string
		undo := errors.New("as it was")
		err := store.Update(func(tx *kv.Tx) error {
			if err := tt.do(tx); err != nil {
				return err
			}
			Check(tx, map[string]bool{"works": true}, func(problem string) { found = append(found, problem) })
			return undo
		})
		if !errors.Is(err, undo) || !slices.EqualFunc(found, tt.want, strings.HasPrefix) {
			t.Errorf("found %q (%v), want %q", found, err, tt.want)
		}
	}
}
