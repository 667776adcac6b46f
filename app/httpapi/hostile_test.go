package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"opsmon/app/auth"
	"opsmon/app/httpapi/rest"
)

// hurried sets the timeouts of the real server (package app, run.go), divided by 100.
func hurried(h *http.Server) {
	h.ReadHeaderTimeout, h.ReadTimeout, h.WriteTimeout, h.IdleTimeout = 100*time.Millisecond, 300*time.Millisecond, 600*time.Millisecond, 1200*time.Millisecond
	h.MaxHeaderBytes = 16 << 10
}

// closedWithin reads until the server closes the connection and returns the data.
func closedWithin(t *testing.T, c io.Reader, limit time.Duration) string {
	t.Helper()
	start := time.Now()
	all, _ := io.ReadAll(c) // the kind of error does not matter
	if took := time.Since(start); took > limit {
		t.Errorf("the connection was open for %v", took)
	}
	return string(all)
}

func (s *server) alive() {
	s.t.Helper()
	s.do(ask{method: "GET", path: "/health"}).want(s.t, 200)
}

func TestSlowHeaders(t *testing.T) {
	s := newServer(t, options{serve: hurried})
	var wg sync.WaitGroup
	for range 5 {
		c := s.dial()
		wg.Go(func() {
			for _, part := range []string{"GET /health HTTP/1.1\r\n", "Host: x\r\n", "A: b\r\n", "A: c\r\n", "A: d\r\n", "\r\n"} {
				if _, err := io.WriteString(c, part); err != nil {
					return
				}
				time.Sleep(60 * time.Millisecond)
			}
		})
		if got := closedWithin(t, c, 2*time.Second); strings.Contains(got, "200 OK") {
			t.Errorf("%q", got)
		}
	}
	wg.Wait()
	s.alive()
}

// A small body that does not arrive times out. A manifest, which may be large, has more time, and so has its answer.
func TestSlowBodies(t *testing.T) {
	s := newServer(t, options{serve: hurried})
	key := s.roleKey(auth.Member)
	send := func(method, path, body string, total time.Duration) io.Reader {
		c := s.dial()
		fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: x\r\nX-API-KEY: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n", method, path, key, len(body))
		go func() {
			const steps = 20
			for i := range steps {
				if _, err := io.WriteString(c, body[i*len(body)/steps:(i+1)*len(body)/steps]); err != nil {
					return
				}
				time.Sleep(total / steps)
			}
		}()
		return c
	}
	got := s.read(bufio.NewReader(send("POST", "/account", `{"currency":"GBP"}`+strings.Repeat(" ", 1000), time.Second)), "POST", "/account").want(t, 400)
	if !strings.Contains(got.text("errorMessage"), "too long to arrive") {
		t.Errorf("%s", got.body)
	}
	s.read(bufio.NewReader(send("PUT", "/account/manifest", acme, time.Second)), "PUT", "/account/manifest").want(t, 200)
	s.alive()
}

func TestBodyThatEndsEarly(t *testing.T) {
	s := newServer(t, options{serve: hurried})
	key := s.roleKey(auth.Member)
	for _, body := range []string{"Content-Length: 50\r\n\r\n{}", "Transfer-Encoding: chunked\r\n\r\n10\r\n{}", "Transfer-Encoding: chunked\r\n\r\nxyz\r\n{}", "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"} {
		for _, to := range []string{"POST /account", "PUT /account/manifest"} {
			method, path, _ := strings.Cut(to, " ")
			c := s.dial()
			fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: x\r\nX-API-KEY: %s\r\nContent-Type: application/json\r\n%s", to, key, body)
			s.must(nil, c.(interface{ CloseWrite() error }).CloseWrite())
			s.read(bufio.NewReader(c), method, path).want(t, 400)
		}
	}
	if got := s.do(ask{method: "GET", path: "/account/manifest/revisions", key: key}); got.at("paging", "totalElements") != 1.0 {
		t.Errorf("half a body was taken: %s", got.body)
	}
}

