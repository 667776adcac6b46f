package schema

import (
	"encoding/json"
	"runtime"
	"runtime/metrics"
	"slices"
	"testing"
	"time"

	"opsmon/schema/schematest"
	"opsmon/schema/strictjson"
)

// BenchmarkLarge decodes and validates a manifest of 10,000 stations and 30,000 SKUs, and compares duration and peak
// heap with json.Unmarshal of the same bytes, alternately. The targets are 4 times its duration and 2.2 times its
// heap.
func BenchmarkLarge(b *testing.B) {
	doc := schematest.Large(10_000, 30_000)
	compiled(Manifest)
	plain := func() any {
		var v any
		if err := json.Unmarshal(doc, &v); err != nil {
			b.Fatal(err)
		}
		return v
	}
	strict := func() any {
		v, err := strictjson.Decode(doc)
		if err != nil {
			b.Fatal(err)
		}
		return v
	}
	valid := func() any {
		v := strict()
		if found := Validate(Manifest, v); found != nil {
			b.Fatal(found[0])
		}
		return v
	}
	var plainTime, strictTime, validTime []time.Duration
	var plainHeap, strictHeap, validHeap []uint64
	for b.Loop() {
		plainTime = append(plainTime, duration(plain))
		strictTime = append(strictTime, duration(strict))
		validTime = append(validTime, duration(valid))
		plainHeap = append(plainHeap, peakHeap(plain))
		strictHeap = append(strictHeap, peakHeap(strict))
		validHeap = append(validHeap, peakHeap(valid))
	}
	b.ReportMetric(float64(median(plainTime).Milliseconds()), "unmarshal-ms")
	b.ReportMetric(ratio(strictTime, plainTime), "decode-time")
	b.ReportMetric(ratio(validTime, plainTime), "all-time")
	b.ReportMetric(float64(median(plainHeap))/1e6, "unmarshal-MB")
	b.ReportMetric(ratio(strictHeap, plainHeap), "decode-heap")
	b.ReportMetric(ratio(validHeap, plainHeap), "all-heap")
}

// duration runs f after a garbage collection and returns its duration.
func duration(f func() any) time.Duration {
	runtime.GC()
	start := time.Now()
	v := f()
	took := time.Since(start)
	runtime.KeepAlive(v)
	return took
}

// peakHeap runs f and returns how much the heap grew at most, in bytes.
func peakHeap(f func() any) uint64 {
	inUse := func() uint64 {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	runtime.GC()
	before := inUse()
	done, peak := make(chan struct{}), make(chan uint64)
	go func() {
		most := before
		for {
			select {
			case <-done:
				peak <- max(most, inUse()) - before
				return
			case <-time.After(time.Millisecond):
				most = max(most, inUse())
			}
		}
	}()
	v := f()
	close(done)
	runtime.KeepAlive(v)
	return <-peak
}

func median[T int64 | uint64 | time.Duration](values []T) T {
	return slices.Sorted(slices.Values(values))[len(values)/2]
}

func ratio[T int64 | uint64 | time.Duration](a, b []T) float64 {
	return float64(median(a)) / float64(median(b))
}

// BenchmarkCompile measures the additional cost of a process's first validation of a manifest.
func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		if _, err := compile(Manifest); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRequest validates a typical small body.
func BenchmarkRequest(b *testing.B) {
	v := decode(`{"currency":"EUR","electricalPricePerKwh":0.2371,"enableTasks":"on","includeReasonCodes":["BRK","CHG"]}`)
	b.ReportAllocs()
	for b.Loop() {
		if found := Validate(AccountUpdate, v); found != nil {
			b.Fatal(found)
		}
	}
}
