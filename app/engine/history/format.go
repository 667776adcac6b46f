package history

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"opsmon/app/instant"
	"opsmon/kv"
)

// format is the version of the encodings of detail, issues and sums, and changes with any of them. Data of another
// format is deleted when the store is opened, and recalculated as far back as signals are stored. States have their own
// version.
const format = 2

// Format is the format, for comparing versions of the program.
const Format = format

// formatKey is the only key of historyFormat.
const formatKey = "format"

var (
	formats = kv.NewBucket("historyFormat", kv.String, kv.JSON[int64]())
	losts   = kv.NewBucket("historyLost", kv.PairOf(kv.String, kv.String), kv.JSON[int64]())
)

// renew deletes data of another format. If it is interrupted, the next call continues.
func (s *Store) renew() error {
	found, fresh := int64(0), false
	err := s.cfg.Store.View(func(tx *kv.Tx) (err error) {
		found, err = formats.Get(tx, formatKey)
		if errors.Is(err, kv.ErrNotFound) {
			fresh, err = true, nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("read the format of the history: %w", err)
	}
	if !fresh && found == format {
		return nil
	}
	if !fresh {
		if err := s.dropAll(found); err != nil {
			return fmt.Errorf("drop the history of format %d: %w", found, err)
		}
	}
	return s.cfg.Store.Update(func(tx *kv.Tx) error { return formats.Put(tx, formatKey, format) })
}

// dropBatch is the number of values that one transaction of dropAll deletes.
const dropBatch = 500

// dropAll deletes detail, issues and sums, and records from when on each station needs a recalculation.
func (s *Store) dropAll(found int64) error {
	count, first := 0, int64(0)
	for _, b := range []*kv.Bucket[dayKey, []byte]{details, hours, days} {
		for more := true; more; {
			var gone []dayKey
			err := s.cfg.Store.Update(func(tx *kv.Tx) (err error) {
				gone, more, err = dropSome(tx, b)
				return err
			})
			if err != nil {
				return err
			}
			for _, k := range gone {
				if b != details || isStaging(k.B.A) {
					continue
				}
				if at := numberOf(k) * instant.DayMs; count == 0 || at < first {
					first = at
				}
				count++
			}
		}
	}
	if err := s.cfg.Store.Update(func(tx *kv.Tx) error {
		for more := true; more; {
			more = false
			for item, err := range issues.Scan(tx, kv.Range{}) {
				damaged := errors.Is(err, kv.ErrDamaged)
				if err != nil && !damaged {
					return err
				}
				if damaged && item.Key.A == "" {
					break
				}
				if err := issues.Delete(tx, item.Key); err != nil {
					return err
				}
				more = damaged // the scan ends at damaged data
			}
		}
		return nil
	}); err != nil || count == 0 {
		return err
	}
	s.cfg.Log.Warn("what stations did is kept in another form by this version: it is computed again from the signals, and days that are older than those are gone",
		slog.Int64("format", found), slog.Int("days", count), slog.Time("first", time.UnixMilli(first).UTC()), slog.Duration("signals", s.cfg.Signals))
	return nil
}

// dropSome deletes the first values of a bucket, and records lost detail; more reports whether others may remain. Data
// whose keys are unreadable because the tree is damaged remains, and is reported by the check of the store.
func dropSome(tx *kv.Tx, b *kv.Bucket[dayKey, []byte]) (gone []dayKey, more bool, err error) {
	for item, err := range b.Scan(tx, kv.Range{}) {
		damaged := errors.Is(err, kv.ErrDamaged)
		if err != nil && !damaged {
			return nil, false, err
		}
		if damaged && item.Key.A == "" {
			return gone, false, nil
		}
		if len(gone) == dropBatch {
			return gone, true, nil
		}
		if b == details && !isStaging(item.Key.B.A) { // staged data is recalculated with its station
			if err := lose(tx, item.Key.A, item.Key.B.A, numberOf(item.Key)*instant.DayMs); err != nil {
				return nil, false, err
			}
		}
		if err := b.Delete(tx, item.Key); err != nil {
			return nil, false, err
		}
		gone = append(gone, item.Key)
		if damaged {
			return gone, true, nil // the scan ends at damaged data
		}
	}
	return gone, false, nil
}

// lose records that a station's data from a moment on is lost.
func lose(tx *kv.Tx, account, station string, at int64) error {
	k := kv.Pair[string, string]{A: account, B: station}
	old, err := losts.Get(tx, k)
	if err == nil && old <= at {
		return nil
	}
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return err
	}
	return losts.Put(tx, k, at)
}

// Lost returns the moment, ms, from which a station's history must be recalculated. Errors are the store's.
func (s *Store) Lost(tx *kv.Tx, account, station string) (from int64, ok bool, err error) {
	from, err = losts.Get(tx, kv.Pair[string, string]{A: account, B: station})
	if errors.Is(err, kv.ErrNotFound) {
		return 0, false, nil
	}
	return from, err == nil, err
}

// Regained records that a station's history has been recalculated from a moment on. Errors are the store's.
func (s *Store) Regained(tx *kv.Tx, account, station string, from int64) error {
	at, ok, err := s.Lost(tx, account, station)
	if err != nil || !ok || from > at {
		return err
	}
	return losts.Delete(tx, kv.Pair[string, string]{A: account, B: station})
}
