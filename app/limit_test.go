package app

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"opsmon/app/test/apptest"
)

// pipes is a listener whose connections come from addresses of the test's choice.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	close func()
}

func newPipes() *pipes {
	p := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.done) })
	return p
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { p.close(); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

type from struct {
	net.Conn
	address net.Addr
}

func (f from) RemoteAddr() net.Addr { return f.address }

// TestConnectionLimits: so many connections with a right credential in all, so many from one address, the machine itself
// aside; a place is free again when its connection closes, and only once.
func TestConnectionLimits(t *testing.T) {
	under := newPipes()
	l := newLimitListener(under, newPlaces(6, 2))
	accepted := make(chan net.Conn)
	go func() {
		defer close(accepted)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	defer func() {
		l.Close()
		for range accepted {
			t.Error("a connection after the end")
		}
	}()
	port := 1000
	dial := func(ip string, taken bool) net.Conn {
		t.Helper()
		port++
		client, server := net.Pipe()
		under.conns <- from{server, &net.TCPAddr{IP: net.ParseIP(ip), Port: port}}
		if taken {
			c := <-accepted
			keepConn(c)
			t.Cleanup(func() { c.Close() })
			return c
		}
		client.SetDeadline(time.Now().Add(10 * time.Second))
		if _, err := client.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("a connection from %s over the limit: %v, want it closed", ip, err)
		}
		return nil
	}
	a := dial("10.0.0.1", true)
	dial("10.0.0.1", true)
	dial("10.0.0.1", false)
	dial("10.0.0.2", true)
	a.Close()
	a.Close() // the second time gives nothing back
	dial("10.0.0.1", true)
	dial("10.0.0.1", false)
	dial("127.0.0.1", true)
	last := dial("127.0.0.1", true)
	dial("::1", true)
	dial("127.0.0.1", false) // 6 in all
	dial("10.0.0.3", false)
	last.Close()
	dial("10.0.0.3", true)
	if len(l.from) != 5 {
		t.Errorf("%d addresses are remembered, want 5", len(l.from))
	}
}

// The last places are the machine's own, and a machine's IPv6 addresses count as one.
func TestPlacesKeptForTheMachine(t *testing.T) {
	p := newPlaces(128, 32)
	take := func(host string) bool {
		c := &limitedConn{places: p, host: host}
		ok, out := p.enter(c)
		if out != nil {
			t.Fatalf("%s takes the place of one from %s", host, out.host)
		}
		c.keep()
		return ok
	}
	for i := range 126 {
		if host := fmt.Sprintf("10.0.0.%d", i%100); !take(host) {
			t.Fatalf("place %d was refused", i)
		}
	}
	if take("10.0.1.1") {
		t.Error("a place kept for the machine itself was given away")
	}
	if !take("127.0.0.1") || !take("::1") || take("127.0.0.1") {
		t.Error("the machine itself has the last two places and no more")
	}
	for address, want := range map[string]string{"2001:db8:1:2::5": "2001:db8:1:2::/64", "10.1.1.1": "10.1.1.1", "127.0.0.1": "127.0.0.1"} {
		if got := hostOf(from{address: &net.TCPAddr{IP: net.ParseIP(address), Port: 9}}); got != want {
			t.Errorf("%s counts as %s, want %s", address, got, want)
		}
	}
}

// TestQuietConnectionsMakeRoom: when all places are taken, the oldest connection on which no request has finished goes, then the
// stranger's that was of use the longest ago, and never one that a credential came over.
func TestQuietConnectionsMakeRoom(t *testing.T) {
	p := newPlaces(128, 64)
	enter := func(host string) (*limitedConn, *limitedConn) {
		t.Helper()
		c := &limitedConn{places: p, host: host}
		ok, out := p.enter(c)
		if !ok {
			c = nil
		}
		return c, out
	}
	var list []*limitedConn
	for i := range 126 {
		c, _ := enter(fmt.Sprintf("10.0.0.%d", i%3))
		list = append(list, c)
	}
	list[0].keep()
	list[2].finished()
	list[1].finished()
	list[2].finished()
	for _, i := range []int{3, 4} {
		if _, out := enter("10.0.1.1"); out != list[i] {
			t.Errorf("who comes next does not take the place %d", i)
		}
	}
	for _, c := range list[5:] {
		c.keep()
	}
	for range 2 { // those that came above
		if _, out := enter("10.0.1.2"); out == nil || out.host != "10.0.1.1" {
			t.Error("a connection without a request keeps its place")
		}
	}
	for c := range p.all {
		if c.host == "10.0.1.2" {
			c.keep()
		}
	}
	for _, want := range []*limitedConn{list[1], list[2]} {
		c, out := enter("10.0.1.3")
		if c == nil || out != want {
			t.Fatal("the stranger's connection that was used the longest ago keeps its place")
		}
		c.keep()
	}
	if c, out := enter("10.0.1.4"); c != nil || out != nil {
		t.Error("a place is given away whose connection has shown a credential")
	}
	if c, out := enter("127.0.0.1"); c == nil || out != nil {
		t.Error("the machine itself has no place")
	}
	if c, _ := enter("10.0.1.4"); c != nil {
		t.Error("the machine's own quiet connection is closed for another's")
	}

	// What one address has too many of goes at its own cost.
	p = newPlaces(128, 2)
	other, _ := enter("10.0.0.2")
	first, _ := enter("10.0.0.1")
	second, _ := enter("10.0.0.1")
	if third, out := enter("10.0.0.1"); third == nil || out != first {
		t.Error("the oldest of an address does not make room for its newest")
	}
	second.keep()
	if len(p.all) != 3 || p.from["10.0.0.1"] != 2 || other.in == nil {
		t.Errorf("%d connections, %v", len(p.all), p.from)
	}
}

// TestSilentAddresses: four addresses with as many connections as they may have, silent or asking for what is open to all, keep
// nobody out; a stream that somebody follows goes on.
func TestSilentAddresses(t *testing.T) {
	under := newPipes()
	l := newLimitListener(under, newPlaces(16, 4))
	server := &http.Server{ConnContext: withConn, Handler: noteFinished(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/events" {
			c, _ := r.Context().Value(placeKey{}).(net.Conn)
			keepConn(c)
			w.WriteHeader(http.StatusOK)
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return
		}
	}))}
	go server.Serve(l)
	defer server.Close()
	dial := func(ip string, port int) net.Conn {
		t.Helper()
		client, accepted := net.Pipe()
		under.conns <- from{accepted, &net.TCPAddr{IP: net.ParseIP(ip), Port: port}}
		t.Cleanup(func() { client.Close() })
		return client
	}
	get := func(c net.Conn, path string) error {
		c.SetDeadline(time.Now().Add(10 * time.Second))
		if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", path); err != nil {
			return err
		}
		_, err := http.ReadResponse(bufio.NewReader(c), nil)
		return err
	}
	follower := dial("10.0.1.1", 1)
	if err := get(follower, "/events"); err != nil {
		t.Fatal(err)
	}
	for i := range 16 {
		if c := dial(fmt.Sprintf("10.0.0.%d", i%4), i); i%2 == 0 {
			if err := get(c, "/health"); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range 20 {
		if err := get(dial("10.0.2.2", 100+i), "/health"); err != nil {
			t.Fatalf("request %d of somebody else: %v", i, err)
		}
	}
	follower.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if _, err := follower.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the stream of events has ended: %v", err)
	}
}

