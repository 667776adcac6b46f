package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"opsmon/assets"
)

func newWeb(t *testing.T, cfg Config) *Web {
	t.Helper()
	w, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

var exampleDemo = &DemoInfo{
	Account: "demo", Plants: []string{"Riverside <Works>"}, Groups: 4, Stations: 14, SKUs: 20,
	APIKey: "opk_9m4q6w3p5z8c2b7n4t6r9y3h5j2k7x", BaseURL: "http://127.0.0.1:8080",
}

// ask sends a request from this computer; headers are alternating names and values.
func ask(w *Web, method, target string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	r.Host, r.RemoteAddr = "127.0.0.1:8080", "127.0.0.1:50000"
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	out := httptest.NewRecorder()
	w.ServeHTTP(out, r)
	return out
}

func TestHandlesItsPathsAndNoOthers(t *testing.T) {
	w := newWeb(t, Config{})
	for at, want := range map[string]bool{
		"/": true, "/signin": true, "/welcome": true, "/signin/enter": false, "/home": false, "/console": true, "/console/": true, "/console/task/7": true, "/consolex": false, "/floor": true, "/floor/station/A%2FB": true, "/floorx": false, "/tablet": false, "/tablet/x": false, "/tablet/worker.js": true, "/tablet/icon-192.png": true, "/tabletx": false, "/docs": true, "/help": true, "/help/tablet": true, "/help/none": false, "/link": true, "/favicon.ico": true, "/assets/": true, "/assets/x/shared/app.css": true,
		"/account": false, "/docs/": false, "/openapi.json": false, "/health": false, "/assets": false, "": false, "/link/x": false,
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.URL.Path = at
		if got := w.Handles(r); got != want {
			t.Errorf("Handles(%q) is %v", at, got)
		}
	}
	for _, tt := range []struct {
		method, at, accept string
		want               bool
	}{
		{"GET", "/tablet", "text/html,application/xhtml+xml,*/*;q=0.8", true}, {"HEAD", "/tablet", "text/html", true}, {"GET", "/tablet/x", "text/html", true},
		{"GET", "/tablet", "*/*", false}, {"GET", "/tablet", "application/json", false}, {"POST", "/tablet", "text/html", false}, {"DELETE", "/tablet/x", "text/html", false},
	} {
		r := httptest.NewRequest(tt.method, tt.at, nil)
		r.Header.Set("Accept", tt.accept)
		if got := w.Handles(r); got != tt.want {
			t.Errorf("%s %s for %s: Handles is %v", tt.method, tt.at, tt.accept, got)
		}
	}
}

func TestEveryAnswerKeepsOtherSitesOut(t *testing.T) {
	w := newWeb(t, Config{})
	want := map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
			"manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
	}
	for _, target := range []string{"/", "/signin", "/welcome", "/console", "/console/x", "/floor", "/floor/x", "/tablet", "/tablet/worker.js", "/tablet/app.webmanifest", "/tablet/icon-512.png", "/docs", "/link", "/favicon.ico", "/assets/" + w.site.hash + "/shared/app.css", "/assets/none"} {
		for _, method := range []string{"GET", "HEAD", "POST"} {
			h := ask(w, method, target).Header()
			for name, value := range want {
				if h.Get(name) != value {
					t.Errorf("%s %s: %s is %q", method, target, name, h.Get(name))
				}
			}
			// keeps a tablet's screen on
			if allowed := h.Get("Permissions-Policy"); !strings.Contains(allowed, "camera=()") || !strings.Contains(allowed, "screen-wake-lock=(self)") {
				t.Errorf("%s %s: Permissions-Policy is %q", method, target, h.Get("Permissions-Policy"))
			}
		}
	}
	// Browsers ignore it with a warning on connections that they do not trust.
	if got := ask(w, "GET", "/", "Host", "plant.example").Header().Get("Cross-Origin-Opener-Policy"); got != "" {
		t.Errorf("without TLS, Cross-Origin-Opener-Policy is %q", got)
	}
	if got := ask(newWeb(t, Config{Secure: true}), "GET", "/", "Host", "plant.example").Header().Get("Cross-Origin-Opener-Policy"); got != "same-origin" {
		t.Errorf("with TLS, Cross-Origin-Opener-Policy is %q", got)
	}
}

