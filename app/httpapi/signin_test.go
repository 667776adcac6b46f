package httpapi

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/auth"
)

// wantCookie checks the attributes of the session's cookie (decisions.md section 4).
func wantCookie(t *testing.T, a *answer, name string, life time.Duration, secure bool) string {
	t.Helper()
	c := a.cookies[name]
	if c == nil {
		t.Fatalf("no cookie %s: %v", name, a.header["Set-Cookie"])
	}
	if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Secure != secure || c.Domain != "" || c.Path != "/" {
		t.Errorf("the cookie is %q", c.Raw)
	}
	if life < 0 {
		if c.Value != "" || c.MaxAge >= 0 {
			t.Errorf("the cookie is not cleared: %q", c.Raw)
		}
	} else if c.MaxAge != int(life/time.Second) {
		t.Errorf("the cookie lives %d s, want %v", c.MaxAge, life)
	}
	return c.Value
}

// login requests a sign-in and returns the code and the cookie.
func (s *server) login(destination string) (*answer, string, string) {
	s.t.Helper()
	a := s.do(ask{method: "POST", path: "/auth/login", body: `{"destination":"` + destination + `"}`, from: s.address()}).want(s.t, 200)
	return a, a.text("code"), s.hide(a.cookies["login"].Value)
}

// tokenFor acts as an administrator with a code: it returns the token of the link to hand over.
func (s *server) tokenFor(adminKey, code string) string {
	s.t.Helper()
	a := s.do(ask{method: "POST", path: "/login-request/" + code + "/link", key: adminKey}).want(s.t, 200)
	page, token, _ := strings.Cut(a.text("result", "link"), "#")
	if page != "https://plant.example/link" || a.text("result", "code") != code {
		s.t.Errorf("the link is %s", a.body)
	}
	return s.hide(token)
}

// The flow of http-api.md section 5, points 4 to 6, from end to end.
func TestSignIn(t *testing.T) {
	for _, secure := range []bool{false, true} {
		s := newServer(t, options{secure: secure})
		admin := s.roleKey(auth.Admin)
		before := time.Now()
		a, code, waiting := s.login("Member@People.Example")
		wantCookie(t, a, "login", auth.LinkLifetime, secure)
		exp := a.text("result", "exp")
		at, err := time.Parse("2006-01-02T15:04:05.000Z", exp)
		if err != nil || at.Before(before.Add(auth.LinkLifetime-time.Second)) || at.After(time.Now().Add(auth.LinkLifetime+time.Second)) {
			t.Errorf("exp is %q: %v", exp, err)
		}
		if len(code) != 5 || strings.Trim(code, "0123456789") != "" {
			t.Errorf("the code is %q", code)
		}
		want := map[string]any{"code": code, "success": true, "result": map[string]any{
			"email": "member@people.example", "exp": exp, "userRole": "customer", "accountId": "acme", "role": "readonly", "featureFlags": []any{}, "type": "login",
		}}
		if diff := cmp.Diff(want, a.at()); diff != "" {
			t.Error(diff)
		}
		pending := s.do(ask{method: "GET", path: "/login-request", key: admin}).want(t, 200)
		if pending.text("results", "0", "code") != code || pending.text("results", "0", "role") != "member" {
			t.Errorf("pending: %s", pending.body)
		}
		token := s.tokenFor(admin, code)
		in := s.do(ask{method: "GET", path: "/auth/callback?token=" + token, login: waiting}).want(t, 200)
		if string(in.body) != `{"isSuccess":true}` {
			t.Errorf("callback answers %s", in.body)
		}
		session := s.hide(wantCookie(t, in, "session", 30*24*time.Hour, secure))
		wantCookie(t, in, "login", -1, secure)

		profile := s.do(ask{method: "GET", path: "/auth/profile", session: session}).want(t, 200)
		wantProfile := map[string]any{
			"email": "member@people.example", "exp": profile.text("result", "exp"), "userRole": "customer", "accountId": "acme", "role": "member",
			"featureFlags": []any{"enableTasks", "enableCycleTimeAnalysis", "enableLostProductionCost", "enableManualDowntime"}, "type": "session",
			"accounts": []any{map[string]any{"role": "member", "accountId": "acme", "domain": "acme.example"}}, "apiKey": "",
			"account": map[string]any{"id": "acme", "domain": "acme.example", "enableLostProductionCost": true, "dashboardConfig": map[string]any{"home": "floor"}},
		}
		if diff := cmp.Diff(wantProfile, profile.at("result")); diff != "" {
			t.Error(diff)
		}
		if end, err := time.Parse(time.RFC3339, profile.text("result", "exp")); err != nil || end.Sub(before) < auth.SessionLifetime-time.Minute || end.Sub(before) > auth.SessionLifetime+time.Minute {
			t.Errorf("the session ends at %v: %v", end, err)
		}
		s.do(ask{method: "GET", path: "/auth/callback?token=" + token}).want(t, 409) // already used
		s.do(ask{method: "POST", path: "/login-request/" + code + "/link", key: admin}).want(t, 404)

		out := s.do(ask{method: "POST", path: "/auth/logout", session: session}).want(t, 200)
		wantCookie(t, out, "session", -1, secure)
		s.do(ask{method: "GET", path: "/auth/profile", session: session}).want(t, 401)
		s.do(ask{method: "POST", path: "/auth/logout", session: session}).want(t, 401)
	}
}

