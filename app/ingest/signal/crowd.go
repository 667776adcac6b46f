package signal

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"sync"

	"opsmon/app/instant"
	"opsmon/kv"
)

// All signals of a station with one time are read together, so their number is limited: a sender could otherwise
// exhaust the memory with millions of equal times. Signals without a time get that of their arrival, and a batch has
// at most 10,000; no machine sends twice as many in one millisecond.
const maxPerMoment = 2 * MaxBatch

// Signals are first counted by the hash of their moment, for crowdEvery ms. A moment that reaches crowdFrom signals
// is then counted individually, across restarts. A slow sender can therefore exceed the limit by fewer than crowdFrom
// signals per crowdEvery, in addition to the batches being stored when the limit is reached.
const (
	crowdEvery = 10 * instant.MinuteMs
	crowdFrom  = 200
	crowdSlots = 1 << 18 // at 50,000 signals a second, about a hundred per slot within crowdEvery
	maxCrowds  = 1 << 15 // maximum number of counted moments; beyond it those with the fewest signals are dropped
)

// momentKey is a station's millisecond: account, station, ms.
type momentKey = kv.Pair[string, kv.Pair[string, uint64]]

func momentOf(s *Signal) momentKey {
	return momentKey{A: s.Account, B: kv.Pair[string, uint64]{A: s.Station, B: uint64(s.At) ^ 1<<63}}
}

// storedCrowds has the number of stored signals of moments with many.
var storedCrowds = kv.NewBucket("signalCrowd", kv.PairOf(kv.String, kv.PairOf(kv.String, kv.Uint64)), kv.JSON[int]())

// crowds counts the stored signals by moment.
type crowds struct {
	writing sync.Mutex // held while writing to the store
	mu      sync.Mutex
	seed    maphash.Seed
	slots   []uint16
	since   int64 // start of the current interval, ms
	many    map[momentKey]int
	changed map[momentKey]bool // not written yet
}

// load reads the stored counts.
func (c *crowds) load(tx *kv.Tx) error {
	c.seed, c.slots = maphash.MakeSeed(), make([]uint16, crowdSlots)
	c.many, c.changed = map[momentKey]int{}, map[momentKey]bool{}
	for item, err := range storedCrowds.Scan(tx, kv.Range{}) {
		if err != nil {
			return err
		}
		c.many[item.Key] = item.Value
	}
	return nil
}

// isFull reports whether a moment accepts no more signals.
func (c *crowds) isFull(s *Signal) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.many) > 0 && c.many[momentOf(s)] >= maxPerMoment
}

// add counts signals stored at now (ms), except duplicates.
func (c *crowds) add(list []Signal, duplicate []bool, now int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now-c.since >= crowdEvery || now < c.since {
		clear(c.slots)
		c.since = now
	}
	for i := range list {
		if duplicate[i] {
			continue
		}
		m := momentOf(&list[i])
		if n, counted := c.many[m]; counted {
			c.many[m], c.changed[m] = n+1, true
			continue
		}
		slot := &c.slots[maphash.Comparable(c.seed, m)%crowdSlots]
		if *slot++; *slot == crowdFrom {
			c.many[m], c.changed[m] = crowdFrom, true
			*slot = 0 // for the moments that share it
		}
	}
	if len(c.many) > maxCrowds {
		c.forget()
	}
}

// forget drops the half of the moments with the fewest signals. mu must be held.
func (c *crowds) forget() {
	all := slices.SortedFunc(maps.Keys(c.many), func(a, b momentKey) int { return cmp.Compare(c.many[a], c.many[b]) })
	for _, m := range all[:len(all)/2] {
		delete(c.many, m)
		c.changed[m] = true
	}
}

// flushCrowds writes the changes. Errors are those of the store; the next call retries.
func (l *Log) flushCrowds() error {
	c := &l.crowds
	c.writing.Lock()
	defer c.writing.Unlock()
	c.mu.Lock()
	changed, counts := c.changed, map[momentKey]int{}
	for m := range changed {
		counts[m] = c.many[m] // 0: dropped
	}
	c.changed = map[momentKey]bool{}
	c.mu.Unlock()
	if len(counts) == 0 {
		return nil
	}
	err := l.cfg.Store.Update(func(tx *kv.Tx) (err error) {
		for m, n := range counts {
			if n == 0 {
				err = storedCrowds.Delete(tx, m)
			} else {
				err = storedCrowds.Put(tx, m, n)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		return nil
	}
	c.mu.Lock()
	maps.Copy(c.changed, changed)
	c.mu.Unlock()
	return fmt.Errorf("write the number of signals by time: %w", err)
}

// sweepCrowds drops the moments before a time, ms.
func (l *Log) sweepCrowds(before int64) error {
	c := &l.crowds
	c.mu.Lock()
	for m := range c.many {
		if int64(m.B.B^1<<63) < before {
			delete(c.many, m)
			c.changed[m] = true
		}
	}
	c.mu.Unlock()
	return l.flushCrowds()
}
