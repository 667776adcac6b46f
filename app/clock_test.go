package app

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
	"opsmon/app/test/apptest"
	"opsmon/kv"
)

// TestAClockThatIsYearsBack: what is counted and shown stays when the clock shows a time whose signals are not kept any more,
// as after its battery has died; and the plant goes on when it is right again.
func TestAClockThatIsYearsBack(t *testing.T) {
	apptest.Long(t)
	p, shown := newPlantLife(t), map[int]map[string]string{}
	p.live(signalDays+6, shown)
	if p.timely() != nil {
		t.Error("the clock is right")
	}
	right := p.clock.Load()
	p.clock.Store(time.Date(2011, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli())
	if p.timely() == nil {
		t.Error("nobody doubts the clock")
	}
	for range 5 { // at first, before the service knows
		p.pass()
		r := httptest.NewRequest(http.MethodPost, "/signal", strings.NewReader(fmt.Sprintf(
			`{"signals":[{"stationCode":"PRESS","productive":true},{"stationCode":"PRESS","at":%q,"productive":true}]}`, instant.FormatMs(right))))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if p.Local().ServeHTTP(w, r); w.Code != http.StatusOK || strings.Count(w.Body.String(), "older than the retention of signals") != 2 {
			t.Fatalf("signals: %d %s", w.Code, w.Body)
		}
		if status, answer := p.ask("POST", "/production", `{"stationCode":"PRESS","good":7,"initials":"ABC"}`); status != http.StatusConflict {
			t.Fatalf("an entry: %d %s", status, answer)
		}
		p.clock.Add(time.Hour.Milliseconds())
		if err := p.upkeep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(p.cfg, slog.New(slog.DiscardHandler)); !errors.As(err, new(*clockError)) {
		t.Fatalf("opened by a wrong clock: %v", err)
	}
	p.clock.Store(right)
	p.open()
	p.clock.Add((10 * time.Minute).Milliseconds())
	p.pass()
	p.same("when the clock is right again", 0, p.days-2, shown)
	n := p.days
	p.live(3, shown)
	p.same("days later", 0, n-2, shown)
	p.whole()
}

// TestTheServiceWaitsForTheClock: while the clock must be wrong the service says so and what mends it, and goes on by itself
// when it is right, or when somebody says that it is.
func TestTheServiceWaitsForTheClock(t *testing.T) {
	var clock atomic.Int64
	clock.Store(time.Now().UnixMilli())
	cfg := testConfig(t)
	cfg.Clock = func() time.Time { return time.UnixMilli(clock.Load()) }
	a, key := opened(t, cfg)
	swept := kv.NewBucket("signalSwept", kv.String, kv.JSON[int64]())
	if err := a.store.Update(func(tx *kv.Tx) error { return swept.Put(tx, "log", clock.Load()-1000) }); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	right := clock.Load()
	clock.Add(-time.Hour.Milliseconds())
	h, err := NewHost(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, h, key)
	waits := func(when string) bool {
		t.Helper()
		status, message, header := apptest.Get(t, http.DefaultClient, r.url+"/account", key)
		if status == http.StatusOK {
			return false
		}
		if status != http.StatusServiceUnavailable || !strings.Contains(message, "the machine's clock shows") || header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %q", when, status, message)
		}
		return true
	}
	if !waits("at the start") {
		t.Fatal("it does not wait at the start")
	}
	if st := r.host.status(); st.Ready || !strings.Contains(st.Mend, "set the machine's clock") || !strings.Contains(st.Mend, "app clock accept --data-dir ") {
		t.Errorf("status: %+v", st)
	}
	clock.Store(right)
	apptest.Eventually(t, "the service goes on", func() bool { return !waits("set right") })
	by := auth.Local("").Actor()
	if err := r.host.AcceptClock(cfg.Clock(), by); errdefs.KindOf(err) != errdefs.Conflict {
		t.Errorf("accepted while nothing waits: %v", err)
	}
	clock.Add(-time.Hour.Milliseconds())
	apptest.Eventually(t, "the service waits", func() bool { return waits("set back") })
	if err := r.host.Replace(t.Context(), "a test goes on", func() (func() error, error) { return func() error { return nil }, nil }); err != nil {
		t.Errorf("replaced while it waits: %v", err)
	}
	if !waits("the store was replaced") {
		t.Error("it does not wait any more")
	}
	if err := r.host.AcceptClock(cfg.Clock().AddDate(1, 0, 0), by); errdefs.KindOf(err) != errdefs.Conflict {
		t.Errorf("accepted for another time: %v", err)
	}
	if err := r.host.AcceptClock(cfg.Clock(), by); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * clockLook)
	if waits("accepted") {
		t.Error("it waits although the clock was accepted")
	}
}

// TestWhatPeopleCountedNeedsAClockToo: a plant without signals doubts the clock as well.
func TestWhatPeopleCountedNeedsAClockToo(t *testing.T) {
	h := newHousehold(t)
	h.hours(1)
	h.now = time.Date(2011, 1, 1, 0, 0, 0, 0, time.UTC)
	if h.timely() == nil {
		t.Error("nobody doubts the clock")
	}
}

// TestAClockThatWasAheadIsAccepted: a clock that was far ahead for so long that signals were removed is set right, and somebody
// says so. What was counted before stays as it was shown, whatever comes late for it, and the plant goes on.
func TestAClockThatWasAheadIsAccepted(t *testing.T) {
	p, shown := newPlantLife(t), map[int]map[string]string{}
	p.live(signalDays+6, shown)
	right := p.clock.Load()
	p.clock.Add(12 * 24 * time.Hour.Milliseconds())
	for range 2 * clockDoubt {
		p.send(p.now(), p.now().Add(time.Minute))
		p.clock.Add(time.Hour.Milliseconds())
		if err := p.services.Signals.Pack(); err != nil {
			t.Fatal(err)
		}
		if err := p.upkeep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	p.clock.Store(right)
	if p.timely() == nil {
		t.Fatal("nobody doubts the clock")
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	var err error
	if p.App, err = open(p.cfg, slog.New(slog.DiscardHandler), newBaseURL(p.cfg), nil, func(a *App) error { return a.services.Signals.SweptToday() }); err != nil {
		t.Fatal(err)
	}
	p.pass()
	if p.timely() != nil {
		t.Error("the clock was accepted")
	}
	n := p.days
	p.same("accepted", 0, n-2, shown)
	if status, answer := p.ask("POST", "/signal", fmt.Sprintf(`{"signals":[{"stationCode":"PRESS","at":%q,"productive":true}]}`,
		instant.Format(time.UnixMilli(right).AddDate(0, 0, -3)))); !strings.Contains(string(answer), "older than the retention of signals") {
		t.Errorf("a late signal: %d %s", status, answer)
	}
	p.clock.Add((10 * time.Minute).Milliseconds())
	p.restart()
	p.same("after a restart", 0, n-2, shown)
	p.live(3, shown)
	p.same("days later", 0, n-2, shown)
	p.whole()
}
