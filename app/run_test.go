package app

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"opsmon/app/auth"
	"opsmon/app/host/config"
	"opsmon/app/test/apptest"
	"opsmon/kv"
)

// TestTLS: HTTP/2, TLS 1.2 at least, and cookies that never travel in the clear.
func TestTLS(t *testing.T) {
	cert, key, pool := apptest.Certificate(t)
	cfg := testConfig(t)
	cfg.TLS = cert + "," + key
	r := serve(t, cfg)
	if !strings.HasPrefix(r.url, "https://127.0.0.1:") {
		t.Fatalf("it serves %s", r.url)
	}
	for _, h2 := range []bool{true, false} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: h2}
		client := &http.Client{Transport: transport}
		resp, err := client.Post(r.url+"/auth/login", "application/json", strings.NewReader(`{"destination":"it@northgate.example"}`))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		want := 1
		if h2 {
			want = 2
		}
		if resp.StatusCode != http.StatusOK || resp.ProtoMajor != want {
			t.Errorf("HTTP/2 %t: %s %s", h2, resp.Proto, resp.Status)
		}
		if len(resp.Cookies()) == 0 {
			t.Error("no cookie")
		}
		for _, c := range resp.Cookies() {
			if !c.Secure || !c.HttpOnly {
				t.Errorf("cookie %s is not Secure and HttpOnly", c.Name)
			}
		}
		transport.CloseIdleConnections()
	}
	address := strings.TrimPrefix(r.url, "https://")
	for version, taken := range map[uint16]bool{tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		c, err := tls.Dial("tcp", address, &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS10, MaxVersion: version})
		if (err == nil) != taken {
			t.Errorf("%s: %v", tls.VersionName(version), err)
		}
		if err == nil {
			c.Close()
		}
	}

	cfg = testConfig(t)
	cfg.TLS = key + "," + cert // in the wrong order
	h, err := NewHost(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "tls is to name the files of a certificate and its key") {
		t.Errorf("certificate and key swapped: %v", err)
	}
}

