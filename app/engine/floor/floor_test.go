package floor_test

import (
	"testing"
	"time"

	"opsmon/app/engine/floor"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/engine/monitor"
	"opsmon/app/ingest/signal"
)

const press = "PRESS"

func start(t *testing.T, r *floortest.Rig, stationCode string, s monitor.Schedule, at int64) {
	t.Helper()
	err := r.Floor.Do(floortest.Account, func(w *floor.Work) error {
		_, err := w.Record(stationCode, monitor.Input{At: at, Kind: monitor.InputScheduleStart, Schedule: s})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func status(t *testing.T, r *floortest.Rig, stationCode string) floor.Status {
	t.Helper()
	l, err := r.Floor.LiveOf(floortest.Account, stationCode)
	if err != nil {
		t.Fatal(err)
	}
	return l.Status()
}

func units(n float64) map[signal.Field]float64 {
	return map[signal.Field]float64{signal.ProductionCompleteGood: n, signal.Productive: 1}
}

func TestASignalBecomesANumber(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	if got := status(t, r, press); got.StatusCode != "disconnected" {
		t.Errorf("a station that nothing was heard of is %s", got.StatusCode)
	}
	r.Pass(time.Minute, 0)
	start(t, r, press, monitor.Schedule{ID: "s1", SKU: "BOWL"}, r.Now().UnixMilli())
	for range 10 {
		r.Pass(5*time.Second, 0)
		r.Send(floortest.Signal(press, 0, units(3)))
	}
	got := status(t, r, press)
	if got.StatusCode != "productive" || got.Schedule == nil || got.Schedule.GoodCount != 30 || *got.Schedule.SKUCode != "BOWL" {
		t.Errorf("after ten signals of three units the station is %+v, schedule %+v", got, got.Schedule)
	}
	if e, _ := r.Events.Since(floortest.Account, 0); len(e) == 0 || e[len(e)-1].Sequence != got.Sequence {
		t.Errorf("watchers were told %d times, and not last of what is shown (%d)", len(e), got.Sequence)
	}
	r.Pass(6*time.Minute, time.Second)
	if got := status(t, r, press); got.StatusCode != "disconnected" || got.StatusCodeUpdatedAt == nil || *got.StatusCodeUpdatedAt != floor.Instant(floortest.At(110*time.Second)) || got.NoSignalYet || got.IsAlive {
		t.Errorf("after six minutes of silence the station is %+v", got)
	}
}
