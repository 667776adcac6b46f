package web

import (
	"bytes"
	"crypto/tls"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"rsc.io/qr"

	"opsmon/assets"
)

const examplePrint = "00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:0F:1E:2D:3C:4B:5A:69:78:87:96:A5:B4:C3:D2:E1:F0"

func exampleTrust(t *testing.T, change ...func(*TrustConfig)) *Trust {
	t.Helper()
	cfg := TrustConfig{
		Web:  newWeb(t, Config{Version: "1.2.3", Secure: true}),
		CA:   &CA{Name: "opsmon.local CA 84f994", Fingerprint: examplePrint, DER: []byte("der"), PEM: []byte("pem"), Profile: []byte("<profile>")},
		Port: func() int { return 8443 }, ClearPort: func() int { return 8080 },
		Hosts: func() []string { return []string{"192.168.7.20", "opsmon.local", "fd00:7::20"} },
	}
	for _, f := range change {
		f(&cfg)
	}
	trust, err := NewTrust(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return trust
}

// askHost sends a request as another device does: over HTTP if the target is a path, over TLS if it is an https
// address.
func askHost(h http.Handler, method, host, target string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	r.Host, r.RemoteAddr = host, "192.168.7.50:50000"
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	out := httptest.NewRecorder()
	h.ServeHTTP(out, r)
	return out
}

func TestTrustDownloads(t *testing.T) {
	trust := exampleTrust(t)
	for target, want := range map[string][2]string{
		"/trust/ca.crt":          {"application/x-x509-ca-cert", "der"},
		"/trust/ca.pem":          {"application/x-pem-file", "pem"},
		"/trust/ca.mobileconfig": {"application/x-apple-aspen-config", "<profile>"},
	} {
		for name, h := range map[string]http.Handler{"TLS": trust, "clear": trust.Clear()} {
			got := askHost(h, "GET", "opsmon.local:8080", target)
			if diff := cmp.Diff(want, [2]string{got.Header().Get("Content-Type"), got.Body.String()}); got.Code != http.StatusOK || diff != "" {
				t.Errorf("%s %s: %d\n%s", name, target, got.Code, diff)
			}
			if cache := got.Header().Get("Cache-Control"); cache != "no-store" {
				t.Errorf("%s %s: Cache-Control is %q", name, target, cache)
			}
			head := askHost(h, "HEAD", "opsmon.local:8080", target)
			if head.Code != http.StatusOK || head.Body.Len() != 0 || head.Header().Get("Content-Length") != fmt.Sprint(len(want[1])) {
				t.Errorf("%s HEAD %s: %d %v", name, target, head.Code, head.Header())
			}
		}
		if !trust.Handles(target) {
			t.Errorf("%s is not the page's", target)
		}
	}
	for _, target := range []string{"/trust/", "/trust/ca.key", "/trust/x", "/", "/trustx", "/assets/trust/trust.css"} {
		if trust.Handles(target) {
			t.Errorf("%s is the page's", target)
		}
	}
	if got := askHost(trust, "POST", "opsmon.local", "/trust"); got.Code != http.StatusMethodNotAllowed || got.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d %v", got.Code, got.Header())
	}
}

