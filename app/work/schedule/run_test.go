package schedule_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/errdefs"
	"opsmon/app/ingest/signal"
	"opsmon/app/work/schedule"
	"opsmon/kv"
)

func TestStartsAndEnds(t *testing.T) {
	p := newPlant(t)
	a, b := p.make(input("08:00")), p.make(input("09:00"))
	p.until("08:01")
	v, err := p.start(a.ID, schedule.StartInput{})
	p.must(v, err)
	if v.State != schedule.Running || *v.Good != 0 || *v.Rate.UnitsPerMinute != 60 || *v.Rate.From != "sku" || v.Type != "continuous" {
		t.Errorf("started: %+v", v)
	}
	_, err = p.start(a.ID, schedule.StartInput{})
	refused(t, err, errdefs.Conflict, a.ID, "running")
	p.until("08:05")
	p.good(7)
	p.until("08:10")
	_, err = p.start(b.ID, schedule.StartInput{})
	refused(t, err, errdefs.Conflict, a.ID, "endrunning=true")
	p.must(p.start(b.ID, schedule.StartInput{EndRunning: true}))
	p.told(a.ID, "completed 08:01-08:10 7/0 create start replaced")
	p.good(3) // in the ms in which b began
	p.told(b.ID, "running 08:10- 3/0 create start")
	p.until("08:20")
	v, err = p.end(b.ID, "")
	p.must(v, err)
	if *v.Good != 3 || v.ActualEnd.UnixMilli() != clock("08:20") {
		t.Errorf("ended: %+v", v)
	}
	_, err = p.end(b.ID, "")
	refused(t, err, errdefs.Conflict, "ended at")
	_, err = p.start(b.ID, schedule.StartInput{})
	refused(t, err, errdefs.Conflict, "ended at")
	_, err = p.end("nothing", "")
	refused(t, err, errdefs.NotFound)
}

// A start and an end may be recorded up to 24 hours late, but not in the time of another schedule of the kind.
func TestToldLater(t *testing.T) {
	p := newPlant(t)
	a, b, c := p.make(input("08:00")), p.make(input("08:01")), p.make(input("08:02"))
	p.until("08:40")
	p.good(5)
	p.until("09:00")
	p.must(p.start(a.ID, schedule.StartInput{At: moment("08:30")}))
	p.told(a.ID, "running 08:30- 5/0 create start") // earlier units without a schedule count for it
	_, err := p.end(a.ID, "08:29")
	refused(t, err, errdefs.Invalid, "at", "after the schedule's start")
	_, err = p.start(b.ID, schedule.StartInput{At: moment("08:20"), EndRunning: true})
	refused(t, err, errdefs.Conflict, a.ID, "later")
	p.must(p.end(a.ID, "08:35"))
	p.told(a.ID, "completed 08:30-08:35 create start end")
	_, err = p.start(b.ID, schedule.StartInput{At: moment("08:34:59")})
	refused(t, err, errdefs.Conflict, a.ID, "ran from")
	p.must(p.start(b.ID, schedule.StartInput{At: moment("08:35")}))
	p.told(b.ID, "running 08:35- 5/0 create start")
	p.must(p.end(b.ID, ""))
	for _, at := range []string{"09:02:00.001", "-1 08:59:59.999"} {
		_, err = p.start(c.ID, schedule.StartInput{At: moment(at)})
		refused(t, err, errdefs.Invalid, "at must not be")
	}
	p.must(p.start(c.ID, schedule.StartInput{At: moment("09:02")})) // a clock two minutes ahead: now
	p.told(c.ID, "running 09:00- create start")
}

