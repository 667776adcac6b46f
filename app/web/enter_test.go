package web

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Only this computer may enter the demo, from the page itself.
func TestOnlyThisMachineEntersTheDemo(t *testing.T) {
	made := 0
	demo := *exampleDemo
	demo.Enter = func() (string, error) { made++; return "opl_fresh", nil }
	w := newWeb(t, Config{Demo: &demo})
	const here, name = "127.0.0.1:50000", "127.0.0.1:8080"
	for _, tt := range []struct {
		why, method, remote, host string
		header                    map[string]string
		want                      int
	}{
		{"the page itself", "POST", here, name, map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1:8080"}, 200},
		{"an old browser", "POST", "[::1]:50000", "localhost:8080", map[string]string{"Origin": "http://localhost:8080"}, 200},
		{"the network", "POST", "192.0.2.7:50000", name, nil, 404},
		{"a name that was made to point here", "POST", here, "evil.example:8080", map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "http://evil.example:8080"}, 404},
		{"a page of another site", "POST", here, name, map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}, 403},
		{"a page of another site that says it is this one", "POST", here, name, map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "https://evil.example"}, 403},
		{"a page of another port", "POST", here, name, map[string]string{"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:9999"}, 403},
		{"a page without an origin", "POST", here, name, map[string]string{"Origin": "null"}, 403},
		{"a link", "GET", here, name, nil, 405},
		{"a look", "HEAD", here, name, nil, 405},
	} {
		before := made
		r := httptest.NewRequest(tt.method, "/signin/enter", nil)
		r.RemoteAddr, r.Host = tt.remote, tt.host
		for k, v := range tt.header {
			r.Header.Set(k, v)
		}
		got := httptest.NewRecorder()
		w.ServeHTTP(got, r)
		if got.Code != tt.want || got.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d, Cache-Control %q, want %d: %s", tt.why, got.Code, got.Header().Get("Cache-Control"), tt.want, got.Body)
		}
		if told := strings.Contains(got.Body.String(), "opl_fresh"); told != (tt.want == 200) || (made > before) != told {
			t.Errorf("%s: the answer is %s, and %d tokens were made", tt.why, got.Body, made-before)
		}
	}
	demo.Enter = func() (string, error) { return "", errors.New("the service is starting") }
	r := httptest.NewRequest(http.MethodPost, "/signin/enter", nil)
	r.RemoteAddr, r.Host = here, name
	got := httptest.NewRecorder()
	newWeb(t, Config{Demo: &demo}).ServeHTTP(got, r)
	if got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" || got.Header().Get("X-Time") == "" || !strings.Contains(got.Body.String(), "the service is starting") {
		t.Errorf("while it starts: %d %v %s", got.Code, got.Header(), got.Body)
	}
	if newWeb(t, Config{}).Handles(httptest.NewRequest("GET", "/signin/enter", nil)) {
		t.Error("a plant's service has a way in that is the demo's")
	}
}