func TestProfileOfAKey(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Operator)
	a := s.do(ask{method: "GET", path: "/auth/profile", key: key}).want(t, 200)
	if a.text("result", "apiKey") != key || a.text("result", "exp") != "9999-12-31T23:59:59.000Z" || a.text("result", "type") != "apiKey" {
		t.Errorf("%s", a.body)
	}
	made := s.do(ask{method: "POST", path: "/key", key: key, body: `{"expiresAt":"2098-01-01T01:00:00.5+01:00"}`}).want(t, 200)
	a = s.do(ask{method: "GET", path: "/auth/profile", key: s.hide(made.text("result", "key"))})
	if a.text("result", "exp") != "2098-01-01T00:00:00.500Z" {
		t.Errorf("exp of a key that ends: %s", a.body)
	}
	bolt := s.do(ask{method: "GET", path: "/auth/profile", key: s.key("bolt", "admin@bolt.example")})
	want := map[string]any{"id": "bolt", "domain": "bolt.example", "enableLostProductionCost": false, "dashboardConfig": map[string]any{}}
	if diff := cmp.Diff(want, bolt.at("result", "account")); diff != "" {
		t.Error(diff)
	}
	s.do(ask{method: "POST", path: "/auth/logout", key: key}).want(t, 200)
	s.do(ask{method: "GET", path: "/auth/profile", key: key}).want(t, 200) // nothing was revoked
}

func TestLoginRefusals(t *testing.T) {
	s := newServer(t, options{})
	post := func(body string) *answer {
		return s.do(ask{method: "POST", path: "/auth/login", body: body, from: s.address()})
	}
	post(`{}`).wantDetail(t, "destination", "required")
	post(`{"destination":""}`).wantDetail(t, "destination", "")
	post(`{"destination":"nobody"}`).wantDetail(t, "destination", "e-mail address")
	post(`{"destination":7}`).wantDetail(t, "destination", "")
	post(`{"destination":"a@acme.example","destinations":1}`).wantDetail(t, "destinations", "did you mean destination?")
	post(`{"destination":"a@nowhere.example"}`).want(t, 403)
	post(`{"destination":"anybody@ACME.example"}`).want(t, 200) // on the domain, never added
	s.must(s.Accounts.SetArchived(auth.Local("bolt"), true))
	post(`{"destination":"admin@bolt.example"}`).want(t, 403) // only in an archived account
	s.must(nil, s.Auth.RemoveUser(auth.Local("acme"), mailOf(auth.Operator)))
	post(`{"destination":"`+mailOf(auth.Operator)+`"}`).want(t, 403)
}

