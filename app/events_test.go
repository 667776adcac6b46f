package app

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"opsmon/app/account"
	"opsmon/app/auth"
	"opsmon/app/deliver/event"
	"opsmon/app/test/apptest"
)

// TestEventStream: a stream of events outlives the time that a request and an answer may take, and holds up neither a
// replacement of the store nor the end of the service.
func TestEventStream(t *testing.T) {
	for _, how := range []string{"plain", "TLS", "HTTP/2"} {
		t.Run(how, func(t *testing.T) {
			cfg, transport := testConfig(t), &http.Transport{}
			if how != "plain" {
				cert, key, pool := apptest.Certificate(t)
				cfg.TLS = cert + "," + key
				transport.TLSClientConfig, transport.ForceAttemptHTTP2 = &tls.Config{RootCAs: pool}, how == "HTTP/2"
			}
			defer transport.CloseIdleConnections()
			r := serve(t, cfg, func(h *Host) { h.limits.body, h.limits.answer = 300*time.Millisecond, 300*time.Millisecond })
			follow := func() (string, *bufio.Reader) {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/events", nil)
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("X-API-KEY", r.key)
				resp, err := transport.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { resp.Body.Close() })
				if resp.StatusCode != http.StatusOK || (how == "HTTP/2") != (resp.ProtoMajor == 2) {
					t.Fatalf("%s %s", resp.Proto, resp.Status)
				}
				in := bufio.NewReader(resp.Body)
				return block(t, in), in
			}
			first, in := follow()
			time.Sleep(time.Second)
			r.App.services.Events.Publish("northgate", event.Event{Type: event.Task, Data: json.RawMessage(`{"n":1}`)})
			if got := block(t, in); !strings.HasSuffix(got, "\nevent: task\ndata: {\"n\":1}\n") {
				t.Errorf("after a second came %q", got)
			}

			began := time.Now()
			if err := r.host.Replace(t.Context(), "a test goes on", func() (func() error, error) { return nil, nil }); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("the replacement took %v", took)
			}
			if _, err := in.ReadString('\n'); err == nil {
				t.Error("the stream goes on with a store that is no more")
			}

			second, in := follow()
			var before, after uint64
			for text, into := range map[string]*uint64{first: &before, second: &after} {
				if _, err := fmt.Sscanf(text, "retry: 3000\nid: %d\n", into); err != nil {
					t.Fatalf("%q: %v", text, err)
				}
			}
			if after <= before+1 {
				t.Errorf("ids began at %d, and after the replacement at %d: who comes back is not found to have missed something", before, after)
			}
			began = time.Now()
			if err := r.stop(); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("the end of the service took %v", took)
			}
			if _, err := in.ReadString('\n'); err == nil {
				t.Error("the stream goes on")
			}
		})
	}
}

// block reads what stands before the next empty line of a stream.
func block(t *testing.T, in *bufio.Reader) string {
	t.Helper()
	var b strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream ended: %v", err)
		}
		if line == "\n" {
			return b.String()
		}
		b.WriteString(line)
	}
}

// TestEventsOfTheConfiguration: whoever watches is told that somebody made a new revision, and nothing of what makes
// none.
func TestEventsOfTheConfiguration(t *testing.T) {
	r := serve(t, testConfig(t))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/events?types=account&stationcodes=STATION-1", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-KEY", r.key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	in := bufio.NewReader(resp.Body)
	block(t, in) // how to come back
	for _, archived := range []bool{true, false} {
		if _, err := r.services.Accounts.SetArchived(auth.Local("northgate"), archived); err != nil {
			t.Fatal(err)
		}
	}
	if status := r.request(t, "POST", "/account", r.key, `{"currency":"EUR"}`); status != 200 {
		t.Fatal(status)
	}
	var told account.RevisionInfo
	_, data, _ := strings.Cut(block(t, in), "\nevent: account\ndata: ")
	if err := json.Unmarshal([]byte(data), &told); err != nil || told.Revision != 2 || told.Author != "it@northgate.example" || told.CreatedAt == "" {
		t.Errorf("told %q, %v", data, err)
	}
}