// TestCredentialsKeepPlaces: a connection over which a right credential came keeps its place, over HTTP and MQTT, and others
// do not.
func TestCredentialsKeepPlaces(t *testing.T) {
	cfg := testConfig(t)
	cfg.TLS, cfg.MQTT.Listen = "auto", "127.0.0.1:0"
	r := serve(t, cfg)
	st := status(t, cfg.DataDir)
	kept := func(p *places) (known, others int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		for c := range p.all {
			if c.known.Load() {
				known++
			} else if c.in == &p.served {
				others++
			}
		}
		return known, others
	}
	for key, want := range map[string][2]int{"": {0, 1}, "opk_wrong": {0, 1}, r.key: {1, 0}} {
		browser := apptest.Browser(t, st.Certificate.Authority.PEM)
		req, err := http.NewRequest(http.MethodGet, r.url+"/station", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-API-KEY", key)
		a, err := browser.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, a.Body)
		a.Body.Close()
		for end := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) { // the answer is there before its handler returns
			if known, others := kept(r.host.network.places); [2]int{known, others} == want {
				break
			} else if time.Now().After(end) {
				t.Fatalf("status %d: %d connections keep their places and %d do not, want %v", a.StatusCode, known, others, want)
			}
		}
		browser.CloseIdleConnections()
		for end := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
			if known, others := kept(r.host.network.places); known+others == 0 {
				break
			} else if time.Now().After(end) {
				t.Fatal("a closed connection has a place")
			}
		}
	}
	if dialMQTT(t, st.MQTTListen, st.Certificate.Authority.PEM, "northgate/gw", r.device(t, "gw")) == nil {
		t.Fatal("the device is not let in")
	}
	// It is let in a moment before its place is its own.
	apptest.Eventually(t, "the device's connection keeps its place", func() bool {
		known, _ := kept(r.host.mqtt.places)
		return known == 1
	})
}
