package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"go.uber.org/goleak"

	"opsmon/app/account"
	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/kv"
	"opsmon/kv/kvtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// acme is the manifest of the tests' first account: every kind of thing of http-api.md 2.3, small.
const acme = `{"version":"v1","account":{"id":"acme","domain":"acme.example","currency":"EUR","electricalPricePerKwh":0.25,
"dashboardConfig":{"home":"floor"},"durationFormat":"hours","enableTasks":"on","enableManualDowntime":"on","enableLostProductionCost":"on",
"includeTaskListCodes":["start-up"],
"shiftPatterns":[{"code":"two","title":"Two shifts","shifts":[{"name":"Early","startHour":6,"duration":8,"weekDay":"1"},{"name":"Late","startHour":14.5,"duration":7.5,"weekDay":"1"}]}],
"reasons":[{"code":"BRK","name":"Breakdown","reasons":[{"code":"BRK-E","name":"Electrical"}]},{"code":"CHG","name":"Changeover"}],
"tasks":[{"code":"oil","title":"Check the oil","requireNotes":true,"taskListCodes":[{"code":"start-up","order":1.5}]}],
"taskLists":[{"code":"start-up","name":"Start-up","trigger":{"type":"schedule"}}],
"skus":[{"code":"A1","name":"Biscuit","cycleTime":1200,"stationCodes":["PACK-1"]},{"code":"B2","name":"Wafer","unitsPerHour":90}],
"plants":[{"code":"north","name":"North","timezone":"Europe/Berlin","dayStartHour":6,"weekStartDay":0,"stationGroups":[
{"code":"packing","name":"Packing","shiftPatternCode":"two","excludeReasonCodes":["CHG"],"stations":[{"code":"PACK-1","name":"Packer 1","enableManualDowntime":"off"},{"code":"PACK-2","name":"Packer 2"}]},
{"code":"meters","name":"Meters","enableMeterOnly":"on","stations":[{"code":"KWH-1","name":"Main meter"}]}]}]}}`

var roles = []auth.Role{auth.Admin, auth.Member, auth.Supervisor, auth.Operator, auth.Readonly}

// mailOf is the address of the tests' user of a role; it is on no account's domain.
func mailOf(role auth.Role) string { return string(role) + "@people.example" }

// clock is the real time, moved by as much as a test wants.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time          { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) advance(d time.Duration) { c.ahead.Add(int64(d)) }

// book collects text that many goroutines write.
type book struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *book) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *book) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// server is the real thing behind a real net/http server on loopback: the accounts acme, with one user of each role
// and all its log at debug level, and bolt. When the test ends no secret may stand in the log, in a header, in an
// error or in what /metrics and /audit show.
type server struct {
	t        testing.TB
	clock    clock
	store    *kv.Store
	accounts *account.Service
	auth     *auth.Service
	api      *API
	http     *httptest.Server
	client   *http.Client
	logged   book
	shown    book // what secrets must not be in

	ready     func() error
	setupCode string
	from      atomic.Int64
	routes    []*route

	mu      sync.Mutex
	secrets map[string]bool
}

// options say how a test's server differs from the usual one.
type options struct {
	empty  bool // no account: waits for its set-up
	secure bool // as under TLS
	mailer func(*slog.Logger) *auth.Mailer
	serve  func(*http.Server)
	wrap   func(http.Handler) http.Handler
}

