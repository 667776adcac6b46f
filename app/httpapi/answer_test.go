package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"opsmon/app/errdefs"
	"opsmon/app/httpapi/rest"
)

// ask is a request. Zero fields are left out. A body is sent as application/json unless header has another type.
type ask struct {
	method, path string
	body         string
	key          string
	session      string
	login        string // cookie of a browser with a pending sign-in
	from         string
	header       map[string]string
}

// answer is a checked answer.
type answer struct {
	proto   string
	status  int
	header  http.Header
	raw     []byte // as sent
	body    []byte // uncompressed
	cookies map[string]*http.Cookie
}

// do sends a request and checks the answer's envelope.
func (s *server) do(a ask) *answer {
	s.t.Helper()
	got, err := s.try(a)
	if err != nil {
		s.t.Fatalf("%s %s: %v", a.method, a.path, err)
	}
	return got
}

// try is do for requests that may get no answer, and for goroutines other than the test's own.
func (s *server) try(a ask) (*answer, error) {
	s.t.Helper()
	req, err := http.NewRequest(a.method, s.http.URL+a.path, strings.NewReader(a.body))
	if err != nil {
		return nil, err
	}
	if a.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if a.key != "" {
		req.Header.Set("X-API-KEY", a.key)
	}
	if a.session != "" {
		req.AddCookie(&http.Cookie{Name: "session", Value: a.session})
	}
	if a.login != "" {
		req.AddCookie(&http.Cookie{Name: "login", Value: a.login})
	}
	if a.from != "" {
		req.Header.Set(fromHeader, a.from)
	}
	for name, value := range a.header {
		req.Header.Set(name, value)
	}
	return s.send(req)
}

// send sends any request and checks the answer's envelope.
func (s *server) send(req *http.Request) (*answer, error) {
	s.t.Helper()
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	return s.check(req.Method, req.URL, resp, raw), nil
}

// check validates an answer against sections 1, 4 and 7 of the specification, and records its fields.
func (s *server) check(method string, u *url.URL, resp *http.Response, raw []byte) *answer {
	s.t.Helper()
	a := s.judge(method, u, resp, raw)
	if t, ok := s.t.(*testing.T); ok {
		conform(t, method, s.patternOf(method, u), a.status, a.header, raw)
	}
	return a
}

// judge is check without the OpenAPI document, which lacks the operations of the local command line.
func (s *server) judge(method string, u *url.URL, resp *http.Response, raw []byte) *answer {
	s.t.Helper()
	a := &answer{proto: resp.Proto, status: resp.StatusCode, header: resp.Header, raw: raw, body: raw, cookies: map[string]*http.Cookie{}}
	for _, c := range resp.Cookies() {
		a.cookies[c.Name] = c
	}
	pattern := s.patternOf(method, u)
	wrong := func(format string, args ...any) {
		s.t.Helper()
		s.t.Errorf("%s %s answered %d: %s\n%v\n%.1000s", method, pattern, a.status, fmt.Sprintf(format, args...), a.header, a.body)
	}
	if a.header.Get("Content-Encoding") == "gzip" && method != http.MethodHead {
		z, err := gzip.NewReader(bytes.NewReader(raw))
		if err == nil {
			a.body, err = io.ReadAll(z)
		}
		if err != nil {
			wrong("not gzip: %v", err)
		}
	}
	if err := envelope(method, u.Path, a); err != nil {
		wrong("%v", err)
	}
	for name, values := range a.header {
		if name != "Set-Cookie" {
			fmt.Fprintln(&s.shown, name, values)
		}
	}
	if a.status >= 400 || pattern == "/metrics" || pattern == "/audit" {
		s.shown.Write(a.body)
	}
	return a
}

// patternOf returns the pattern of the route for a path; "": none.
func (s *server) patternOf(method string, u *url.URL) string {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	sent := strings.Split(u.EscapedPath(), "/")
	match := func(pattern string) bool {
		parts := strings.Split(pattern, "/")
		return len(parts) == len(sent) && !slices.ContainsFunc(parts, func(p string) bool {
			i := slices.Index(parts, p)
			return p != sent[i] && !(strings.HasPrefix(p, ":") && sent[i] != "")
		})
	}
	best := ""
	for _, rt := range s.routes {
		if match(rt.Path) && (rt.Method == method || best == "") {
			best = rt.Path
		}
	}
	return best
}

var codes = map[int]string{
	400: "invalidInput", 401: "unauthorizedUser", 403: "forbidden", 404: "notFound", 405: "methodNotAllowed", 409: "conflict",
	413: "payloadTooLarge", 429: "tooManyRequests", 500: "internalServerError", 503: "unavailable",
}

