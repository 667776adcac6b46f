package mqtt

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
	"github.com/mochi-mqtt/server/v2/packets"
	"go.uber.org/goleak"

	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/ingest/signal"
	"opsmon/app/ingest/transform"
	"opsmon/kv"
	"opsmon/kv/kvtest"
)

// TestMain also runs the worker that evaluates mappings: tests start this binary as a worker.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "work" {
		if err := transform.Work(os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// plants are the accounts of the tests.
type plants struct{}

func (plants) Account(id string) (auth.AccountInfo, bool) {
	return auth.AccountInfo{ID: id, Domain: id + ".example"}, id == "acme" || id == "other"
}
func (plants) AccountByDomain(string) (auth.AccountInfo, bool) { return auth.AccountInfo{}, false }

// rig is a broker on loopback with its store and devices.
type rig struct {
	t       testing.TB
	store   *kv.Store
	signals *signal.Log
	auth    *auth.Service
	broker  *Broker
	address string

	mu    sync.Mutex
	links []string
}

func newRig(t testing.TB, change func(*Config)) *rig {
	t.Helper()
	r := &rig{t: t}
	r.store = kvtest.New(t, func(c *kv.Config) {
		c.Buckets = slices.Concat(audit.Buckets(), auth.Buckets(), signal.Buckets())
	})
	log := slog.New(slog.DiscardHandler)
	var err error
	r.auth, err = auth.New(auth.Config{Store: r.store, Accounts: plants{}, Log: log})
	r.must(err)
	t.Cleanup(func() { r.must(r.auth.Close()) })
	r.signals, err = signal.NewLog(signal.Config{Store: r.store, Log: log})
	r.must(err)
	cfg := Config{Devices: r.auth, Signals: r.signals, Log: log,
		Stations: func(string) (func(string) bool, error) {
			return func(code string) bool { return strings.HasPrefix(code, "S") }, nil
		},
		Linked: func(account, source string, stations []string, _ int64, up bool) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.links = append(r.links, fmt.Sprintf("%s %s %v %t", account, source, stations, up))
		},
	}
	if change != nil {
		change(&cfg)
	}
	r.broker = New(cfg)
	r.broker.links.pause = 20 * time.Millisecond
	l, err := net.Listen("tcp", "127.0.0.1:0")
	r.must(err)
	r.address = l.Addr().String()
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { r.broker.Serve(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		r.broker.Close()
		running.Wait()
	})
	return r
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// device adds a device and returns its token.
func (r *rig) device(name string, stations ...string) string {
	r.t.Helper()
	_, token, err := r.auth.AddDevice(auth.Local("acme"), auth.DeviceInput{Name: name, StationCodes: stations})
	r.must(err)
	return token
}

// stored returns today's signals of a station of acme.
func (r *rig) stored(station string) []signal.Signal {
	r.t.Helper()
	list, err := r.signals.Of("acme", station, signal.Day(time.Now().UnixMilli()))
	r.must(err)
	return list
}

func (r *rig) linked() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.links)
}

func (r *rig) eventually(what string, holds func() bool) {
	r.t.Helper()
	for end := time.Now().Add(10 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("%s did not come", what)
		}
	}
}

// paho connects a client of the library paho with MQTT 3.1.1.
func (r *rig) paho(user, token string) paho.Client {
	r.t.Helper()
	c := r.pahoOf(user, token, nil)
	if t := c.Connect(); !t.WaitTimeout(10*time.Second) || t.Error() != nil {
		r.t.Fatalf("connect: %v", t.Error())
	}
	r.t.Cleanup(func() { c.Disconnect(0) })
	return c
}

func (r *rig) pahoOf(user, token string, change func(*paho.ClientOptions)) paho.Client {
	o := paho.NewClientOptions().AddBroker("tcp://" + r.address).SetClientID("c-" + user).SetUsername(user).SetPassword(token).
		SetAutoReconnect(false).SetConnectRetry(false).SetConnectTimeout(5 * time.Second).SetProtocolVersion(4)
	if change != nil {
		change(o)
	}
	return paho.NewClient(o)
}

// publish publishes with QoS 1 and reports whether it was acknowledged.
func publish(c paho.Client, topic, payload string) bool {
	t := c.Publish(topic, 1, false, payload)
	return t.WaitTimeout(3*time.Second) && t.Error() == nil && c.IsConnectionOpen()
}