func TestStaticFiles(t *testing.T) {
	w := newWeb(t, Config{})
	prefix := "/assets/" + w.site.hash + "/"
	names := embeddedFiles(t)
	for _, name := range names {
		want, err := fs.ReadFile(assets.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".png": "image/png", ".webmanifest": "application/manifest+json"}
		got := ask(w, "GET", prefix+name)
		if path.Ext(name) == ".html" || path.Ext(name) == catalogueExt { // which pages hold
			if got.Code != http.StatusNotFound {
				t.Errorf("%s is sent as it is", name)
			}
			continue
		}
		if kinds[path.Ext(name)] == "" {
			t.Errorf("%s is of a kind that is not served", name)
			continue
		}
		if got.Code != http.StatusOK || got.Header().Get("Content-Type") != kinds[path.Ext(name)] || !bytes.Equal(got.Body.Bytes(), want) {
			t.Errorf("%s: %d %s, %d bytes", name, got.Code, got.Header().Get("Content-Type"), got.Body.Len())
		}
		if cache := got.Header().Get("Cache-Control"); cache != "public, max-age=31536000, immutable" {
			t.Errorf("%s: Cache-Control is %q", name, cache)
		}
		packed := ask(w, "GET", prefix+name, "Accept-Encoding", "br, gzip")
		if packed.Header().Get("Content-Encoding") == "gzip" {
			if !bytes.Equal(unpack(t, packed.Body.Bytes()), want) {
				t.Errorf("%s: unpacked, it is something else", name)
			}
			if packed.Header().Get("ETag") == got.Header().Get("ETag") || packed.Header().Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s: the encodings are not told apart: %v", name, packed.Header())
			}
		} else if len(want) > 1000 {
			t.Errorf("%s has %d bytes and is not compressed", name, len(want))
		}
		head := ask(w, "HEAD", prefix+name)
		if head.Code != http.StatusOK || head.Body.Len() != 0 || head.Header().Get("Content-Length") != got.Header().Get("Content-Length") {
			t.Errorf("HEAD %s: %d, %d bytes", name, head.Code, head.Body.Len())
		}
	}
	for _, target := range []string{
		"/assets/00000000000000000000/shared/app.css", prefix, prefix + "shared", prefix + "none.js", prefix + "../assets.go", prefix + "shared/../shared/app.css", "/assets/", "/assets/dev/shared/app.css",
	} {
		got := ask(w, "GET", target)
		if got.Code != http.StatusNotFound || got.Header().Get("Cache-Control") != "no-cache" ||
			got.Body.String() != `{"isSuccess":false,"errorCode":"notFound","errorMessage":"there is nothing at this path"}` {
			t.Errorf("%s: %d %v %s", target, got.Code, got.Header(), got.Body)
		}
	}
}

func embeddedFiles(t *testing.T) []string {
	t.Helper()
	var names []string
	err := fs.WalkDir(assets.FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil || len(names) < 8 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	return names
}

func unpack(t *testing.T, b []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestOneHashOverAllFiles(t *testing.T) {
	base := map[string][]byte{"a.js": []byte("1"), "b/c.css": []byte("2")}
	seen := map[string]string{hashOf(base): "as it is"}
	for what, files := range map[string]map[string][]byte{
		"other bytes":    {"a.js": []byte("1"), "b/c.css": []byte("3")},
		"another name":   {"a.js": []byte("1"), "b/d.css": []byte("2")},
		"one more":       {"a.js": []byte("1"), "b/c.css": []byte("2"), "d.js": nil},
		"bytes swapped":  {"a.js": []byte("2"), "b/c.css": []byte("1")},
		"one file fewer": {"a.js": []byte("1")},
	} {
		if other, dup := seen[hashOf(files)]; dup {
			t.Errorf("%s has the hash of %s", what, other)
		}
		seen[hashOf(files)] = what
	}
	if hashOf(base) != hashOf(map[string][]byte{"b/c.css": []byte("2"), "a.js": []byte("1")}) {
		t.Error("the same files have two hashes")
	}
}

func TestPagesAreAskedForAgainEachTime(t *testing.T) {
	w := newWeb(t, Config{})
	for _, target := range []string{"/signin", "/welcome", "/console", "/floor", "/tablet", "/docs", "/help", "/help/tablet", "/link"} {
		got := ask(w, "GET", target)
		if got.Code != http.StatusOK || got.Header().Get("Content-Type") != "text/html; charset=utf-8" || got.Header().Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %d %v", target, got.Code, got.Header())
		}
		same := ask(w, "GET", target, "If-None-Match", `"other", W/`+got.Header().Get("ETag"))
		if same.Code != http.StatusNotModified || same.Body.Len() != 0 || same.Header().Get("ETag") != got.Header().Get("ETag") {
			t.Errorf("%s with its tag: %d, %d bytes", target, same.Code, same.Body.Len())
		}
		if other := ask(w, "GET", target, "If-None-Match", got.Header().Get("ETag"), "Accept-Encoding", "gzip"); other.Code != http.StatusOK {
			t.Errorf("%s: the tag of one encoding stands for the other", target)
		}
	}
}

func TestTheConsoleAnswersEveryPathBelowIt(t *testing.T) {
	w := newWeb(t, Config{Demo: exampleDemo})
	for _, host := range []string{"127.0.0.1:8080", "plant.example"} {
		got := ask(w, "GET", "/", "Host", host)
		if got.Code != http.StatusFound || got.Header().Get("Location") != "/floor" || got.Header().Get("Cache-Control") != "no-cache" || got.Body.Len() != 0 {
			t.Errorf("/ of %s: %d %v, %d bytes", host, got.Code, got.Header(), got.Body.Len())
		}
	}
	want := ask(w, "GET", "/console")
	if want.Code != http.StatusOK || !strings.Contains(want.Body.String(), "<title>") {
		t.Fatalf("/console: %d %s", want.Code, want.Body)
	}
	for _, target := range []string{"/console/", "/console/stations", "/console/task/1f/x?at=1"} {
		got := ask(w, "GET", target)
		if got.Code != http.StatusOK || got.Body.String() != want.Body.String() || got.Header().Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %d %v", target, got.Code, got.Header())
		}
	}
}

