package signal

import (
	"errors"
	"fmt"
	"math"
	"time"

	"opsmon/kv"
)

// Settle records, in the transaction, that the results of an account's signals before a time, ms, are stored. From
// then on, a signal of an earlier time marks its station as late, in the transaction that stores the signal, so none
// is lost. all is false, and nothing is recorded, while some stored signals have not been passed to Appended. Settle
// never moves the time back: results of some stations may be stored up to a later time (SettleSome).
func (l *Log) Settle(tx *kv.Tx, account string, to int64) (all bool, err error) {
	if all, err = l.AllDelivered(tx); err != nil || !all {
		return false, err
	}
	_, _, err = l.SettleSome(tx, account, to)
	return true, err
}

// Unsettle moves the settled time back to a time, ms, after a clock was ahead. The same transaction must mark the
// later results to be calculated again.
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

// SettleSome is Settle for results of some stations that are stored up to a later time than the settled one: it
// records the time even if some signals have not been passed to Appended. before is the previously settled time, ms, or the
// minimum. If all is false, the results may lack an unmarked signal of that time or later. The caller must then mark
// such signals as late itself.
func (l *Log) SettleSome(tx *kv.Tx, account string, to int64) (before int64, all bool, err error) {
	if all, err = l.AllDelivered(tx); err != nil {
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

// AllDelivered reports, in the transaction, whether every stored signal has been passed to Appended.
func (l *Log) AllDelivered(tx *kv.Tx) (bool, error) {
	last, err := tail.Last(tx)
	return last == l.opened+l.told.Load(), err
}

type lateKey = kv.Pair[string, string]

// markLate marks the stations of signals that are stored after their time was settled.
func markLate(tx *kv.Tx, list []Signal) error {
	account, upTo := "", int64(math.MinInt64)
	earliest := map[lateKey]int64{} // one mark per station
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

// Late returns the time, ms, of the earliest signal of a station that was stored after its time was settled.
func Late(tx *kv.Tx, account, station string) (at int64, ok bool, err error) {
	at, err = late.Get(tx, lateKey{A: account, B: station})
	if errors.Is(err, kv.ErrNotFound) {
		return 0, false, nil
	}
	return at, err == nil, err
}

// ClearLate removes a station's mark: its late signals have been evaluated, and the results are stored in this
// transaction.
func ClearLate(tx *kv.Tx, account, station string) error {
	if k := (lateKey{A: account, B: station}); late.Has(tx, k) {
		return late.Delete(tx, k)
	}
	return nil
}

// First returns the earliest UTC day with signals of a station; ok is false if there are none.
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

// LastArrival returns the time, ms, of the last arrival of an account's signals, according to the tail and the
// settled time; 0 if unknown.
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

// Last returns the latest UTC day with signals of a station; ok is false if there are none.
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

// Retention returns how long signals are retained.
func (l *Log) Retention() time.Duration { return l.cfg.Retention }
