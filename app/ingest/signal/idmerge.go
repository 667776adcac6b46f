package signal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"opsmon/kv"
)

const (
	mergeFrom  = 8      // number of runs of one level that are merged during a day
	topLevel   = 3      // above it, runs are merged into one of the same level
	mergePiece = 20_000 // ids per transaction
	sweepPiece = 500    // blocks that one transaction removes
)

// group returns runs to merge into one, and that run's level and maximum filter size; none if no merge is due.
func (m *memory) group(today int64) (runs []*run, level, filterBytes int) {
	byDay, byLevel := map[int64][]*run{}, map[int][]*run{}
	for _, r := range m.list() {
		if day := Day(r.to); day < today {
			if byDay[day] = append(byDay[day], r); len(byDay[day]) > 1 {
				runs = byDay[day]
			}
			continue
		}
		byLevel[r.level] = append(byLevel[r.level], r)
	}
	if runs != nil {
		return byDay[Day(runs[0].to)], topLevel, maxFilterClosed
	}
	for level := range topLevel + 1 {
		if len(byLevel[level]) >= mergeFrom {
			return byLevel[level], min(level+1, topLevel), maxFilter
		}
	}
	return nil, 0, 0
}

// mergeIDs merges runs until there are few. Errors: those of the store and ctx.
func (l *Log) mergeIDs(ctx context.Context) error {
	l.ids.merging.Lock()
	defer l.ids.merging.Unlock()
	for {
		runs, level, filterBytes := l.ids.group(Day(l.cfg.Clock().UnixMilli()))
		if runs == nil {
			return nil
		}
		merged, err := l.mergeRuns(ctx, runs, level, filterBytes)
		if err != nil {
			return fmt.Errorf("merge ids of signals: %w", err)
		}
		l.ids.exchange(runs, merged)
		if err := l.dropBlocks(ctx, numbers(runs)); err != nil {
			return err
		}
	}
}

// mergeRuns replaces some runs by one run without their expired ids. The old blocks remain for current readers. An
// incomplete new run is not registered, and sweepOrphans removes it.
func (l *Log) mergeRuns(ctx context.Context, runs []*run, level, filterBytes int) ([]*run, error) {
	served := l.cfg.Clock().UnixMilli() - idMemory.Milliseconds()
	var readers []*runReader
	from, to, total := runs[0].from, runs[0].to, 0
	for _, r := range runs {
		readers = append(readers, &runReader{run: r})
		from, to, total = min(from, r.from), max(to, r.to), total+r.count
	}
	w := newRun(level, max(from, min(served, to)), to, total, filterBytes)
	if err := l.cfg.Store.Update(func(tx *kv.Tx) (err error) {
		w.number, err = blocks.Next(tx)
		return err
	}); err != nil {
		return nil, err
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var ids []arrivedID
		if err := l.cfg.Store.View(func(tx *kv.Tx) (err error) {
			ids, err = readNext(tx, readers, mergePiece)
			return err
		}); err != nil {
			return nil, err
		}
		for i := range ids {
			if ids[i].at > served {
				w.add(ids[i])
			}
		}
		if len(ids) < mergePiece {
			break
		}
		if err := l.cfg.Store.Update(w.put); err != nil {
			return nil, err
		}
		w.made = nil
	}
	w.flush()
	return []*run{w.run}, l.cfg.Store.Update(func(tx *kv.Tx) error {
		for _, r := range runs {
			if err := storedRuns.Delete(tx, r.number); err != nil {
				return err
			}
		}
		return w.putAll(tx)
	})
}

// readNext returns the next ids of several runs, ordered by hash; fewer than most at the end.
func readNext(tx *kv.Tx, readers []*runReader, most int) (ids []arrivedID, err error) {
	for len(ids) < most {
		var first *runReader
		for _, r := range readers {
			ok, err := r.fill(tx)
			if err != nil {
				return nil, err
			}
			if ok && (first == nil || bytes.Compare(r.ids[0].hash[:], first.ids[0].hash[:]) < 0) {
				first = r
			}
		}
		if first == nil {
			return ids, nil
		}
		ids, first.ids = append(ids, first.ids[0]), first.ids[1:]
	}
	return ids, nil
}

func numbers(runs []*run) (list []uint64) {
	for _, r := range runs {
		list = append(list, r.number)
	}
	return list
}

