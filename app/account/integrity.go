package account

import (
	"crypto/sha256"
	"fmt"
	"time"

	"opsmon/kv"
)

// Check reads every account, manifest and revision and reports what is not as it should be. The error is for
// when the store could not be read at all.
func (s *Service) Check(now time.Time, report func(problem string)) error {
	return s.store.View(func(tx *kv.Tx) error {
		whole := map[Hash]bool{} // documents that were read and are what their name says
		for item, err := range accounts.Scan(tx, kv.Range{}) {
			if err != nil {
				report(fmt.Sprintf("account: %v", err))
				continue
			}
			a := item.Value
			b, err := rendered.Get(tx, a.ID)
			switch {
			case err != nil:
				report(fmt.Sprintf("account %s: its manifest: %v", a.ID, err))
			case sha256.Sum256(b) != a.Rendered:
				report(fmt.Sprintf("account %s: its manifest is not the one that its record names", a.ID))
			default:
				doc := newSnapshot(&a, newArrays(b, nil)).Document().Bytes()
				if _, pure := split(doc); Hash(sha256.Sum256(pure)) != a.Document {
					report(fmt.Sprintf("account %s: its manifest and the document of its newest revision are not the same", a.ID))
				}
				for _, d := range Validate(doc, now).Details {
					report(fmt.Sprintf("account %s: manifest: %s %s", a.ID, d.Field, d.Issue))
				}
			}
			checkRevisions(tx, &a, whole, report)
		}
		return nil
	})
}

func checkRevisions(tx *kv.Tx, a *Account, whole map[Hash]bool, report func(string)) {
	next := uint64(1)
	for item, err := range revisions.Scan(tx, kv.Under(revisions, a.ID)) {
		if err != nil {
			report(fmt.Sprintf("account %s: revision: %v", a.ID, err))
			next++
			continue
		}
		r := item.Value
		if r.Number != next || item.Key.B != next {
			report(fmt.Sprintf("account %s: revision %d is where %d should be", a.ID, r.Number, next))
		}
		next++
		if h := r.Account.Document; !whole[h] {
			packed, err := documents.Get(tx, h)
			var b []byte
			if err == nil {
				b, err = extract(packed)
			}
			switch {
			case err != nil:
				report(fmt.Sprintf("account %s: document of revision %d: %v", a.ID, r.Number, err))
			case Hash(sha256.Sum256(b)) != h:
				report(fmt.Sprintf("account %s: document of revision %d is not what its name says", a.ID, r.Number))
			default:
				whole[h] = true
			}
		}
	}
	if next-1 != a.Revision {
		report(fmt.Sprintf("account %s: %d revisions are there, and its record says %d", a.ID, next-1, a.Revision))
	}
}