func TestPipelining(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Member)
	c := s.dial()
	var all strings.Builder
	const rounds = 50
	for i := range rounds {
		fmt.Fprintf(&all, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
		fmt.Fprintf(&all, "GET /account HTTP/1.1\r\nHost: x\r\nX-API-KEY: %s\r\n\r\n", key)
		body := fmt.Sprintf(`{"electricalPricePerKwh":%d}`, i)
		fmt.Fprintf(&all, "POST /account HTTP/1.1\r\nHost: x\r\nX-API-KEY: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", key, len(body), body)
		fmt.Fprintf(&all, "GET /auth/profile HTTP/1.1\r\nHost: x\r\n\r\n")
	}
	go io.WriteString(c, all.String())
	r := bufio.NewReader(c)
	for i := range rounds {
		s.read(r, "GET", "/health").want(t, 200)
		read := s.read(r, "GET", "/account").want(t, 200)
		if i > 0 && read.at("result", "electricalPricePerKwh") != float64(i-1) {
			t.Errorf("round %d reads %v", i, read.at("result", "electricalPricePerKwh"))
		}
		s.read(r, "POST", "/account").want(t, 200)
		s.read(r, "GET", "/auth/profile").want(t, 401)
	}
}

// Requests refused by net/http itself have no envelope, but they are refused and the server continues.
func TestMalformedRequests(t *testing.T) {
	s := newServer(t, options{serve: hurried})
	key := s.roleKey(auth.Admin)
	tail := " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
	for name, request := range map[string]string{
		"a NUL in the path":          "GET /acc\x00ount" + tail,
		"a NUL in a header":          "GET /account HTTP/1.1\r\nHost: x\r\nX-API-KEY: a\x00b\r\n\r\n",
		"a NUL in the cookie":        "GET /account HTTP/1.1\r\nHost: x\r\nCookie: session=a\x00\r\n\r\n",
		"no host":                    "GET /account HTTP/1.1\r\n\r\n",
		"two hosts":                  "GET /account HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
		"huge headers":               "GET /account HTTP/1.1\r\nHost: x\r\nX-API-KEY: " + strings.Repeat("k", 64<<10) + "\r\n\r\n",
		"many headers":               "GET /account HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("A: b\r\n", 20000) + "\r\n",
		"a huge path":                "GET /" + strings.Repeat("a", 64<<10) + tail,
		"two lengths":                "POST /account HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
		"a negative length":          "POST /account HTTP/1.1\r\nHost: x\r\nContent-Length: -2\r\n\r\n{}",
		"an encoding of its own":     "POST /account HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n{}",
		"a folded header":            "GET /account HTTP/1.1\r\nHost: x\r\nX-API-KEY: a\r\n b\r\n\r\n",
		"a blank before the colon":   "GET /account HTTP/1.1\r\nHost: x\r\nX-API-KEY : " + key + "\r\n\r\n",
		"no method":                  " /account" + tail,
		"HTTP/0.9":                   "GET /account\r\n\r\n",
		"HTTP/3.0":                   "GET /account HTTP/3.0\r\nHost: x\r\n\r\n",
		"TLS on the plain port":      "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
		"a bad escape":               "GET /key/%zz" + tail,
		"an escape in the authority": "GET http://%41:x/account" + tail,
		"nonsense":                   "\r\n\r\n\xff\xfe\x00\r\n\r\n",
	} {
		c := s.dial()
		go io.WriteString(c, request)
		got := closedWithin(t, c, 3*time.Second)
		if strings.Contains(got, " 200 ") || strings.Contains(got, `"isSuccess":true`) {
			t.Errorf("%s: %.300q", name, got)
		}
		c.Close()
	}
	// With both Content-Length and chunks, the chunks count: data after them is the next request, not part of the body.
	c := s.dial()
	fmt.Fprintf(c, "POST /account HTTP/1.1\r\nHost: x\r\nX-API-KEY: %s\r\nContent-Type: application/json\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\nGET /nothing HTTP/1.1\r\nHost: x\r\n\r\n", key)
	r := bufio.NewReader(c)
	s.read(r, "POST", "/account").want(t, 200)
	s.read(r, "GET", "/nothing").want(t, 404)
	s.alive()
}

