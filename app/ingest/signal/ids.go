package signal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
	"sync"

	"opsmon/kv"
)

// An id is identified by 96 bits of a SHA-256, which makes collisions practically impossible. Pack writes the ids of
// the packed signals as a run: blocks of ids ordered by hash, with the arrival of each. Runs of a UTC day are merged,
// eight of one level into one of the next, and into a single run when the day is over; after seven days a run is
// removed as a whole. A plant of any size therefore has about 35 runs, ids are written sequentially, and expired ones
// are removed without a search.
//
// Only a run's filter is in memory; it excludes nearly all ids that the run does not have, and the others are looked
// up in one block of the run. A filter has ten bits per id up to its maximum size. A plant of a thousand stations
// with an id every five seconds (17 million a day) reaches that size, and looks up each id in about three runs.

// hash identifies an id with its account, source and station.
type hash [12]byte

// hashOf returns the hash of a signal with an id.
func hashOf(s *Signal) hash {
	sum := sumOf(s)
	return hash(sum[:len(hash{})])
}

func sumOf(s *Signal) [sha256.Size]byte {
	b := make([]byte, 0, 256)
	for _, text := range [...]string{s.Account, s.Source, s.Station, s.ID} {
		b = append(binary.BigEndian.AppendUint64(b, uint64(len(text))), text...)
	}
	return sha256.Sum256(b)
}

// arrivedID is an id and its arrival, ms.
type arrivedID struct {
	hash
	at int64
}

func compareHashes(a, b arrivedID) int { return bytes.Compare(a.hash[:], b.hash[:]) }

// memory is the state of ids in memory.
type memory struct {
	mu     sync.Mutex
	recent map[hash]int64  // arrivals of the ids in the tail, ms
	claims map[hash]*claim // ids that are being stored
	runs   []*run          // replaced, never modified
	old    bool            // the store may have ids in the former format

	merging sync.Mutex    // held while merging and removing runs
	packed  chan struct{} // notified of new runs
}

// claim is the ids of a batch that is being stored.
type claim struct {
	ids  []arrivedID
	done chan struct{} // closed when the outcome is known
}

// claim finds the signals of a batch whose id is a duplicate, and claims the ids of the others until settleClaim is
// called. If an id is already claimed, it waits for the outcome.
func (l *Log) claim(list []Signal, duplicate []bool) (*claim, error) {
	if !slices.ContainsFunc(list, func(s Signal) bool { return s.ID != "" }) {
		return nil, nil
	}
	hashes := make([]hash, len(list))
	for i := range list {
		if list[i].ID != "" {
			hashes[i] = hashOf(&list[i])
		}
	}
	c := &claim{done: make(chan struct{})}
	for {
		other, err := l.tryClaim(c, list, hashes, duplicate)
		if other == nil {
			return c, err
		}
		<-other.done
		clear(duplicate)
		c.ids = c.ids[:0]
	}
}

// tryClaim is claim without waiting: other is the claim to wait for.
func (l *Log) tryClaim(c *claim, list []Signal, hashes []hash, duplicate []bool) (other *claim, err error) {
	now, m := l.cfg.Clock().UnixMilli(), &l.ids
	served := now - idMemory.Milliseconds()
	m.mu.Lock()
	release := sync.OnceFunc(m.mu.Unlock)
	defer release()
	places := make([]int, 0, len(list)) // indices of the claimed signals
	mine := make(map[hash]bool, len(list))
	for i := range list {
		h := hashes[i]
		switch at, known := m.recent[h]; {
		case list[i].ID == "":
		case m.claims[h] != nil:
			return m.claims[h], nil
		case mine[h] || known && at > served:
			duplicate[i] = true
		default:
			mine[h] = true
			c.ids, places = append(c.ids, arrivedID{h, now}), append(places, i)
		}
	}
	for _, id := range c.ids {
		m.claims[id.hash] = c
	}
	runs, old := m.runs, m.old
	if len(runs) == 0 && !old || len(c.ids) == 0 {
		return nil, nil
	}
	err = l.cfg.Store.View(func(tx *kv.Tx) error {
		release() // the blocks of these runs cannot be removed from here on
		kept := c.ids[:0]
		for n, id := range c.ids {
			at, found, err := lookUp(tx, runs, id.hash)
			if old && !found && err == nil {
				at, found, err = lookUpOld(tx, &list[places[n]])
			}
			if err != nil {
				return err
			}
			if duplicate[places[n]] = found && at > served; !duplicate[places[n]] {
				kept = append(kept, id)
				continue
			}
			m.mu.Lock()
			delete(m.claims, id.hash)
			m.mu.Unlock()
		}
		c.ids = kept
		return nil
	})
	if release(); err != nil {
		l.settleClaim(c, false)
	}
	return nil, err
}

