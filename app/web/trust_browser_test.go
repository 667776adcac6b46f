//go:build rig

package web_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"opsmon/app/host/certs"
	"opsmon/app/test/browser/webtest"
	"opsmon/app/web"
)

// appliance is a service with a certificate of its own authority, on two loopback ports.
type appliance struct {
	auto          *certs.Auto
	clear, secure string // addresses with the name opsmon.local
}

func startAppliance(t *testing.T, dir string) *appliance {
	t.Helper()
	auto, err := certs.Open(certs.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(auto.Close)
	listen := func() (net.Listener, int) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return l, l.Addr().(*net.TCPAddr).Port
	}
	open, clearPort := listen()
	closed, port := listen()
	ca := auto.CA()
	pages := newPages(t, web.Config{Version: "1.2.3", Secure: true})
	trust, err := web.NewTrust(web.TrustConfig{
		Web: pages, CA: &web.CA{Name: ca.Name(), Fingerprint: ca.Fingerprint(), DER: ca.DER(), PEM: ca.PEM(), Profile: ca.Profile()},
		Port: func() int { return port }, ClearPort: func() int { return clearPort },
		Hosts: func() []string { return []string{"192.168.7.20", "opsmon.local"} },
	})
	if err != nil {
		t.Fatal(err)
	}
	secure := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case trust.Handles(r.URL.Path):
			trust.ServeHTTP(w, r)
		case pages.Handles(r):
			pages.ServeHTTP(w, r)
		default: // the API
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"isSuccess":true}`))
		}
	})
	for _, s := range []struct {
		l net.Listener
		h http.Handler
	}{{open, trust.Clear()}, {tls.NewListener(closed, auto.TLS()), secure}} {
		server := &http.Server{Handler: s.h, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)}
		done := make(chan error, 1)
		go func() { done <- server.Serve(s.l) }()
		t.Cleanup(func() {
			server.Close()
			if err := <-done; !errors.Is(err, http.ErrServerClosed) {
				t.Error(err)
			}
		})
	}
	return &appliance{auto: auto, clear: fmt.Sprintf("http://opsmon.local:%d", clearPort), secure: fmt.Sprintf("https://opsmon.local:%d", port)}
}

// startDevice starts a browser as on another device: it does not treat opsmon.local specially. home has its trusted
// authorities.
func startDevice(t *testing.T, home string) *webtest.Browser {
	t.Helper()
	return webtest.NewBrowser(t, chromedp.Flag("host-resolver-rules", "MAP opsmon.local 127.0.0.1"),
		chromedp.Env("HOME="+home, "XDG_DATA_HOME="+filepath.Join(home, ".local", "share")))
}

func TestTrustPageInABrowser(t *testing.T) {
	device := startDevice(t, t.TempDir())
	at := startAppliance(t, t.TempDir())
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{360, 800, 1280, 1920} {
			p := device.Open(t, at.clear, webtest.Viewport{Width: width, Height: 1000})
			p.Media("prefers-color-scheme", scheme)
			p.Visit("/trust")
			p.Until(`[...document.images].every((i) => i.complete && i.naturalWidth > 0) && document.images.length === 3`)
			if over := webtest.Eval[float64](p, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
				t.Errorf("it is %v px too wide at %d", over, width)
			}
			for _, weak := range webtest.Eval[[]string](p, contrast) {
				t.Errorf("%s: %s", scheme, weak)
			}
			if small := webtest.Eval[[]string](p, `[...document.querySelectorAll(".button, .jump a, .codes a, .addresses a")].filter((e) => e.getBoundingClientRect().height < 48).map((e) => e.outerHTML)`); len(small) > 0 {
				t.Errorf("too small for a finger: %v", small)
			}
			if got := strings.ReplaceAll(p.Text("#fingerprint"), " ", ":"); got != at.auto.Fingerprint() {
				t.Errorf("the fingerprint is %s, want %s", got, at.auto.Fingerprint())
			}
			p.Shot(fmt.Sprintf("trust-%s-%d", scheme, width))
			p.Clean()
		}
	}
}

// A person's steps: the page over HTTP, the certificate from it, and then HTTPS without a warning.
func TestADeviceComesToTrustTheAppliance(t *testing.T) {
	tool, err := exec.LookPath("certutil")
	if err != nil {
		t.Skip("certutil (libnss3-tools) is not installed: no browser can be made to trust an authority")
	}
	at := startAppliance(t, t.TempDir())

	stranger := startDevice(t, t.TempDir())
	p := stranger.Open(t, at.clear, webtest.Viewport{Width: 800, Height: 1000})
	if err := chromedp.Do(p.Context(), chromedp.Navigate(at.clear+"/")); err == nil || !strings.Contains(err.Error(), "ERR_CERT_AUTHORITY_INVALID") {
		t.Errorf("a device that does not trust the appliance: %v", err)
	}

	// The downloads of the page over HTTP, as the browser gets them.
	p = stranger.Open(t, at.clear, webtest.Viewport{Width: 800, Height: 1000})
	p.Visit("/trust")
	pem := webtest.Eval[string](p, `fetch("/trust/ca.pem").then((a) => a.text())`)
	if diff := cmp.Diff(string(at.auto.CA().PEM()), pem); diff != "" {
		t.Fatal(diff)
	}
	home := t.TempDir()
	file := filepath.Join(home, "ca.pem")
	if err := os.WriteFile(file, []byte(pem), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{filepath.Join(home, ".pki", "nssdb"), filepath.Join(home, ".local", "share", "pki", "nssdb")} {
		if err := os.MkdirAll(place, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, arguments := range [][]string{{"-N", "--empty-password"}, {"-A", "-t", "C,,", "-n", "opsmon", "-i", file}} {
			if out, err := exec.Command(tool, append([]string{"-d", "sql:" + place}, arguments...)...).CombinedOutput(); err != nil {
				t.Fatalf("certutil: %v %s", err, out)
			}
		}
	}
	device := startDevice(t, home)
	p = device.Open(t, at.secure, webtest.Viewport{Width: 800, Height: 1000})
	if err := chromedp.Do(p.Context(), chromedp.Navigate(at.clear+"/link")); err != nil { // it is redirected
		t.Fatal(err)
	}
	p.Until(`document.getElementById("message").textContent.includes("There is no link here")`)
	if got := webtest.Eval[string](p, "location.href"); got != at.secure+"/link" {
		t.Errorf("it is led to %s", got)
	}
	if got := webtest.Eval[string](p, `performance.getEntriesByType("navigation")[0].nextHopProtocol`); got != "h2" {
		t.Errorf("the page came over %s", got)
	}
	if !webtest.Eval[bool](p, "isSecureContext") {
		t.Error("the browser does not hold it to be secure")
	}
	p.Visit("/trust")
	p.Until(`document.querySelector(".notice.ok a")`)
	p.Shot("trust-https")
}