// Unusual request targets are answered like any other path, with the envelope.
func TestStrangeTargets(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Admin)
	tail := " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-API-KEY: " + key + "\r\n\r\n"
	for target, status := range map[string]int{
		"GET http://elsewhere.example/health": 200, "GET http://elsewhere.example": 404, "GET //health": 404, "GET /health?": 200, "GET /health?%zz": 200,
		"GET /health;x": 404, "GET /health#x": 404, "GET /%68ealth": 200, "GET *": 405, "GET /key%0d%0aX-Injected:%20yes": 404,
		"DELETE /key/%0d%0aX-Injected:%20yes": 400, "DELETE /key/a%2fb": 400, "DELETE /key/%2e%2e": 400, "DELETE /key/..": 400, "GET /user/%0aX-Injected:1": 404,
		"GET /station/PACK-1%0d%0a": 404, "GET /account/../account": 404, "CONNECT x:80": 404, "CONNECT /account": 405, "GET /account\\": 404,
	} {
		method, path, _ := strings.Cut(target, " ")
		c := s.dial()
		io.WriteString(c, target+tail)
		resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: "GET"})
		if err != nil {
			t.Errorf("%s: %v", target, err)
			continue
		}
		body, err := io.ReadAll(resp.Body)
		s.must(nil, err)
		if resp.StatusCode != status {
			t.Errorf("%s: %d, want %d: %s", target, resp.StatusCode, status, body)
		}
		a := &answer{status: resp.StatusCode, header: resp.Header, raw: body, body: body}
		if err := envelope(method, path, a); err != nil {
			t.Errorf("%s: %v: %s", target, err, body)
		}
		for name, values := range resp.Header {
			if strings.HasPrefix(name, "X-Inj") || strings.ContainsAny(strings.Join(values, ""), "\r\n") {
				t.Errorf("%s injects %s", target, name)
			}
		}
		c.Close()
	}
}

// Values echoed in a header cannot inject another header.
func TestHeadersAreNotInjected(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Admin)
	for _, email := range []string{`a\r\nX-Injected: 1@people.example`, `a@people.example\r\nX-Injected: 1`, `a\u0000@people.example`, `<script>@people.example`} {
		s.do(ask{method: "POST", path: "/user", body: `{"email":"` + email + `","role":"operator"}`, key: key}).wantDetail(t, "email", "e-mail address")
	}
}

// 10,000 unknown keys from as many addresses use a limited amount of memory, and ten times as many use no more.
func TestFloodOfUnknownKeysIsBounded(t *testing.T) {
	s := newServer(t, options{})
	flood := func(from, n int) {
		for i := range n {
			r := httptest.NewRequest("GET", "/account", nil)
			r.RemoteAddr = fmt.Sprintf("10.%d.%d.%d:99", (from+i)>>16&255, (from+i)>>8&255, (from+i)&255)
			r.Header.Set("X-API-KEY", fmt.Sprintf("opk_%040d", from+i))
			w := httptest.NewRecorder()
			s.api.ServeHTTP(w, r)
			if w.Code != 401 {
				t.Fatalf("status %d", w.Code)
			}
		}
	}
	heap := func() uint64 {
		runtime.GC()
		s.logged.mu.Lock()
		s.logged.b = bytes.Buffer{}
		s.logged.mu.Unlock()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	flood(0, 10_000)
	full := heap()
	flood(10_000, 40_000)
	after := heap()
	t.Logf("%d KiB for 10,000 addresses, %d KiB more for 40,000 others", (int64(full)-int64(before))>>10, (int64(after)-int64(full))>>10)
	if full > before+8<<20 || after > full+1<<20 {
		t.Errorf("the heap had %d bytes before, %d after 10,000 and %d after 50,000", before, full, after)
	}
	s.do(ask{method: "GET", path: "/account", key: s.roleKey(auth.Readonly)}).want(t, 200)
}

// fat returns a manifest of about 10 MB.
func fat() string {
	var b strings.Builder
	for i := range 10 {
		fmt.Fprintf(&b, `,{"code":"FAT-%d","name":"Fat","description":"%s"}`, i, strings.Repeat("x", 1<<20))
	}
	return strings.Replace(acme, `{"code":"PACK-2"`, b.String()[1:]+`,{"code":"PACK-2"`, 1)
}

// scaled divides the deadlines set by handlers by a thousand.
type scaled struct{ http.ResponseWriter }

func (w scaled) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// SetWriteDeadline implements the interface of http.ResponseController.
func (w scaled) SetWriteDeadline(at time.Time) error {
	return http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(time.Until(at) / 1000))
}

