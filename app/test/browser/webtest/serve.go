package webtest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"opsmon/app"
	"opsmon/app/demo"
	"opsmon/app/host/config"
	"opsmon/app/host/control"
	"opsmon/app/host/service"
	"opsmon/app/simulate"
)

// Options are the options of a service.
type Options struct {
	// Manifest is the account's manifest as JSON; nil: the demo's.
	Manifest []byte
	// Empty leaves the store without an account, so the service waits for its set-up.
	Empty bool
	// Simulated simulates the plant's last hours at once, and then continues in real time.
	Simulated bool
	// Before is called when the service is ready, before the past is simulated; nil: no call.
	Before func(*Service)
	// Clock is the service's clock, for a test that controls time; nil: real time.
	Clock *Clock
	// Adjust changes the configuration; nil: unchanged.
	Adjust func(*config.Settings)
}

// Service is a service on loopback with its own store.
type Service struct {
	Base      string // its address, without a trailing slash
	Key       string // API key of the administrator; "": the store is empty
	AccountID string // "": the store is empty
	SetupCode string // of an empty store
	DataDir   string

	t     *testing.T
	cfg   config.Settings
	clock *Clock
	stop  func()
}

// Admin is the account's first administrator.
const Admin = "it@demo.example"

const domain = "demo.example"

// Serve starts the real service and stops it at the end of the test.
func Serve(t *testing.T, o Options) *Service {
	t.Helper()
	cfg := config.Defaults()
	cfg.DataDir, cfg.Listen, cfg.Backup.Every, cfg.MDNS = t.TempDir(), "127.0.0.1:0", 0, false
	manifest := o.Manifest
	if manifest == nil {
		manifest = demo.Manifest()
	}
	past := o.Clock
	if o.Simulated {
		past = new(Clock)
		past.Set(time.Now().Add(-played).UnixMilli())
		cfg.Signals.PerSecond = 1_000_000
	}
	if past != nil {
		cfg.Clock = past.Now
	}
	if o.Adjust != nil {
		o.Adjust(&cfg)
	}
	s := &Service{DataDir: cfg.DataDir, t: t, cfg: cfg, clock: past}
	s.run()
	t.Cleanup(func() { s.stop() })
	if !o.Empty {
		var made struct{ AccountID, APIKey string }
		s.callLocal("/local/init", map[string]any{"domain": domain, "email": Admin, "manifest": json.RawMessage(manifest)}, &made)
		s.AccountID, s.Key = made.AccountID, made.APIKey
		s.untilReady()
	}
	if o.Before != nil {
		o.Before(s)
	}
	if o.Simulated {
		s.play(manifest, past)
	}
	return s
}

// run starts the service.
func (s *Service) run() {
	s.t.Helper()
	h, err := app.NewHost(s.cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	started, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- h.Run(ctx, func(url string) { started <- url }) }()
	s.stop = func() {
		http.DefaultClient.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			s.t.Errorf("the service: %v", err)
		}
		s.stop = func() {}
	}
	select {
	case base := <-started:
		s.Base, s.SetupCode = base, h.SetupCode()
	case err := <-ended:
		ended <- nil
		s.t.Fatalf("the service did not start: %v", err)
	}
}

// untilReady waits until the service has read its stations. A page that comes earlier shows that and retries at its own
// interval, which most tests do not check.
func (s *Service) untilReady() {
	s.t.Helper()
	if err := service.WaitReady(s.t.Context(), s.DataDir); err != nil {
		s.t.Fatal(err)
	}
}

// Stop stops the service. Start starts it again on its store, at another address.
func (s *Service) Stop() { s.stop() }

// Start starts a stopped service and waits until it is ready.
func (s *Service) Start() {
	s.t.Helper()
	s.run()
	s.untilReady()
}

// Call makes a request as the administrator, and decodes the answer's result or results into result unless that is nil.
// body is encoded as JSON unless it is nil. The request must succeed.
func (s *Service) Call(method, path string, body, result any) {
	s.t.Helper()
	s.call(http.DefaultClient, method, s.Base+path, body, result)
}

// callLocal makes a request over the local control channel.
func (s *Service) callLocal(path string, body, result any) {
	s.t.Helper()
	client, err := control.Client(s.DataDir)
	if err != nil {
		s.t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	s.call(client, http.MethodPost, "http://app"+path, body, result)
}

func (s *Service) call(client *http.Client, method, address string, body, result any) {
	s.t.Helper()
	status, answer := s.send(client, method, address, body)
	if status/100 != 2 {
		s.t.Fatalf("%s %s: %d %s", method, address, status, answer)
	}
	if result == nil {
		return
	}
	var envelope struct{ Result, Results json.RawMessage }
	if err := json.Unmarshal(answer, &envelope); err != nil {
		s.t.Fatal(err)
	}
	if envelope.Result == nil {
		envelope.Result = envelope.Results
	}
	if err := json.Unmarshal(envelope.Result, result); err != nil {
		s.t.Fatalf("%s %s: %v: %s", method, address, err, answer)
	}
}

func (s *Service) send(client *http.Client, method, address string, body any) (status int, answer []byte) {
	s.t.Helper()
	var in io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			s.t.Fatal(err)
		}
		in = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, address, in)
	if err != nil {
		s.t.Fatal(err)
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if s.Key != "" {
		req.Header.Set("X-API-KEY", s.Key)
	}
	resp, err := client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	if answer, err = io.ReadAll(resp.Body); err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, answer
}

