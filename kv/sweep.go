package kv

import "context"

// sweepStep is how many keys one transaction of Sweep goes over: while a long View goes on no room is used again, and
// writers wait for a long Update.
const sweepStep = 500

// Sweeper says what is to go of a bucket whose keys come in groups, the oldest of each first.
type Sweeper[K any] struct {
	Keep   func(K) bool       // a key stays, and so do those after it in its group
	Next   func(K) K          // the first key after a key's group
	Remove func(*Tx, K) error // removes a key, with what else there is of it; nil: the key alone
}

// Sweep removes every key that is not kept, some in each transaction, and returns how many. It looks in
// Views and removes in Updates; a key that somebody else has removed between the two is passed over. Errors:
// ErrDamaged; Remove's; ctx's.
func (b *Bucket[K, V]) Sweep(ctx context.Context, store *Store, by Sweeper[K]) (given int, err error) {
	for r, more := (Range{}), true; more; {
		if err := ctx.Err(); err != nil {
			return given, err
		}
		var old []K
		var rest Range
		if err := store.View(func(tx *Tx) (err error) {
			old, rest, more, err = b.old(tx, by, r)
			return err
		}); err != nil {
			return given, err
		}
		if len(old) > 0 {
			if err := store.Update(func(tx *Tx) error { return b.removeAll(tx, by, old) }); err != nil {
				return given, err
			}
		}
		given += len(old)
		r = rest
	}
	return given, nil
}

// old looks at some keys of a range and returns those that are not kept; with more, the range goes on with rest.
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