// TestPlainCookies: without TLS a Secure cookie would never come back.
func TestPlainCookies(t *testing.T) {
	r := serve(t, testConfig(t))
	resp, err := http.Post(r.url+"/auth/login", "application/json", strings.NewReader(`{"destination":"it@northgate.example"}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	for _, c := range resp.Cookies() {
		if c.Secure {
			t.Errorf("cookie %s is Secure", c.Name)
		}
	}
	if len(resp.Cookies()) == 0 {
		t.Error("no cookie")
	}
}

// slowRequest sends a request's parts with a pause before each, and gives the answer's status, 0 for none, and how
// long the server kept the connection.
func slowRequest(t *testing.T, address string, pause time.Duration, parts ...string) (status int, took time.Duration) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	go func() {
		for _, part := range parts {
			time.Sleep(pause)
			if _, err := io.WriteString(c, part); err != nil {
				return // the server has had enough
			}
		}
	}()
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err == nil {
		status = resp.StatusCode
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	io.Copy(io.Discard, c) // until it is closed
	return status, time.Since(start)
}

// TestSlowClients: a client that sends its request in drips, or never ends it, is cut off; others do not notice.
func TestSlowClients(t *testing.T) {
	r := serve(t, testConfig(t), func(h *Host) {
		h.limits = timeLimits{header: 300 * time.Millisecond, body: 600 * time.Millisecond, answer: 5 * time.Second, idle: 400 * time.Millisecond, drain: 5 * time.Second}
	})
	key := r.key
	address := strings.TrimPrefix(r.url, "http://")
	drips := func(s string) (parts []string) {
		for i := range s {
			parts = append(parts, s[i:i+1])
		}
		return parts
	}
	head := "POST /account HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-KEY: " + key + "\r\nContent-Type: application/json\r\nContent-Length: 400\r\n\r\n"
	for _, test := range []struct {
		name   string
		pause  time.Duration
		parts  []string
		status int // 0: the connection is closed, with or without an answer that it was no request
	}{
		{"headers in drips", 20 * time.Millisecond, drips("GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Padding: aaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n\r\n"), 0},
		{"headers that do not end", 0, []string{"GET /health HTTP/1.1\r\n"}, 0},
		{"nothing at all", 0, nil, 0},
		{"a body in drips", 10 * time.Millisecond, append([]string{head}, drips(strings.Repeat(" ", 400))...), 400},
		{"a body that does not come", 0, []string{head, "{"}, 400},
		{"an idle connection", 0, []string{"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"}, 200},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			status, took := slowRequest(t, address, test.pause, test.parts...)
			if test.status == 0 && status == http.StatusBadRequest {
				status = 0
			}
			if status != test.status || took > 6*time.Second {
				t.Errorf("status %d after %v, want %d soon", status, took, test.status)
			}
		})
	}
	if status := r.request(t, http.MethodGet, "/account", key, ""); status != http.StatusOK {
		t.Errorf("another client gets %d meanwhile", status)
	}
}

// TestSlowManifest: a manifest may take longer to arrive than small bodies and answers may.
func TestSlowManifest(t *testing.T) {
	r := serve(t, testConfig(t), func(h *Host) {
		h.limits.body, h.limits.answer, h.limits.idle = 300*time.Millisecond, 600*time.Millisecond, 100*time.Millisecond
	})
	key := r.key
	snap, err := r.services.Accounts.Get("northgate")
	if err != nil {
		t.Fatal(err)
	}
	document := string(snap.Document().Bytes())
	parts := []string{fmt.Sprintf("PUT /account/manifest HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-KEY: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", key, len(document))}
	for len(document) > 0 {
		n := min(len(document), 1+len(document)/2)
		parts, document = append(parts, document[:n]), document[n:]
	}
	pause := 1500 * time.Millisecond / time.Duration(len(parts))
	if status, took := slowRequest(t, strings.TrimPrefix(r.url, "http://"), pause, parts...); status != http.StatusOK || took < time.Second {
		t.Errorf("status %d after %v", status, took)
	}
}

// TestHeadersTooLarge: a request's line and headers are bounded.
func TestHeadersTooLarge(t *testing.T) {
	r := serve(t, testConfig(t))
	req, err := http.NewRequest(http.MethodGet, r.url+"/health", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Padding", strings.Repeat("x", 64<<10))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("status %s", resp.Status)
	}
}

// TestGracefulStop: a request that is being answered when the service stops is answered; new ones are not taken.
func TestGracefulStop(t *testing.T) {
	r := serve(t, testConfig(t))
	address := strings.TrimPrefix(r.url, "http://")
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body := `{"enableTasks":"on"}`
	fmt.Fprintf(c, "POST /account HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-KEY: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", r.key, len(body))
	in := bufio.NewReader(c)
	if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") { // the handler runs now
		t.Fatalf("%q, %v", line, err)
	}
	if _, err := in.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- r.stop() }()
	apptest.Eventually(t, "the end of listening", func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
		}
		return err != nil
	})
	select {
	case err := <-ended:
		t.Fatalf("it ended before the request did: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	io.WriteString(c, body)
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("the request that ran got %s", resp.Status)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestStopWaitsNotForEver: a client that never ends its request does not keep the service from stopping.
func TestStopWaitsNotForEver(t *testing.T) {
	r := serve(t, testConfig(t), func(h *Host) { h.limits.drain = 200 * time.Millisecond })
	key := r.key
	c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST /account HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-KEY: %s\r\nContent-Type: application/json\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n", key)
	if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("%q, %v", line, err)
	}
	start := time.Now()
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestOpenFails: what was opened is closed again, so that the next try finds the store free.
func TestOpenFails(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	cfg := testConfig(t)
	a, _ := opened(t, cfg)
	if _, err := Open(cfg, log); !errors.Is(err, kv.ErrLocked) || !strings.Contains(err.Error(), "--data-dir") {
		t.Errorf("a store that is in use: %v", err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	wrong := cfg
	wrong.TLS = "on"
	if _, err := Open(wrong, log); err == nil {
		t.Error("opened with a wrong tls")
	}
	wrong = cfg
	wrong.Assets = filepath.Join(cfg.DataDir, "nowhere")
	if _, err := NewHost(wrong, log); err == nil {
		t.Error("a service with pages that are not there")
	}
	wrong = cfg
	wrong.SMTP = config.SMTP{Host: "mail", From: "not an address", Port: 25, TLS: "none"}
	if _, err := Open(wrong, log); err == nil {
		t.Error("opened with a wrong sender")
	}
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	run := func(ctx context.Context, cfg config.Settings) error {
		h, err := NewHost(cfg, log)
		if err != nil {
			t.Fatal(err)
		}
		return h.Run(ctx, nil)
	}
	taken := cfg
	taken.Listen = busy.Addr().String()
	if err := run(t.Context(), taken); err == nil || !strings.Contains(err.Error(), "choose another port with --listen") {
		t.Errorf("a port in use: %v", err)
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if err := run(done, cfg); err != nil {
		t.Errorf("told to stop at once: %v", err)
	}
}

// TestClockSetBack: what was made in what is now the future does not live for ever, revisions keep their order, and
// the service goes on.
func TestClockSetBack(t *testing.T) {
	now := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	cfg := testConfig(t)
	cfg.Clock = func() time.Time { return now }
	a, key := opened(t, cfg)
	defer func() { a.Close() }()
	local := auth.Local("northgate")
	status := func(method, path, key, body string) int {
		req, err := http.NewRequest(method, path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if req.Header.Set("X-API-KEY", key); body != "" {
			req.Header.Set("Content-Type", "application/json")
		}
		w := &statusOnly{header: http.Header{}}
		a.api.ServeHTTP(w, req)
		return w.status
	}
	link := func() string {
		l, err := a.services.Auth.LinkOutright(local, "it@northgate.example")
		if err != nil {
			t.Fatal(err)
		}
		return l.Token
	}
	used, unused := link(), link()
	grant, err := a.services.Auth.Callback(used, "192.0.2.1")
	if err != nil {
		t.Fatal(err)
	}

	now = now.AddDate(-1, 0, 0) // the battery of the PC's clock was empty
	for range 2 {
		if s := status(http.MethodPost, "/account", key, `{"enableTasks":"on"}`); s != http.StatusOK {
			t.Fatalf("POST /account: %d", s)
		}
		if s := status(http.MethodPost, "/account", key, `{"enableTasks":"off"}`); s != http.StatusOK {
			t.Fatalf("POST /account: %d", s)
		}
		if a, err = reopen(a, cfg); err != nil { // and after a restart
			t.Fatal(err)
		}
	}
	list, _, err := a.services.Accounts.Revisions(local, 100, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 5 {
		t.Errorf("%d revisions, want 5", len(list))
	}
	for i, r := range list {
		if int(r.Revision) != len(list)-i {
			t.Errorf("revision %d is at place %d", r.Revision, i)
		}
	}
	if err := a.Check(func(p string) { t.Error(p) }); err != nil {
		t.Error(err)
	}
	// A session and a link end when they were to end, and not later.
	now = now.AddDate(1, 0, 0).Add(16 * time.Minute)
	if _, err := a.services.Auth.Callback(unused, "192.0.2.1"); err == nil {
		t.Error("a link of the future outlives its end")
	}
	now = now.Add(auth.SessionLifetime)
	if _, err := a.services.Auth.AuthenticateSession(grant.Session); err == nil {
		t.Error("a session of the future outlives its end")
	}
	fresh := link()
	if _, err := a.services.Auth.Callback(fresh, "192.0.2.1"); err != nil {
		t.Errorf("a new link: %v", err)
	}
}

func reopen(a *App, cfg config.Settings) (*App, error) {
	if err := a.Close(); err != nil {
		return a, err
	}
	return Open(cfg, slog.New(slog.DiscardHandler))
}

type statusOnly struct {
	header http.Header
	status int
}

func (w *statusOnly) Header() http.Header         { return w.header }
func (w *statusOnly) WriteHeader(status int)      { w.status = status }
func (w *statusOnly) Write(p []byte) (int, error) { return len(p), nil }
