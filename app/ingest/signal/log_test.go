package signal

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"opsmon/app/instant"
	"opsmon/app/test/apptest"
	"opsmon/kv"
	"opsmon/kv/kvtest"
)

const monday = int64(20_776 * instant.DayMs) // 2026-11-19, 00:00 UTC

type rig struct {
	t     testing.TB
	store *kv.Store
	now   atomic.Int64
	*Log
}

func newRig(t testing.TB) *rig {
	r := &rig{t: t}
	r.now.Store(monday)
	path := filepath.Join(t.TempDir(), "app.db")
	r.store = kvtest.New(t, func(c *kv.Config) {
		c.Path, c.Buckets, c.Clock = path, Buckets(), r.clock
	})
	r.open()
	return r
}

func (r *rig) clock() time.Time { return time.UnixMilli(r.now.Load()).UTC() }

// open opens the log again, as after a restart.
func (r *rig) open() {
	r.t.Helper()
	var err error
	if r.Log, err = NewLog(Config{Store: r.store, Clock: r.clock}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) append(list ...Signal) []bool {
	r.t.Helper()
	duplicate, err := r.Append(list)
	if err != nil {
		r.t.Fatal(err)
	}
	return duplicate
}

func (r *rig) of(station string, day int64) []Signal {
	r.t.Helper()
	list, err := r.Of("northgate", station, day)
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) count(name string) (n int) {
	r.t.Helper()
	r.must(r.store.View(func(tx *kv.Tx) error {
		n = map[string]int{"tail": tail.Count(tx), "parts": parts.Count(tx), "open": open.Count(tx)}[name]
		return nil
	}))
	if name == "ids" { // those of runs and of the tail
		n = len(r.ids.recent)
		for _, one := range r.ids.list() {
			n += one.count
		}
	}
	return n
}

func beat(station string, at int64, rssi float64) Signal {
	s := Signal{Account: "northgate", Station: station, At: at, Arrived: at + 30, Source: "device:northgate/gw1"}
	s.Set(RSSI, rssi)
	return s
}

// TestLog checks that appended signals are read in order from the tail, from parts, and from both, after restarts and
// merges.
func TestLog(t *testing.T) {
	r := newRig(t)
	want := map[string][]Signal{}
	rnd := rand.New(rand.NewPCG(1, 2))
	check := func(when string) {
		t.Helper()
		for station, list := range want {
			got := append(append(r.of(station, Day(monday)-1), r.of(station, Day(monday))...), r.of(station, Day(monday)+1)...)
			Sort(list)
			if diff := cmp.Diff(list, got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("%s: %s: %s", when, station, diff)
			}
		}
	}
	for round := range 6 {
		for range 5 {
			var batch []Signal
			for range 20 {
				station := fmt.Sprint("F", rnd.IntN(3))
				s := beat(station, monday-instant.DayMs+rnd.Int64N(3*instant.DayMs), float64(rnd.IntN(3)))
				want[station] = append(want[station], s)
				batch = append(batch, s)
			}
			r.append(batch...)
			clear(batch) // the caller may reuse its list
		}
		check("from the tail")
		if r.Tail() != 100 {
			t.Errorf("the tail has %d signals", r.Tail())
		}
		if round%2 == 0 {
			r.open()
			check("after a start")
		}
		r.must(r.Pack())
		if r.Tail() != 0 || r.count("tail") != 0 {
			t.Errorf("the tail still has %d signals, %d batches", r.Tail(), r.count("tail"))
		}
		check("packed")
	}
	if n := r.count("parts"); n != 6*9 {
		t.Errorf("%d parts, want 54", n)
	}
	r.must(r.Merge(t.Context(), Day(monday)))
	if n := r.count("parts"); n != 3+6*6 || r.count("open") != 6 {
		t.Errorf("after a merge of the first day %d parts and %d days to merge, want 39 and 6", n, r.count("open"))
	}
	check("merged")
	r.append(beat("F0", monday-1, 5))
	want["F0"] = append(want["F0"], beat("F0", monday-1, 5))
	r.must(r.Pack())
	check("late")
	r.must(r.Merge(t.Context(), Day(monday)+2))
	if n := r.count("parts"); n != 9 || r.count("open") != 0 {
		t.Errorf("after a merge of all days %d parts and %d days to merge", n, r.count("open"))
	}
	r.open()
	check("all merged")
	if got := r.of("F9", Day(monday)); len(got) != 0 {
		t.Errorf("another station has %d signals", len(got))
	}
	if got, err := r.Of("other", "F0", Day(monday)); err != nil || len(got) != 0 {
		t.Errorf("another account has %d signals, %v", len(got), err)
	}
}

// TestIDs checks that a repeated id from the same source for the same station counts once within seven days.
func TestIDs(t *testing.T) {
	r := newRig(t)
	id := func(station, source, id string, at int64) Signal {
		s := beat(station, at, 1)
		s.ID, s.Source, s.Arrived = id, source, r.now.Load()
		return s
	}
	if got := r.append(id("F0", "a", "1", monday), id("F0", "a", "1", monday+5), id("F0", "a", "2", monday), id("F0", "b", "1", monday), id("F1", "a", "1", monday)); !slices.Equal(got, []bool{false, true, false, false, false}) {
		t.Errorf("in one batch: %v", got)
	}
	r.open()
	if got := r.append(id("F0", "a", "1", monday+7)); !got[0] {
		t.Error("after a start it counts again")
	}
	r.must(r.Pack())
	r.open()
	r.now.Add(idMemory.Milliseconds() - 1)
	if got := r.append(id("F0", "a", "1", monday+9)); !got[0] {
		t.Error("after not quite seven days and a start it counts again")
	}
	if n := len(r.of("F0", Day(monday))); n != 3 {
		t.Errorf("%d signals of F0, want 3", n)
	}
	r.now.Add(1)
	if got := r.append(id("F0", "a", "1", monday+9)); got[0] {
		t.Error("after seven days it does not count")
	}
	if n := r.count("ids"); n != 5 { // one of them twice
		t.Errorf("%d ids are kept", n)
	}
	r.now.Add(1)
	r.must(r.Sweep(t.Context()))
	if n := r.count("ids"); n != 1 {
		t.Errorf("%d ids are kept after they have served, want the one that came again", n)
	}
}

// TestRetention checks that days are removed when they are completely beyond the retention, for every station and
// account.
func TestRetention(t *testing.T) {
	r := newRig(t)
	for d := range int64(12) {
		for _, station := range []string{"F0", "F0\x00", "F1"} {
			s := beat(station, monday+d*instant.DayMs, 1)
			other := s
			other.Account = "other"
			r.append(s, other)
		}
		r.must(r.Pack())
		r.append(beat("F0", monday+d*instant.DayMs+1, 1))
	}
	r.must(r.Pack())
	r.now.Store(monday + DefaultRetention.Milliseconds() + 5*instant.DayMs + instant.DayMs/2)
	r.must(r.Sweep(t.Context()))
	for d := range int64(12) {
		for _, station := range []string{"F0", "F0\x00", "F1"} {
			if got := len(r.of(station, Day(monday)+d)) > 0; got != (d >= 5) {
				t.Errorf("%q, day %d: kept %t", station, d, got)
			}
		}
	}
	if n := r.count("parts"); n != 7*6+7 {
		t.Errorf("%d parts are left, want 49", n)
	}
	r.must(r.Merge(t.Context(), 1<<40))
	if n := r.count("parts"); n != 7*6 {
		t.Errorf("%d parts are left after a merge, want 42", n)
	}
}

// TestReadersSeeAllOnce checks that, during appends, packs and merges, a reader sees each acknowledged signal exactly
// once.
func TestReadersSeeAllOnce(t *testing.T) {
	r := newRig(t)
	var acknowledged atomic.Int64
	stop := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := r.Append([]Signal{beat("F0", monday+int64(n), float64(n))}); err != nil {
				t.Error(err)
				return
			}
			acknowledged.Store(int64(n + 1))
		}
	})
	all.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := r.Pack(); err != nil {
				t.Error(err)
			}
			if err := r.Merge(t.Context(), Day(monday)+1); err != nil {
				t.Error(err)
			}
		}
	})
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		least := acknowledged.Load()
		list := r.of("F0", Day(monday))
		for i, s := range list {
			if s.At != monday+int64(i) {
				t.Fatalf("at place %d is the signal of %d", i, s.At-monday)
			}
		}
		if int64(len(list)) < least {
			t.Fatalf("%d signals are read, %d were acknowledged", len(list), least)
		}
	}
	close(stop)
	all.Wait()
}

