package floor_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/engine/floor"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/engine/monitor"
	"opsmon/app/ingest/signal"
	"opsmon/app/test/apptest"
)

// TestWhatIsOlderThanTheSignalsStays: of a time whose signals are gone the figures cannot be computed again. A signal that
// comes late, at the edge of what is taken, leaves them as they are.
func TestWhatIsOlderThanTheSignalsStays(t *testing.T) {
	apptest.Long(t)
	r := floortest.New(t, floortest.Manifest)
	r.Retention = 8 * 24 * time.Hour
	r.Open(nil)
	for range 11 * 24 {
		r.Pass(time.Hour, 30*time.Minute)
		r.Send(floortest.Signal(press, 0, units(60)))
	}
	old := func() figures { return figuresOf(t, r, press, floortest.At(0), floortest.At(48*time.Hour)) }
	before := old()
	if len(before.Minutes) == 0 {
		t.Fatal("nothing was measured in the first two days")
	}
	if err := r.History.Sweep(t.Context()); err != nil { // thins the states of that time
		t.Fatal(err)
	}
	if err := r.Signals.Pack(); err != nil {
		t.Fatal(err)
	}
	if err := r.Signals.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.Send(floortest.Signal(press, r.Now().Add(-8*24*time.Hour+time.Minute).UnixMilli(), units(1)))
	r.Pass(time.Minute, time.Second)
	if diff := cmp.Diff(before, old()); diff != "" {
		t.Errorf("(-before +after a late signal):\n%s", diff)
	}
}

// TestAClockThatWasBehindDoesNoHarm: a service that starts with a clock that is behind, and whose clock is set right a moment
// later, shows what one shows whose clock was right all the time.
func TestAClockThatWasBehindDoesNoHarm(t *testing.T) {
	apptest.Long(t)
	for _, behind := range []time.Duration{90 * time.Minute, 12 * time.Hour, 60 * time.Hour} {
		r := floortest.New(t, floortest.Manifest).Open(nil)
		for range 4 * 24 * 4 {
			r.Pass(15*time.Minute, 5*time.Minute)
			r.Send(floortest.Signal(press, 0, units(30)))
		}
		from, to := floortest.At(0), floortest.At(4*24*time.Hour)
		before := figuresOf(t, r, press, from, to)
		r.Floor.Close()
		r.Pause(-behind)
		r.Open(nil)
		r.Pass(10*time.Second, time.Second)
		r.Pause(behind)
		r.Pass(3*time.Minute, time.Second)
		if diff := cmp.Diff(before, figuresOf(t, r, press, from, to)); diff != "" {
			t.Errorf("%v behind: (-before +after):\n%.2000s", behind, diff)
		}
	}
}

// reached is a rule that notes the schedules whose quantity was reached.
type reached struct {
	leaving
	schedules []string
}

func (q *reached) Happened(_ *floor.Work, _ string, e monitor.Event) error {
	if e.Kind == monitor.EventQuantityReached {
		q.schedules = append(q.schedules, e.Schedule)
	}
	return nil
}

// TestAQuantityThatIsReachedLateIsTold: also when the signals that complete it come half an hour late.
func TestAQuantityThatIsReachedLateIsTold(t *testing.T) {
	rule := &reached{}
	r := floortest.New(t, floortest.Manifest).Open(nil, rule)
	start(t, r, press, monitor.Schedule{ID: "s", SKU: "BOWL", Quantity: 10}, floortest.At(0))
	r.Pass(40*time.Minute, 10*time.Second)
	var batch []signal.Signal
	for i := range 5 {
		batch = append(batch, floortest.Signal(press, floortest.At(time.Duration(5+i)*time.Minute), units(3)))
	}
	r.Send(batch...)
	r.Pass(5*time.Second, time.Second)
	if diff := cmp.Diff([]string{"s"}, rule.schedules); diff != "" {
		t.Errorf("schedules that reached their quantity (-want +told):\n%s", diff)
	}
}

// TestNobodyWaitsForAStationThatRests: who follows a station that could not be computed is told at once that it is left.
func TestNobodyWaitsForAStationThatRests(t *testing.T) {
	r := floortest.New(t, floortest.Manifest)
	r.Quiet = true
	r.Open(nil)
	r.Pass(time.Minute, 0)
	r.Send(floortest.Signal(press, 0, units(3)))
	if err := r.Signals.Pack(); err != nil {
		t.Fatal(err)
	}
	r.Damage(press)
	r.Open(nil)
	told := make(chan []string)
	go func() {
		left, err := r.Floor.Follow(floortest.Account, []string{press}, time.Hour)
		if err != nil {
			t.Error(err)
		}
		told <- left
	}()
	select {
	case left := <-told:
		if diff := cmp.Diff([]string{press}, left); diff != "" {
			t.Errorf("left (-want +told):\n%s", diff)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it waits for a station that rests")
	}
}

// TestOneDamagedStationLeavesTheOthers: signals of one station that cannot be read do not hold up the rest of the plant.
func TestOneDamagedStationLeavesTheOthers(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	r.Pass(time.Minute, 0)
	r.Send(floortest.Signal(press, 0, units(3)), floortest.Signal("PACK", 0, units(4)))
	if err := r.Signals.Pack(); err != nil {
		t.Fatal(err)
	}
	r.Damage(press)
	r.Open(nil)
	if got := status(t, r, "PACK"); got.StatusCode != "productive" {
		t.Errorf("beside a station whose signals are damaged another one is %s", got.StatusCode)
	}
	r.Send(floortest.Signal("PACK", 0, units(1)))
	r.Pass(2*time.Hour, time.Minute)
	if got := status(t, r, press); got.StatusCode == "" {
		t.Error("the damaged station is not shown")
	}
}
