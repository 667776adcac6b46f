package kv

import (
	"errors"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
)

// maxBatch caps how many functions share one commit, so that the first of them does not wait too long.
const maxBatch = 256

// group gathers the calls of Update that wait for a commit. One of them leads: it runs everybody's functions in one
// bbolt transaction, commits, and hands over to the first that came meanwhile. So a lone caller pays for no other
// goroutine and waits for nobody, and many callers share a sync.
type group struct {
	mu      sync.Mutex
	queue   []*call
	leading bool

	filled chan struct{} // closed when queue has want calls; nil when nobody waits for that
	want   int
	last   int           // calls that were waiting or answered when the last batch ended
	took   time.Duration // the last commit
}

// patience bounds how long a leader waits for the calls that it expects. Where a commit takes less, it waits less.
const patience = 2 * time.Millisecond

// collect waits until as many calls are in the queue as took part in the last commit or came during it: those that were
// answered then are about to come back, and would otherwise wait for a commit of the few that were first. A lone caller,
// and one whose companions have gone, waits for nobody: what did not come in time is not expected the next time.
func (g *group) collect() {
	g.mu.Lock()
	if g.last <= 1 || len(g.queue) >= g.last {
		g.mu.Unlock()
		return
	}
	filled := make(chan struct{})
	g.filled, g.want = filled, g.last
	wait := min(g.took/2, patience)
	g.mu.Unlock()
	timer := time.NewTimer(wait)
	select {
	case <-filled:
	case <-timer.C:
	}
	timer.Stop()
	g.mu.Lock()
	g.filled = nil
	g.mu.Unlock()
}

// call is one Update.
type call struct {
	fn    func(*Tx) error
	wake  chan bool // true: lead the next batch, your call is its first; false: the answer is there. Nil in who leads at once
	err   error
	panic any // what fn panicked with, to be raised again in the goroutine that it belongs to
	done  bool
}

func (c *call) answer(err error) { c.err, c.panic, c.done = err, nil, true }

var errGoexit = errors.New("the function ended its goroutine")

// Update runs fn with a transaction that may write, and returns when the changes are on the disk. It keeps all of
// fn's changes or, when fn fails, none.
//
// Calls that come while another commits share the next commit. So fn may run more than once, and in another goroutine:
// it must only touch tx and assign its results. A function that fails harms no other; a panic in it is a panic of this
// call alone. Update inside an Update or a View of the same goroutine can wait for ever; it is not detected.
//
// Errors: fn's own; ErrDamaged; ErrFull, after which reads go on, and writes too once there is room; ErrReadOnly when
// the disk refused a write, or did not confirm it, when the change is absent; ErrUnsure when it may be there or not, until a
// later Update finds that the disk works again and takes it back; ErrNoRead when the disk did not give a page; ErrClosed.
func (s *Store) Update(fn func(*Tx) error) error {
	c := &call{fn: fn}
	g := &s.group
	g.mu.Lock()
	g.queue = append(g.queue, c)
	if g.filled != nil && len(g.queue) >= g.want {
		close(g.filled)
		g.filled = nil
	}
	lead := !g.leading
	if lead {
		g.leading = true
	} else {
		c.wake = make(chan bool, 1)
	}
	g.mu.Unlock()
	if lead || <-c.wake {
		// Those that the last leader woke may wait for a processor with their next call. Without this, whoever has one
		// would lead commit after commit of its own calls alone, and they would wait for all of these.
		runtime.Gosched()
		s.lead()
	}
	if c.panic != nil {
		panic(c.panic)
	}
	s.note(c.err)
	return c.err
}

// lead answers the calls that wait, the caller's own first, and hands over.
func (s *Store) lead() {
	g := &s.group
	g.collect()
	start := time.Now()
	g.mu.Lock()
	n := min(len(g.queue), maxBatch)
	batch := g.queue[:n:n]
	g.queue = g.queue[n:]
	g.mu.Unlock()

	// Deferred, because a function may end this goroutine with runtime.Goexit, as testing.T.FailNow does. Then calls
	// are left without an answer, and go back to the head of the queue.
	defer func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.last, g.took = min(n+len(g.queue), maxBatch), time.Since(start)
		var left []*call
		for _, c := range batch[1:] {
			if c.done {
				c.wake <- false
			} else {
				left = append(left, c)
			}
		}
		if len(left) > 0 {
			g.queue = append(left, g.queue...)
		}
		if len(g.queue) > 0 {
			g.queue[0].wake <- true
		} else {
			g.queue, g.leading = nil, false
		}
	}()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	s.commit(batch)
}

