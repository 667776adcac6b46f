package audit

import (
	"fmt"
	"time"

	"opsmon/kv"
)

// Retention limits the stored records.
type Retention struct {
	Age time.Duration // maximum age
	Max int           // maximum number per account; the oldest are removed first
}

// MaxRecords is the maximum number of records of an account, some 300 MB. An account with fewer than 2,500 changes a
// day for 400 days stays below it.
const MaxRecords = 1_000_000

// trimBatch is the maximum number of records that one call of Trim reads, because writers wait for it.
const trimBatch = 2000

// Trim removes an account's oldest records beyond the retention at now, one batch at a time; more reports whether to
// call it again. It always retains the newest record. A record from after now was written with a clock that was
// ahead; it is removed together with the older ones after it. Errors are those of the store.
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
	var first, upTo uint64 // the last number to remove
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
	// Retains the newest record of any age: numbering continues from it.
	for n := first; n <= min(upTo, last-1); n++ {
		if err := records.Delete(tx, place{A: accountID, B: n}); err != nil {
			return 0, false, err
		}
		removed++
	}
	return removed, more && removed > 0, nil
}
