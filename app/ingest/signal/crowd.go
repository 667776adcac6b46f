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

// A station's signals of one moment are read as a whole, so their number is bounded: a sender that gave millions the same time
// would exhaust the memory. Signals without a time get that of their arrival, and a batch has 10,000 at most; no machine sends
// twice as many of one millisecond.
const momentMost = 2 * MaxBatch

// Signals are first counted by the hash of their moment, for crowdEvery ms. A moment that has crowdFrom of them then is
// counted by itself from there on, through restarts. So a sender that goes about it slowly gets fewer than crowdFrom
// past the bound in each crowdEvery, besides the batches that are being stored when the bound is reached.
const (
	crowdEvery = 10 * instant.MinuteMs
	crowdFrom  = 200
	crowdSlots = 1 << 18 // within crowdEvery each has a hundred of 50,000 signals a second
	crowdsMost = 1 << 15 // moments that are counted; where there are more, those with the fewest signals are forgotten
)

// momentKey is a station's millisecond: account, station, ms.
type momentKey = kv.Pair[string, kv.Pair[string, uint64]]

func momentOf(s *Signal) momentKey {
	return momentKey{A: s.Account, B: kv.Pair[string, uint64]{A: s.Station, B: uint64(s.At) ^ 1<<63}}
}

// crowdsKept has how many signals the store has of moments with many.
var crowdsKept = kv.NewBucket("signalCrowd", kv.PairOf(kv.String, kv.PairOf(kv.String, kv.Uint64)), kv.JSON[int]())

// crowds counts what is stored of moments.
type crowds struct {
	writing sync.Mutex // held by who writes them
	mu      sync.Mutex
	seed    maphash.Seed
	slots   []uint16
	since   int64 // ms
	many    map[momentKey]int
	changed map[momentKey]bool // what is not written yet
}

// load reads the stored counts.
func (c *crowds) load(tx *kv.Tx) error {
	c.seed, c.slots = maphash.MakeSeed(), make([]uint16, crowdSlots)
	c.many, c.changed = map[momentKey]int{}, map[momentKey]bool{}
	for item, err := range crowdsKept.Scan(tx, kv.Range{}) {
		if err != nil {
			return err
		}
		c.many[item.Key] = item.Value
	}
	return nil
}

// isFull reports whether no more signals of a moment are taken.
func (c *crowds) isFull(s *Signal) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.many) > 0 && c.many[momentOf(s)] >= momentMost
}

// add counts signals that were stored at a time, ms, except those whose ids came before.
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
			*slot = 0 // for the others that share it
		}
	}
	if len(c.many) > crowdsMost {
		c.forget()
	}
}

// forget drops the half of the moments that have the fewest signals. The caller holds mu.
func (c *crowds) forget() {
	all := slices.SortedFunc(maps.Keys(c.many), func(a, b momentKey) int { return cmp.Compare(c.many[a], c.many[b]) })
	for _, m := range all[:len(all)/2] {
		delete(c.many, m)
		c.changed[m] = true
	}
}

// flushCrowds writes what has changed. Errors: the store's; it is tried again then.
func (l *Log) flushCrowds() error {
	c := &l.crowds
	c.writing.Lock()
	defer c.writing.Unlock()
	c.mu.Lock()
	changed, counts := c.changed, map[momentKey]int{}
	for m := range changed {
		counts[m] = c.many[m] // 0: forgotten
	}
	c.changed = map[momentKey]bool{}
	c.mu.Unlock()
	if len(counts) == 0 {
		return nil
	}
	err := l.cfg.Store.Update(func(tx *kv.Tx) (err error) {
		for m, n := range counts {
			if n == 0 {
				err = crowdsKept.Delete(tx, m)
			} else {
				err = crowdsKept.Put(tx, m, n)
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
	return fmt.Errorf("write how many signals have one time: %w", err)
}

// sweepCrowds forgets the moments before one, ms.
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
