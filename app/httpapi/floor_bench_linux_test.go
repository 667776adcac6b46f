package httpapi

import (
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"opsmon/app/auth"
	"opsmon/app/httpapi/rest"
	"opsmon/kv/kvtest"
)

// BenchmarkPostKeyFloor: POST /key against a bare net/http handler with one bbolt Put of 2,000 bytes, by Update for one
// client and Batch for 64. ratio is the lower bound's time divided by ours (goal 0.6 and 0.7); p99_ratio and cpu_ratio
// likewise. cpu_ratio is least affected by other work on the machine.
func BenchmarkPostKeyFloor(b *testing.B) {
	for _, clients := range []int{1, 64} {
		b.Run(strconv.Itoa(clients), func(b *testing.B) {
			s := newServer(b, options{log: quiet()})
			request := "POST /key HTTP/1.1\r\nHost: x\r\nX-API-KEY: " + s.roleKey(auth.Member) + "\r\nContent-Length: 0\r\n\r\n"
			raw, value := kvtest.Raw(b, clients), make([]byte, 2000)
			floor := bare(b, func(w http.ResponseWriter, r *http.Request) {
				_, err := io.ReadAll(r.Body)
				if err == nil {
					err = raw(value)
				}
				if err != nil {
					b.Error(err)
				}
				w.Header()["Content-Type"] = rest.JSONType
				w.Write([]byte(`{"isSuccess":true}`))
			})
			ours := repeat(clients, func() func() error { return newWire(b, s.http, request, 200).do })
			theirs := repeat(clients, func() func() error { return newWire(b, floor, request, 200).do })
			var ratios, tails, work, took, tail []float64
			for b.Loop() {
				mine, least, again := timed(b, ours), timed(b, theirs), timed(b, ours)
				ratios = append(ratios, 2*least.each/(mine.each+again.each))
				tails = append(tails, 2*least.p99/(mine.p99+again.p99))
				work = append(work, 2*least.cpu/(mine.cpu+again.cpu))
				took, tail = append(took, mine.each), append(tail, mine.p99)
			}
			b.ReportMetric(median(ratios), "ratio")
			b.ReportMetric(median(tails), "p99_ratio")
			b.ReportMetric(median(work), "cpu_ratio")
			b.ReportMetric(median(took), "µs/request")
			b.ReportMetric(median(tail), "µs_p99")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// timing is the time of calls, µs.
type timing struct {
	each float64 // total time divided by the number of calls
	p99  float64 // 99th percentile
	cpu  float64 // processor time of the process, with clients and servers, divided by the number of calls
}

// processor returns the processor time used by the process, µs.
func processor(b *testing.B) float64 {
	var use unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return float64(use.Utime.Nano()+use.Stime.Nano()) / 1000
}

// timed lets each client make some calls.
func timed(b *testing.B, clients []func() error) (t timing) {
	b.Helper()
	before := processor(b)
	calls := max(20, 100/len(clients))
	all := make([]float64, calls*len(clients))
	var wg sync.WaitGroup
	start := time.Now()
	for c, call := range clients {
		wg.Go(func() {
			for i := range calls {
				began := time.Now()
				if err := call(); err != nil {
					b.Error(err)
					return
				}
				all[c*calls+i] = float64(time.Since(began).Nanoseconds()) / 1000
			}
		})
	}
	wg.Wait()
	t.each = float64(time.Since(start).Nanoseconds()) / 1000 / float64(len(all))
	t.cpu = (processor(b) - before) / float64(len(all))
	slices.Sort(all)
	t.p99 = all[len(all)*99/100]
	return t
}
