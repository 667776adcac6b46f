package httpapi

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"opsmon/app/auth"
	"opsmon/app/httpapi/rest"
	"opsmon/app/test/apptest"
)

// Request bodies are strict JSON. Errors have the place of the problem (decisions.md section 1).
func TestStrictBodies(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Admin)
	for _, tt := range []struct{ name, body, part string }{
		{"trailing data", "{}\n {}", "line 2, column 2"},
		{"trailing comma", `{"currency":"GBP",}`, "line 1, column 19"},
		{"a duplicate key", "{\"currency\":\"GBP\",\n\"currency\":\"GBP\"}", "line 2, column 1"},
		{"a duplicate key in other letters", `{"currency":"GBP","\u0063urrency":"USD"}`, "line 1, column 19"},
		{"bad UTF-8", "{\"currency\":\"\xff\"}", "line 1, column 14"},
		{"half a surrogate", `{"currency":"\ud800"}`, "line 1"},
		{"a byte order mark", "\xef\xbb\xbf{}", "byte order mark"},
		{"UTF-16", "\xff\xfe{\x00}\x00", "UTF-16"},
		{"65 levels", strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65), "64"},
		{"65 arrays", strings.Repeat("[", 65) + strings.Repeat("]", 65), "64"},
		{"1e999", `{"electricalPricePerKwh":1e999}`, "line 1, column 26"},
		{"an endless exponent", `{"electricalPricePerKwh":1e99999999999}`, "line 1"},
		{"NaN", `{"electricalPricePerKwh":NaN}`, "line 1, column 26"},
		{"a comment", `{/* */}`, "line 1, column 2"},
		{"single quotes", `{'currency':"GBP"}`, "line 1, column 2"},
		{"cut off", `{"currency":"GB`, "line 1"},
		{"blanks alone", "  \n\t ", "empty"},
		{"a control character", "{\"currency\":\"a\nb\"}", "line 1"},
	} {
		for _, to := range []struct{ method, path string }{{"POST", "/account"}, {"PUT", "/account/manifest"}, {"POST", "/key"}, {"POST", "/auth/login"}, {"POST", "/user"}} {
			a := s.do(ask{method: to.method, path: to.path, body: tt.body, key: key}).want(t, 400)
			if !strings.Contains(a.text("errorMessage"), tt.part) {
				t.Errorf("%s to %s: %s", tt.name, to.path, a.body)
			}
		}
	}
	deep := strings.Repeat(`{"a":`, 63) + "{}" + strings.Repeat("}", 63) // 64 levels are decoded, but are no account
	s.do(ask{method: "POST", path: "/account", body: deep, key: key}).wantDetail(t, "a", "is not a known field")
}

func TestBodiesThatAreNotThere(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Admin)
	for _, rt := range s.routes {
		row := samples[rt.Method+" "+rt.Path]
		a := row.call(s, rt.Method, caller{email: mailOf(auth.Admin)})
		needed := a.body != "" && rt.Path != "/key" && rt.Path != "/setup"
		a.body, a.key = "", key
		got := s.do(a)
		s.noteSecrets("", got)
		if needed {
			if got.want(t, 400); !strings.Contains(got.text("errorMessage"), "line 1, column 1") && rt.Path != "/backup/:name" {
				t.Errorf("%s %s: %s", rt.Method, rt.Path, got.body)
			}
		} else if got.status == 400 && rt.Path != "/auth/account" {
			t.Errorf("%s %s needs a body: %s", rt.Method, rt.Path, got.body)
		}
	}
}

func TestContentTypes(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Member)
	for kind, status := range map[string]int{
		"application/json": 200, "Application/JSON": 200, "application/json; charset=utf-8": 200, "application/json;charset=UTF-8; x=y": 200,
		"": 400, "text/plain": 400, "application/x-www-form-urlencoded": 400, "application/jsonp": 400, "application/merge-patch+json": 400, "json": 400,
		"application/json; charset": 400, "*/*": 400, "multipart/form-data; boundary=x": 400, "application/json, text/plain": 400, "text/plain; application/json": 400,
	} {
		a := s.do(ask{method: "POST", path: "/account", body: `{}`, key: key, header: map[string]string{"Content-Type": kind}})
		if a.status != status {
			t.Errorf("%q: %d, want %d: %s", kind, a.status, status, a.body)
		}
		if status == 400 && !strings.Contains(a.text("errorMessage"), "application/json") {
			t.Errorf("%q: %s", kind, a.body)
		}
	}
}

// A chunked body without content counts as no body and needs no content type.
func TestEmptyChunkedBody(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Member)
	for path, status := range map[string]int{"/key": 200, "/account": 400, "/auth/logout": 200} {
		a := s.raw("POST "+path+" HTTP/1.1\r\nHost: x\r\nX-API-KEY: "+key+"\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n", "POST", path)
		s.noteSecrets("", a.want(t, status))
	}
}

