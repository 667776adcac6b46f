package floor_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/engine/floor"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/engine/monitor"
	"opsmon/app/ingest/signal"
	"opsmon/app/test/apptest"
)

// TestTheOrderOfArrivalCostsNothing: signals in descending order of time, or in none, cost about what they do in order. One
// by one they would cost hundreds of times as much.
func TestTheOrderOfArrivalCostsNothing(t *testing.T) {
	apptest.Long(t)
	const total, batch = 60_000, 10_000
	cost := func(order func(list []signal.Signal)) (least time.Duration) {
		for range 3 {
			r := floortest.New(t, floortest.Manifest).Open(nil)
			r.Pass(90*time.Second, 0)
			list := make([]signal.Signal, total)
			for i := range list {
				list[i] = floortest.Signal(press, floortest.At(time.Duration(i)*time.Millisecond), units(1))
			}
			order(list)
			began := time.Now()
			for part := range slices.Chunk(list, batch) {
				r.Send(part...)
			}
			if took := time.Since(began); least == 0 || took < least {
				least = took
			}
			r.Close()
		}
		return least
	}
	sorted := cost(func([]signal.Signal) {})
	for name, order := range map[string]func([]signal.Signal){
		"descending": slices.Reverse[[]signal.Signal],
		"shuffled": func(list []signal.Signal) {
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		},
	} {
		if took := cost(order); took > 10*sorted {
			t.Errorf("%s: %v, in order %v", name, took, sorted)
		}
	}
}

// TestManySignalsAreSettledByTheirNumber: a station holds a bounded number of inputs in memory, however many come in two
// minutes; its figures are those that are computed from the log, hours are kept, and so is what comes late.
func TestManySignalsAreSettledByTheirNumber(t *testing.T) {
	apptest.Long(t)
	r := floortest.New(t, floortest.Manifest).Open(nil)
	start(t, r, press, monitor.Schedule{ID: "a", SKU: "BOWL"}, floortest.At(0))
	rng := rand.New(rand.NewPCG(3, 4))
	most, sent := 0, 0
	step := func(d time.Duration, perSecond int) {
		for end := r.Now().Add(d); r.Now().Before(end); {
			r.Pass(time.Second, 0)
			now := r.Now().UnixMilli()
			list := make([]signal.Signal, perSecond)
			for i := range list {
				at := now - rng.Int64N(1000)
				if i == 0 && rng.IntN(20) == 0 {
					at -= rng.Int64N(120_000) // late, and later than what is settled
				}
				list[i] = floortest.Signal(press, at, map[signal.Field]float64{signal.ProductionCompleteGood: float64(rng.IntN(3)), signal.Productive: float64(i / 250 % 2)})
			}
			sent += len(list)
			r.Send(list...)
			most = max(most, r.Floor.Held(floortest.Account))
		}
	}
	step(58*time.Minute, 1)
	step(4*time.Minute, 300) // over a full hour
	step(2*time.Minute, 1)
	if most > floor.TrackerMost+10_000 || most < floor.TrackerMost/2 {
		t.Errorf("of %d signals %d were held, want at most about %d", sent, most, floor.TrackerMost)
	}
	r.Pass(5*time.Minute, time.Minute)
	if got := r.Floor.Health(floortest.Account).Kept; got != floortest.At(time.Hour) {
		t.Errorf("kept up to %d, want %d", got, floortest.At(time.Hour))
	}
	from, to := floortest.At(0), floortest.At(68*time.Minute)
	got := figuresOf(t, r, press, from, to)
	lasts(t, r, got, from, to)
}

