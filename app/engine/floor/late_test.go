package floor_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/engine/floor/floortest"
	"opsmon/app/ingest/signal"
)

// TestWhatComesLateOutlivesACrash: after something late had a station computed again, and so kept up to a moment ago, the
// process ends between the storing of another late signal and its taking in. That signal counts after the restart, though it
// is of a time after the last full hour.
func TestWhatComesLateOutlivesACrash(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	r.Pass(10*time.Hour+30*time.Minute, 10*time.Minute)
	good := func(after time.Duration) signal.Signal {
		return floortest.Signal("PRESS", floortest.At(after), map[signal.Field]float64{signal.Productive: 1, signal.ProductionCompleteGood: 5})
	}
	r.Send(good(time.Hour))
	r.Pass(2*time.Second, time.Second)
	for _, after := range []time.Duration{2 * time.Hour, 10*time.Hour + 10*time.Minute} {
		late := good(after)
		late.Account, late.Arrived, late.Source = floortest.Account, r.Now().UnixMilli(), "device:works/gateway"
		if _, err := r.Signals.Append([]signal.Signal{late}); err != nil {
			t.Fatal(err)
		}
		r.Open(nil)
		r.Pass(2*time.Second, time.Second)
	}
	from, to := floortest.At(0), floortest.At(10*time.Hour+20*time.Minute)
	got := figuresOf(t, r, "PRESS", from, to)
	units := int64(0)
	for _, m := range got.Minutes {
		for _, p := range m.Parts {
			units += p.Good
		}
	}
	if units != 15_000_000 {
		t.Errorf("%d millionths of units were counted, want 15 units", units)
	}
	r.Forget("PRESS")
	r.Pass(2*time.Second, time.Second)
	if diff := cmp.Diff(figuresOf(t, r, "PRESS", from, to), got); diff != "" {
		t.Errorf("computed again from the log: %s", diff)
	}
}

// TestAFullHourDoesNotTakeBackWhatIsKept: what is kept of one station up to a moment ago stays settled when the full hour
// before it is kept of all others.
func TestAFullHourDoesNotTakeBackWhatIsKept(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	r.Pass(10*time.Hour+50*time.Minute, 10*time.Minute)
	good := func(after time.Duration) signal.Signal {
		return floortest.Signal("PRESS", floortest.At(after), map[signal.Field]float64{signal.Productive: 1, signal.ProductionCompleteGood: 5})
	}
	r.Pause(13 * time.Minute)
	r.Send(good(time.Hour)) // goes back, is kept up to 11:01, and the hour up to 11:00 of the others
	r.Pass(2*time.Second, time.Second)
	late := good(11*time.Hour + 30*time.Second)
	r.StoreUntold(late) // the power fails
	r.Pass(2*time.Second, time.Second)
	units := int64(0)
	for _, m := range figuresOf(t, r, "PRESS", floortest.At(0), floortest.At(11*time.Hour+time.Minute)).Minutes {
		for _, p := range m.Parts {
			units += p.Good
		}
	}
	if units != 10_000_000 {
		t.Errorf("%d millionths of units were counted, want 10 units", units)
	}
}

// TestComputingAgainLeavesTimeForOtherWork: what was computed again for 400 ms is followed by as long a time in which no station
// is, so that the worker does what else there is.
func TestComputingAgainLeavesTimeForOtherWork(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	takes := func(d time.Duration) {
		t.Helper()
		if err := r.Floor.Takes(floortest.Account, d); err != nil {
			t.Fatal(err)
		}
	}
	takes(0)
	r.Pass(2*time.Hour, 10*time.Minute)
	takes(400 * time.Millisecond)
	late := func(stationCode string) {
		t.Helper()
		r.Send(floortest.Signal(stationCode, floortest.At(time.Hour), map[signal.Field]float64{signal.ProductionCompleteGood: 5}))
	}
	late("PRESS")
	if n := health(r).Late; n != 0 {
		t.Fatalf("%d stations are late: the first one is computed again at once", n)
	}
	late("PACK")
	for _, step := range []struct {
		wait time.Duration
		late int
	}{{0, 1}, {399 * time.Millisecond, 1}, {time.Millisecond, 0}} {
		r.Pause(step.wait)
		if err := r.Floor.Pass(floortest.Account); err != nil {
			t.Fatal(err)
		}
		if n := health(r).Late; n != step.late {
			t.Errorf("%v later %d stations are late, want %d", step.wait, n, step.late)
		}
	}
}