// Link creates a one-time link that signs a user of the account in, and returns its token.
func (s *Service) Link(email string) (token string) {
	s.t.Helper()
	var link struct{ Link string }
	s.callLocal("/local/login-link", map[string]string{"email": email}, &link)
	_, token, found := strings.Cut(link.Link, "#")
	if !found {
		s.t.Fatalf("a one-time link without a token: %s", link.Link)
	}
	return token
}

// SignIn signs a user with a role in, in a tab: the first administrator, or ROLE@demo.example, which is first added to
// the account. It returns the address.
func (s *Service) SignIn(tab *Tab, role string) (email string) {
	s.t.Helper()
	email = Admin
	if role != "admin" {
		email = role + "@" + domain
		if status, answer := s.send(http.DefaultClient, http.MethodPost, s.Base+"/user", map[string]string{"email": email, "role": role}); status/100 != 2 && status != http.StatusConflict {
			s.t.Fatalf("add a user: %d %s", status, answer)
		}
	}
	resp, err := http.Get(s.Base + "/auth/callback?token=" + url.QueryEscape(s.Link(email)))
	if err != nil {
		s.t.Fatal(err)
	}
	resp.Body.Close()
	cookies := resp.Cookies()
	if resp.StatusCode != http.StatusOK || len(cookies) == 0 {
		s.t.Fatalf("sign in: %d, %d cookies", resp.StatusCode, len(cookies))
	}
	for _, c := range cookies {
		if c.MaxAge >= 0 {
			tab.setCookie(c)
		}
	}
	return email
}

func (p *Tab) setCookie(c *http.Cookie) {
	p.t.Helper()
	hidden := c.HttpOnly
	_, err := chromedp.Call(p.ctx, network.SetCookie, network.SetCookieParams{Name: c.Name, Value: c.Value, URL: p.Base + "/", HTTPOnly: &hidden, SameSite: network.CookieSameSiteLax})
	if err != nil {
		p.t.Fatal(err)
	}
}

// played is how far back the simulation of a plant starts. It includes a whole production day before today.
const played = 26 * time.Hour

// DayStart returns a dayStartHour for a plant in a time zone with which the production day began about twelve hours
// ago, whatever the time of the test.
func DayStart(zone string) int {
	place, err := time.LoadLocation(zone)
	if err != nil {
		panic(err)
	}
	return (time.Now().In(place).Hour() + 12) % 24
}

// Clock is a service's clock set by a test; before that it shows real time.
type Clock struct{ at atomic.Int64 }

// Set stops the clock at a moment, Unix ms, until it is set again; 0 is real time.
func (c *Clock) Set(at int64) { c.at.Store(at) }

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	if at := c.at.Load(); at != 0 {
		return time.UnixMilli(at)
	}
	return time.Now()
}

// play simulates the plant until the test ends; it returns when the simulation has caught up with real time.
func (s *Service) play(manifest []byte, past *Clock) {
	s.t.Helper()
	plant, err := simulate.ReadPlant(manifest)
	if err != nil {
		s.t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}
	caughtUp := make(chan struct{})
	player := simulate.NewPlayer(simulate.PlayConfig{
		Generator: simulate.New(plant, simulate.Config{Seed: 3, Interval: (20 * time.Second).Milliseconds(), TrueClocks: true}),
		Send:      s.sender(client), From: past.Now().UnixMilli(), Batch: 5000, Patience: time.Minute, Step: (100 * time.Second).Milliseconds(),
		Clock: func(at int64) {
			switch {
			case past.at.Load() == 0:
			case at > time.Now().Add(-2*time.Second).UnixMilli():
				past.Set(0)
				close(caughtUp)
			default:
				past.Set(at)
			}
		},
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- player.Play(ctx) }()
	s.t.Cleanup(func() {
		cancel()
		<-ended
		client.CloseIdleConnections()
	})
	select {
	case <-caughtUp:
	case err := <-ended:
		ended <- nil
		s.t.Fatalf("the plant stands still: %v", err)
	}
}

func (s *Service) sender(client *http.Client) simulate.Send {
	return func(ctx context.Context, in simulate.Request) (simulate.Answer, error) {
		req, err := http.NewRequestWithContext(ctx, in.Method, s.Base+in.Path+"?"+in.Query.Encode(), bytes.NewReader(in.Body))
		if err != nil {
			return simulate.Answer{}, err
		}
		if in.Body != nil {
			req.Header.Set("Content-Type", "application/json")
		}
		if in.IdempotencyKey != "" {
			req.Header.Set("Idempotency-Key", in.IdempotencyKey)
		}
		req.Header.Set("X-API-KEY", s.Key)
		resp, err := client.Do(req)
		if err != nil {
			return simulate.Answer{}, err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		return simulate.Answer{Status: resp.StatusCode, Body: body}, err
	}
}
