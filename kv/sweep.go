package kv

import "context"

// sweepStep is the number of keys that one transaction of Sweep visits: during a long View no page is reused, and
// writers wait for a long Update.
const sweepStep = 500

// Sweeper selects the keys to remove from a bucket whose keys come in groups, the oldest of each group first.
type Sweeper[K any] struct {
	Keep   func(K) bool       // reports whether to keep a key, and with it the later ones of its group
	Next   func(K) K          // returns the first possible key after a key's group
	Remove func(*Tx, K) error // removes a key and related data; nil: remove only the key
}

// Sweep removes every key that Keep does not keep, a limited number per transaction, and returns how many it removed.
// It searches in Views and removes in Updates; it skips a key that was removed in between. Errors: ErrDamaged; those
// of Remove; that of ctx.
func (b *Bucket[K, V]) Sweep(ctx context.Context, store *Store, by Sweeper[K]) (removed int, err error) {
	for r, more := (Range{}), true; more; {
		if err := ctx.Err(); err != nil {
			return removed, err
		}
		var old []K
		var rest Range
		if err := store.View(func(tx *Tx) (err error) {
			old, rest, more, err = b.old(tx, by, r)
			return err
		}); err != nil {
			return removed, err
		}
		if len(old) > 0 {
			if err := store.Update(func(tx *Tx) error { return b.removeAll(tx, by, old) }); err != nil {
				return removed, err
			}
		}
		removed += len(old)
		r = rest
	}
	return removed, nil
}

// old visits a part of a range and returns the keys to remove; if more is true, the scan continues with rest.
func (b *Bucket[K, V]) old(tx *Tx, by Sweeper[K], r Range) (old []K, rest Range, more bool, err error) {
	for looked := 0; ; {
		var kept *K
		for item, err := range b.Scan(tx, r) {
			if err != nil {
				return nil, r, false, err
			}
			if looked++; looked > sweepStep {
				return old, b.From(item.Key), true, nil
			}
			if by.Keep(item.Key) {
				kept = &item.Key
				break
			}
			old = append(old, item.Key)
		}
		if kept == nil {
			return old, r, false, nil
		}
		r = b.From(by.Next(*kept))
	}
}

func (b *Bucket[K, V]) removeAll(tx *Tx, by Sweeper[K], keys []K) error {
	remove := by.Remove
	if remove == nil {
		remove = b.Delete
	}
	for _, k := range keys {
		if !b.Has(tx, k) {
			continue
		}
		if err := remove(tx, k); err != nil {
			return err
		}
	}
	return nil
}
