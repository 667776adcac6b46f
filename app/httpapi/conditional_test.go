package httpapi

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"opsmon/app/auth"
	"opsmon/app/test/apptest"
)

// Entity tags are strong, except that of GET /account, which has cursors. There is one for each role and encoding, and
// If-None-Match leads to 304 (decisions.md section 2).
func TestEntityTags(t *testing.T) {
	apptest.Long(t)
	s := newServer(t, options{})
	admin, member := s.roleKey(auth.Admin), s.roleKey(auth.Member)
	reset := s.do(ask{method: "POST", path: "/account", body: `{"resetWarehousePassword":true}`, key: admin}).want(t, 200)
	s.hide(reset.text("result", "warehousePassword"))
	for _, path := range []string{"/account", "/account/manifest", "/account/manifest/revisions/1", "/openapi.json"} {
		tags := map[string]string{}
		for _, who := range []struct{ name, key string }{{"admin", admin}, {"member", member}} {
			for _, encoding := range []string{"identity", "gzip"} {
				get := ask{method: "GET", path: path, key: who.key, header: map[string]string{"Accept-Encoding": encoding}}
				full := s.do(get).want(t, 200)
				tag := full.header.Get("Etag")
				opaque, weak := strings.CutPrefix(tag, "W/")
				if weak != (path == "/account") || !strings.HasPrefix(opaque, `"`) || !strings.HasSuffix(opaque, `"`) || len(tag) < 10 {
					t.Fatalf("the tag is %q", tag)
				}
				if zipped := full.header.Get("Content-Encoding") == "gzip"; zipped != (encoding == "gzip" && len(full.body) > 1024) {
					t.Errorf("%s, %s: Content-Encoding is %q", path, encoding, full.header.Get("Content-Encoding"))
				}
				if full.header.Get("Vary") != "Accept-Encoding, Cookie, X-API-KEY" || full.header.Get("Cache-Control") != "private, no-cache" {
					t.Errorf("%v", full.header)
				}
				tags[who.name+encoding] = tag
				for header, status := range map[string]int{
					tag: 304, "*": 304, `W/` + opaque: 304, `"other", ` + tag: 304, tag + `,"other"`: 304, "  " + tag + "  ": 304, `"a,b", ` + tag: 304,
					`"other"`: 200, strings.Trim(tag, `"`): 200, "": 200, strings.ToUpper(tag): 200, tag[:len(tag)-2] + `"`: 200,
				} {
					for _, method := range []string{"GET", "HEAD"} {
						get := get
						get.method = method
						get.header = map[string]string{"Accept-Encoding": encoding, "If-None-Match": header}
						got := s.do(get).want(t, status)
						if status == 304 && (got.header.Get("Etag") != tag || got.header.Get("Vary") != full.header.Get("Vary") || got.header.Get("Cache-Control") != full.header.Get("Cache-Control")) {
							t.Errorf("304 of %s with %q: %v", path, header, got.header)
						}
						if status == 200 && got.header.Get("Content-Length") != full.header.Get("Content-Length") {
							t.Errorf("%s %s: Content-Length is %s, want %s", method, path, got.header.Get("Content-Length"), full.header.Get("Content-Length"))
						}
					}
				}
			}
		}
		if tags["adminidentity"] == tags["admingzip"] {
			t.Errorf("%s: two encodings share a strong tag", path)
		}
		if (tags["adminidentity"] != tags["memberidentity"]) != (path == "/account") {
			t.Errorf("%s: tags of admin and member: %v", path, tags)
		}
	}
}

// Several If-None-Match lines form one list.
func TestIfNoneMatchInSeveralLines(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Member)
	tag := s.do(ask{method: "GET", path: "/account", key: key}).header.Get("Etag")
	req, err := http.NewRequestWithContext(background(t), "GET", s.http.URL+"/account", nil)
	s.must(nil, err)
	req.Header = http.Header{"X-Api-Key": {key}, "If-None-Match": {`"other"`, tag}}
	got, err := s.send(req)
	s.must(nil, err)
	got.want(t, 304)
}

