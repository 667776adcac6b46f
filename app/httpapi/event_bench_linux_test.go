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
	"opsmon/app/deliver/event"
	"opsmon/app/test/scaling"
)

// BenchmarkScalingEvents measures 300 tablets that follow all stations, with an event of each station every ten seconds,
// in percent of one core and in MiB above the initial memory. For comparison it measures a minimal net/http server.
// Both include the same clients. An iteration is a second.
func BenchmarkScalingEvents(b *testing.B) {
	scaling.Table(b, []scaling.Figure{
		{What: "300 tablets that see each station change every 10 s, % of a core", Floor: "bare net/http writing the same"},
		{What: "their memory, MiB", Floor: "bare net/http"},
	}, func(b *testing.B, stations int) []scaling.Measured {
		updates, seconds := stations/10, max(2, min(b.N, 10))
		bare := bareStreams(b)
		defer bare.close()
		floorCPU, floorMemory := measure(b, seconds, updates, bare.server, func(int) string { return "" }, bare.publish)
		s := newServer(b, options{log: slog.New(slog.DiscardHandler)})
		s.api.events.streams.times.life = time.Hour
		var keys []string
		for range tablets/maxStreamsEach + 1 {
			keys = append(keys, s.roleKey(auth.Readonly))
		}
		cpu, memory := measure(b, seconds, updates, s.http, func(i int) string { return keys[i/maxStreamsEach] }, func(i int) {
			s.Events.Publish("acme", event.Event{Type: event.Station, Station: fmt.Sprint("PACK-", i), Data: streamed})
		})
		s.api.EndStreams()
		return []scaling.Measured{{Ours: cpu, Floor: floorCPU}, {Ours: memory, Floor: floorMemory}}
	})
}

const tablets = 300

var streamed = json.RawMessage(`{"stationCode":"PACK-1","statusCode":"productive","statusCodeUpdatedAt":"2026-11-20T08:15:30.123Z","good":12345,"bad":17,"lineSpeed":118.5,"operator":"ANN"}`)

// bareStreaming is a minimal event stream: each stream waits for the next event.
type bareStreaming struct {
	server *httptest.Server
	next   chan chan struct{} // has the channel that the next event closes
	done   chan struct{}
}

func bareStreams(b *testing.B) *bareStreaming {
	b.Helper()
	x := &bareStreaming{next: make(chan chan struct{}, 1), done: make(chan struct{})}
	x.next <- make(chan struct{})
	wait := func() chan struct{} {
		next := <-x.next
		x.next <- next
		return next
	}
	x.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		rc := http.NewResponseController(w)
		next := wait()
		rc.Flush()
		for n := 0; ; n++ {
			select {
			case <-r.Context().Done():
				return
			case <-x.done:
				return
			case <-next:
			}
			next = wait()
			fmt.Fprintf(w, "id: %d\nevent: station\ndata: %s\n\n", n, streamed)
			rc.Flush()
		}
	}))
	return x
}

func (x *bareStreaming) publish(int) {
	old := <-x.next
	x.next <- make(chan struct{})
	close(old)
}

func (x *bareStreaming) close() {
	close(x.done)
	x.server.CloseClientConnections()
	x.server.Close()
}

// measure lets tablets receive events for some seconds, with evenly spread updates.
func measure(b *testing.B, seconds, updates int, server *httptest.Server, key func(int) string, publish func(i int)) (core, mebibytes float64) {
	var got atomic.Int64
	before := resident(b)
	var conns []net.Conn
	for i := range tablets {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		conns = append(conns, conn)
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
	used, began := cpu(b), time.Now()
	for range seconds {
		for i := range updates {
			publish(i)
			time.Sleep(time.Second / time.Duration(updates))
		}
	}
	used = cpu(b) - used
	core = 100 * used.Seconds() / time.Since(began).Seconds()
	if n := got.Load(); n < tablets*int64(seconds) {
		b.Fatalf("%d updates came, of %d", n, tablets*seconds*updates)
	}
	mebibytes = resident(b) - before
	for _, c := range conns {
		c.Close()
	}
	return core, mebibytes
}

func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// resident returns the used memory of heap and stacks, MiB.
func resident(*testing.B) float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapInuse+m.StackInuse) / (1 << 20)
}
