package kv

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestGroupMixed runs functions with every possible outcome on many goroutines. Afterwards exactly the successful
// writes are there, and each caller has its own result.
func TestGroupMixed(t *testing.T) {
	s := openStore(t, Config{Path: filepath.Join(t.TempDir(), "s.db"), Buckets: []string{blobs.Name()}})
	const writers, calls, kinds = 24, 60, 7
	var wg sync.WaitGroup
	for w := range uint64(writers) {
		wg.Go(func() {
			for i := range uint64(calls) {
				k := w*calls + i
				kind := (w + i) % kinds
				own := fmt.Errorf("own error of %d", k)
				seen := -1
				raised, err := protect(func() error {
					return s.Update(func(tx *Tx) error {
						seen = blobs.Count(tx)
						switch kind {
						case 2:
							return own
						case 3:
							panic(own)
						case 4:
							return nil
						}
						if err := blobs.Put(tx, k, []byte("value")); err != nil {
							return err
						}
						switch kind {
						case 5:
							return own
						case 6:
							panic(own)
						}
						return nil
					})
				})
				wantErr, wantPanic := error(nil), any(nil)
				switch kind {
				case 2, 5:
					wantErr = own
				case 3, 6:
					wantPanic = own
				}
				if err != wantErr || raised != wantPanic || seen < 0 {
					t.Errorf("call %d of kind %d: error %v, panic %v, saw %d", k, kind, err, raised, seen)
				}
			}
		})
	}
	wg.Wait()
	err := s.View(func(tx *Tx) error {
		want := 0
		for k := range uint64(writers * calls) {
			kind := (k/calls + k%calls) % kinds
			if kind < 2 {
				want++
			}
			if blobs.Has(tx, k) != (kind < 2) {
				return fmt.Errorf("call %d of kind %d: present is %v", k, kind, blobs.Has(tx, k))
			}
		}
		if got := blobs.Count(tx); got != want {
			return fmt.Errorf("%d keys, want %d", got, want)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func protect(fn func() error) (raised any, err error) {
	defer func() { raised = recover() }()
	return nil, fn()
}

// gather runs Updates in one batch: the first one delays the commit until all are queued.
func gather(t *testing.T, s *Store, updates ...func()) {
	t.Helper()
	started, release := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := s.Update(func(*Tx) error { close(started); <-release; return nil }); err != nil {
			t.Error(err)
		}
	})
	<-started
	for i, update := range updates {
		wg.Go(update)
		for deadline := time.Now().Add(time.Minute); queued(s) <= i; runtime.Gosched() {
			if time.Now().After(deadline) {
				t.Fatal("an Update does not wait in the queue")
			}
		}
	}
	close(release)
	wg.Wait()
}

func queued(s *Store) int {
	s.group.mu.Lock()
	defer s.group.mu.Unlock()
	return len(s.group.queue)
}

// TestBatch counts how often each function runs if some functions of a batch fail.
func TestBatch(t *testing.T) {
	errOwn := errors.New("own")
	type outcome struct {
		runs  int
		tx    int // bbolt's number of the transaction of the last run
		after int // number of keys that the last run saw
		err   error
	}
	const (
		put = iota
		refuse
		putAndFail
		read
	)
	for _, c := range []struct {
		name  string
		kinds []int
		runs  []int
		after []int
		same  []int // these share one bbolt transaction
	}{
		{"all well", []int{put, put, read, put}, []int{1, 1, 1, 1}, []int{0, 1, 2, 2}, []int{0, 1, 2, 3}},
		{"one refuses", []int{put, refuse, put}, []int{1, 1, 1}, []int{0, 1, 1}, []int{0, 1, 2}},
		{"one fails after it wrote", []int{refuse, put, putAndFail, put, read}, []int{1, 2, 2, 1, 1}, []int{0, 0, 2, 1, 2}, []int{1, 3, 4}},
		{"the first fails after it wrote", []int{putAndFail, put, put}, []int{1, 1, 1}, []int{0, 0, 1}, []int{1, 2}},
		{"two fail after they wrote", []int{put, putAndFail, put, putAndFail}, []int{3, 2, 2, 2}, []int{0, 2, 1, 2}, []int{0, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := openStore(t, Config{Path: filepath.Join(t.TempDir(), "s.db"), Buckets: []string{blobs.Name()}})
			got := make([]outcome, len(c.kinds))
			var updates []func()
			for i, kind := range c.kinds {
				updates = append(updates, func() {
					o := &got[i]
					o.err = s.Update(func(tx *Tx) error {
						o.runs++
						o.tx = tx.bolt.ID()
						o.after = blobs.Count(tx)
						if kind == put || kind == putAndFail {
							if err := blobs.Put(tx, uint64(i), nil); err != nil {
								return err
							}
						}
						if kind == refuse || kind == putAndFail {
							return errOwn
						}
						return nil
					})
				})
			}
			gather(t, s, updates...)
			for i, o := range got {
				want := error(nil)
				if c.kinds[i] == refuse || c.kinds[i] == putAndFail {
					want = errOwn
				}
				if o.err != want || o.runs != c.runs[i] || o.after != c.after[i] {
					t.Errorf("call %d: %+v, want %d runs, %d keys seen, error %v", i, o, c.runs[i], c.after[i], want)
				}
			}
			for _, i := range c.same {
				if got[i].tx != got[c.same[0]].tx {
					t.Errorf("call %d was in transaction %d, call %d in %d", i, got[i].tx, c.same[0], got[c.same[0]].tx)
				}
			}
		})
	}
}

// TestBatchCap commits more calls than one batch may have.
func TestBatchCap(t *testing.T) {
	s := openStore(t, Config{Path: filepath.Join(t.TempDir(), "s.db"), Buckets: []string{blobs.Name()}})
	const n = maxBatch + 10
	ids := make([]int, n)
	var updates []func()
	for i := range n {
		updates = append(updates, func() {
			if err := s.Update(func(tx *Tx) error { ids[i] = tx.bolt.ID(); return blobs.Put(tx, uint64(i), nil) }); err != nil {
				t.Error(err)
			}
		})
	}
	gather(t, s, updates...)
	if ids[maxBatch-1] != ids[0] || ids[maxBatch] != ids[0]+1 || ids[n-1] != ids[maxBatch] {
		t.Errorf("transactions %d, %d, %d, %d", ids[0], ids[maxBatch-1], ids[maxBatch], ids[n-1])
	}
}

// TestBatchBusy writes from many goroutines on a single processor, as if other work used the others: they must still
// share commits. The leader must not continue with only its own calls while the goroutines that it woke wait for
// the processor.
func TestBatchBusy(t *testing.T) {
	s := openStore(t, Config{Path: filepath.Join(t.TempDir(), "s.db"), Buckets: []string{blobs.Name()}})
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const writers, calls = 32, 200
	before := commits(t, s)
	var wg sync.WaitGroup
	for w := range uint64(writers) {
		wg.Go(func() {
			for range calls {
				if err := s.Update(func(tx *Tx) error { return blobs.Put(tx, w, []byte("value")) }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := commits(t, s) - before; n > 2*calls {
		t.Errorf("%d calls of %d goroutines took %d commits, want about %d", writers*calls, writers, n, calls)
	}
}

// TestBatchCollects writes from goroutines that do other work between two writes: they must still share commits,
// because a leader waits a moment for the callers that the last commit answered. A single remaining caller must not
// wait.
func TestBatchCollects(t *testing.T) {
	s := openStore(t, Config{Path: filepath.Join(t.TempDir(), "s.db"), Buckets: []string{blobs.Name()}})
	const writers, calls = 32, 100
	spin := func(d time.Duration) {
		for at := time.Now(); time.Since(at) < d; {
		}
	}
	put := func(k uint64) {
		if err := s.Update(func(tx *Tx) error {
			spin(50 * time.Microsecond) // about the duration of a commit on a fast disk; a leader waits half of it
			return blobs.Put(tx, k, make([]byte, 1000))
		}); err != nil {
			t.Error(err)
		}
	}
	before := commits(t, s)
	var wg sync.WaitGroup
	for w := range uint64(writers) {
		wg.Go(func() {
			for i := range uint64(calls) {
				put(w)
				spin(time.Duration(10+(w*7+i*13)%50) * time.Microsecond)
			}
		})
	}
	wg.Wait()
	n := commits(t, s) - before
	t.Logf("%d calls of %d goroutines took %d commits", writers*calls, writers, n)
	if n > calls*5/4 {
		t.Errorf("%d calls of %d goroutines took %d commits, want about %d", writers*calls, writers, n, calls)
	}
	put(1)
	put(2)
	if s.group.last != 1 || s.group.filled != nil {
		t.Errorf("after the last of them, one that writes alone waits for %d", s.group.last)
	}
}

// commits returns the number of commits since the store was created.
func commits(t *testing.T, s *Store) (n int) {
	t.Helper()
	if err := s.View(func(tx *Tx) error { n = tx.bolt.ID(); return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestGoexit ends a goroutine inside a function of a batch, as testing.T.FailNow does.
func TestGoexit(t *testing.T) {
	s := openStore(t, Config{Path: filepath.Join(t.TempDir(), "s.db"), Buckets: []string{blobs.Name()}})
	exit := func() {
		s.Update(func(tx *Tx) error {
			if err := blobs.Put(tx, 100, nil); err != nil {
				t.Error(err)
			}
			runtime.Goexit()
			return nil
		})
		t.Error("Update has returned")
	}
	put := func(k uint64) func() {
		return func() {
			if err := s.Update(func(tx *Tx) error { return blobs.Put(tx, k, nil) }); err != nil {
				t.Error(err)
			}
		}
	}
	var wg sync.WaitGroup
	wg.Go(exit) // in its own batch
	wg.Wait()
	gather(t, s, exit, put(1), put(2)) // exit leads
	err := s.View(func(tx *Tx) error {
		if blobs.Has(tx, 100) || !blobs.Has(tx, 1) || !blobs.Has(tx, 2) {
			return errors.New("wrong keys are there")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestEnded uses transactions after their end, writes in a View, and uses a closed store.
func TestEnded(t *testing.T) {
	s := openStore(t, Config{Path: filepath.Join(t.TempDir(), "s.db"), Buckets: []string{blobs.Name()}})
	var view, update *Tx
	if err := s.Update(func(tx *Tx) error { update = tx; return blobs.Put(tx, 1, nil) }); err != nil {
		t.Fatal(err)
	}
	err := s.View(func(tx *Tx) error {
		view = tx
		if err := blobs.Put(tx, 2, nil); !errors.Is(err, errView) {
			t.Errorf("Put in a View: %v", err)
		}
		if err := blobs.Delete(tx, 1); !errors.Is(err, errView) {
			t.Errorf("Delete in a View: %v", err)
		}
		if _, err := blobs.Next(tx); !errors.Is(err, errView) {
			t.Errorf("Next in a View: %v", err)
		}
		if _, err := triples.Get(tx, triple("", "", 0)); !errors.Is(err, errNoBucket) {
			t.Errorf("a bucket that is not there: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, tx := range map[string]*Tx{"View": view, "Update": update} {
		_, getErr := blobs.Get(tx, 1)
		_, nextErr := blobs.Next(tx)
		var scanErr error
		for _, scanErr = range blobs.Scan(tx, Range{}) {
		}
		for i, err := range []error{getErr, nextErr, scanErr, blobs.Put(tx, 1, nil), blobs.Delete(tx, 1)} {
			if !errors.Is(err, errEnded) {
				t.Errorf("after %s, method %d: %v", name, i, err)
			}
		}
		if blobs.Has(tx, 1) || blobs.Count(tx) != 0 {
			t.Errorf("after %s something is there", name)
		}
	}
	// View returns the failure of a method without an error result.
	if err := s.View(func(tx *Tx) error { triples.Has(tx, triple("", "", 0)); return nil }); !errors.Is(err, errNoBucket) {
		t.Errorf("Has in a bucket that is not there: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	nothing := func(*Tx) error { return nil }
	for name, err := range map[string]error{"View": s.View(nothing), "Update": s.Update(nothing), "Check": s.Check(func(string) {})} {
		var u interface{ Unavailable() bool }
		if !errors.Is(err, ErrClosed) || !errors.As(err, &u) || !u.Unavailable() {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
}

// TestNow checks that Now is constant within a transaction.
func TestNow(t *testing.T) {
	at := time.Date(2026, 11, 20, 9, 15, 30, 123_456_789, time.FixedZone("", 3600))
	clock := func() time.Time { at = at.Add(time.Second); return at }
	s := openStore(t, Config{Path: filepath.Join(t.TempDir(), "s.db"), Clock: clock})
	for _, run := range []func(func(*Tx) error) error{s.View, s.Update} {
		err := run(func(tx *Tx) error {
			want := at.UTC().Truncate(time.Millisecond)
			if first, second := tx.Now(), tx.Now(); first != want || second != want {
				return fmt.Errorf("Now is %v, want %v", tx.Now(), want)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestCheckWhileWriting checks a store during continuous writes.
func TestCheckWhileWriting(t *testing.T) {
	s := openStore(t, Config{Path: filepath.Join(t.TempDir(), "s.db"), Buckets: []string{blobs.Name()}})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var commits atomic.Int64
	for w := range uint64(4) {
		wg.Go(func() {
			for i := w; ; i += 4 {
				select {
				case <-stop:
					return
				default:
				}
				if err := s.Update(func(tx *Tx) error { return blobs.Put(tx, benchKey(i%500), make([]byte, i%1000)) }); err != nil {
					t.Error(err)
					return
				}
				commits.Add(1)
			}
		})
	}
	for checks := 0; checks < 50 || commits.Load() < 500 && !t.Failed(); checks++ {
		if err := s.Check(func(problem string) { t.Error(problem) }); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	wg.Wait()
}