func newServer(t testing.TB, o options) *server {
	t.Helper()
	s := &server{t: t, secrets: map[string]bool{}, ready: func() error { return nil }, setupCode: "abcd-efgh-ijkl"}
	s.store = kvtest.New(t, func(c *kv.Config) {
		c.Clock = s.clock.now
		c.Buckets = slices.Concat(account.Buckets(), audit.Buckets(), auth.Buckets())
	})
	log := slog.New(slog.NewTextHandler(&s.logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	var err error
	if s.accounts, err = account.New(account.Config{Store: s.store, Clock: s.clock.now, Log: log}); err != nil {
		t.Fatal(err)
	}
	cfg := auth.Config{Store: s.store, Accounts: s.accounts, Clock: s.clock.now, Log: log}
	if o.mailer != nil {
		cfg.Mailer = o.mailer(log)
	}
	if s.auth, err = auth.New(cfg); err != nil {
		t.Fatal(err)
	}
	s.api = New(Config{
		Accounts: s.accounts, Auth: s.auth, Log: log, Version: "test", Secure: o.secure,
		Ready: func() error { return s.ready() }, Audit: s.listAudit, Bootstrap: s.bootstrap,
		SetupCode: func() string { return s.setupCode },
		Check:     func(report func(string)) error { return s.store.Check(report) },
		BaseURL:   func() string { return "https://plant.example" },
	})
	table := s.api.routes()
	for i := range table {
		s.routes = append(s.routes, &table[i])
	}
	if !o.empty {
		s.setupCode = ""
		s.makeAccount("acme.example", mailOf(auth.Admin), []byte(acme))
		s.makeAccount("bolt.example", "admin@bolt.example", nil)
		for _, role := range roles[1:] {
			s.must(s.auth.AddUser(auth.Local("acme"), mailOf(role), role))
		}
	}
	var handler http.Handler = s.api
	if o.wrap != nil {
		handler = o.wrap(handler)
	}
	s.http = httptest.NewUnstartedServer(s.fromWhere(handler))
	s.http.Config.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelDebug)
	if o.serve != nil {
		o.serve(s.http.Config)
	}
	s.http.Start()
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64}
	s.client = &http.Client{Transport: transport, Timeout: 30 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		s.http.Close()
		s.accounts.Close()
		if err := s.auth.Close(); err != nil {
			t.Error(err)
		}
		s.findSecrets()
	})
	return s
}

// fromHeader tells the test's server from which address a request shall come; without it that is loopback.
const fromHeader = "X-Test-From"

func (s *server) fromWhere(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if from := r.Header.Get(fromHeader); from != "" {
			r.RemoteAddr = net.JoinHostPort(from, "4321")
		}
		next.ServeHTTP(w, r)
	})
}

// address is one that no request has come from yet.
func (s *server) address() string {
	n := s.from.Add(1)
	return fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255)
}

func (s *server) must(_ any, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *server) listAudit(accountID string, limit, skip int, action string) (list []audit.Record, total int, err error) {
	err = s.store.View(func(tx *kv.Tx) error {
		list, total, err = audit.List(tx, accountID, limit, skip, action)
		return err
	})
	return list, total, err
}

func (s *server) bootstrap(in BootstrapInput) (*BootstrapResult, error) {
	draft, err := s.accounts.Draft(account.CreateInput{ID: in.ID, Domain: in.Domain, Manifest: in.Manifest})
	if err != nil {
		return nil, err
	}
	result := &BootstrapResult{AccountID: draft.ID(), Email: in.Email, Warnings: draft.Warnings}
	var published, known func()
	err = s.store.Update(func(tx *kv.Tx) (err error) {
		if published, err = s.accounts.CreateTx(tx, draft, in.First, in.By); err != nil {
			return err
		}
		result.APIKey, known, err = s.auth.BootstrapTx(tx, draft.ID(), in.Email, in.By.Actor())
		return err
	})
	if err != nil {
		return nil, err
	}
	published()
	known()
	s.hide(result.APIKey)
	s.setupCode = ""
	return result, nil
}

func (s *server) makeAccount(domain, email string, manifest []byte) *BootstrapResult {
	s.t.Helper()
	result, err := s.bootstrap(BootstrapInput{Domain: domain, Email: email, Manifest: manifest, By: auth.Local("")})
	if err != nil {
		s.t.Fatal(err)
	}
	return result
}

// hide notes a secret.
func (s *server) hide(secret string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(secret) < 8 {
		s.t.Fatalf("%q is no secret", secret)
	}
	s.secrets[secret] = true
	return secret
}

func (s *server) findSecrets() {
	s.mu.Lock()
	defer s.mu.Unlock()
	logged, shown := s.logged.String(), s.shown.String()
	for secret := range s.secrets {
		if at := strings.Index(logged, secret); at >= 0 {
			s.t.Errorf("a secret is in the log: …%s", logged[max(0, at-200):at+len(secret)])
		}
		if at := strings.Index(shown, secret); at >= 0 {
			s.t.Errorf("a secret is in an answer: …%s", shown[max(0, at-200):at+len(secret)])
		}
	}
}

