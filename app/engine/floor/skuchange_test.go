package floor_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/engine/floor"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/engine/monitor"
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
	if r.Floor.Yielded(floortest.Account) < 2 {
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

// A restart finds what a change of a rate or of a station's rules made before: nothing is computed again for it.
func TestARestartAfterAChangeComputesNothingAgain(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	start(t, r, press, monitor.Schedule{ID: "a", SKU: "BOWL"}, floortest.At(0))
	play := func(minutes int) {
		for range minutes {
			r.Pass(time.Minute, 0)
			r.Send(floortest.Signal(press, r.Now().UnixMilli(), units(3)))
		}
	}
	play(30)
	apply(t, r, `"unitsPerMinute":60`, `"unitsPerMinute":30`)
	play(150)
	r.Compute()
	until := r.Now().UnixMilli()
	was := figuresOf(t, r, press, floortest.At(0), until)
	for range 2 {
		r.Floor.Close()
		r.Reopen()
		r.Compute()
		if n := health(r).Backfills; n != 0 {
			t.Errorf("stations were computed again %d times", n)
		}
		if diff := cmp.Diff(was, figuresOf(t, r, press, floortest.At(0), until)); diff != "" {
			t.Errorf("after a restart (-before +after):\n%s", diff)
		}
	}
}
