package mqtt

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"

	"opsmon/app/auth"
)

// TestCredentials checks that all kinds of wrong credentials are refused, and throttled by address as over HTTP.
func TestCredentials(t *testing.T) {
	r := newRig(t, nil)
	token := r.device("gw", "S1")
	other := r.device("other", "S1")
	for _, v := range []byte{4, 5} {
		wrong := map[byte]byte{4: 5, 5: 0x86}[v]
		for _, try := range [][2]string{{"acme/gw", other}, {"acme/gw", token[:len(token)-1]}, {"", token}, {"acme/gw", ""}, {"other/gw", token}, {"acme/gw", strings.Repeat("x", 4000)}} {
			c := r.bare(v)
			c.connect(try[0], try[1], func(pk *packets.Packet) {
				pk.Connect.UsernameFlag, pk.Connect.PasswordFlag = try[0] != "", try[1] != ""
			})
			c.want(packets.Connack, wrong)
			if c.read() != nil {
				t.Error("the connection continues")
			}
		}
		c := r.bare(v)
		c.connect("ACME/GW", token, nil) // names are case-insensitive
		c.want(packets.Connack, 0)
	}
	for range 30 {
		c := r.bare(4)
		c.connect("acme/gw", other, nil)
		c.read()
	}
	s := r.broker.Stats().Refused
	if s[RefusedThrottled] < 10 || s[RefusedCredentials] < 12 {
		t.Errorf("refused are %v", s)
	}
	c := r.bare(4)
	c.connect("acme/gw", token, nil)
	c.want(packets.Connack, 0) // valid credentials continue to work
}

// TestNothingComesBack checks that a device cannot subscribe, that its will is ignored, that nothing is retained, and
// that no session is stored.
func TestNothingComesBack(t *testing.T) {
	r := newRig(t, nil)
	token := r.device("gw", "S1")
	for _, v := range []byte{4, 5} {
		c := r.bare(v)
		c.connect("acme/gw", token, func(pk *packets.Packet) {
			pk.Connect.Clean = false
			pk.Connect.WillFlag, pk.Connect.WillTopic, pk.Connect.WillPayload, pk.Connect.WillRetain = true, "v1/acme/signals/S1", []byte(`{"productive":false}`), true
			pk.Properties.SessionExpiryInterval, pk.Properties.SessionExpiryIntervalFlag = 1<<32-1, true
		})
		ack := c.want(packets.Connack, 0)
		if ack.SessionPresent || v == 5 && (!ack.Properties.SessionExpiryIntervalFlag || ack.Properties.SessionExpiryInterval != 0) {
			t.Errorf("the answer is %+v", ack)
		}
		c.send(packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Subscribe, Qos: 1}, PacketID: 7, Filters: packets.Subscriptions{{Filter: "#"}, {Filter: "v1/acme/signals/S1", Qos: 1}}})
		sub := c.read()
		if sub == nil || sub.FixedHeader.Type != packets.Suback || len(sub.ReasonCodes) != 2 || sub.ReasonCodes[0] < 0x80 || sub.ReasonCodes[1] < 0x80 {
			t.Errorf("a subscription is answered with %+v", sub)
		}
		c.publish(1, 1, "v1/acme/signals/S1", `{"productive":true}`)
		c.want(packets.Puback, 0)
		c.conn.Close()
	}
	r.eventually("the end of the connections", func() bool { return r.broker.Stats().Connections == 0 })
	if n := len(r.stored("S1")); n != 2 {
		t.Errorf("%d signals are stored; wills are none", n)
	}
	if n := r.broker.server.Clients.Len() + r.broker.server.Topics.Retained.Len(); n != 0 {
		t.Errorf("%d sessions and retained messages are kept", n)
	}
}

