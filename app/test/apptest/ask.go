package apptest

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"
)

// Eventually waits until holds returns true because of another goroutine or program. It fails after a minute, which is
// enough for a slow machine.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not come", what)
		}
	}
}

// Get returns the status, the error message and the headers of an answer.
func Get(t testing.TB, client *http.Client, url, key string) (int, string, http.Header) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-KEY", key)
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var body struct {
		ErrorMessage string `json:"errorMessage"`
	}
	if b, err := io.ReadAll(resp.Body); err != nil {
		t.Fatal(err)
	} else {
		_ = json.Unmarshal(b, &body)
	}
	return resp.StatusCode, body.ErrorMessage, resp.Header
}

// Browser returns a client that trusts an authority, or without one any certificate, and follows no redirects.
func Browser(t testing.TB, pem string) *http.Client {
	t.Helper()
	cfg := &tls.Config{InsecureSkipVerify: pem == ""}
	if pem != "" {
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM([]byte(pem)) {
			t.Fatalf("no certificate in %q", pem)
		}
	}
	transport := &http.Transport{TLSClientConfig: cfg, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Fetch requests a URL and returns the answer and its body.
func Fetch(t testing.TB, c *http.Client, url string) (*http.Response, string) {
	t.Helper()
	resp, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}
