package floor_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/floor"
	"opsmon/app/floor/floortest"
	"opsmon/app/monitor"
)

// TestARateThatChangesWhileAStationIsComputed: a SKU's change that comes between two breaths of what is being computed again is
// in the figures that come of it.
func TestARateThatChangesWhileAStationIsComputed(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	start(t, r, press, monitor.Schedule{ID: "a", SKU: "BOWL"}, floortest.At(0))
	done := computing(t, r, 4_000)
	nothing := func(*floor.Work) error { return nil }
	for served := 0; !done.Load(); served++ {
		if served == 1 {
			apply(t, r, `"unitsPerMinute":60`, `"unitsPerMinute":30`)
		}
		if err := r.Floor.Do(floortest.Account, nothing); err != nil {
			t.Fatal(err)
		}
	}
	if r.Floor.Breaths(floortest.Account) < 2 {
		t.Log("the station was computed before the rate could change: nothing was tried")
	}
	for range 20 {
		r.Pass(time.Minute, 0)
		r.Send(floortest.Signal(press, 0, units(1)))
	}
	from, to := floortest.At(0), floortest.At(55*time.Minute)
	got := figuresOf(t, r, press, from, to)
	r.Forget(press)
	if diff := cmp.Diff(got, figuresOf(t, r, press, from, to)); diff != "" {
		t.Errorf("(-live +computed again): %.1000s", diff)
	}
}
