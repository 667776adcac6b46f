package app

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"
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

// TestConnectionLimits: so many connections in all, so many from one address, the machine itself aside; a place is
// free again when its connection closes, and only once.
func TestConnectionLimits(t *testing.T) {
	under := newPipes()
	l := newLimitListener(under, 6, 2)
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
	l := newLimitListener(nil, 128, 32)
	for i := range 126 {
		if host := fmt.Sprintf("10.0.0.%d", i%100); !l.take(host) {
			t.Fatalf("place %d was refused", i)
		}
	}
	if l.take("10.0.1.1") {
		t.Error("a place kept for the machine itself was given away")
	}
	if !l.take("127.0.0.1") || !l.take("::1") || l.take("127.0.0.1") {
		t.Error("the machine itself has the last two places and no more")
	}
	for address, want := range map[string]string{"2001:db8:1:2::5": "2001:db8:1:2::/64", "10.1.1.1": "10.1.1.1", "127.0.0.1": "127.0.0.1"} {
		if got := hostOf(from{address: &net.TCPAddr{IP: net.ParseIP(address), Port: 9}}); got != want {
			t.Errorf("%s counts as %s, want %s", address, got, want)
		}
	}
}
