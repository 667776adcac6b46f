package app

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"opsmon/app/host/config"
)

// TestHostNames: the service is asked for by its names and addresses, and by nothing else.
func TestHostNames(t *testing.T) {
	cfg := config.Defaults()
	cfg.Name, cfg.URL, cfg.HostNames = "opsmon", "https://ops.plant.example:8443/", "mes.example, *.sub.example,192.0.2.7"
	h := newHostNames(cfg, func() []string { return []string{"cert.example", "*.Wild.example"} })
	h.machine = func() ([]string, []netip.Addr) {
		return []string{"opsmon.local", "opsmon", "pc-7"}, []netip.Addr{netip.MustParseAddr("10.1.2.3"), netip.MustParseAddr("2001:db8::5")}
	}
	ask := func(host string) bool {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = host
		return h.has(r.WithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.ParseIP("10.9.9.9"), Port: 8443}))))
	}
	for _, host := range []string{
		"", "localhost", "LOCALHOST:8080", "x.localhost", "127.0.0.1:1", "127.9.9.9", "[::1]:8080", "ops.plant.example", "ops.plant.example:8443", "OPS.plant.example.", "mes.example", "a.sub.example",
		"192.0.2.7:8443", "cert.example", "a.wild.example", "opsmon.local", "Opsmon", "pc-7", "10.1.2.3", "[2001:db8::5]:8443", "10.9.9.9:8443", "[::ffff:10.9.9.9]",
	} {
		if !ask(host) {
			t.Errorf("%q is refused", host)
		}
	}
	for _, host := range []string{
		"evil.example", "evil.example:8443", "opsmon.local.evil.example", "sub.example", "a.b.sub.example", "wild.example", "10.1.2.4", "192.0.2.8", "127.0.0.1.evil.example", "x", "localhost.evil.example", "*.sub.example", "[fe80::1]",
	} {
		if ask(host) && host != "*.sub.example" {
			t.Errorf("%q is taken", host)
		}
	}

	// Addresses that the machine gets later are its own within a moment, and it is not looked at all the time.
	looks := 0
	h.machine = func() ([]string, []netip.Addr) {
		looks++
		return nil, []netip.Addr{netip.MustParseAddr("10.1.2.4")}
	}
	h.at = time.Now()
	if ask("10.1.2.4") || looks != 0 {
		t.Error("the machine is looked at for each request")
	}
	h.at = time.Now().Add(-2 * lookAgain)
	if !ask("10.1.2.4") || ask("10.1.2.3") || looks != 1 {
		t.Errorf("a new address is not known, or an old one still: %d looks", looks)
	}
}

// TestRebinding: a browser that was led here under another name gets nothing but that the service lives.
func TestRebinding(t *testing.T) {
	cfg := testConfig(t)
	r := serve(t, cfg)
	get := func(path, host string) (int, string) {
		t.Helper()
		req, err := http.NewRequest(http.MethodGet, r.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		req.Header.Set("X-API-KEY", r.key)
		a, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		b, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		return a.StatusCode, string(b)
	}
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", "/signin", "/ready", "/account", "/openapi.json", "/nothing", "/assets/shared/icon.svg"} {
		status, body := get(path, "evil.example:8080")
		if status != http.StatusMisdirectedRequest || !strings.Contains(body, `"errorCode":"misdirectedRequest"`) || !strings.Contains(body, "evil.example") {
			t.Errorf("%s of another host: %d %s", path, status, body)
		}
		for _, host := range []string{"", "localhost", own, cfg.Name + ".local"} {
			if status, body := get(path, host); status == http.StatusMisdirectedRequest {
				t.Errorf("%s of %q: %s", path, host, body)
			}
		}
	}
	if status, _ := get("/health", "lb.example"); status != http.StatusOK {
		t.Errorf("/health of another host: %d", status)
	}
}
