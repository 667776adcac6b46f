package app

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"opsmon/app/host/certs"
	"opsmon/app/host/config"
	"opsmon/app/test/apptest"
)

// TestOwnAuthority: a service with tls: auto shows the trust page on both ports, redirects all else to HTTPS, answers
// devices that trust it, and tells its state; also where the store is damaged. Its authority outlives restarts.
func TestOwnAuthority(t *testing.T) {
	cfg := testConfig(t)
	cfg.TLS, cfg.ClearListen = "auto", "127.0.0.1:0"
	r := serve(t, cfg)
	st := status(t, cfg.DataDir)
	c := st.Certificate
	if c == nil || c.Authority == nil || len(c.Problems) > 0 || !slices.Contains(c.Hosts, "127.0.0.1") || !slices.Contains(c.Hosts, "opsmon.local") {
		t.Fatalf("certificate: %+v", c)
	}
	page := c.Authority.Pages[0]
	open := strings.TrimSuffix(page, "/trust")
	trusting := apptest.Browser(t, c.Authority.PEM)
	for resp, _ := apptest.Fetch(t, trusting, r.url+"/ready"); resp.StatusCode == http.StatusServiceUnavailable; resp, _ = apptest.Fetch(t, trusting, r.url+"/ready") {
		time.Sleep(10 * time.Millisecond) // until the stations were read
	}
	if resp, _ := apptest.Fetch(t, trusting, r.url+"/ready"); resp.StatusCode != http.StatusOK || resp.ProtoMajor != 2 || resp.Header.Get("Strict-Transport-Security") != "" {
		t.Errorf("%s %s %v", resp.Proto, resp.Status, resp.Header)
	}
	for _, at := range []string{page, r.url + "/trust"} {
		resp, body := apptest.Fetch(t, trusting, at)
		if resp.StatusCode != http.StatusOK || !strings.Contains(body, c.Fingerprint[:11]) || !strings.Contains(body, open+"/trust") || !strings.Contains(body, r.url+"/trust") {
			t.Errorf("%s: %s %.300s", at, resp.Status, body)
		}
		if _, body := apptest.Fetch(t, trusting, at+"/ca.pem"); body != c.Authority.PEM {
			t.Errorf("%s/ca.pem: %s", at, body)
		}
	}
	if resp, _ := apptest.Fetch(t, trusting, open+"/docs?a=b"); resp.StatusCode != http.StatusTemporaryRedirect || resp.Header.Get("Location") != r.url+"/docs?a=b" {
		t.Errorf("in the clear: %s to %s", resp.Status, resp.Header.Get("Location"))
	}
	for _, path := range []string{"/metrics", "/ready"} {
		req, err := http.NewRequest(http.MethodGet, r.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-API-KEY", r.key)
		resp, err := trusting.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		for _, want := range map[string][]string{
			"/metrics": {"app_certificate_remaining_seconds 3.4", "app_certificate_problems 0", "app_certificate_authority_remaining_seconds 3.1"},
			"/ready":   {`"endsAt":"` + c.EndsAt, c.Fingerprint, `"problems":[]`},
		}[path] {
			if !strings.Contains(string(body), want) {
				t.Errorf("%s does not have %s: %s", path, want, body)
			}
		}
		req.URL.Scheme, req.URL.Host = "http", strings.TrimPrefix(open, "http://")
		if resp, err := trusting.Do(req); err != nil || resp.StatusCode != http.StatusForbidden {
			t.Errorf("a key in the clear: %v, %v", resp, err)
		} else {
			resp.Body.Close()
		}
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(cfg.DataDir, StoreFile), 5000); err != nil {
		t.Fatal(err)
	}
	h, err := NewHost(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	damaged := run(t, h, "")
	for path, want := range map[string]int{"/trust": 200, "/health": 200, "/ready": 503} {
		if resp, body := apptest.Fetch(t, trusting, damaged.url+path); resp.StatusCode != want {
			t.Errorf("with a damaged store, %s: %s %.200s", path, resp.Status, body)
		}
	}
	if again := status(t, cfg.DataDir).Certificate; again == nil || again.Fingerprint != c.Fingerprint {
		t.Errorf("after a restart the certificate is %+v, want the fingerprint %s", again, c.Fingerprint)
	}
}

// TestOwnCertificate: with a certificate of the plant's there is no trust page, and browsers are to stay with HTTPS.
func TestOwnCertificate(t *testing.T) {
	cert, key, _ := apptest.Certificate(t)
	cfg := testConfig(t)
	cfg.TLS, cfg.ClearListen = cert+","+key, "127.0.0.1:0"
	r := serve(t, cfg)
	any := apptest.Browser(t, "")
	if resp, _ := apptest.Fetch(t, any, r.url+"/health"); resp.Header.Get("Strict-Transport-Security") == "" {
		t.Errorf("no HSTS: %v", resp.Header)
	}
	if resp, _ := apptest.Fetch(t, any, r.url+"/trust"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("/trust: %s", resp.Status)
	}
	clear := fmt.Sprintf("http://127.0.0.1:%d/trust", portOf(r.host.secure.clear))
	if resp, _ := apptest.Fetch(t, any, clear); resp.StatusCode != http.StatusTemporaryRedirect {
		t.Errorf("/trust in the clear: %s", resp.Status)
	}
	if c := status(t, cfg.DataDir).Certificate; c == nil || c.Authority != nil || c.Fingerprint == "" || len(c.Problems) == 0 { // it ends within the hour
		t.Errorf("certificate: %+v", c)
	}
	if _, err := os.Stat(filepath.Join(cfg.DataDir, CertificateDir)); !os.IsNotExist(err) {
		t.Errorf("an authority was made that nobody asked for: %v", err)
	}
}

// TestNewCertificateFiles: a running service takes the files that are put in place of its certificate's.
func TestNewCertificateFiles(t *testing.T) {
	cert, key, _ := apptest.Certificate(t)
	cfg := testConfig(t)
	cfg.TLS = cert + "," + key
	serve(t, cfg)
	before := status(t, cfg.DataDir).Certificate.Fingerprint
	newCert, newKey, _ := apptest.Certificate(t)
	for from, to := range map[string]string{newKey: key, newCert: cert} {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	apptest.Eventually(t, "the new certificate", func() bool { return status(t, cfg.DataDir).Certificate.Fingerprint != before })
}

// TestWhoAnswersToTheName: nobody for a service on loopback alone, where that is turned off, and where the name is the
// machine's own.
func TestWhoAnswersToTheName(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	label, _, _ := strings.Cut(strings.ToLower(host), ".")
	for name, cfg := range map[string]config.Settings{
		"loopback": {Listen: "127.0.0.1:8443", Name: "opsmon", MDNS: true}, "turned off": {Listen: ":8443", Name: "opsmon"},
		"the machine's own": {Listen: ":8443", Name: label, MDNS: true},
	} {
		h := &Host{cfg: cfg, log: slog.New(slog.DiscardHandler)}
		if h.answerToName(); h.secure.names != nil {
			h.secure.names.Close()
			t.Errorf("%s: the service answers", name)
		}
	}
}

// TestDamagedAuthority: what is wrong with the authority's files ends the start with what to do, and leaves nothing
// listening.
func TestDamagedAuthority(t *testing.T) {
	cfg := testConfig(t)
	cfg.TLS = "auto"
	dir := filepath.Join(cfg.DataDir, CertificateDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, certs.CAFile), []byte("rubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := NewHost(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "from a backup, or delete both") {
		t.Errorf("it says %v", err)
	}
}

// TestMovedAuthority: devices that trust a machine trust the one that its encrypted backup is restored to, which had an
// authority and a certificate of its own before; the certificate there is a new one of the authority that moved.
func TestMovedAuthority(t *testing.T) {
	apptest.Long(t)
	old, next := testConfig(t), testConfig(t)
	old.TLS, next.TLS = "auto", "auto"
	from := serve(t, old)
	c := status(t, old.DataDir).Certificate
	trusting := apptest.Browser(t, c.Authority.PEM)
	path := backedUp(t, from.host.app.Load(), "correct horse")
	if err := from.stop(); err != nil {
		t.Fatal(err)
	}
	there := serve(t, next)
	own := status(t, next.DataDir).Certificate
	if err := there.stop(); err != nil {
		t.Fatal(err)
	}
	if own.Fingerprint == c.Fingerprint {
		t.Fatal("the two machines had one authority")
	}
	for _, dir := range []string{old.DataDir, next.DataDir} {
		if _, err := os.Stat(filepath.Join(dir, CertificateDir, certs.ServerFile)); err != nil {
			t.Error(err)
		}
	}
	before := apptest.ReadIn(t, next.DataDir, CertificateDir+"/"+certs.ServerFile)
	got, err := Restore(t.Context(), next, RestoreInput{Path: path, Name: "x", Passphrase: "correct horse"})
	if err != nil || !got.CertificatesChanged {
		t.Fatalf("%+v, %v", got, err)
	}
	h, err := NewHost(next, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	moved := run(t, h, "")
	apptest.Eventually(t, "a device that trusts the old machine is served", func() bool {
		resp, _ := apptest.Fetch(t, trusting, moved.url+"/ready")
		return resp.StatusCode == http.StatusOK
	})
	after := apptest.ReadIn(t, next.DataDir, CertificateDir+"/"+certs.ServerFile)
	if after == before || after == apptest.ReadIn(t, old.DataDir, CertificateDir+"/"+certs.ServerFile) {
		t.Error("the certificate is the one of another authority, or of the other machine")
	}
}

// TestSameCertificateAfterRestart: with tls: auto a start goes on with the certificate of the last one.
func TestSameCertificateAfterRestart(t *testing.T) {
	cfg := testConfig(t)
	cfg.TLS = "auto"
	serial := func(r *running) string {
		t.Helper()
		resp, _ := apptest.Fetch(t, apptest.Browser(t, status(t, cfg.DataDir).Certificate.Authority.PEM), r.url+"/health")
		return resp.TLS.PeerCertificates[0].SerialNumber.String()
	}
	first := serve(t, cfg)
	before := serial(first)
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}
	h, err := NewHost(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if after := serial(run(t, h, "")); after != before {
		t.Errorf("the certificate is %s, and was %s", after, before)
	}
}
