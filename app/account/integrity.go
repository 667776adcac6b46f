package account

import (
	"crypto/sha256"
	"fmt"
	"time"

	"opsmon/app/account/manifest"
	"opsmon/kv"
)

// Check reads every account, manifest, revision and document, and reports those that are unreadable, invalid or
// inconsistent. It returns the ids of the readable accounts.
func Check(tx *kv.Tx, now time.Time, report func(problem string)) (known map[string]bool) {
	known = map[string]bool{}
	whole := map[Hash]bool{} // documents that were read and match their hash
	domains := map[string]string{}
	for item, err := range accounts.Scan(tx, kv.Range{}) {
		if err != nil {
			report(fmt.Sprintf("account: %v", err))
			continue
		}
		a := item.Value
		known[item.Key] = true
		if a.ID != item.Key {
			report(fmt.Sprintf("account %s: its record is that of %q", item.Key, a.ID))
			continue
		}
		if other, taken := domains[a.Domain]; taken {
			report(fmt.Sprintf("account %s: its domain %s is that of %s too", a.ID, a.Domain, other))
		}
		domains[a.Domain] = a.ID
		checkManifest(tx, &a, now, report)
		checkRevisions(tx, &a, whole, report)
	}
	checkLoose(tx, known, whole, report)
	return known
}

func checkManifest(tx *kv.Tx, a *Account, now time.Time, report func(string)) {
	b, err := rendered.Get(tx, a.ID)
	switch {
	case err != nil:
		report(fmt.Sprintf("account %s: its manifest: %v", a.ID, err))
	case sha256.Sum256(b) != a.Rendered:
		report(fmt.Sprintf("account %s: its manifest is not the one that its record names", a.ID))
	default:
		doc := newSnapshot(a, newArrays(b, nil)).Document().Bytes()
		if _, pure := manifest.Split(doc); Hash(sha256.Sum256(pure)) != a.Document {
			report(fmt.Sprintf("account %s: its manifest and the document of its newest revision are not the same", a.ID))
		}
		for _, d := range Validate(doc, now).Details {
			report(fmt.Sprintf("account %s: manifest: %s %s", a.ID, d.Field, d.Issue))
		}
	}
}

// checkLoose reports records that belong to no existing account.
func checkLoose(tx *kv.Tx, known map[string]bool, whole map[Hash]bool, report func(string)) {
	loose := func(what, account string, err error) {
		switch {
		case err != nil:
			report(fmt.Sprintf("%s: %v", what, err))
		case !known[account]:
			report(fmt.Sprintf("%s of account %s: there is no such account", what, account))
		}
	}
	for item, err := range rendered.Scan(tx, kv.Range{}) {
		loose("manifest", item.Key, err)
	}
	for item, err := range revisions.Scan(tx, kv.Range{}) {
		loose("revision", item.Key.A, err)
	}
	for item, err := range gone.Scan(tx, kv.Range{}) {
		loose("earlier place", item.Key.A, err)
	}
	for item, err := range documents.Scan(tx, kv.Range{}) {
		switch {
		case err != nil:
			report(fmt.Sprintf("document: %v", err))
		case !whole[item.Key]:
			report(fmt.Sprintf("document %x: no revision that can be read names it", item.Key))
		}
	}
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
