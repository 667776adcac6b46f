package httpapi

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/httpapi/rest"
	"opsmon/app/test/apptest"
	"opsmon/kv"
)

// locally sends a request over the channel of the local command line and checks the answer.
func (s *server) locally(method, path, account, body string) *answer {
	s.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.RemoteAddr = "@"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if account != "" {
		r.Header.Set("X-Account", account)
	}
	w := httptest.NewRecorder()
	s.api.Local().ServeHTTP(w, r)
	a := s.judge(method, r.URL, w.Result(), w.Body.Bytes())
	s.noteSecrets("", a)
	return a
}

// TestLocalRestoreRoom refuses a backup that the disk has no room for before a byte of it is written.
func TestLocalRestoreRoom(t *testing.T) {
	s := newServer(t, options{})
	r := httptest.NewRequest("POST", "/local/restore", strings.NewReader("a backup"))
	r.RemoteAddr, r.ContentLength = "@", 1<<55
	r.Header.Set("X-Backup-Name", "plant.backup")
	w := httptest.NewRecorder()
	s.api.Local().ServeHTTP(w, r)
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "are needed") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if len(s.restorer.asked) > 0 {
		t.Errorf("it was restored: %+v", s.restorer.asked)
	}
}

func TestLocalOperations(t *testing.T) {
	s := newServer(t, options{empty: true})
	s.locally("GET", "/account", "", "").want(t, 409) // none yet
	if a := s.locally("GET", "/local/account", "", "").want(t, 200); len(a.at("results").([]any)) != 0 {
		t.Errorf("%s", a.body)
	}
	made := s.locally("POST", "/local/init", "", `{"domain":"acme.example","email":"boss@acme.example","manifest":`+acme+`}`).want(t, 200)
	if made.text("result", "accountId") != "acme" || made.text("result", "email") != "boss@acme.example" {
		t.Errorf("%s", made.body)
	}
	key := s.hide(made.text("result", "apiKey"))
	if p := s.do(ask{method: "GET", path: "/auth/profile", key: key}).want(t, 200); p.text("result", "role") != "admin" {
		t.Errorf("%s", p.body)
	}
	s.locally("POST", "/local/init", "", `{"domain":"other.example","email":"boss@other.example"}`).want(t, 409)
	s.locally("GET", "/account", "", "").want(t, 200) // the only one
	second := s.locally("POST", "/local/account", "", `{"domain":"bolt.example","email":"a@bolt.example"}`).want(t, 200)
	s.hide(second.text("result", "apiKey"))
	s.locally("POST", "/local/account", "", `{"domain":"BOLT.example","id":"bolt-2","email":"a@bolt.example"}`).want(t, 409)
	s.locally("POST", "/local/account", "", `{"domain":"x.example","id":"No","email":"a@x.example"}`).wantDetail(t, "id", "lower-case")
	s.locally("GET", "/account", "", "").want(t, 400) // which one
	s.locally("GET", "/account", "nowhere", "").want(t, 404)
	if a := s.locally("GET", "/account", "bolt", "").want(t, 200); a.text("result", "id") != "bolt" {
		t.Errorf("%.200s", a.body)
	}
	if a := s.locally("GET", "/auth/profile", "acme", "").want(t, 200); a.text("result", "userRole") != "system" || a.text("result", "email") != "" {
		t.Errorf("%s", a.body)
	}
	s.locally("POST", "/key", "acme", "").want(t, 403) // it is nobody
	user := s.locally("POST", "/local/key", "acme", `{"email":"boss@acme.example","role":"readonly","name":"n","expiresAt":"2099-01-01T00:00:00Z"}`).want(t, 200)
	if p := s.do(ask{method: "GET", path: "/auth/profile", key: user.text("result", "key")}).want(t, 200); p.text("result", "role") != "readonly" || p.text("result", "exp") != "2099-01-01T00:00:00.000Z" {
		t.Errorf("%s", p.body)
	}
	s.locally("POST", "/local/key", "acme", `{"email":"nobody@nowhere.example"}`).want(t, 404)
	s.locally("POST", "/local/key", "acme", `{"email":"boss@acme.example","expiresAt":"soon"}`).wantDetail(t, "expiresAt", "time")
	s.locally("POST", "/local/key", "acme", `{"email":"boss@acme.example","role":"king"}`).wantDetail(t, "role", "admin")
	s.locally("POST", "/local/key", "acme", `{"mail":"boss@acme.example"}`).want(t, 400)
	for _, body := range []string{`[]`, `null`, `"x"`, `7`} {
		s.locally("POST", "/local/key", "acme", body).want(t, 400)
	}
	link := s.locally("POST", "/local/login-link", "acme", `{"email":"boss@acme.example"}`).want(t, 200)
	_, token, _ := strings.Cut(link.text("result", "link"), "#")
	s.noteSecrets("", s.do(ask{method: "GET", path: "/auth/callback?token=" + token}).want(t, 200))
	_, code, _ := s.login("boss@acme.example")
	if byCode := s.locally("POST", "/local/login-link", "acme", `{"code":"`+code+`"}`).want(t, 200); byCode.text("result", "from") == "" || byCode.text("result", "role") != "admin" {
		t.Errorf("%s", byCode.body)
	}
	s.locally("POST", "/local/login-link", "acme", `{"code":"none"}`).want(t, 404)
	s.locally("POST", "/local/reset-admin", "acme", `{"email":"nobody"}`).wantDetail(t, "email", "e-mail")
	if reset := s.locally("POST", "/local/reset-admin", "acme", `{"email":"boss@acme.example"}`).want(t, 200); reset.text("result", "role") != "admin" || !strings.Contains(reset.text("result", "link"), "/link#") {
		t.Errorf("%s", reset.body)
	}
	s.do(ask{method: "POST", path: "/local/reset-admin", key: key, body: `{"email":"boss@acme.example"}`}).want(t, 404) // never from the network
	if a := s.locally("POST", "/local/account/set", "acme", `{"name":"stationCountLimit","value":"7"}`).want(t, 200); a.at("result", "stationCountLimit") != 7.0 {
		t.Errorf("%s", a.body)
	}
	s.locally("POST", "/local/account/set", "acme", `{"name":"domain","value":"x"}`).wantDetail(t, "domain", "stationCountLimit")
	s.locally("POST", "/local/account/archive", "bolt", "").want(t, 200)
	if a := s.locally("GET", "/local/account", "", ""); len(a.at("results").([]any)) != 1 {
		t.Errorf("%s", a.body)
	}
	if a := s.locally("GET", "/local/account?archived=true", "", ""); a.text("results", "1", "archivedAt") == "" {
		t.Errorf("%s", a.body)
	}
	if a := s.locally("GET", "/account", "", "").want(t, 200); a.text("result", "id") != "acme" { // the other one is archived: acme is meant
		t.Errorf("%.200s", a.body)
	}
	if a := s.locally("GET", "/account", "bolt", "").want(t, 200); a.text("result", "archivedAt") == "" {
		t.Errorf("%.200s", a.body)
	}
	if a := s.locally("POST", "/local/account/unarchive", "", "").want(t, 200); a.text("result", "id") != "bolt" { // the only one that it can mean
		t.Errorf("%s", a.body)
	}
	if a := s.locally("GET", "/account", "", "").want(t, 400); !strings.Contains(a.text("errorMessage"), "--account: acme, bolt") {
		t.Errorf("%s", a.body)
	}
	s.locally("POST", "/local/account/archive", "acme", "").want(t, 200)
	s.locally("POST", "/local/account/archive", "", "").want(t, 200) // bolt, the active one
	if a := s.locally("POST", "/local/account/unarchive", "", "").want(t, 400); !strings.Contains(a.text("errorMessage"), "--account: acme, bolt") {
		t.Errorf("%s", a.body)
	}
	s.locally("POST", "/local/account/unarchive", "acme", "").want(t, 200)
	s.locally("POST", "/local/account/unarchive", "", "").want(t, 200)
	if a := s.locally("GET", "/local/check", "", "").want(t, 200); len(a.at("result", "problems").([]any)) != 0 {
		t.Errorf("%s", a.body)
	}
	s.locally("PUT", "/account/manifest", "acme", strings.Replace(acme, "Packer 1", "Packer One", 1)).want(t, 200)
	if a := s.locally("GET", "/account/manifest/revisions", "acme", ""); a.text("results", "0", "author") != "local administrator" {
		t.Errorf("%s", a.body)
	}
	if a := s.locally("GET", "/audit?limit=1&action=manifest.apply", "acme", ""); a.text("results", "0", "actor", "credential") != "local" || a.text("results", "0", "actor", "address") != "" {
		t.Errorf("%s", a.body)
	}
}

