package floor_test

import (
	"runtime"
	"testing"
	"time"

	"opsmon/app/engine/floor"
	"opsmon/app/engine/floor/floortest"
)

// TestSilentStationsCostLittle: a station that is silent is shown again when its minute is over, and not before; one that
// takes something in is at once.
func TestSilentStationsCostLittle(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	r.Pass(10*time.Minute, time.Minute)
	r.Pass(5*time.Second, time.Second)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const seconds = 40
	r.Pass(seconds*time.Second, time.Second)
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / (3 * seconds); each > 1500 {
		t.Errorf("a second of a silent station makes %d bytes", each)
	}
	status := func() floor.Status {
		live, err := r.Floor.LiveOf(floortest.Account, press)
		if err != nil {
			t.Fatal(err)
		}
		return live.Status()
	}
	until := func() string { return status().Shift.Until }
	was := until()
	if r.Pass(30*time.Second, time.Second); until() == was {
		t.Errorf("the shift so far goes up to %s still", was)
	}
	r.Send(floortest.Signal(press, r.Now().UnixMilli(), units(1)))
	if st := status(); st.StatusCode == "disconnected" {
		t.Errorf("a station that has sent something is %s", st.StatusCode)
	}
}