func TestCallbackRefusals(t *testing.T) {
	s := newServer(t, options{})
	callback := func(query string, header map[string]string) *answer {
		return s.do(ask{method: "GET", path: "/auth/callback" + query, from: s.address(), header: header})
	}
	callback("", nil).wantDetail(t, "token", "")
	callback("?token=", nil).wantDetail(t, "token", "")
	callback("?Token=x", nil).wantDetail(t, "token", "")
	callback("?token=unknown", nil).want(t, 403)
	callback("?token=opl_"+strings.Repeat("a", 40), nil).want(t, 403)
	token := s.link("acme", mailOf(auth.Member))
	for _, site := range []string{"cross-site", "same-site", "Cross-Site"} {
		callback("?token="+token, map[string]string{"Sec-Fetch-Site": site}).want(t, 403)
	}
	// A navigation by another site's link, where the browser does not send the origin.
	callback("?token="+token, map[string]string{"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}).want(t, 403)
	callback("?token="+token, map[string]string{"Sec-Fetch-Site": "same-origin"}).want(t, 200)
	late := s.link("acme", mailOf(auth.Member))
	s.clock.advance(16 * time.Minute)
	callback("?token="+late, nil).want(t, 403) // expired
	removed := s.link("acme", mailOf(auth.Supervisor))
	s.must(nil, s.Auth.RemoveUser(auth.Local("acme"), mailOf(auth.Supervisor)))
	callback("?token="+removed, nil).want(t, 403)
}

// A link works once, even with concurrent requests.
func TestCallbackRace(t *testing.T) {
	s := newServer(t, options{})
	token := s.link("acme", mailOf(auth.Member))
	var wg sync.WaitGroup
	got := make([]int, 16)
	for i := range got {
		wg.Go(func() {
			if a, err := s.try(ask{method: "GET", path: "/auth/callback?token=" + token, from: s.address()}); err == nil {
				got[i] = a.status
				if c := a.cookies["session"]; c != nil {
					s.hide(c.Value)
				}
			}
		})
	}
	wg.Wait()
	in := 0
	for _, status := range got {
		if status == 200 {
			in++
		} else if status != 409 {
			t.Errorf("status %d", status)
		}
	}
	if in != 1 {
		t.Errorf("%d browsers were signed in by one link: %v", in, got)
	}
}

// The browser that asked is approved in another one, once (decisions.md section 4).
func TestApproveAndClaim(t *testing.T) {
	s := newServer(t, options{})
	admin := s.roleKey(auth.Admin)
	_, code, waiting := s.login(mailOf(auth.Supervisor))
	s.do(ask{method: "POST", path: "/auth/claim"}).want(t, 403)
	s.do(ask{method: "POST", path: "/auth/claim", login: "opw_nonsense"}).want(t, 403)
	s.do(ask{method: "POST", path: "/auth/claim", login: waiting}).want(t, 409) // not yet
	token := s.tokenFor(admin, code)
	approve := func(token, code string) *answer {
		body, err := json.Marshal(map[string]string{"token": token, "code": code})
		s.must(nil, err)
		return s.do(ask{method: "POST", path: "/auth/approve", body: string(body), from: s.address()})
	}
	other := "12345"
	if code == other {
		other = "54321"
	}
	approve(token, other).want(t, 403)
	approve(token, "1234").wantDetail(t, "code", "five digits")
	approve("", code).wantDetail(t, "token", "")
	approve("opl_unknown", code).want(t, 403)
	approve(token, code).want(t, 200)
	approve(token, code).want(t, 409)
	s.do(ask{method: "GET", path: "/auth/callback?token=" + token}).want(t, 409)
	in := s.do(ask{method: "POST", path: "/auth/claim", login: waiting}).want(t, 200)
	session := s.hide(wantCookie(t, in, "session", auth.SessionLifetime, false))
	wantCookie(t, in, "login", -1, false)
	s.do(ask{method: "POST", path: "/auth/claim", login: waiting}).want(t, 403) // once
	profile := s.do(ask{method: "GET", path: "/auth/profile", session: session}).want(t, 200)
	if profile.text("result", "role") != "supervisor" {
		t.Errorf("%s", profile.body)
	}
}

func TestSeveralAccounts(t *testing.T) {
	s := newServer(t, options{})
	email := mailOf(auth.Member)
	s.must(s.Auth.AddUser(auth.Local("bolt"), email, auth.Admin))
	_, code, _ := s.login(email)
	token := s.tokenFor(s.roleKey(auth.Admin), code)
	bound := s.hide(s.do(ask{method: "GET", path: "/auth/callback?token=" + token}).want(t, 200).cookies["session"].Value)
	enter := func(session, account string) *answer {
		return s.do(ask{method: "POST", path: "/auth/account", session: session, body: `{"accountId":"` + account + `"}`})
	}
	enter(bound, "bolt").want(t, 403) // an account's admin has access only to that account
	session := s.session("acme", email)
	enter(session, "bolt").want(t, 200)
	a := s.do(ask{method: "GET", path: "/auth/profile", session: session}).want(t, 200)
	want := []any{map[string]any{"role": "member", "accountId": "acme", "domain": "acme.example"}, map[string]any{"role": "admin", "accountId": "bolt", "domain": "bolt.example"}}
	if diff := cmp.Diff(want, a.at("result", "accounts")); diff != "" || a.text("result", "accountId") != "bolt" || a.text("result", "role") != "admin" {
		t.Errorf("%s%s", diff, a.body)
	}
	if got := s.do(ask{method: "GET", path: "/account", session: session}); got.text("result", "id") != "bolt" {
		t.Errorf("the session reads the account %q", got.text("result", "id"))
	}
	enter(session, "nowhere").want(t, 403)
	s.do(ask{method: "POST", path: "/auth/account", session: session, body: `{}`}).wantDetail(t, "accountId", "required")
	if again, _, _ := s.login(email); again.text("result", "accountId") != "bolt" {
		t.Errorf("the account used last is bolt: %s", again.body)
	}
	s.do(ask{method: "DELETE", path: "/user/" + email, session: s.session("bolt", "admin@bolt.example")}).want(t, 204)
	s.do(ask{method: "GET", path: "/auth/profile", session: session}).want(t, 401)
}

// Removing a user ends every key and session at once; an address of the domain stays refused (decisions.md section 4).
func TestRemovedUser(t *testing.T) {
	s := newServer(t, options{})
	admin := s.roleKey(auth.Admin)
	email := "ana@acme.example"
	key, session := s.key("acme", email), s.session("acme", email)
	s.do(ask{method: "GET", path: "/account", key: key}).want(t, 200)
	s.do(ask{method: "DELETE", path: "/user/" + strings.ToUpper(email), key: admin}).want(t, 204)
	s.do(ask{method: "GET", path: "/account", key: key}).want(t, 401)
	s.do(ask{method: "GET", path: "/account", session: session}).want(t, 401)
	s.do(ask{method: "POST", path: "/auth/login", body: `{"destination":"` + email + `"}`}).want(t, 403)
	s.do(ask{method: "GET", path: "/user/" + email, key: admin}).want(t, 404)
	made := s.do(ask{method: "POST", path: "/user", body: `{"email":"Ana@acme.example","role":"operator"}`, key: admin}).want(t, 200)
	if made.header.Get("Location") != "/user/"+email || made.text("result", "email") != email {
		t.Errorf("%v %s", made.header, made.body)
	}
	s.do(ask{method: "POST", path: "/user", body: `{"email":"ana@acme.example","role":"operator"}`, key: admin}).want(t, 409)
	s.do(ask{method: "GET", path: "/account", key: key}).want(t, 401) // the old key stays invalid
	s.do(ask{method: "DELETE", path: "/user/" + mailOf(auth.Admin), key: admin}).want(t, 409)
	s.do(ask{method: "PUT", path: "/user/" + mailOf(auth.Admin), body: `{"role":"member"}`, key: admin}).want(t, 409)
}

// A lower role takes effect at once, also for existing keys and sessions.
func TestLoweredRole(t *testing.T) {
	s := newServer(t, options{})
	admin, member := s.roleKey(auth.Admin), s.roleKey(auth.Member)
	session := s.session("acme", mailOf(auth.Member))
	s.do(ask{method: "PUT", path: "/user/" + mailOf(auth.Member), body: `{"role":"readonly"}`, key: admin}).want(t, 200)
	s.do(ask{method: "POST", path: "/account", body: `{}`, key: member}).want(t, 403)
	s.do(ask{method: "POST", path: "/account", body: `{}`, session: session}).want(t, 403)
	s.do(ask{method: "PUT", path: "/user/" + mailOf(auth.Member), body: `{"role":"king"}`, key: admin}).wantDetail(t, "role", "admin")
	for _, nobody := range []string{"nobody", "nobody@people.example", "%00", "a%2Fb", "%F0%9F%90%9D@people.example"} {
		s.do(ask{method: "PUT", path: "/user/" + nobody, body: `{"role":"readonly"}`, key: admin}).want(t, 404)
		s.do(ask{method: "GET", path: "/user/" + nobody, key: admin}).want(t, 404)
		s.do(ask{method: "DELETE", path: "/user/" + nobody, key: admin}).want(t, 404)
	}
}

// Addresses may have any character that mail allows, including slashes.
func TestUserPaths(t *testing.T) {
	s := newServer(t, options{})
	admin := s.roleKey(auth.Admin)
	for _, email := range []string{"a/b@people.example", "a+b@people.example", "50%25@people.example", "c%2fd@people.example", "{x}|y@people.example"} {
		body, err := json.Marshal(map[string]string{"email": email, "role": "operator"})
		s.must(nil, err)
		made := s.do(ask{method: "POST", path: "/user", body: string(body), key: admin}).want(t, 200)
		at := made.header.Get("Location")
		got := s.do(ask{method: "GET", path: at, key: admin}).want(t, 200)
		if got.text("result", "email") != email {
			t.Errorf("%s is %s", at, got.body)
		}
		s.do(ask{method: "PUT", path: at, body: `{"role":"member"}`, key: admin}).want(t, 200)
		s.do(ask{method: "DELETE", path: at, key: admin}).want(t, 204)
	}
}

// 20 wrong credentials at once and 10 a minute from one address; a right one still works (decisions.md section 5).
func TestThrottleOfCredentials(t *testing.T) {
	good := func(s *server) ask { return ask{method: "GET", path: "/auth/profile", key: s.roleKey(auth.Readonly)} }
	for name, wrong := range map[string]func(*server) ask{
		"keys":     func(*server) ask { return ask{method: "GET", path: "/account", key: "opk_wrong"} },
		"sessions": func(*server) ask { return ask{method: "GET", path: "/account", session: "ops_wrong"} },
		"bearer": func(*server) ask {
			return ask{method: "GET", path: "/metrics", header: map[string]string{"Authorization": "Bearer x"}}
		},
		"links": func(*server) ask {
			return ask{method: "GET", path: "/auth/callback?token=opl_" + strings.Repeat("a", 40)}
		},
		"claims": func(*server) ask { return ask{method: "POST", path: "/auth/claim", login: "opw_wrong"} },
		"approvals": func(*server) ask {
			return ask{method: "POST", path: "/auth/approve", body: `{"token":"x","code":"12345"}`}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, options{})
			bad, right := wrong(s), good(s)
			bad.from, right.from = s.address(), ""
			right.from = bad.from
			first := s.do(bad).status
			for range 19 {
				s.do(bad).want(t, first)
			}
			if late := s.do(bad).want(t, 429); late.header.Get("Retry-After") != "6" {
				t.Errorf("Retry-After is %q", late.header.Get("Retry-After"))
			}
			s.do(right).want(t, 200)
			none := ask{method: "GET", path: "/account", from: bad.from}
			s.do(none).want(t, 401) // a missing credential is not a wrong one
			s.clock.advance(6 * time.Second)
			s.do(bad).want(t, first)
			s.do(bad).want(t, 429)
			elsewhere := bad
			elsewhere.from = s.address()
			s.do(elsewhere).want(t, first)
		})
	}
}

