package httpapi

import (
	"testing"
	"time"

	"opsmon/app/auth"
	"opsmon/app/ingest/signal"
)

// BenchmarkTimelineMonth requests a month of a station, with a signal every ten seconds, in the rows of a chart:
// everything from the request to the answer. Goal: 50 ms on one core.
func BenchmarkTimelineMonth(b *testing.B) {
	s := newServer(b, options{log: quiet()})
	key := s.roleKey(auth.Readonly)
	s.must(nil, s.Floor.Pass("acme"))
	to := s.clock.now().Add(-24 * time.Hour).Truncate(time.Hour)
	days := 31
	if testing.Short() {
		days = 7
	}
	start := to.AddDate(0, 0, -days)
	var list []signal.Signal
	for at, i := start, 0; at.Before(to); at, i = at.Add(10*time.Second), i+1 {
		x := signal.Signal{Account: "acme", Station: "PACK-1", Source: "device:acme/gw", At: at.UnixMilli(), Arrived: at.UnixMilli()}
		x.Set(signal.Productive, float64(1-i/40%7/6))
		x.Set(signal.ProductionCompleteGood, float64(i%3))
		x.Set(signal.LineSpeed, float64(50+i%11))
		x.Set(signal.ElectricalKwhInterval, 0.01)
		if list = append(list, x); len(list) == 10_000 {
			s.must(s.Signals.Append(list))
			s.must(nil, s.Signals.Pack())
			list = list[:0]
		}
	}
	s.must(s.Signals.Append(list))
	left := []string{"PACK-1"}
	for try := 0; len(left) > 0; try++ {
		s.clock.advance(2 * time.Hour) // signals that are late by a month are processed once an hour
		s.must(nil, s.Floor.Pass("acme"))
		var err error
		if left, err = s.Floor.Follow("acme", []string{"PACK-1"}, 20*time.Second); err != nil || try == 5 {
			b.Fatalf("%v is not computed again: %v", left, err)
		}
	}
	s.must(nil, s.Signals.Pack())
	w := newWire(b, s.http, "GET /timeline?stationcode=PACK-1&"+rangeOf(start, 0, time.Duration(days)*24*time.Hour)+" HTTP/1.1\r\nHost: x\r\nX-API-KEY: "+key+"\r\nAccept-Encoding: gzip\r\n\r\n", 200)
	b.ReportAllocs()
	for b.Loop() {
		if err := w.do(); err != nil {
			b.Fatal(err)
		}
	}
}
