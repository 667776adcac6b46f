package signal

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"opsmon/app/test/apptest"
	"opsmon/kv"
	"opsmon/kv/kvtest"
)

// named returns a signal with an id.
func (r *rig) named(station, id string) Signal {
	s := beat(station, r.now.Load(), 1)
	s.ID, s.Arrived = id, r.now.Load()
	return s
}

// check fails on problems that Check reports.
func (r *rig) check() {
	r.t.Helper()
	r.must(r.store.View(func(tx *kv.Tx) error {
		Check(tx, map[string]bool{"northgate": true}, func(problem string) { r.t.Error(problem) })
		return nil
	}))
}

// TestIDsAreNeverTakenForOthers compares the accepted ids with a map, over weeks of signals, restarts, packs, merges
// (some of them interrupted), and sweeps.
func TestIDsAreNeverTakenForOthers(t *testing.T) {
	apptest.Long(t)
	r := newRig(t)
	rng := rand.New(rand.NewPCG(5, 6))
	arrivedID := map[string]int64{}
	twice, again := 0, 0
	for round := range 700 {
		r.now.Add(rng.Int64N(2 * time.Hour.Milliseconds()))
		now := r.now.Load()
		var list []Signal
		var want []bool
		for range 1 + rng.IntN(40) {
			s := r.named(fmt.Sprint("F", rng.IntN(3)), fmt.Sprint(rng.IntN(20_000)))
			at, known := arrivedID[s.Station+"/"+s.ID]
			duplicate := known && now-at < idMemory.Milliseconds()
			if !duplicate {
				arrivedID[s.Station+"/"+s.ID] = now
			}
			if list, want = append(list, s), append(want, duplicate); duplicate {
				twice++
			} else if known {
				again++
			}
		}
		if got := r.append(list...); !slices.Equal(got, want) {
			t.Fatalf("round %d: duplicates %v, want %v", round, got, want)
		}
		switch rng.IntN(8) {
		case 0:
			r.open()
		case 1, 2, 3:
			r.must(r.Pack())
		case 4:
			r.must(r.mergeIDs(t.Context()))
		case 5:
			ended, end := context.WithCancel(t.Context())
			end()
			_ = r.mergeIDs(ended) // it leaves the blocks that it has written
		case 6:
			r.must(r.Sweep(t.Context()))
			r.must(r.sweepOrphans(t.Context()))
		}
		if round%100 == 0 {
			r.check()
		}
	}
	if twice < 100 || again < 100 {
		t.Errorf("%d came twice, %d again after they had served: nothing is tried", twice, again)
	}
	r.must(r.Pack())
	r.must(r.mergeIDs(t.Context()))
	r.must(r.Sweep(t.Context()))
	r.must(r.sweepOrphans(t.Context()))
	r.check()
	if n := len(r.ids.list()); n > 8+4*(mergeFrom-1) {
		t.Errorf("there are %d runs", n)
	}
	kept := map[uint64]bool{}
	for _, one := range r.ids.list() {
		kept[one.number] = true
	}
	r.must(r.store.View(func(tx *kv.Tx) error {
		for item, err := range blocks.Scan(tx, kv.Range{}) {
			if err != nil || !kept[item.Key.A] {
				t.Errorf("a block of the run %d is left, %v", item.Key.A, err)
			}
		}
		return nil
	}))
}

// TestOneOfManyCounts stores batches with the same ids concurrently, during packs and merges: each id must count
// once.
func TestOneOfManyCounts(t *testing.T) {
	r := newRig(t)
	const writers, rounds, each = 8, 30, 50
	var counted [rounds]int
	var mu sync.Mutex
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for round := range rounds {
				var list []Signal
				for i := range each {
					list = append(list, r.named("F0", fmt.Sprint(round*each+(i*7+w)%each)))
				}
				duplicate, err := r.Append(list)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for _, twice := range duplicate {
					if !twice {
						counted[round]++
					}
				}
				mu.Unlock()
			}
		})
	}
	stop := make(chan struct{})
	var packing sync.WaitGroup
	packing.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := r.Pack(); err != nil {
				t.Error(err)
			}
			if err := r.mergeIDs(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	all.Wait()
	close(stop)
	packing.Wait()
	for round, n := range counted {
		if n != each {
			t.Errorf("of the ids of round %d %d counted, want %d", round, n, each)
		}
	}
	if n := len(r.of("F0", Day(monday))); n != rounds*each {
		t.Errorf("%d signals are kept, want %d", n, rounds*each)
	}
	r.check()
}

