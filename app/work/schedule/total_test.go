package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/engine/monitor"
	"opsmon/app/errdefs"
	"opsmon/app/ingest/signal"
	"opsmon/app/test/apptest"
	"opsmon/app/work/schedule"
)

// stop enters manual downtime of the past.
func (p *plant) stop(from, to int64) {
	p.t.Helper()
	_, err := do(p, func(w *floor.Work) (any, error) {
		if _, err := w.Record("PRESS", monitor.Input{At: from, Kind: monitor.InputManualStart}); err != nil {
			return nil, err
		}
		_, err := w.Record("PRESS", monitor.Input{At: to, Kind: monitor.InputManualEnd})
		return nil, err
	})
	p.must(nil, err)
}

func (p *plant) entries() []*schedule.EntryView {
	p.t.Helper()
	list, _, err := p.s.Entries(account, everything())
	p.must(nil, err)
	return list
}

// An entry that was valid may exceed the total after later facts. The total then stops at zero, the entry and its
// schedule show the difference, and the entry can be undone.
func TestEntryLosesItsUnits(t *testing.T) {
	p := newPlant(t)
	a := p.make(input("08:00")).ID
	p.must(p.start(a, schedule.StartInput{}))
	p.until("08:10")
	p.good(5)
	p.until("08:20")
	first, err := p.enter(schedule.EntryInput{Reject: 3})
	p.must(nil, err)
	second, err := p.enter(schedule.EntryInput{Good: -2, Correction: true})
	p.must(nil, err)
	p.told(a, "running 08:00- 0/3 create start")
	if n := *p.get(a).Unapplied; n != 0 {
		t.Errorf("%d entries do not count in full", n)
	}

	p.stop(clock("08:09"), clock("08:11")) // nothing counts during the downtime
	p.told(a, "running 08:00- create start")
	if n := *p.get(a).Unapplied; n != 2 {
		t.Errorf("%d entries do not count in full, want 2", n)
	}
	list := p.entries()
	if u := list[0].Unapplied; u == nil || *u != (schedule.Unapplied{Good: -3, Bad: 3}) && *u != (schedule.Unapplied{Good: -2}) {
		t.Errorf("of the first %+v is unapplied", u)
	}
	p.until("08:25")
	p.good(7)
	p.told(a, "running 08:00- 7/0 create start") // it does not subtract from other units
	for _, e := range []*schedule.EntryView{first, second} {
		p.must(p.undo(e.ID, auth.Operator))
	}
	p.told(a, "running 08:00- 7/0 create start")
	if n := *p.get(a).Unapplied; n != 0 {
		t.Errorf("%d entries do not count in full when they are taken back", n)
	}
	for _, e := range p.entries() {
		if e.Unapplied != nil {
			t.Errorf("of %s %+v is unapplied", e.ID, *e.Unapplied)
		}
	}
}

// Random entries, late signals and manual downtimes never lead to a negative total, entries and undos never leave
// another entry short, and all answers are the same after a recalculation from the log.
func TestTotalsAreNeverNegative(t *testing.T) {
	apptest.Long(t)
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := newPlant(t)
			r := rand.New(rand.NewPCG(seed, 9))
			a := p.make(input("08:00")).ID
			p.must(p.start(a, schedule.StartInput{}))
			falls := 20 + r.IntN(40)
			for i := range 60 {
				p.meddle(r, a)
				if i == falls {
					p.fallShort(a)
				}
				p.Pass(time.Duration(1+r.IntN(180))*time.Second, 0)
				p.notNegative()
				if t.Failed() {
					return
				}
			}
			views := func() (all [2]any) {
				list, _, err := p.s.List(account, everything())
				p.must(nil, err)
				return [2]any{list, p.entries()}
			}
			before := views()
			p.Forget("PRESS")
			if diff := cmp.Diff(before, views()); diff != "" {
				t.Errorf("computed again from the log (-live +again):\n%s", diff)
			}
		})
	}
}

// fallShort rejects all good units, and then enters downtime for a time in which some of them were made.
func (p *plant) fallShort(id string) {
	p.t.Helper()
	p.Pass(2*time.Second, 0)
	made := p.Now().UnixMilli()
	p.good(10)
	p.Pass(2*time.Second, 0)
	was := p.get(id)
	p.must(p.enter(schedule.EntryInput{Reject: *was.Good}))
	p.Pass(time.Second, 0)
	p.stop(made-1, made+1)
	if now := p.get(id); *now.Unapplied <= *was.Unapplied {
		p.t.Errorf("of %v good units 10 are gone, and %d entries fall short as before", *was.Good, *now.Unapplied)
	}
}

// meddle makes an entry, sends late signals or enters a downtime in the past.
func (p *plant) meddle(r *rand.Rand, id string) {
	p.t.Helper()
	now := p.Now().UnixMilli()
	back := func() int64 { return max(clock("08:00"), now-r.Int64N(3_600_000)) }
	var at *schedule.Moment
	if r.IntN(2) == 0 {
		m := schedule.Moment(back())
		at = &m
	}
	var err error
	was, what := p.get(id), r.IntN(7)
	switch what {
	case 0, 1:
		_, err = p.enter(schedule.EntryInput{At: at, Reject: float64(1 + r.IntN(20))})
	case 2:
		_, err = p.enter(schedule.EntryInput{At: at, Good: float64(r.IntN(20) - 15), Bad: float64(r.IntN(10) - 8), Reject: float64(r.IntN(5)), Correction: true})
	case 3:
		p.Send(floortest.Signal("PRESS", back(), map[signal.Field]float64{signal.ProductionCountGood: float64(r.IntN(60))}))
	case 4:
		p.Send(floortest.Signal("PRESS", 0, map[signal.Field]float64{signal.ProductionCompleteGood: float64(r.IntN(20)), signal.ProductionCompleteBad: float64(r.IntN(4))}))
	case 5:
		from := back()
		if to := min(now, from+r.Int64N(600_000)); from < to && r.IntN(2) == 0 {
			p.stop(from, to)
		}
	case 6:
		if list := p.entries(); len(list) > 0 {
			_, err = p.undo(list[r.IntN(len(list))].ID, auth.Operator)
		}
	}
	if err != nil && errdefs.KindOf(err) != errdefs.Conflict && errdefs.KindOf(err) != errdefs.Invalid {
		p.t.Fatal(err)
	}
	if now := p.get(id); *now.Unapplied > *was.Unapplied && what != 3 && what != 5 {
		p.t.Errorf("at %s %d entries fall short, and %d before (%d, %v)", show(p.Now().UnixMilli()), *now.Unapplied, *was.Unapplied, what, err)
	}
}

func (p *plant) notNegative() {
	p.t.Helper()
	list, _, err := p.s.List(account, everything())
	p.must(nil, err)
	for _, v := range list {
		if *v.Good < 0 || *v.Bad < 0 {
			p.t.Errorf("at %s %s has %v good and %v bad", show(p.Now().UnixMilli()), v.ID, *v.Good, *v.Bad)
		}
	}
	live, err := p.Floor.LiveOf(account, "PRESS")
	p.must(nil, err)
	for _, run := range live.View.Running {
		if run.Good < 0 || run.Bad < 0 {
			p.t.Errorf("at %s the machine has %v good and %v bad", show(p.Now().UnixMilli()), run.Good, run.Bad)
		}
	}
}
