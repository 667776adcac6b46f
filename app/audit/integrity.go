package audit

import (
	"fmt"

	"opsmon/kv"
)

// Check reads every record and reports unreadable ones and gaps in an account's numbers. The oldest records may have
// been removed. known has the ids of all accounts; records of the appliance itself belong to no account.
func Check(tx *kv.Tx, known map[string]bool, report func(problem string)) {
	var before place
	for item, err := range records.Scan(tx, kv.Range{}) {
		if err != nil {
			report(fmt.Sprintf("audit: %v", err))
			continue
		}
		at, r := item.Key, item.Value
		if r.AccountID != at.A || r.Seq != at.B {
			report(fmt.Sprintf("audit of %s: record %d is record %d of %s", at.A, at.B, r.Seq, r.AccountID))
		}
		switch {
		case at.A == before.A && at.B != before.B+1:
			report(fmt.Sprintf("audit of %s: record %d follows record %d", at.A, at.B, before.B))
		case at.A != before.A && at.A != "" && !known[at.A]:
			report(fmt.Sprintf("audit of %s: there is no such account", at.A))
		}
		before = at
	}
}