// The first set-up over the network is guarded by the one-time code (decisions.md section 6).
func TestSetup(t *testing.T) {
	s := newServer(t, options{empty: true})
	code := s.hide(s.setupCode)
	from := s.address()
	post := func(body string) *answer {
		return s.do(ask{method: "POST", path: "/setup", body: body, from: from})
	}
	s.do(ask{method: "GET", path: "/ready"}).want(t, 200) // waiting for its set-up
	post(`{"code":"x"}`).wantDetail(t, "domain", "required")
	post(`{"code":"x","domain":"acme.example","email":"boss@acme.example","manifest":[]}`).wantDetail(t, "manifest", "")
	post(`{"code":"x","domain":"acme.example","email":"boss@acme.example","more":1}`).wantDetail(t, "more", "is not a known field")
	for range 20 {
		post(`{"code":"wrong","domain":"acme.example","email":"boss@acme.example"}`).want(t, 403)
	}
	post(`{"code":"wrong","domain":"acme.example","email":"boss@acme.example"}`).want(t, 429)
	post(`{"code":"`+code+`","domain":"acme.example","email":"nobody"}`).wantDetail(t, "email", "e-mail address")
	made := post(`{"code":"`+code+`","domain":"acme.example","email":"boss@acme.example","manifest":`+acme+`}`).want(t, 200)
	key := s.hide(made.text("result", "apiKey"))
	a := s.do(ask{method: "GET", path: "/account", key: key}).want(t, 200)
	if a.text("result", "manifest", "account", "plants", "0", "code") != "north" {
		t.Errorf("%.300s", a.body)
	}
	post(`{"code":"`+code+`","domain":"two.example","email":"boss@two.example"}`).want(t, 409)
	audited := s.do(ask{method: "GET", path: "/audit?action=account.create", key: key}).want(t, 200)
	if audited.text("results", "0", "actor", "address") != from {
		t.Errorf("%s", audited.body)
	}
}

