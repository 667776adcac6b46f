package kill_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"

	"opsmon/app/test/apptest"
)

// A flood is far more than a plant sends, but within the limits of one device.
const (
	floodStations  = 30
	floodPerSecond = 15_000
	floodMost      = 400 << 10 // KiB of memory that the service may use meanwhile
	floodStop      = 5 * time.Second
)

// TestMemoryUnderAFlood: however many signals arrive, over HTTP or MQTT, with or without IDs, the service's memory is
// limited, because it slows down senders. Requests of people succeed meanwhile, and the service stops when asked to.
func TestMemoryUnderAFlood(t *testing.T) {
	kinds := map[string]func(*flood){"HTTP with ids": (*flood).httpIDs, "MQTT": (*flood).mqtt}
	if floodLasts > time.Minute { // the effect of rapidly changing machines on memory is visible after minutes
		kinds["HTTP"], kinds["HTTP of machines that flicker"] = (*flood).http, (*flood).httpFlicker
	}
	for name, send := range kinds {
		t.Run(name, func(t *testing.T) {
			f := newFlood(t)
			send(f)
			peak := f.watch(floodLasts)
			close(f.end)
			f.senders.Wait()
			began := time.Now()
			if status := f.p.End(t, syscall.SIGTERM); status != 0 {
				t.Errorf("exit status %d: %s", status, f.p.Stderr)
			}
			ended := time.Since(began)
			t.Logf("%d signals, %.0f a second, %d times asked to wait; %d MiB at most, %d without the mapped store; a write took %v at most, the end %v",
				f.sent.Load(), float64(f.sent.Load())/floodLasts.Seconds(), f.waited.Load(), peak>>10, f.anon>>10, f.slowest, ended)
			if peak > floodMost {
				t.Errorf("%d MiB are in memory, want %d", peak>>10, floodMost>>10)
			}
			if ended > floodStop {
				t.Errorf("it took %v to end", ended)
			}
		})
	}
}

// flood is a service and its senders.
type flood struct {
	t       *testing.T
	p       *apptest.Process
	key     string // of the administrator
	device  string // its token
	broker  string // address for MQTT
	end     chan struct{}
	senders sync.WaitGroup

	sent, waited atomic.Int64
	slowest      time.Duration
	anon         int // limit of anonymous memory, KiB
}

func newFlood(t *testing.T) *flood {
	dir := t.TempDir()
	var stations, codes []string
	for i := range floodStations {
		code := fmt.Sprint("S", i)
		stations = append(stations, fmt.Sprintf(`{"code":%q,"name":%q}`, code, code))
		codes = append(codes, `"`+code+`"`)
	}
	manifest := `{"version":"v1","account":{"id":"northgate","domain":"northgate.example","plants":[{"code":"main","name":"Main","timezone":"UTC","dayStartHour":0,"weekStartDay":0,"stationGroups":[{"code":"hall","name":"Hall","stations":[` + strings.Join(stations, ",") + `]}]}]}}`
	apptest.WriteIn(t, dir, "plant.json", manifest)
	f := &flood{t: t, end: make(chan struct{})}
	f.key = apptest.Initialise(t, dir, "--domain", "northgate.example", "--manifest", filepath.Join(dir, "plant.json"))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.broker = l.Addr().String()
	l.Close()
	f.p = apptest.StartService(t, dir, "--mqtt-insecure-networks", "127.0.0.0/8", "--mqtt-insecure-listen", f.broker)
	var made struct{ Result struct{ Token string } }
	if resp, err := f.p.Do("POST", "/device", f.key, `{"name":"gw","stationCodes":[`+strings.Join(codes, ",")+`]}`, &made); err != nil || resp.StatusCode != 200 {
		t.Fatalf("a device: %v, %v", resp, err)
	}
	f.device = made.Result.Token
	return f
}

// watch observes the service's memory, and makes a write from time to time like a person.
func (f *flood) watch(d time.Duration) (peak int) {
	for began, n := time.Now(), 0; time.Since(began) < d; n++ {
		time.Sleep(time.Second)
		rss := f.p.ResidentKiB(f.t)
		f.anon = max(f.anon, f.p.MemoryKiB(f.t, "RssAnon"))
		if peak = max(peak, rss); n%15 == 0 {
			f.t.Logf("%3.0f s: %d signals, %d MiB, %d of them anonymous", time.Since(began).Seconds(), f.sent.Load(), rss>>10, f.p.MemoryKiB(f.t, "RssAnon")>>10)
		}
		asked := time.Now()
		resp, err := f.p.Do("POST", "/message", f.key, fmt.Sprintf(`{"stationCode":"S3","text":"message %d","initials":"ANN"}`, n), nil)
		if err != nil || resp.StatusCode != 200 { // 503: the other requests used up the account's limit
			f.t.Errorf("a message: %v, %v after %v", resp, err, time.Since(asked))
		}
		f.slowest = max(f.slowest, time.Since(asked))
	}
	return peak
}

// paced calls fn repeatedly, so that it does n a second if each call does each.
func (f *flood) paced(perSecond, each int, fn func(n int) (done int)) {
	f.senders.Go(func() {
		sent := 0
		for began, n := time.Now(), 0; ; n++ {
			due := began.Add(time.Duration(float64(sent+each) / float64(perSecond) * float64(time.Second)))
			select {
			case <-f.end:
				return
			case <-time.After(time.Until(due)):
			}
			done := fn(n)
			sent += each
			f.sent.Add(int64(done))
		}
	})
}