// Two starts in one millisecond: the first schedule lasts one ms, and the second starts after it.
func TestOneMillisecond(t *testing.T) {
	p := newPlant(t)
	a, b := p.make(input("08:00")), p.make(input("08:01"))
	p.must(p.start(a.ID, schedule.StartInput{}))
	p.must(p.start(b.ID, schedule.StartInput{EndRunning: true}))
	p.told(a.ID, "completed 08:00-08:00:00.001 create start replaced")
	p.told(b.ID, "running 08:00:00.001- create start")
	p.must(p.end(b.ID, ""))
	p.told(b.ID, "completed 08:00:00.001-08:00:00.002 create start end")
	p.until("08:01")
	p.good(4)
	if live, err := p.Floor.LiveOf(account, "PRESS"); err != nil || len(live.View.Running) != 0 {
		t.Errorf("after both ended there run %+v, %v", live.View.Running, err)
	}
}

func TestPause(t *testing.T) {
	p := newPlant(t)
	a := p.make(input("08:00"))
	n := p.make(pause("08:10"))
	p.must(p.start(a.ID, schedule.StartInput{}))
	p.good(2)
	p.until("08:10")
	p.must(p.start(n.ID, schedule.StartInput{}))
	if v := p.get(a.ID); !v.Paused || v.State != schedule.Running {
		t.Errorf("beneath a break the schedule is %+v", v)
	}
	p.good(100)
	p.until("08:20")
	p.must(p.end(n.ID, ""))
	p.good(3)
	p.told(a.ID, "running 08:00- 5/0 create start")
	p.told(n.ID, "completed 08:10-08:20 create start end")
}

// Automatic moves take effect exactly at their times.
func TestAutomatic(t *testing.T) {
	p := newPlant(t)
	a := input("08:30")
	a.AutoStart, a.AutoEnd, a.PlannedQuantity = given(true), given(true), given(600.0)
	first := p.make(a) // 600 at 60 a minute: until 08:40
	second := input("08:50")
	second.AutoStart = given(true)
	next := p.make(second)
	third := p.make(input("08:45"))
	p.Pass(30*time.Minute+400*time.Millisecond, 0)
	p.told(first.ID, "running 08:30- create autoStart")
	p.until("08:41")
	p.told(first.ID, "completed 08:30-08:40 create autoStart autoEnd")
	p.until("08:46")
	p.must(p.start(third.ID, schedule.StartInput{}))
	p.until("08:51")
	p.told(third.ID, "completed 08:46-08:50 create start replaced")
	p.told(next.ID, "running 08:50- create autoStart")
	if e := p.get(next.ID).Events[1]; e.By != "service" || e.At.UnixMilli() != clock("08:50") {
		t.Errorf("the automatic start is %+v", e)
	}
}

// After a time in which the service was off, due moves are made up, each at its own time.
func TestCatchingUp(t *testing.T) {
	p := newPlant(t)
	var ids []string
	for i, start := range []string{"09:00", "10:00", "11:00"} {
		in := input(start)
		in.AutoStart, in.AutoEnd, in.PlannedEnd = given(true), given(i < 2), given(*moment(start[:3] + "45"))
		ids = append(ids, p.make(in).ID)
	}
	n := pause("09:10")
	n.AutoStart, n.AutoEnd, n.PlannedEnd = given(true), given(true), given(*moment("09:20"))
	ids = append(ids, p.make(n).ID)
	p.Pass(5*time.Hour, 0)
	p.restart()
	p.Pass(time.Second, 0)
	p.told(ids[0], "completed 09:00-09:45 create autoStart autoEnd")
	p.told(ids[1], "completed 10:00-10:45 create autoStart autoEnd")
	p.told(ids[2], "running 11:00- create autoStart")
	p.told(ids[3], "completed 09:10-09:20 create autoStart autoEnd")
	d, err := p.Floor.Detail(account, "PRESS", clock("09:00"), clock("10:00"))
	p.must(d, err)
	got := ""
	for _, g := range d.Segments {
		got += fmt.Sprintf(" %s:%d%s", show(g.Start), g.Ctx.Kind, g.Ctx.Reason)
	}
	if want := " 09:00:1 09:10:2BREAK 09:20:1 09:45:0"; got != want {
		t.Errorf("the hour was%s, want%s", got, want)
	}
}

