package mqtt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	server "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"

	"opsmon/app/ingest/signal"
	"opsmon/app/ingest/transform"
)

// foreign is the plant's own broker: the library with sessions and without our hook.
type foreign struct {
	*server.Server
	t       testing.TB
	address string
	acked   atomic.Int64

	mu    sync.Mutex
	conns map[net.Conn]bool
	l     net.Listener
}

type allowAll struct {
	server.HookBase
	f *foreign
}

func (*allowAll) ID() string { return "all" }
func (*allowAll) Provides(b byte) bool {
	return slices.Contains([]byte{server.OnConnectAuthenticate, server.OnACLCheck, server.OnQosComplete}, b)
}
func (*allowAll) OnConnectAuthenticate(_ *server.Client, pk packets.Packet) bool {
	return string(pk.Connect.Username) == "plant" && string(pk.Connect.Password) == "secret"
}
func (*allowAll) OnACLCheck(*server.Client, string, bool) bool { return true }
func (a *allowAll) OnQosComplete(cl *server.Client, pk packets.Packet) {
	if cl.Net.Conn != nil && pk.FixedHeader.Type == packets.Puback {
		a.f.acked.Add(1)
	}
}

func newForeign(t testing.TB) *foreign {
	f := &foreign{t: t, conns: map[net.Conn]bool{}}
	f.Server = server.New(&server.Options{InlineClient: true, Logger: slog.New(slog.DiscardHandler)})
	if err := f.AddHook(&allowAll{f: f}, nil); err != nil {
		t.Fatal(err)
	}
	f.open("127.0.0.1:0")
	t.Cleanup(f.shut)
	return f
}

func (f *foreign) open(address string) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		f.t.Fatal(err)
	}
	f.l, f.address = l, l.Addr().String()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			f.mu.Lock()
			f.conns[c] = true
			f.mu.Unlock()
			go func() { _ = f.EstablishConnection("t", c) }()
		}
	}()
}

func (f *foreign) shut() {
	f.l.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.conns {
		c.Close()
	}
}

func (f *foreign) say(topic, payload string) {
	f.t.Helper()
	if err := f.Publish(topic, []byte(payload), false, 1); err != nil {
		f.t.Fatal(err)
	}
}

// plant starts a client of a foreign broker.
func (r *rig) plant(f *foreign, change func(*PlantConfig)) *Plant {
	r.t.Helper()
	u, err := ParseBrokerURL("mqtt://" + f.address)
	r.must(err)
	cfg := PlantConfig{URL: u, Username: "plant", Password: func() (string, error) { return "secret", nil }, ClientID: "opsmon", Topics: []string{"line/#"},
		Account: func() (string, error) { return "acme", nil }, Log: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&cfg)
	}
	p := StartPlant(r.broker, cfg)
	r.t.Cleanup(p.Close)
	r.eventually("a subscription", func() bool { return len(f.Topics.Subscribers("line/x").Subscriptions) == 1 })
	return p
}

func workerOf(t testing.TB, expression string) *transform.Evaluator {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e := transform.NewEvaluator(transform.EvaluatorConfig{Command: []string{program, "work"}, Expression: expression, Timeout: time.Second})
	t.Cleanup(e.Close)
	return e
}

// TestPlantBroker checks that messages from the plant's broker are mapped and stored, and that an invalid message is
// refused, acknowledged and does not affect the valid ones.
func TestPlantBroker(t *testing.T) {
	r := newRig(t, nil)
	f := newForeign(t)
	topic, err := ParseTopic("line/+/{station}")
	r.must(err)
	p := r.plant(f, func(c *PlantConfig) {
		c.Template = &topic
		c.Mapping = workerOf(t, `(
			$hang := function($n) { $n < 2 ? 1 : $hang($n - 1) + $hang($n - 2) };
			state = "hang" ? $hang(80) : state = "none" ? $nothing : state = "two" ? [{"productive": true, "rssi": -60}, {"stationCode": "S2", "production_complete": n}] : {"productive": state = "run", "error_code": $topic, "line_speed": v}
		)`)
	})
	for _, m := range []struct{ topic, payload string }{
		{"line/a/S1", `{"state":"run","v":7}`},
		{"line/a/S1", `{"state":"hang"}`},
		{"line/a/S1", `{"state":"two","n":3}`},
		{"line/a/S1", `{"state":"none"}`},
		{"line/a/X9", `{"state":"run"}`},           // the account has no such station
		{"line/S1", `{"state":"run"}`},             // does not fit the template
		{"line/a/S1", `{"state":"run","v":1e300}`}, // out of range
		{"line/a/S1", "\xff\xfe no JSON"},          // a string for the mapping
		{"line/a/S1", strings.Repeat("x", 10<<20)}, // oversized
		{"line/a/S1", `{"state":"stop"}`},
	} {
		f.say(m.topic, m.payload)
	}
	r.eventually("ten acknowledgements", func() bool { return f.acked.Load() == 10 })
	got := r.stored("S1")
	if len(got) != 4 || got[0].Source != "broker:opsmon" || len(r.stored("S2")) != 1 {
		t.Errorf("stored are %d of S1 and %d of S2: %+v", len(got), len(r.stored("S2")), got)
	}
	if s := p.Stats(); !s.Connected || s.Messages != 10 || s.Ignored != 1 || s.Refused != 5 {
		t.Errorf("stats are %+v", s)
	}
}