// key makes an API key for a user of an account, with the user's own role.
func (s *server) key(accountID, email string) string {
	s.t.Helper()
	_, raw, err := s.auth.CreateKeyFor(auth.Local(accountID), email, auth.KeyInput{})
	s.must(nil, err)
	return s.hide(raw)
}

// roleKey makes a key for acme's user of a role.
func (s *server) roleKey(role auth.Role) string { s.t.Helper(); return s.key("acme", mailOf(role)) }

// link makes a one-time link outright and gives its token.
func (s *server) link(accountID, email string) string {
	s.t.Helper()
	link, err := s.auth.LinkOutright(auth.Local(accountID), email)
	s.must(nil, err)
	return s.hide(link.Token)
}

// session signs a user in.
func (s *server) session(accountID, email string) string {
	s.t.Helper()
	grant, err := s.auth.Callback(s.link(accountID, email), "10.0.0.9")
	s.must(nil, err)
	return s.hide(grant.Session)
}

// ask is a request. Zero fields are left out; a body goes as application/json unless header says otherwise.
type ask struct {
	method, path string
	body         string
	key          string
	session      string
	login        string // the cookie of a browser that waits
	from         string
	header       map[string]string
}

// answer is what came back, checked.
type answer struct {
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

// try is do for requests that may get no answer, and for goroutines beside the test's own.
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

// check holds an answer against sections 1, 4 and 7 of the specification, and notes what it shows.
func (s *server) check(method string, u *url.URL, resp *http.Response, raw []byte) *answer {
	s.t.Helper()
	a := s.judge(method, u, resp, raw)
	if t, ok := s.t.(*testing.T); ok {
		conform(t, method, s.patternOf(method, u), a.status, a.header, raw)
	}
	return a
}

// judge is check without the OpenAPI document, which does not have the operations of the local command line.
func (s *server) judge(method string, u *url.URL, resp *http.Response, raw []byte) *answer {
	s.t.Helper()
	a := &answer{status: resp.StatusCode, header: resp.Header, raw: raw, body: raw, cookies: map[string]*http.Cookie{}}
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

// patternOf finds the route of a path in the table: "" when there is none.
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
		if match(rt.path) && (rt.method == method || best == "") {
			best = rt.path
		}
	}
	return best
}

var codes = map[int]string{
	400: "invalidInput", 401: "unauthorizedUser", 403: "forbidden", 404: "notFound", 405: "methodNotAllowed", 409: "conflict",
	413: "payloadTooLarge", 429: "tooManyRequests", 500: "internalServerError", 503: "unavailable",
}

// envelope checks an answer to the letter of http-api.md section 7 and decisions.md section 1.
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
	if a.status == http.StatusNoContent || a.status == http.StatusNotModified {
		if len(a.raw) > 0 || h.Get("Content-Type") != "" || h.Get("Content-Length") != "" {
			return errors.New("it has a body, or tells of one")
		}
		if a.status == http.StatusNotModified && (h.Get("Etag") == "" || h.Get("Vary") == "") {
			return errors.New("304 without the headers of the 200")
		}
		return nil
	}
	length, err := strconv.Atoi(h.Get("Content-Length"))
	if err != nil {
		return fmt.Errorf("Content-Length is %q", h.Get("Content-Length"))
	}
	text := path == "/metrics" && a.status == 200
	if kind := h.Get("Content-Type"); kind != "application/json" && !(text && strings.HasPrefix(kind, "text/plain; version=0.0.4")) {
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
	if text {
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

// at gives a value in the body: at("result", "flags", "enableTasks").
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

// details gives the fields and issues of a 400.
func (a *answer) details() []errdefs.Detail {
	var f failure
	_ = json.Unmarshal(a.body, &f)
	return f.Details
}

// wantDetail checks that a 400 has a detail for a field whose issue has some text in it.
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
