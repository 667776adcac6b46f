package floor_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/engine/floor/floortest"
	"opsmon/app/engine/monitor"
	"opsmon/app/test/apptest"
)

// TestAClockThatWasAheadDoesNoHarm holds that a clock which shows a day too many for a while, and is set right, leaves no trace.
func TestAClockThatWasAheadDoesNoHarm(t *testing.T) {
	apptest.Long(t)
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
	want.Pass(2*time.Hour, time.Minute)
	got.Pass(2*time.Hour, time.Minute)
	// The power fails between a signal's commit and what follows it.
	lost := floortest.Signal(press, 0, units(9))
	want.Send(lost)
	got.StoreUntold(lost)
	for _, r := range []*floortest.Rig{want, got} {
		r.Pass(time.Minute, time.Second)
	}
	from, to := floortest.At(0), floortest.At(5*time.Hour)
	if diff := cmp.Diff(figuresOf(t, want, press, from, to), figuresOf(t, got, press, from, to)); diff != "" {
		t.Errorf("(-right +was ahead):\n%s", diff)
	}
}

// TestAfterTheClockIsSetRightStationsShowTheTimeThatIs: at ten, in the early shift, and not as it will be at four in the night.
func TestAfterTheClockIsSetRightStationsShowTheTimeThatIs(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	r.Pass(2*time.Hour, time.Minute)
	r.Floor.Linked(floortest.Account, "works/gateway", []string{"PACK"}, r.Now().UnixMilli(), true)
	r.Pass(time.Second, 0)
	r.Pass(18*time.Hour, time.Hour)
	if got := status(t, r, "PACK"); got.StatusCode != "outOfShift" {
		t.Fatalf("in the night the station is %s", got.StatusCode)
	}
	r.Pause(-18 * time.Hour)
	r.Pass(time.Second, 0)
	if got := status(t, r, "PACK"); got.StatusCode != "unscheduled" {
		t.Errorf("in the early shift the station is %+v", got)
	}
}