// commit answers every call of a batch. A call that fails after it wrote takes the whole transaction with it; the
// others run again without it, and it runs once more alone when it had seen changes of theirs.
func (s *Store) commit(batch []*call) {
	var alone []*call
	for pending := batch; len(pending) > 0; {
		culprit := s.attempt(pending)
		var again []*call
		for _, c := range pending {
			if c == culprit {
				alone = append(alone, c)
			} else if !c.done {
				again = append(again, c)
			}
		}
		pending = again
	}
	for _, c := range alone {
		s.attempt([]*call{c})
	}
}

// attempt runs the calls in one bbolt transaction and commits it. All have their answer afterwards, unless one failed
// after it wrote: then those that must run again are not done, and when that one must too, it is the culprit given back.
func (s *Store) attempt(calls []*call) (culprit *call) {
	bolt, err := s.begin(true)
	if err != nil {
		for _, c := range calls {
			c.answer(err)
		}
		return nil
	}
	defer s.rollback(bolt) // does nothing after a commit
	sh := &shared{bolt: bolt}
	now := s.now()
	for _, c := range calls {
		clean := sh.writes == 0 // it will see what is on the disk, and nothing that may yet be taken back
		before := sh.writes
		failed := s.run(c, &Tx{bolt: bolt, now: now, shared: sh})
		wrote := sh.writes > before
		// What it answers is settled if it saw committed data alone, and has failed or changed nothing.
		c.done = clean && (failed || !wrote)
		if failed && wrote {
			if c.done {
				return nil
			}
			return c
		}
	}
	if sh.writes == 0 {
		return nil
	}
	err = s.finish(sh)
	for _, c := range calls {
		switch {
		case c.done:
		case err != nil:
			c.answer(err)
		default:
			c.done = true
		}
	}
	return nil
}

// run calls the function of c and notes how it ended.
func (s *Store) run(c *call, tx *Tx) (failed bool) {
	c.err, c.panic = nil, nil
	returned := false
	defer func() {
		tx.ended = true
		if returned {
			return
		}
		failed = true
		if c.panic = recover(); c.panic == nil {
			c.answer(errGoexit)
		}
	}()
	c.err = c.fn(tx)
	returned = true
	if c.err == nil {
		c.err = tx.fault
	}
	return c.err != nil
}

// finish commits.
func (s *Store) finish(sh *shared) error {
	op := "write store " + s.path
	id := sh.bolt.ID()
	tried, panicked := false, false
	var before *takeBack
	err := func() (err error) {
		defer func() {
			if r := recover(); r != nil {
				panicked, err = true, caught(s.bolt, op, r)
			}
		}()
		if err := sh.flush(); err != nil {
			return err
		}
		if before, err = s.metaBefore(id); err != nil {
			return err
		}
		tried = true
		return sh.bolt.Commit()
	}()
	if err == nil {
		s.confirmed.Store(int64(id))
		s.full.Store(false)
		return nil
	}
	err = refused(op, err)
	s.full.Store(errors.Is(err, ErrFull))
	switch {
	case panicked:
		s.rollback(sh.bolt)
		if errors.Is(err, ErrDamaged) {
			s.refuseDamaged(err)
		} else if failed := s.reload(); failed != nil { // of the free list, of which the panic may have lost some
			err = failed
		}
	case tried && s.visible(id):
		err = s.undo(op, err, before)
	}
	return err
}

// refused is wrap for a commit: what the system answered to a write means that the disk does not take it.
func refused(op string, err error) error {
	err = wrap(op, err)
	e, ok := err.(*Error)
	if ok && e.Kind == nil && (errors.As(err, new(syscall.Errno)) || growing(e.Err.Error())) {
		e.Kind = ErrReadOnly
	}
	return err
}

// visible reports whether readers see the transaction with this number.
func (s *Store) visible(id int) bool {
	bolt, err := s.begin(false)
	if err != nil {
		return true
	}
	defer s.rollback(bolt)
	return bolt.ID() >= id
}

// refuse answers every later write with err.
func (s *Store) refuse(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refusal == nil {
		s.refusal = err
	}
}

// now is the time that a transaction carries.
func (s *Store) now() time.Time { return s.clock().UTC().Truncate(time.Millisecond) }

// shared is what the functions that share a commit have in common.
type shared struct {
	bolt    *bbolt.Tx
	writes  int
	tallies map[string]*tally // by bucket name; those that were looked at
}