func TestMethods(t *testing.T) {
	w := newWeb(t, Config{})
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"} {
		got := ask(w, method, "/docs")
		if got.Code != http.StatusMethodNotAllowed || got.Header().Get("Allow") != "GET, HEAD" || got.Header().Get("Content-Type") != "application/json" ||
			got.Body.String() != `{"isSuccess":false,"errorCode":"methodNotAllowed","errorMessage":"this path takes the methods GET, HEAD"}` {
			t.Errorf("%s: %d %v %s", method, got.Code, got.Header(), got.Body)
		}
	}
}

// The demo's key is only for the computer that runs it: not for the network, and not for a page whose name resolves to
// this computer.
func TestTheDemosKeyStaysOnThisMachine(t *testing.T) {
	w := newWeb(t, Config{Demo: exampleDemo})
	for _, tt := range []struct {
		remote, host string
		shown        bool
	}{
		{"127.0.0.1:50000", "127.0.0.1:8080", true},
		{"127.0.0.1:50000", "localhost:8080", true},
		{"127.0.0.1:50000", "LOCALHOST", true},
		{"[::1]:50000", "[::1]:8080", true},
		{"[::1]:50000", "[::1]", true},
		{"[::ffff:127.0.0.1]:50000", "127.0.0.1:8080", true},
		{"192.0.2.7:50000", "127.0.0.1:8080", false},
		{"127.0.0.1:50000", "evil.example:8080", false},
		{"127.0.0.1:50000", "localhost.evil.example", false},
		{"127.0.0.1:50000", "192.0.2.1:8080", false},
		{"127.0.0.1:50000", "", false},
		{"", "127.0.0.1:8080", false},
	} {
		r := httptest.NewRequest(http.MethodGet, "/signin", nil)
		r.RemoteAddr, r.Host = tt.remote, tt.host
		got := httptest.NewRecorder()
		w.ServeHTTP(got, r)
		if shown := strings.Contains(got.Body.String(), exampleDemo.APIKey); shown != tt.shown || got.Code != http.StatusOK {
			t.Errorf("from %s to %s: %d, key shown %v", tt.remote, tt.host, got.Code, shown)
		}
		if cache := got.Header().Get("Cache-Control"); cache != "no-store" {
			t.Errorf("from %s to %s: Cache-Control is %q", tt.remote, tt.host, cache)
		}
	}
	for _, target := range []string{"/", "/console", "/docs", "/link"} {
		if strings.Contains(ask(w, "GET", target).Body.String(), exampleDemo.APIKey) {
			t.Errorf("%s has the key", target)
		}
	}
	if strings.Contains(ask(newWeb(t, Config{}), "GET", "/signin").Body.String(), "opk_") {
		t.Error("without a demo the page has a key")
	}
}

func TestTextIsEscaped(t *testing.T) {
	demo := *exampleDemo
	demo.Plants = []string{`<script>alert(1)</script>`, `"><img src=x>`}
	got := ask(newWeb(t, Config{Demo: &demo, Version: "<b>1</b>"}), "GET", "/signin").Body.String()
	for _, raw := range []string{"<script>alert", "<img src=x", "<b>1"} {
		if strings.Contains(got, raw) {
			t.Errorf("the page has %s in it", raw)
		}
	}
}

