package httpapi

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"opsmon/app/auth"
)

func TestCreateKey(t *testing.T) {
	s := newServer(t, options{})
	member := s.roleKey(auth.Member)
	create := func(body string) *answer {
		a := s.do(ask{method: "POST", path: "/key", body: body, key: member})
		s.noteSecrets("", a)
		return a
	}
	a := create("").want(t, 200)
	raw := a.text("result", "key")
	id, found := strings.CutPrefix(a.header.Get("Location"), "/key/")
	if !found || id == "" || strings.Contains(raw, id) {
		t.Errorf("Location is %q", a.header.Get("Location"))
	}
	if len(raw) < 32 || strings.Trim(raw, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
		t.Errorf("%q is not safe in a path", raw)
	}
	if p := s.do(ask{method: "GET", path: "/auth/profile", key: raw}).want(t, 200); p.text("result", "email") != mailOf(auth.Member) || p.text("result", "role") != "member" {
		t.Errorf("%s", p.body)
	}
	if other := create(`{}`).want(t, 200); other.text("result", "key") == raw {
		t.Error("two keys are the same")
	}
	create(`{"role":"admin"}`).want(t, 403)
	create(`{"role":"king"}`).wantDetail(t, "role", "")
	create(`{"name":""}`).wantDetail(t, "name", "")
	create(`{"name":"`+strings.Repeat("é", 64)+`"}`).want(t, 200)
	create(`{"name":"`+strings.Repeat("é", 65)+`"}`).wantDetail(t, "name", "64")
	create(`{"name":"a\u0000b"}`).wantDetail(t, "name", "control")
	create(`{"expiresAt":"2020-01-01T00:00:00Z"}`).wantDetail(t, "expiresAt", "future")
	create(`{"expires":"2099-01-01T00:00:00Z"}`).wantDetail(t, "expires", "did you mean expiresAt?")
	create(`null`).want(t, 400)
	create(`[]`).want(t, 400)
	lower := create(`{"role":"readonly"}`).want(t, 200).text("result", "key")
	s.do(ask{method: "POST", path: "/account", body: `{}`, key: lower}).want(t, 403)
	// never more than the key itself
	s.do(ask{method: "POST", path: "/key", body: `{"role":"member"}`, key: lower}).want(t, 403)
}

// Every spelling of a time is accepted, or refused with a sentence; none is an internal error.
func TestExpiresAtSpellings(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Readonly)
	for _, text := range []string{
		"2099-01-01T00:00:00Z", "2099-01-01T00:00:00.123456789Z", "2099-01-01T00:00:00+24:00", "2099-01-01T00:00:00+23:59", "2099-01-01T00:00:00-24:30",
		"2099-01-01t00:00:00z", "2099-01-01 00:00:00Z", "2099-12-31T23:59:60Z", "2099-02-30T00:00:00Z", "2099-01-01T24:00:00Z", "9999-12-31T23:59:59-23:59",
		"0000-01-01T00:00:00Z", "2099-01-01T00:00:00,5Z", "2099-01-01T0:00:00Z", "2099-01-01", "", "tomorrow", "2099-01-01T00:00:00", "+2099-01-01T00:00:00Z",
		"2099-01-01T00:00:00+99:99", "2099-01-01T00:00:00+0100", "10000-01-01T00:00:00Z",
	} {
		a := s.do(ask{method: "POST", path: "/key", body: `{"expiresAt":"` + text + `"}`, key: key})
		s.noteSecrets("", a)
		if a.status != 200 {
			a.wantDetail(t, "expiresAt", "must be")
		}
	}
}

func TestDeleteKey(t *testing.T) {
	s := newServer(t, options{})
	admin, member, other := s.roleKey(auth.Admin), s.roleKey(auth.Member), s.roleKey(auth.Supervisor)
	del := func(key, target string) *answer {
		return s.do(ask{method: "DELETE", path: "/key/" + target, key: key})
	}
	raw := s.roleKey(auth.Member)
	del(other, raw).want(t, 403)
	del(member, raw).want(t, 204)
	s.do(ask{method: "GET", path: "/account", key: raw}).want(t, 401)
	del(member, raw).want(t, 204) // already revoked
	del(admin, raw).want(t, 204)
	del(admin, s.roleKey(auth.Member)).want(t, 204) // another person's, by an admin
	a := s.do(ask{method: "POST", path: "/key", key: member}).want(t, 200)
	s.noteSecrets("", a)
	id := strings.TrimPrefix(a.header.Get("Location"), "/key/")
	del(other, id).want(t, 403)
	del(member, id).want(t, 204)
	del(member, id).want(t, 204)
	s.do(ask{method: "GET", path: "/account", key: a.text("result", "key")}).want(t, 401)
	for _, never := range []string{
		"nonsense", "opk_" + strings.Repeat("a", 40), strings.Repeat("a", 12), "a%2Fb", "%2F", "%00", "..%2f..%2faccount", "%E2%98%83", strings.Repeat("k", 4000),
		"%252F", member + "%2F", member + "x", strings.ToUpper(member),
	} {
		del(member, never).wantDetail(t, "key", "")
	}
	foreign := s.key("bolt", "admin@bolt.example")
	del(admin, foreign).want(t, 403)
	del(foreign, foreign).want(t, 204)               // its own
	del(foreign, foreign).want(t, 401)               // is dead now
	del(member, member).want(t, 204)                 // the one of the request
	del(member, s.roleKey(auth.Member)).want(t, 401) // and then none
}