// bare is a client on the level of packets, for requests that libraries do not send.
type bare struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
	v    byte
}

func (r *rig) bare(version byte) *bare {
	r.t.Helper()
	c, err := net.Dial("tcp", r.address)
	r.must(err)
	r.t.Cleanup(func() { c.Close() })
	return &bare{t: r.t, conn: c, in: bufio.NewReader(c), v: version}
}

func (c *bare) send(pk packets.Packet) {
	c.t.Helper()
	var b bytes.Buffer
	pk.ProtocolVersion = c.v
	var err error
	switch pk.FixedHeader.Type {
	case packets.Connect:
		err = pk.ConnectEncode(&b)
	case packets.Publish:
		err = pk.PublishEncode(&b)
	case packets.Subscribe:
		err = pk.SubscribeEncode(&b)
	case packets.Pubrel:
		err = pk.PubrelEncode(&b)
	case packets.Pingreq:
		err = pk.PingreqEncode(&b)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	_, _ = c.conn.Write(b.Bytes()) // the broker may have closed the connection; the next read reports that
}

func (c *bare) connect(user, token string, change func(*packets.Packet)) {
	c.t.Helper()
	pk := packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Connect}, Connect: packets.ConnectParams{
		ProtocolName: []byte("MQTT"), Clean: true, Keepalive: 60, ClientIdentifier: "bare", UsernameFlag: true, PasswordFlag: true, Username: []byte(user), Password: []byte(token),
	}}
	if change != nil {
		change(&pk)
	}
	c.send(pk)
}

// read returns the next packet, nil at the end of the connection.
func (c *bare) read() *packets.Packet {
	c.t.Helper()
	_ = c.conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	first, err := c.in.ReadByte()
	if err != nil {
		return nil
	}
	var pk packets.Packet
	if err := pk.FixedHeader.Decode(first); err != nil {
		c.t.Fatal(err)
	}
	n, _, err := packets.DecodeLength(c.in)
	if err != nil {
		return nil
	}
	pk.FixedHeader.Remaining, pk.ProtocolVersion = n, c.v
	body := make([]byte, n)
	if _, err := io.ReadFull(c.in, body); err != nil {
		return nil
	}
	switch pk.FixedHeader.Type {
	case packets.Connack:
		err = pk.ConnackDecode(body)
	case packets.Puback:
		err = pk.PubackDecode(body)
	case packets.Pubrec:
		err = pk.PubrecDecode(body)
	case packets.Pubcomp:
		err = pk.PubcompDecode(body)
	case packets.Suback:
		err = pk.SubackDecode(body)
	case packets.Disconnect:
		err = pk.DisconnectDecode(body)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return &pk
}

// want reads a packet and checks its type and reason code.
func (c *bare) want(kind, code byte) *packets.Packet {
	c.t.Helper()
	pk := c.read()
	if pk == nil || pk.FixedHeader.Type != kind || pk.ReasonCode != code {
		c.t.Fatalf("got %+v, want the packet %s with the code 0x%x", pk, packets.PacketNames[kind], code)
	}
	return pk
}

func (c *bare) publish(id uint16, qos byte, topic, payload string) {
	c.t.Helper()
	c.send(packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Publish, Qos: qos}, TopicName: topic, PacketID: id, Payload: []byte(payload)})
}

