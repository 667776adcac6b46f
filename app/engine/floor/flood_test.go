package floor_test

import (
	"testing"
	"time"

	"opsmon/app/engine/floor"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/engine/monitor"
	"opsmon/app/ingest/signal"
	"opsmon/app/test/apptest"
)

// flicker sends signals that turn a machine on and off, so many a second, and returns how much came of them that was held in
// memory at most.
func flicker(t *testing.T, r *floortest.Rig, d time.Duration, perSecond int) (most int) {
	t.Helper()
	on := 0.0
	for end := r.Now().Add(d); r.Now().Before(end); {
		r.Pass(time.Second, 0)
		list := make([]signal.Signal, perSecond)
		for i := range list {
			on = 1 - on
			at := r.Now().UnixMilli() - 999 + int64(i)*1000/int64(perSecond)
			list[i] = floortest.Signal(press, at, map[signal.Field]float64{signal.Productive: on, signal.ProductionCompleteGood: 1})
			list[i].Source = "device:works/flood"
		}
		r.Send(list...)
		most = max(most, r.Floor.Outputs(floortest.Account))
	}
	return most
}

// TestAMachineThatFlickers: what comes of signals that change a station's state with each is bounded in memory, and is kept
// before the hour is over, so that a restart reads few of them again. Its figures are those of the log.
func TestAMachineThatFlickers(t *testing.T) {
	apptest.Long(t)
	r := floortest.New(t, floortest.Manifest).Open(nil)
	start(t, r, press, monitor.Schedule{ID: "a", SKU: "BOWL"}, floortest.At(0))
	r.Pass(time.Minute, 0)
	const perSecond, minutes = 500, 5
	most := flicker(t, r, minutes*time.Minute, perSecond)
	if bound := floor.TrackerMost + 70*perSecond; most > bound {
		t.Errorf("%d outputs were held at most, want %d", most, bound)
	}
	if through := r.Through(press); r.Now().UnixMilli()-through > (4 * time.Minute).Milliseconds() {
		t.Errorf("kept up to %v ago", r.Now().Sub(time.UnixMilli(through)))
	}
	r.Pass(10*time.Minute, time.Minute)
	from, to := floortest.At(0), floortest.At(15*time.Minute)
	got := figuresOf(t, r, press, from, to)
	d, err := r.Floor.Detail(floortest.Account, press, from, to)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(d.Segments); n < 10 || n > 1000 {
		t.Errorf("%d segments are kept of %d changes", n, minutes*60*perSecond)
	}
	var on int64
	for _, g := range d.Segments {
		if g.Productive && g.Start < floortest.At((1+minutes)*time.Minute) {
			on += g.End - g.Start
		}
	}
	if half := (minutes * time.Minute).Milliseconds() / 2; on != half {
		t.Errorf("it produced for %d ms, want half of the time, %d ms", on, half)
	}
	lasts(t, r, got, from, to)
}

// TestOrdinarySignalsAreKeptByTheHour: nothing is written between full hours at the load of a plant.
func TestOrdinarySignalsAreKeptByTheHour(t *testing.T) {
	apptest.Long(t)
	r := floortest.New(t, floortest.Manifest).Open(nil)
	r.Pass(3*time.Minute, time.Minute)
	kept := r.Through(press)
	flicker(t, r, 40*time.Minute, 1)
	if through := r.Through(press); through != kept {
		t.Errorf("kept up to %v before the hour was over", time.UnixMilli(through).UTC())
	}
}
