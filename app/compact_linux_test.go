package app

import (
	"log/slog"
	"strings"
	"testing"

	"opsmon/app/errdefs"
	"opsmon/app/test/apptest"
)

// TestCompactNeedsRoom: on a disk that has no room for both it is refused before anything is done.
func TestCompactNeedsRoom(t *testing.T) {
	dir := apptest.Mount(t, "size=24m")
	cfg := testConfig(t)
	cfg.DataDir = dir
	a, _ := opened(t, cfg)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := Compact(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if errdefs.KindOf(err) != errdefs.Conflict || !strings.Contains(err.Error(), "MB are needed") {
		t.Errorf("got %v", err)
	}
}
