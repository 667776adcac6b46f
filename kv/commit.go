package kv

import (
	"runtime/debug"
	"sync"
	"time"

	"go.etcd.io/bbolt"
)

// maxBatch caps how many functions share one commit, so that the first of them does not wait too long.
const maxBatch = 256

// group gathers the functions that wait for a commit.
type group struct {
	mu      sync.Mutex
	queue   []*call
	leading bool // some goroutine commits
}

// call is one Update that waits.
type call struct {
	fn     func(*Tx) error
	wake   chan bool // true: lead the next batch; false: the answer is there
	err    error
	panic  any // what fn panicked with, to be raised again where it belongs
	failed bool
	ended  bool // has its answer
}

// shared is what the functions of one commit have in common.
type shared struct {
	writes int
}

// Update runs fn with a transaction that may write and returns when the changes are on the disk. It keeps all of
// fn's changes or, when fn fails, none.
//
// Calls that come while another commits share the next commit. So fn may run more than once, and in another
// goroutine: it must only touch tx and assign its results. A panic in fn comes back as a panic of this call alone.
// Update inside an Update or a View of the same goroutine waits for ever or may do so; it is not detected.
//
// Errors: fn's own; ErrDamaged; ErrFull, after which reads go on and so do writes once there is room; ErrReadOnly;
// ErrClosed.
func (s *Store) Update(fn func(*Tx) error) error {
	c := &call{fn: fn}
	g := &s.group
	g.mu.Lock()
	g.queue = append(g.queue, c)
	if g.leading {
		c.wake = make(chan bool, 1)
		g.mu.Unlock()
		if lead := <-c.wake; lead {
			s.lead()
		}
	} else {
		g.leading = true
		g.mu.Unlock()
		s.lead()
	}
	if c.panic != nil {
		panic(c.panic)
	}
	return c.err
}

// lead commits the calls that wait, the caller's first, and hands over to the first of those that came meanwhile.
func (s *Store) lead() {
	g := &s.group
	g.mu.Lock()
	n := min(len(g.queue), maxBatch)
	batch := g.queue[:n:n]
	g.queue = g.queue[n:]
	g.mu.Unlock()

	defer func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if len(g.queue) > 0 {
			g.queue[0].wake <- true
			return
		}
		g.queue, g.leading = nil, false
	}()
	s.commit(batch)
	for _, c := range batch[1:] {
		c.wake <- false
	}
}

func (s *Store) commit(batch []*call) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for _, c := range batch {
		s.alone(c)
	}
}

// alone commits one call.
func (s *Store) alone(c *call) {
	bolt, err := s.begin(true)
	if err != nil {
		c.err = err
		return
	}
	defer s.rollback(bolt)
	if s.run(c, bolt, s.now(), &shared{}); c.failed {
		return
	}
	c.err = s.finish(bolt)
}

// run calls the function of c with a Tx of its own.
func (s *Store) run(c *call, bolt *bbolt.Tx, now time.Time, sh *shared) {
	tx := &Tx{bolt: bolt, now: now, shared: sh}
	defer func() {
		tx.ended = true
		if r := recover(); r != nil {
			c.panic, c.failed = r, true
		}
	}()
	c.err = c.fn(tx)
	if c.err == nil {
		c.err = tx.fault
	}
	c.failed = c.err != nil
}

// finish commits a bbolt transaction.
func (s *Store) finish(bolt *bbolt.Tx) (err error) {
	defer guard("commit", &err)
	return wrap("commit", bolt.Commit())
}