func (f *flood) http() { f.posts(steady, "", floodPerSecond) }

// httpIDs sends signals with IDs of 60 characters.
func (f *flood) httpIDs() { f.posts(steady, strings.Repeat("0123456789", 5), floodIDs) }

// httpFlicker sends signals that each change the state of their machine and have a distinct error code.
func (f *flood) httpFlicker() {
	f.posts(func(n, i int) string {
		on := i/floodStations%2 == 0
		return fmt.Sprintf(`"productive":%t,"lineSpeed":%d.5,"productionCountGood":%d,"errorCode":"E%d-%d"`, on, i%7, i%5*100, n, i)
	}, "", floodPerSecond)
}

// steady returns the values of a signal of a machine without changes, by the number of its batch and its index.
func steady(n, i int) string {
	return fmt.Sprintf(`"productionCompleteGood":1,"productive":%t,"lineSpeed":%d.5`, n%60 > 3, 40+i%7)
}

// posts sends batches of 1,000 on two connections. IDs begin with id, unless that is empty.
func (f *flood) posts(values func(n, i int) string, id string, perSecond int) {
	const each, connections = 1000, 2
	for c := range connections {
		body := new(bytes.Buffer)
		f.paced(perSecond/connections, each, func(n int) int {
			body.Reset()
			body.WriteString(`{"signals":[`)
			at := time.Now().UTC()
			for i := range each {
				if i > 0 {
					body.WriteByte(',')
				}
				fmt.Fprintf(body, `{"stationCode":"S%d","at":"%s",%s`,
					i%floodStations, at.Add(-time.Duration(each-i)*66*time.Microsecond).Format("2006-01-02T15:04:05.000Z"), values(n, i))
				if id != "" {
					fmt.Fprintf(body, `,"id":"%s%02d%08d"`, id, c, n*each+i)
				}
				body.WriteByte('}')
			}
			body.WriteString(`]}`)
			return f.post(body.Bytes(), each)
		})
	}
}

// post sends a batch until it is accepted.
func (f *flood) post(body []byte, n int) int {
	for {
		req, err := http.NewRequest("POST", f.p.URL+"/signal", bytes.NewReader(body))
		if err != nil {
			f.t.Error(err)
			return 0
		}
		req.Header.Set("X-API-KEY", f.device)
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			f.t.Error(err)
			return 0
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		switch resp.StatusCode {
		case http.StatusOK:
			return n
		case http.StatusTooManyRequests, http.StatusServiceUnavailable:
			f.waited.Add(1)
		default:
			f.t.Errorf("signals: %s", resp.Status)
			return 0
		}
		select {
		case <-f.end:
			return 0
		case <-time.After(time.Second):
		}
	}
}

// mqtt sends messages with QoS 1 on four connections, each with at most 200 unacknowledged ones.
func (f *flood) mqtt() {
	const connections, each = 4, 100
	for c := range connections {
		conn, err := net.Dial("tcp", f.broker)
		if err != nil {
			f.t.Fatal(err)
		}
		f.t.Cleanup(func() { conn.Close() })
		in, out := bufio.NewReader(conn), new(bytes.Buffer)
		connect := packets.Packet{ProtocolVersion: 4, FixedHeader: packets.FixedHeader{Type: packets.Connect}, Connect: packets.ConnectParams{
			ProtocolName: []byte("MQTT"), ClientIdentifier: fmt.Sprint("c", c), Clean: true, Keepalive: 600,
			UsernameFlag: true, Username: []byte("northgate/gw"), PasswordFlag: true, Password: []byte(f.device),
		}}
		if err := connect.ConnectEncode(out); err != nil {
			f.t.Fatal(err)
		}
		conn.Write(out.Bytes())
		if head, err := io.ReadAll(io.LimitReader(in, 4)); err != nil || len(head) < 4 || head[3] != 0 {
			f.t.Fatalf("the broker answers % x, %v", head, err)
		}
		window := make(chan struct{}, 2*each)
		go func() {
			for ack := make([]byte, 4); ; <-window {
				if _, err := io.ReadFull(in, ack); err != nil {
					return
				}
			}
		}()
		f.paced(floodPerSecond/connections, each, func(n int) int { return f.publish(conn, out, window, n, each) })
	}
}

func (f *flood) publish(conn net.Conn, out *bytes.Buffer, window chan struct{}, n, each int) int {
	out.Reset()
	for i := range each {
		select {
		case window <- struct{}{}:
		case <-f.end:
			return 0
		}
		pk := packets.Packet{ProtocolVersion: 4, FixedHeader: packets.FixedHeader{Type: packets.Publish, Qos: 1}, PacketID: uint16(1 + (n*each+i)%60_000),
			TopicName: fmt.Sprint("v1/northgate/signals/S", (n+i)%floodStations), Payload: fmt.Appendf(nil, `{"production_complete":1,"productive":%t,"line_speed":%d.5}`, n/600%20 > 1, 40+i%7)}
		if err := pk.PublishEncode(out); err != nil {
			f.t.Error(err)
			return 0
		}
	}
	if _, err := conn.Write(out.Bytes()); err != nil && !os.IsTimeout(err) {
		f.t.Error(err)
		return 0
	}
	return each
}
