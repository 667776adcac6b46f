package floor_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/engine/energy"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/app/engine/station"
	"opsmon/app/ingest/signal"
	"opsmon/app/test/apptest"
)

// figures is all that a station shows of a range.
type figures struct {
	Segments []monitor.Segment
	Minutes  []monitor.Minute
	Issues   []monitor.Issue
	Rows     []oee.Row
	Used     []energy.Row
}

func figuresOf(t *testing.T, r *floortest.Rig, stationCode string, from, to int64) (f figures) {
	t.Helper()
	d, err := r.Floor.Detail(floortest.Account, stationCode, from, to)
	if err != nil {
		t.Fatal(err)
	}
	f.Segments, f.Minutes, f.Issues = d.Segments, d.Minutes, d.Issues
	err = r.Floor.Rows(floortest.Account, []string{stationCode}, from, to, func(_ *station.Rules, rows []oee.Row, used []energy.Row) error {
		f.Rows, f.Used = rows, used
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// message is a signal and when it arrives.
type message struct {
	signal.Signal
	arrives int64
}

// shift makes signals of a station over some hours: it runs, stops, is silent; some arrive late.
func shift(rng *rand.Rand, stationCode string, hours int) (list []message) {
	end := floortest.At(time.Duration(hours) * time.Hour)
	on, buffered := true, int64(0)
	for at := floortest.At(time.Second); at < end; at += 1000 + rng.Int64N(40_000) {
		switch rng.IntN(60) {
		case 0:
			on = !on
		case 1:
			at += rng.Int64N(20 * 60_000) // silence
		case 2:
			buffered = at + rng.Int64N(80*60_000) // the network is away until then
		}
		s := floortest.Signal(stationCode, at, map[signal.Field]float64{signal.Productive: 0, signal.ElectricalKwh: float64(at/1000) / 360})
		if on {
			s.Set(signal.Productive, 1)
			s.Set(signal.ProductionCompleteGood, float64(rng.IntN(30)))
		}
		m := message{s, at + rng.Int64N(3000)}
		if rng.IntN(20) == 0 {
			m.arrives += rng.Int64N(5 * 60_000)
		}
		list = append(list, message{m.Signal, max(m.arrives, min(buffered, end))})
	}
	slices.SortStableFunc(list, func(a, b message) int { return int(a.arrives - b.arrives) })
	return list
}

// TestAnyOrderAndAnyRestartGiveTheSame holds monitoring.md section 1: live, after restarts, in any order of arrival, and
// computed again from the log, the figures are the same.
func TestAnyOrderAndAnyRestartGiveTheSame(t *testing.T) {
	apptest.Long(t)
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			const hours = 7
			list := shift(rng, press, hours)
			schedules := []monitor.Schedule{{ID: "a", SKU: "BOWL", Quantity: 2000}, {ID: "b", SKU: "PLATE"}, {ID: "c", NonProduction: true, Reason: "BREAK"}}
			from, to := floortest.At(0), floortest.At(hours*time.Hour+10*time.Minute)

			live := floortest.New(t, floortest.Manifest).Open(nil)
			i, restarts := 0, 0
			for now := floortest.At(0); now < to; now += 15_000 {
				live.Pass(15*time.Second, 0)
				now := live.Now().UnixMilli()
				var arrived []signal.Signal
				for i < len(list) && list[i].arrives <= now {
					arrived = append(arrived, list[i].Signal)
					i++
				}
				if len(arrived) > 0 {
					live.Send(arrived...)
				}
				if n := (now - floortest.At(0)) / (2 * 3600_000); n < int64(len(schedules)) && schedules[n].ID != "" {
					start(t, live, press, schedules[n], now-int64(n)*1800_000) // the second and third are told of late
					schedules[n].ID = ""
				}
				if rng.IntN(150) == 0 {
					restarts++
					live.Open(nil)
				}
			}
			live.Pass(time.Second, 0)
			got := figuresOf(t, live, press, from, to)
			if len(got.Rows) == 0 || len(got.Issues) == 0 || len(got.Minutes) < 100 || restarts == 0 {
				t.Fatalf("%d rows, %d issues, %d minutes, %d restarts: nothing is tried", len(got.Rows), len(got.Issues), len(got.Minutes), restarts)
			}
			lasts(t, live, got, from, to)
		})
	}
}