func TestListKeys(t *testing.T) {
	s := newServer(t, options{})
	admin, member := s.roleKey(auth.Admin), s.roleKey(auth.Member)
	a := s.do(ask{method: "POST", path: "/key", body: `{"name":"ERP","role":"readonly","expiresAt":"2099-01-01T00:00:00Z"}`, key: member}).want(t, 200)
	s.noteSecrets("", a)
	mine := s.do(ask{method: "GET", path: "/key", key: member}).want(t, 200)
	list, _ := mine.at("results").([]any)
	if len(list) != 2 {
		t.Fatalf("%s", mine.body)
	}
	byName := map[any]map[string]any{}
	for _, k := range list {
		k, _ := k.(map[string]any)
		byName[k["name"]] = k
	}
	one := byName["ERP"]
	if one["name"] != "ERP" || one["role"] != "readonly" || one["email"] != mailOf(auth.Member) || one["expiresAt"] != "2099-01-01T00:00:00.000Z" || one["lastUsedAt"] != nil {
		t.Errorf("%v", one)
	}
	if byName[""]["lastUsedAt"] == nil {
		t.Errorf("the key in use was never used: %v", byName)
	}
	all, _ := s.do(ask{method: "GET", path: "/key", key: admin}).want(t, 200).at("results").([]any)
	if len(all) != 4 { // includes the first key of the account
		t.Errorf("an admin sees %d keys", len(all))
	}
}

// After the answer to DELETE no request with the key succeeds, on any connection (decisions.md section 5).
func TestRevokedKeyIsDeadAtOnce(t *testing.T) {
	s := newServer(t, options{})
	admin := s.roleKey(auth.Admin)
	for range 5 {
		raw := s.roleKey(auth.Readonly)
		var revoked, stop atomic.Bool
		var late, alive atomic.Int64
		var wg sync.WaitGroup
		for range 32 {
			wg.Go(func() {
				from := s.address()
				for !stop.Load() {
					before := revoked.Load()
					a, err := s.try(ask{method: "GET", path: "/health", from: from}) // keeps the connection open
					if err == nil {
						before = revoked.Load()
						a, err = s.try(ask{method: "GET", path: "/auth/profile", key: raw, from: from})
					}
					switch {
					case err != nil:
						t.Error(err)
						return
					case a.status == http.StatusOK && before:
						late.Add(1)
					case a.status == http.StatusOK:
						alive.Add(1)
					case before:
						return
					}
				}
			})
		}
		for alive.Load() < 100 && !t.Failed() {
			time.Sleep(time.Millisecond)
		}
		s.do(ask{method: "DELETE", path: "/key/" + raw, key: admin}).want(t, 204)
		revoked.Store(true)
		time.Sleep(20 * time.Millisecond)
		stop.Store(true)
		wg.Wait()
		if late.Load() > 0 {
			t.Errorf("%d requests succeeded after the key was revoked", late.Load())
		}
	}
}

// A key works from the moment POST /key has answered.
func TestNewKeyWorksAtOnce(t *testing.T) {
	s := newServer(t, options{})
	member := s.roleKey(auth.Member)
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			a, err := s.try(ask{method: "POST", path: "/key", key: member})
			if err != nil || a.status != 200 {
				t.Errorf("%v %v", a, err)
				return
			}
			raw := s.hide(a.text("result", "key"))
			if b, err := s.try(ask{method: "GET", path: "/account", key: raw}); err != nil || b.status != 200 {
				t.Errorf("a new key: %v %v", b, err)
			}
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	list, _ := s.do(ask{method: "GET", path: "/key", key: member}).at("results").([]any)
	for _, k := range list {
		id, _ := k.(map[string]any)["id"].(string)
		seen[id] = true
	}
	if len(list) != 33 || len(seen) != 33 {
		t.Errorf("%d keys, %d ids", len(list), len(seen))
	}
}

// Keys in paths never appear in a log, a metric label or an error message, whatever the path (decisions.md section 5).
// newServer looks for them when the test ends.
func TestKeysInPathsAreTold(t *testing.T) {
	s := newServer(t, options{})
	admin := s.roleKey(auth.Admin)
	secret := s.roleKey(auth.Supervisor)
	for _, rt := range s.routes {
		parts := strings.Split(rt.Path, "/")
		if !slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(p, ":") }) {
			continue
		}
		for i := range parts {
			if strings.HasPrefix(parts[i], ":") {
				parts[i] = secret
			}
		}
		for _, key := range []string{"", admin} {
			a := s.do(ask{method: rt.Method, path: strings.Join(parts, "/"), key: key, body: `{"role":"member"}`})
			if a.status < 400 && rt.Path != "/key/:key" {
				t.Errorf("%s %s: %d", rt.Method, rt.Path, a.status)
			}
		}
	}
	s.do(ask{method: "GET", path: "/" + secret, key: admin}).want(t, 404)
	s.do(ask{method: "PATCH", path: "/key/" + secret, key: admin}).want(t, 405)
	s.do(ask{method: "GET", path: "/account?key=" + secret, key: admin}).want(t, 200)
	s.do(ask{method: "GET", path: "/audit", key: admin}).want(t, 200)
	s.do(ask{method: "GET", path: "/metrics", key: admin}).want(t, 200)
}
