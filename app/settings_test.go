package app

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"opsmon/kv"
	"opsmon/kv/kvtest"
)

func TestIdentify(t *testing.T) {
	store := kvtest.New(t, func(c *kv.Config) { c.Buckets = buckets() })
	var said bytes.Buffer
	log := slog.New(slog.NewTextHandler(&said, nil))
	read := func() (a appliance) {
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
