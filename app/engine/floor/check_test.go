package floor

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"opsmon/kv"
	"opsmon/kv/kvtest"
)

// TestCheckFindsDamage damages the records of backfills in each way that the check reports.
func TestCheckFindsDamage(t *testing.T) {
	store := kvtest.New(t, func(c *kv.Config) { c.Buckets = Buckets() })
	type pair = kv.Pair[string, string]
	two := kv.PairOf(kv.String, kv.String)
	press := func(account string) pair { return pair{A: account, B: "PRESS"} }
	damaged := []byte("damaged")
	for _, tt := range []struct {
		do   func(tx *kv.Tx) error
		want []string
	}{
		{func(tx *kv.Tx) error { return backfills.Put(tx, press("works"), backfillRecord{}) }, nil},
		{func(tx *kv.Tx) error {
			return kv.NewBucket("ledgerAgain", two, kv.Raw).Put(tx, press("works"), damaged)
		}, []string{"records of backfills: "}},
		{func(tx *kv.Tx) error { return backfills.Put(tx, press("zoo"), backfillRecord{}) }, []string{`a backfill names the account "zoo"`}},
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
