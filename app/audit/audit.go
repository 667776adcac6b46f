// Package audit keeps the record of every change: who made it, with which credential, when, what and from where
// (decisions.md section 6). A record is written in the transaction of the change itself, so that neither is ever
// there without the other.
//
// The bucket tree:
//
//	audit        (account id, seq) -> Record
//	auditAction  (account id, action, seq) -> nothing; finds the records of one action
//	auditCount   (account id, action) -> how many records; the action "" counts them all
package audit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"maps"

	"opsmon/kv"
)

type place = kv.Pair[string, uint64]

type kind = kv.Pair[string, string]

var (
	records = kv.NewBucket("audit", kv.PairOf(kv.String, kv.Uint64), kv.JSON[Record]())
	actions = kv.NewBucket("auditAction", kv.PairOf(kv.PairOf(kv.String, kv.String), kv.Uint64), kv.Raw)
	counts  = kv.NewBucket("auditCount", kv.PairOf(kv.String, kv.String), kv.Raw)
)

// Buckets names the buckets of this room, for kv.Config.Buckets.
func Buckets() []string { return []string{records.Name(), actions.Name(), counts.Name()} }

// Actor is who makes a change. It never holds a secret: a credential is named by its public id.
// It is stored: a changed field needs a migration.
type Actor struct {
	Email      string `json:"email"`      // empty for the machine's own command line
	Credential string `json:"credential"` // "key:<id>", "session:<id>", "login" or "local"
	Address    string `json:"address"`    // the network address; empty when there is none
}

// Record is one change. It is stored: a changed field needs a migration.
type Record struct {
	Seq       uint64            `json:"seq"` // ascending over the whole appliance
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
	seq, err := records.Next(tx)
	if err != nil {
		return fmt.Errorf("audit %s: %w", action, err)
	}
	record := Record{
		Seq: seq, At: TimeOf(tx.Now()), AccountID: accountID, Actor: actor,
		Action: action, Target: target, Detail: maps.Clone(detail),
	}
	if err := records.Put(tx, place{A: accountID, B: seq}, record); err != nil {
		return fmt.Errorf("audit %s: %w", action, err)
	}
	if err := actions.Put(tx, kv.Pair[kind, uint64]{A: kind{A: accountID, B: action}, B: seq}, nil); err != nil {
		return fmt.Errorf("audit %s: %w", action, err)
	}
	for _, counted := range []string{"", action} {
		n, err := count(tx, accountID, counted)
		if err == nil {
			err = counts.Put(tx, kind{A: accountID, B: counted}, binary.BigEndian.AppendUint64(nil, n+1))
		}
		if err != nil {
			return fmt.Errorf("audit %s: count: %w", action, err)
		}
	}
	return nil
}

// count tells how many records of an action an account has. It is kept beside the records because counting them
// would read the whole log for every page shown.
func count(tx *kv.Tx, accountID, action string) (uint64, error) {
	stored, err := counts.Get(tx, kind{A: accountID, B: action})
	if errors.Is(err, kv.ErrNotFound) {
		return 0, nil
	}
	if err == nil && len(stored) != 8 {
		err = fmt.Errorf("count of %s: %w", action, kv.ErrDamaged)
	}
	if err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint64(stored), nil
}

// List reads records of an account, newest first: at most limit of them after the first skip ones, and how many
// there are in all. The action "" is every action. The list is empty, never nil. Errors are the store's.
func List(tx *kv.Tx, accountID string, limit, skip int, action string) ([]Record, int, error) {
	total, err := count(tx, accountID, action)
	if err != nil {
		return nil, 0, fmt.Errorf("list audit: %w", err)
	}
	page := []Record{}
	if limit <= 0 || uint64(max(skip, 0)) >= total {
		return page, int(total), nil
	}
	for record, err := range newestFirst(tx, accountID, action) {
		if err != nil {
			return nil, 0, fmt.Errorf("list audit: %w", err)
		}
		if skip > 0 {
			skip--
			continue
		}
		if page = append(page, record); len(page) == limit {
			break
		}
	}
	return page, int(total), nil
}

// newestFirst walks an account's records, or those of one action.
func newestFirst(tx *kv.Tx, accountID, action string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if action == "" {
			for item, err := range records.ScanDown(tx, kv.Under(records, accountID)) {
				if !yield(item.Value, err) {
					return
				}
			}
			return
		}
		for item, err := range actions.ScanDown(tx, kv.Under(actions, kind{A: accountID, B: action})) {
			var record Record
			if err == nil {
				record, err = records.Get(tx, place{A: accountID, B: item.Key.B})
			}
			if !yield(record, err) {
				return
			}
		}
	}
}
