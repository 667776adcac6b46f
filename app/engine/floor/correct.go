package floor

import (
	"time"

	"opsmon/app/engine/ledger"
	"opsmon/app/errdefs"
)

// Backfill schedules the recomputation of a station from at on, in ms, after a change to its past. It is stored in the
// transaction and done afterwards, between other work. errdefs.NotFound if there is no such station.
func (w *Work) Backfill(stationCode string, from int64) error {
	if w.worker.trackers[stationCode] == nil {
		return errdefs.New(errdefs.NotFound, "there is no station with the code %s", stationCode)
	}
	if old, ok := w.later[stationCode]; !ok || from < old {
		w.later[stationCode] = from
	}
	return ledger.MarkLate(w.Tx, w.Account, stationCode, from)
}

// Follow recomputes late stations, with other work in between, until none is left, the caller's patience ends, or all
// that are left have failed and rest. It returns the stations that are still late; they are recomputed when there is
// time. Errors: one of kind Unavailable.
func (f *Floor) Follow(accountID string, stationCodes []string, patience time.Duration) (left []string, err error) {
	wk, err := f.worker(accountID)
	if err != nil {
		return nil, err
	}
	until := time.Now().Add(patience)
	for {
		resting := true
		err := wk.do(func() {
			now := wk.f.now()
			for batch := range batches(wk.late(stationCodes, now), now) {
				wk.tryBackfill(wk.timeline, now, batch)
				break // one a turn
			}
			wk.advanceFar(now)
			left = left[:0]
			for _, code := range stationCodes {
				if tr := wk.trackers[code]; tr != nil && tr.backfill.open() {
					left, resting = append(left, code), resting && tr.backfill.rests(now)
				}
			}
		})
		if err != nil || resting || time.Now().After(until) {
			return left, err
		}
		time.Sleep(5 * time.Millisecond) // others come in between
	}
}

// late returns the trackers of stations that are late and can be computed at once.
func (wk *worker) late(stationCodes []string, now int64) (list []*tracker) {
	for _, code := range stationCodes {
		tr := wk.trackers[code]
		if tr == nil || tr.backfill.busy || tr.backfill.near.from == 0 || tr.backfill.rests(now) {
			continue
		}
		if !wk.tooFar(wk.timeline, tr, now) {
			list = append(list, tr)
		}
	}
	return list
}

// Reaches returns an error if the signals at a moment, in ms, have been deleted: nothing recorded or cancelled there
// could be computed. The error is a Conflict that names the limit.
func (w *Work) Reaches(at int64) error {
	oldest := w.worker.oldest(w.Now)
	if at >= oldest {
		return nil
	}
	days := int64(w.worker.f.cfg.Signals.Retention().Hours() / 24)
	return errdefs.New(errdefs.Conflict, "signals are kept for %d days, now from %s on; %s cannot be recomputed, and so not be changed", days, stampOf(oldest), stampOf(at))
}