// TestRevokedWhileConnected checks that a device revoked while connected is disconnected, and that none of its later
// messages count.
func TestRevokedWhileConnected(t *testing.T) {
	r := newRig(t, nil)
	token, other := r.device("gw", "S1"), r.paho("acme/other", r.device("other", "S2"))
	five, three := r.bare(5), r.bare(4)
	five.connect("acme/gw", token, func(pk *packets.Packet) { pk.Connect.ClientIdentifier = "a" })
	three.connect("acme/gw", token, func(pk *packets.Packet) { pk.Connect.ClientIdentifier = "b" })
	five.want(packets.Connack, 0)
	three.want(packets.Connack, 0)
	r.eventually("two devices", func() bool { return len(r.linked()) == 2 })
	r.must(r.auth.RevokeDevice(auth.Local("acme"), "gw"))
	five.publish(1, 1, "v1/acme/signals/S1", `{"productive":true}`)
	five.want(packets.Disconnect, 0x87)
	if pk := three.read(); pk != nil {
		t.Errorf("the other connection gets %+v", pk)
	}
	if n := len(r.stored("S1")); n != 0 {
		t.Errorf("%d signals of a revoked device are stored", n)
	}
	if !publish(other, "v1/acme/signals/S2", `{"productive":true}`) {
		t.Error("another device was harmed")
	}
	again := r.bare(4)
	again.connect("acme/gw", token, nil)
	again.want(packets.Connack, 5)
	r.eventually("the end of its link", func() bool { return len(r.linked()) == 3 })
	slices.Sort(r.links)
	if want := []string{"acme device:acme/gw [S1] false", "acme device:acme/gw [S1] true", "acme device:acme/other [S2] true"}; !slices.Equal(r.links, want) {
		t.Errorf("told were %q", r.links)
	}
}

// TestConnectionLimits checks the limits on connections: in total, per device, and in time. A client id is specific
// to a device.
func TestConnectionLimits(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.Limits = Limits{Connections: 5, PerDevice: 2, Connect: 300 * time.Millisecond, Keepalive: 20 * time.Second}
	})
	a, b := r.device("a", "S1"), r.device("b", "S1")
	with := func(id string) func(*packets.Packet) {
		return func(pk *packets.Packet) { pk.Connect.ClientIdentifier = id }
	}
	one, two, three := r.bare(5), r.bare(5), r.bare(5)
	one.connect("acme/a", a, with("x"))
	if ack := one.want(packets.Connack, 0); !ack.Properties.ServerKeepAliveFlag || ack.Properties.ServerKeepAlive != 20 {
		t.Errorf("a silence of a minute is answered with %+v", ack.Properties)
	}
	two.connect("acme/a", a, with("y"))
	two.want(packets.Connack, 0)
	three.connect("acme/a", a, with("z"))
	three.want(packets.Connack, 0x97)
	four := r.bare(4)
	four.connect("acme/b", b, with("x")) // does not close the other device's connection
	four.want(packets.Connack, 0)
	one.publish(1, 1, "v1/acme/signals/S1", `{"productive":true}`)
	one.want(packets.Puback, 0)
	r.eventually("a place", func() bool { return r.broker.Stats().Connections == 3 })
	silent, cut := r.bare(4), r.bare(4)
	r.eventually("five", func() bool { return r.broker.Stats().Connections == 5 })
	if six := r.bare(4); six.read() != nil {
		t.Error("a sixth connection is served")
	}
	_, _ = cut.conn.Write([]byte{0x10, 0x20, 0x00})
	began := time.Now()
	if silent.read() != nil || cut.read() != nil || time.Since(began) > 5*time.Second {
		t.Errorf("who does not sign in is served for %s", time.Since(began))
	}
	again := r.bare(4)
	again.connect("acme/b", b, with("x")) // the same device's connection is closed, as MQTT requires
	again.want(packets.Connack, 0)
	if four.read() != nil {
		t.Error("two connections have one client id")
	}
}

// TestNeverReads checks that a client that never reads is disconnected and blocks nobody.
func TestNeverReads(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Limits.Write = 300 * time.Millisecond })
	deaf := r.bare(5)
	deaf.connect("acme/deaf", r.device("deaf", "S1"), nil)
	deaf.want(packets.Connack, 0)
	good := r.paho("acme/good", r.device("good", "S2"))
	done := make(chan struct{})
	go func() { // sends messages with long refusals until it is disconnected
		defer close(done)
		var b bytes.Buffer
		pk := packets.Packet{ProtocolVersion: 5, FixedHeader: packets.FixedHeader{Type: packets.Publish, Qos: 1}, TopicName: "v1/acme/signals/S1", PacketID: 1, Payload: []byte(`{"` + strings.Repeat("x", 60) + `":1}`)}
		if err := pk.PublishEncode(&b); err != nil {
			t.Error(err)
		}
		many := bytes.Repeat(b.Bytes(), 100)
		for {
			if _, err := deaf.conn.Write(many); err != nil {
				return
			}
		}
	}()
	// with the race detector it takes long to fill the system's buffers
	for slowest, end := time.Duration(0), time.After(90*time.Second); ; {
		began := time.Now()
		if !publish(good, "v1/acme/signals/S2", `{"productive":true}`) {
			t.Fatal("a good device was harmed")
		}
		if took := time.Since(began); took > slowest {
			slowest = took
		}
		select {
		case <-done:
			if slowest > 2*time.Second {
				t.Errorf("another device waited %s", slowest)
			}
			if r.broker.Stats().Refused[EndedSlow] != 1 {
				t.Errorf("ended are %v", r.broker.Stats().Refused)
			}
			return
		case <-end:
			t.Fatal("who never reads is served for ever")
		default:
		}
	}
}