// A schedule that cannot start automatically reports that and stays planned.
func TestNotStarted(t *testing.T) {
	p := newPlant(t)
	in := input("09:00")
	in.AutoStart = given(true)
	planned := p.make(in)
	quick, err := do(p, func(w *floor.Work) (*schedule.View, error) {
		return p.s.Quick(w, person(auth.Operator), schedule.QuickInput{StationCode: "PRESS", SKUCode: "BOWL", Initials: "abc"})
	})
	p.must(quick, err)
	p.must(p.end(quick.ID, "")) // 08:00, one ms long
	m := strings.Replace(floortest.Manifest, `{"code":"BOWL"`, `{"code":"CUP"`, 1)
	p.manifest(m)
	p.until("09:01")
	p.told(planned.ID, "planned create notStarted")
	if v := p.get(planned.ID); v.AutoStart || !strings.Contains(*v.Events[1].Note, "BOWL") {
		t.Errorf("it is %+v", v)
	}
	_, err = p.start(planned.ID, schedule.StartInput{})
	refused(t, err, errdefs.Conflict, "BOWL")
}

func TestManyAtAShiftStart(t *testing.T) {
	stations := ""
	for i := range 200 {
		stations += fmt.Sprintf(`{"code":"P-%d","name":"P %d"},`, i, i)
	}
	p := newPlant(t, `"stations":[{"code":"PRESS"`, `"stations":[`+stations+`{"code":"PRESS"`)
	var ids []string
	for i := range 200 {
		in := input("08:30")
		in.StationCode, in.AutoStart = given(fmt.Sprintf("P-%d", i)), given(true)
		ids = append(ids, p.make(in).ID)
	}
	p.Pass(30*time.Minute, 0)
	for _, id := range ids {
		if v := p.get(id); v.ActualStart == nil || v.ActualStart.UnixMilli() != clock("08:30") {
			t.Fatalf("%s is %s", v.StationCode, p.story(id))
		}
		if id == ids[5] {
			break
		}
	}
}

// A schedule ends with the unit that completes its quantity, once, if the account or the schedule is set to do so.
func TestQuantityReached(t *testing.T) {
	for _, tt := range []struct {
		name, manifest string
		own            schedule.Given[bool]
		want           string
	}{
		{"as the account says", `"on"`, schedule.Given[bool]{}, "completed 08:00-08:05 10/0 create start quantityReached"},
		{"as the account does not say", `"off"`, schedule.Given[bool]{}, "running 08:00- 14/0 create start"},
		{"as the schedule says", `"off"`, given(true), "completed 08:00-08:05 10/0 create start quantityReached"},
		{"as the schedule does not say", `"on"`, given(false), "running 08:00- 14/0 create start"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlant(t, `"enableAutoEndOnQuantityComplete":"on"`, `"enableAutoEndOnQuantityComplete":`+tt.manifest)
			in := input("08:00")
			in.PlannedQuantity, in.AutoEndQuantity = given(10.0), tt.own
			v := p.make(in)
			p.must(p.start(v.ID, schedule.StartInput{}))
			p.until("08:04")
			p.good(4)
			p.until("08:05")
			p.good(6)
			p.until("08:06")
			p.good(4)
			p.told(v.ID, tt.want)
		})
	}
}

// The next of its kind starts a millisecond after the unit; late signals do not move the end.
func TestAfterTheQuantity(t *testing.T) {
	p := newPlant(t)
	in := input("08:00")
	in.PlannedQuantity = given(10.0)
	a, b := p.make(in), p.make(input("09:00"))
	p.must(p.start(a.ID, schedule.StartInput{}))
	p.until("08:05")
	p.good(10)
	p.told(a.ID, "completed 08:00-08:05 10/0 create start quantityReached")
	p.must(p.start(b.ID, schedule.StartInput{At: moment("08:05")}))
	p.told(b.ID, "running 08:05:00.001- create start")
	p.until("08:10")
	p.Send(floortest.Signal("PRESS", clock("08:02"), map[signal.Field]float64{signal.ProductionCompleteGood: 3}))
	p.until("08:11")
	p.told(a.ID, "completed 08:00-08:05 13/0 create start quantityReached")
}

