package floor_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/floor"
	"opsmon/app/floor/floortest"
	"opsmon/app/monitor"
	"opsmon/app/signal"
)

// TestARateThatChangesWhileAStationIsComputed: a SKU's change that comes between two breaths of what is being computed again is
// in the figures that come of it.
func TestARateThatChangesWhileAStationIsComputed(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	start(t, r, press, monitor.Schedule{ID: "a", SKU: "BOWL"}, floortest.At(0))
	const minutes, each = 30, 4_000
	for i := range minutes {
		r.Pass(time.Minute, 0)
		list := make([]signal.Signal, each)
		for i := range list {
			list[i] = floortest.Signal(press, r.Now().UnixMilli()-int64(i)*60_000/each, units(1))
		}
		if r.Send(list...); i%5 == 4 {
			if err := r.Signals.Pack(); err != nil {
				t.Fatal(err)
			}
		}
	}
	r.Pass(10*time.Minute, time.Minute)
	late := floortest.Signal(press, floortest.At(5*time.Minute), units(7))
	late.Account, late.Source, late.Arrived = floortest.Account, "device:works/gateway", r.Now().UnixMilli()
	if _, err := r.Signals.Append([]signal.Signal{late}); err != nil {
		t.Fatal(err)
	}
	r.Pause(2 * time.Second)
	var done atomic.Bool
	go func() {
		defer done.Store(true)
		if err := r.Floor.Pass(floortest.Account); err != nil {
			t.Error(err)
		}
	}()
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