// A browser that sets an appliance up goes on as its first administrator.
func TestSetupFromABrowser(t *testing.T) {
	s := newServer(t, options{empty: true})
	ready := func() any {
		return s.do(ask{method: "GET", path: "/ready", from: "10.9.9.9"}).want(t, 200).at("result", "needsSetUp")
	}
	if got := ready(); got != true {
		t.Errorf("an empty appliance says needsSetUp %v", got)
	}
	post := func(rest string) *answer {
		return s.do(ask{method: "POST", path: "/setup", from: s.address(), body: `{"code":" ABCDEFGH ijkl","domain":"acme.example","email":"boss@acme.example","signIn":true,` + rest + `}`})
	}
	post(`"plant":{"name":"Leeds","timezone":"Leeds"}`).wantDetail(t, "plant.timezone", "IANA time zone")
	post(`"plant":{"name":"Leeds","timezone":"Europe/London","groups":51}`).wantDetail(t, "plant.groups", "50")
	post(`"plant":{"name":"Leeds","timezone":"Europe/London"},"manifest":`+acme).wantDetail(t, "plant", "left out")
	made := post(`"plant":{"name":"Leeds, Kirkstall Rd.","timezone":"Europe/London","groups":2,"stationsPerGroup":3}`).want(t, 200)
	cookie := made.cookies[rest.SessionCookie]
	if cookie == nil || !cookie.HttpOnly || made.text("result", "apiKey") != "" {
		t.Fatalf("the session is %v, and the answer %s", cookie, made.body)
	}
	me := s.do(ask{method: "GET", path: "/auth/profile", session: cookie.Value}).want(t, 200)
	if me.text("result", "role") != "admin" || me.text("result", "email") != "boss@acme.example" {
		t.Errorf("%s", me.body)
	}
	plants := s.do(ask{method: "GET", path: "/account/manifest", session: cookie.Value}).want(t, 200)
	if plants.text("account", "plants", "0", "code") != "leeds-kirkstall-rd" || plants.text("account", "plants", "0", "timezone") != "Europe/London" ||
		plants.text("account", "plants", "0", "stationGroups", "1", "stations", "2", "code") != "STATION-6" {
		t.Errorf("%s", plants.body)
	}
	if keys := s.do(ask{method: "GET", path: "/key", session: cookie.Value}).want(t, 200); len(keys.at("results").([]any)) != 0 {
		t.Errorf("an API key was made: %s", keys.body)
	}
	if got := ready(); got != nil {
		t.Errorf("after its set-up it says needsSetUp %v", got)
	}
	post(`"plant":{"name":"Leeds","timezone":"Europe/London"}`).want(t, 409)
}