// A change of the quantity while the schedule runs applies from then on: raised, it can be reached again; lowered, it
// may be reached at once.
func TestChangedQuantity(t *testing.T) {
	p := newPlant(t)
	in := input("08:00")
	in.PlannedQuantity = given(20.0)
	in.AutoEndQuantity = given(true)
	v := p.make(in)
	p.must(p.start(v.ID, schedule.StartInput{}))
	p.until("08:01")
	p.good(9)
	p.must(p.write(schedule.Input{ID: v.ID, PlannedQuantity: given(30.0)}))
	p.until("08:02")
	p.good(15)
	p.told(v.ID, "running 08:00- 24/0 create start change")
	p.must(p.write(schedule.Input{ID: v.ID, PlannedQuantity: given(24.0)}))
	p.until("08:03")
	p.told(v.ID, "completed 08:00-08:02 24/0 create start change change quantityReached")
}

func TestMaximum(t *testing.T) {
	p := newPlant(t, `"domain":"works.example",`, `"domain":"works.example","maxProductionCountPerSchedule":10,`)
	v := p.make(input("08:00"))
	p.must(p.start(v.ID, schedule.StartInput{}))
	p.until("08:01")
	p.good(8)
	p.must(p.enter(schedule.EntryInput{Bad: 1}))
	_, err := p.enter(schedule.EntryInput{Bad: 1.5})
	refused(t, err, errdefs.Conflict, "maxProductionCountPerSchedule", "10")
	p.until("08:02")
	p.good(8)
	p.until("08:03")
	p.good(8)
	p.told(v.ID, "running 08:00- 9/1 create start maximumReached")
}

// Two tablets start a schedule at once: one succeeds, the other gets an error that names the running schedule.
func TestTwoTabletsAtOnce(t *testing.T) {
	p := newPlant(t)
	ids := []string{p.make(input("08:00")).ID, p.make(input("08:01")).ID}
	errs := make([]error, 2)
	var wait sync.WaitGroup
	for i := range 2 {
		wait.Go(func() { _, errs[i] = p.start(ids[i], schedule.StartInput{}) })
	}
	wait.Wait()
	if (errs[0] == nil) == (errs[1] == nil) {
		t.Fatalf("both the same: %v, %v", errs[0], errs[1])
	}
	won := 0
	if errs[0] != nil {
		won = 1
	}
	refused(t, errs[1-won], errdefs.Conflict, ids[won], "running")
}

// Schedules end when their station leaves the manifest.
func TestStationLeft(t *testing.T) {
	p := newPlant(t)
	a, b := p.make(input("08:00")), p.make(input("09:00"))
	p.must(p.start(a.ID, schedule.StartInput{}))
	p.until("08:30")
	p.manifest(strings.Replace(floortest.Manifest, `{"code":"PRESS","name":"Press","downtimeDetectionMode":"utilisation","utilisationDowntimeThreshold":120000},`, "", 1))
	p.until("08:31")
	var states []string
	for _, id := range []string{a.ID, b.ID} {
		v := p.get(id)
		states = append(states, string(v.State)+" "+string(v.Events[len(v.Events)-1].Move))
	}
	if got := strings.Join(states, ", "); got != "completed stationLeft, deleted stationLeft" {
		t.Errorf("they are %s", got)
	}
	_, err := p.write(input("10:00"))
	refused(t, err, errdefs.Invalid, "stationCode")
}

