package auth

import (
	"bytes"
	"fmt"
	"iter"

	"opsmon/kv"
)

// Check reads every record of the package and reports unreadable and inconsistent ones: every reference must lead to
// a record that refers back. known has the ids of all accounts.
func Check(tx *kv.Tx, known map[string]bool, report func(problem string)) {
	c := checking{tx: tx, report: func(format string, args ...any) { report(fmt.Sprintf(format, args...)) }}
	account := func(what, id string) {
		if !known[id] {
			c.report("%s: its account %s is not there", what, id)
		}
	}
	for _, item := range readable(report, "user", users.Scan(tx, kv.Range{})) {
		account("user "+item.Key.B, item.Key.A)
		if role := item.Value.Role; role.Rank() == 0 && !item.Value.Refused {
			c.report("user %s: %q is not a role", item.Key.B, role)
		}
	}
	for _, item := range readable(report, "key", keys.Scan(tx, kv.Range{})) {
		account("key "+item.Key, item.Value.AccountID)
		c.hash("key "+item.Key, item.Value.Hash)
	}
	for _, item := range readable(report, "last use of a key", keyUses.Scan(tx, kv.Range{})) {
		if !keys.Has(tx, item.Key) {
			c.report("last use of key %s: the key is not there", item.Key)
		}
	}
	for _, item := range readable(report, "session", sessions.Scan(tx, kv.Range{})) {
		account("session "+item.Key, item.Value.AccountID)
		c.hash("session "+item.Key, item.Value.Hash)
		if id := item.Value.TabletID; id != "" {
			if tablet, err := tablets.Get(tx, place{A: item.Value.AccountID, B: id}); err != nil || tablet.SessionID != item.Key {
				c.report("session %s: its tablet is not there", item.Key)
			}
		}
	}
	for _, item := range readable(report, "tablet", tablets.Scan(tx, kv.Range{})) {
		account("tablet "+item.Key.B, item.Key.A)
		c.tablet(item.Key.B, item.Value)
	}
	for _, item := range readable(report, "device", devices.Scan(tx, kv.Range{})) {
		account("device "+item.Key.B, item.Key.A)
		c.hash("device "+item.Key.B, item.Value.Hash)
	}
	for _, item := range readable(report, "account used last", lastAccounts.Scan(tx, kv.Range{})) {
		account("account used last by "+item.Key, string(item.Value))
	}
	c.links()
}

type checking struct {
	tx     *kv.Tx
	report func(format string, args ...any)
}

func (c checking) hash(what string, hash []byte) {
	if len(hash) != 32 || bytes.Equal(hash, make([]byte, 32)) {
		c.report("%s: its hash is not one", what)
	}
}

// tablet checks that a paired tablet has its session, and any other its pairing link.
func (c checking) tablet(id string, t tabletRecord) {
	if t.SessionID != "" {
		session, err := sessions.Get(c.tx, t.SessionID)
		switch {
		case err != nil:
			c.report("tablet %s: its session is not there", id)
		case session.TabletID != id:
			c.report("tablet %s: its session is another tablet's", id)
		}
		return
	}
	var hash [32]byte
	copy(hash[:], t.LinkHash)
	if link, err := links.Get(c.tx, hash); err != nil || link.TabletID != id {
		c.report("tablet %s: its pairing link is not there", id)
	}
}

// links checks links against the codes and the waiting browsers that refer to them, in both directions.
func (c checking) links() {
	plain := func(problem string) { c.report("%s", problem) }
	for _, item := range readable(plain, "one-time link", links.Scan(c.tx, kv.Range{})) {
		l := item.Value
		if l.UsedAt != nil {
			continue // its code is no longer reserved
		}
		if l.Code != "" {
			if owner, err := codes.Get(c.tx, l.Code); err != nil || !bytes.Equal(owner, item.Key[:]) {
				c.report("one-time link %s: its code does not lead to it", l.Code)
			}
		}
		if len(l.Wait) == 32 {
			if owner, err := waits.Get(c.tx, [32]byte(l.Wait)); err != nil || !bytes.Equal(owner, item.Key[:]) {
				c.report("one-time link %s: the browser that waits does not lead to it", l.Code)
			}
		}
	}
	linkOf := func(stored []byte) (linkRecord, error) {
		var hash [32]byte
		copy(hash[:], stored)
		return links.Get(c.tx, hash)
	}
	for _, item := range readable(plain, "sign-in code", codes.Scan(c.tx, kv.Range{})) {
		if link, err := linkOf(item.Value); err != nil || link.Code != item.Key || link.UsedAt != nil {
			c.report("sign-in code %s: its link is not there", item.Key)
		}
	}
	for _, item := range readable(plain, "waiting sign-in", waits.Scan(c.tx, kv.Range{})) {
		if link, err := linkOf(item.Value); err != nil || !bytes.Equal(link.Wait, item.Key[:]) {
			c.report("waiting sign-in: its link is not there")
		}
	}
}

// readable returns the readable records and reports the others.
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