// A dry run checks the code and the whole document as a set-up does, and makes nothing.
func TestSetupDryRun(t *testing.T) {
	s := newServer(t, options{empty: true})
	from := s.address()
	post := func(query, code, rest string) *answer {
		return s.do(ask{method: "POST", path: "/setup" + query, from: from, body: `{"code":"` + code + `","domain":"acme.example","email":"boss@acme.example","signIn":true` + rest + `}`})
	}
	post("?dryrun=perhaps", s.setupCode, "").wantDetail(t, "dryrun", "true or false")
	post("?dryrun=true", s.setupCode, `,"manifest":`+strings.Replace(acme, "Europe/Berlin", "Berlin", 1)).wantDetail(t, "account.plants[0].timezone", "IANA")
	dry := post("?dryrun=true", s.setupCode, `,"manifest":`+acme).want(t, 200)
	if dry.text("result", "accountId") != "acme" || dry.text("result", "email") != "boss@acme.example" || dry.text("result", "apiKey") != "" || len(dry.cookies) != 0 {
		t.Errorf("%s %v", dry.body, dry.cookies)
	}
	if n := len(s.Accounts.List(true)); n != 0 || s.setupCode == "" {
		t.Errorf("a dry run made %d accounts", n)
	}
	for range 20 { // it is no way round the throttle
		post("?dryrun=true", "wrong", "").want(t, 403)
	}
	post("?dryrun=true", "wrong", "").want(t, 429)
	post("?dryrun=false", s.setupCode, `,"manifest":`+acme).want(t, 200)
	post("?dryrun=true", "abcd-efgh-ijkl", "").want(t, 409)
}