// TestPlantBrokerGoesAway checks that the client reconnects, receives the messages sent in the meantime, and
// acknowledges only stored ones.
func TestPlantBrokerGoesAway(t *testing.T) {
	r := newRig(t, nil)
	var fail atomic.Bool
	take := r.broker.in.take
	r.broker.in.close()
	r.broker.in = newIntake(func(p []signal.Parcel) ([][]signal.Outcome, error) {
		if fail.Load() {
			return nil, io.ErrShortWrite
		}
		return take(p)
	}, r.broker.cfg.Stations, slog.New(slog.DiscardHandler))
	f := newForeign(t)
	p := r.plant(f, nil)
	send := func(id int) {
		f.say("line/1", fmt.Sprintf(`{"station_code":"S1","production_complete":1,"id":"%d"}`, id))
	}
	send(1)
	r.eventually("the first", func() bool { return f.acked.Load() == 1 })
	fail.Store(true)
	send(2)
	time.Sleep(100 * time.Millisecond)
	if n := f.acked.Load(); n != 1 {
		t.Errorf("%d are acknowledged and one is stored", n)
	}
	fail.Store(false)
	r.eventually("the second", func() bool { return f.acked.Load() == 2 })
	f.shut()
	r.eventually("the loss", func() bool { return !p.Stats().Connected })
	send(3)
	send(4)
	f.open(f.address)
	r.eventually("what came meanwhile", func() bool { return len(r.stored("S1")) == 4 && f.acked.Load() == 4 })

	// A restarted client continues with the same session.
	p.Close()
	send(5)
	r.plant(f, nil)
	r.eventually("the fifth", func() bool { return len(r.stored("S1")) == 5 })
}

// TestPlantWithoutAccount checks that signals are not acknowledged until the account is known.
func TestPlantWithoutAccount(t *testing.T) {
	r := newRig(t, nil)
	f := newForeign(t)
	var known atomic.Bool
	r.plant(f, func(c *PlantConfig) {
		c.Account = func() (string, error) {
			if !known.Load() {
				return "", errors.New("not yet")
			}
			return "acme", nil
		}
	})
	f.say("line/1", `{"station_code":"S1","productive":true}`)
	time.Sleep(50 * time.Millisecond)
	known.Store(true)
	r.eventually("the signal", func() bool { return f.acked.Load() == 1 && len(r.stored("S1")) == 1 })
}

// TestBounded checks that packets pass unchanged, and that oversized ones are truncated, for all sizes of reads.
func TestBounded(t *testing.T) {
	packet := func(body []byte) []byte {
		head := []byte{0x32}
		for n := len(body); ; {
			digit := byte(n & 0x7f)
			if n >>= 7; n > 0 {
				digit |= 0x80
			}
			if head = append(head, digit); n == 0 {
				return append(head, body...)
			}
		}
	}
	small, large := packet(bytes.Repeat([]byte("a"), 300)), packet(bytes.Repeat([]byte("b"), mostPacket))
	huge, cut := packet(bytes.Repeat([]byte("b"), mostPacket+100_000)), large
	in := slices.Concat([]byte{0xd0, 0}, small, huge, small, large, []byte{0xd0, 0}, huge, []byte{0xd0, 0})
	want := slices.Concat([]byte{0xd0, 0}, small, cut, small, large, []byte{0xd0, 0}, cut, []byte{0xd0, 0})
	for _, chunk := range []int{1, 7, 4096, 1 << 20} {
		got, err := io.ReadAll(&bounded{Conn: &chunked{b: in, n: chunk}})
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("in pieces of %d: %d bytes, %v, want %d", chunk, len(got), err, len(want))
		}
	}
}

// chunked is a connection that returns bytes in pieces.
type chunked struct {
	net.Conn
	b []byte
	n int
}

func (c *chunked) Read(p []byte) (int, error) {
	if len(c.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.b[:min(c.n, len(c.b))])
	c.b = c.b[n:]
	return n, nil
}

func TestParseBrokerURL(t *testing.T) {
	for text, want := range map[string]string{"mqtts://a.example": "a.example:8883", "mqtt://10.0.0.1/": "10.0.0.1:1883", "mqtt://[fd00::1]:99": "[fd00::1]:99", "mqtts://[fd00::1]": "[fd00::1]:8883"} {
		if u, err := ParseBrokerURL(text); err != nil || u.Host != want {
			t.Errorf("%s: %v, %v", text, u, err)
		}
	}
	for _, text := range []string{"", "a.example", "http://a", "mqtt://", "mqtt://u:p@a", "mqtt://a/topic", "mqtt://a?x", "mqtt://a:b"} {
		if u, err := ParseBrokerURL(text); err == nil {
			t.Errorf("%s: %v", text, u)
		}
	}
	for filter, right := range map[string]bool{"#": true, "a/+/b/#": true, "+": true, "": false, "a#": false, "a/#/b": false, "a+/b": false, "\xff": false} {
		if (CheckFilter(filter) == nil) != right {
			t.Errorf("%q: %v", filter, CheckFilter(filter))
		}
	}
}
