package signal

import (
	"errors"
	"fmt"
	"math"
	"time"

	"opsmon/kv"
)

// Settle notes in the transaction that whoever evaluates an account's signals has kept what came of those before a moment,
// ms. From then on a signal of that time that is stored marks its station as late, in the transaction that stores it: so
// none is forgotten whatever happens. all is false, and nothing is noted, while Appended has not been told of every signal
// that is stored. The moment never goes back by it: what is kept of some stations may reach further (Reach).
func (l *Log) Settle(tx *kv.Tx, account string, to int64) (all bool, err error) {
	if all, err = l.AllTold(tx); err != nil || !all {
		return false, err
	}
	_, _, err = l.Reach(tx, account, to)
	return true, err
}

// Unsettle takes back what was settled beyond a moment, ms, by a clock that was ahead. What is kept of later times must be
// marked to be made again in the same transaction.
func (l *Log) Unsettle(tx *kv.Tx, account string, to int64) error {
	old, err := settled.Get(tx, account)
	if errors.Is(err, kv.ErrNotFound) || err == nil && old <= to {
		return nil
	}
	if err != nil {
		return err
	}
	return settled.Put(tx, account, to)
}

// Reach is Settle for who keeps what came of some stations' signals out of turn, up to a later moment than was settled:
// the moment is noted whether or not all are told. before is what was settled until now, ms, the least there is when nothing
// was: where all is false, what is kept may lack a signal of that time or later which is not marked. Who keeps it marks
// it as late itself, from then on.
func (l *Log) Reach(tx *kv.Tx, account string, to int64) (before int64, all bool, err error) {
	if all, err = l.AllTold(tx); err != nil {
		return 0, false, err
	}
	before, err = settled.Get(tx, account)
	switch {
	case errors.Is(err, kv.ErrNotFound):
		before = math.MinInt64
	case err != nil:
		return 0, false, err
	}
	if before >= to {
		return before, all, nil
	}
	return before, all, settled.Put(tx, account, to)
}

// AllTold tells, in the transaction, whether Appended has been told of every signal that is stored.
func (l *Log) AllTold(tx *kv.Tx) (bool, error) {
	last, err := tail.Last(tx)
	return last == l.opened+l.told.Load(), err
}

type lateKey = kv.Pair[string, string]

// markLate marks the stations that a signal is stored for after its time was settled.
func markLate(tx *kv.Tx, list []Signal) error {
	account, upTo := "", int64(math.MinInt64)
	earliest := map[lateKey]int64{} // a station is marked once, however many of its signals are late
	for i := range list {
		s := &list[i]
		if s.Account != account {
			var err error
			if upTo, err = settled.Get(tx, s.Account); errors.Is(err, kv.ErrNotFound) {
				upTo, err = math.MinInt64, nil
			} else if err != nil {
				return err
			}
			account = s.Account
		}
		if s.At >= upTo {
			continue
		}
		k := lateKey{A: s.Account, B: s.Station}
		if at, there := earliest[k]; !there || s.At < at {
			earliest[k] = s.At
		}
	}
	for k, at := range earliest {
		old, err := late.Get(tx, k)
		if err != nil && !errors.Is(err, kv.ErrNotFound) {
			return err
		}
		if err == nil && old <= at {
			continue
		}
		if err := late.Put(tx, k, at); err != nil {
			return err
		}
	}
	return nil
}

// Late returns the moment, ms, of the earliest signal of a station that was stored after its time was settled.
func Late(tx *kv.Tx, account, station string) (at int64, ok bool, err error) {
	at, err = late.Get(tx, lateKey{A: account, B: station})
	if errors.Is(err, kv.ErrNotFound) {
		return 0, false, nil
	}
	return at, err == nil, err
}

// Accounted takes a station's mark away: its late signals have been evaluated, and what came of it is kept in this transaction.
func Accounted(tx *kv.Tx, account, station string) error {
	if k := (lateKey{A: account, B: station}); late.Has(tx, k) {
		return late.Delete(tx, k)
	}
	return nil
}

// First returns the earliest UTC day for which there are signals of a station; ok is false when there are none.
func (l *Log) First(account, station string) (day int64, ok bool, err error) {
	l.mu.RLock()
	for _, s := range l.tailOf(account, station) {
		if d := Day(s.At); !ok || d < day {
			day, ok = d, true
		}
	}
	l.mu.RUnlock()
	err = l.cfg.Store.View(func(tx *kv.Tx) error {
		for item, err := range parts.Scan(tx, parts.Between(partOf(account, station, math.MinInt64, 0), partOf(account, station, math.MaxInt64, 0))) {
			if err != nil {
				return err
			}
			if d := dayOf(item.Key); !ok || d < day {
				day, ok = d, true
			}
			break
		}
		return nil
	})
	if err != nil {
		return 0, false, fmt.Errorf("find the first signals of %s: %w", station, err)
	}
	return day, ok, nil
}

// LastArrival returns the moment, ms, at which a signal of an account last arrived, as far as the log's tail and what is settled
// tell; 0 when neither does.
func (l *Log) LastArrival(tx *kv.Tx, account string) (int64, error) {
	last, err := settled.Get(tx, account)
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return 0, err
	}
	for item, err := range tail.ScanDown(tx, kv.Range{}) {
		if err != nil {
			return 0, err
		}
		list, err := unpack(item.Value)
		if err != nil {
			return 0, err
		}
		found := false
		for i := range list {
			if list[i].Account == account {
				last, found = max(last, list[i].Arrived), true
			}
		}
		if found {
			break
		}
	}
	return last, nil
}

// Last returns the latest UTC day for which there are signals of a station; ok is false when there are none.
func (l *Log) Last(account, station string) (day int64, ok bool, err error) {
	l.mu.RLock()
	for _, s := range l.tailOf(account, station) {
		if d := Day(s.At); !ok || d > day {
			day, ok = d, true
		}
	}
	l.mu.RUnlock()
	err = l.cfg.Store.View(func(tx *kv.Tx) error {
		for item, err := range parts.ScanDown(tx, parts.Between(partOf(account, station, math.MinInt64, 0), partOf(account, station, math.MaxInt64, 0))) {
			if err != nil {
				return err
			}
			if d := dayOf(item.Key); !ok || d > day {
				day, ok = d, true
			}
			break
		}
		return nil
	})
	if err != nil {
		return 0, false, fmt.Errorf("find the last signals of %s: %w", station, err)
	}
	return day, ok, nil
}

// Retention is how long signals are kept.
func (l *Log) Retention() time.Duration { return l.cfg.Retention }

// Held reports whether nothing goes by Retention now, also of what else is kept for as long.
func (l *Log) Held() bool { return l.cfg.Hold() }
