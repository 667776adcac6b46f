package floor_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/engine/floor"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/engine/monitor"
	"opsmon/app/ingest/signal"
	"opsmon/app/test/apptest"
	"opsmon/kv"
)

// weeks lets a plant run for some days: ten at a time, whose signals come at the end, one each quarter of an hour and, all
// ten days, a schedule's start.
func weeks(t *testing.T, r *floortest.Rig, days int) {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(days), 1))
	for began := r.Now(); days > 0; days, began = days-10, r.Now() {
		start(t, r, press, monitor.Schedule{ID: fmt.Sprint("s", days), SKU: "BOWL"}, began.UnixMilli())
		var batch []signal.Signal
		for i := range min(days, 10) * 24 * 4 {
			if random.IntN(40) != 0 {
				batch = append(batch, floortest.Signal(press, began.Add(time.Duration(i)*15*time.Minute).UnixMilli(), units(float64(random.IntN(900)))))
			}
		}
		r.Pause(time.Duration(min(days, 10)) * 24 * time.Hour)
		r.Send(batch...)
		err := r.Floor.Do(floortest.Account, func(w *floor.Work) error {
			_, err := w.Record(press, monitor.Input{At: w.Now - 60_000, Kind: monitor.InputScheduleEnd, ID: fmt.Sprint("s", days)})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		untilComputed(t, r, nil)
	}
	r.Pass(3*time.Hour, 10*time.Minute)
	if err := r.Signals.Pack(); err != nil {
		t.Fatal(err)
	}
}

func health(r *floortest.Rig) floor.Health { return r.Floor.Health(floortest.Account) }

// untilComputed lets the floor work until no station is late, and tells for how many turns.
func untilComputed(t *testing.T, r *floortest.Rig, each func()) (turns int) {
	t.Helper()
	for health(r).Late > 0 {
		if turns++; turns > 1000 {
			t.Fatal("a station stays late")
		}
		if each != nil {
			each()
		}
		r.Pass(time.Second, 0)
	}
	return turns
}

// inSlots has 16 days be computed in a turn, however long they take, until the floor is opened again.
func inSlots(t *testing.T, r *floortest.Rig) {
	t.Helper()
	if err := r.Floor.Takes(floortest.Account, 0); err != nil {
		t.Fatal(err)
	}
	if err := r.Floor.Slots(floortest.Account, 16); err != nil {
		t.Fatal(err)
	}
}

func goodOf(f figures) (units int64) {
	for _, m := range f.Minutes {
		for _, p := range m.Parts {
			units += p.Good
		}
	}
	return units
}

// TestWhatComesVeryLateIsComputedInPieces: other work has its turn in between, figures stay as they were until all of it is
// done, and the account tells from when on they are to change. In the end they are what the log gives.
func TestWhatComesVeryLateIsComputedInPieces(t *testing.T) {
	apptest.Long(t)
	r := floortest.New(t, floortest.Manifest).Open(nil)
	weeks(t, r, 60)
	from, to := floortest.At(0), floortest.At(60*24*time.Hour)
	before := figuresOf(t, r, press, from, to)
	moment := floortest.At(3*24*time.Hour + 7*time.Minute)
	late := floortest.Signal(press, moment, units(70))
	inSlots(t, r)
	r.Send(late)
	turns := untilComputed(t, r, func() {
		if diff := cmp.Diff(before, figuresOf(t, r, press, from, to)); diff != "" {
			t.Fatalf("figures changed while they were computed: %.2000s", diff)
		}
		if at := health(r).Behind; at == 0 || at > moment {
			t.Errorf("figures are told to be right up to %d, and something came late for %d", at, moment)
		}
		if c := r.Floor.Account(floortest.Account).Cursors; c[1].Type != "windows" || c[1].At > moment {
			t.Errorf("cursors: %+v", c)
		}
		if err := r.Floor.Do(floortest.Account, func(*floor.Work) error { return nil }); err != nil {
			t.Errorf("in between: %v", err)
		}
	})
	if turns < 3 {
		t.Errorf("two months were computed in %d turns", turns)
	}
	after := figuresOf(t, r, press, from, to)
	if got, want := goodOf(after), goodOf(before)+70_000_000; got != want {
		t.Errorf("%d millionths of units, want %d", got, want)
	}
	r.Forget(press)
	if diff := cmp.Diff(figuresOf(t, r, press, from, to), after); diff != "" {
		t.Errorf("(-from the log +computed in pieces): %.2000s", diff)
	}
}

// TestAPieceThatTakesLongIsTheLastOfItsTurn: days are computed in the turn in which it is seen where they take no time, and each in a turn of its
// own where it takes longer than a turn may.
func TestAPieceThatTakesLongIsTheLastOfItsTurn(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	weeks(t, r, 12)
	for _, c := range []struct {
		takes       time.Duration
		least, most int
	}{{0, 0, 1}, {400 * time.Millisecond, 8, 20}} {
		if err := r.Floor.Takes(floortest.Account, c.takes); err != nil {
			t.Fatal(err)
		}
		r.Send(floortest.Signal(press, floortest.At(24*time.Hour+7*time.Minute), units(70)))
		if n := untilComputed(t, r, func() { r.Pause(time.Hour) }); n < c.least || n > c.most {
			t.Errorf("pieces that take %v are computed in %d turns, want %d to %d", c.takes, n, c.least, c.most)
		}
	}
}

// TestAKillInTheMiddleOfWhatIsComputedAgainLosesNothing: at whatever piece the process ends, it goes on from there, and with
// whatever comes meanwhile, before and behind where it has got, the figures are what the log gives.
func TestAKillInTheMiddleOfWhatIsComputedAgainLosesNothing(t *testing.T) {
	apptest.Long(t)
	for seed := range uint64(3) {
		random := rand.New(rand.NewPCG(seed, 7))
		r := floortest.New(t, floortest.Manifest).Open(nil)
		weeks(t, r, 70)
		inSlots(t, r)
		r.Send(floortest.Signal(press, floortest.At(24*time.Hour+time.Minute), units(70)))
		restarts := 0
		untilComputed(t, r, func() {
			restarts++
			s := floortest.Signal(press, floortest.At(time.Duration(random.Int64N(int64(70*24*time.Hour)))), units(11))
			switch {
			case restarts > 9:
			case random.IntN(3) == 0:
				r.StoreUntold(s)
			case random.IntN(2) == 0:
				r.Send(s)
				r.Open(nil)
				inSlots(t, r)
			default:
				r.Send(s)
			}
			r.Pause(time.Hour) // so that it is computed without delay
		})
		from, to := floortest.At(0), r.Now().UnixMilli()/60_000*60_000
		after := figuresOf(t, r, press, from, to)
		r.Forget(press)
		if diff := cmp.Diff(figuresOf(t, r, press, from, to), after); diff != "" {
			t.Errorf("seed %d: (-from the log +computed in pieces): %.2000s", seed, diff)
		}
		checked(t, r)
	}
}

// TestWhatComesForATimeBeforeAComputingThatWasHardlyBegun: the process ended when a station's computing again was noted and
// nothing of it kept; what then comes for a time before its beginning is counted as well.
func TestWhatComesForATimeBeforeAComputingThatWasHardlyBegun(t *testing.T) {
	apptest.Long(t)
	r := floortest.New(t, floortest.Manifest).Open(nil)
	weeks(t, r, 60)
	from, to := floortest.At(0), floortest.At(60*24*time.Hour)
	before := figuresOf(t, r, press, from, to)
	r.Floor.Close()
	begun := kv.NewBucket("ledgerAgain", kv.PairOf(kv.String, kv.String), kv.JSON[map[string]int64]())
	if err := r.Store.Update(func(tx *kv.Tx) error {
		return begun.Put(tx, kv.Pair[string, string]{A: floortest.Account, B: press}, map[string]int64{"late": floortest.At(40 * 24 * time.Hour)})
	}); err != nil {
		t.Fatal(err)
	}
	r.StoreUntold(floortest.Signal(press, floortest.At(3*24*time.Hour), units(70)))
	inSlots(t, r)
	r.Pass(time.Second, 0)
	untilComputed(t, r, nil)
	after := figuresOf(t, r, press, from, to)
	if got, want := goodOf(after), goodOf(before)+70_000_000; got != want {
		t.Errorf("%d millionths of units, want %d", got, want)
	}
	r.Forget(press)
	if diff := cmp.Diff(figuresOf(t, r, press, from, to), after); diff != "" {
		t.Errorf("(-from the log +computed in pieces): %.500s", diff)
	}
	checked(t, r)
}

// TestAStationThatCannotBeReadAtAStartForgetsNothingLate: what came late before the start is counted when the station can be read.
func TestAStationThatCannotBeReadAtAStartForgetsNothingLate(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	weeks(t, r, 20)
	from, to := floortest.At(0), floortest.At(20*24*time.Hour)
	before := figuresOf(t, r, press, from, to)
	mend := r.Damage(press)
	r.StoreUntold(floortest.Signal(press, floortest.At(3*24*time.Hour), units(70)))
	r.Pass(time.Second, 0)
	mend()
	untilComputed(t, r, func() { r.Pause(time.Hour) })
	if got, want := goodOf(figuresOf(t, r, press, from, to)), goodOf(before)+70_000_000; got != want {
		t.Errorf("%d millionths of units, want %d", got, want)
	}
}

// TestAKillKeepsHowFarItWas: what was computed before the process ended is not computed once more.
func TestAKillKeepsHowFarItWas(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	weeks(t, r, 60)
	inSlots(t, r)
	r.Send(floortest.Signal(press, floortest.At(24*time.Hour), units(70)))
	turns := untilComputed(t, r, func() {
		r.Open(nil)
		inSlots(t, r)
	})
	if turns < 3 || turns > 6 {
		t.Errorf("with a restart before each turn, two months were computed in %d turns", turns)
	}
}

// TestAYearWithFewSignalsIsComputedInAFewTurns: what comes for a time long ago is there in seconds.
func TestAYearWithFewSignalsIsComputedInAFewTurns(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	if err := r.Floor.Takes(floortest.Account, 0); err != nil {
		t.Fatal(err)
	}
	long := floortest.Signal(press, r.Now().Add(-365*24*time.Hour).UnixMilli(), units(70))
	r.Send(long)
	if turns := untilComputed(t, r, nil); turns > 4 {
		t.Errorf("a year was computed in %d turns", turns)
	}
	if got := goodOf(figuresOf(t, r, press, long.At/60_000*60_000, long.At/60_000*60_000+60_000)); got != 70_000_000 {
		t.Errorf("%d millionths of units", got)
	}
}

// TestADeviceWhoseClockIsBehindIsComputedSeldom: what it sends is collected, the longer the further its clock is behind.
func TestADeviceWhoseClockIsBehindIsComputedSeldom(t *testing.T) {
	apptest.Long(t)
	for _, tt := range []struct {
		behind time.Duration
		most   int64
	}{{time.Hour, 240}, {12 * time.Hour, 80}, {36 * time.Hour, 10}, {9 * 24 * time.Hour, 2}} {
		r := floortest.New(t, floortest.Manifest).Open(nil)
		for range 10 * 24 {
			r.Send(floortest.Signal(press, 0, units(60)))
			r.Pass(time.Hour, 0)
		}
		again := health(r).Backfills
		sent := 0
		for range 240 { // twenty minutes
			r.Pass(5*time.Second, 0)
			s := floortest.Signal(press, r.Now().Add(-tt.behind).UnixMilli(), units(1))
			sent++
			r.Send(s)
		}
		if n := health(r).Backfills - again; n == 0 || n > tt.most {
			t.Errorf("%v behind: in twenty minutes the station was computed %d times, want 1 to %d", tt.behind, n, tt.most)
		}
		r.Pass(2*time.Hour, time.Minute)
		if health(r).Late != 0 {
			t.Errorf("%v behind: the station stays late", tt.behind)
		}
		from, to := floortest.At(0), r.Now().UnixMilli()/60_000*60_000
		after := figuresOf(t, r, press, from, to)
		r.Forget(press)
		if diff := cmp.Diff(figuresOf(t, r, press, from, to), after); diff != "" {
			t.Errorf("%v behind: (-from the log +in the end): %.2000s", tt.behind, diff)
		}
	}
}

// TestALateStationIsServedBeforeItIsComputed: after a start the account shows what was kept, and what came late is computed
// then.
func TestALateStationIsServedBeforeItIsComputed(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	weeks(t, r, 20)
	from, to := floortest.At(0), floortest.At(20*24*time.Hour)
	before := figuresOf(t, r, press, from, to)
	for _, ago := range []time.Duration{18 * 24 * time.Hour, 20 * time.Hour} {
		late := floortest.Signal(press, r.Now().Add(-ago).UnixMilli(), map[signal.Field]float64{signal.ProductionCompleteGood: 5})
		r.StoreUntold(late)
		if diff := cmp.Diff(before, figuresOf(t, r, press, from, to)); diff != "" {
			t.Errorf("%v: (-before +after the start): %.2000s", ago, diff)
		}
		if at := health(r).Behind; at == 0 || at > late.At {
			t.Errorf("%v: nothing tells that figures from %d on are to change: %d", ago, late.At, at)
		}
		r.Pass(time.Second, 0)
		untilComputed(t, r, nil)
		after := figuresOf(t, r, press, from, to)
		if got, want := goodOf(after), goodOf(before)+5_000_000; got != want {
			t.Errorf("%v: %d millionths of units, want %d", ago, got, want)
		}
		before = after
	}
}

// TestAnotherFormatOfTheHistoryIsComputedAgain: a version that keeps days in another form serves the stations at once, from the
// newest state, and computes what was kept from the signals, whenever it is killed meanwhile.
func TestAnotherFormatOfTheHistoryIsComputedAgain(t *testing.T) {
	apptest.Long(t)
	r := floortest.New(t, floortest.Manifest).Open(nil)
	weeks(t, r, 40)
	from, to := floortest.At(0), floortest.At(40*24*time.Hour)
	before := figuresOf(t, r, press, from, to)
	live := status(t, r, press)
	r.Floor.Close()
	formats := kv.NewBucket("historyFormat", kv.String, kv.JSON[int64]())
	if err := r.Store.Update(func(tx *kv.Tx) error { return formats.Put(tx, "format", 0) }); err != nil {
		t.Fatal(err)
	}
	r.Open(nil)
	if got := status(t, r, press); got.StatusCode != live.StatusCode || (got.Schedule == nil) != (live.Schedule == nil) {
		t.Errorf("at first the station is %+v, and was %+v", got, live)
	}
	if at := health(r).Behind; at == 0 || at > from {
		t.Errorf("figures are told to be right up to %d", at)
	}
	if n := goodOf(figuresOf(t, r, press, from, to)); n != 0 {
		t.Errorf("%d millionths of units are kept of another format", n)
	}
	turns := untilComputed(t, r, func() { r.Open(nil) })
	if turns < 3 {
		t.Errorf("it took %d turns", turns)
	}
	if diff := cmp.Diff(before, figuresOf(t, r, press, from, to)); diff != "" {
		t.Errorf("(-before +computed again): %.2000s", diff)
	}
	r.Open(nil)
	if h := health(r); h.Late != 0 {
		t.Errorf("after one more start %d stations are computed again", h.Late)
	}
	checked(t, r)
}

// TestWhatPeopleCorrectDoesNotRest: a correction that is taken back at once is computed at once too.
func TestWhatPeopleCorrectDoesNotRest(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	weeks(t, r, 20)
	for range 3 {
		if err := r.Floor.Do(floortest.Account, func(w *floor.Work) error { return w.Backfill(press, floortest.At(24*time.Hour)) }); err != nil {
			t.Fatal(err)
		}
		if turns := untilComputed(t, r, nil); turns > 60 {
			t.Errorf("it took %d seconds", turns)
		}
	}
}

// TestAStartAfterTimeOffServesAtOnce: after a weekend, or months, without the service its stations are served before that time
// is kept, with the figures that are kept of it in the end.
func TestAStartAfterTimeOffServesAtOnce(t *testing.T) {
	apptest.Long(t)
	for _, off := range []time.Duration{62 * time.Hour, 40 * 24 * time.Hour, 120 * 24 * time.Hour} {
		r := floortest.New(t, floortest.Manifest).Open(nil)
		weeks(t, r, 10)
		r.Pass(2*time.Hour, time.Hour)
		kept := func() (through int64) {
			err := r.Store.View(func(tx *kv.Tx) (err error) {
				through, err = r.History.Through(tx, floortest.Account, press)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return through
		}
		before := kept()
		r.Pause(off)
		r.Reopen()
		from, to := floortest.At(0), r.Now().Add(-time.Hour).Truncate(time.Hour).UnixMilli()
		if s := status(t, r, press); s.StatusCode != "disconnected" {
			t.Errorf("%v off: the station is %s", off, s.StatusCode)
		}
		first := figuresOf(t, r, press, from, to)
		if got := kept(); got != before {
			t.Errorf("%v off: at first the station is kept through %s, and was through %s", off, floor.Instant(got), floor.Instant(before))
		}
		if n := health(r).Late; n == 0 {
			t.Errorf("%v off: no station is late", off)
		}
		r.Pass(time.Second, 0)
		untilComputed(t, r, func() { r.Pause(time.Hour) })
		after := figuresOf(t, r, press, from, to)
		if diff := cmp.Diff(after, first); diff != "" {
			t.Errorf("%v off: (-in the end +at first): %.1000s", off, diff)
		}
		if got := kept(); got <= to {
			t.Errorf("%v off: in the end the station is kept through %s", off, floor.Instant(got))
		}
		r.Forget(press)
		if diff := cmp.Diff(figuresOf(t, r, press, from, to), after); off < 90*24*time.Hour && diff != "" {
			t.Errorf("%v off: (-from the log +in the end): %.1000s", off, diff)
		}
	}
}
