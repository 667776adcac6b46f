package webtest

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
)

// Line is the network between browsers and a service. It can be cut, and keeps its address when the service is
// restarted.
type Line struct {
	Base string // address for browsers, without a trailing slash

	mu      sync.Mutex
	cut     bool
	swallow int
	to      *url.URL
	s       *Service
	server  *httptest.Server
}

// NewLine returns a connection to a service.
func NewLine(t *testing.T, s *Service) *Line {
	t.Helper()
	l := &Line{s: s}
	l.Mend()
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1,
		Transport:     &http.Transport{DisableCompression: true},
		Rewrite: func(r *httputil.ProxyRequest) {
			l.mu.Lock()
			r.SetURL(l.to)
			l.mu.Unlock()
			r.Out.Host = r.In.Host
		},
		ErrorHandler: func(rw http.ResponseWriter, _ *http.Request, _ error) { hangUp(rw) },
	}
	l.server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		cut, lost := l.cut, l.swallow > 0 && r.Method == http.MethodPost
		if lost && !cut {
			l.swallow--
		}
		l.mu.Unlock()
		switch {
		case cut:
			hangUp(rw)
		case lost:
			proxy.ServeHTTP(httptest.NewRecorder(), r)
			hangUp(rw)
		default:
			proxy.ServeHTTP(rw, r)
		}
	}))
	l.Base = l.server.URL
	t.Cleanup(func() {
		l.server.CloseClientConnections()
		l.server.Close()
	})
	return l
}

// hangUp closes a connection without an answer.
func hangUp(rw http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(rw).Hijack(); err == nil {
		conn.Close()
	}
}

// Cut closes all connections and refuses new ones until Mend.
func (l *Line) Cut() {
	l.mu.Lock()
	l.cut = true
	l.mu.Unlock()
	l.server.CloseClientConnections()
}

// Mend accepts connections again, to the present address of the service.
func (l *Line) Mend() {
	to, err := url.Parse(l.s.Base)
	if err != nil {
		l.s.t.Fatal(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut, l.to = false, to
}

// Swallow drops the answers to the next n POST requests, after the service has executed them.
func (l *Line) Swallow(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.swallow = n
}
