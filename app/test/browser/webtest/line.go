package webtest

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
)

// Line is the network between browsers and a service: it can be cut, and it stays at one address when the service is
// started again.
type Line struct {
	Base string // where browsers find the service, without a slash at the end

	mu      sync.Mutex
	cut     bool
	swallow int
	to      *url.URL
	s       *Service
	server  *httptest.Server
}

// NewLine lays a line to a service.
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

// hangUp ends a connection without an answer.
func hangUp(rw http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(rw).Hijack(); err == nil {
		conn.Close()
	}
}

// Cut ends all connections and lets none through until Mend.
func (l *Line) Cut() {
	l.mu.Lock()
	l.cut = true
	l.mu.Unlock()
	l.server.CloseClientConnections()
}

// Mend lets connections through again, to where the service is by now.
func (l *Line) Mend() {
	to, err := url.Parse(l.s.Base)
	if err != nil {
		l.s.t.Fatal(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut, l.to = false, to
}

// Swallow loses the answers to the next n POST requests: the service has done what they ask.
func (l *Line) Swallow(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.swallow = n
}
