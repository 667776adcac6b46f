package floor_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"opsmon/app/engine/floor/floortest"
	"opsmon/app/ingest/signal"
	"opsmon/app/test/scaling"
	"opsmon/kv/kvtest"
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

// BenchmarkScalingSecond is a second of a plant with a signal of each station every five seconds. Goal: 1,000 stations in 15 %
// of a core and 200 MiB.
func BenchmarkScalingSecond(b *testing.B) {
	scaling.Table(b, []scaling.Figure{
		{What: "a plant with a signal of each station every 5 s, % of a core", Floor: "raw bbolt storing them"},
		{What: "its heap, MiB", Floor: "the last hour's signals alone, 40 bytes each"},
	}, second)
}

func second(b *testing.B, n int) []scaling.Measured {
	r := floortest.New(b, manifestOf(n)).Open(nil)
	list := make([][]signal.Signal, 5)
	second := func(i int) {
		batch := list[i%5][:0]
		for k := i % 5; k < n; k += 5 {
			batch = append(batch, beat(k, 0, i))
		}
		list[i%5] = batch
		r.Pass(time.Second, 0)
		r.Send(batch...)
	}
	const settle, seconds = 400, 60 // until bases settle
	for i := range settle {
		second(i)
	}
	store := kvtest.Raw(b, 1)
	var ours, floor time.Duration
	i := 0
	for b.Loop() {
		began := time.Now()
		for range seconds {
			second(settle + i)
			i++
		}
		ours += time.Since(began)
		began = time.Now()
		for range seconds {
			if err := store(make([]byte, n/5*12)); err != nil {
				b.Fatal(err)
			}
		}
		floor += time.Since(began)
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return []scaling.Measured{
		{Ours: 100 * ours.Seconds() / float64(i), Floor: 100 * floor.Seconds() / float64(i)},
		{Ours: float64(m.HeapInuse) / (1 << 20), Floor: float64(n*720*40) / (1 << 20)},
	}
}

// beat is what a station of the benchmarks sends; At 0 is now.
func beat(station int, at int64, i int) signal.Signal {
	return floortest.Signal(fmt.Sprint("S", station), at, map[signal.Field]float64{
		signal.Productive: float64(1 - i/300%2), signal.ProductionCompleteGood: float64(i % 4), signal.LineSpeed: float64(40 + i%7), signal.ElectricalKw: 3,
	})
}

// BenchmarkScalingDay computes a day of stations with a signal every five seconds again from the log, all in: reading,
// evaluating, and keeping what comes of it; and tells what the day then takes on the disk, signals and all. Goals for 100
// stations: 3 s, 25 MB. BenchmarkRestart is what a start of the service does after such a day.
func BenchmarkScalingDay(b *testing.B) {
	scaling.Table(b, []scaling.Figure{
		{What: "a day again from the log, s", Floor: "reading its signals from the log"},
		{What: "a day on the disk, MB", Floor: "its numbers alone, 8 bytes each"},
	}, func(b *testing.B, n int) []scaling.Measured {
		if n > 100 && testing.Short() {
			b.Skip("takes minutes")
		}
		r, log := dayOf(b, n)
		if err := log.Merge(b.Context(), signal.Day(floortest.At(24*time.Hour))+1); err != nil {
			b.Fatal(err)
		}
		var ours, floor time.Duration
		days := 0
		for b.Loop() {
			r.ForgetAll()
			began := time.Now()
			r.Open(nil)
			r.Compute()
			ours += time.Since(began)
			began = time.Now()
			for k := range n {
				for d := signal.Day(floortest.At(0)); d <= signal.Day(floortest.At(24*time.Hour)); d++ {
					if _, err := log.Of(floortest.Account, fmt.Sprint("S", k), d); err != nil {
						b.Fatal(err)
					}
				}
			}
			floor += time.Since(began)
			days++
		}
		u, err := r.Store.Usage()
		if err != nil {
			b.Fatal(err)
		}
		return []scaling.Measured{
			{Ours: ours.Seconds() / float64(days), Floor: floor.Seconds() / float64(days)},
			{Ours: float64(u.Bytes-u.Free) / 1e6, Floor: float64(n*17_280*4*8) / 1e6},
		}
	})
}

// BenchmarkRestart: see BenchmarkScalingDay.
func BenchmarkRestart(b *testing.B) {
	r, _ := dayOf(b, 100)
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

// BenchmarkScalingWeekend is a start after a weekend without the service, until the stations are served. Goal: 1,000 stations in
// two seconds.
func BenchmarkScalingWeekend(b *testing.B) {
	scaling.Table(b, []scaling.Figure{{What: "a start after a weekend off, s", Floor: "a start after an hour off"}}, func(b *testing.B, n int) []scaling.Measured {
		r := floortest.New(b, manifestOf(n)).Open(nil)
		start := func(off time.Duration) time.Duration {
			r.Compute()
			r.Pass(2*time.Hour, time.Hour)
			r.Pause(off)
			r.Floor.Close()
			began := time.Now()
			r.Open(nil)
			plan, err := r.Floor.Plan(floortest.Account)
			if err == nil {
				_, err = r.Floor.Now(floortest.Account, plan.Stations)
			}
			if err != nil {
				b.Fatal(err)
			}
			return time.Since(began)
		}
		var ours, floor time.Duration
		times := 0
		for b.Loop() {
			ours += start(62 * time.Hour)
			floor += start(time.Hour)
			times++
		}
		return []scaling.Measured{{Ours: ours.Seconds() / float64(times), Floor: floor.Seconds() / float64(times)}}
	})
}

// dayOf is a plant with a day of signals in the log that nobody has evaluated yet.
func dayOf(b *testing.B, n int) (*floortest.Rig, *signal.Log) {
	b.Helper()
	r := floortest.New(b, manifestOf(n))
	log, err := signal.NewLog(signal.Config{Store: r.Store, Clock: r.Now})
	if err != nil {
		b.Fatal(err)
	}
	var batch []signal.Signal
	for at := floortest.At(0); at < floortest.At(24*time.Hour); at += 5000 {
		for k := range n {
			s := beat(k, at, int(at/5000)+k)
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
	return r, log
}