// TestPublish checks that a device's message is stored completely before it is acknowledged.
func TestPublish(t *testing.T) {
	r := newRig(t, nil)
	c := r.paho("acme/gw", r.device("gw", "S1", "S2"))
	const topic = "v1/acme/signals/S1"
	for _, payload := range []string{
		`{"productive":true}`, `{"production_complete":2.5,"line_speed":-3,"rssi":-61,"error_code":"E 7","id":"a","at":"2026-11-20T00:00:00Z"}`, `{"stationCode":"S1","productionCountGood":10}`,
		`{"electrical_kwh":1,"electrical_kw":2,"electrical_volts":3,"electrical_amps":4,"electrical_kwh_interval":0,"station_code":null}`,
	} {
		if !publish(c, topic, payload) {
			t.Errorf("%s was not acknowledged", payload)
		}
	}
	if got := r.stored("S1"); len(got) != 3 || got[0].Source != "device:acme/gw" {
		t.Errorf("stored are %+v", got)
	}
	yesterday, err := r.signals.Of("acme", "S1", signal.Day(time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC).UnixMilli()))
	r.must(err)
	if len(yesterday) != 1 || yesterday[0].ErrorCode != "E 7" || yesterday[0].Numbers[signal.ProductionCompleteGood] != 2.5 {
		t.Errorf("stored are %+v", yesterday)
	}
	if token := c.Publish(topic, 0, false, `{"productive":false}`); !token.WaitTimeout(time.Second) {
		t.Error("publishing with QoS 0 blocks")
	}
	if token := c.Publish(topic, 2, false, `{"productive":false}`); !token.WaitTimeout(5*time.Second) || token.Error() != nil {
		t.Error("QoS 2 does not end")
	}
	r.eventually("five signals", func() bool { return len(r.stored("S1")) == 5 })
	s := r.broker.Stats()
	if s.Connections != 1 || s.Opened != 1 || s.Messages != 6 || s.BytesIn < 300 || s.BytesOut < 16 {
		t.Errorf("stats are %+v", s)
	}
	if r.broker.Connections("acme/gw") != 1 {
		t.Error("the device has no connection")
	}
}

// TestRefusedMessages checks that each kind of invalid message is refused with its reason, which is shown with the
// device, and that valid ones are not affected.
func TestRefusedMessages(t *testing.T) {
	r := newRig(t, nil)
	token := r.device("gw", "S1", "X1")
	c := r.bare(5)
	c.connect("acme/gw", token, nil)
	ack := c.want(packets.Connack, 0)
	if p := ack.Properties; p.MaximumPacketSize != defaultPacket || p.ReceiveMaximum != defaultInFlight || !p.RetainAvailableFlag || p.RetainAvailable != 0 {
		t.Errorf("the broker says of itself %+v", p)
	}
	for i, m := range []struct {
		topic, payload string
		code           byte
		why            string
	}{
		{"v1/acme/signals/S1", `{"productive":true}`, 0, ""},
		{"v1/acme/signals/S2", `{"productive":true}`, 0x87, "not one of this device's"},
		{"v1/other/signals/S1", `{"productive":true}`, 0x87, "another account's"},
		{"v1/acme/signals", `{"productive":true}`, 0x87, "must be one for signals"},
		{"v1/acme/signals/S1/x", `{"productive":true}`, 0x87, "must be one for signals"},
		{"v1/acme/signals/", `{"productive":true}`, 0x87, "must be one for signals"},
		{"$SYS/x", `{"productive":true}`, 0x87, "must be one for signals"},
		{"v1/acme/signals/X1", `{"productive":true}`, 0x90, "which the account does not have"},
		{"v1/acme/signals/S1", `{"productive":true,"station_code":"S2"}`, 0x99, "station_code is not the station of the topic"},
		{"v1/acme/signals/S1", `[{"productive":true}]`, 0x99, "must be one JSON object"},
		{"v1/acme/signals/S1", `{"line_speed":NaN}`, 0x99, "not one JSON object"},
		{"v1/acme/signals/S1", `{"line_speed":1e400}`, 0x99, ""},
		{"v1/acme/signals/S1", `{"line_speed":1e10}`, 0x99, "must be 1e+09 or less"},
		{"v1/acme/signals/S1", `{"production_complete":-1}`, 0x99, "must be 0 or more"},
		{"v1/acme/signals/S1", `{"productive":true}{}`, 0x99, "not one JSON object"},
		{"v1/acme/signals/S1", ``, 0x99, "not one JSON object"},
		{"v1/acme/signals/S1", "{\"rssi\":1,\"id\":\"\xff\"}", 0x99, "not one JSON object"},
		{"v1/acme/signals/S1", `{}`, 0x99, "holds no value"},
		{"v1/acme/signals/S1", `{"rssi":-60,"at":"1999-01-01T00:00:00Z"}`, 0x99, "older than"},
		{"v1/acme/signals/S1", `{"productive":false}`, 0, ""},
	} {
		c.publish(uint16(i+1), 1, m.topic, m.payload)
		got := c.want(packets.Puback, m.code)
		if got.PacketID != uint16(i+1) || !strings.Contains(got.Properties.ReasonString, m.why) {
			t.Errorf("%s %s: %d, %q, want %q", m.topic, m.payload, got.PacketID, got.Properties.ReasonString, m.why)
		}
	}
	if got := r.stored("S1"); len(got) != 2 {
		t.Errorf("%d are stored, want the two good ones", len(got))
	}
	seen := r.signals.Seen("acme", "device:acme/gw")
	if seen.Accepted != 2 || seen.Refused != 18 || !strings.Contains(seen.Issue, "older than") {
		t.Errorf("the device is seen as %+v", seen)
	}
	counts := r.signals.Counts().Refused
	if counts[signal.CauseForeign] != 6 || counts[signal.CauseStation] != 1 || counts[signal.CauseOld] != 1 || counts[signal.CauseMalformed]+counts[signal.CauseValue] != 10 {
		t.Errorf("counted are %v", counts)
	}

	// MQTT 3.1.1 has no reasons: an invalid signal is acknowledged, and a topic of another device closes the
	// connection.
	old := r.bare(4)
	old.connect("acme/gw", token, nil)
	old.want(packets.Connack, 0)
	old.publish(1, 1, "v1/acme/signals/S1", `nonsense`)
	old.want(packets.Puback, 0)
	old.publish(0, 0, "v1/acme/signals/S2", `{"productive":true}`)
	old.publish(2, 1, "v1/acme/signals/S1", `{"productive":true}`)
	if got := old.want(packets.Puback, 0); got.PacketID != 2 {
		t.Errorf("acknowledged is %d", got.PacketID)
	}
	old.publish(3, 1, "v1/acme/signals/S2", `{"productive":true}`)
	if got := old.read(); got != nil {
		t.Errorf("after a foreign topic there is %+v", got)
	}
	r.eventually("the end", func() bool { return r.broker.Stats().Refused[EndedForeign] == 1 })
}