// A client that never reads its answer is disconnected at the deadline for an answer of that size.
func TestClientThatNeverReads(t *testing.T) {
	ended := make(chan time.Duration, 1)
	s := newServer(t, options{wrap: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Never") == "" {
				next.ServeHTTP(w, r)
				return
			}
			start := time.Now()
			next.ServeHTTP(scaled{w}, r)
			ended <- time.Since(start)
		})
	}})
	key := s.roleKey(auth.Member)
	s.do(ask{method: "PUT", path: "/account/manifest", body: fat(), key: key}).want(t, 200)
	c := s.dial()
	fmt.Fprintf(c, "GET /account HTTP/1.1\r\nHost: x\r\nX-Never: 1\r\nX-API-KEY: %s\r\n\r\n", key)
	select {
	case took := <-ended: // a minute and a second for each 64 KiB: 220 s, here 0.22 s
		if took < 200*time.Millisecond || took > 20*time.Second {
			t.Errorf("it was cut off after %v", took)
		}
	case <-time.After(time.Minute):
		t.Error("the answer is still waiting")
	}
	s.alive()
}

// A client that reads a large answer slowly gets all of it, although the server's own deadline is for small ones.
func TestSlowReader(t *testing.T) {
	s := newServer(t, options{serve: hurried})
	key := s.roleKey(auth.Member)
	s.do(ask{method: "PUT", path: "/account/manifest", body: fat(), key: key}).want(t, 200)
	c := s.dial()
	fmt.Fprintf(c, "GET /account HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-API-KEY: %s\r\n\r\n", key)
	r := bufio.NewReaderSize(slowly{c}, 512<<10)
	if got := s.read(r, "GET", "/account").want(t, 200); len(got.body) < 10<<20 {
		t.Errorf("%d bytes", len(got.body))
	}
}

type slowly struct{ io.Reader }

func (s slowly) Read(p []byte) (int, error) {
	time.Sleep(25 * time.Millisecond)
	return io.ReadFull(s.Reader, p[:min(len(p), 256<<10)])
}

// A panic in a handler only fails its request: 500 with the envelope, without the cause.
func TestPanics(t *testing.T) {
	var none func() error
	failures := map[string]func(*rest.Call) (rest.Reply, error){
		"text":         func(*rest.Call) (rest.Reply, error) { panic("opk_inside") },
		"error":        func(*rest.Call) (rest.Reply, error) { panic(errors.New("disk on fire")) },
		"nil":          func(*rest.Call) (rest.Reply, error) { return rest.Reply{}, none() },
		"unclassified": func(*rest.Call) (rest.Reply, error) { return rest.Reply{}, errors.New("disk on fire") },
		"unencodable":  func(*rest.Call) (rest.Reply, error) { return rest.OK(func() {}) },
	}
	var more []rest.Route
	for name, handle := range failures {
		more = append(more, rest.Route{Method: "GET", Path: "/test/" + name, Access: rest.Open, Handle: handle})
	}
	s := newServer(t, options{more: more})
	for name := range failures {
		req, err := http.NewRequestWithContext(background(t), "GET", s.http.URL+"/test/"+name, nil)
		s.must(nil, err)
		resp, err := s.client.Do(req)
		s.must(nil, err)
		body, err := io.ReadAll(resp.Body)
		s.must(nil, err)
		resp.Body.Close()
		a := &answer{status: resp.StatusCode, header: resp.Header, raw: body, body: body}
		if err := envelope("GET", "/health", a); err != nil || a.status != 500 || strings.Contains(string(body), "fire") || strings.Contains(string(body), "goroutine") {
			t.Errorf("%s: %v: %d %s", name, err, a.status, body)
		}
		if id := resp.Header.Get("X-Request-Id"); !strings.Contains(s.logged.String(), id) {
			t.Errorf("%s: the log has no line %s", name, id)
		}
		s.alive()
	}
	if log := s.logged.String(); !strings.Contains(log, "hostile_test.go") || !strings.Contains(log, "disk on fire") {
		t.Error("the log does not tell where it failed")
	}
}

