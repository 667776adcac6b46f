package app

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"opsmon/app/account"
	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/station"
	"opsmon/app/host/service"
	"opsmon/app/httpapi/configuration"
	"opsmon/app/test/apptest"
)

// hold keeps the stations of an account from being read until a test decides how that ends.
type hold struct {
	once sync.Once
	open chan struct{}
	err  error
}

func (h *hold) end(err error) {
	h.once.Do(func() {
		h.err = err
		close(h.open)
	})
}

type heldAccounts struct {
	*account.Service
	holds map[string]*hold
}

func (h heldAccounts) Get(accountID string) (*account.Snapshot, error) {
	hold := h.holds[accountID]
	<-hold.open
	if hold.err != nil {
		return nil, hold.err
	}
	return h.Service.Get(accountID)
}

// heldApp opens an App with two accounts whose stations are read when the test lets them, for a Host, which may be nil.
func heldApp(t *testing.T, h *Host) (a *App, first, second *hold) {
	t.Helper()
	cfg := testConfig(t)
	a, _ = opened(t, cfg)
	if _, err := a.bootstrap(configuration.BootstrapInput{Domain: "southgate.example", By: auth.Local("")}); err != nil {
		t.Fatal(err)
	}
	err := a.Close()
	if err == nil {
		a, err = open(cfg, slog.New(slog.DiscardHandler), newBaseURL(cfg), h, (*App).timely)
	}
	if err != nil {
		t.Fatal(err)
	}
	list := a.services.Accounts.List(false)
	first, second = &hold{open: make(chan struct{})}, &hold{open: make(chan struct{})}
	held := map[string]*hold{list[0].ID: first, list[1].ID: second}
	a.services.Floor.Close()
	a.services.Floor = floor.New(floor.Config{
		Store: a.store, Accounts: a.services.Accounts, Signals: a.services.Signals, History: a.services.History, Events: a.services.Events, Log: slog.New(slog.DiscardHandler),
		Timelines: station.New(station.Config{Accounts: heldAccounts{a.services.Accounts, held}, Store: a.store}),
	})
	t.Cleanup(func() {
		first.end(errors.New("the test has ended"))
		second.end(errors.New("the test has ended"))
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a, first, second
}

// TestReadyWaitsForStations: a service is starting while stations are read. An account that cannot be read does not keep
// it from being ready for the other one.
func TestReadyWaitsForStations(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	r := serve(t, cfg)
	a, broken, whole := heldApp(t, r.host)
	own := r.host.app.Swap(a)
	defer r.host.app.Store(own)

	if st := status(t, cfg.DataDir); st.Ready || !st.Starting || st.Reason != errLoading.Error() {
		t.Errorf("while stations are read: %+v", st)
	}
	ready := make(chan error, 1)
	soon, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	go func() { ready <- service.WaitReady(soon, cfg.DataDir) }()
	select {
	case err := <-ready:
		t.Errorf("it was not waited for: %v", err)
	case <-time.After(3500 * time.Millisecond): // longer than one is waited for that is not starting
	}
	broken.end(errors.New("a test breaks it"))
	if st := status(t, cfg.DataDir); st.Ready || !st.Starting {
		t.Errorf("while the other account is read: %+v", st)
	}
	whole.end(nil)
	if err := <-ready; err != nil {
		t.Errorf("with the other account read: %v", err)
	}
	if st := status(t, cfg.DataDir); !st.Ready || st.Starting || st.Reason != "" {
		t.Errorf("with the other account read: %+v", st)
	}
}

// TestNoStationsRead: a service that can show no station of any account is not ready, and says why.
func TestNoStationsRead(t *testing.T) {
	t.Parallel()
	a, first, second := heldApp(t, nil)
	first.end(errors.New("a test breaks it"))
	second.end(errors.New("a test breaks it"))
	apptest.Eventually(t, "the reason", func() bool {
		err := a.ready()
		return err != nil && err.Error() == "what went on at the stations cannot be read; it is tried again: a test breaks it"
	})
}
