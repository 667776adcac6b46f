package signal

import (
	"hash/maphash"
	"math"
	"sync"
)

// A station's signals of one moment are read as a whole, so their number is bounded: a sender that gave millions the same time
// would exhaust the memory. Signals without a time get that of their arrival, and a batch has 10,000 at most; no machine sends
// twice as many of one millisecond.
const momentMost = 2 * MaxBatch

// crowdEvery is for how long, ms, signals of a moment are counted together. A moment that was full once stays full until the
// service ends.
const crowdEvery = 10 * 60_000

// moment is a station's millisecond.
type moment struct {
	account, station string
	at               int64
}

// crowds counts what is stored of moments. The zero value is ready.
type crowds struct {
	mu     sync.Mutex
	seed   maphash.Seed
	counts []uint16 // by hash: several moments may share one, which then fill none
	since  int64    // ms
	full   map[moment]bool
}

const (
	crowdSlots = 1 << 18 // 512 KiB; within crowdEvery each has a hundred of 50,000 signals a second
	crowdsMost = 1 << 12 // each was worth momentMost signals
)

// isFull reports whether no more signals of a moment are taken.
func (c *crowds) isFull(m moment) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.full[m]
}

// add counts signals that were stored at a time, ms, but for those whose ids came before.
func (c *crowds) add(list []Signal, duplicate []bool, now int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.seed, c.counts, c.full = maphash.MakeSeed(), make([]uint16, crowdSlots), map[moment]bool{}
	}
	if now-c.since >= crowdEvery || now < c.since {
		clear(c.counts)
		c.since = now
	}
	for i := range list {
		if duplicate[i] {
			continue
		}
		m := moment{list[i].Account, list[i].Station, list[i].At}
		n := &c.counts[maphash.Comparable(c.seed, m)%crowdSlots]
		if *n < math.MaxUint16 {
			*n++
		}
		if *n >= momentMost && len(c.full) < crowdsMost {
			c.full[m] = true
			*n = 0 // whoever shares it begins anew
		}
	}
}