// Errors of the store are returned as a sentence without names of files and keys.
func TestStoreThatIsClosed(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Member)
	s.must(nil, s.Auth.Close())
	s.must(nil, s.store.Close())
	a := s.do(ask{method: "POST", path: "/account", body: `{"currency":"GBP"}`, key: key}).want(t, 503)
	if a.header.Get("Retry-After") != "5" || a.text("errorMessage") != "the service cannot do this now: closed" {
		t.Errorf("%v %s", a.header, a.body)
	}
	s.do(ask{method: "GET", path: "/account", key: key}).want(t, 200) // reads still work
}

// Only two manifests are processed at a time. Others wait, and give up if their client disconnects.
func TestManifestsTakeTurns(t *testing.T) {
	taken, finish := make(chan struct{}), make(chan struct{})
	busy := func(c *rest.Call) (rest.Reply, error) {
		if err := c.WaitManifest(); err != nil {
			return rest.Reply{}, err
		}
		taken <- struct{}{}
		<-finish
		return rest.Done()
	}
	turn := func(c *rest.Call) (rest.Reply, error) { return rest.Reply{}, c.WaitManifest() }
	s := newServer(t, options{more: []rest.Route{
		{Method: "GET", Path: "/test/busy", Access: rest.Open, Handle: busy}, {Method: "GET", Path: "/test/turn", Access: rest.Open, Handle: turn},
	}})
	key := s.roleKey(auth.Member)
	ctx := background(t)
	get := func(ctx context.Context, path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		s.api.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", path, nil))
		return w
	}
	for range 2 {
		go get(ctx, "/test/busy")
		<-taken
	}
	req, err := http.NewRequestWithContext(ctx, "PUT", s.http.URL+"/account/manifest?dryrun=true", strings.NewReader(acme))
	s.must(nil, err)
	req.Header = http.Header{"X-Api-Key": {key}, "Content-Type": {"application/json"}}
	got := make(chan *answer, 1)
	go func() {
		a, err := s.send(req)
		if err != nil {
			t.Error(err)
		}
		got <- a
	}()
	select {
	case a := <-got:
		t.Fatalf("a third manifest was worked on: %s", a.body)
	case <-time.After(50 * time.Millisecond):
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if w := get(gone, "/test/turn"); w.Code != http.StatusServiceUnavailable {
		t.Errorf("a client that went away: %d", w.Code)
	}
	// the local command line does not wait for clients on the network
	s.locally("POST", "/local/init", "", `{"domain":"third.example","email":"third@third.example"}`).want(t, 409)
	close(finish)
	(<-got).want(t, 200)
}

// Clients that announce large bodies and send them slowly block neither small requests nor, after their end, other
// large ones. A third concurrent upload of a person is refused, and another person's is not.
func TestSlowUploads(t *testing.T) {
	s := newServer(t, options{})
	member, admin := s.roleKey(auth.Member), s.roleKey(auth.Admin)
	upload := func(method, path, key string, size int) net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", s.http.Listener.Addr().String())
		s.must(nil, err)
		t.Cleanup(func() { c.Close() })
		_, err = fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: x\r\nX-API-KEY: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", method, path, key, size)
		s.must(nil, err)
		return c
	}
	admitted := func(c net.Conn) net.Conn {
		t.Helper()
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil || !strings.HasPrefix(line, "HTTP/1.1 100 ") { // sent when the body is about to be read
			t.Fatalf("it was not admitted: %q, %v", line, err)
		}
		return c
	}
	var slow []net.Conn
	for range 2 {
		slow = append(slow, admitted(upload("PUT", "/account/manifest", member, 30_000_000)))
	}
	for range 8 { // all that is reserved for small bodies
		slow = append(slow, admitted(upload("POST", "/account", member, 1<<20)))
	}
	third := upload("PUT", "/account/manifest", member, 30_000_000)
	if line, err := bufio.NewReader(third).ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 503 ") {
		t.Errorf("a third large manifest of one person: %q, %v", line, err)
	}
	s.do(ask{method: "PUT", path: "/account/manifest?dryrun=true", body: acme, key: member}).want(t, 200)
	s.do(ask{method: "PUT", path: "/account/manifest?dryrun=true", body: acme, key: admin}).want(t, 200)
	s.do(ask{method: "POST", path: "/account", body: `{}`, key: member}).want(t, 200)
	for _, c := range slow {
		c.Close()
	}
	eventually(t, func() bool {
		c := upload("PUT", "/account/manifest", member, 30_000_000)
		defer c.Close()
		line, err := bufio.NewReader(c).ReadString('\n')
		return err == nil && strings.HasPrefix(line, "HTTP/1.1 100 ")
	})
	s.do(ask{method: "PUT", path: "/account/manifest?dryrun=true", body: acme, key: member}).want(t, 200)
}

