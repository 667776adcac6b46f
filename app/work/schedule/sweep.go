package schedule

import (
	"context"
	"errors"
	"fmt"
	"time"

	"opsmon/kv"
)

// Sweep deletes operators' entries older than Config.Retention, and schedules that ended longer ago than
// Config.Retention and Config.Late together, because until then they may still get entries. now must be a trusted time.
// Errors: the store's, ctx's.
func (s *Service) Sweep(ctx context.Context, now time.Time) error {
	if s.cfg.Retention <= 0 {
		return nil
	}
	before := now.Add(-s.cfg.Retention).UnixMilli()
	if _, err := entriesAt.Sweep(ctx, s.cfg.Store, kv.Sweeper[entryKey]{
		Keep: func(k entryKey) bool { return int64(k.B.B.A) >= before },
		Next: func(k entryKey) entryKey { return (&Entry{StationCode: k.B.A + "\x00"}).key(k.A) },
		Remove: func(tx *kv.Tx, k entryKey) error {
			return errors.Join(entriesAt.Delete(tx, k), entries.Delete(tx, idKey{A: k.A, B: k.B.B.B}))
		},
	}); err != nil {
		return fmt.Errorf("remove what was entered long ago: %w", err)
	}
	before -= s.cfg.Late.Milliseconds()
	if _, err := places.Sweep(ctx, s.cfg.Store, kv.Sweeper[atKey]{
		Keep:   func(k atKey) bool { return int64(k.B.B.B.A) >= before },
		Next:   func(k atKey) atKey { return placeKey(k.A, k.B.A, k.B.B.A+"\x00", 0, "") },
		Remove: func(tx *kv.Tx, k atKey) error { return forget(tx, k, before) },
	}); err != nil {
		return fmt.Errorf("remove old schedules: %w", err)
	}
	return nil
}

// forget removes a schedule that ended, and changed last, before a moment, ms.
func forget(tx *kv.Tx, k atKey, before int64) error {
	v, err := places.Get(tx, k)
	if err != nil {
		return err
	}
	p, err := readPlace(kv.Item[atKey, []byte]{Key: k, Value: v})
	if err != nil {
		return err
	}
	if p.state != Completed && p.state != Deleted || p.state == Completed && p.end >= before {
		return nil
	}
	sched, err := load(tx, k.A, p.id)
	if err != nil || sched.Updated >= before {
		return err
	}
	if sched.unique() {
		if err := plans.Delete(tx, sched.planKey(k.A)); err != nil {
			return err
		}
	}
	return errors.Join(places.Delete(tx, k), schedules.Delete(tx, idKey{A: k.A, B: p.id}))
}