func TestTrustPage(t *testing.T) {
	trust := exampleTrust(t)
	got := askHost(trust.Clear(), "GET", "opsmon.local:8080", "/trust")
	if got.Code != http.StatusOK || got.Header().Get("Content-Type") != "text/html; charset=utf-8" || got.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v", got.Code, got.Header())
	}
	doc, err := html.Parse(bytes.NewReader(got.Body.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	var links, files []string
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if n.Data == "script" || n.Data == "style" {
			t.Errorf("the page has a %s", n.Data)
		}
		for _, a := range n.Attr {
			switch {
			case a.Key == "id" && ids[a.Val]:
				t.Errorf("the id %s is there twice", a.Val)
			case a.Key == "id":
				ids[a.Val] = true
			case a.Key == "style", strings.HasPrefix(a.Key, "on"):
				t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
			case a.Key == "href" && n.Data == "a":
				links = append(links, a.Val)
			case a.Key == "src", a.Key == "href":
				files = append(files, a.Val)
			}
		}
	}
	for _, link := range links {
		if id, found := strings.CutPrefix(link, "#"); found {
			if !ids[id] {
				t.Errorf("%s leads nowhere", link)
			}
			continue
		}
		if !strings.HasPrefix(link, "http") && askHost(trust.Clear(), "GET", "opsmon.local:8080", link).Code != http.StatusOK {
			t.Errorf("%s is not there", link)
		}
	}
	if len(files) < 5 {
		t.Errorf("the page loads %v", files)
	}
	for _, file := range files {
		if code := askHost(trust.Clear(), "GET", "opsmon.local:8080", file).Code; code != http.StatusOK {
			t.Errorf("%s: %d", file, code)
		}
	}
	text := got.Body.String()
	for _, want := range []string{
		"app trust", "opsmon.local CA 84f994", "<span>00:11:22:33</span> <span>44:55:66:77</span>", "<span>C3:D2:E1:F0</span></code>",
		"Get-FileHash", "Certificate Trust Settings", "http://opsmon.local:8080/trust", "https://opsmon.local:8443/trust",
		`<a href="https://192.168.7.20:8443">`, `<a href="https://[fd00:7::20]:8443">`, "it came in the clear",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not have %q", want)
		}
	}
	over := askHost(trust, "GET", "opsmon.local:8443", "https://opsmon.local:8443/trust").Body.String()
	if !strings.Contains(over, "came over HTTPS") || strings.Contains(over, "came in the clear") || strings.Contains(text, "came over HTTPS") {
		t.Error("the page does not know how it came")
	}
	alone := exampleTrust(t, func(cfg *TrustConfig) { cfg.ClearPort = func() int { return 0 } })
	if strings.Contains(askHost(alone, "GET", "opsmon.local", "/trust").Body.String(), openCode) {
		t.Error("without a port in the clear there is a code for it")
	}
	named := exampleTrust(t, func(cfg *TrustConfig) { cfg.CA.Name = "<b>x</b>" })
	if strings.Contains(askHost(named, "GET", "opsmon.local", "/trust").Body.String(), "<b>x</b>") {
		t.Error("names are not escaped")
	}
}

// The shown addresses are those that other devices can use.
func TestTrustAddresses(t *testing.T) {
	on443 := func(cfg *TrustConfig) {
		cfg.Port, cfg.ClearPort = func() int { return 443 }, func() int { return 80 }
	}
	for _, tt := range []struct {
		host, open, secure string
		change             func(*TrustConfig)
	}{
		{"plantpc:8080", "http://plantpc:8080/trust", "https://plantpc:8443/trust", nil},
		{"10.0.0.9:8080", "http://10.0.0.9:8080/trust", "https://10.0.0.9:8443/trust", nil},
		{"[fd00:7::20]:8080", "http://[fd00:7::20]:8080/trust", "https://[fd00:7::20]:8443/trust", nil},
		{"localhost:8080", "http://192.168.7.20:8080/trust", "https://192.168.7.20:8443/trust", nil},
		{"127.0.0.1:8080", "http://192.168.7.20:8080/trust", "https://192.168.7.20:8443/trust", nil},
		{"[::1]", "http://192.168.7.20:8080/trust", "https://192.168.7.20:8443/trust", nil},
		{`"><script>`, "http://192.168.7.20:8080/trust", "https://192.168.7.20:8443/trust", nil},
		{"", "http://192.168.7.20:8080/trust", "https://192.168.7.20:8443/trust", nil},
		{"plantpc", "http://plantpc/trust", "https://plantpc/trust", on443},
		{"[fd00:7::20]", "http://[fd00:7::20]/trust", "https://[fd00:7::20]/trust", on443},
		{"plantpc", "http://plantpc:8080/trust", "https://opsmon.works.example/trust", func(cfg *TrustConfig) { cfg.URL = "https://opsmon.works.example/" }},
	} {
		var change []func(*TrustConfig)
		if tt.change != nil {
			change = append(change, tt.change)
		}
		trust := exampleTrust(t, change...)
		page := askHost(trust, "GET", tt.host, "/trust").Body.String()
		for target, want := range map[string]string{openCode: tt.open, httpsCode: tt.secure} {
			if !strings.Contains(page, `<a href="`+want+`">`) {
				t.Errorf("%s: the page does not lead to %s", tt.host, want)
			}
			if got := askHost(trust, "GET", tt.host, target); got.Code != http.StatusOK || got.Header().Get("Content-Type") != "image/svg+xml" {
				t.Errorf("%s %s: %d %v", tt.host, target, got.Code, got.Header())
			} else if !shows(t, got.Body.Bytes(), want) {
				t.Errorf("%s: the code is not that of %s", tt.host, want)
			}
		}
	}
}