// A page tells people where their link is: everybody learns whether links are mailed.
func TestReadyTellsOfMail(t *testing.T) {
	mailer := func(log *slog.Logger) *auth.Mailer {
		m, err := auth.NewMailer(auth.MailConfig{Host: "127.0.0.1", Port: 9, From: "opsmon@acme.example", TLS: auth.NoTLS, Log: log})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, tt := range []struct {
		o    options
		want map[string]any
	}{
		{options{}, map[string]any{"isSuccess": true}},
		{options{mailer: mailer}, map[string]any{"isSuccess": true, "result": map[string]any{"mail": true}}},
		{options{mailer: mailer, empty: true}, map[string]any{"isSuccess": true, "result": map[string]any{"mail": true, "needsSetUp": true}}},
	} {
		s := newServer(t, tt.o)
		if diff := cmp.Diff(tt.want, s.do(ask{method: "GET", path: "/ready", from: "10.9.9.9"}).want(t, 200).at()); diff != "" {
			t.Error(diff)
		}
		here := s.do(ask{method: "GET", path: "/ready"}).want(t, 200)
		if got := here.at("result", "mail") == true; got != (tt.o.mailer != nil) || here.at("result", "certificate") == nil {
			t.Errorf("on the machine: %s", here.body)
		}
	}
}

// /ready is 503 while not ready, and why is told to the machine itself and to admins (decisions.md section 6).
func TestReady(t *testing.T) {
	s := newServer(t, options{})
	admin, member := s.roleKey(auth.Admin), s.roleKey(auth.Member)
	s.ready = func() error { return errors.New("the disk makes noises") }
	for _, tt := range []struct {
		ask
		told bool
	}{
		{ask{}, true}, {ask{from: "10.9.9.9"}, false}, {ask{from: "10.9.9.9", key: member}, false}, {ask{from: "10.9.9.9", key: "nonsense"}, false},
		{ask{from: "10.9.9.9", key: admin}, true}, {ask{from: "10.9.9.9", session: s.session("acme", mailOf(auth.Admin))}, true},
		{ask{from: "10.9.9.9", session: s.session("acme", mailOf(auth.Member))}, false}, {ask{from: "10.9.9.9", session: "nonsense"}, false},
	} {
		tt.method, tt.path = "GET", "/ready"
		a := s.do(tt.ask).want(t, http.StatusServiceUnavailable)
		if told := strings.Contains(a.text("errorMessage"), "noises"); told != tt.told {
			t.Errorf("from %q: %s", tt.from, a.body)
		}
		s.ready = func() error { return nil }
		if a = s.do(tt.ask).want(t, http.StatusOK); strings.Contains(string(a.body), "it ends soon") != tt.told {
			t.Errorf("ready, from %q: %s", tt.from, a.body)
		}
		s.ready = func() error { return errors.New("the disk makes noises") }
	}
	s.do(ask{method: "GET", path: "/health"}).want(t, 200)
}

// A right bearer token opens /metrics and nothing else.
func TestBearer(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Readonly)
	for header, status := range map[string]int{"Bearer " + key: 200, "bearer " + key: 200, "Basic " + key: 401, key: 401, "Bearer": 401, "Bearer ": 401, "Bearer " + key + " x": 401} {
		s.do(ask{method: "GET", path: "/metrics", header: map[string]string{"Authorization": header}, from: s.address()}).want(t, status)
	}
	s.do(ask{method: "GET", path: "/account", header: map[string]string{"Authorization": "Bearer " + key}}).want(t, 401)
	a := s.do(ask{method: "GET", path: "/metrics", key: key})
	for _, line := range []string{"app_store_bytes 4096\n", `app_http_requests_total{method="GET",route="/metrics",status="2xx"}`, `app_http_request_duration_seconds_bucket{method="GET",route="/account"`} {
		if !strings.Contains(string(a.body), line) {
			t.Errorf("no %s", line)
		}
	}
}

func TestAuditList(t *testing.T) {
	s := newServer(t, options{})
	admin, from := s.roleKey(auth.Admin), s.address()
	s.do(ask{method: "POST", path: "/account", body: `{"currency":"GBP"}`, key: admin, from: from}).want(t, 200)
	a := s.do(ask{method: "GET", path: "/audit?limit=1", key: admin}).want(t, 200)
	credential := a.text("results", "0", "actor", "credential")
	if a.text("results", "0", "action") != "account.update" || a.text("results", "0", "actor", "address") != from || !strings.HasPrefix(credential, "key:") {
		t.Errorf("%s", a.body)
	}
	list, _ := s.do(ask{method: "GET", path: "/audit", key: admin}).at("results").([]any)
	if a.at("paging", "totalElements") != float64(len(list)) || len(list) < 6 {
		t.Errorf("%d records: %s", len(list), a.body)
	}
	for _, query := range []string{"?limit=0", "?limit=1001", "?limit=-1", "?skip=-1", "?limit=ten", "?skip=1e1"} {
		name := strings.Trim(strings.Split(query, "=")[0], "?")
		s.do(ask{method: "GET", path: "/audit" + query, key: admin}).wantDetail(t, name, "whole number")
	}
	if a := s.do(ask{method: "GET", path: "/audit?action=nothing", key: admin}).want(t, 200); a.at("paging", "totalElements") != 0.0 {
		t.Errorf("%s", a.body)
	}
}

