package schedule_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/errdefs"
	"opsmon/app/ingest/signal"
	"opsmon/app/test/apptest"
	"opsmon/app/work/schedule"
)

// Whatever people do, in any order, schedules of a kind never run at the same time, and the machine runs the schedule
// of the plan.
func TestRandomFloor(t *testing.T) {
	apptest.Long(t)
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := newPlant(t, `"enableManualDowntime":"on"`, `"enableManualDowntime":"on","enableScheduleStationFlexibility":"on"`)
			r := rand.New(rand.NewPCG(seed, 4))
			for range 120 {
				p.randomly(r)
				p.agrees()
				if t.Failed() {
					return
				}
			}
		})
	}
}

// randomly performs a random operation, which may be refused but must not fail.
func (p *plant) randomly(r *rand.Rand) {
	p.t.Helper()
	stations := []string{"PRESS", "PRESS-2"}
	station := stations[r.IntN(2)]
	now := p.Now().UnixMilli()
	about := func(back, ahead int) schedule.Moment {
		return schedule.Moment(now + int64(r.IntN(back+ahead+1)-back)*60_000)
	}
	at := (*schedule.Moment)(nil)
	if r.IntN(3) == 0 {
		m := about(30, 0)
		at = &m
	}
	views, _, err := p.s.List(account, everything())
	p.must(nil, err)
	id := "none"
	if len(views) > 0 {
		id = views[r.IntN(len(views))].ID
	}
	admin := person(auth.Admin)
	err = nil
	switch r.IntN(11) {
	case 0, 1:
		in := schedule.Input{StationCode: given(station), PlannedStart: given(about(10, 60))}
		if r.IntN(3) == 0 {
			in.ReasonCode = given("BREAK")
		} else {
			in.SKUCode = given("BOWL")
			if r.IntN(2) == 0 {
				in.PlannedQuantity = given(float64(1 + r.IntN(600)))
			}
		}
		if r.IntN(2) == 0 {
			in.PlannedEnd = given(in.PlannedStart.Value + schedule.Moment(r.IntN(40)+1)*60_000)
			in.AutoEnd = given(r.IntN(2) == 0)
		}
		in.AutoStart = given(r.IntN(2) == 0)
		_, err = p.write(in)
	case 2:
		in := schedule.Input{ID: id}
		if r.IntN(2) == 0 {
			in.PlannedEnd = given(about(0, 60))
		} else {
			in.PlannedQuantity = given(float64(1 + r.IntN(600)))
		}
		_, err = p.write(in)
	case 3, 4:
		_, err = do(p, func(w *floor.Work) (any, error) {
			in := schedule.StartInput{At: at, EndRunning: r.IntN(2) == 0, Correction: r.IntN(4) == 0}
			if r.IntN(4) == 0 {
				in.StationCode = station
			}
			return p.s.Start(w, admin, id, in)
		})
	case 5:
		_, err = do(p, func(w *floor.Work) (any, error) { return p.s.End(w, admin, id, schedule.EndInput{At: at}) })
	case 6:
		_, err = do(p, func(w *floor.Work) (any, error) {
			return p.s.Quick(w, admin, schedule.QuickInput{StationCode: station, SKUCode: "BOWL", At: at, EndRunning: r.IntN(2) == 0})
		})
	case 7:
		in := schedule.EntryInput{StationCode: station, At: at, Good: float64(r.IntN(50) - 10), Reject: float64(r.IntN(20)), Correction: r.IntN(2) == 0}
		if r.IntN(2) == 0 {
			in.ScheduleID = id
		}
		_, err = do(p, func(w *floor.Work) (any, error) { return p.s.Enter(w, admin, in) })
	case 8:
		list, _, listed := p.s.Entries(account, everything())
		p.must(nil, listed)
		if len(list) > 0 {
			_, err = p.undo(list[r.IntN(len(list))].ID, auth.Admin)
		}
	case 9:
		p.Send(floortest.Signal(station, now-int64(r.IntN(3))*400_000, map[signal.Field]float64{signal.ProductionCompleteGood: float64(r.IntN(200))}))
	case 10:
		p.Pass(time.Duration(1+r.IntN(20))*time.Minute, time.Minute)
		if r.IntN(4) == 0 {
			p.restart()
		}
	}
	p.Pass(time.Duration(r.IntN(3))*time.Second, 0)
	var known *errdefs.Error
	if err != nil && !errors.As(err, &known) {
		p.t.Fatalf("at %s: %v", show(now), err)
	}
}

// agrees compares the schedules with each other and with the machines.
func (p *plant) agrees() {
	p.t.Helper()
	p.Pass(2*time.Millisecond, 0) // lets schedules start and end that follow others by one ms
	views, _, err := p.s.List(account, everything())
	p.must(nil, err)
	now := p.Now().UnixMilli()
	type ran struct {
		from, to int64
		id       string
	}
	lanes, running := map[string][]ran{}, map[string][]string{}
	for _, v := range views {
		if v.ActualStart == nil {
			continue
		}
		one := ran{v.ActualStart.UnixMilli(), now + 1, v.ID}
		if v.ActualEnd != nil {
			one.to = v.ActualEnd.UnixMilli()
		} else {
			running[v.StationCode] = append(running[v.StationCode], v.ID)
		}
		kindSchedules := v.StationCode + " " + string(v.Kind)
		lanes[kindSchedules] = append(lanes[kindSchedules], one)
	}
	for kindSchedules, list := range lanes {
		slices.SortFunc(list, func(a, b ran) int { return int(a.from - b.from) })
		for i := 1; i < len(list); i++ {
			if list[i].from < list[i-1].to {
				p.t.Errorf("%s: %s and %s ran at once:\n%s\n%s", kindSchedules, list[i-1].id, list[i].id, p.story(list[i-1].id), p.story(list[i].id))
			}
		}
	}
	for _, code := range []string{"PRESS", "PRESS-2"} {
		live, err := p.Floor.LiveOf(account, code)
		p.must(nil, err)
		var machine []string
		for _, one := range live.View.Running {
			machine = append(machine, one.ID)
		}
		slices.Sort(machine)
		slices.Sort(running[code])
		if strings.Join(machine, " ") != strings.Join(running[code], " ") {
			p.t.Errorf("at %s the machine runs %v, by the plan %v", code, machine, running[code])
			for _, id := range append(machine, running[code]...) {
				p.t.Log(p.story(id))
			}
		}
	}
}