// 1 MiB for bodies, 32 MiB for manifests, 4 KiB for routes without a credential, with or without a Content-Length
// (decisions.md section 1).
func TestBodyLimits(t *testing.T) {
	apptest.Long(t)
	s := newServer(t, options{})
	key := s.roleKey(auth.Member)
	for _, tt := range []struct {
		method, path string
		limit        int
		start, end   string
	}{
		{"POST", "/account", 1 << 20, `{`, `}`},
		{"POST", "/auth/login", 4 << 10, `{"destination":"a@acme.example"`, `}`},
		{"PUT", "/account/manifest?dryrun=true", 32 << 20, acme[:len(acme)-1], `}`},
	} {
		for _, chunked := range []bool{false, true} {
			for _, over := range []int{0, 1} {
				body := tt.start + strings.Repeat(" ", tt.limit+over-len(tt.start)-len(tt.end)) + tt.end
				var r io.Reader = strings.NewReader(body)
				if chunked {
					r = struct{ io.Reader }{r}
				}
				req, err := http.NewRequestWithContext(background(t), tt.method, s.http.URL+tt.path, r)
				s.must(nil, err)
				req.Header = http.Header{"X-Api-Key": {key}, "Content-Type": {"application/json"}, fromHeader: {s.address()}}
				got, err := s.send(req)
				if err != nil {
					t.Errorf("%s %s, chunked %v, %d over: %v", tt.method, tt.path, chunked, over, err)
					continue
				}
				want := 200
				if over > 0 {
					want = 413
				}
				if got.want(t, want); over > 0 && !strings.Contains(got.text("errorMessage"), sizeOf(tt.limit)) {
					t.Errorf("%s", got.body)
				}
			}
		}
	}
}

func sizeOf(limit int) string {
	if limit < 1<<20 {
		return fmt.Sprint(limit>>10) + " KiB"
	}
	return fmt.Sprint(limit>>20) + " MiB"
}

// TestStrangersBodies: no route without a credential accepts a large body, except the set-up of an empty appliance.
func TestStrangersBodies(t *testing.T) {
	s := newServer(t, options{})
	for _, rt := range s.routes {
		if rt.Access == rest.Open && rt.Limit > 4<<10 && rt.Path != "/setup" {
			t.Errorf("%s %s takes %d bytes of anybody", rt.Method, rt.Path, rt.Limit)
		}
	}
	for _, path := range []string{"/auth/login", "/auth/approve"} {
		a := s.do(ask{method: "POST", path: path, body: `{"destination":"` + strings.Repeat("a", 4<<10) + `"}`}).want(t, 413)
		holds(t, a, map[string]any{"errorMessage": "the body must be 4 KiB or smaller"})
	}
}

// raw sends raw bytes and reads one answer.
func (s *server) raw(request, method, path string) *answer {
	s.t.Helper()
	c := s.dial()
	defer c.Close()
	if _, err := io.WriteString(c, request); err != nil {
		s.t.Fatal(err)
	}
	return s.read(bufio.NewReader(c), method, path)
}

// read reads an answer from a connection and checks it.
func (s *server) read(r *bufio.Reader, method, path string) *answer {
	s.t.Helper()
	resp, err := http.ReadResponse(r, &http.Request{Method: method})
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	u, err := url.ParseRequestURI(path)
	s.must(nil, err)
	return s.check(method, u, resp, body)
}

func (s *server) dial() net.Conn {
	s.t.Helper()
	c, err := net.Dial("tcp", s.http.Listener.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	s.must(nil, c.SetDeadline(time.Now().Add(20*time.Second)))
	s.t.Cleanup(func() { c.Close() })
	return c
}

// A client that sends Expect gets 100 Continue only if its body will be read.
func TestExpectContinue(t *testing.T) {
	s := newServer(t, options{})
	key, readonly := s.roleKey(auth.Member), s.roleKey(auth.Readonly)
	for _, tt := range []struct {
		name, method, path, key, kind string
		length                        int
		status                        int
	}{
		{"a good one", "POST", "/account", key, "application/json", 2, 100},
		{"one too large", "POST", "/account", key, "application/json", 1<<20 + 1, 413},
		{"a manifest too large", "PUT", "/account/manifest", key, "application/json", 32<<20 + 1, 413},
		{"another type", "POST", "/account", key, "text/plain", 2, 400},
		{"no credential", "PUT", "/account/manifest", "", "application/json", 1 << 20, 401},
		{"not the right", "PUT", "/account/manifest", readonly, "application/json", 1 << 20, 403},
		{"a wrong parameter", "PUT", "/account/manifest?x=y", key, "application/json", 1 << 20, 400},
		{"no such path", "POST", "/nothing", key, "application/json", 2, 404},
	} {
		c := s.dial()
		fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: x\r\nX-API-KEY: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", tt.method, tt.path, tt.key, tt.kind, tt.length)
		r := bufio.NewReader(c)
		if tt.status == 100 {
			line, err := r.ReadString('\n')
			if err != nil || !strings.HasPrefix(line, "HTTP/1.1 100") {
				t.Errorf("%s: %q %v", tt.name, line, err)
			}
			_, err = r.ReadString('\n')
			s.must(nil, err)
			fmt.Fprint(c, "{}")
			s.read(r, tt.method, tt.path).want(t, 200)
			continue
		}
		s.read(r, tt.method, tt.path).want(t, tt.status)
	}
}
