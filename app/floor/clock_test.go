package floor_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/floor/floortest"
	"opsmon/app/monitor"
)

// TestAClockThatWasAheadDoesNoHarm holds that a clock which shows a day too many for a while, and is set right, leaves no trace.
func TestAClockThatWasAheadDoesNoHarm(t *testing.T) {
	want, got := floortest.New(t, floortest.Manifest).Open(nil), floortest.New(t, floortest.Manifest).Open(nil)
	for _, r := range []*floortest.Rig{want, got} {
		start(t, r, press, monitor.Schedule{ID: "a", SKU: "BOWL"}, floortest.At(0))
		for i := range 150 {
			r.Pass(time.Minute, 0)
			r.Send(floortest.Signal(press, 0, units(float64(i%7))))
		}
	}
	got.Pass(24*time.Hour, time.Hour)
	got.Pause(-24 * time.Hour)
	got.Pass(time.Second, 0)
	want.Pass(time.Second, 0)
	for i, r := range []*floortest.Rig{want, got} {
		for range 150 {
			r.Pass(time.Minute, 0)
			r.Send(floortest.Signal(press, 0, units(3)))
		}
		if i == 1 {
			r.Open(nil)
		}
	}
	from, to := floortest.At(0), floortest.At(5*time.Hour)
	if diff := cmp.Diff(figuresOf(t, want, press, from, to), figuresOf(t, got, press, from, to)); diff != "" {
		t.Errorf("(-right +was ahead):\n%s", diff)
	}
}