// TestIDsOfABatchThatIsNotStored checks that an id counts when it is repeated after a failure to store it.
func TestIDsOfABatchThatIsNotStored(t *testing.T) {
	r := newRig(t)
	full := r.named("F0", "1")
	r.must(r.store.Update(func(tx *kv.Tx) error { return late.Put(tx, lateKey{A: "northgate", B: "F0"}, 1) }))
	r.must(r.store.Close())
	if _, err := r.Append([]Signal{full}); err == nil {
		t.Fatal("a closed store takes signals")
	}
	if len(r.ids.claims) != 0 || len(r.ids.recent) != 0 {
		t.Errorf("%d ids are claimed and %d known", len(r.ids.claims), len(r.ids.recent))
	}
}

// TestTheMemoryOfIDsIsBounded checks that ids take little more memory than their filters, and that those of a
// thousand stations in a week stay within the documented limit.
func TestTheMemoryOfIDsIsBounded(t *testing.T) {
	apptest.Long(t)
	r := newRig(t)
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	const batch = 10_000
	for n := 0; n < 300_000; n += batch {
		list := make([]Signal, batch)
		for i := range list {
			list[i] = r.named(fmt.Sprint("F", i%100), fmt.Sprintf("%060d", n+i))
		}
		r.append(list...)
		if n%(5*batch) == 4*batch {
			r.must(r.Pack())
			r.must(r.mergeIDs(t.Context()))
		}
	}
	if took := heap() - before; took > 8<<20 {
		t.Errorf("300,000 ids take %d KiB", took>>10)
	}
	if got := r.append(r.named("F7", fmt.Sprintf("%060d", 7))); !got[0] {
		t.Error("the first of them counts again")
	}
	for _, tt := range []struct{ ids, most int }{{17_000_000, maxFilterClosed}, {17_000_000, maxFilter}, {100, maxFilter}, {0, maxFilter}} {
		if f := newFilter(tt.ids, tt.most); len(f.words)*8 > tt.most || f.probes < 1 {
			t.Errorf("%d ids: a filter of %d bytes, %d bits", tt.ids, len(f.words)*8, f.probes)
		}
	}
	if most := 8*maxFilterClosed + 4*mergeFrom*maxFilter; most > 56<<20 {
		t.Errorf("filters may take %d MiB", most>>20)
	}
}

// TestMigrateIDs checks that ids in the former format are recognized before, during and after their migration, which
// holds only some of them in memory.
func TestMigrateIDs(t *testing.T) {
	store := kvtest.New(t, func(c *kv.Config) { c.Buckets = Buckets() })
	r := &rig{t: t, store: store}
	r.now.Store(monday)
	const all, counting = 1000, 7 * 24
	r.must(store.Update(func(tx *kv.Tx) error {
		for i := range all {
			s := r.named("F0", fmt.Sprint(i))
			if err := oldIDs.Put(tx, sumOf(&s), monday-int64(i)*time.Hour.Milliseconds()); err != nil {
				return err
			}
		}
		// Its key could be that of a block.
		return oldIDs.Put(tx, [32]byte{7: 1, 31: 1}, monday)
	}))
	left := func() (n int) {
		r.must(store.View(func(tx *kv.Tx) error {
			_, keys, err := readOld(tx, oldIDs.From(oldFrom), all)
			n = len(keys)
			return err
		}))
		return n
	}
	known := func() {
		t.Helper()
		r.check()
		for i := range all + 1 {
			s := []Signal{r.named("F0", fmt.Sprint(i))}
			duplicate := []bool{false}
			c, err := r.claim(s, duplicate)
			r.must(err)
			r.settleClaim(c, false)
			if want := i < counting; duplicate[0] != want {
				t.Fatalf("with %d old ids left: id %d is known: %v", left(), i, duplicate[0])
			}
		}
	}
	r.must(store.Update(MigrateIDs))
	if n := left(); n < all-1 {
		t.Fatalf("%d of %d old ids were moved in one transaction", all-n, all)
	}
	r.open()
	known()
	for n := left(); n > 0; n = left() {
		r.must(r.moveSomeOld(300))
		if moved := n - left(); moved > 300 || moved == 0 {
			t.Fatalf("%d old ids were moved in one transaction", moved)
		}
		if n > 600 {
			r.open() // a restart continues
		}
		known()
	}
	r.must(r.tidyIDs(t.Context(), true))
	if n := len(r.ids.list()); n > 7+mergeFrom {
		t.Errorf("there are %d runs of 7 days", n)
	}
	known()
	r.open()
	known()
	if r.ids.hasOld() {
		t.Error("a store without old ids has some")
	}
}