// envelope validates an answer strictly against http-api.md section 7 and decisions.md section 1.
func envelope(method, path string, a *answer) error {
	h := a.header
	if h.Get("X-Request-Id") == "" {
		return errors.New("no X-Request-Id")
	}
	if h.Get("X-Content-Type-Options") != "nosniff" {
		return errors.New("no nosniff")
	}
	if c := h.Get("Cache-Control"); c != "no-store" && c != "private, no-cache" {
		return fmt.Errorf("Cache-Control is %q", c)
	}
	if at, err := strconv.ParseInt(h.Get("X-Time"), 10, 64); h.Get("Etag") == "" && h.Get("Content-Type") == "application/json" && (err != nil || at < 1e12) {
		return fmt.Errorf("X-Time is %q", h.Get("X-Time"))
	}
	if a.status == http.StatusNoContent || a.status == http.StatusNotModified {
		if len(a.raw) > 0 || h.Get("Content-Type") != "" || h.Get("Content-Length") != "" {
			return errors.New("it has a body, or tells of one")
		}
		if a.status == http.StatusNotModified && (h.Get("Etag") == "" || h.Get("Vary") == "") {
			return errors.New("304 without the headers of the 200")
		}
		return nil
	}
	if path == "/events" && a.status == 200 {
		if kind := h.Get("Content-Type"); kind != "text/event-stream" || h.Get("Content-Length") != "" || h.Get("Content-Encoding") != "" {
			return fmt.Errorf("a stream of events has the content type %q, a length or an encoding", kind)
		}
		return nil
	}
	length, err := strconv.Atoi(h.Get("Content-Length"))
	if long := a.status == 200 && (isTable(path) || path == "/station-window") && h.Get("Content-Length") == ""; long {
		length, err = len(a.raw), nil // sent while it is generated
	}
	if err != nil {
		return fmt.Errorf("Content-Length is %q", h.Get("Content-Length"))
	}
	text := path == "/metrics" && a.status == 200
	file := strings.HasPrefix(path, "/backup/") && (method == http.MethodGet || method == http.MethodHead) && a.status == 200
	table := isTable(path) && a.status == 200
	if kind := h.Get("Content-Type"); kind != "application/json" && !(table && kind == rest.CSVType) && !(text && strings.HasPrefix(kind, "text/plain; version=0.0.4")) && !(file && kind == "application/octet-stream") {
		return fmt.Errorf("the content type is %q", kind)
	}
	if method == http.MethodHead {
		if len(a.raw) > 0 {
			return errors.New("HEAD has a body")
		}
		return nil
	}
	if length != len(a.raw) {
		return fmt.Errorf("Content-Length is %d and the body has %d bytes", length, len(a.raw))
	}
	if text || file || table {
		return nil
	}
	var v map[string]json.RawMessage
	if err := json.Unmarshal(a.body, &v); err != nil {
		return fmt.Errorf("not a JSON object: %w", err)
	}
	if a.status < 300 {
		return successEnvelope(path, v)
	}
	return errorEnvelope(a, v)
}

func isTable(path string) bool { return strings.HasPrefix(path, "/export/") || path == "/audit/export" }

func successEnvelope(path string, v map[string]json.RawMessage) error {
	switch {
	case path == "/auth/login":
		if string(v["success"]) != "true" || len(v) != 3 {
			return errors.New("login answers code, success and result")
		}
	case path == "/openapi.json", path == "/account/manifest" && v["isSuccess"] == nil, strings.HasPrefix(path, "/account/manifest/revisions/") && v["isSuccess"] == nil:
		return nil // bare documents
	default:
		if string(v["isSuccess"]) != "true" {
			return errors.New("isSuccess is not true")
		}
		for name := range v {
			if !slices.Contains([]string{"isSuccess", "result", "results", "paging"}, name) {
				return fmt.Errorf("a success has the member %s", name)
			}
		}
	}
	return nil
}

func errorEnvelope(a *answer, v map[string]json.RawMessage) error {
	if string(v["isSuccess"]) != "false" || string(v["errorCode"]) != strconv.Quote(codes[a.status]) || codes[a.status] == "" {
		return errors.New("isSuccess and errorCode are not those of the status")
	}
	var message string
	if err := json.Unmarshal(v["errorMessage"], &message); (err != nil || message == "") && a.status != 401 {
		return errors.New("no errorMessage")
	}
	want := []string{"errorCode", "errorMessage", "isSuccess"}
	switch a.status {
	case 400:
		if raw, found := v["details"]; found {
			want = []string{"details", "errorCode", "errorMessage", "isSuccess"}
			var details []map[string]string
			if err := json.Unmarshal(raw, &details); err != nil || len(details) == 0 {
				return fmt.Errorf("details: %v", err)
			}
			for _, d := range details {
				if len(d) != 2 || d["issue"] == "" {
					return fmt.Errorf("a detail is %v", d)
				}
			}
		}
	case 401:
		want = []string{"errorCode", "isSuccess"}
	case 405:
		if a.header.Get("Allow") == "" {
			return errors.New("405 without Allow")
		}
	case 429, 503:
		if n, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || n < 1 {
			return fmt.Errorf("Retry-After is %q", a.header.Get("Retry-After"))
		}
	}
	if got := slices.Sorted(maps.Keys(v)); !slices.Equal(got, want) {
		return fmt.Errorf("the members are %v, want %v", got, want)
	}
	return nil
}

// want checks the status.
func (a *answer) want(t testing.TB, status int) *answer {
	t.Helper()
	if a.status != status {
		t.Errorf("status %d, want %d: %.500s", a.status, status, a.body)
	}
	return a
}

// at returns a value of the body: at("result", "flags", "enableTasks").
func (a *answer) at(path ...string) any {
	var v any
	if json.Unmarshal(a.body, &v) != nil {
		return nil
	}
	for _, name := range path {
		switch w := v.(type) {
		case map[string]any:
			v = w[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(w) {
				return nil
			}
			v = w[i]
		default:
			return nil
		}
	}
	return v
}

// text is at for strings.
func (a *answer) text(path ...string) string {
	s, _ := a.at(path...).(string)
	return s
}

// details returns the details of a 400.
func (a *answer) details() []errdefs.Detail {
	var f struct {
		Details []errdefs.Detail `json:"details"`
	}
	_ = json.Unmarshal(a.body, &f)
	return f.Details
}

// wantDetail checks that a 400 has a detail for a field whose issue contains part.
func (a *answer) wantDetail(t testing.TB, field, part string) {
	t.Helper()
	a.want(t, http.StatusBadRequest)
	for _, d := range a.details() {
		if d.Field == field && strings.Contains(d.Issue, part) {
			return
		}
	}
	t.Errorf("no detail for the field %q says %q: %s", field, part, a.body)
}

func background(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}
