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
	"opsmon/app/host/control"
	"opsmon/app/host/service"
	"opsmon/app/simulate"
)

// Options say what service is started.
type Options struct {
	// Manifest is the account's, as JSON; nil = that of the demonstration.
	Manifest []byte
	// Empty leaves the store empty: there is no account, and the service waits to be set up.
	Empty bool
	// Simulated plays the plant's last hours at once, and then goes on with the clock.
	Simulated bool
	// Before is called when the service is there and before the past is played, for what is to see it; nil: nothing.
	Before func(*Service)
	// Clock is the service's, for a test that plays time itself; nil = the real one.
	Clock *Clock
	// Adjust changes the configuration; nil = as it is.
	Adjust func(*app.Config)
}

// Service is a service that runs on loopback, with a store of its own.
type Service struct {
	Base      string // its address, without a slash at the end
	Key       string // API key of the administrator; "" when the store is empty
	AccountID string // "" when the store is empty
	SetupCode string // of an empty store
	DataDir   string

	t     *testing.T
	cfg   app.Config
	clock *Clock
	stop  func()
}

// Admin is the account's first administrator.
const Admin = "it@demo.example"

const domain = "demo.example"

// Serve starts the real service and ends it with the test.
func Serve(t *testing.T, o Options) *Service {
	t.Helper()
	cfg := app.DefaultConfig()
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

// untilReady waits until the stations of the service have been read. A page that comes before that says so and tries again,
// at its own pace, which is not what most tests look at.
func (s *Service) untilReady() {
	s.t.Helper()
	if err := service.WaitReady(s.t.Context(), s.DataDir); err != nil {
		s.t.Fatal(err)
	}
}

// Stop ends the service; Start starts it again on its store, at another address.
func (s *Service) Stop() { s.stop() }

// Start starts a service that was ended, and waits until it is ready.
func (s *Service) Start() {
	s.t.Helper()
	s.run()
	s.untilReady()
}

// Call asks the service's API as the administrator does, and reads the answer's result or results into what result
// points at, unless that is nil. body is encoded as JSON, unless it is nil. It must succeed.
func (s *Service) Call(method, path string, body, result any) {
	s.t.Helper()
	s.call(http.DefaultClient, method, s.Base+path, body, result)
}

// callLocal asks by the machine's own channel.
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

// Link makes a one-time link that signs somebody of the account in, and returns its token.
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

// SignIn signs somebody of a role in, in a tab: the first administrator, or ROLE@demo.example, who is made a user of
// the account first. It gives the address.
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

// played is how much of the past a simulated plant has. A production day before today is in it.
const played = 26 * time.Hour

// DayStart returns a dayStartHour for a plant of a time zone: with it the production day has gone on for about twelve hours, and
// goes on for as long, whatever the time is when a test runs.
func DayStart(zone string) int {
	place, err := time.LoadLocation(zone)
	if err != nil {
		panic(err)
	}
	return (time.Now().In(place).Hour() + 12) % 24
}

// Clock is a service's that a test sets: as long as it was not, the real one.
type Clock struct{ at atomic.Int64 }

// Set sets it to a moment, Unix ms, at which it stands until it is set again; 0 is the real time.
func (c *Clock) Set(at int64) { c.at.Store(at) }

// Now returns what it shows.
func (c *Clock) Now() time.Time {
	if at := c.at.Load(); at != 0 {
		return time.UnixMilli(at)
	}
	return time.Now()
}

// play plays the plant until the test ends; it comes back when what is played has caught up with the real time.
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
