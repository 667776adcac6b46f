package web

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// The console's page names every module that it starts with, each once and each existing.
func TestPreloads(t *testing.T) {
	w := newWeb(t, Config{Version: "1"})
	page := httptest.NewRecorder()
	w.ServeHTTP(page, httptest.NewRequest("GET", "/console", nil))
	var modules []string
	for _, rest := range strings.Split(page.Body.String(), `<link rel="modulepreload" href="`)[1:] {
		address, _, _ := strings.Cut(rest, `"`)
		modules = append(modules, address)
		got := httptest.NewRecorder()
		w.ServeHTTP(got, httptest.NewRequest("GET", address, nil))
		if got.Code != 200 || !strings.HasPrefix(got.Header().Get("Content-Type"), "text/javascript") {
			t.Errorf("%s: %d %s", address, got.Code, got.Header().Get("Content-Type"))
		}
	}
	all := strings.Join(modules, "\n")
	for _, want := range []string{"/vendor/lit-html/lit-html.js", "/shared/api.js", "/shared/document.js", "/console/pages.js", "/shared/words.js"} {
		if strings.Count(all, want) != 1 {
			t.Errorf("%s stands there %d times:\n%s", want, strings.Count(all, want), all)
		}
	}
	if strings.Contains(all, "/console/pages/") {
		t.Errorf("pages are loaded when they are shown:\n%s", all)
	}
}
