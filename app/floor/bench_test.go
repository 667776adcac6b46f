package floor_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"opsmon/app/floor/floortest"
	"opsmon/app/signal"
)

// manifestOf is a plant of n stations of one kind.
func manifestOf(n int) string {
	var stations strings.Builder
	for i := range n {
		if i > 0 {
			stations.WriteByte(',')
		}
		fmt.Fprintf(&stations, `{"code":"S%d","name":"Station %d","utilisationDowntimeThreshold":120000}`, i, i)
	}
	head, rest, _ := strings.Cut(floortest.Manifest, `{"code":"PRESS","name"`)
	_, tail, _ := strings.Cut(rest, `]},`)
	return strings.Replace(head, `"stationCodes":["PRESS"]`, `"stationCodes":null`, 1) + stations.String() + `]},` + tail
}

// BenchmarkSecond is a second of a plant with a signal of each station every five seconds: ns/op are of a core's 10^9.
func BenchmarkSecond(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(n, " stations"), func(b *testing.B) {
			r := floortest.New(b, manifestOf(n)).Open(nil)
			list := make([][]signal.Signal, 5)
			second := func(i int) {
				batch := list[i%5][:0]
				for k := i % 5; k < n; k += 5 {
					s := floortest.Signal(fmt.Sprint("S", k), 0, map[signal.Field]float64{
						signal.Productive: float64(1 - i/300%2), signal.ProductionCompleteGood: float64(i % 4), signal.LineSpeed: float64(40 + i%7), signal.ElectricalKw: 3,
					})
					batch = append(batch, s)
				}
				list[i%5] = batch
				r.Pass(time.Second, 0)
				r.Send(batch...)
			}
			for i := range 400 { // until bases settle
				second(i)
			}
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			b.ResetTimer()
			for i := range b.N {
				second(400 + i)
			}
			b.StopTimer()
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.HeapInuse)/(1<<20), "MiB")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/station")
		})
	}
}

// BenchmarkAgain computes a day of a hundred stations with a signal every five seconds again from the log, all in: reading,
// evaluating, and keeping what comes of it. BenchmarkRestart is what a start of the service does after such a day.
func BenchmarkAgain(b *testing.B) {
	r := dayOf(b, 100)
	b.ResetTimer()
	for range b.N {
		b.StopTimer()
		r.ForgetAll()
		b.StartTimer()
		r.Open(nil)
		if err := r.Floor.Pass(floortest.Account); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRestart: see BenchmarkAgain.
func BenchmarkRestart(b *testing.B) {
	r := dayOf(b, 100)
	r.Open(nil)
	if err := r.Floor.Pass(floortest.Account); err != nil {
		b.Fatal(err)
	}
	r.Pass(time.Hour, 0)
	b.ResetTimer()
	for range b.N {
		r.Open(nil)
		if err := r.Floor.Pass(floortest.Account); err != nil {
			b.Fatal(err)
		}
	}
}

// dayOf is a plant with a day of signals in the log that nobody has evaluated yet.
func dayOf(b *testing.B, n int) *floortest.Rig {
	b.Helper()
	r := floortest.New(b, manifestOf(n))
	log, err := signal.NewLog(signal.Config{Store: r.Store, Clock: r.Now})
	if err != nil {
		b.Fatal(err)
	}
	var batch []signal.Signal
	for at := floortest.At(0); at < floortest.At(24*time.Hour); at += 5000 {
		for k := range n {
			i := int(at/5000) + k
			s := floortest.Signal(fmt.Sprint("S", k), at, map[signal.Field]float64{
				signal.Productive: float64(1 - i/300%2), signal.ProductionCompleteGood: float64(i % 4), signal.LineSpeed: float64(40 + i%7), signal.ElectricalKw: 3,
			})
			s.Account, s.Source, s.Arrived = floortest.Account, "device:works/gateway", at
			batch = append(batch, s)
		}
		if len(batch) >= 5000 {
			if _, err := log.Append(batch); err != nil {
				b.Fatal(err)
			}
			if batch = batch[:0]; log.Tail() > 200_000 {
				if err := log.Pack(); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	if err := log.Pack(); err != nil {
		b.Fatal(err)
	}
	r.Pause(24*time.Hour + time.Minute)
	return r
}
