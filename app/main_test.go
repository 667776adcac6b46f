package app

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"opsmon/app/auth"
	"opsmon/app/httpapi"
)

// TestMain: no test of this room leaves a goroutine behind.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(status int) {
		os.RemoveAll(binaryDir)
		os.Exit(status)
	}))
}

// running is an App whose servers run.
type running struct {
	*App
	url  string
	key  string // of the administrator
	stop func() error
}

func testConfig(t *testing.T) Config {
	cfg := DefaultConfig()
	cfg.DataDir, cfg.Listen = t.TempDir(), "127.0.0.1:0"
	return cfg
}

// open opens an App with one account.
func open(t *testing.T, cfg Config) (*App, string) {
	t.Helper()
	a, err := Open(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if len(a.accounts.List(true)) > 0 {
		return a, ""
	}
	made, err := a.bootstrap(httpapi.BootstrapInput{Domain: "northgate.example", Email: "it@northgate.example", First: true, By: auth.Local("")})
	if err != nil {
		t.Fatal(err)
	}
	return a, made.APIKey
}

// run runs an App until the test ends or stop is called.
func run(t *testing.T, a *App, key string) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{App: a, key: key}
	started, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- a.Run(ctx, func(url string) { started <- url }) }()
	select {
	case r.url = <-started:
	case err := <-ended:
		cancel()
		a.Close()
		t.Fatal(err)
	}
	stopped := false
	r.stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		err := <-ended
		if e := a.Close(); err == nil {
			err = e
		}
		return err
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func serve(t *testing.T, cfg Config) *running {
	t.Helper()
	a, key := open(t, cfg)
	return run(t, a, key)
}

// request makes a request and gives the status and the start of the body.
func (r *running) request(t *testing.T, method, path, key, body string) int {
	t.Helper()
	req, err := http.NewRequest(method, r.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-KEY", key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// eventually waits for something that another goroutine does.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not come", what)
		}
	}
}