// TestDamagedTail checks that unreadable signals are reported and not skipped.
func TestDamagedTail(t *testing.T) {
	r := newRig(t)
	r.append(beat("F0", monday, 1))
	r.must(r.store.Update(func(tx *kv.Tx) error { return tail.Put(tx, 7, []byte{9, 9}) }))
	if _, err := NewLog(Config{Store: r.store}); err == nil {
		t.Error("a damaged tail was read")
	}
	r.must(r.store.Update(func(tx *kv.Tx) error { return tail.Delete(tx, 7) }))
	r.must(r.store.Update(func(tx *kv.Tx) error { return parts.Put(tx, partOf("northgate", "F0", Day(monday), 0), []byte{9, 9}) }))
	if _, err := r.Of("northgate", "F0", Day(monday)); err == nil {
		t.Error("a damaged part was read")
	}
}

// BenchmarkAppend appends signals of 100 stations in durable batches of 1,000, from 1 and 8 goroutines, and compares
// with bare bbolt that stores the same bytes in the same batches (8 goroutines with Batch). The target is 0.5.
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 8} {
		b.Run(fmt.Sprint(writers), func(b *testing.B) {
			r := newRig(b)
			batch := make([]Signal, 1000)
			for i := range batch {
				batch[i] = beat(fmt.Sprint("F", i%100), monday+int64(i/100)*5000, float64(-i%20))
				batch[i].Set(ProductionCountGood, float64(i))
			}
			stored := pack(batch, false)
			raw := kvtest.Raw(b, writers)
			const rounds = 64
			many := func(fn func() error) time.Duration {
				var left atomic.Int64
				var all sync.WaitGroup
				begin := time.Now()
				for range writers {
					all.Go(func() {
						for left.Add(1) <= rounds {
							if err := fn(); err != nil {
								b.Error(err)
							}
						}
					})
				}
				all.Wait()
				return time.Since(begin)
			}
			var ratios, rates []float64
			for b.Loop() {
				floor := many(func() error { return raw(stored) })
				own := many(func() error { _, err := r.Append(batch); return err })
				ratios = append(ratios, float64(floor)/float64(own))
				rates = append(rates, rounds*1000/own.Seconds())
				b.StopTimer()
				r.must(r.Pack())
				b.StartTimer()
			}
			slices.Sort(ratios)
			slices.Sort(rates)
			b.ReportMetric(ratios[len(ratios)/2], "ratio_bbolt")
			b.ReportMetric(rates[len(rates)/2], "signals/s")
			b.ReportMetric(float64(len(stored))/1000, "B/signal")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// TestPartsAreBounded checks that a part never has more than the maximum number of signals, packed or merged, and
// that a day with very many is read in pieces.
func TestPartsAreBounded(t *testing.T) {
	apptest.Long(t)
	r := newRig(t)
	const total = 3*maxPart + 100
	rnd := rand.New(rand.NewPCG(7, 8))
	for n := 0; n < total; {
		list := make([]Signal, min(10_000, total-n))
		for i := range list {
			list[i] = beat("F0", monday+rnd.Int64N(instant.DayMs), float64(n))
			n++
		}
		r.append(list...)
		if n%60_000 == 0 {
			r.must(r.Pack())
		}
	}
	r.must(r.Pack())
	whole := func(when string, parted int) {
		t.Helper()
		r.must(r.store.View(func(tx *kv.Tx) error {
			n := 0
			for item, err := range parts.Scan(tx, kv.Range{}) {
				list, bad := readPart(item)
				if err != nil || bad != nil || len(list) > maxPart || item.Key.B.B.B != uint64(n) {
					t.Errorf("%s: part %d has %d signals, %v, %v", when, item.Key.B.B.B, len(list), err, bad)
				}
				n++
			}
			if n != parted {
				t.Errorf("%s: %d parts, want %d", when, n, parted)
			}
			return nil
		}))
		seen := 0
		for from, end := monday, monday+instant.DayMs; from < end; {
			list, until, err := r.Some("northgate", "F0", from, end, 20_000, func() {})
			r.must(err)
			if !slices.IsSortedFunc(list, func(a, b Signal) int { return Compare(&a, &b) }) || len(list) > 20_000 || len(list) > 0 && (list[0].At < from || list[len(list)-1].At >= until) || until <= from {
				t.Fatalf("%s: %d signals of [%d, %d)", when, len(list), from-monday, until-monday)
			}
			seen, from = seen+len(list), until
		}
		if seen != total || len(r.of("F0", Day(monday))) != total {
			t.Errorf("%s: %d signals, want %d", when, seen, total)
		}
	}
	whole("packed", 5)
	r.must(r.Merge(t.Context(), Day(monday)+1))
	whole("merged", 4)
}

// TestMergeLeavesRoom checks that merging neither blocks packing for long nor uses much memory. Days whose parts
// would have to be read repeatedly, and those with very many signals of one time, are not merged.
func TestMergeLeavesRoom(t *testing.T) {
	fill := func(r *rig, parts, each int, step int64) {
		for i := range parts {
			list := make([]Signal, each)
			for k := range list {
				list[k] = beat("F0", monday+(int64(k*parts+i))*step, 1)
			}
			r.append(list...)
			r.must(r.Pack())
		}
	}
	for name, tt := range map[string]struct {
		parts, each int
		step        int64
		reads, want int
	}{
		"few":           {8, 100, 1000, mergeReads, 1},
		"again":         {8, 100, 1000, 799, 8},
		"of one moment": {4, 30_000, 0, mergeReads, 4},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.mergeReads = tt.reads
			fill(r, tt.parts, tt.each, tt.step)
			r.must(r.Merge(t.Context(), Day(monday)+1))
			if n := r.count("parts"); n != tt.want || r.count("open") != 0 {
				t.Errorf("%d parts, want %d; %d days are to be merged", n, tt.want, r.count("open"))
			}
			if n := len(r.of("F0", Day(monday))); n != tt.parts*tt.each {
				t.Errorf("%d signals are kept, want %d", n, tt.parts*tt.each)
			}
			r.check()
		})
	}
	t.Run("long tail", func(t *testing.T) {
		r := newRig(t)
		fill(r, 3, 100, 1000)
		for i := range longTail / 10_000 {
			list := make([]Signal, 10_000)
			for k := range list {
				list[k] = beat("F1", monday+int64(i*10_000+k), 1)
			}
			r.append(list...)
		}
		r.must(r.Merge(t.Context(), Day(monday)+1))
		if n := r.count("parts"); r.Tail() != 0 || n != 1+2 { // one of F0, two of F1
			t.Errorf("%d signals wait to be packed; there are %d parts", r.Tail(), n)
		}
	})
}