// 5 login requests in 15 minutes for one destination from one address, 30 from all unfamiliar addresses, 20 from one
// address (decisions.md section 5).
func TestThrottleOfLogins(t *testing.T) {
	s := newServer(t, options{})
	login := func(destination, from string) *answer {
		return s.do(ask{method: "POST", path: "/auth/login", body: `{"destination":"` + destination + `"}`, from: from})
	}
	stranger := s.address()
	for range 5 {
		login("ana@acme.example", stranger).want(t, 200)
	}
	login("ANA@acme.example", stranger).want(t, 429)
	for range 25 {
		login("ana@acme.example", s.address()).want(t, 200)
	}
	login("ana@acme.example", s.address()).want(t, 429)
	from := s.address()
	for range 20 {
		login(s.address()+"@acme.example", from).want(t, 200)
	}
	login(s.address()+"@acme.example", from).want(t, 429)
	s.do(ask{method: "GET", path: "/account", key: s.roleKey(auth.Readonly), from: from}).want(t, 200)
	s.clock.advance(15 * time.Minute)
	login("ana@acme.example", s.address()).want(t, 200)
}

// Behind a proxy that sends another host, pages of the configured URL belong to the service's own site.
func TestOwnSiteBehindAProxy(t *testing.T) {
	s := newServer(t, options{secure: true, public: "https://plant.example"})
	session := s.session("acme", mailOf(auth.Admin))
	for from, status := range map[string]int{"https://plant.example": 200, "http://plant.example": 403, "https://evil.example": 403} {
		h := map[string]string{"Origin": from, "Sec-Fetch-Site": "same-origin"}
		s.do(ask{method: "POST", path: "/account", body: `{}`, header: h, session: session}).want(t, status)
	}
}