// BenchmarkIDs appends batches of 1,000 signals with ids of 60 characters, after various numbers of others.
func BenchmarkIDs(b *testing.B) {
	for _, known := range []int{0, 500_000} {
		b.Run(fmt.Sprint(known), func(b *testing.B) {
			r := newRig(b)
			n := 0
			send := func() {
				list := make([]Signal, 1000)
				for i := range list {
					list[i] = r.named(fmt.Sprint("F", i%100), fmt.Sprintf("%060d", n))
					n++
				}
				r.append(list...)
				if n%50_000 == 0 {
					r.must(r.Pack())
					r.must(r.mergeIDs(b.Context()))
				}
			}
			for n < known {
				send()
			}
			for b.Loop() {
				send()
			}
			b.ReportMetric(1000*float64(b.N)/b.Elapsed().Seconds(), "signals/s")
		})
	}
}

// TestAFailedMergeLeavesNothing checks that the blocks of a failed merge are removed before the next merge.
func TestAFailedMergeLeavesNothing(t *testing.T) {
	r := newRig(t)
	count := func() (n int) {
		r.must(r.store.View(func(tx *kv.Tx) error {
			for _, err := range blocks.Scan(tx, kv.Range{}) {
				if err != nil {
					return err
				}
				n++
			}
			return nil
		}))
		return n
	}
	ended, end := context.WithCancel(t.Context())
	for i := range 2 * mergeFrom {
		list := make([]Signal, 5_000)
		for k := range list {
			list[k] = Signal{Account: "northgate", Source: "device:northgate/gw", Station: "F0", ID: fmt.Sprint(i, "-", k), At: r.now.Load(), Arrived: r.now.Load(), Values: Values{Mask: 1 << Productive}}
		}
		r.append(list...)
		r.must(r.Pack())
	}
	before := count()
	// The incomplete run of a failed merge.
	r.must(r.store.Update(func(tx *kv.Tx) error {
		number, err := blocks.Next(tx)
		if err != nil {
			return err
		}
		for i := range uint64(50) {
			if err := blocks.Put(tx, blockOf(number, i), make([]byte, 100)); err != nil {
				return err
			}
		}
		return nil
	}))
	end()
	r.must(r.tidyIDs(t.Context(), r.mergeIDs(ended) != nil))
	if n := count(); n > before {
		t.Errorf("there are %d blocks, and there were %d", n, before)
	}
}

// TestAMergeThatFailsLeavesNothing checks that a failing merge immediately removes the blocks that it has written.
func TestAMergeThatFailsLeavesNothing(t *testing.T) {
	r := newRig(t)
	for i := range mergeFrom {
		list := make([]Signal, 5_000)
		for k := range list {
			list[k] = r.named("F0", fmt.Sprint(i, "-", k))
		}
		r.append(list...)
		r.must(r.Pack())
	}
	count := func() (n int) {
		r.must(r.store.View(func(tx *kv.Tx) error {
			n = blocks.Count(tx)
			return nil
		}))
		return n
	}
	one := r.ids.list()[0]
	r.must(r.store.Update(func(tx *kv.Tx) error {
		return blocks.Put(tx, blockOf(one.number, one.blocks-1), make([]byte, 7)) // an invalid block
	}))
	before := count()
	if r.tidyIDs(t.Context(), false) == nil {
		t.Fatal("the merge did not fail: nothing is tried")
	}
	if n := count(); n != before {
		t.Errorf("there are %d blocks, and there were %d", n, before)
	}
}

// TestAWriteThatPanicsGivesItsIDsBack checks that after a panic the same ids can be sent again without waiting for
// ever, and count.
func TestAWriteThatPanicsGivesItsIDsBack(t *testing.T) {
	r := &rig{t: t}
	r.now.Store(monday)
	var panics atomic.Bool
	r.store = kvtest.New(t, func(c *kv.Config) {
		c.Buckets, c.Clock = Buckets(), func() time.Time {
			if panics.Load() {
				panic("no time")
			}
			return r.clock()
		}
	})
	r.open()
	s := r.named("F0", "1")
	panics.Store(true)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the write did not panic: nothing is tried")
			}
		}()
		_, _ = r.Append([]Signal{s})
	}()
	panics.Store(false)
	if n := len(r.ids.claims); n > 0 {
		t.Fatalf("%d ids are claimed", n)
	}
	if got := r.append(s); got[0] {
		t.Error("an id that was not stored came before")
	}
}
