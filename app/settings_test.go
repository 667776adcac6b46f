package app

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"opsmon/app/host/config"
	"opsmon/kv"
	"opsmon/kv/kvtest"
)

func TestIdentify(t *testing.T) {
	store := kvtest.New(t, func(c *kv.Config) { c.Buckets = buckets() })
	var said bytes.Buffer
	log := slog.New(slog.NewTextHandler(&said, nil))
	read := func() (a identity) {
		t.Helper()
		if err := store.View(func(tx *kv.Tx) (err error) { a, err = settings.Get(tx, applianceSetting); return err }); err != nil {
			t.Fatal(err)
		}
		return a
	}
	if err := identify(store, "1.0", log); err != nil {
		t.Fatal(err)
	}
	first := read()
	if len(first.ID) != 26 || first.CreatedAt.IsZero() || first.Version != "1.0" || said.Len() > 0 {
		t.Fatalf("a new store: %+v, said %q", first, said.String())
	}
	if err := identify(store, "1.0", log); err != nil || read() != first || said.Len() > 0 {
		t.Fatalf("the same version again: %+v, %v, said %q", read(), err, said.String())
	}
	if err := identify(store, "1.1", log); err != nil {
		t.Fatal(err)
	}
	if got := read(); got.ID != first.ID || got.CreatedAt != first.CreatedAt || got.Version != "1.1" {
		t.Fatalf("another version: %+v, was %+v", got, first)
	}
	if !strings.Contains(said.String(), "then=1.0 now=1.1") {
		t.Errorf("the change of version was not told: %q", said.String())
	}
}

// How long a station may be silent, and over how long a signal's units are spread, is what is set, at every station.
func TestAliveAndSpreadMinutesHoldAtStations(t *testing.T) {
	for set, want := range map[int]int64{config.Defaults().Signals.AliveMinutes: 300_000, 12: 720_000} {
		cfg := testConfig(t)
		if cfg.Signals.SpreadMinutes != 5 {
			t.Errorf("units are spread over %d minutes by default", cfg.Signals.SpreadMinutes)
		}
		cfg.Signals.AliveMinutes, cfg.Signals.SpreadMinutes = set, set
		a, _ := opened(t, cfg)
		plan, err := a.services.Floor.Plan("northgate")
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.Of(starterStation).Monitor.SilentAfter(); got != want {
			t.Errorf("of %d minutes a station has %d ms, want %d", set, got, want)
		}
		if got := plan.Of(starterStation).Monitor.SpreadWithin(); got != want {
			t.Errorf("a station spreads units over %d ms where %d minutes are set", got, set)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
