package signal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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

// readNext gives the next ids of several runs, in the order of their hashes; fewer than most when there are no more.
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
		for r := (kv.Range{}); ; {
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
			r = blocks.From(blockOf(next+1, 0))
		}
	})
	if err != nil {
		return err
	}
	return l.dropBlocks(ctx, slices.Compact(orphans))
}

// oldIDs are ids as they were before there were runs: the SHA-256 of account, source, station and id, and when it came, ms.
var oldIDs = kv.NewBucket(blocks.Name(), kv.Bytes32, kv.JSON[int64]())

// MigrateIDs makes a run of the ids of a store that keeps each by itself.
func MigrateIDs(tx *kv.Tx) error {
	var list []came
	for item, err := range oldIDs.Scan(tx, kv.Range{}) {
		if err != nil {
			return err
		}
		list = append(list, came{hash(item.Key[:len(hash{})]), item.Value})
		if err := oldIDs.Delete(tx, item.Key); err != nil {
			return err
		}
	}
	return putRun(tx, runOf(list)) // their order is that of the hashes
}
