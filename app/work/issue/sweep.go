package issue

import (
	"context"
	"fmt"

	"opsmon/kv"
)

// Sweep deletes the records of issues that ended longer ago than Config.Retention. Call it only while the clock is
// known to be right. Errors: the store's, ctx's.
func (s *Service) Sweep(ctx context.Context) error {
	if s.cfg.Retention <= 0 {
		return nil
	}
	before := s.cfg.Clock().Add(-s.cfg.Retention).UnixMilli()
	if _, err := records.Sweep(ctx, s.cfg.Store, kv.Sweeper[place]{
		Keep:   func(k place) bool { return k.B.B.A.UnixMilli() >= before },
		Next:   func(k place) place { return at(k.A, k.B.A+"\x00", 0, "") },
		Remove: func(tx *kv.Tx, k place) error { return forget(tx, k, before) },
	}); err != nil {
		return fmt.Errorf("remove what was said of old stops: %w", err)
	}
	return nil
}

// forget deletes a record whose time range ends before a moment, ms.
func forget(tx *kv.Tx, k place, before int64) error {
	r, err := records.Get(tx, k)
	if err != nil || r.Until >= before || r.Manual != nil && r.Manual.End == 0 {
		return err
	}
	return records.Delete(tx, k)
}
