package floor

import (
	"context"
	"math"

	"opsmon/app/engine/monitor"
	"opsmon/kv"
)

// Sweep removes entries of the ledger that are older than the state from which the oldest stored signals are computed.
// It keeps what is ongoing at that time: running schedules with everything since they started, manual downtime, and
// live connections. While signals are held, it removes nothing.
func (f *Floor) Sweep(ctx context.Context) error {
	now := f.now()
	if f.cfg.Signals.Held() {
		return nil
	}
	oldest := now - f.cfg.Signals.Retention().Milliseconds()
	oldest -= oldest % day
	from := kv.Range{}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		var k placeKey
		found := false
		err := f.cfg.Store.View(func(tx *kv.Tx) error {
			for item, err := range ledger.Scan(tx, from) {
				if err != nil {
					return err
				}
				k, found = item.Key, true
				break
			}
			return nil
		})
		if err != nil || !found {
			return err
		}
		for more := true; more && err == nil; {
			err = f.cfg.Store.Update(func(tx *kv.Tx) (err error) {
				more, err = f.pruneStation(tx, k.A, k.B.A, oldest)
				return err
			})
		}
		if err != nil {
			return err
		}
		from = ledger.From(ledgerKey(k.A, k.B.A+"\x00", 0, 0))
	}
}

// pruneBatch is how many records one transaction of pruneStation removes.
const pruneBatch = 1000

// pruneStation removes a batch of a station's old entries; more reports whether there are more.
func (f *Floor) pruneStation(tx *kv.Tx, account, station string, oldest int64) (more bool, err error) {
	at, state, err := f.cfg.History.StateBefore(tx, account, station, oldest+1)
	if err != nil || state == nil {
		return false, err
	}
	going, err := ongoingAt(tx, account, station, at)
	if err != nil {
		return false, err
	}
	n := 0
	for item, err := range ledger.Scan(tx, ledger.Between(ledgerKey(account, station, 0, 0), ledgerKey(account, station, going.since, 0))) {
		if err != nil {
			return false, err
		}
		if going.links[item.Value.Source] == item.Key.B.B.B && item.Value.Kind == uint8(monitor.InputLink) {
			continue
		}
		if n++; n > pruneBatch {
			return true, nil
		}
		if err := ledger.Delete(tx, item.Key); err != nil {
			return false, err
		}
	}
	return false, nil
}

// ongoingSet describes what is ongoing at a station at a moment.
type ongoingSet struct {
	since int64             // the earliest of it, ms; the moment itself where nothing does
	links map[string]uint64 // by device, the record by which its connection began
}

// ongoingAt returns what is ongoing at a station at a moment, from its ledger.
func ongoingAt(tx *kv.Tx, account, station string, moment int64) (ongoingSet, error) {
	out := ongoingSet{moment, map[string]uint64{}}
	schedules, manual := map[string]int64{}, int64(math.MaxInt64)
	for item, err := range ledger.Scan(tx, ledger.Between(ledgerKey(account, station, 0, 0), ledgerKey(account, station, moment, 0))) {
		if err != nil {
			return out, err
		}
		r, at := &item.Value, int64(item.Key.B.B.A)
		if r.Cancelled != 0 {
			continue
		}
		switch monitor.InputKind(r.Kind) {
		case monitor.InputScheduleStart:
			if r.Schedule != nil {
				schedules[r.Schedule.ID] = at
			}
		case monitor.InputScheduleEnd, monitor.InputQuantityEnd:
			delete(schedules, r.ID)
		case monitor.InputManualStart:
			manual = min(manual, at)
		case monitor.InputManualEnd:
			manual = math.MaxInt64
		case monitor.InputLink:
			if delete(out.links, r.Source); r.Up {
				out.links[r.Source] = item.Key.B.B.B
			}
		}
	}
	out.since = min(out.since, manual)
	for _, at := range schedules {
		out.since = min(out.since, at)
	}
	return out, nil
}
