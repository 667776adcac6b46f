package audit

import (
	"strings"
	"testing"

	"opsmon/kv"
	"opsmon/kv/kvtest"
)

func TestCheckFindsDamage(t *testing.T) {
	for name, test := range map[string]struct {
		damage func(tx *kv.Tx) error
		want   string
	}{
		"nothing":     {func(*kv.Tx) error { return nil }, ""},
		"the oldest":  {func(tx *kv.Tx) error { return records.Delete(tx, place{A: "a", B: 1}) }, ""},
		"a gap":       {func(tx *kv.Tx) error { return records.Delete(tx, place{A: "a", B: 2}) }, "audit of a: record 3 follows record 1"},
		"another's":   {func(tx *kv.Tx) error { return records.Put(tx, place{A: "a", B: 4}, Record{Seq: 9, AccountID: "b"}) }, "audit of a: record 4 is record 9 of b"},
		"no account":  {func(tx *kv.Tx) error { return Put(tx, "gone", Actor{}, "x", "y", nil) }, "audit of gone: there is no such account"},
		"appliance's": {func(tx *kv.Tx) error { return Put(tx, "", Actor{}, "x", "y", nil) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			store := kvtest.New(t, func(cfg *kv.Config) { cfg.Buckets = Buckets() })
			var got []string
			err := store.Update(func(tx *kv.Tx) error {
				for range 3 {
					if err := Put(tx, "a", Actor{}, "x", "y", nil); err != nil {
						return err
					}
				}
				if err := test.damage(tx); err != nil {
					return err
				}
				Check(tx, map[string]bool{"a": true}, func(problem string) { got = append(got, problem) })
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(got, "\n"); (test.want == "") != (text == "") || !strings.Contains(text, test.want) {
				t.Errorf("check says %q, want %q", text, test.want)
			}
		})
	}
}