// With TLS, HTTP/2 is served, too.
func TestHTTP2(t *testing.T) {
	s := newServer(t, options{http2: true, secure: true})
	key := s.roleKey(auth.Member)
	s.do(ask{method: "PUT", path: "/account/manifest", body: fat(), key: key}).want(t, 200)
	for _, encoding := range []string{"identity", "gzip"} {
		got := s.do(ask{method: "GET", path: "/account", key: key, header: map[string]string{"Accept-Encoding": encoding}}).want(t, 200)
		if len(got.body) < 10<<20 || got.proto != "HTTP/2.0" {
			t.Errorf("%d bytes over %s", len(got.body), got.proto)
		}
		s.do(ask{method: "HEAD", path: "/account", key: key, header: map[string]string{"Accept-Encoding": encoding}}).want(t, 200)
		s.do(ask{method: "GET", path: "/account", key: key, header: map[string]string{"Accept-Encoding": encoding, "If-None-Match": got.header.Get("Etag")}}).want(t, 304)
	}
	s.do(ask{method: "POST", path: "/account", body: strings.Repeat(" ", 1<<20+1), key: key}).want(t, 413)
	s.do(ask{method: "DELETE", path: "/key/a%2Fb", key: key}).want(t, 400)
	s.do(ask{method: "POST", path: "/account", body: `{}`, session: s.session("acme", mailOf(auth.Member)), header: map[string]string{"Origin": s.http.URL}}).want(t, 200)
}

// A client that sends all of an oversized body before it reads still gets the answer.
func TestTooLargeIsTold(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Member)
	for _, size := range []int{rest.BodyLimit + 1, 5 << 20} {
		for range 5 {
			c, err := net.Dial("tcp", s.http.Listener.Addr().String())
			s.must(nil, err)
			_, err = fmt.Fprintf(c, "POST /account HTTP/1.1\r\nHost: x\r\nX-API-KEY: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", key, size, strings.Repeat(" ", size))
			s.must(nil, err)
			line, err := bufio.NewReader(c).ReadString('\n')
			if err != nil || !strings.HasPrefix(line, "HTTP/1.1 413 ") {
				t.Errorf("%d bytes: %q, %v", size, line, err)
			}
			c.Close()
		}
	}
}

// A superseded revision is shown without lifetimes. It is another body with another entity tag.
func TestSupersededRevisionHasItsOwnTag(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Member)
	path := "/account/manifest/revisions/1"
	current := s.do(ask{method: "GET", path: path, key: key}).want(t, 200)
	s.do(ask{method: "POST", path: "/account", body: `{"currency":"USD"}`, key: key}).want(t, 200)
	former := s.do(ask{method: "GET", path: path, key: key}).want(t, 200)
	if current.header.Get("Etag") == former.header.Get("Etag") || string(current.body) == string(former.body) {
		t.Errorf("tags %s and %s", current.header.Get("Etag"), former.header.Get("Etag"))
	}
}
