package floor_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"opsmon/app/engine/floor"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/engine/monitor"
	"opsmon/app/ingest/signal"
)

// shake has the press start and stop three times a second, without units: more than is added up at each look.
func shake(r *floortest.Rig, minutes int) {
	on := 0.0
	for range minutes * 60 {
		r.Pass(time.Second, 0)
		var list []signal.Signal
		for i := range int64(3) {
			on = 1 - on
			list = append(list, floortest.Signal(press, r.Now().UnixMilli()-900+i*300, map[signal.Field]float64{signal.Productive: on}))
		}
		r.Send(list...)
	}
}

// TestTheLiveStatusIsYoung: the live fields of an answer are a second old at most, also of what time alone changes.
func TestTheLiveStatusIsYoung(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	start(t, r, press, monitor.Schedule{ID: "a", SKU: "BOWL"}, floortest.At(0))
	r.Pass(10*time.Second, time.Second)
	r.Send(floortest.Signal(press, 0, map[signal.Field]float64{signal.Productive: 1}))
	r.Pass(time.Second, 0)
	r.Send(floortest.Signal(press, 0, map[signal.Field]float64{signal.Productive: 0})) // it has stopped for two minutes at 08:02:11
	r.Pass(118*time.Second, time.Second)
	r.Pass(1800*time.Millisecond, 0)
	r.Send(floortest.Signal(press, 0, map[signal.Field]float64{signal.RSSI: -60}))
	shown := func() string {
		return r.Floor.Account(floortest.Account).Station(press).Status
	}
	if got := shown(); got == monitor.StatusDowntime.String() {
		t.Fatalf("it is %s too soon, so this test shows nothing", got)
	}
	r.Pause(1200 * time.Millisecond)
	if got := shown(); got != monitor.StatusDowntime.String() {
		t.Errorf("a second after the stop counts it is %s", got)
	}
}

// TestWhatPeopleDidIsInTheShiftAtOnce: also of a station of which so much happens that its shift is added up every two seconds.
func TestWhatPeopleDidIsInTheShiftAtOnce(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	start(t, r, press, monitor.Schedule{ID: "a", SKU: "BOWL"}, floortest.At(0))
	shake(r, 9)
	r.Pass(10*time.Second, time.Second)
	at := r.Now().UnixMilli() - 30_000
	must(t, r.Floor.Do(floortest.Account, func(w *floor.Work) error {
		_, err := w.Record(press, monitor.Input{At: at, Kind: monitor.InputEntry, Source: "op", ID: "e1", Entry: monitor.Entry{Good: 50}})
		return err
	}))
	if st := status(t, r, press); st.Schedule.GoodCount != 50 || st.Shift.GoodCount != 50 || figuresText(st.Shift) != asked(t, r, press, st.Shift) {
		t.Errorf("the schedule has %g, the shift %g units", st.Schedule.GoodCount, st.Shift.GoodCount)
	}
}

// TestARateThatChangesAtTheTurnOfAMinuteIsInTheShift: a request that comes before the station has the new rate gets the old
// figure; later requests get the new one.
func TestARateThatChangesAtTheTurnOfAMinuteIsInTheShift(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	start(t, r, press, monitor.Schedule{ID: "a", SKU: "BOWL"}, floortest.At(0))
	for range 10 {
		r.Pass(time.Minute, time.Second)
		r.Send(floortest.Signal(press, 0, units(3)))
	}
	r.Pass(57*time.Second, time.Second)
	block, in, done := make(chan bool), make(chan bool), make(chan error)
	go func() {
		done <- r.Floor.Try(floortest.Account, func(*floor.Work) error { close(in); <-block; return nil })
	}()
	<-in
	apply(t, r, `"unitsPerMinute":60`, `"unitsPerMinute":600`)
	r.Pause(3500 * time.Millisecond)
	before := *status(t, r, press).Shift.IdealCount
	close(block)
	must(t, <-done)
	r.Pass(5*time.Second, time.Second)
	st := status(t, r, press)
	if before == *st.Shift.IdealCount {
		t.Errorf("the rate changed, and %g units are due as before", before)
	}
	if *st.Shift.IdealCount != *st.Schedule.IdealCount || figuresText(st.Shift) != asked(t, r, press, st.Shift) {
		t.Errorf("%g units are due in the shift, %g in its schedule", *st.Shift.IdealCount, *st.Schedule.IdealCount)
	}
}

// TestAPanicAtOneStationIsItsOwn: a station that cannot be opened keeps no other one out.
func TestAPanicAtOneStationIsItsOwn(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(func(c *floor.Config) { c.Log = slog.New(slog.DiscardHandler) }) // errors in the log fail a test
	r.Pass(time.Minute, time.Second)
	opened, all, again := r.Floor.Panics(floortest.Account, press)
	for what, err := range map[string]error{"opening it": opened, "opening all": all, "computing it again": again} {
		if err == nil || !strings.Contains(err.Error(), "panic: ") {
			t.Errorf("%s gives %v", what, err)
		}
	}
	if st := status(t, r, press); st.StatusCode == "" {
		t.Errorf("afterwards it shows %+v", st)
	}
}
