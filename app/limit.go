package app

import (
	"maps"
	"net"
	"slices"
	"sync"

	"opsmon/app/auth"
)

// limitListener bounds how many connections are open at once, in all and from one address, so that one client
// cannot keep all others out. What is over a limit is closed at once. The machine itself is bound by the total
// alone, since a proxy on it speaks for many, and the last places are kept for it.
type limitListener struct {
	net.Listener
	most, mostFrom int

	mu   sync.Mutex
	open int
	from map[string]int
	all  map[*limitedConn]struct{}
}

func newLimitListener(l net.Listener, most, mostFrom int) *limitListener {
	return &limitListener{Listener: l, most: most, mostFrom: mostFrom, from: map[string]int{}, all: map[*limitedConn]struct{}{}}
}

// Accept gives the next connection that is within the limits.
func (l *limitListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		host := hostOf(c)
		if l.take(host) {
			limited := &limitedConn{Conn: c}
			limited.release = sync.OnceFunc(func() { l.release(host, limited) })
			l.mu.Lock()
			l.all[limited] = struct{}{}
			l.mu.Unlock()
			return limited, nil
		}
		c.Close()
	}
}

// keptPart of all places are for the machine itself, so that whoever fills the others cannot keep its administrator
// out: 16 of the usual 1,024.
const keptPart = 64

// hostOf names the client for the limit: loopback addresses by themselves, an IPv6 network as one, because a
// machine has as many addresses in it as it likes.
func hostOf(c net.Conn) string {
	host, _, err := net.SplitHostPort(c.RemoteAddr().String())
	if err != nil || loopback(host) {
		return host
	}
	return auth.AddressKey(host)
}

func (l *limitListener) take(host string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open >= l.most || !loopback(host) && (l.open >= l.most-l.most/keptPart || l.from[host] >= l.mostFrom) {
		return false
	}
	l.open++
	l.from[host]++
	return true
}

func (l *limitListener) release(host string, c *limitedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.all, c)
	l.open--
	if l.from[host]--; l.from[host] == 0 {
		delete(l.from, host)
	}
}

// cut breaks all connections. The listener goes on.
func (l *limitListener) cut() {
	l.mu.Lock()
	all := slices.Collect(maps.Keys(l.all))
	l.mu.Unlock()
	for _, c := range all {
		c.Close()
	}
}

type limitedConn struct {
	net.Conn
	release func()
}

// NetConn gives the connection itself, for what its socket is told.
func (c *limitedConn) NetConn() net.Conn { return c.Conn }

// Close closes the connection and makes its place free, once.
func (c *limitedConn) Close() error {
	c.release()
	return c.Conn.Close()
}
