package httpapi

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"opsmon/app/auth"
	"opsmon/app/growth"
	"opsmon/kv/kvtest"
)

// BenchmarkGrowthPostSignal: POST /signal with 1,000 signals by 1 and 4 connections of one device, durable, with the log's
// packing beside it, against a bare bbolt that stores as many bytes as the log does with each request. Goals: 50,000
// signals/s, and half of the floor.
func BenchmarkGrowthPostSignal(b *testing.B) {
	const batch, bytesEach, requests = 1000, 12, 50
	growth.Table(b, []growth.Figure{
		{What: "signals in over HTTP by one connection, signals/s", Floor: "raw bbolt storing the same bytes"},
		{What: "by four connections, signals/s", Floor: "raw bbolt storing the same bytes, together"},
	}, func(b *testing.B, stations int) (out []growth.Measured) {
		s := newServer(b, options{log: quiet(), rate: 10_000_000})
		var codes, list []string
		for i := range stations {
			codes = append(codes, fmt.Sprint("STATION-", i))
			list = append(list, fmt.Sprintf(`{"code":"STATION-%d","name":"Station %d"}`, i, i))
		}
		s.makeAccount("large.example", "admin@large.example", []byte(`{"version":"v1","account":{"id":"large","domain":"large.example","plants":[{"code":"main","name":"Main","timezone":"UTC","dayStartHour":0,"weekStartDay":0,"stationGroups":[{"code":"hall","name":"Hall","stations":[`+strings.Join(list, ",")+`]}]}]}}`))
		_, token, err := s.auth.AddDevice(auth.Local("large"), auth.DeviceInput{Name: "gw", StationCodes: codes})
		s.must(nil, err)
		ctx, cancel := context.WithCancel(b.Context())
		var packing sync.WaitGroup
		packing.Go(func() { s.signals.Run(ctx) })
		defer packing.Wait()
		defer cancel()
		signals := make([]string, batch)
		begin := time.Now().Add(-time.Hour).UTC()
		for i := range signals {
			signals[i] = fmt.Sprintf(`{"stationCode":"STATION-%d","at":"%s","productionCountGood":%d,"lineSpeed":41.5,"rssi":-%d}`, i%stations, begin.Add(time.Duration(i)*time.Second).Format(time.RFC3339), 1000+i, 50+i%20)
		}
		body := `{"signals":[` + strings.Join(signals, ",") + `]}`
		request := fmt.Sprintf("POST /signal HTTP/1.1\r\nHost: x\r\nX-API-KEY: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", token, len(body), body)
		alone, together := kvtest.Raw(b)
		value := make([]byte, batch*bytesEach)
		ours := func(n int) []func() error {
			return repeat(n, func() func() error { return newWire(b, s.http, request, 200).do })
		}
		workers := [][]func() error{ours(1), ours(4)}
		floors := [][]func() error{{func() error { return alone(value) }}, repeat(4, func() func() error { return func() error { return together(value) } })}
		rate := func(work []func() error) float64 { return batch * requests / slice(b, requests, work).Seconds() }
		rates := make([][2][]float64, len(workers))
		for b.Loop() {
			for i := range workers {
				rates[i][0] = append(rates[i][0], rate(workers[i]))
				rates[i][1] = append(rates[i][1], rate(floors[i]))
			}
		}
		for i := range rates {
			out = append(out, growth.Measured{Ours: median(rates[i][0]), Floor: median(rates[i][1])})
		}
		return out
	})
}
