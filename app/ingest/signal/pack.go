package signal

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"opsmon/app/instant"
	"opsmon/kv"
)

// dayPart is the station and day of a part.
type dayPart struct {
	place
	day int64
}

// maxPart is the maximum number of signals in a part, which is read as a whole. Parts of merged days have at most
// maxMergedPart bytes, some two million signals. Each part is read once for each merged part that overlaps it in time:
// mergeReads limits the number of signals read per day.
const (
	maxPart       = 50_000
	maxMergedPart = 8 << 20
	mergeReads    = 8_000_000
)

var (
	errMuch = errors.New("the day takes too long to merge")
	errLong = errors.New("the tail is long")
)

// Pack moves the tail to parts. Errors are those of the store; after an error the signals remain in the tail.
func (l *Log) Pack() error {
	l.packing.Lock()
	defer l.packing.Unlock()
	packed, batches := l.packTail()
	if len(packed) == 0 {
		return nil
	}
	ids, kept := l.idsOf(batches)
	run := runOf(kept)
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.cfg.Store.Update(func(tx *kv.Tx) error {
		if err := putRun(tx, run); err != nil {
			return err
		}
		for k, list := range packed {
			for _, b := range list {
				if err := addPart(tx, k, b); err != nil {
					return err
				}
			}
		}
		for batch := range batches {
			if err := tail.Delete(tx, batch); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("pack signals: %w", err)
	}
	l.moved(ids, run)
	for at, of := range l.last {
		all := len(*of)
		*of = slices.DeleteFunc(*of, func(s tailed) bool {
			if batches[s.batch] {
				l.leaves(s.Signal)
			}
			return batches[s.batch]
		})
		l.size.Add(int64(len(*of) - all))
		if len(*of) == 0 {
			delete(l.last, at)
		}
	}
	return nil
}

// leaves counts a signal that has left the tail. mu must be held.
func (l *Log) leaves(s *Signal) {
	k := senderKey{A: s.Account, B: s.Source}
	if l.from[k]--; l.from[k] == 0 {
		delete(l.from, k)
	}
}

// packTail returns the tail packed into parts, and the numbers of its batches in memory. A stored batch that is not
// in memory yet waits for the next call.
func (l *Log) packTail() (packed map[dayPart][][]byte, batches map[uint64]bool) {
	packed, batches = map[dayPart][][]byte{}, map[uint64]bool{}
	stations := map[place][]tailed{}
	l.mu.RLock()
	for at, of := range l.last {
		stations[at] = slices.Clone(*of)
	}
	l.mu.RUnlock()
	var list []Signal // the signals of one day; reused
	for at, of := range stations {
		// by time first, so those of a day are adjacent
		slices.SortFunc(of, func(a, b tailed) int { return Compare(a.Signal, b.Signal) })
		for i, s := range of {
			batches[s.batch] = true
			list = append(list, *s.Signal)
			if day := Day(s.At); i == len(of)-1 || Day(of[i+1].At) != day || len(list) == maxPart {
				k := dayPart{at, day}
				packed[k] = append(packed[k], pack(list, true))
				list = list[:0]
			}
		}
	}
	return packed, batches
}

// addPart adds a part to a day.
func addPart(tx *kv.Tx, k dayPart, packed []byte) error {
	next, err := nextPart(tx, k.account, k.station, k.day)
	if err != nil {
		return err
	}
	if err := parts.Put(tx, partOf(k.account, k.station, k.day, next), packed); err != nil || next == 0 {
		return err
	}
	return open.Put(tx, openOf(k.account, k.station, k.day), nil)
}

func nextPart(tx *kv.Tx, account, station string, day int64) (uint64, error) {
	for item, err := range parts.ScanDown(tx, parts.Between(partOf(account, station, day, 0), partOf(account, station, day+1, 0))) {
		return item.Key.B.B.B + 1, err
	}
	return 0, nil
}

type openKey = kv.Pair[string, kv.Pair[string, uint64]]

func openOf(account, station string, day int64) openKey {
	return openKey{A: account, B: kv.Pair[string, uint64]{A: station, B: uint64(day) ^ 1<<63}}
}

// Merge merges the parts of each day before the given one. A day waits for the next call if the tail, which is packed
// during the merge, becomes long twice. Errors: those of the store and ctx.
func (l *Log) Merge(ctx context.Context, before int64) error {
	var days []openKey
	err := l.cfg.Store.View(func(tx *kv.Tx) error {
		for item, err := range open.Scan(tx, kv.Range{}) {
			if err != nil {
				return err
			}
			if int64(item.Key.B.B^1<<63) < before {
				days = append(days, item.Key)
			}
		}
		return nil
	})
	for _, k := range days {
		for range 2 {
			if err == nil && l.Tail() >= longTail {
				err = l.Pack()
			}
			if err == nil {
				err = l.merge(ctx, k)
			}
			if !errors.Is(err, errLong) {
				break
			}
			err = nil
		}
		if err != nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("merge signals: %w", err)
	}
	return nil
}

// merge merges one day's parts into parts of at most maxPart signals; a day with very many signals is not merged.
// Only the holder of packing changes parts, so they are read outside of the transaction. Errors: errLong, those of
// the store and ctx.
func (l *Log) merge(ctx context.Context, k openKey) error {
	l.packing.Lock()
	defer l.packing.Unlock()
	left := l.mergeReads
	keys, joined, err := l.join(k, func(read, list int) error {
		if left -= read; left < 0 || list > 2*maxPart { // all with one time
			return errMuch
		}
		if l.Tail() >= longTail {
			return errLong
		}
		return ctx.Err()
	})
	if err != nil && !errors.Is(err, errMuch) {
		return err
	}
	return l.cfg.Store.Update(func(tx *kv.Tx) error {
		if err == nil && len(joined) > 0 {
			if err := exchangeParts(tx, keys, joined); err != nil {
				return err
			}
		}
		return open.Delete(tx, k)
	})
}

// join returns the keys of a day's parts and the merged parts. It calls ok after each part with the number of its
// signals and the number in memory. Errors: those of ok, errMuch, those of the store.
func (l *Log) join(k openKey, ok func(read, list int) error) (keys []partKey, joined [][]byte, err error) {
	account, station, day := k.A, k.B.A, int64(k.B.B^1<<63)
	err = l.cfg.Store.View(func(tx *kv.Tx) error {
		bytes := 0
		for item, err := range parts.Scan(tx, parts.Between(partOf(account, station, day, 0), partOf(account, station, day+1, 0))) {
			if err != nil {
				return err
			}
			bytes, keys = bytes+len(item.Value), append(keys, item.Key)
		}
		if bytes > maxMergedPart {
			return errMuch
		}
		for from, end := day*instant.DayMs, (day+1)*instant.DayMs; from < end && len(keys) > 0; {
			r := reading{from: from, end: end, most: maxPart, sorted: true, ok: ok}
			if err := r.parts(tx, account, station); err != nil {
				return err
			}
			if from = r.end; len(r.list) > 0 {
				Sort(r.list)
				joined = append(joined, pack(r.list, true))
			}
		}
		return nil
	})
	return keys, joined, err
}

// exchangeParts replaces a day's parts. It reuses the first keys, so numbers of a day's parts never have a gap below
// them.
func exchangeParts(tx *kv.Tx, keys []partKey, parted [][]byte) error {
	for i, packed := range parted {
		k := keys[len(keys)-1]
		if k.B.B.B += uint64(i - len(keys) + 1); i < len(keys) {
			k = keys[i]
		}
		if err := parts.Put(tx, k, packed); err != nil {
			return err
		}
	}
	for _, gone := range keys[min(len(parted), len(keys)):] {
		if err := parts.Delete(tx, gone); err != nil {
			return err
		}
	}
	return nil
}

// Sweep removes expired ids, and signals and senders beyond the retention: the parts of days that ended before, and
// senders that have sent nothing since. Errors: those of the store and ctx.
func (l *Log) Sweep(ctx context.Context) error {
	now := l.cfg.Clock()
	if err := l.sweepIDs(ctx, now.Add(-idMemory).UnixMilli()); err != nil {
		return fmt.Errorf("remove old ids of signals: %w", err)
	}
	l.packing.Lock()
	defer l.packing.Unlock()
	first := Day(now.Add(-l.cfg.Retention).UnixMilli())
	if err := l.noteSwept(first*instant.DayMs, false); err != nil {
		return fmt.Errorf("store the time before which signals are removed: %w", err)
	}
	if err := l.sweepParts(ctx, first); err != nil {
		return fmt.Errorf("remove old signals: %w", err)
	}
	if err := l.sweepCrowds(now.Add(-l.cfg.Retention).UnixMilli()); err != nil {
		return fmt.Errorf("remove old times with many signals: %w", err)
	}
	if err := l.sweepSenders(ctx, now.Add(-l.cfg.Retention).UnixMilli()); err != nil {
		return fmt.Errorf("remove senders of long ago: %w", err)
	}
	return nil
}

// sweepParts removes days before the first one to retain.
func (l *Log) sweepParts(ctx context.Context, first int64) error {
	_, err := parts.Sweep(ctx, l.cfg.Store, kv.Sweeper[partKey]{
		Keep: func(k partKey) bool { return dayOf(k) >= first },
		Next: func(k partKey) partKey { return partOf(k.A, k.B.A+"\x00", math.MinInt64, 0) },
		Remove: func(tx *kv.Tx, k partKey) error {
			return errors.Join(parts.Delete(tx, k), open.Delete(tx, openOf(k.A, k.B.A, dayOf(k))))
		},
	})
	return err
}

// sweptKey is the only key of its bucket.
const sweptKey = "log"

// noteSwept stores that signals before a time, ms, are removed; back allows an earlier time than the stored one.
// packing must be held.
func (l *Log) noteSwept(at int64, back bool) error {
	if was := l.swept.Load(); at == was || at < was && !back {
		return nil
	}
	if err := l.cfg.Store.Update(func(tx *kv.Tx) error { return swept.Put(tx, sweptKey, at) }); err != nil {
		return err
	}
	l.swept.Store(at)
	return nil
}

func (l *Log) loadSwept(tx *kv.Tx) error {
	at, err := swept.Get(tx, sweptKey)
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return err
	}
	l.swept.Store(at)
	return nil
}

// Swept returns the time before which signals have been removed because of their age, ms; 0 if none. Earlier figures
// cannot be calculated again.
func (l *Log) Swept() int64 { return l.swept.Load() }

// SweptToday records that the clock is correct although signals of later days have been removed: only those from
// today on are complete. Errors: those of the store.
func (l *Log) SweptToday() error {
	l.packing.Lock()
	defer l.packing.Unlock()
	return l.noteSwept(Day(l.cfg.Clock().UnixMilli())*instant.DayMs, true)
}