// TestAFloodOfTheFutureIsSlowedDown: signals of a time that has not come cannot be settled. Their sender waits, and others
// need not.
func TestAFloodOfTheFutureIsSlowedDown(t *testing.T) {
	apptest.Long(t)
	r := floortest.New(t, floortest.Manifest).Open(nil)
	r.Pass(time.Second, 0)
	flood, quiet := "device:works/flood", "device:works/quiet"
	room := func(source string) bool { return r.Floor.Room(floortest.Account, source) }
	sent := 0
	for ; room(flood) && sent < 2_000_000; sent += 10_000 {
		list := make([]signal.Signal, 10_000)
		for i := range list {
			list[i] = floortest.Signal([]string{press, "PRESS-2"}[i%2], floortest.At(100*time.Second+time.Duration(i)*time.Millisecond), units(1))
			list[i].Source = flood
		}
		r.Send(list...)
		r.Pass(time.Millisecond, 0)
		if sent%100_000 == 0 {
			if err := r.Signals.Pack(); err != nil {
				t.Fatal(err)
			}
			r.Pass(time.Second, 0)
		}
	}
	if room(flood) || sent < 100_000 {
		t.Fatalf("a device may send more: %t, after %d signals of a time that has not come", room(flood), sent)
	}
	if !room(quiet) {
		t.Error("another device must wait for it")
	}
	r.Pass(2*time.Minute, time.Second)
	r.Pass(3*time.Minute, time.Second)
	if !room(flood) {
		t.Errorf("it may not send although its time has come; %d are held", r.Floor.Held(floortest.Account))
	}
}

// TestChangesAwaitTheEngine: while an account's stations have given out very much, its configuration changes at a pace at which
// they can follow, however many people change it.
func TestChangesAwaitTheEngine(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	r.Pass(time.Second, 0)
	await := func(people int) time.Duration {
		began := time.Now()
		var all sync.WaitGroup
		for range people {
			all.Go(func() { r.Floor.AwaitChange(floortest.Account) })
		}
		all.Wait()
		return time.Since(began)
	}
	const most = 300_000 // half of what senders of signals must not exceed
	for _, c := range []struct {
		outputs, people int
		least           time.Duration
	}{{most, 3, 0}, {most + 1, 1, 100 * time.Millisecond}, {most + 1, 3, 300 * time.Millisecond}} {
		if err := r.Floor.Crowd(floortest.Account, c.outputs); err != nil {
			t.Fatal(err)
		}
		if took := await(c.people); took < c.least || c.least == 0 && took > 90*time.Millisecond {
			t.Errorf("with %d outputs %d changes waited for %v, want at least %v", c.outputs, c.people, took, c.least)
		}
	}
	time.AfterFunc(20*time.Millisecond, func() { _ = r.Floor.Crowd(floortest.Account, 0) })
	if took := await(50); took > 2*time.Second {
		t.Errorf("changes waited %v although the engine had caught up", took)
	}
	r.Floor.AwaitChange("nobody")
}

// computing sends half an hour of very many signals of the press, so many each minute, and then one that is late, and has the
// station computed again meanwhile. done tells when that is over.
func computing(t *testing.T, r *floortest.Rig, each int) (done *atomic.Bool) {
	t.Helper()
	for i := range 30 {
		r.Pass(time.Minute, 0)
		list := make([]signal.Signal, each)
		for i := range list {
			list[i] = floortest.Signal(press, r.Now().UnixMilli()-int64(i)*60_000/int64(each), units(1))
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
	done = new(atomic.Bool)
	go func() {
		defer done.Store(true)
		if err := r.Floor.Pass(floortest.Account); err != nil { // which computes the station again
			t.Error(err)
		}
	}()
	return done
}

// TestPeopleComeInBetween: while a station with very many signals is computed again, what people do is done, and what other
// stations send is shown.
func TestPeopleComeInBetween(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	done := computing(t, r, 10_000)
	served := 0
	for ; !done.Load(); served++ {
		if err := r.Floor.Do(floortest.Account, func(w *floor.Work) error {
			if served == 3 {
				_, err := w.Record(press, monitor.Input{At: w.Now, Kind: monitor.InputEntry, ID: "e", Entry: monitor.Entry{Good: 3}})
				return err
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if n := r.Floor.Yielded(floortest.Account); n == 0 {
		t.Errorf("none of %d calls was served before the station was computed", served)
	}
	r.Pass(10*time.Second, time.Second)
	from, to := floortest.At(0), floortest.At(40*time.Minute)
	got := figuresOf(t, r, press, from, to)
	r.Forget(press)
	if diff := cmp.Diff(got, figuresOf(t, r, press, from, to)); diff != "" {
		t.Errorf("computed again from the log (-live +again):\n%s", diff)
	}
	if n := fmt.Sprint(r.Floor.Health(floortest.Account).Late); n != "0" {
		t.Errorf("%s stations are late", n)
	}
}