// TestStoreFails checks that a message is acknowledged only after it is stored. If storing fails, the connection is
// closed without acknowledgement, so that the device repeats the message.
func TestStoreFails(t *testing.T) {
	r := newRig(t, nil)
	fail := true
	take := r.broker.in.take
	var mu sync.Mutex
	r.broker.in.close()
	r.broker.in = newIntake(func(p []signal.Parcel) ([][]signal.Outcome, error) {
		mu.Lock()
		defer mu.Unlock()
		if fail {
			return nil, io.ErrShortWrite
		}
		return take(p)
	}, r.broker.cfg.Stations, slog.New(slog.DiscardHandler))
	token := r.device("gw", "S1")
	c := r.bare(5)
	c.connect("acme/gw", token, nil)
	c.want(packets.Connack, 0)
	c.publish(1, 1, "v1/acme/signals/S1", `{"productive":true}`)
	c.want(packets.Disconnect, 0x89)
	mu.Lock()
	fail = false
	mu.Unlock()
	c = r.bare(5)
	c.connect("acme/gw", token, nil)
	c.want(packets.Connack, 0)
	c.publish(1, 1, "v1/acme/signals/S1", `{"productive":true}`)
	c.want(packets.Puback, 0)
	if r.broker.Stats().Refused[EndedStore] != 1 || len(r.stored("S1")) != 1 {
		t.Errorf("ended are %v", r.broker.Stats().Refused)
	}
}

// TestFloodWaits checks that a flood from one device is delayed and reported, and does not delay another device.
func TestFloodWaits(t *testing.T) {
	r := newRig(t, nil)
	var err error
	r.signals, err = signal.NewLog(signal.Config{Store: r.store, Rate: 20})
	r.must(err)
	r.broker.cfg.Signals = r.signals
	flood, good := r.bare(4), r.paho("acme/good", r.device("good", "S2"))
	flood.connect("acme/flood", r.device("flood", "S1"), nil)
	flood.want(packets.Connack, 0)
	done, _ := r.signals.Admit("acme", "device:acme/flood")
	done(signal.MaxBatch) // the permitted burst
	began := time.Now()
	go func() {
		for range 20 {
			flood.publish(0, 0, "v1/acme/signals/S1", `{"productive":true}`)
		}
		flood.publish(1, 1, "v1/acme/signals/S1", `{"productive":false}`)
	}()
	for range 10 {
		one := time.Now()
		if !publish(good, "v1/acme/signals/S2", `{"productive":true}`) || time.Since(one) > time.Second {
			t.Fatalf("another device waited %s", time.Since(one))
		}
	}
	flood.want(packets.Puback, 0)
	if took := time.Since(began); took < 800*time.Millisecond {
		t.Errorf("twenty signals more than may come at once took %s, want a second", took)
	}
	if seen := r.signals.Seen("acme", "device:acme/flood"); seen.Throttled == 0 {
		t.Errorf("it is seen as %+v", seen)
	}
	if seen := r.signals.Seen("acme", "device:acme/good"); seen.Throttled != 0 {
		t.Errorf("the other is seen as %+v", seen)
	}
}