// TestGarbage checks that data that is not MQTT, or an oversized packet, closes only its own connection.
func TestGarbage(t *testing.T) {
	r := newRig(t, nil)
	token := r.device("gw", "S1")
	good := r.paho("acme/gw", token)
	connect := func() []byte {
		var b bytes.Buffer
		pk := packets.Packet{ProtocolVersion: 4, FixedHeader: packets.FixedHeader{Type: packets.Connect}, Connect: packets.ConnectParams{
			ProtocolName: []byte("MQTT"), Clean: true, Keepalive: 60, ClientIdentifier: "g", UsernameFlag: true, PasswordFlag: true, Username: []byte("acme/gw"), Password: []byte(token)}}
		r.must(pk.ConnectEncode(&b))
		return b.Bytes()
	}()
	for _, bytes := range [][]byte{
		[]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), {0x16, 3, 1, 2, 0}, {0x10, 0xff, 0xff, 0xff, 0x7f}, {0x10, 0xff, 0xff, 0xff, 0xff, 0xff}, {0x30, 0}, {0xff}, {0x10, 0},
		slices.Concat(connect, []byte{0x32, 0xff, 0xff, 0xff, 0x7f}), // a message of 256 MiB
		// a topic longer than its packet
		slices.Concat(connect, connect), slices.Concat(connect, []byte{0x32, 2, 0, 9}),
		slices.Concat(connect, []byte{0x36, 5, 0, 1, 'a', 0, 1}), slices.Concat(connect, []byte{0xf0, 0}), slices.Concat(connect, []byte{0x62, 1, 0}),
		slices.Concat(connect, []byte{0x82, 0}), slices.Concat(connect, []byte{0x32, 8, 0, 1, '#', 0, 1, '{', '}', 0}),
	} {
		c := r.bare(4)
		_, err := c.conn.Write(bytes)
		r.must(err)
		r.must(c.conn.(*net.TCPConn).CloseWrite())
		for pk := c.read(); pk != nil; pk = c.read() {
			if pk.FixedHeader.Type != packets.Connack {
				t.Errorf("% x is answered with %+v", bytes, pk)
			}
		}
	}
	if !publish(good, "v1/acme/signals/S1", `{"productive":true}`) {
		t.Error("a good device was harmed")
	}
	r.eventually("one connection", func() bool { return r.broker.Stats().Connections == 1 })
}

// TestTooLarge checks that an oversized packet or a protocol violation is reported to the client if MQTT allows that,
// counted, and shown with the device.
func TestTooLarge(t *testing.T) {
	r := newRig(t, nil)
	token := r.device("gw", "S1")
	for n, c := range []struct {
		version byte
		bytes   []byte
		code    byte
		issue   string
	}{
		{5, append([]byte{0x32, 0xff, 0xff, 0xff, 0x7f}, make([]byte, 100)...), 0x95, "it has more than 16384 bytes"},
		{4, append([]byte{0x32, 0x81, 0x80, 0x01}, make([]byte, 100)...), 0, "it has more than 16384 bytes"},
		{5, []byte{0x32, 6, 0, 1, 'a', 0, 0, 0}, 0x82, "missing packet id"},
	} {
		bare := r.bare(c.version)
		bare.connect("acme/gw", token, nil)
		bare.want(packets.Connack, 0)
		_, err := bare.conn.Write(c.bytes)
		r.must(err)
		if c.version == 5 {
			bare.want(packets.Disconnect, c.code)
		}
		if pk := bare.read(); pk != nil {
			t.Errorf("%d: it goes on with %+v", n, pk)
		}
		r.eventually("the end", func() bool { return r.broker.Stats().Refused[EndedProtocol] == uint64(n+1) })
		if seen := r.signals.Seen("acme", "device:acme/gw"); !strings.Contains(seen.Issue, c.issue) {
			t.Errorf("%d: the device is seen as %+v", n, seen)
		}
	}
}

