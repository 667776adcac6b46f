package auth

import (
	"errors"
	"iter"

	"opsmon/kv"
)

// EndSignIns ends credentials that an older copy of the store must not make valid again (decisions.md section 7, `app
// restore`): sessions, one-time links with their codes and waiting browsers, and the pairing of tablets. Users and
// keys remain. No Service may use the store. Errors are those of the store.
func EndSignIns(tx *kv.Tx) error {
	return errors.Join(
		empty(tx, sessions.Scan(tx, kv.Range{}), sessions.Delete), empty(tx, links.Scan(tx, kv.Range{}), links.Delete),
		empty(tx, codes.Scan(tx, kv.Range{}), codes.Delete), empty(tx, waits.Scan(tx, kv.Range{}), waits.Delete),
		empty(tx, tablets.Scan(tx, kv.Range{}), tablets.Delete),
	)
}

// empty deletes all records of a bucket.
func empty[K, V any](tx *kv.Tx, records iter.Seq2[kv.Item[K, V], error], remove func(*kv.Tx, K) error) error {
	var keys []K
	for item, err := range records {
		if err != nil {
			return err
		}
		keys = append(keys, item.Key)
	}
	for _, key := range keys {
		if err := remove(tx, key); err != nil {
			return err
		}
	}
	return nil
}
