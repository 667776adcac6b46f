package app

import (
	"context"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"opsmon/app/auth"
	"opsmon/app/host/config"
	"opsmon/app/httpapi/configuration"
	"opsmon/app/test/apptest"
)

// TestMain: no test of this room leaves a goroutine behind.
func TestMain(m *testing.M) { apptest.Main(m) }

// running is a service that runs, with its App as it was when it started.
type running struct {
	*App
	host *Host
	url  string
	key  string // of the administrator
	stop func() error
}

func testConfig(t *testing.T) config.Settings {
	cfg := config.Defaults()
	cfg.DataDir, cfg.Listen, cfg.WorkFactor = t.TempDir(), "127.0.0.1:0", 10
	return cfg
}

// opened returns an App with one account.
func opened(t *testing.T, cfg config.Settings) (*App, string) {
	t.Helper()
	a, err := Open(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if len(a.services.Accounts.List(true)) > 0 {
		return a, ""
	}
	made, err := a.bootstrap(configuration.BootstrapInput{Domain: "northgate.example", Email: "it@northgate.example", First: true, By: auth.Local("")})
	if err != nil {
		t.Fatal(err)
	}
	return a, made.APIKey
}

// serve runs a service with one account until the test ends or stop is called.
func serve(t *testing.T, cfg config.Settings, adjust ...func(*Host)) *running {
	t.Helper()
	a, key := opened(t, cfg)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := NewHost(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for _, fn := range adjust {
		fn(h)
	}
	return run(t, h, key)
}

// run runs a service until the test ends or stop is called.
func run(t *testing.T, h *Host, key string) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{host: h, key: key}
	started, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- h.Run(ctx, func(url string) { started <- url }) }()
	select {
	case r.url = <-started:
	case err := <-ended:
		cancel()
		t.Fatal(err)
	}
	r.App = h.app.Load()
	r.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	})
	return r
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

// inBubble is synctest.Test. Afterwards it empties the pools of the process: what came into them within the bubble,
// such as an encoder with its channel, must not be used outside of it.
func inBubble(t *testing.T, fn func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, fn)
	runtime.GC()
	runtime.GC()
}
