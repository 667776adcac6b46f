package floor

import (
	"time"

	"opsmon/app/errdefs"
)

// Again has a station computed again from a moment on, ms, since what held there has changed for the past. It is noted in
// the transaction and done after it, as other work leaves time. errdefs.NotFound when there is no such station.
func (w *Work) Again(stationCode string, from int64) error {
	if w.o.lines[stationCode] == nil {
		return errdefs.New(errdefs.NotFound, "there is no station with the code %s", stationCode)
	}
	if old, ok := w.later[stationCode]; !ok || from < old {
		w.later[stationCode] = from
	}
	return markLate(w.Tx, w.Account, stationCode, from)
}

// Follow has stations that are to be computed again computed now, with other work in between, and gives those that still are to
// be when the caller's patience is at its end, or all that are left could not be computed and rest: they are computed as time
// allows. Errors: one that is Unavailable.
func (f *Floor) Follow(accountID string, stationCodes []string, patience time.Duration) (left []string, err error) {
	o, err := f.owner(accountID)
	if err != nil {
		return nil, err
	}
	until := time.Now().Add(patience)
	for {
		resting := true
		err := o.do(func() {
			now := o.f.now()
			for batch := range lateBatches(o.behind(stationCodes, now), now) {
				o.tryAgain(o.timeline, now, batch)
				break // one a turn
			}
			o.deepen(now)
			left = left[:0]
			for _, code := range stationCodes {
				if l := o.lines[code]; l != nil && (l.late != 0 || l.deep != 0 || l.anew != nil) {
					left, resting = append(left, code), resting && l.rests(now)
				}
			}
		})
		if err != nil || resting || time.Now().After(until) {
			return left, err
		}
		time.Sleep(5 * time.Millisecond) // others come in between
	}
}

// behind gives the lines of stations that are late and can be computed at once.
func (o *owner) behind(stationCodes []string, now int64) (list []*line) {
	for _, code := range stationCodes {
		if l := o.lines[code]; l != nil && l.late != 0 && !l.rests(now) && !o.tooFar(o.timeline, l, now) {
			list = append(list, l)
		}
	}
	return list
}

// Reaches refuses a moment, ms, whose signals are not kept any more: what would be recorded or taken back there could not be
// computed. Conflict that names the limit.
func (w *Work) Reaches(at int64) error {
	oldest := w.o.oldest(w.Now)
	if at >= oldest {
		return nil
	}
	days := int64(w.o.f.cfg.Signals.Retention().Hours() / 24)
	return errdefs.New(errdefs.Conflict, "signals are kept for %d days, now from %s on; what counts at %s cannot be computed again, and so not be changed", days, stampOf(oldest), stampOf(at))
}
