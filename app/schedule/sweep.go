package schedule

import (
	"context"
	"errors"
	"fmt"
	"time"

	"opsmon/kv"
)

// sweepStep is how many records one transaction of Sweep looks at.
const sweepStep = 1000

// Sweep removes what operators entered longer ago than Config.Retention, and schedules that were over longer ago than
// that and Config.Late together: until then an entry may still belong to them. now must be a time that can be
// believed. Errors: the store's, ctx's.
func (s *Service) Sweep(ctx context.Context, now time.Time) error {
	if s.cfg.Retention <= 0 {
		return nil
	}
	before := now.Add(-s.cfg.Retention).UnixMilli()
	err := sweep(ctx, s.cfg.Store, entriesAt, sweeper[entryKey]{
		at:   func(k entryKey) int64 { return int64(k.B.B.A) },
		next: func(k entryKey) entryKey { return (&Entry{StationCode: k.B.A + "\x00"}).key(k.A) },
		remove: func(tx *kv.Tx, item kv.Item[entryKey, []byte]) error {
			return errors.Join(entriesAt.Delete(tx, item.Key), entries.Delete(tx, idKey{A: item.Key.A, B: item.Key.B.B.B}))
		},
	}, before)
	if err != nil {
		return fmt.Errorf("remove what was entered long ago: %w", err)
	}
	before -= s.cfg.Late.Milliseconds()
	err = sweep(ctx, s.cfg.Store, places, sweeper[atKey]{
		at:     func(k atKey) int64 { return int64(k.B.B.B.A) },
		next:   func(k atKey) atKey { return placeKey(k.A, k.B.A, k.B.B.A+"\x00", 0, "") },
		remove: func(tx *kv.Tx, item kv.Item[atKey, []byte]) error { return forget(tx, item, before) },
	}, before)
	if err != nil {
		return fmt.Errorf("remove old schedules: %w", err)
	}
	return nil
}

// forget removes a schedule that ended, and changed last, before a moment, ms.
func forget(tx *kv.Tx, item kv.Item[atKey, []byte], before int64) error {
	p, err := readPlace(item)
	if err != nil {
		return err
	}
	if p.state != Completed && p.state != Deleted || p.state == Completed && p.end >= before {
		return nil
	}
	account := item.Key.A
	sched, err := load(tx, account, p.id)
	if err != nil || sched.Updated >= before {
		return err
	}
	if sched.unique() {
		if err := plans.Delete(tx, sched.planKey(account)); err != nil {
			return err
		}
	}
	return errors.Join(places.Delete(tx, item.Key), schedules.Delete(tx, idKey{A: account, B: p.id}))
}

// sweeper says how an index goes whose keys come in groups, each in the order of time.
type sweeper[K any] struct {
	at     func(K) int64 // a key's moment, ms
	next   func(K) K     // the first key after a key's group
	remove func(*kv.Tx, kv.Item[K, []byte]) error
}

// sweep gives what is before a moment, ms, to be removed, some in each transaction.
func sweep[K any](ctx context.Context, store *kv.Store, index *kv.Bucket[K, []byte], by sweeper[K], before int64) error {
	for from, more := (kv.Range{}), true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var next kv.Range
		err := store.Update(func(tx *kv.Tx) (err error) {
			next, more, err = sweepSome(tx, index, by, from, before)
			return err
		})
		if err != nil {
			return err
		}
		from = next
	}
	return nil
}

// sweepSome is one transaction of sweep; more tells that it goes on, at next.
func sweepSome[K any](tx *kv.Tx, index *kv.Bucket[K, []byte], by sweeper[K], from kv.Range, before int64) (next kv.Range, more bool, err error) {
	for looked := 0; ; {
		var newer *K // where a group has nothing old any more
		for item, err := range index.Scan(tx, from) {
			if err != nil {
				return from, false, err
			}
			if looked++; looked > sweepStep {
				return index.From(item.Key), true, nil
			}
			if by.at(item.Key) >= before {
				newer = &item.Key
				break
			}
			if err := by.remove(tx, item); err != nil {
				return from, false, err
			}
		}
		if newer == nil {
			return from, false, nil
		}
		from = index.From(by.next(*newer))
	}
}