// TestLinks checks that a device that reconnects soon was never reported as disconnected, and that one that does not
// is reported with the time of the disconnection.
func TestLinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		l := links{pause: linkPause, up: map[string]int{}, gone: map[string]*gone{}, tell: func(account, source string, stations []string, at int64, up bool) {
			said = append(said, fmt.Sprintf("%s %v %d %t", source, stations, at, up))
		}}
		a, b := &sender{source: "a", stations: []string{"S1"}}, &sender{source: "b"}
		wait := func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait()
		}
		l.begin(a, 1)
		l.begin(a, 2)
		l.down(a, 3)
		wait(time.Minute)
		l.down(a, 4)
		wait(linkPause - 1)
		l.begin(a, 5)
		wait(time.Minute)
		l.down(a, 6)
		wait(linkPause)
		l.begin(b, 7)
		l.begin(a, 8)
		l.down(b, 9)
		l.flush()
		wait(time.Minute)
		if want := []string{"a [S1] 1 true", "a [S1] 6 false", "b [] 7 true", "a [S1] 8 true", "b [] 9 false"}; !slices.Equal(said, want) {
			t.Errorf("told were %q, want %q", said, want)
		}
	})
}

// TestTopics checks the topics that templates accept.
func TestTopics(t *testing.T) {
	for _, c := range []struct{ template, topic, want string }{
		{DefaultTopic, "v1/acme/signals/S1", "acme S1"},
		{DefaultTopic, "v1/acme/signals/S1/", ""},
		{DefaultTopic, "V1/acme/signals/S1", ""},
		{DefaultTopic, "", ""},
		{"plant/+/{station}/data", "plant/hall 1/S1/data", " S1"},
		{"plant/+/{station}/data", "plant/S1/data", ""},
		{"{station}", "S1", " S1"},
		{"/{station}", "/S1", " S1"},
		{"/{station}", "S1", ""},
	} {
		topic, err := ParseTopic(c.template)
		if err != nil {
			t.Fatal(err)
		}
		account, station, ok := topic.match(c.topic)
		if got := account + " " + station; ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%q of %q: %q %t, want %q", c.topic, c.template, got, ok, c.want)
		}
	}
	for _, bad := range []string{"", "v1/x", "v1/{station}/{station}", "{account}/{account}/{station}", "a/#", "a+/{station}", "{plant}/{station}", "$x/{station}", "{station}/" + strings.Repeat("x", 600)} {
		if _, err := ParseTopic(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// TestObjectOf checks that the fast and the general decoder find the same station.
func TestObjectOf(t *testing.T) {
	for _, rssi := range []string{"-1.50", "-15e-1"} {
		for _, tt := range []struct{ named, topic, want, issue string }{
			{"", "S1", "S1", ""}, {`,"station_code":"S1"`, "S1", "S1", ""}, {`,"stationCode":"S1"`, "", "S1", ""}, {"", "", "", ""},
			{`,"station_code":"S2"`, "S1", "", "station_code is not the station of the topic"},
		} {
			object, why := objectOf([]byte(`{"rssi":`+rssi+tt.named+`}`), tt.topic)
			var got signal.Signal
			switch object := object.(type) {
			case *signal.Signal:
				got = *object
			case map[string]any:
				got, _ = signal.Read(object, signal.MQTT)
			}
			if why.issue != tt.issue || why.issue == "" && (got.Station != tt.want || got.Numbers[signal.RSSI] != -1.5) {
				t.Errorf("%s%s at %q: %+v, %v", rssi, tt.named, tt.topic, got, why)
			}
		}
	}
}
