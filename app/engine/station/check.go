package station

import (
	"crypto/sha256"
	"fmt"

	"opsmon/app/account"
	"opsmon/kv"
)

// Buckets returns the names of the package's buckets, for kv.Config.Buckets.
func Buckets() []string {
	return []string{
		noteBucket.Name(), corrections.Name(),
		effects.Name(), ruleChanges.Name(), skuChanges.Name(), tariffChanges.Name(), ruleParts.Name(),
	}
}

// Check reads every record and reports those that are unreadable, belong to no account, or are missing.
func Check(tx *kv.Tx, known map[string]bool, report func(problem string)) {
	for item, err := range noteBucket.Scan(tx, kv.Range{}) {
		switch {
		case err != nil:
			report(fmt.Sprintf("what is put up at a station: %v", err))
		case !known[item.Key.A]:
			report(fmt.Sprintf("what is put up at the station %s: there is no account %s", item.Key.B, item.Key.A))
		}
	}
	checkCorrections(tx, known, report)
	checkEffects(tx, known, report)
	checkParts(tx, report)
	checkChanges(tx, known, report, ruleChanges, func(c ruleChange) error {
		if c.Rules == (digest{}) {
			return nil
		}
		_, err := (&library{made: map[digest]any{}}).read(tx, c.Rules)
		return err
	})
	checkChanges(tx, known, report, skuChanges, nil)
	checkChanges(tx, known, report, tariffChanges, nil)
}

// checkEffects reports revisions without an effect, and effects without a revision.
func checkEffects(tx *kv.Tx, known map[string]bool, report func(problem string)) {
	counted := map[string]uint64{}
	for item, err := range effects.Scan(tx, kv.Range{}) {
		switch {
		case err != nil:
			report(fmt.Sprintf("what a revision changed: %v", err))
		case !known[item.Key.A]:
			report(fmt.Sprintf("what revision %d changed: there is no account %s", item.Key.B, item.Key.A))
		default:
			counted[item.Key.A]++
		}
	}
	for id := range known {
		newest, err := account.NewestRevision(tx, id)
		switch {
		case err != nil:
			report(fmt.Sprintf("account %s: %v", id, err))
		case counted[id] != newest:
			report(fmt.Sprintf("account %s: of %d revisions it is known of %d what they changed", id, newest, counted[id]))
		}
	}
}

// checkParts reports parts of rules that do not match the digest in their key.
func checkParts(tx *kv.Tx, report func(problem string)) {
	for item, err := range ruleParts.Scan(tx, kv.Range{}) {
		switch {
		case err != nil:
			report(fmt.Sprintf("rules of stations: %v", err))
		case sha256.Sum256(item.Value) != item.Key:
			report(fmt.Sprintf("rules of stations: those stored as %x are others", item.Key[:8]))
		}
	}
}

// checkChanges reports changes that are unreadable or that fit refuses.
func checkChanges[V any](tx *kv.Tx, known map[string]bool, report func(problem string), b *kv.Bucket[revisionKey, V], fit func(V) error) {
	for item, err := range b.Scan(tx, kv.Range{}) {
		if err == nil && !known[item.Key.A] {
			err = fmt.Errorf("there is no account %s", item.Key.A)
		}
		if err == nil && fit != nil {
			err = fit(item.Value)
		}
		if err != nil {
			report(fmt.Sprintf("%s: what revision %d changed of %q: %v", b.Name(), item.Key.B.B, item.Key.B.A, err))
		}
	}
}
