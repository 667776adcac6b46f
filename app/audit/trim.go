package audit

import (
	"fmt"
	"time"

	"opsmon/kv"
)

// Retention says which records are kept.
type Retention struct {
	Age time.Duration // older ones go
	Max int           // of an account; beyond it the oldest go
}

// MaxRecords is how many records of an account are kept at most, some 300 MB of them. An account with fewer than 2,500
// changes a day for 400 days does not come near it.
const MaxRecords = 1_000_000

// trimBatch is how many records one call of Trim looks at, so that writers do not wait long for it.
const trimBatch = 2000

// Trim removes the oldest records of an account, of those that are not kept at now, a batch at a time: more tells to
// call it again. The newest always stays. A record from after now was written by a clock that was ahead; it goes with the older ones after it.
// Errors are the store's.
func Trim(tx *kv.Tx, accountID string, r Retention, now time.Time) (removed int, more bool, err error) {
	if removed, more, err = trim(tx, accountID, r, now); err != nil {
		return 0, false, fmt.Errorf("trim audit: %w", err)
	}
	return removed, more, nil
}

func trim(tx *kv.Tx, accountID string, r Retention, now time.Time) (removed int, more bool, err error) {
	under := kv.Under(records, accountID)
	end, found, err := records.Final(tx, under)
	if err != nil || !found {
		return 0, false, err
	}
	last := end.B
	var first, upTo uint64 // upTo is the last that goes
	seen := 0
	for item, err := range records.Scan(tx, under) {
		if err != nil {
			return 0, false, err
		}
		n, at := item.Key.B, item.Value.At.Time
		if first == 0 {
			first = n
		}
		if at.Before(now.Add(-r.Age)) || last-n >= uint64(r.Max) {
			upTo = n
		} else if !at.After(now) {
			break
		}
		if seen++; seen == trimBatch {
			more = true
			break
		}
	}
	// The newest stays, whatever its age: the numbers go on from it.
	for n := first; n <= min(upTo, last-1); n++ {
		if err := records.Delete(tx, place{A: accountID, B: n}); err != nil {
			return 0, false, err
		}
		removed++
	}
	return removed, more && removed > 0, nil
}
