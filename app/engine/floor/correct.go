package floor

import (
	"time"

	"opsmon/app/errdefs"
)

// Backfill has a station computed again from a moment on, ms, since what held there has changed for the past. It is
// noted in the transaction and done after it, as other work leaves time. errdefs.NotFound when there is no such
// station.
func (w *Work) Backfill(stationCode string, from int64) error {
	if w.worker.trackers[stationCode] == nil {
		return errdefs.New(errdefs.NotFound, "there is no station with the code %s", stationCode)
	}
	if old, ok := w.later[stationCode]; !ok || from < old {
		w.later[stationCode] = from
	}
	return markLate(w.Tx, w.Account, stationCode, from)
}

// Follow has stations that are to be computed again computed now, with other work in between, and gives those that
// still are to be when the caller's patience is at its end, or all that are left could not be computed and rest: they
// are computed as time allows. Errors: one that is Unavailable.
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

// Reaches refuses a moment, ms, whose signals are not kept any more: what would be recorded or taken back there could
// not be computed. Conflict that names the limit.
func (w *Work) Reaches(at int64) error {
	oldest := w.worker.oldest(w.Now)
	if at >= oldest {
		return nil
	}
	days := int64(w.worker.f.cfg.Signals.Retention().Hours() / 24)
	return errdefs.New(errdefs.Conflict, "signals are kept for %d days, now from %s on; what counts at %s cannot be computed again, and so not be changed", days, stampOf(oldest), stampOf(at))
}
