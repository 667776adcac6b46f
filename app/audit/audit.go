// Package audit stores a record of every change: who made it, with which credential, when, what and from where
// (decisions.md section 6). A record is written in the transaction of the change, so one is never stored without the
// other.
//
// The bucket tree:
//
//	audit  (account id, seq) -> Record
//
// One bucket and no index: every change has the cost of its record, and reads are rare. The records of an account are
// numbered without gaps, so the first and the last number determine how many there are. Trim removes the oldest; the
// first remaining number determines how many were removed.
package audit

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"opsmon/app/instant"
	"opsmon/kv"
)

type place = kv.Pair[string, uint64]

var records = kv.NewBucket("audit", kv.PairOf(kv.String, kv.Uint64), kv.JSON[Record]())

// Buckets returns the names of the package's buckets, for kv.Config.Buckets.
func Buckets() []string { return []string{records.Name()} }

// Actor is who made a change.
//
// It never holds a secret: a credential is named by its public id. It is stored: a changed field needs a migration.
//
//openapi:schema Actor
type Actor struct {
	Email string `json:"email"` // empty for the local command line
	// key:<id>, session:<id>, login, local, or service for the service's own actions; never a secret.
	Credential string `json:"credential"`
	Address    string `json:"address"` // network address; empty when unknown
}

// Record is one change: who made it, with which credential, when, what and from where.
//
// It is stored: a changed field needs a migration.
//
//openapi:schema AuditRecord
type Record struct {
	Seq       uint64            `json:"seq" schema:"min=1"` // number within the account, from 1 without gaps
	At        instant.Time      `json:"at"`
	AccountID string            `json:"accountId"`
	Actor     Actor             `json:"actor"`
	Action    string            `json:"action"`               // the action, such as key.create
	Target    string            `json:"target"`               // the target: an id, an address or a code
	Detail    map[string]string `json:"detail" schema:"null"` // details; null if there are none
}

// Put writes a record in the transaction of the change, dated with the transaction's time. The detail may be nil.
// Errors are the store's.
func Put(tx *kv.Tx, accountID string, actor Actor, action, target string, detail map[string]string) error {
	last, _, err := records.Final(tx, kv.Under(records, accountID))
	if err != nil {
		return fmt.Errorf("audit %s: %w", action, err)
	}
	seq := last.B + 1
	record := Record{
		Seq: seq, At: instant.Of(tx.Now()), AccountID: accountID, Actor: actor,
		Action: action, Target: target, Detail: maps.Clone(detail),
	}
	if err := records.Put(tx, place{A: accountID, B: seq}, record); err != nil {
		return fmt.Errorf("audit %s: %w", action, err)
	}
	return nil
}

// Query selects records of an account, newest first. A zero field selects all.
type Query struct {
	Action      string
	Words       []string  // each occurs in the action, the target, the actor or the detail, ignoring case
	From, To    time.Time // time of the change; To is exclusive
	Before      uint64    // only records with smaller numbers
	Limit, Skip int       // at most Limit records, after the first Skip ones
}

// Narrow reports whether records must be read to know whether they match.
func (q *Query) Narrow() bool {
	return q.Action != "" || len(q.Words) > 0 || !q.From.IsZero() || !q.To.IsZero()
}

// Page is the result of a Query.
type Page struct {
	Records []Record // never nil
	Total   int      // number of matching records among those examined
	Next    uint64   // only records before this number were not examined; 0: all were
}

// Piece is the maximum number of records that one List examines, because a long View delays the reuse of freed pages.
// To examine more, call List again with Before.
const Piece = 5000

// List returns records of an account. Without a filter it reads only the records that it returns, and Total counts
// all records before Before. Errors are those of the store.
func List(tx *kv.Tx, accountID string, q Query) (Page, error) {
	page, err := read(tx, accountID, &q)
	if err != nil {
		return Page{}, fmt.Errorf("list audit: %w", err)
	}
	return page, nil
}

func read(tx *kv.Tx, accountID string, q *Query) (Page, error) {
	page := Page{Records: []Record{}}
	first, last, err := span(tx, accountID)
	if q.Before > 0 {
		last = min(last, q.Before-1)
	}
	if err != nil || last == 0 || last < first {
		return page, err
	}
	limit, skip := max(q.Limit, 0), max(q.Skip, 0)
	n, narrow, words := last, q.Narrow(), q.folded()
	if !narrow {
		page.Total = int(last - first + 1)
		n -= uint64(min(skip, page.Total))
	}
	for looked := 0; n >= first && looked < Piece && (narrow || looked < limit); looked++ {
		record, err := records.Get(tx, place{A: accountID, B: n})
		if err != nil {
			return Page{}, err
		}
		n--
		if narrow {
			if !q.wants(&record, words) {
				continue
			}
			if page.Total++; page.Total <= skip || len(page.Records) == limit {
				continue
			}
		}
		page.Records = append(page.Records, record)
	}
	if n >= first {
		page.Next = n + 1
	}
	return page, nil
}

// span returns the numbers of an account's first and last record, 0 if none.
func span(tx *kv.Tx, accountID string) (first, last uint64, err error) {
	under := kv.Under(records, accountID)
	from, found, err := records.First(tx, under)
	if err != nil || !found {
		return 0, 0, err
	}
	to, _, err := records.Final(tx, under)
	return from.B, to.B, err
}

func (q *Query) folded() []string {
	words := make([]string, len(q.Words))
	for i, word := range q.Words {
		words[i] = strings.ToLower(word)
	}
	return words
}

func (q *Query) wants(r *Record, words []string) bool {
	switch {
	case q.Action != "" && r.Action != q.Action, r.At.Before(q.From), !q.To.IsZero() && !r.At.Before(q.To):
		return false
	case len(words) == 0:
		return true
	}
	var b strings.Builder
	for _, text := range []string{r.Action, r.Target, r.Actor.Email, r.Actor.Credential, r.Actor.Address} {
		b.WriteString(text + "\n")
	}
	for _, text := range r.Detail {
		b.WriteString(text + "\n")
	}
	text := strings.ToLower(b.String())
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
}
