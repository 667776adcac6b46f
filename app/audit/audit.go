// Package audit keeps the record of every change: who made it, with which credential, when, what and from where
// (decisions.md section 6). A record is written in the transaction of the change itself, so that neither is ever
// there without the other.
//
// The bucket tree:
//
//	audit  (account id, seq) -> Record
//
// One bucket and no index: every change pays for its record, and few read them. The records of an account are
// numbered without a gap, so how many there are is told by the first and the last. The oldest are removed in time (Trim);
// the number of the first that is left tells how many were.
package audit

import (
	"fmt"
	"iter"
	"maps"

	"opsmon/kv"
)

type place = kv.Pair[string, uint64]

var records = kv.NewBucket("audit", kv.PairOf(kv.String, kv.Uint64), kv.JSON[Record]())

// Buckets names the buckets of this room, for kv.Config.Buckets.
func Buckets() []string { return []string{records.Name()} }

// Actor is who makes a change. It never holds a secret: a credential is named by its public id.
// It is stored: a changed field needs a migration.
type Actor struct {
	Email      string `json:"email"`      // empty for the machine itself
	Credential string `json:"credential"` // "key:<id>", "session:<id>", "login", "local", or "service" for what it does by itself
	Address    string `json:"address"`    // the network address; empty when there is none
}

// Record is one change. It is stored: a changed field needs a migration.
type Record struct {
	Seq       uint64            `json:"seq"` // of the account, from 1 without a gap
	At        Time              `json:"at"`
	AccountID string            `json:"accountId"`
	Actor     Actor             `json:"actor"`
	Action    string            `json:"action"` // what was changed and how: "key.create", "manifest.apply"
	Target    string            `json:"target"` // what it was done to: a public id, an e-mail address, a code
	Detail    map[string]string `json:"detail"` // more about it; never a secret; null when there is none
}

// Put writes a record in the transaction of the change, dated with the transaction's time. The detail may be nil.
// Errors are the store's.
func Put(tx *kv.Tx, accountID string, actor Actor, action, target string, detail map[string]string) error {
	seq, err := end(records.ScanDown(tx, kv.Under(records, accountID)))
	if err != nil {
		return fmt.Errorf("audit %s: %w", action, err)
	}
	seq++
	record := Record{
		Seq: seq, At: TimeOf(tx.Now()), AccountID: accountID, Actor: actor,
		Action: action, Target: target, Detail: maps.Clone(detail),
	}
	if err := records.Put(tx, place{A: accountID, B: seq}, record); err != nil {
		return fmt.Errorf("audit %s: %w", action, err)
	}
	return nil
}

// end gives the number of the first record that a walk meets, 0 when there is none.
func end(walk iter.Seq2[kv.Item[place, Record], error]) (uint64, error) {
	for item, err := range walk {
		return item.Key.B, err
	}
	return 0, nil
}

// List reads records of an account, newest first: at most limit of them after the first skip ones, and how many
// there are in all. The action "" is every action; any other reads the whole log of the account. The list is
// empty, never nil. Errors are the store's.
func List(tx *kv.Tx, accountID string, limit, skip int, action string) ([]Record, int, error) {
	page, total, err := read(tx, accountID, max(limit, 0), max(skip, 0), action)
	if err != nil {
		return nil, 0, fmt.Errorf("list audit: %w", err)
	}
	return page, total, nil
}

func read(tx *kv.Tx, accountID string, limit, skip int, action string) ([]Record, int, error) {
	under := kv.Under(records, accountID)
	last, err := end(records.ScanDown(tx, under))
	if err != nil || last == 0 {
		return []Record{}, 0, err
	}
	first, err := end(records.Scan(tx, under))
	if err != nil {
		return nil, 0, err
	}
	page, total := []Record{}, int(last-first+1)
	if action == "" {
		for n := last - uint64(min(skip, total)); n >= first && len(page) < limit; n-- {
			record, err := records.Get(tx, place{A: accountID, B: n})
			if err != nil {
				return nil, 0, err
			}
			page = append(page, record)
		}
		return page, total, nil
	}
	total = 0
	for item, err := range records.ScanDown(tx, under) {
		switch {
		case err != nil:
			return nil, 0, err
		case item.Value.Action != action:
			continue
		}
		if total++; total > skip && len(page) < limit {
			page = append(page, item.Value)
		}
	}
	return page, total, nil
}
