package app

import (
	"net"
	"sync"
)

// limitListener bounds how many connections are open at once, in all and from one address, so that one client
// cannot keep all others out. What is over a limit is closed at once. The machine itself is bound by the total
// alone: a proxy on it speaks for many.
type limitListener struct {
	net.Listener
	most, mostFrom int

	mu   sync.Mutex
	open int
	from map[string]int
}

func newLimitListener(l net.Listener, most, mostFrom int) *limitListener {
	return &limitListener{Listener: l, most: most, mostFrom: mostFrom, from: map[string]int{}}
}

// Accept gives the next connection that is within the limits.
func (l *limitListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		host, _, _ := net.SplitHostPort(c.RemoteAddr().String())
		if l.take(host) {
			return &limitedConn{Conn: c, release: sync.OnceFunc(func() { l.release(host) })}, nil
		}
		c.Close()
	}
}

func (l *limitListener) take(host string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open >= l.most || l.from[host] >= l.mostFrom && !loopback(host) {
		return false
	}
	l.open++
	l.from[host]++
	return true
}

func (l *limitListener) release(host string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if l.from[host]--; l.from[host] == 0 {
		delete(l.from, host)
	}
}

type limitedConn struct {
	net.Conn
	release func()
}

// Close closes the connection and makes its place free, once.
func (c *limitedConn) Close() error {
	c.release()
	return c.Conn.Close()
}