// The audit is searched by words and time; a search that looks at too much says where it stopped, and goes on from there.
func TestSearchAudit(t *testing.T) {
	apptest.Long(t)
	s := newServer(t, options{})
	admin := s.roleKey(auth.Admin)
	by := audit.Actor{Email: "=eva@acme.example", Credential: "local"}
	s.must(nil, s.store.Update(func(tx *kv.Tx) error {
		for i := range 10*audit.Piece + 10 {
			target := "often"
			if i == 3 {
				target = "once, \"so\""
			}
			if err := audit.Put(tx, "acme", by, "test.it", target, map[string]string{"note": "Press 4"}); err != nil {
				return err
			}
		}
		return nil
	}))
	find := func(query string) *answer {
		return s.do(ask{method: "GET", path: "/audit?" + query, key: admin}).want(t, 200)
	}
	first := find("search=PRESS+once")
	if first.at("paging", "totalElements") != 0.0 || len(first.at("results").([]any)) != 0 {
		t.Fatalf("%s", first.body)
	}
	next := find(fmt.Sprintf("search=PRESS+once&before=%.0f", first.at("paging", "before")))
	if next.at("paging", "totalElements") != 1.0 || next.text("results", "0", "target") != `once, "so"` || strings.Contains(string(next.body), "before") {
		t.Errorf("%s", next.body)
	}
	if a := find("search=often&skip=6000&limit=2"); a.at("paging", "totalElements") != float64(10*audit.Piece) || len(a.at("results").([]any)) != 2 {
		t.Errorf("%s", a.body)
	}
	if a := find("search=often&to=2001-01-01"); a.at("paging", "totalElements") != 0.0 {
		t.Errorf("%s", a.body)
	}
	for query, field := range map[string]string{"search=" + strings.Repeat("x", 201): "search", "from=soon": "from", "to=2026-13-01": "to", "from=2026-01-02&to=2026-01-01": "to", "before=0": "before"} {
		s.do(ask{method: "GET", path: "/audit?" + query, key: admin}).want(t, 400).wantDetail(t, field, "must")
	}
	table, err := csv.NewReader(bytes.NewReader(s.do(ask{method: "GET", path: "/audit/export?search=once", key: admin}).want(t, 200).body)).ReadAll()
	if err != nil || len(table) != 2 || table[1][2] != "'=eva@acme.example" || table[1][6] != `once, "so"` || table[1][7] != `{"note":"Press 4"}` {
		t.Errorf("%q, %v", table, err)
	}
	s.do(ask{method: "GET", path: "/audit/export?from=soon", key: admin}).wantDetail(t, "from", "must")
}

// The log of the last day is read in pages, from a severity on.
func TestLog(t *testing.T) {
	s := newServer(t, options{})
	admin := s.roleKey(auth.Admin)
	for range 5 {
		s.do(ask{method: "POST", path: "/account", body: `{"currency":1}`, key: admin}).want(t, 400)
	}
	read := func(query string) []any {
		return s.do(ask{method: "GET", path: "/appliance/log" + query, key: admin}).want(t, 200).at("results").([]any)
	}
	first := read("?limit=2&level=info")
	last := first[1].(map[string]any)
	attributes := last["attributes"].(map[string]any)
	if len(first) != 2 || last["message"] != "request" || attributes["status"] != 400.0 || attributes["route"] != "/account" || attributes["account"] != "acme" {
		t.Errorf("%v", first)
	}
	more := read(fmt.Sprintf("?limit=1&level=info&before=%.0f", last["id"]))
	if len(more) != 1 || more[0].(map[string]any)["id"].(float64) >= last["id"].(float64) {
		t.Errorf("after %v comes %v", last, more)
	}
	if severe := read("?level=error"); len(severe) != 0 {
		t.Errorf("%v", severe)
	}
	for query, field := range map[string]string{"?level=loud": "level", "?limit=0": "limit", "?limit=1001": "limit", "?before=x": "before", "?before=0": "before"} {
		s.do(ask{method: "GET", path: "/appliance/log" + query, key: admin}).wantDetail(t, field, "must be")
	}
}
