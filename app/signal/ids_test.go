package signal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"opsmon/kv"
	"opsmon/kv/kvtest"
)

// named is a signal with an id.
func (r *rig) named(station, id string) Signal {
	s := beat(station, r.now.Load(), 1)
	s.ID, s.Arrived = id, r.now.Load()
	return s
}

// check fails for what Check reports.
func (r *rig) check() {
	r.t.Helper()
	r.must(r.store.View(func(tx *kv.Tx) error {
		Check(tx, map[string]bool{"northgate": true}, func(problem string) { r.t.Error(problem) })
		return nil
	}))
}

// TestIDsAreNeverTakenForOthers compares what counts with a map, over weeks of signals, starts, packs, merges, some of which are
// given up, and sweeps.
func TestIDsAreNeverTakenForOthers(t *testing.T) {
	r := newRig(t)
	rng := rand.New(rand.NewPCG(5, 6))
	came := map[string]int64{}
	twice, again := 0, 0
	for round := range 700 {
		r.now.Add(rng.Int64N(2 * time.Hour.Milliseconds()))
		now := r.now.Load()
		var list []Signal
		var want []bool
		for range 1 + rng.IntN(40) {
			s := r.named(fmt.Sprint("F", rng.IntN(3)), fmt.Sprint(rng.IntN(20_000)))
			at, known := came[s.Station+"/"+s.ID]
			duplicate := known && now-at < idMemory.Milliseconds()
			if !duplicate {
				came[s.Station+"/"+s.ID] = now
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
			_ = r.mergeIDs(ended) // it leaves what it had begun
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

// TestOneOfManyCounts: of batches that are stored at the same time and have the same ids each id counts once, while they are
// packed and merged.
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

// TestIDsOfABatchThatIsNotStored: what could not be stored counts when it comes again.
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

// TestTheMemoryOfIDsIsBounded: ids take little more than their filters, and those of a week of a thousand stations
// take no more than is said.
func TestTheMemoryOfIDsIsBounded(t *testing.T) {
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
	for _, tt := range []struct{ ids, most int }{{17_000_000, filterMostClosed}, {17_000_000, filterMost}, {100, filterMost}, {0, filterMost}} {
		if f := newFilter(tt.ids, tt.most); len(f.words)*8 > tt.most || f.probes < 1 {
			t.Errorf("%d ids: a filter of %d bytes, %d bits", tt.ids, len(f.words)*8, f.probes)
		}
	}
	if most := 8*filterMostClosed + 4*mergeFrom*filterMost; most > 56<<20 {
		t.Errorf("filters may take %d MiB", most>>20)
	}
}

// TestMigrateIDs: what was known before there were runs is known after.
func TestMigrateIDs(t *testing.T) {
	store := kvtest.New(t, func(c *kv.Config) { c.Buckets = Buckets() })
	now := time.UnixMilli(monday)
	r := &rig{t: t, store: store}
	r.now.Store(monday)
	old := func(s Signal) [32]byte { return sumOf(&s) }
	r.must(store.Update(func(tx *kv.Tx) error {
		for i := range 1000 {
			if err := oldIDs.Put(tx, old(r.named("F0", fmt.Sprint(i))), now.UnixMilli()-int64(i)*time.Hour.Milliseconds()); err != nil {
				return err
			}
		}
		return nil
	}))
	r.must(store.Update(MigrateIDs))
	r.open()
	r.check()
	var list []Signal
	var want []bool
	for i := range 1001 {
		list, want = append(list, r.named("F0", fmt.Sprint(i))), append(want, i < 7*24)
	}
	if got := r.append(list...); !slices.Equal(got, want) {
		t.Error("after the migration other ids are known")
	}
}

// BenchmarkIDs: batches of 1,000 signals with ids of 60 characters, after so many others.
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

// TestAFailedMergeLeavesNothing: what a merge had written when it failed is removed before the next one.
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
	// The run that a failed merge leaves half written.
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
	failed := r.mergeIDs(ended)
	r.must(r.mergeAgain(t.Context(), cmp.Or(failed, errors.New("no room"))))
	if n := count(); n > before {
		t.Errorf("there are %d blocks, and there were %d", n, before)
	}
}
