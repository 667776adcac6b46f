package app

import (
	"container/list"
	"context"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"opsmon/app/auth"
	"opsmon/app/host/config"
	"opsmon/app/httpapi/rest"
)

// places bounds how many connections are open at once, in all and from one address, so that one client cannot keep all
// others out. The machine itself is bound by the total only, since a proxy on it speaks for many, and the last places are
// kept for it.
//
// A connection over a limit takes the place of one that has shown less: of the oldest on which no request has finished,
// else of the stranger's whose last request finished the longest ago. One on which a credential was right keeps its place.
// The machine's own are not closed for others. Where there is no such connection the new one is closed: a few addresses that
// are silent, or that ask for what is open to all, keep nobody out. Strangers who come through a proxy on the machine can: the
// proxy has to bound them.
type places struct {
	most, mostFrom int

	mu     sync.Mutex
	from   map[string]int
	all    map[*limitedConn]struct{}
	quiet  list.List // of *limitedConn: no request has finished; the oldest first
	served list.List // of *limitedConn: requests of strangers have; the longest ago first
}

func newPlaces(most, mostFrom int) *places {
	return &places{most: most, mostFrom: mostFrom, from: map[string]int{}, all: map[*limitedConn]struct{}{}}
}

// keptPart of all places are for the machine itself, so that whoever fills the others cannot keep its administrator
// out: 16 of the usual 1,024.
const keptPart = 64

// enter gives a connection a place, and returns the connection that has lost its own by that, which the caller closes.
func (p *places) enter(c *limitedConn) (ok bool, out *limitedConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	local := config.Loopback(c.host)
	switch {
	case !local && p.from[c.host] >= p.mostFrom:
		out = p.least(func(other *limitedConn) bool { return other.host == c.host })
	case len(p.all) >= p.most || !local && len(p.all) >= p.most-p.most/keptPart:
		out = p.least(func(other *limitedConn) bool { return local || !config.Loopback(other.host) })
	default:
		ok = true
	}
	if out != nil {
		p.remove(out)
	} else if !ok {
		return false, nil
	}
	p.all[c] = struct{}{}
	p.from[c.host]++
	c.in, c.at = &p.quiet, p.quiet.PushBack(c)
	return true, out
}

// least returns the connection that has shown the least, of those that a test passes; nil where all have shown a credential.
func (p *places) least(passes func(*limitedConn) bool) *limitedConn {
	for _, of := range []*list.List{&p.quiet, &p.served} {
		for e := of.Front(); e != nil; e = e.Next() {
			if c := e.Value.(*limitedConn); passes(c) {
				return c
			}
		}
	}
	return nil
}

// remove makes a connection's place free, once.
func (p *places) remove(c *limitedConn) {
	if _, has := p.all[c]; !has {
		return
	}
	delete(p.all, c)
	c.leaveList()
	if p.from[c.host]--; p.from[c.host] == 0 {
		delete(p.from, c.host)
	}
}

// cut breaks all connections. New ones are taken still.
func (p *places) cut() {
	p.mu.Lock()
	all := slices.Collect(maps.Keys(p.all))
	p.mu.Unlock()
	for _, c := range all {
		c.Close()
	}
}

// limitListener is a listener whose connections have places. Listeners may share theirs.
type limitListener struct {
	net.Listener
	*places
}

func newLimitListener(l net.Listener, p *places) *limitListener { return &limitListener{l, p} }

// Accept returns the next connection that has a place.
func (l *limitListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		limited := &limitedConn{Conn: c, places: l.places, host: hostOf(c)}
		ok, out := l.enter(limited)
		if out != nil {
			out.Conn.Close()
		}
		if ok {
			return limited, nil
		}
		c.Close()
	}
}

// hostOf names the client for the limit: loopback addresses by themselves, an IPv6 network as one, because a
// machine has as many addresses in it as it likes.
func hostOf(c net.Conn) string {
	host, _, err := net.SplitHostPort(c.RemoteAddr().String())
	if err != nil || config.Loopback(host) {
		return host
	}
	return auth.AddressKey(host)
}

// limitedConn is a connection that has a place.
type limitedConn struct {
	net.Conn
	places *places
	host   string
	known  atomic.Bool // a credential was right

	in *list.List // that it stands in; nil once it is known or closed
	at *list.Element
}

// NetConn returns the connection itself, for what its socket is told.
func (c *limitedConn) NetConn() net.Conn { return c.Conn }

// Close closes the connection and makes its place free.
func (c *limitedConn) Close() error {
	c.places.mu.Lock()
	c.places.remove(c)
	c.places.mu.Unlock()
	return c.Conn.Close()
}

// finished notes that a request has been answered.
func (c *limitedConn) finished() {
	if c.known.Load() {
		return
	}
	c.places.mu.Lock()
	defer c.places.mu.Unlock()
	if c.in != nil {
		c.leaveList()
		c.in, c.at = &c.places.served, c.places.served.PushBack(c)
	}
}

// keep notes that a credential was right: the connection keeps its place until it is closed.
func (c *limitedConn) keep() {
	if c.known.Swap(true) {
		return
	}
	c.places.mu.Lock()
	defer c.places.mu.Unlock()
	c.leaveList()
}

// leaveList is called with the lock of the places held.
func (c *limitedConn) leaveList() {
	if c.in != nil {
		c.in.Remove(c.at)
		c.in, c.at = nil, nil
	}
}

// limitedOf returns the connection with a place below TLS; nil where there is none.
func limitedOf(c net.Conn) *limitedConn {
	for {
		if limited, ok := c.(*limitedConn); ok {
			return limited
		}
		inner, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return nil
		}
		c = inner.NetConn()
	}
}

// keepConn lets a connection keep its place, since a credential that came over it was right.
func keepConn(c net.Conn) {
	if limited := limitedOf(c); limited != nil {
		limited.keep()
	}
}

type placeKey struct{}

// withConn is for http.Server.ConnContext.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return rest.WithConn(context.WithValue(ctx, placeKey{}, limitedOf(c)), c)
}

// noteFinished notes on a request's connection that the request was answered.
func noteFinished(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r)
		if c, _ := r.Context().Value(placeKey{}).(*limitedConn); c != nil {
			c.finished()
		}
	})
}
