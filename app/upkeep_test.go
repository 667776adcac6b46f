package app

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/host/config"
	"opsmon/app/httpapi/configuration"
	"opsmon/kv"
)

// household is an App under a clock that moves only when told to.
type household struct {
	*App
	t   *testing.T
	cfg config.Settings
	now time.Time
	log bytes.Buffer
}

func newHousehold(t *testing.T) *household {
	h := &household{t: t, cfg: testConfig(t), now: time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)}
	h.cfg.AuditDays = 30
	h.cfg.Clock = func() time.Time { return h.now }
	h.open()
	_, err := h.bootstrap(configuration.BootstrapInput{Domain: "northgate.example", Email: "it@northgate.example", First: true, By: auth.Local("")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

func (h *household) open() {
	a, err := Open(h.cfg, slog.New(slog.NewTextHandler(&h.log, nil)))
	if err != nil {
		h.t.Fatal(err)
	}
	h.App = a
}

// hours lets time pass, with an upkeep every hour.
func (h *household) hours(n int) {
	h.t.Helper()
	for range n {
		h.now = h.now.Add(time.Hour)
		if err := h.upkeep(h.t.Context()); err != nil {
			h.t.Fatal(err)
		}
	}
}

// signIn makes a session, with a link, three audit records and a key that is revoked.
func (h *household) signIn() string {
	h.t.Helper()
	local := auth.Local("northgate")
	link, err := h.services.Auth.LinkOutright(local, "it@northgate.example")
	if err != nil {
		h.t.Fatal(err)
	}
	grant, err := h.services.Auth.Callback(link.Token, "")
	if err != nil {
		h.t.Fatal(err)
	}
	key, _, err := h.services.Auth.CreateKeyFor(local, "it@northgate.example", auth.KeyInput{})
	if err != nil {
		h.t.Fatal(err)
	}
	if err := h.services.Auth.RevokeKey(local, key.ID); err != nil {
		h.t.Fatal(err)
	}
	return grant.Session
}

// audited counts the audit records.
func (h *household) audited() int {
	h.t.Helper()
	page, err := h.auditList("northgate", audit.Query{Limit: 1})
	if err != nil {
		h.t.Fatal(err)
	}
	return page.Total
}

// sessions counts the sessions in the store.
func (h *household) sessions() (n int) {
	h.t.Helper()
	if err := h.store.View(func(tx *kv.Tx) error {
		n = kv.NewBucket("authSession", kv.String, kv.Raw).Count(tx)
		return nil
	}); err != nil {
		h.t.Fatal(err)
	}
	return n
}

// TestUpkeep: what has had its time goes, by a clock that runs evenly.
func TestUpkeep(t *testing.T) {
	h := newHousehold(t)
	h.signIn()
	all := h.audited()
	h.hours(30*24 - 1)
	if n := h.audited(); n != all || h.sessions() != 1 {
		t.Errorf("after less than 30 days %d of %d audit records are left and %d sessions", n, all, h.sessions())
	}
	h.hours(2)
	if n := h.audited(); n != 1 || h.sessions() != 0 { // the newest stays
		t.Errorf("after 30 days %d audit records are left and %d sessions", n, h.sessions())
	}
	if !strings.Contains(h.log.String(), "auditDays=30") {
		t.Errorf("the log: %s", &h.log)
	}
}

// TestUpkeepGoesOn: a record that cannot be read keeps its own room's from being removed, is told, and holds up no other.
func TestUpkeepGoesOn(t *testing.T) {
	h := newHousehold(t)
	h.signIn()
	all := h.audited()
	at := kv.NewBucket("scheduleAt", kv.PairOf(kv.String, kv.PairOf(kv.String, kv.PairOf(kv.String, kv.PairOf(kv.Uint64, kv.String)))), kv.Raw)
	if err := h.store.Update(func(tx *kv.Tx) error {
		var k kv.Pair[string, kv.Pair[string, kv.Pair[string, kv.Pair[uint64, string]]]]
		k.A, k.B.A, k.B.B.A, k.B.B.B.B = "northgate", "PRESS", "production", "s1"
		return at.Put(tx, k, []byte("?"))
	}); err != nil {
		t.Fatal(err)
	}
	for range 31 * 24 {
		h.now = h.now.Add(time.Hour)
		if err := h.upkeep(t.Context()); err == nil || !strings.Contains(err.Error(), "schedule s1 cannot be read") {
			t.Fatalf("upkeep: %v", err)
		}
	}
	if n := h.audited(); n != 1 {
		t.Errorf("%d of %d audit records are left", n, all)
	}
}

// TestUpkeepClockJumps: by a clock that jumps ahead nothing is removed until it has run on for a day, restarts included;
// by one that goes back nothing is at all.
func TestUpkeepClockJumps(t *testing.T) {
	h := newHousehold(t)
	h.signIn()
	h.hours(1)
	all := h.audited()
	there := func(when string, want bool) {
		t.Helper()
		if got := h.audited() == all && h.sessions() == 1; got != want {
			t.Errorf("%s: %d of %d audit records and %d sessions are left", when, h.audited(), all, h.sessions())
		}
	}
	const year = 365 * 24 * time.Hour
	h.now = h.now.Add(year)
	h.hours(5)
	there("ahead by a year", true)
	if !strings.Contains(h.log.String(), "the clock went ahead") || strings.Count(h.log.String(), "WARN") != 1 {
		t.Errorf("the log: %s", &h.log)
	}
	h.now = h.now.Add(-year)
	h.hours(48)
	there("set right", true)

	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	h.now = h.now.Add(year)
	h.open()
	h.hours(12)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	h.open()
	h.hours(12)
	there("ahead by a year over a restart", true)
	h.now = h.now.Add(-2 * year)
	h.hours(48)
	there("back before the store was made", true)
	h.now = h.now.Add(2 * year)
	h.hours(clockDoubt)
	there("ahead again, for a day", true)
	h.hours(1)
	there("believed", false)
}

// TestKeepUp: the upkeep of a service goes on every hour and ends with it.
func TestKeepUp(t *testing.T) {
	cfg := testConfig(t)
	inBubble(t, func(t *testing.T) {
		a, _ := opened(t, cfg)
		ctx, cancel := context.WithCancel(t.Context())
		go a.keepUp(ctx)
		link, err := a.services.Auth.LinkOutright(auth.Local("northgate"), "it@northgate.example")
		if err != nil {
			t.Fatal(err)
		}
		links := func() (n int) {
			err := a.store.View(func(tx *kv.Tx) error {
				n = kv.NewBucket("authLink", kv.Bytes32, kv.Raw).Count(tx)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		time.Sleep(59 * time.Minute)
		if n := links(); n != 1 || time.Now().Before(link.ExpiresAt) {
			t.Errorf("%d links before the hour", n)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if n := links(); n != 0 {
			t.Errorf("%d links after an hour", n)
		}
		cancel()
		synctest.Wait()
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
}