// settleClaim ends a claim; stored reports whether the signals were stored.
func (l *Log) settleClaim(c *claim, stored bool) {
	if c == nil {
		return
	}
	m := &l.ids
	m.mu.Lock()
	for _, id := range c.ids {
		if delete(m.claims, id.hash); stored {
			m.recent[id.hash] = id.at
		}
	}
	m.mu.Unlock()
	close(c.done)
}

// idsOf returns the hashes of the ids in some batches of the tail, and those to store: ordered by hash, without
// duplicates and expired ones.
func (l *Log) idsOf(batches map[uint64]bool) (all []hash, kept []arrivedID) {
	var of []*Signal
	l.mu.RLock()
	for _, list := range l.last {
		for _, s := range *list {
			if s.ID != "" && batches[s.batch] {
				of = append(of, s.Signal)
			}
		}
	}
	l.mu.RUnlock()
	for _, s := range of {
		all = append(all, hashOf(s))
	}
	served := l.cfg.Clock().UnixMilli() - idMemory.Milliseconds()
	l.ids.mu.Lock()
	for _, h := range all {
		if at, known := l.ids.recent[h]; known && at > served {
			kept = append(kept, arrivedID{h, at})
		}
	}
	l.ids.mu.Unlock()
	slices.SortFunc(kept, compareHashes)
	return all, slices.CompactFunc(kept, func(a, b arrivedID) bool { return a.hash == b.hash })
}

// moved records that ids of the tail are now in a run; nil if none had to be stored.
func (l *Log) moved(all []hash, w *runWriter) {
	m := &l.ids
	m.mu.Lock()
	for _, h := range all {
		delete(m.recent, h)
	}
	if w != nil {
		m.runs = append(slices.Clip(m.runs), w.run)
	}
	m.mu.Unlock()
	if w != nil {
		select {
		case m.packed <- struct{}{}:
		default: // already notified
		}
	}
}

// exchange replaces runs.
func (m *memory) exchange(old, with []*run) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.runs = append(slices.DeleteFunc(slices.Clone(m.runs), func(r *run) bool { return slices.Contains(old, r) }), with...)
}

// hasOld reports whether the store may have ids in the former format.
func (m *memory) hasOld() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.old
}

// list returns the current runs.
func (m *memory) list() []*run {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.runs
}

// loadIDs reads the runs. The tail must be loaded.
func (l *Log) loadIDs(tx *kv.Tx) error {
	for item, err := range storedRuns.Scan(tx, kv.Range{}) {
		if err != nil {
			return err
		}
		r, err := openRun(item.Key, item.Value)
		if err != nil {
			return err
		}
		l.ids.runs = append(l.ids.runs, r)
	}
	_, old, err := oldIDs.First(tx, oldIDs.From(oldFrom))
	if err != nil {
		return err
	}
	l.ids.old = old
	for _, of := range l.last {
		for _, s := range *of {
			if s.ID != "" {
				l.ids.recent[hashOf(s.Signal)] = s.Arrived
			}
		}
	}
	return nil
}

// keepIDs moves old ids into runs, merges runs and removes obsolete ones, until ctx ends.
func (l *Log) keepIDs(ctx context.Context) {
	for left := true; ; { // by an earlier process
		err := l.tidyIDs(ctx, left)
		if left = err != nil; left && ctx.Err() == nil {
			l.cfg.Log.Error("merging ids of signals failed; will retry", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-l.ids.packed:
		}
	}
}

// tidyIDs moves old ids into runs and merges runs. If an earlier merge may have left blocks, it first removes them:
// otherwise each retry would use more space of a full disk.
func (l *Log) tidyIDs(ctx context.Context, left bool) error {
	if left {
		if err := l.sweepOrphans(ctx); err != nil {
			return err
		}
	}
	if err := l.moveOldIDs(ctx); err != nil {
		return err
	}
	err := l.mergeIDs(ctx)
	if err != nil && ctx.Err() == nil {
		err = errors.Join(err, l.sweepOrphans(ctx)) // immediately, because others may need the space
	}
	return err
}
