package httpapi

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"opsmon/app/auth"
	"opsmon/app/event"
)

// BenchmarkEvents tells what 300 clients with an update a second each cost, in percent of one core and in MiB beyond
// what the process had before, and what the same costs with the least that net/http can do. Clients are in the
// figures, the same ones for both. Use -benchtime=10x: an iteration is a second.
func BenchmarkEvents(b *testing.B) {
	const clients = 300
	update := json.RawMessage(`{"stationCode":"PACK-1","statusCode":"productive","statusCodeUpdatedAt":"2026-11-20T08:15:30.123Z","good":12345,"bad":17,"lineSpeed":118.5,"operator":"ANN"}`)
	b.Run("bare", func(b *testing.B) {
		news := make(chan chan struct{}, 1)
		first := make(chan struct{})
		news <- first
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			rc := http.NewResponseController(w)
			next := <-news
			news <- next
			rc.Flush()
			for n := 0; ; n++ {
				select {
				case <-r.Context().Done():
					return
				case <-next:
				}
				next = <-news
				news <- next
				fmt.Fprintf(w, "id: %d\nevent: station\ndata: %s\n\n", n, update)
				rc.Flush()
			}
		}))
		defer server.Close()
		defer server.CloseClientConnections()
		measure(b, clients, server, func(int) string { return "" }, func() {
			old := <-news
			news <- make(chan struct{})
			close(old)
		})
	})
	for name, updates := range map[string]int{"ours": 1, "ours, 300 updates a second to each": 300} {
		b.Run(name, func(b *testing.B) {
			s := newServer(b, options{log: slog.New(slog.DiscardHandler)})
			s.api.streams.times.life = time.Hour
			var keys []string
			for range clients/maxStreamsEach + 1 {
				keys = append(keys, s.roleKey(auth.Readonly))
			}
			measure(b, clients, s.http, func(i int) string { return keys[i/maxStreamsEach] }, func() {
				for i := range updates {
					if i > 0 {
						time.Sleep(time.Second / time.Duration(updates))
					}
					s.events.Publish("acme", event.Event{Type: event.Station, Station: fmt.Sprint("PACK-", i%3), Data: update})
				}
			})
			s.api.EndStreams()
		})
	}
}

func measure(b *testing.B, clients int, server *httptest.Server, key func(int) string, publish func()) {
	var got atomic.Int64
	before := resident(b)
	for i := range clients {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { conn.Close() })
		fmt.Fprintf(conn, "GET /events HTTP/1.1\r\nHost: x\r\nX-API-KEY: %s\r\n\r\n", key(i))
		go func() {
			buf := make([]byte, 4096)
			for {
				n, err := conn.Read(buf)
				if err != nil {
					return
				}
				for j := range n - 1 {
					if buf[j] == '\n' && buf[j+1] == '\n' {
						got.Add(1)
					}
				}
			}
		}()
	}
	time.Sleep(time.Second)
	got.Store(0)
	used := cpu(b)
	b.ResetTimer()
	for range b.N {
		publish()
		time.Sleep(time.Second)
	}
	b.StopTimer()
	used = cpu(b) - used
	if n := got.Load(); n < int64(clients*b.N) {
		b.Fatalf("%d updates came, want %d", n, clients*b.N)
	}
	b.ReportMetric(100*used.Seconds()/b.Elapsed().Seconds(), "%core")
	b.ReportMetric(resident(b)-before, "MiB")
}

func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// resident is what of the heap and the stacks is in use, in MiB.
func resident(*testing.B) float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapInuse+m.StackInuse) / (1 << 20)
}