// A write whose If-Match has another configuration revision is 409 (decisions.md section 2).
func TestIfMatch(t *testing.T) {
	s := newServer(t, options{})
	admin, member := s.roleKey(auth.Admin), s.roleKey(auth.Member)
	stale := s.do(ask{method: "GET", path: "/account", key: member}).header.Get("Etag")
	s.do(ask{method: "POST", path: "/account", body: `{"currency":"GBP"}`, key: member}).want(t, 200)
	byRole := s.do(ask{method: "GET", path: "/account", key: admin}).header.Get("Etag")
	zipped := s.do(ask{method: "GET", path: "/account", key: member, header: map[string]string{"Accept-Encoding": "gzip"}}).header.Get("Etag")
	document := s.do(ask{method: "GET", path: "/account/manifest", key: member}).header.Get("Etag")
	for _, tt := range []struct {
		lines  []string
		status int
	}{
		{nil, 200}, {[]string{byRole}, 200}, {[]string{zipped}, 200}, {[]string{document}, 200}, {[]string{"*"}, 200},
		{[]string{stale + ", " + document}, 200}, {[]string{stale, document}, 200}, {[]string{`"x"`, "*"}, 200}, {[]string{"W/" + document}, 200},
		{[]string{stale}, 409}, {[]string{""}, 409}, {[]string{"  "}, 409}, {[]string{`"x"`}, 409}, {[]string{"nonsense"}, 409}, {[]string{"2-"}, 409},
		{[]string{`"99999999999999999999-x"`}, 409}, {[]string{`"-2-x"`}, 409}, {[]string{`""`}, 409}, {[]string{","}, 409},
	} {
		for _, w := range []struct{ method, path, body string }{
			{"POST", "/account", `{}`}, {"PUT", "/account/manifest?dryrun=true", acme}, {"POST", "/account/manifest/revisions/2/restore", ""},
		} {
			req, err := http.NewRequestWithContext(background(t), w.method, s.http.URL+w.path, strings.NewReader(w.body))
			s.must(nil, err)
			req.Header = http.Header{"X-Api-Key": {member}, "If-Match": tt.lines, "Content-Type": {"application/json"}}
			got, err := s.send(req)
			s.must(nil, err)
			if got.status != tt.status {
				t.Errorf("%s %s with If-Match %q: %d, want %d: %s", w.method, w.path, tt.lines, got.status, tt.status, got.body)
			}
		}
	}
}

// Changes outside the configuration, such as the end of a session, do not change the revision.
func TestIfMatchIsAboutTheConfiguration(t *testing.T) {
	s := newServer(t, options{})
	member := s.roleKey(auth.Member)
	tag := s.do(ask{method: "GET", path: "/account", key: member}).header.Get("Etag")
	s.roleKey(auth.Member)
	s.must(s.Accounts.SetArchived(auth.Local("acme"), true))
	s.must(s.Accounts.SetArchived(auth.Local("acme"), false))
	s.do(ask{method: "POST", path: "/account", body: `{"currency":"GBP"}`, key: member, header: map[string]string{"If-Match": tag}}).want(t, 200)
}

func TestCompression(t *testing.T) {
	apptest.Long(t)
	s := newServer(t, options{})
	admin := s.roleKey(auth.Admin)
	for range 8 {
		s.roleKey(auth.Admin) // makes the list of keys larger than 1 KiB
	}
	for _, path := range []string{"/account", "/account/manifest", "/key", "/metrics", "/openapi.json"} {
		for _, tt := range []struct {
			accept []string
			zipped bool
		}{
			{nil, false}, {[]string{""}, false}, {[]string{"identity"}, false}, {[]string{"br, deflate"}, false}, {[]string{"gzip"}, true}, {[]string{"GZip"}, true},
			{[]string{"deflate, gzip;q=1.0, *;q=0.5"}, true}, {[]string{"gzip;q=0"}, false}, {[]string{"gzip;q=0.000"}, false}, {[]string{"gzip ; q=0"}, false},
			{[]string{"gzip;Q=0"}, false}, {[]string{"gzip; q = 0"}, false}, {[]string{"gzip;q=0.001"}, true}, {[]string{"*"}, true}, {[]string{"*;q=0"}, false},
			{[]string{"*;q=0, gzip"}, true}, {[]string{"gzip;q=0, *"}, false}, {[]string{"*", "gzip;q=0"}, false}, {[]string{"br", "gzip"}, true},
			{[]string{"xgzip"}, false}, {[]string{"gzip2"}, false}, {[]string{"identity;q=1, gzip;q=0.5"}, true}, {[]string{"gzip;q=abc"}, true}, {[]string{"gzip\t;q=0"}, false},
		} {
			req, err := http.NewRequestWithContext(background(t), "GET", s.http.URL+path, nil)
			s.must(nil, err)
			req.Header = http.Header{"X-Api-Key": {admin}, "Accept-Encoding": tt.accept}
			got, err := s.send(req)
			s.must(nil, err)
			if zipped := got.header.Get("Content-Encoding") == "gzip"; zipped != tt.zipped {
				t.Errorf("%s with %q: compressed %v", path, tt.accept, zipped)
			}
			if !strings.Contains(got.header.Get("Vary"), "Accept-Encoding") {
				t.Errorf("%s: Vary is %q", path, got.header.Get("Vary"))
			}
		}
	}
	for _, path := range []string{"/health", "/auth/profile", "/nothing"} {
		got := s.do(ask{method: "GET", path: path, key: admin, header: map[string]string{"Accept-Encoding": "gzip"}})
		if got.header.Get("Content-Encoding") != "" || len(got.raw) > 1024 {
			t.Errorf("%s: a small body of %d bytes was compressed", path, len(got.body))
		}
	}
}

// The compressed and the plain answer have the same content.
func TestEncodingsAgree(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Member)
	for _, path := range []string{"/account", "/account/manifest", "/openapi.json"} {
		plain := s.do(ask{method: "GET", path: path, key: key})
		zipped := s.do(ask{method: "GET", path: path, key: key, header: map[string]string{"Accept-Encoding": "gzip"}})
		if !slices.Equal(plain.body, zipped.body) || len(zipped.raw) >= len(plain.raw) {
			t.Errorf("%s: %d and %d bytes", path, len(plain.raw), len(zipped.raw))
		}
	}
}