// shows reports whether a drawing is a text's QR code with light squares around it.
func shows(t *testing.T, svg []byte, text string) bool {
	t.Helper()
	var drawing struct {
		ViewBox string `xml:"viewBox,attr"`
		Paths   []struct {
			D    string `xml:"d,attr"`
			Fill string `xml:"fill,attr"`
		} `xml:"path"`
	}
	if err := xml.Unmarshal(svg, &drawing); err != nil || len(drawing.Paths) != 2 || drawing.Paths[0].Fill != "#fff" {
		t.Fatalf("%v: %s", err, svg)
	}
	want, err := qr.Encode(text, qr.M)
	if err != nil {
		t.Fatal(err)
	}
	dark := map[[2]int]bool{}
	for _, m := range regexp.MustCompile(`M\d+ \d+h\d+v1h-\d+z`).FindAllString(drawing.Paths[1].D, -1) {
		var x, y, wide, back int
		if _, err := fmt.Sscanf(m, "M%d %dh%dv1h-%dz", &x, &y, &wide, &back); err != nil || wide != back {
			t.Fatalf("%s: %v", m, err)
		}
		for i := range wide {
			dark[[2]int{x + i, y}] = true
		}
	}
	size := want.Size + 8
	if drawing.ViewBox != fmt.Sprintf("0 0 %d %d", size, size) {
		return false
	}
	for y := range size {
		for x := range size {
			if dark[[2]int{x, y}] != want.Black(x-4, y-4) { // light outside of the code
				return false
			}
		}
	}
	return true
}

func TestThePortInTheClear(t *testing.T) {
	clear := exampleTrust(t).Clear()
	refused := func(where string) string {
		return `{"isSuccess":false,"errorCode":"forbidden","errorMessage":"this port is not encrypted and takes no keys and no changes: use ` + where +
			` instead, and replace a key that was sent here, since others on the network may have read it"}`
	}
	const at = "https://opsmon.local:8443"
	for _, tt := range []struct {
		method, host, target string
		header               string
		status               int
		want                 string // the redirect's target, or the body
	}{
		{"GET", "opsmon.local:8080", "/", "", 307, at + "/"},
		{"HEAD", "opsmon.local:8080", "/", "", 307, at + "/"},
		{"GET", "OPSMON.local", "/docs?q=a%20b&x=%2F", "", 307, "https://OPSMON.local:8443/docs?q=a%20b&x=%2F"},
		{"GET", "10.0.0.9:8080", "/station/a%2Fb", "", 307, "https://10.0.0.9:8443/station/a%2Fb"},
		{"GET", "[fd00:7::20]:8080", "/link", "", 307, "https://[fd00:7::20]:8443/link"},
		{"GET", "localhost:8080", "/", "", 307, "https://localhost:8443/"},
		{"GET", "", "/", "", 307, "https://192.168.7.20:8443/"},
		{"GET", "evil example\r\nX: y", "/", "", 307, "https://192.168.7.20:8443/"},
		{"GET", "opsmon.local:8080", "//evil.example/x", "", 307, at + "//evil.example/x"},
		{"GET", "opsmon.local:8080", "/account", "", 307, at + "/account"},
		{"GET", "opsmon.local:8080", "/account", "X-API-KEY", 403, refused(at)},
		{"GET", "opsmon.local:8080", "/metrics", "Authorization", 403, refused(at)},
		{"GET", "opsmon.local:8080", "/trust", "X-API-KEY", 200, ""},
		{"GET", "opsmon.local:8080", "/auth/callback?token=opl_secret", "", 403, refused(at)},
		{"GET", "opsmon.local:8080", "/key/opk_secret", "", 403, refused(at)},
		{"DELETE", "opsmon.local:8080", "/key/opk_secret", "", 403, refused(at)},
		{"POST", "opsmon.local:8080", "/trust", "", 403, refused(at)},
		{"PUT", "opsmon.local:8080", "/account/manifest", "X-API-KEY", 403, refused(at)},
		{"OPTIONS", "opsmon.local:8080", "/", "", 403, refused(at)},
		{"POST", "<script>", "/account", "", 403, refused("HTTPS")},
	} {
		var headers []string
		if tt.header != "" {
			headers = []string{tt.header, "opk_secret"}
		}
		got := askHost(clear, tt.method, tt.host, tt.target, headers...)
		name := tt.method + " " + tt.host + tt.target
		if got.Code != tt.status {
			t.Errorf("%s: %d", name, got.Code)
			continue
		}
		switch tt.status {
		case 307:
			if to := got.Header().Get("Location"); to != tt.want || got.Body.Len() > 0 {
				t.Errorf("%s leads to %s", name, to)
			}
		case 403:
			if got.Body.String() != tt.want || got.Header().Get("Content-Type") != "application/json" {
				t.Errorf("%s: %s", name, got.Body)
			}
		}
		if tt.status != 307 && strings.Contains(fmt.Sprint(got.Header(), got.Body), "secret") {
			t.Errorf("%s repeats a secret", name)
		}
		if got.Header().Get("Cache-Control") != "no-store" || got.Header().Get("Content-Security-Policy") != policy || got.Header().Get("Strict-Transport-Security") != "" {
			t.Errorf("%s: %v", name, got.Header())
		}
	}
	if got := askHost(exampleTrust(t, func(cfg *TrustConfig) { cfg.Hosts = func() []string { return nil } }).Clear(), "GET", "", "/"); got.Code != http.StatusBadRequest {
		t.Errorf("without any host: %d %v", got.Code, got.Header())
	}
	named := exampleTrust(t, func(cfg *TrustConfig) { cfg.URL = "https://opsmon.works.example" })
	if to := askHost(named.Clear(), "GET", "plantpc:8080", "/docs?a=b").Header().Get("Location"); to != "https://opsmon.works.example/docs?a=b" {
		t.Errorf("with an address of its own it leads to %s", to)
	}
}