// FuzzPackets sends arbitrary bytes after a valid authentication: the broker must not fail or store signals of
// others.
func FuzzPackets(f *testing.F) {
	r := newRig(f, func(c *Config) { c.Limits.Write, c.Limits.Connect = time.Second, time.Second })
	token := r.device("gw", "S1")
	f.Add(byte(4), []byte{0x32, 8, 0, 1, 'a', 0, 1, '{', '}', 0})
	f.Add(byte(5), []byte{0x32, 8, 0, 1, 'a', 0, 1, 0, '{', '}'})
	f.Add(byte(5), []byte{0x82, 7, 0, 1, 0, 0, 1, '#', 0})
	f.Add(byte(5), []byte{0xe0, 7, 0, 5, 0x11, 0, 0, 0, 1})
	f.Add(byte(5), []byte{0xf0, 2, 0x19, 0})
	f.Add(byte(4), []byte{0x62, 2, 0, 1, 0xc0, 0, 0x40, 2, 0, 1, 0x50, 2, 0, 1, 0x70, 2, 0, 1})
	f.Fuzz(func(t *testing.T, version byte, b []byte) {
		version = 4 + version%2
		server, client := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, client) }()
		done := make(chan struct{})
		go func() {
			defer close(done)
			r.broker.Serve(server)
		}()
		var connect bytes.Buffer
		pk := packets.Packet{ProtocolVersion: version, FixedHeader: packets.FixedHeader{Type: packets.Connect}, Connect: packets.ConnectParams{
			ProtocolName: []byte("MQTT"), Clean: true, Keepalive: 60, ClientIdentifier: "g", UsernameFlag: true, PasswordFlag: true, Username: []byte("acme/gw"), Password: []byte(token)}}
		if err := pk.ConnectEncode(&connect); err != nil {
			t.Fatal(err)
		}
		_, _ = client.Write(connect.Bytes())
		_, _ = client.Write(b)
		client.Close()
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Fatal("the connection does not end")
		}
	})
}

// TestThousandConnections checks a thousand concurrent connections over TLS.
func TestThousandConnections(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Limits.PerDevice = 100 })
	const devices, each = 10, 100
	address, trust := r.overTLS()
	all := make([]*bare, 0, devices*each)
	for d := range devices {
		name := fmt.Sprintf("gw%d", d)
		token := r.device(name, "S1")
		for i := range each {
			conn, err := tls.Dial("tcp", address, trust)
			r.must(err)
			t.Cleanup(func() { conn.Close() })
			c := &bare{t: t, conn: conn, in: bufio.NewReader(conn), v: 4}
			c.connect("acme/"+name, token, func(pk *packets.Packet) { pk.Connect.ClientIdentifier = fmt.Sprint(i) })
			all = append(all, c)
		}
	}
	for _, c := range all {
		c.want(packets.Connack, 0)
	}
	if n := r.broker.Stats().Connections; n != devices*each {
		t.Errorf("%d connections", n)
	}
	for i, c := range all {
		c.publish(1, 1, "v1/acme/signals/S1", fmt.Sprintf(`{"production_complete":%d}`, i))
	}
	for _, c := range all {
		c.want(packets.Puback, 0)
	}
	if n := len(r.stored("S1")); n != devices*each {
		t.Errorf("%d signals are stored", n)
	}
	if n := len(r.linked()); n != devices {
		t.Errorf("%d devices are told to be there", n)
	}
}

// overTLS makes the broker also listen over TLS, and returns the client's configuration.
func (r *rig) overTLS() (address string, client *tls.Config) {
	r.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	r.must(err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	r.must(err)
	leaf, err := x509.ParseCertificate(der)
	r.must(err)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}})
	r.must(err)
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
	r.t.Cleanup(func() {
		l.Close()
		r.broker.Close()
		running.Wait()
	})
	client = &tls.Config{RootCAs: x509.NewCertPool()}
	client.RootCAs.AddCert(leaf)
	return l.Addr().String(), client
}
