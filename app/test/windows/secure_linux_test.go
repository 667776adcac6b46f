//go:build rig

package windows_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"opsmon/app/test/apptest"
)

// serve starts the service with its own certificates and returns its address.
func (m *windowsMachine) serve(ctx context.Context) (service *exec.Cmd, url string, err error) {
	service = m.command(ctx, "serve", "--listen", "127.0.0.1:0", "--tls", "auto", "--clear-listen", "127.0.0.1:0")
	var stderr bytes.Buffer
	service.Stderr, service.WaitDelay = &stderr, time.Second
	stdout, err := service.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := service.Start(); err != nil {
		return nil, "", err
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return nil, "", fmt.Errorf("serve said %q: %w, %w, %s", line, err, service.Wait(), &stderr)
	}
	return service, strings.TrimPrefix(strings.TrimSpace(line), "Serving on "), nil
}

// ownAuthority runs the Windows program with its own certificates: it creates the authority, answers a device that
// trusts it, prints the fingerprint, and its doctor runs far enough to report findings.
func (m *windowsMachine) ownAuthority(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	// The client that Wine lost before may keep the name of the service's pipe open for a moment.
	service, url, err := m.serve(ctx)
	for range 3 {
		if err == nil {
			break
		}
		t.Logf("once more: %v", err)
		time.Sleep(time.Second)
		service, url, err = m.serve(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	first, cancelFirst := context.WithTimeout(t.Context(), 3*time.Second) // lost by Wine; see TestWindows
	lost := m.command(first, "account", "list")
	lost.WaitDelay = time.Second
	_ = lost.Run()
	cancelFirst()

	var trust struct {
		Fingerprint string `json:"fingerprint"`
		Authority   struct {
			PEM   string   `json:"pem"`
			Pages []string `json:"pages"`
		} `json:"authority"`
	}
	out := m.app(t, 0, "trust", "--json")
	if err := json.Unmarshal([]byte(out), &trust); err != nil || len(trust.Authority.Pages) == 0 {
		t.Fatalf("trust: %v %s", err, out)
	}
	device := apptest.Browser(t, trust.Authority.PEM)
	for _, at := range []string{url + "/ready", trust.Authority.Pages[0]} {
		if resp, body := apptest.Fetch(t, device, at); resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s %.200s", at, resp.Status, body)
		}
	}
	var found []struct {
		Check, Problem string
		OK             bool
	}
	out = m.app(t, 1, "doctor", "--json") // not installed
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		t.Fatalf("doctor: %v %s", err, out)
	}
	for _, f := range found {
		switch f.Check {
		case "service":
			if f.OK || !strings.Contains(f.Problem, "in the foreground alone") {
				t.Errorf("doctor: %+v", f)
			}
		case "settings", "port", "certificate": // Wine derives permissions from the modes of the files
			if !f.OK {
				t.Errorf("doctor: %+v", f)
			}
		}
	}
	if err := service.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := service.Wait(); err != nil {
		t.Errorf("the service ended with %v", err)
	}
	out = m.app(t, 0, "trust")
	if !strings.Contains(out, trust.Fingerprint[:11]) { // app.yaml has no TLS settings, and the authority exists
		t.Errorf("trust after the end: %s", out)
	}
}