// An entry between the moment of an automatic end and its recording either counts for the schedule or is refused.
func TestEntryMeetsTheEnd(t *testing.T) {
	reached := func(p *plant) { // less than a second has passed since
		g := floortest.Signal("PRESS", p.Now().UnixMilli(), map[signal.Field]float64{signal.ProductionCompleteGood: 10})
		g.Account, g.Arrived, g.Source = account, g.At, "device:works/gateway"
		_, err := p.Signals.Append([]signal.Signal{g})
		p.must(nil, err)
	}
	timed := input("08:00")
	timed.PlannedEnd, timed.AutoEnd = given(*moment("08:05")), given(true)
	counted := input("08:00")
	counted.PlannedQuantity = given(10.0)
	for _, tt := range []struct {
		name  string
		in    schedule.Input
		ends  func(*plant)
		named bool
		want  string
	}{
		{"quantity", counted, reached, false, "completed 08:00-08:05 10/0 create start quantityReached"},
		{"quantity, by its id", counted, reached, true, "completed 08:00-08:05 8/2 create start quantityReached"},
		{"time", timed, func(p *plant) { p.good(10) }, false, "completed 08:00-08:05 10/0 create start autoEnd"},
		{"time, by its id", timed, func(p *plant) { p.good(10) }, true, "completed 08:00-08:05 8/2 create start autoEnd"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlant(t)
			v := p.make(tt.in)
			p.must(p.start(v.ID, schedule.StartInput{}))
			p.until("08:04:59")
			if tt.in.AutoEnd.Value {
				tt.ends(p)
				p.Pause(time.Second)
			} else {
				p.until("08:05")
				tt.ends(p)
			}
			p.Pause(600 * time.Millisecond)
			in := schedule.EntryInput{Reject: 2}
			if tt.named {
				in.ScheduleID = v.ID
			}
			e, err := p.enter(in)
			if tt.named {
				p.must(e, err)
			} else {
				refused(t, err, errdefs.Conflict, "no production schedule runs")
			}
			p.until("08:06")
			p.told(v.ID, tt.want)
		})
	}
}

// Late units that would end a schedule before one of its entries end it after that entry.
func TestLateEndIsBehindEntries(t *testing.T) {
	p := newPlant(t)
	in := input("08:00")
	in.PlannedQuantity = given(10.0)
	v := p.make(in)
	p.must(p.start(v.ID, schedule.StartInput{}))
	p.until("08:05")
	p.good(9)
	p.until("08:06")
	p.must(p.enter(schedule.EntryInput{Reject: 2}))
	p.until("08:07")
	p.Send(floortest.Signal("PRESS", clock("08:05:30"), map[signal.Field]float64{signal.ProductionCompleteGood: 4}))
	p.Pass(2*time.Second, time.Second)
	p.told(v.ID, "completed 08:00-08:06 11/2 create start quantityReached")
}

// One unreadable schedule does not prevent other stations' schedules from starting, before and after a restart.
func TestADamagedScheduleIsInTheWayOfNoOtherStation(t *testing.T) {
	p := newPlant(t)
	p.Quiet = true
	var ids []string
	for _, at := range []struct{ station, start string }{{"PRESS", "08:30"}, {"PACK", "08:30"}, {"PACK", "09:30"}} {
		in := input(at.start)
		in.StationCode, in.AutoStart, in.AutoEnd, in.PlannedQuantity = given(at.station), given(true), given(true), given(600.0)
		ids = append(ids, p.make(in).ID)
	}
	keys := kv.PairOf(kv.String, kv.String)
	k := kv.Pair[string, string]{A: account, B: ids[0]}
	whole := kv.NewBucket("schedule", keys, kv.JSON[schedule.Schedule]())
	var good schedule.Schedule
	p.must(nil, p.Store.Update(func(tx *kv.Tx) (err error) {
		if good, err = whole.Get(tx, k); err != nil {
			return err
		}
		return kv.NewBucket("schedule", keys, kv.Raw).Put(tx, k, []byte("damaged"))
	}))
	p.until("08:31")
	p.told(ids[1], "running 08:30- create autoStart")
	p.restart()
	p.until("09:31")
	p.told(ids[2], "running 09:30- create autoStart")
	p.must(nil, p.Store.Update(func(tx *kv.Tx) error { return whole.Put(tx, k, good) }))
}
