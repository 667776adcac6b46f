package account

import (
	"bytes"
	"encoding/json"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"testing"
	"time"

	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/kv"
	"opsmon/kv/kvtest"
	"opsmon/schema/schematest"
)

// peakHeap runs fn and returns how much the heap grew at most, in bytes, sampled every millisecond.
func peakHeap(fn func()) uint64 {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	before := sample[0].Value.Uint64()
	stop, peak := make(chan struct{}), make(chan uint64)
	go func() {
		own := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		most := before
		for {
			metrics.Read(own)
			most = max(most, own[0].Value.Uint64())
			select {
			case <-stop:
				peak <- most - before
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	fn()
	close(stop)
	return <-peak
}

// BenchmarkApplyLarge applies a manifest of 10,000 stations and 30,000 SKUs, from its bytes until it is durable, and
// compares with json.Unmarshal of the same bytes. It reports the median ratios of time and of peak heap.
func BenchmarkApplyLarge(b *testing.B) {
	raw := schematest.Large(10_000, 30_000)
	store := kvtest.New(b, func(c *kv.Config) { c.Buckets = slices.Concat(Buckets(), audit.Buckets()) })
	s, err := New(Config{Store: store})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	d, err := s.Draft(CreateInput{ID: "large", Domain: "large.example"})
	if err != nil {
		b.Fatal(err)
	}
	var done func()
	if err := store.Update(func(tx *kv.Tx) (err error) { done, err = s.CreateTx(tx, d, true, auth.Local("")); return err }); err != nil {
		b.Fatal(err)
	}
	done()
	p := auth.Local("large")
	var times, heaps []float64
	n := 0
	for b.Loop() {
		var floorTime, ourTime time.Duration
		floorHeap := peakHeap(func() {
			start := time.Now()
			var v any
			if err := json.Unmarshal(raw, &v); err != nil {
				b.Fatal(err)
			}
			floorTime = time.Since(start)
			runtime.KeepAlive(v)
		})
		n++ // a different manifest each time
		changed := bytes.Replace(raw, []byte("0.2371"), []byte("0."+strconv.Itoa(1000+n)), 1)
		ourHeap := peakHeap(func() {
			start := time.Now()
			if _, err := s.Apply(p, ApplyInput{Raw: changed}); err != nil {
				b.Fatal(err)
			}
			ourTime = time.Since(start)
		})
		times = append(times, float64(ourTime)/float64(floorTime))
		heaps = append(heaps, float64(ourHeap)/float64(floorHeap))
	}
	slices.Sort(times)
	slices.Sort(heaps)
	b.ReportMetric(times[len(times)/2], "x-unmarshal-time")
	b.ReportMetric(heaps[len(heaps)/2], "x-unmarshal-heap")
	b.ReportMetric(0, "ns/op")
}
