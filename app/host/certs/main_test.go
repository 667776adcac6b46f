package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if at := os.Getenv("CERTS_TEST_KILL_AT"); at != "" {
		killChild(at, os.Getenv("CERTS_TEST_DIR"))
		return
	}
	goleak.VerifyTestMain(m)
}

// today is the time that tests begin at.
var today = time.Date(2026, time.November, 20, 8, 15, 0, 0, time.UTC)

// plant is a machine whose clock and hosts a test sets.
type plant struct {
	mu    sync.Mutex
	now   time.Time
	names []string
	addrs []netip.Addr
	log   strings.Builder
}

func newPlant() *plant {
	return &plant{now: today, names: []string{"plantpc", "plantpc.works.example"}, addrs: addrs("192.168.7.20", "fd00:7::20")}
}

func addrs(texts ...string) []netip.Addr {
	var out []netip.Addr
	for _, text := range texts {
		out = append(out, netip.MustParseAddr(text))
	}
	return out
}

func (p *plant) clock() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

func (p *plant) set(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = now
}

func (p *plant) hosts() ([]string, []netip.Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.names, p.addrs
}

func (p *plant) move(texts ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.addrs = addrs(texts...)
}

func (p *plant) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.Write(b)
}

func (p *plant) logged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

func (p *plant) config(dir string) Config {
	return Config{Dir: dir, Hosts: p.hosts, Clock: p.clock, Log: slog.New(slog.NewTextHandler(p, nil))}
}

func (p *plant) open(t *testing.T, dir string) *Auto {
	t.Helper()
	a, err := Open(p.config(dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

// serve answers "hello" on a loopback port with a configuration, over HTTP/2 too.
func serve(t *testing.T, cfg *tls.Config) (address string) {
	t.Helper()
	return serveOn(t, "127.0.0.1:0", cfg)
}

func serveOn(t *testing.T, listen string, cfg *tls.Config) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", listen)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{
		Handler:  http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "hello") }),
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(tls.NewListener(l, cfg)) }()
	t.Cleanup(func() {
		server.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

func pool(ca *CA) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	return pool
}

// connect makes a handshake as a client that trusts the authority, knows the server by a name, and has a clock.
func connect(address, name string, ca *CA, now time.Time, change ...func(*tls.Config)) (*tls.Conn, error) {
	cfg := &tls.Config{ServerName: name, RootCAs: pool(ca), Time: func() time.Time { return now }, NextProtos: []string{"h2"}}
	for _, f := range change {
		f(cfg)
	}
	c, err := tls.DialWithDialer(&net.Dialer{Timeout: 5 * time.Second}, "tcp", address, cfg)
	if err != nil {
		return nil, fmt.Errorf("to %s: %w", name, err)
	}
	return c, nil
}

// met returns the certificate that a server shows.
func met(t *testing.T, address, name string, ca *CA, now time.Time) *x509.Certificate {
	t.Helper()
	c, err := connect(address, name, ca, now)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0]
}
