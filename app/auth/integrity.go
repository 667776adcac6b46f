package auth

import (
	"bytes"
	"fmt"
	"iter"

	"opsmon/kv"
)

// Check reads every record of the room and reports what cannot be read and what does not agree: a code without
// its link, a tablet without its session. The error is for when the store could not be read at all.
func (s *Service) Check(report func(problem string)) error {
	return s.store.View(func(tx *kv.Tx) error {
		readable(report, "user", users.Scan(tx, kv.Range{}))
		readable(report, "last use of a key", keyUses.Scan(tx, kv.Range{}))
		readable(report, "session", sessions.Scan(tx, kv.Range{}))
		readable(report, "one-time link", links.Scan(tx, kv.Range{}))
		readable(report, "waiting sign-in", waits.Scan(tx, kv.Range{}))
		readable(report, "account used last", lastAccounts.Scan(tx, kv.Range{}))
		for _, item := range readable(report, "sign-in code", codes.Scan(tx, kv.Range{})) {
			var hash [32]byte
			copy(hash[:], item.Value)
			if link, err := links.Get(tx, hash); err != nil || link.Code != item.Key {
				report(fmt.Sprintf("sign-in code %s: its link is not there", item.Key))
			}
		}
		for _, item := range readable(report, "tablet", tablets.Scan(tx, kv.Range{})) {
			if id := item.Value.SessionID; id != "" {
				if session, err := sessions.Get(tx, id); err == nil && session.TabletID != item.Key.B {
					report(fmt.Sprintf("tablet %s: its session is another tablet's", item.Key.B))
				}
			}
		}
		for _, item := range readable(report, "key", keys.Scan(tx, kv.Range{})) {
			if len(item.Value.Hash) != 32 || bytes.Equal(item.Value.Hash, make([]byte, 32)) {
				report(fmt.Sprintf("key %s: its hash is not one", item.Key))
			}
		}
		return nil
	})
}

// readable gives the records that can be read, all of them now, and reports the others.
func readable[K, V any](report func(string), what string, records iter.Seq2[kv.Item[K, V], error]) []kv.Item[K, V] {
	var good []kv.Item[K, V]
	for item, err := range records {
		if err != nil {
			report(fmt.Sprintf("%s: %v", what, err))
			continue
		}
		good = append(good, item)
	}
	return good
}