// Unsafe methods with a session are refused from another site; with a key they are not (decisions.md section 1).
func TestCrossSite(t *testing.T) {
	s := newServer(t, options{})
	key, session := s.roleKey(auth.Admin), s.session("acme", mailOf(auth.Admin))
	foreign := []map[string]string{
		{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
		{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example", "Sec-Fetch-Site": "same-origin"},
		{"Origin": strings.Replace(s.http.URL, "http:", "https:", 1), "Sec-Fetch-Site": "same-origin"}, {"Origin": s.http.URL + "0", "Sec-Fetch-Site": "same-origin"}, {"Origin": s.http.URL, "Sec-Fetch-Site": "cross-site"},
	}
	own := []map[string]string{nil, {"Origin": s.http.URL}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}}
	for _, h := range foreign {
		for _, a := range []ask{
			{method: "POST", path: "/account", body: `{}`}, {method: "POST", path: "/key"}, {method: "PUT", path: "/account/manifest?dryrun=true", body: acme},
			{method: "POST", path: "/auth/account", body: `{"accountId":"acme"}`},
		} {
			a.header, a.session = h, session
			s.do(a).want(t, 403)
			a.key = key
			if a.path != "/auth/account" {
				s.noteSecrets("", s.do(a).want(t, 200))
			}
			a.session, a.key = "", ""
			s.do(a).want(t, 401) // the origin is checked after the credential (http-api.md section 5)
			a.session = "nonsense"
			a.from = s.address()
			s.do(a).want(t, 401)
		}
		s.do(ask{method: "POST", path: "/auth/logout", session: session, header: h}).want(t, 403)
		s.do(ask{method: "DELETE", path: "/user/" + mailOf(auth.Member), session: session, header: h}).want(t, 403)
		// reads are harmless: there is no CORS
		s.do(ask{method: "GET", path: "/account", session: session, header: h}).want(t, 200)
		for path, body := range map[string]string{
			"/auth/login": `{"destination":"a@acme.example"}`, "/auth/approve": `{"token":"` + s.link("acme", mailOf(auth.Member)) + `","code":"12345"}`, "/auth/claim": "", "/setup": `{"code":"x","domain":"d.example","email":"a@d.example"}`,
		} {
			if a := s.do(ask{method: "POST", path: path, body: body, header: h, from: s.address()}).want(t, 403); !strings.Contains(a.text("errorMessage"), "another site") {
				t.Errorf("%s: %s", path, a.body)
			}
		}
	}
	for _, h := range own {
		s.do(ask{method: "POST", path: "/account", body: `{}`, session: session, header: h}).want(t, 200)
	}
	a := s.do(ask{method: "GET", path: "/account", session: session, header: foreign[0]})
	for name := range a.header {
		if strings.HasPrefix(name, "Access-Control") {
			t.Errorf("there is no CORS: %s", name)
		}
	}
}

// No route with an effect accepts a session from another site. This includes every future route.
func TestEveryRouteRefusesOtherSites(t *testing.T) {
	s := newServer(t, options{})
	session := s.session("acme", mailOf(auth.Admin))
	for _, rt := range s.routes {
		if rt.Method == http.MethodGet && !rt.NoHead {
			continue
		}
		for _, h := range []map[string]string{{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "https://evil.example", "Sec-Fetch-Site": "same-origin"}} {
			a := samples[rt.Method+" "+rt.Path].call(s, rt.Method, caller{email: mailOf(auth.Admin)})
			a.key, a.session, a.from = "", session, s.address()
			maps.Copy(h, a.header)
			a.header = h
			if got := s.do(a); got.status != http.StatusForbidden || !strings.Contains(got.text("errorMessage"), "another site") {
				t.Errorf("%s %s from another site, %v: %d %.200s", rt.Method, rt.Path, h, got.status, got.body)
			}
		}
	}
	s.do(ask{method: "GET", path: "/account", session: session}).want(t, 200)
}

// X-API-KEY takes precedence over the cookie (decisions.md section 4).
func TestKeyWinsOverTheCookie(t *testing.T) {
	s := newServer(t, options{})
	key, session := s.roleKey(auth.Readonly), s.session("acme", mailOf(auth.Admin))
	a := s.do(ask{method: "GET", path: "/auth/profile", key: key, session: session}).want(t, 200)
	if a.text("result", "role") != "readonly" || a.text("result", "type") != "apiKey" {
		t.Errorf("%s", a.body)
	}
	s.do(ask{method: "GET", path: "/user", key: key, session: session}).want(t, 403)
	s.do(ask{method: "POST", path: "/auth/logout", key: key, session: session}).want(t, 200)
	// the logout with the key ended no session
	s.do(ask{method: "GET", path: "/account", session: session}).want(t, 200)
}

// A session is extended by use: its cookie is set again when its expiry has moved by an hour, and it ends after 30 idle
// days.
func TestSlidingSession(t *testing.T) {
	s := newServer(t, options{})
	session := s.session("acme", mailOf(auth.Member))
	get := func(path string, status int) *answer {
		return s.do(ask{method: "GET", path: path, session: session}).want(t, status)
	}
	if a := get("/account", 200); a.cookies["session"] != nil {
		t.Error("the cookie is set again at once")
	}
	for range 3 {
		s.clock.advance(29 * 24 * time.Hour)
		if got := wantCookie(t, get("/account", 200), "session", auth.SessionLifetime, false); got != session {
			t.Error("the session became another one")
		}
	}
	s.clock.advance(2 * time.Hour)
	wantCookie(t, get("/user", 403), "session", auth.SessionLifetime, false) // an error's answer sets it, too
	s.clock.advance(30 * 24 * time.Hour)
	get("/account", 401)
}

// A tablet signs in by its pairing link and is limited to its role.
func TestTablets(t *testing.T) {
	s := newServer(t, options{})
	admin := s.roleKey(auth.Admin)
	pair := func(body string) *answer {
		return s.do(ask{method: "POST", path: "/tablet", body: body, key: admin})
	}
	pair(`{"name":"Hall 1","role":"operator","stationCodes":["PACK-1","NO-SUCH"]}`).wantDetail(t, "stationCodes[1]", "NO-SUCH")
	pair(`{"name":"Hall 1","role":"admin","stationCodes":["PACK-1"]}`).wantDetail(t, "role", "operator")
	made := pair(`{"name":"Hall 1","role":"operator","stationCodes":["PACK-1"]}`).want(t, 200)
	pair(`{"name":"hall  1","role":"operator","stationCodes":["PACK-1"]}`).want(t, 409)
	_, token, _ := strings.Cut(made.text("result", "link"), "#")
	in := s.do(ask{method: "GET", path: "/auth/callback?token=" + s.hide(token)}).want(t, 200)
	session := s.hide(in.cookies["session"].Value)
	a := s.do(ask{method: "GET", path: "/auth/profile", session: session}).want(t, 200)
	if a.text("result", "email") != "tablet:hall-1@acme.example" || a.text("result", "role") != "operator" {
		t.Errorf("%s", a.body)
	}
	s.do(ask{method: "POST", path: "/key", session: session}).want(t, 403)
	s.do(ask{method: "POST", path: "/account", body: `{}`, session: session}).want(t, 403)
	id := made.text("result", "id")
	if made.header.Get("Location") != "/tablet/"+id {
		t.Errorf("Location is %q", made.header.Get("Location"))
	}
	s.do(ask{method: "DELETE", path: "/tablet/" + id, key: admin}).want(t, 204)
	s.do(ask{method: "DELETE", path: "/tablet/" + id, key: admin}).want(t, 404)
	s.do(ask{method: "GET", path: "/auth/profile", session: session}).want(t, 401)
}
