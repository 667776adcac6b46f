package ledger

import (
	"context"
	"math"

	"opsmon/app/engine/monitor"
	"opsmon/kv"
)

// Prune removes the entries of each station that lie before a moment, in ms, but keeps what is ongoing then: running
// schedules with everything since they started, manual downtime, and live connections. before returns the moment of a
// station; false keeps everything. Errors: the store's, before's, ctx's.
func Prune(ctx context.Context, store *kv.Store, before func(tx *kv.Tx, account, station string) (at int64, ok bool, err error)) error {
	from := kv.Range{}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		var k entryKey
		found := false
		err := store.View(func(tx *kv.Tx) error {
			for item, err := range entries.Scan(tx, from) {
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
			err = store.Update(func(tx *kv.Tx) (err error) {
				more, err = pruneStation(tx, k.A, k.B.A, before)
				return err
			})
		}
		if err != nil {
			return err
		}
		from = entries.From(keyOf(k.A, k.B.A+"\x00", 0, 0))
	}
}

// pruneBatch is how many records one transaction of pruneStation removes.
const pruneBatch = 1000

// pruneStation removes a batch of a station's old entries; more reports whether there are more.
func pruneStation(tx *kv.Tx, account, station string, before func(tx *kv.Tx, account, station string) (int64, bool, error)) (more bool, err error) {
	at, ok, err := before(tx, account, station)
	if err != nil || !ok {
		return false, err
	}
	going, err := ongoingAt(tx, account, station, at)
	if err != nil {
		return false, err
	}
	n := 0
	for item, err := range entries.Scan(tx, entries.Between(keyOf(account, station, 0, 0), keyOf(account, station, going.since, 0))) {
		if err != nil {
			return false, err
		}
		if going.links[item.Value.Source] == item.Key.B.B.B && item.Value.Kind == uint8(monitor.InputLink) {
			continue
		}
		if n++; n > pruneBatch {
			return true, nil
		}
		if err := entries.Delete(tx, item.Key); err != nil {
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
	for item, err := range entries.Scan(tx, entries.Between(keyOf(account, station, 0, 0), keyOf(account, station, moment, 0))) {
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