// With a certificate of the plant there is nothing to trust: the port only redirects.
func TestThePortInTheClearWithoutAnAuthority(t *testing.T) {
	trust := exampleTrust(t, func(cfg *TrustConfig) { cfg.CA = nil })
	for _, target := range []string{"/", "/trust", "/trust/ca.crt", "/favicon.ico", "/assets/x/shared/app.css"} {
		if trust.Handles(target) {
			t.Errorf("%s is the page's", target)
		}
		if got := askHost(trust.Clear(), "GET", "plantpc:8080", target); got.Code != 307 || got.Header().Get("Location") != "https://plantpc:8443"+target {
			t.Errorf("%s: %d %v", target, got.Code, got.Header())
		}
	}
}

func TestTrustKeepsOtherSitesOut(t *testing.T) {
	trust := exampleTrust(t)
	for _, tt := range []struct{ host, target, opener string }{
		{"opsmon.local:8443", "https://opsmon.local:8443/trust", "same-origin"},
		{"opsmon.local:8080", "/trust", ""}, // browsers ignore it there with a warning
		{"127.0.0.1:8080", "/trust", "same-origin"},
	} {
		h := askHost(trust, "GET", tt.host, tt.target).Header()
		want := map[string]string{"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Cross-Origin-Opener-Policy": tt.opener, "Cross-Origin-Resource-Policy": "same-origin"}
		for name, value := range want {
			if h.Get(name) != value {
				t.Errorf("%s: %s is %q", tt.target, name, h.Get(name))
			}
		}
	}
}

func TestStrictTransport(t *testing.T) {
	h := StrictTransport(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { rw.WriteHeader(http.StatusTeapot) }))
	for _, secure := range []bool{true, false} {
		r := httptest.NewRequest("GET", "/", nil)
		want := ""
		if secure {
			r.TLS, want = &tls.ConnectionState{}, "max-age=2592000"
		}
		out := httptest.NewRecorder()
		h.ServeHTTP(out, r)
		if got := out.Header().Get("Strict-Transport-Security"); got != want || out.Code != http.StatusTeapot {
			t.Errorf("over TLS %v: %q", secure, got)
		}
	}
}

func TestTheTrustPageOfADevelopmentDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, assets.FS); err != nil {
		t.Fatal(err)
	}
	trust := exampleTrust(t, func(cfg *TrustConfig) { cfg.Web = newWeb(t, Config{Dir: dir}) })
	if got := askHost(trust, "GET", "opsmon.local", "/trust").Body.String(); !strings.Contains(got, "/assets/dev/trust/trust.css") {
		t.Error("the page does not use the directory's files")
	}
	page := filepath.Join(dir, "trust", "index.html")
	for _, tt := range []struct {
		text string
		want int
	}{{"{{.Name}}", 200}, {"{{.Missing}}", 500}, {"{{", 500}} {
		if err := os.WriteFile(page, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := askHost(trust, "GET", "opsmon.local", "/trust"); got.Code != tt.want {
			t.Errorf("%s: %d %s", tt.text, got.Code, got.Body)
		}
	}
	if _, err := NewTrust(trust.cfg); err == nil || !strings.Contains(err.Error(), "index.html") {
		t.Errorf("a broken template: %v", err)
	}
}

func BenchmarkTrustPage(b *testing.B) {
	w, err := New(Config{})
	if err != nil {
		b.Fatal(err)
	}
	trust, err := NewTrust(TrustConfig{
		Web: w, CA: &CA{Fingerprint: examplePrint}, Port: func() int { return 8443 }, ClearPort: func() int { return 8080 }, Hosts: func() []string { return nil },
	})
	if err != nil {
		b.Fatal(err)
	}
	for _, target := range []string{trustPath, openCode} {
		b.Run(target, func(b *testing.B) {
			for b.Loop() {
				askHost(trust, "GET", "opsmon.local:8080", target)
			}
		})
	}
}
