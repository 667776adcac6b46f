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

// maxBatch is the maximum number of functions in one commit. It bounds the wait of the first of them.
const maxBatch = 256

// group collects the calls of Update that wait for a commit. One of the callers leads: it runs all functions in one
// bbolt transaction, commits, and hands over to the first caller that arrived in the meantime. A single caller
// therefore needs no other goroutine and waits for nobody, and many callers share a sync.
type group struct {
	mu      sync.Mutex
	queue   []*call
	leading bool

	filled chan struct{} // closed when queue has want calls; nil if no leader waits
	want   int
	last   int           // calls that were waiting or answered when the last batch ended
	took   time.Duration // duration of the last commit
}

// patience is the longest time that a leader waits for expected calls. It waits at most half of the last commit's
// duration.
const patience = 2 * time.Millisecond

// collect waits until the queue is as long as the last batch plus the calls that came during its commit. The callers
// that were just answered are likely to call again, and would otherwise wait for a commit of only the first few. A
// single caller does not wait, nor does one whose companions have left: calls that did not arrive in time are not
// expected the next time.
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

// call is one call of Update.
type call struct {
	fn func(*Tx) error
	// true: lead the next batch, which starts with this call; false: answered. Nil for an immediate leader
	wake  chan bool
	err   error
	panic any // the value that fn panicked with, raised again in the caller's goroutine
	done  bool
}

func (c *call) answer(err error) { c.err, c.panic, c.done = err, nil, true }

var errGoexit = errors.New("the function called runtime.Goexit")

// Update runs fn with a writable transaction and returns when the changes are on the disk. If fn fails, none of its
// changes are stored.
//
// Calls that arrive during a commit share the next one. Therefore fn may run more than once, and in another
// goroutine: it must only use tx and assign its results. A function that fails does not affect the others, and a
// panic in fn is raised in its own caller only. An Update inside an Update or a View of the same goroutine can
// deadlock; this is not detected.
//
// Errors: those of fn; ErrDamaged; ErrFull, after which reads continue, and writes work again once there is space;
// ErrReadOnly if the disk refused or did not confirm a write and the change is absent; ErrUnconfirmed if the change may
// be present or absent, until a later Update finds the disk working again and undoes it; ErrNoRead if the disk could
// not read a page; ErrClosed.
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
		// The callers that the last leader woke may wait for a processor before their next call. Without this yield,
		// the goroutine that has a processor would lead commit after commit with only its own calls.
		runtime.Gosched()
		s.lead()
	}
	if c.panic != nil {
		panic(c.panic)
	}
	s.note(c.err)
	return c.err
}

// lead answers the queued calls, its own first, and hands over to the next leader.
func (s *Store) lead() {
	g := &s.group
	g.collect()
	start := time.Now()
	g.mu.Lock()
	n := min(len(g.queue), maxBatch)
	batch := g.queue[:n:n]
	g.queue = g.queue[n:]
	g.mu.Unlock()

	// Deferred, because a function may end this goroutine with runtime.Goexit, as testing.T.FailNow does. Calls
	// without an answer then go back to the head of the queue.
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

// commit answers every call of a batch. A call that fails after it wrote invalidates the whole transaction: the
// others run again without it, and it runs once more in its own transaction if it had seen changes of theirs.
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

// attempt runs the calls in one bbolt transaction and commits it. If a call fails after it wrote, the calls that must
// run again are not done, and attempt returns the failed call if it must run again too. Otherwise all calls are
// answered.
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
		clean := sh.writes == 0 // it sees only committed data
		before := sh.writes
		failed := s.run(c, &Tx{bolt: bolt, now: now, shared: sh})
		wrote := sh.writes > before
		// The answer is final if the call saw only committed data and either failed or changed nothing.
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

// run calls the function of c and records its outcome.
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

// finish commits the transaction.
func (s *Store) finish(sh *shared) error {
	op := "write store " + s.path
	id := sh.bolt.ID()
	tried, panicked := false, false
	var before *metaRewrite
	err := func() (err error) {
		defer func() {
			if r := recover(); r != nil {
				panicked, err = true, recovered(s.bolt, op, r)
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
		} else if failed := s.reload(); failed != nil { // the panic may have lost part of the free list
			err = failed
		}
	case tried && s.visible(id):
		err = s.undo(op, err, before)
	}
	return err
}

// refused is wrap for a commit: an error of the system on a write means that the disk cannot be written.
func refused(op string, err error) error {
	err = wrap(op, err)
	e, ok := err.(*Error)
	if ok && e.Kind == nil && (errors.As(err, new(syscall.Errno)) || isResizeError(e.Err.Error())) {
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

// refuse makes every later write fail with err.
func (s *Store) refuse(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refusal == nil {
		s.refusal = err
	}
}

// now returns the time of a transaction.
func (s *Store) now() time.Time { return s.clock().UTC().Truncate(time.Millisecond) }

// shared is the state shared by the functions of one commit.
type shared struct {
	bolt     *bbolt.Tx
	writes   int
	counters map[string]*counter // by bucket name; only those that were read
}
