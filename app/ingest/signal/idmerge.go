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
	mergeFrom  = 8      // runs of a level of the day that goes on are merged
	topLevel   = 3      // above it runs of the same level are merged into one of it
	mergePiece = 20_000 // ids that are written in one transaction
	sweepPiece = 500    // blocks that are removed in one
)

// group gives runs that are to be merged into one, and the level and the bound of the filter of that; none when all is well.
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
		return byDay[Day(runs[0].to)], topLevel, filterMostClosed
	}
	for level := range topLevel + 1 {
		if len(byLevel[level]) >= mergeFrom {
			return byLevel[level], min(level+1, topLevel), filterMost
		}
	}
	return nil, 0, 0
}

// mergeIDs merges runs until there are few. Errors: the store's, ctx's.
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

// mergeRuns writes a run that has what some have, but for ids that have served, in their place. Their blocks stay, for who looks
// into them. A run that is half written is none, and is removed by sweepOrphans.
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
		var ids []came
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
			if err := runsKept.Delete(tx, r.number); err != nil {
				return err
			}
		}
		return w.putAll(tx)
	})
}

// readNext returns the next ids of several runs, in the order of their hashes; fewer than most when there are no more.
func readNext(tx *kv.Tx, readers []*runReader, most int) (ids []came, err error) {
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

// dropBlocks removes the blocks of runs that are none any more. Errors: the store's, ctx's.
func (l *Log) dropBlocks(ctx context.Context, runs []uint64) error {
	for _, number := range runs {
		for more := true; more; {
			if err := ctx.Err(); err != nil {
				return err // sweepOrphans goes on at the next start
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

// sweepIDs removes the runs whose ids all came before a moment, ms. Errors: the store's, ctx's.
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
			err = errors.Join(err, runsKept.Delete(tx, r.number))
		}
		return err
	}); err != nil {
		return err
	}
	l.ids.exchange(old, nil)
	return l.dropBlocks(ctx, numbers(old))
}

// sweepOrphans removes blocks that are of no run: what the end of the service left half done.
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
			if next == 0 { // numbers begin with 1
				return nil
			}
			if !runsKept.Has(tx, next) {
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

// oldIDs are ids as they were before there were runs, in the bucket that has the blocks now: the SHA-256 of account,
// source, station and id, and when it came, ms.
var oldIDs = kv.NewBucket(blocks.Name(), kv.Bytes32, kv.JSON[int64]())

// oldFrom is above the keys of all blocks: the numbers of runs stay below 2^48.
var oldFrom = [32]byte{1: 1}

// allBlocks leaves out old ids.
func allBlocks() kv.Range { return blocks.Between(blockOf(0, 0), blockOf(1<<48, 0)) }

// movePiece is how many old ids are moved in one transaction.
const movePiece = 20_000

// MigrateIDs prepares a store that keeps each id by itself: it makes runs of the few old ids whose keys could be taken
// for those of blocks. The others, which may be millions, are moved by moveOldIDs while the service runs.
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

// readOld returns old ids of a range, at most so many, in the order of their hashes.
func readOld(tx *kv.Tx, r kv.Range, most int) (list []came, keys [][32]byte, err error) {
	for item, err := range oldIDs.Scan(tx, r) {
		if err != nil {
			return nil, nil, err
		}
		list, keys = append(list, came{hash(item.Key[:len(hash{})]), item.Value}), append(keys, item.Key)
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

// runsOf makes a run for each UTC day of ids, which are in the order of their hashes: those of a day are merged when
// it is over.
func runsOf(list []came) (runs []*runWriter) {
	byDay := map[int64][]came{}
	for _, id := range list {
		byDay[Day(id.at)] = append(byDay[Day(id.at)], id)
	}
	for _, day := range slices.Sorted(maps.Keys(byDay)) {
		runs = append(runs, runOf(byDay[day]))
	}
	return runs
}

// lookUpOld returns when the id of a signal came, ms, if it is an old one.
func lookUpOld(tx *kv.Tx, s *Signal) (at int64, found bool, err error) {
	at, err = oldIDs.Get(tx, sumOf(s))
	if errors.Is(err, kv.ErrNotFound) {
		return 0, false, nil
	}
	return at, err == nil, err
}

// moveOldIDs makes runs of old ids until there are no more, and drops those that have served. Errors: the store's,
// ctx's.
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

// moveSomeOld is moveOldIDs for so many.
func (l *Log) moveSomeOld(most int) error {
	l.ids.merging.Lock()
	defer l.ids.merging.Unlock()
	var list []came
	var keys [][32]byte
	if err := l.cfg.Store.View(func(tx *kv.Tx) (err error) {
		list, keys, err = readOld(tx, oldIDs.From(oldFrom), most)
		return err
	}); err != nil {
		return err
	}
	served := l.cfg.Clock().UnixMilli() - idMemory.Milliseconds()
	list = slices.DeleteFunc(list, func(id came) bool { return id.at <= served })
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
	// Whoever looks an id up meanwhile has the runs, and finds it there or where it was.
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