// dropBlocks removes the blocks of unregistered runs. Errors: those of the store and ctx.
func (l *Log) dropBlocks(ctx context.Context, runs []uint64) error {
	for _, number := range runs {
		for more := true; more; {
			if err := ctx.Err(); err != nil {
				return err // sweepOrphans continues after the next start
			}
			if err := l.cfg.Store.Update(func(tx *kv.Tx) error {
				n := 0
				for item, err := range blocks.Scan(tx, blocks.Between(blockOf(number, 0), blockOf(number+1, 0))) {
					if err != nil {
						return err
					}
					if n++; n > sweepPiece {
						break
					}
					if err := blocks.Delete(tx, item.Key); err != nil {
						return err
					}
				}
				more = n > sweepPiece
				return nil
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// sweepIDs removes the runs whose ids all arrived before a time, ms. Errors: those of the store and ctx.
func (l *Log) sweepIDs(ctx context.Context, before int64) error {
	l.ids.merging.Lock()
	defer l.ids.merging.Unlock()
	var old []*run
	for _, r := range l.ids.list() {
		if r.to < before {
			old = append(old, r)
		}
	}
	if len(old) == 0 {
		return nil
	}
	if err := l.cfg.Store.Update(func(tx *kv.Tx) (err error) {
		for _, r := range old {
			err = errors.Join(err, storedRuns.Delete(tx, r.number))
		}
		return err
	}); err != nil {
		return err
	}
	l.ids.exchange(old, nil)
	return l.dropBlocks(ctx, numbers(old))
}

// sweepOrphans removes blocks without a run, which an interrupted merge has left.
func (l *Log) sweepOrphans(ctx context.Context) error {
	l.ids.merging.Lock()
	defer l.ids.merging.Unlock()
	var orphans []uint64
	err := l.cfg.Store.View(func(tx *kv.Tx) error {
		for r := allBlocks(); ; {
			next := uint64(0)
			for item, err := range blocks.Scan(tx, r) {
				if err != nil {
					return err
				}
				next = item.Key.A
				break
			}
			if next == 0 { // numbers start at 1
				return nil
			}
			if !storedRuns.Has(tx, next) {
				orphans = append(orphans, next)
			}
			r = blocks.Between(blockOf(next+1, 0), blockOf(1<<48, 0))
		}
	})
	if err != nil {
		return err
	}
	return l.dropBlocks(ctx, slices.Compact(orphans))
}

// oldIDs are ids in the former format, without runs, in the bucket that now has the blocks: the SHA-256 of account,
// source, station and id, and the arrival, ms.
var oldIDs = kv.NewBucket(blocks.Name(), kv.Bytes32, kv.JSON[int64]())

// oldFrom is above the keys of all blocks: numbers of runs are below 2^48.
var oldFrom = [32]byte{1: 1}

// allBlocks returns the range without old ids.
func allBlocks() kv.Range { return blocks.Between(blockOf(0, 0), blockOf(1<<48, 0)) }

// movePiece is the number of old ids moved per transaction.
const movePiece = 20_000

// MigrateIDs migrates a store with individual ids: it moves the few old ids whose keys could be confused with those
// of blocks into runs. moveOldIDs moves the others, possibly millions, while the service is running.
func MigrateIDs(tx *kv.Tx) error {
	list, keys, err := readOld(tx, oldIDs.Between([32]byte{}, oldFrom), math.MaxInt)
	if err != nil {
		return err
	}
	if err := deleteOld(tx, keys); err != nil {
		return err
	}
	for _, w := range runsOf(list) {
		if err := putRun(tx, w); err != nil {
			return err
		}
	}
	return nil
}

// readOld returns at most most old ids of a range, ordered by hash.
func readOld(tx *kv.Tx, r kv.Range, most int) (list []arrivedID, keys [][32]byte, err error) {
	for item, err := range oldIDs.Scan(tx, r) {
		if err != nil {
			return nil, nil, err
		}
		list, keys = append(list, arrivedID{hash(item.Key[:len(hash{})]), item.Value}), append(keys, item.Key)
		if len(list) == most {
			break
		}
	}
	return list, keys, nil
}

func deleteOld(tx *kv.Tx, keys [][32]byte) error {
	for _, k := range keys {
		if err := oldIDs.Delete(tx, k); err != nil {
			return err
		}
	}
	return nil
}

// runsOf returns one run per UTC day for ids ordered by hash: runs of a day are merged when the day is over.
func runsOf(list []arrivedID) (runs []*runWriter) {
	byDay := map[int64][]arrivedID{}
	for _, id := range list {
		byDay[Day(id.at)] = append(byDay[Day(id.at)], id)
	}
	for _, day := range slices.Sorted(maps.Keys(byDay)) {
		runs = append(runs, runOf(byDay[day]))
	}
	return runs
}

// lookUpOld returns the arrival of an old id, ms, if the signal's id is one.
func lookUpOld(tx *kv.Tx, s *Signal) (at int64, found bool, err error) {
	at, err = oldIDs.Get(tx, sumOf(s))
	if errors.Is(err, kv.ErrNotFound) {
		return 0, false, nil
	}
	return at, err == nil, err
}

// moveOldIDs moves old ids into runs until none remain, and drops expired ones. Errors: those of the store and ctx.
func (l *Log) moveOldIDs(ctx context.Context) error {
	for l.ids.hasOld() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := l.moveSomeOld(movePiece); err != nil {
			return fmt.Errorf("move ids of signals: %w", err)
		}
	}
	return nil
}

// moveSomeOld is moveOldIDs for at most most ids.
func (l *Log) moveSomeOld(most int) error {
	l.ids.merging.Lock()
	defer l.ids.merging.Unlock()
	var list []arrivedID
	var keys [][32]byte
	if err := l.cfg.Store.View(func(tx *kv.Tx) (err error) {
		list, keys, err = readOld(tx, oldIDs.From(oldFrom), most)
		return err
	}); err != nil {
		return err
	}
	served := l.cfg.Clock().UnixMilli() - idMemory.Milliseconds()
	list = slices.DeleteFunc(list, func(id arrivedID) bool { return id.at <= served })
	writers := runsOf(list)
	if err := l.cfg.Store.Update(func(tx *kv.Tx) (err error) {
		for _, w := range writers {
			if w.number, err = blocks.Next(tx); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	var runs []*run
	for _, w := range writers {
		runs = append(runs, w.run)
	}
	// A concurrent lookup uses these runs, and finds the id there or in its old place.
	l.ids.exchange(nil, runs)
	if err := l.cfg.Store.Update(func(tx *kv.Tx) error {
		for _, w := range writers {
			if err := w.putAll(tx); err != nil {
				return err
			}
		}
		return deleteOld(tx, keys)
	}); err != nil {
		l.ids.exchange(runs, nil)
		return err
	}
	if len(keys) < most {
		l.ids.mu.Lock()
		l.ids.old = false
		l.ids.mu.Unlock()
	}
	return nil
}
