package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"opsmon/app/auth"
	"opsmon/app/httpapi/rest"
	"opsmon/app/test/scaling"
	"opsmon/kv/kvtest"
)

// signalBatch is the number of signals in a request of the benchmark.
const signalBatch = 1000

// BenchmarkScalingPostSignal: POST /signal with 1,000 signals on 1 and 4 connections of one device, durable, and the
// log's encoding for comparison. The lower bounds are bare bbolt with a transaction for each request, for 4 connections
// combined by Batch, because the log does so. The first one puts the same bytes, each signal as sent. The second one
// puts only the few bytes that the log encodes a request to, without the cost of encoding. The third one is a bare
// net/http server that decodes the same bodies with encoding/json, puts the bytes of the second one and sends the same
// answer. Goals: 50,000 signals/s, and half of the first lower bound.
// half of the first floor.
func BenchmarkScalingPostSignal(b *testing.B) {
	const requests = 50
	floors := []string{"raw bbolt storing the same bytes, a Put for each signal", "raw bbolt storing what the log packs of them, one Put for all", "a bare net/http server with encoding/json before the same"}
	const together = ", what four write together (Batch)"
	connections := []int{1, 4}
	var figures []scaling.Figure
	for _, floor := range floors {
		figures = append(figures, scaling.Figure{What: "signals in over HTTP by one connection, signals/s", Floor: floor})
	}
	for _, floor := range floors {
		figures = append(figures, scaling.Figure{What: "by four connections, signals/s", Floor: floor + together})
	}
	scaling.Table(b, figures, func(b *testing.B, stations int) (out []scaling.Measured) {
		g := newGateway(b, stations)
		value := make([]byte, kvtest.Lengths(b, g.store, "signalTail")[0])
		rates := make([][4][]float64, len(connections))
		var rivals [][4][]func() error
		for _, n := range connections {
			each, store, plain := kvtest.Raw(b, n), kvtest.Raw(b, n), bareIntake(b, kvtest.Raw(b, n), value, g.answer)
			rivals = append(rivals, [4][]func() error{
				repeat(n, func() func() error { return newWire(b, g.http, g.request, 200).do }),
				repeat(n, func() func() error { return func() error { return each(g.signals...) } }),
				repeat(n, func() func() error { return func() error { return store(value) } }),
				repeat(n, func() func() error { return newWire(b, plain, g.request, 200).do }),
			})
		}
		for b.Loop() {
			for i := range rivals {
				for j, workers := range rivals[i] {
					rates[i][j] = append(rates[i][j], signalBatch*requests/slice(b, requests, workers).Seconds())
				}
			}
		}
		b.ReportMetric(float64(len(value))/signalBatch, "B/signal")
		for _, r := range rates {
			for _, floor := range r[1:] {
				out = append(out, scaling.Measured{Ours: median(r[0]), Floor: median(floor)})
			}
		}
		return out
	})
}

// gateway is a service with a device that sends signals of all stations of an account.
type gateway struct {
	*server
	request string   // a raw POST /signal
	signals [][]byte // its signals
	answer  []byte   // the body of its answer
}

func newGateway(b *testing.B, stations int) *gateway {
	s := newServer(b, options{log: quiet(), rate: 10_000_000})
	var codes, list, signals []string
	for i := range stations {
		codes = append(codes, fmt.Sprint("STATION-", i))
		list = append(list, fmt.Sprintf(`{"code":"STATION-%d","name":"Station %d"}`, i, i))
	}
	s.makeAccount("large.example", "admin@large.example", []byte(`{"version":"v1","account":{"id":"large","domain":"large.example","plants":[{"code":"main","name":"Main","timezone":"UTC","dayStartHour":0,"weekStartDay":0,"stationGroups":[{"code":"hall","name":"Hall","stations":[`+strings.Join(list, ",")+`]}]}]}}`))
	_, token, err := s.Auth.AddDevice(auth.Local("large"), auth.DeviceInput{Name: "gw", StationCodes: codes})
	s.must(nil, err)
	begin := time.Now().Add(-time.Hour).UTC()
	for i := range signalBatch {
		signals = append(signals, fmt.Sprintf(`{"stationCode":"STATION-%d","at":"%s","productionCountGood":%d,"lineSpeed":41.5,"rssi":-%d}`, i%stations, begin.Add(time.Duration(i)*time.Second).Format(time.RFC3339), 1000+i, 50+i%20))
	}
	body := `{"signals":[` + strings.Join(signals, ",") + `]}`
	g := &gateway{server: s, request: fmt.Sprintf("POST /signal HTTP/1.1\r\nHost: x\r\nX-API-KEY: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", token, len(body), body)}
	got := s.do(ask{method: "POST", path: "/signal", body: body, key: token})
	got.want(b, 200)
	g.answer = []byte(got.body)
	for _, one := range signals {
		g.signals = append(g.signals, []byte(one))
	}
	ctx, cancel := context.WithCancel(context.Background())
	var packing sync.WaitGroup
	packing.Go(func() { s.Signals.Run(ctx) })
	b.Cleanup(func() { cancel(); packing.Wait() })
	return g
}

// bareIntake returns a server that decodes a batch of signals as a simple program would, stores a value and answers.
func bareIntake(b *testing.B, store func(...[]byte) error, value, answer []byte) *httptest.Server {
	return bare(b, func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Signals []struct {
				StationCode         string
				At                  time.Time
				ProductionCountGood *float64
				LineSpeed           *float64
				RSSI                *float64
			}
		}
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(body, &in)
		}
		if err == nil {
			err = store(value)
		}
		if err != nil || len(in.Signals) != signalBatch {
			http.Error(w, fmt.Sprint(len(in.Signals), " signals: ", err), http.StatusInternalServerError)
			return
		}
		w.Header()["Content-Type"] = rest.JSONType
		w.Header()["Content-Length"] = []string{fmt.Sprint(len(answer))}
		w.Write(answer)
	})
}