// The policy forbids inline scripts and styles; this test finds the page that has them.
func TestPagesHaveNoInlineScriptOrStyle(t *testing.T) {
	w := newWeb(t, Config{Demo: exampleDemo})
	static := regexp.MustCompile(`^/assets/` + w.site.hash + `/(.+)$`)
	served := embeddedFiles(t)
	for _, target := range []string{"/signin", "/welcome", "/console", "/floor", "/tablet", "/docs", "/help", "/help/tablet", "/link"} {
		doc, err := html.Parse(bytes.NewReader(ask(w, "GET", target).Body.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for n := range doc.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			data := slices.Contains(n.Attr, html.Attribute{Key: "type", Val: "application/json"}) // which is never run
			if (n.Data == "script" && !data || n.Data == "style") && n.FirstChild != nil {
				t.Errorf("%s has an inline %s", target, n.Data)
			}
			for _, a := range n.Attr {
				switch {
				case a.Key == "style", strings.HasPrefix(a.Key, "on"):
					t.Errorf("%s: <%s %s=%q>", target, n.Data, a.Key, a.Val)
				case a.Key == "id":
					ids = append(ids, a.Val)
				case (a.Key == "src" || a.Key == "href") && (n.Data != "a") && fixed[a.Val] == "":
					if m := static.FindStringSubmatch(a.Val); m == nil || !slices.Contains(served, m[1]) && w.site.static[m[1]] == nil { // a vendored one
						t.Errorf("%s: <%s %s=%q> is no file of ours", target, n.Data, a.Key, a.Val)
					}
				}
			}
		}
		slices.Sort(ids)
		if unique := slices.Compact(slices.Clone(ids)); len(unique) != len(ids) {
			t.Errorf("%s has an id twice: %v", target, ids)
		}
	}
}

// Scripts import each other by relative paths, and never insert text as markup.
func TestScriptsImportFilesThatAreThere(t *testing.T) {
	imports := regexp.MustCompile(`(?m)^import .* from "([^"]+)";$`)
	served := embeddedFiles(t)
	vendored := newWeb(t, Config{}).vendored
	for _, name := range served {
		if path.Ext(name) != ".js" {
			continue
		}
		text, err := fs.ReadFile(assets.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range imports.FindAllSubmatch(text, -1) {
			if at := path.Join(path.Dir(name), string(m[1])); !slices.Contains(served, at) && vendored[at] == nil {
				t.Errorf("%s imports %s, which is not there", name, at)
			}
		}
		for _, forbidden := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "http://", "https://"} {
			if bytes.Contains(text, []byte(forbidden)) {
				t.Errorf("%s uses %s", name, forbidden)
			}
		}
	}
}

func TestADevelopmentDirectoryIsReadEachTime(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, assets.FS); err != nil {
		t.Fatal(err)
	}
	w := newWeb(t, Config{Dir: dir, Demo: exampleDemo})
	css := filepath.Join(dir, "shared", "app.css")
	for _, content := range []string{"a{}", "b{}"} {
		if err := os.WriteFile(css, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		got := ask(w, "GET", "/assets/dev/shared/app.css", "Accept-Encoding", "gzip")
		if diff := cmp.Diff([]string{content, "no-store", ""}, []string{got.Body.String(), got.Header().Get("Cache-Control"), got.Header().Get("Content-Encoding")}); diff != "" {
			t.Error(diff)
		}
	}
	for _, target := range []string{"/signin", "/docs"} {
		if got := ask(w, "GET", target); got.Header().Get("Cache-Control") != "no-store" || !strings.Contains(got.Body.String(), "/assets/dev/shared/app.css") {
			t.Errorf("%s: %v", target, got.Header())
		}
	}
	page := filepath.Join(dir, "docs", "index.html")
	if err := os.WriteFile(page, []byte("{{.Missing}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := ask(w, "GET", "/docs"); got.Code != http.StatusInternalServerError || !strings.Contains(got.Body.String(), "index.html") {
		t.Errorf("a broken template: %d %s", got.Code, got.Body)
	}
	if _, err := New(Config{Dir: filepath.Join(dir, "none")}); err == nil {
		t.Error("a folder that is not there is no error")
	}
	if _, err := New(Config{Dir: t.TempDir()}); err == nil {
		t.Error("an empty folder is no error")
	}
}

func BenchmarkPage(b *testing.B) {
	w, err := New(Config{})
	if err != nil {
		b.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "/docs", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	b.ReportAllocs()
	for b.Loop() {
		w.ServeHTTP(httptest.NewRecorder(), r)
	}
}