// TestTheLiveStateStaysWhenItsBaseSettles: the live state that goes on when its base has taken in what is two minutes old, and
// what it gave out, are those that the base and the inputs after it make, while signals come late and a rate changes.
func TestTheLiveStateStaysWhenItsBaseSettles(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	const hours = 3
	list := shift(rng, press, hours)
	r := floortest.New(t, floortest.Manifest).Open(nil)
	start(t, r, press, monitor.Schedule{ID: "a", SKU: "BOWL", Quantity: 2000}, floortest.At(0))
	rates, compared, i := 0, 0, 0
	for now := floortest.At(0); now < floortest.At(hours*time.Hour); now += 5_000 {
		r.Pass(5*time.Second, 0)
		var arrived []signal.Signal
		for i < len(list) && list[i].arrives <= r.Now().UnixMilli() {
			arrived = append(arrived, list[i].Signal)
			i++
		}
		if len(arrived) > 0 {
			r.Send(arrived...)
		}
		if rng.IntN(40) == 0 {
			rates++
			apply(t, r, `"unitsPerMinute":60`, fmt.Sprintf(`"unitsPerMinute":%d`, 60+rates))
		}
		n, stray := r.Floor.Live(floortest.Account)
		if stray != "" {
			t.Fatal(stray)
		}
		compared += n
	}
	if compared < 1000 || rates < 10 {
		t.Errorf("%d states were compared, with %d rates: too little is tried", compared, rates)
	}
}

// lasts holds that figures of the press stay after a restart, and when they are computed again from the log.
func lasts(t *testing.T, r *floortest.Rig, got figures, from, to int64) {
	t.Helper()
	r.Open(nil)
	if diff := cmp.Diff(got, figuresOf(t, r, press, from, to)); diff != "" {
		t.Errorf("after a restart (-before +after):\n%s", diff)
	}
	r.Forget(press)
	if diff := cmp.Diff(got, figuresOf(t, r, press, from, to)); diff != "" {
		t.Errorf("computed again from the log (-live +again):\n%s", diff)
	}
}

func TestALateBatchOfEightyMinutesCountsAsIfItHadComeInTime(t *testing.T) {
	inTime, late := floortest.New(t, floortest.Manifest).Open(nil), floortest.New(t, floortest.Manifest).Open(nil)
	var batch []signal.Signal
	for _, r := range []*floortest.Rig{inTime, late} {
		start(t, r, press, monitor.Schedule{ID: "a", SKU: "BOWL"}, floortest.At(0))
	}
	for i := range 80 {
		s := floortest.Signal(press, floortest.At(time.Duration(i+1)*time.Minute), units(50))
		batch = append(batch, s)
		for _, r := range []*floortest.Rig{inTime, late} {
			r.Pass(time.Minute, 0)
		}
		inTime.Send(s)
	}
	if got := status(t, late, press); got.StatusCode != "disconnected" {
		t.Fatalf("without its signals the station is %s", got.StatusCode)
	}
	for _, r := range []*floortest.Rig{inTime, late} {
		r.Pass(time.Minute, 0)
	}
	late.Send(batch...)
	late.Pass(time.Second, 0)
	inTime.Pass(time.Second, 0)
	want, got := figuresOf(t, inTime, press, floortest.At(0), floortest.At(81*time.Minute)), figuresOf(t, late, press, floortest.At(0), floortest.At(81*time.Minute))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-in time +late):\n%s", diff)
	}
	if st := status(t, late, press); st.Schedule == nil || st.Schedule.GoodCount != 4000 {
		t.Errorf("the schedule shows %+v, want 4000 good", st.Schedule)
	}
}

// TestASignalThatWasStoredAndNotTakenInCounts holds that nothing is forgotten when the power fails between a signal's
// commit and what follows it: not a recent one, and not one of a time that is kept.
func TestASignalThatWasStoredAndNotTakenInCounts(t *testing.T) {
	want, got := floortest.New(t, floortest.Manifest).Open(nil), floortest.New(t, floortest.Manifest).Open(nil)
	lost := []signal.Signal{
		floortest.Signal(press, floortest.At(20*time.Minute+500*time.Millisecond), units(11)),
		floortest.Signal(press, floortest.At(3*time.Hour-time.Second), units(5)),
	}
	for _, r := range []*floortest.Rig{want, got} {
		start(t, r, press, monitor.Schedule{ID: "a", SKU: "BOWL"}, floortest.At(0))
		for i := range 3 * 60 {
			r.Pass(time.Minute, 0)
			r.Send(floortest.Signal(press, 0, units(float64(i%7))))
		}
	}
	want.Send(lost...)
	want.Pass(time.Minute, time.Second)
	got.StoreUntold(lost...)
	got.Pass(time.Minute, time.Second)
	from, to := floortest.At(0), floortest.At(3*time.Hour+time.Minute)
	if diff := cmp.Diff(figuresOf(t, want, press, from, to), figuresOf(t, got, press, from, to)); diff != "" {
		t.Errorf("(-never interrupted +interrupted):\n%s", diff)
	}
	got.Open(nil)
	if diff := cmp.Diff(figuresOf(t, want, press, from, to), figuresOf(t, got, press, from, to)); diff != "" {
		t.Errorf("after one more restart (-never interrupted +interrupted):\n%s", diff)
	}
}
