package issue

import (
	"context"
	"fmt"

	"opsmon/kv"
)

// sweepBatch is how many records one transaction of Sweep looks at.
const sweepBatch = 1000

// Sweep removes what was said of issues that ended longer ago than Config.Retention. Call it only when the clock can be
// believed. Errors: the store's, ctx's.
func (s *Service) Sweep(ctx context.Context) error {
	if s.cfg.Retention <= 0 {
		return nil
	}
	before := s.cfg.Clock().Add(-s.cfg.Retention).UnixMilli()
	var stations []kv.Pair[string, string]
	if err := s.cfg.Store.View(func(tx *kv.Tx) error {
		for item, err := range reaches.Scan(tx, kv.Range{}) {
			if err != nil {
				return err
			}
			stations = append(stations, item.Key)
		}
		return nil
	}); err != nil {
		return fmt.Errorf("remove what was said of old stops: %w", err)
	}
	for _, k := range stations {
		for from, more := int64(0), true; more; {
			if err := ctx.Err(); err != nil {
				return err
			}
			err := s.cfg.Store.Update(func(tx *kv.Tx) (err error) {
				from, more, err = sweep(tx, k.A, k.B, from, before)
				return err
			})
			if err != nil {
				return fmt.Errorf("remove what was said of old stops: %w", err)
			}
		}
	}
	return nil
}

// sweep removes what is old among a batch of a station's records from a start on, and tells where to go on.
func sweep(tx *kv.Tx, account, station string, from, before int64) (next int64, more bool, err error) {
	n := 0
	for item, err := range records.Scan(tx, records.Between(at(account, station, from, ""), at(account, station, before, ""))) {
		if err != nil {
			return from, false, err
		}
		if n++; n > sweepBatch && item.Value.Start > next {
			return item.Value.Start, true, nil
		}
		next = item.Value.Start
		if r := item.Value; r.Until < before && (r.Manual == nil || r.Manual.End != 0) {
			if err := records.Delete(tx, item.Key); err != nil {
				return from, false, err
			}
		}
	}
	return next, false, nil
}
