package httpapi

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"opsmon/app/auth"
)

// BenchmarkPostSignal: POST /signal with 1,000 signals by 1 and 4 connections of one device, durable, against a bare server
// that stores as many bytes as the log does, with each request. Goal: 50,000 signals/s. What the storing alone costs is told by
// BenchmarkAppend of package signal, whose goal is 0.5.
func BenchmarkPostSignal(b *testing.B) {
	const batch, bytesEach = 1000, 12
	for _, connections := range []int{1, 4} {
		b.Run(strconv.Itoa(connections), func(b *testing.B) {
			s := newServer(b, options{log: quiet(), rate: 10_000_000})
			_, token, err := s.auth.AddDevice(auth.Local("acme"), auth.DeviceInput{Name: "gw", StationCodes: []string{"PACK-1", "PACK-2", "KWH-1"}})
			s.must(nil, err)
			ctx, cancel := context.WithCancel(b.Context())
			var packing sync.WaitGroup
			packing.Go(func() { s.signals.Run(ctx) })
			defer packing.Wait()
			defer cancel()
			signals := make([]string, batch)
			begin := time.Now().Add(-time.Hour).UTC()
			for i := range signals {
				signals[i] = fmt.Sprintf(`{"stationCode":"PACK-%d","at":"%s","productionCountGood":%d,"lineSpeed":41.5,"rssi":-%d}`, 1+i%2, begin.Add(time.Duration(i)*time.Second).Format(time.RFC3339), 1000+i, 50+i%20)
			}
			body := `{"signals":[` + strings.Join(signals, ",") + `]}`
			request := fmt.Sprintf("POST /signal HTTP/1.1\r\nHost: x\r\nX-API-KEY: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", token, len(body), body)
			began, before := time.Now(), s.signals.Counts().Accepted
			slice(b, 100, repeat(connections, func() func() error { return newWire(b, s.http, request, 200).do }))
			rate := float64(s.signals.Counts().Accepted-before) / time.Since(began).Seconds()
			race(b, rivals{
				repeat(connections, func() func() error { return newWire(b, s.http, request, 200).do }),
				storing(b, connections, request, make([]byte, batch*bytesEach)),
			})
			b.ReportMetric(rate, "signals/s")
		})
	}
}
