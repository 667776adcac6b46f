package account

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"opsmon/app/account/manifest"
	"opsmon/kv"
	"opsmon/kv/kvtest"
)

// writers runs fn n times from a number of goroutines and returns the average duration.
func writers(goroutines, n int, fn func(i int)) time.Duration {
	var next atomic.Int64
	var all sync.WaitGroup
	begin := time.Now()
	for range goroutines {
		all.Go(func() {
			for {
				i := int(next.Add(1))
				if i > n {
					return
				}
				fn(i)
			}
		})
	}
	all.Wait()
	return time.Since(begin) / time.Duration(n)
}

// BenchmarkUpdate changes one setting, from the decoded body until it is durable and published, with 1 and with 64
// goroutines. It compares with a store that writes the same number of bytes as one value, alternately, and reports
// the median ratio.
func BenchmarkUpdate(b *testing.B) {
	for _, goroutines := range []int{1, 64} {
		b.Run(fmt.Sprintf("%d", goroutines), func(b *testing.B) {
			h := newPlant(b)
			floor := kv.NewBucket("floor", kv.Uint64, kv.Raw)
			other := kvtest.New(b, func(c *kv.Config) { c.Buckets = []string{floor.Name()} })
			stored := make([]byte, h.storedByUpdate())
			b.Logf("%d bytes a change", len(stored))
			const n = 512
			var ratios, ours []float64
			round := 0
			for b.Loop() {
				round++
				base := writers(goroutines, n, func(i int) {
					if err := other.Update(func(tx *kv.Tx) error { return floor.Put(tx, uint64(round*n+i), stored) }); err != nil {
						b.Error(err)
					}
				})
				own := writers(goroutines, n, func(i int) {
					if _, err := h.Update(boss(), map[string]any{"currency": []any{"EUR", "GBP", "USD"}[i%3], "dashboardConfig": fmt.Sprintf(`{"n": %d}`, round*n+i)}, nil); err != nil {
						b.Error(err)
					}
				})
				ratios, ours = append(ratios, float64(own)/float64(base)), append(ours, float64(own)/1000)
			}
			slices.Sort(ratios)
			slices.Sort(ours)
			b.ReportMetric(ratios[len(ratios)/2], "x-put")
			b.ReportMetric(ours[len(ours)/2], "µs/update")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// storedByUpdate returns the approximate number of bytes that changing one setting writes: the record, the revision
// with the record, and the audit record.
func (h *house) storedByUpdate() int {
	h.t.Helper()
	a := h.post(`{"currency": "USD", "dashboardConfig": "{\"n\": 1000}"}`)
	r := Revision{Number: a.Revision, CreatedAt: a.UpdatedAt, Author: boss().Email, Account: *a}
	return len(manifest.Encode(a)) + len(manifest.Encode(r)) + len(manifest.Encode(h.auditTrail()[0]))
}

// BenchmarkResolve resolves a station of the example plant and one of a large account.
func BenchmarkResolve(b *testing.B) {
	resolve := func(h *house, code string) func(b *testing.B) {
		return func(b *testing.B) {
			snap := h.now()
			for b.Loop() {
				if _, err := snap.Resolve(code); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.Run("plant", resolve(newPlant(b), "OVEN-1"))
	h := newHouse(b)
	h.create(CreateInput{Domain: "northfield.example"})
	h.apply([]byte(wrap(`"skus":[`+list(30_000, func(i int) string {
		return fmt.Sprintf(`{"code":"%d","name":"S","cycleTime":1,"stationCodes":["%d"]}`, i, i%10_000)
	})+`],`,
		`{"code":"line","name":"L","stations":[`+list(10_000, func(i int) string { return fmt.Sprintf(`{"code":"%d","name":"b"}`, i) })+`]}`)))
	b.Run("10,000 stations and 30,000 SKUs", resolve(h, "7777"))
}

// BenchmarkHostile validates the documents of TestHostile.
func BenchmarkHostile(b *testing.B) {
	for _, c := range hostile {
		b.Run(c.name, func(b *testing.B) {
			raw := []byte(c.make(b, 1))
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				Validate(raw, start)
			}
		})
	}
}
