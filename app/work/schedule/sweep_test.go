package schedule_test

import (
	"slices"
	"testing"
	"time"

	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/work/schedule"
	"opsmon/kv"
)

// TestSweep deletes ended schedules with their entries, but none that are in progress or may still get entries.
func TestSweep(t *testing.T) {
	p := newPlant(t)
	old := p.make(input("08:00"))
	p.must(p.start(old.ID, schedule.StartInput{}))
	p.until("08:10")
	p.must(p.enter(schedule.EntryInput{Good: 50}))
	p.until("09:00")
	p.must(p.end(old.ID, "09:00"))
	dropped := p.make(input("09:00"))
	p.must(do(p, func(w *floor.Work) (any, error) { return nil, p.s.Delete(w, person(auth.Supervisor), dropped.ID) }))
	waits := p.make(input("09:05")) // and never starts
	recent := p.make(input("09:10"))
	p.until("09:10")
	p.must(p.start(recent.ID, schedule.StartInput{}))
	p.until("10:00")
	p.must(p.end(recent.ID, "10:00"))
	runs := p.make(input("10:00"))
	p.must(p.start(runs.ID, schedule.StartInput{}))
	p.must(p.enter(schedule.EntryInput{Good: 3}))
	sweep := func(retention, late time.Duration) {
		t.Helper()
		s, err := schedule.New(schedule.Config{Store: p.Store, Retention: retention, Late: late})
		p.must(s, err)
		p.must(nil, s.Sweep(t.Context(), time.UnixMilli(clock("+1 10:00"))))
	}
	left := func(want ...*schedule.View) {
		t.Helper()
		known := map[string]bool{account: true}
		p.must(nil, p.Store.View(func(tx *kv.Tx) error {
			schedule.Check(tx, known, func(problem string) { t.Errorf("check: %s", problem) })
			return nil
		}))
		for _, v := range []*schedule.View{old, dropped, waits, recent, runs} {
			_, err := p.s.Get(account, v.ID)
			if is := err == nil; is != slices.Contains(want, v) {
				t.Errorf("the schedule of %s is there: %v (%v)", v.PlannedStart.Format("15:04"), is, err)
			}
		}
	}
	sweep(0, 0)
	left(old, dropped, waits, recent, runs)
	sweep(24*time.Hour+30*time.Minute, 40*time.Minute) // the schedule that ended at 09:00 may still get entries
	left(old, dropped, waits, recent, runs)
	sweep(24*time.Hour+15*time.Minute, 15*time.Minute)
	left(waits, recent, runs)
	sweep(time.Hour, 0)
	left(waits, runs)
}
