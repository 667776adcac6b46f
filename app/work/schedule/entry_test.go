package schedule_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/engine/monitor"
	"opsmon/app/errdefs"
	"opsmon/app/work/schedule"
)

func (p *plant) undo(id string, by auth.Role) (*schedule.EntryView, error) {
	return do(p, func(w *floor.Work) (*schedule.EntryView, error) {
		return p.s.Undo(w, person(by), id, schedule.UndoInput{Initials: "xyz"})
	})
}

// Operators enter, reject, correct and undo.
func TestEntries(t *testing.T) {
	p := newPlant(t)
	_, err := p.enter(schedule.EntryInput{Good: 5})
	refused(t, err, errdefs.Conflict, "no production schedule runs at PRESS")
	v := p.make(input("08:00"))
	_, err = p.enter(schedule.EntryInput{Good: 5, ScheduleID: v.ID})
	refused(t, err, errdefs.Conflict, "has not started")
	p.must(p.start(v.ID, schedule.StartInput{}))
	p.until("08:10")
	first, err := p.enter(schedule.EntryInput{Good: 50, Bad: 2, Note: "first box"})
	p.must(first, err)
	if first.ScheduleID != v.ID || first.EffectiveAt.UnixMilli() != clock("08:10") || first.By != "operator@works.example" || *first.Note != "first box" {
		t.Errorf("entered: %+v", first)
	}
	p.told(v.ID, "running 08:00- 50/2 create start")
	p.until("08:20")
	p.must(p.enter(schedule.EntryInput{Reject: 4}))
	p.told(v.ID, "running 08:00- 46/6 create start")
	p.must(p.enter(schedule.EntryInput{Good: -1.5, Bad: 1, Correction: true}))
	p.told(v.ID, "running 08:00- 44.5/7 create start")
	for _, in := range []schedule.EntryInput{{Reject: 45}, {Good: -44.6, Correction: true}, {Bad: -7.5, Correction: true}} {
		_, err = p.enter(in)
		refused(t, err, errdefs.Conflict, "44.5 good and 7 bad", "negative")
	}
	for _, in := range []schedule.EntryInput{{}, {Good: -1}, {Bad: -1}, {Good: 1, At: moment("08:23")}, {Good: 1, At: moment("07:59"), ScheduleID: v.ID}} {
		_, err = p.enter(in)
		refused(t, err, errdefs.Invalid)
	}
	p.until("08:30")
	second, err := p.undo(first.ID, auth.Operator)
	refused(t, err, errdefs.Conflict, "negative") // 48.5 of those good units are rejected or corrected
	_ = second
	third, err := p.enter(schedule.EntryInput{Good: 10})
	p.must(third, err)
	p.told(v.ID, "running 08:00- 54.5/7 create start")
	counter, err := p.undo(third.ID, auth.Operator)
	p.must(counter, err)
	if counter.Good != -10 || *counter.Undoes != third.ID || counter.Initials != "xyz" {
		t.Errorf("the counter-entry is %+v", counter)
	}
	p.told(v.ID, "running 08:00- 44.5/7 create start")
	_, err = p.undo(third.ID, auth.Operator)
	refused(t, err, errdefs.Conflict, "was undone by "+counter.ID)
	_, err = p.undo(counter.ID, auth.Operator)
	refused(t, err, errdefs.Conflict, "reverses another one")
	_, err = p.undo("nothing", auth.Operator)
	refused(t, err, errdefs.NotFound)
	list, total, err := p.s.Entries(account, everything())
	p.must(nil, err)
	sum, links := 0.0, ""
	for _, e := range list {
		sum += e.Good - e.Reject
		if e.ID == third.ID {
			links += "undone by " + *e.UndoneBy
		}
		if e.ID == counter.ID {
			links += *e.Undoes
		}
	}
	if total != 5 || sum != 44.5 || links != "undone by "+counter.ID+third.ID && links != third.ID+"undone by "+counter.ID {
		t.Errorf("%d entries are kept, with %v good units, %s", total, sum, links)
	}
}

// An entry for an earlier time, or an undo, must leave enough units for later rejects, even if the total at the end is
// enough.
func TestEntryBeforeAReject(t *testing.T) {
	for _, ended := range []bool{false, true} {
		p := newPlant(t)
		v := p.make(input("08:00"))
		p.must(p.start(v.ID, schedule.StartInput{}))
		p.until("08:10")
		first, err := p.enter(schedule.EntryInput{Good: 5})
		p.must(first, err)
		p.until("08:20")
		p.must(p.enter(schedule.EntryInput{Reject: 4}))
		p.until("08:20:20") // in the same minute
		p.must(p.enter(schedule.EntryInput{Good: 9}))
		p.until("08:40")
		if ended {
			p.must(p.end(v.ID, ""))
		}
		less := func(n float64) error {
			_, err := do(p, func(w *floor.Work) (any, error) {
				return p.s.Enter(w, person(auth.Admin), schedule.EntryInput{StationCode: "PRESS", ScheduleID: v.ID, At: moment("08:15"), Good: -n, Correction: true, Initials: "abc"})
			})
			return err
		}
		refused(t, less(2), errdefs.Conflict, "1 good and 4 bad units", "negative")
		_, err = p.undo(first.ID, auth.Admin)
		refused(t, err, errdefs.Conflict, "1 good and 4 bad units", "negative")
		p.must(nil, less(1))
		if got := p.get(v.ID); *got.Good != 9 || *got.Bad != 4 || *got.Unapplied != 0 {
			t.Errorf("ended %t: %v good, %v bad, %d unapplied", ended, *got.Good, *got.Bad, *got.Unapplied)
		}
	}
}

// Entries made in a pause count at one moment, in the order in which they were made.
func TestEntriesOfOneMoment(t *testing.T) {
	for _, ended := range []bool{false, true} {
		p := newPlant(t)
		v, n := p.make(input("08:00")), p.make(pause("08:10"))
		p.must(p.start(v.ID, schedule.StartInput{}))
		p.until("08:10")
		p.must(p.start(n.ID, schedule.StartInput{}))
		var first *schedule.EntryView
		for i, in := range []schedule.EntryInput{{Good: 5}, {Reject: 4}, {Good: 9}, {Reject: 2}, {Good: 1}} {
			p.Pass(time.Second, 0)
			e, err := p.enter(in)
			p.must(e, err)
			if i == 0 {
				first = e
			}
		}
		p.until("08:20")
		if ended {
			p.must(p.end(n.ID, ""))
			p.must(p.end(v.ID, ""))
		}
		_, err := p.undo(first.ID, auth.Admin)
		refused(t, err, errdefs.Conflict, "1 good and 4 bad units", "negative")
		if got := p.get(v.ID); *got.Good != 9 || *got.Bad != 6 || *got.Unapplied != 0 {
			t.Errorf("ended %t: %v good, %v bad, %d unapplied", ended, *got.Good, *got.Bad, *got.Unapplied)
		}
	}
}

// An entry made by mistake does not make operators the permanent source of the count.
func TestUndoneEntryIsNoSource(t *testing.T) {
	p := newPlant(t)
	v := p.make(input("08:00"))
	p.must(p.start(v.ID, schedule.StartInput{}))
	p.until("08:10")
	e, err := p.enter(schedule.EntryInput{Good: 5})
	p.must(e, err)
	p.must(p.undo(e.ID, auth.Operator))
	p.until("08:11")
	p.good(3)
	p.told(v.ID, "running 08:00- 3/0 create start")
	p.must(p.enter(schedule.EntryInput{Good: 7})) // shown, not added
	p.told(v.ID, "running 08:00- 3/0 create start")
	if got := p.get(v.ID); *got.Other != 7 {
		t.Errorf("of the other source are %v", *got.Other)
	}
}

// Entries made while the schedule is paused or after it has ended count when it last ran.
func TestEntriesInAPause(t *testing.T) {
	p := newPlant(t)
	v, n := p.make(input("08:00")), p.make(pause("08:10"))
	p.must(p.start(v.ID, schedule.StartInput{}))
	p.until("08:10")
	p.must(p.start(n.ID, schedule.StartInput{}))
	p.until("08:15")
	e, err := p.enter(schedule.EntryInput{Good: 5})
	p.must(e, err)
	if show(e.EffectiveAt.UnixMilli()) != "08:09:59.999" {
		t.Errorf("in a pause it counts at %s", show(e.EffectiveAt.UnixMilli()))
	}
	p.until("08:20")
	p.must(p.end(n.ID, ""))
	p.until("08:30")
	p.must(p.end(v.ID, ""))
	p.until("08:40")
	e, err = p.enter(schedule.EntryInput{Good: 4, At: moment("08:25")}) // a tablet that was offline
	p.must(e, err)
	e, err = p.enter(schedule.EntryInput{Good: 3, At: moment("08:12")})
	p.must(e, err)
	p.told(v.ID, "completed 08:00-08:30 12/0 create start end")
	_, err = p.enter(schedule.EntryInput{Good: 3, At: moment("08:35"), ScheduleID: v.ID})
	refused(t, err, errdefs.Invalid, "after the schedule's end")
	_, err = p.enter(schedule.EntryInput{Good: 3})
	refused(t, err, errdefs.Conflict, "no production schedule")
}

// An end recorded late does not exclude entries made before.
func TestEndBeforeAnEntry(t *testing.T) {
	p := newPlant(t)
	v := p.make(input("08:00"))
	p.must(p.start(v.ID, schedule.StartInput{}))
	p.until("08:10")
	e, err := p.enter(schedule.EntryInput{Good: 5})
	p.must(e, err)
	p.until("08:20")
	_, err = p.end(v.ID, "08:09")
	refused(t, err, errdefs.Conflict, v.ID, "2026-03-02T08:10:00.000Z")
	other := p.make(input("08:30"))
	_, err = p.start(other.ID, schedule.StartInput{At: moment("08:05"), EndRunning: true})
	refused(t, err, errdefs.Conflict, v.ID)
	p.must(p.undo(e.ID, auth.Operator))
	p.must(p.enter(schedule.EntryInput{Good: 7}))
	p.must(p.start(other.ID, schedule.StartInput{EndRunning: true})) // in the same ms as the entry
	p.told(v.ID, "completed 08:00-08:20:00.001 7/0 create start replaced")
	p.told(other.ID, "running 08:20:00.001- create start")
}

// Only an admin may correct an ended schedule, if the account allows it.
func TestHistoricalCorrection(t *testing.T) {
	p := newPlant(t)
	in := input("08:00")
	in.PlannedQuantity = given(10.0)
	v := p.make(in)
	p.must(p.start(v.ID, schedule.StartInput{}))
	p.until("08:10")
	p.good(10)
	p.told(v.ID, "completed 08:00-08:10 10/0 create start quantityReached")
	p.until("+1 12:00")
	correct := schedule.EntryInput{StationCode: "PRESS", ScheduleID: v.ID, Good: -2, Bad: 2, Correction: true, Initials: "abc"}
	enter := func(by auth.Role) (*schedule.EntryView, error) {
		return do(p, func(w *floor.Work) (*schedule.EntryView, error) { return p.s.Enter(w, person(by), correct) })
	}
	_, err := enter(auth.Supervisor)
	refused(t, err, errdefs.Forbidden, "admin")
	e, err := enter(auth.Admin)
	p.must(e, err)
	if show(e.EffectiveAt.UnixMilli()) != "08:10" { // the time of the unit that completed it
		t.Errorf("it counts at %s", show(e.EffectiveAt.UnixMilli()))
	}
	p.told(v.ID, "completed 08:00-08:10 8/2 create start quantityReached")
	correct.Good = -9
	_, err = enter(auth.Admin)
	refused(t, err, errdefs.Conflict, "negative")
	_, err = p.undo(e.ID, auth.Supervisor)
	refused(t, err, errdefs.Forbidden)
	p.must(p.undo(e.ID, auth.Admin))
	p.told(v.ID, "completed 08:00-08:10 10/0 create start quantityReached")
	p.manifest(strings.Replace(floortest.Manifest, `"enableHistoricalCorrection":"on"`, `"enableHistoricalCorrection":"off"`, 1))
	correct.Good = -1
	_, err = enter(auth.Admin)
	refused(t, err, errdefs.Forbidden, "enableHistoricalCorrection", "account")
	// The flag of running schedules has no influence on it.
	p.manifest(strings.NewReplacer(`"enableHistoricalCorrection":"on"`, `"enableHistoricalCorrection":"off"`, `"enableProductionCorrection":"on",`, "").Replace(floortest.Manifest))
	_, err = enter(auth.Admin)
	refused(t, err, errdefs.Forbidden, "enableHistoricalCorrection", "account")
	p.manifest(strings.Replace(floortest.Manifest, `"enableProductionCorrection":"on",`, "", 1))
	p.must(enter(auth.Admin))
}

// A correction reopens a completed schedule; the reason for its end does not end it again.
func TestReopened(t *testing.T) {
	p := newPlant(t)
	in := input("08:00")
	in.PlannedQuantity = given(10.0)
	a, b := p.make(in), p.make(input("09:00"))
	p.must(p.start(a.ID, schedule.StartInput{}))
	p.until("08:10")
	p.good(10)
	p.until("08:20")
	p.good(5)
	reopen := func(id string, by auth.Role) (*schedule.View, error) {
		return do(p, func(w *floor.Work) (*schedule.View, error) {
			return p.s.Start(w, person(by), id, schedule.StartInput{Correction: true, Initials: "abc", Note: "ended too soon"})
		})
	}
	_, err := reopen(a.ID, auth.Supervisor)
	refused(t, err, errdefs.Forbidden, "admin")
	_, err = reopen(b.ID, auth.Admin)
	refused(t, err, errdefs.Conflict, "planned")
	p.must(reopen(a.ID, auth.Admin))
	p.until("08:30")
	p.told(a.ID, "running 08:00- 15/0 create start quantityReached correction")
	p.restart()
	p.until("08:31")
	p.told(a.ID, "running 08:00- 15/0 create start quantityReached correction")
	p.must(p.end(a.ID, ""))
	p.must(p.start(b.ID, schedule.StartInput{}))
	_, err = reopen(a.ID, auth.Admin)
	refused(t, err, errdefs.Conflict, b.ID, "was started after")
}

func TestManualDowntimeCountsNothing(t *testing.T) {
	p := newPlant(t)
	v := p.make(input("08:00"))
	p.must(p.start(v.ID, schedule.StartInput{}))
	p.until("08:10")
	p.good(4)
	p.until("08:10:30")
	p.must(do(p, func(w *floor.Work) (any, error) {
		_, err := w.Record("PRESS", monitor.Input{At: w.Now, Kind: monitor.InputManualStart})
		return nil, err
	}))
	p.until("08:11")
	_, err := p.enter(schedule.EntryInput{Good: 1})
	refused(t, err, errdefs.Conflict, "manual downtime")
	p.must(p.enter(schedule.EntryInput{Reject: 1}))
	p.told(v.ID, "running 08:00- 3/1 create start")
}

// Each operation whose flag is off is refused with the flag and the level that decided.
func TestFlags(t *testing.T) {
	type operation struct {
		flag string
		try  func(p *plant) error
	}
	start := func(p *plant, in schedule.Input) string {
		v := p.make(in)
		p.must(p.start(v.ID, schedule.StartInput{}))
		return v.ID
	}
	move := func(p *plant, id, to string) error {
		_, err := do(p, func(w *floor.Work) (*schedule.View, error) {
			return p.s.Move(w, person(auth.Supervisor), id, schedule.MoveInput{StationCode: to})
		})
		return err
	}
	enter := func(in schedule.EntryInput) func(p *plant) error {
		return func(p *plant) error {
			start(p, input("08:00"))
			p.good(5)
			_, err := p.enter(in)
			return err
		}
	}
	for _, o := range []operation{
		{"enableQuickScheduleStart", func(p *plant) error {
			_, err := do(p, func(w *floor.Work) (*schedule.View, error) {
				return p.s.Quick(w, person(auth.Operator), schedule.QuickInput{StationCode: "PRESS", SKUCode: "BOWL"})
			})
			return err
		}},
		{"enableScheduleCutShort", func(p *plant) error {
			in := input("08:00")
			in.PlannedQuantity = given(100.0)
			id := start(p, in)
			p.good(99)
			_, err := p.end(id, "")
			return err
		}},
		{"enableScheduleCutShort", func(p *plant) error { // by an operator who starts another
			in := input("08:00")
			in.PlannedEnd = given(*moment("09:00"))
			start(p, in)
			next := p.make(input("10:00"))
			_, err := do(p, func(w *floor.Work) (*schedule.View, error) {
				return p.s.Start(w, person(auth.Operator), next.ID, schedule.StartInput{EndRunning: true})
			})
			return err
		}},
		{"enableScheduleStationFlexibility", func(p *plant) error {
			_, err := p.start(p.make(input("08:00")).ID, schedule.StartInput{StationCode: "PRESS-2"})
			return err
		}},
		{"enableDragBetweenStationsOnGantt", func(p *plant) error { return move(p, p.make(input("08:00")).ID, "PACK") }},
		{"enableManualProduction", enter(schedule.EntryInput{Good: 1})},
		{"enableManualProduction", enter(schedule.EntryInput{Bad: 1})},
		{"enableRejectProduction", enter(schedule.EntryInput{Reject: 1})},
		{"enableProductionCorrection", enter(schedule.EntryInput{Good: 1, Correction: true})},
		{"enableEditPartsPerCycle", func(p *plant) error {
			in := input("08:00")
			in.PartsPerCycle = given(2.0)
			_, err := p.write(in)
			return err
		}},
	} {
		for _, level := range []string{"account", "default", "on"} {
			value := map[string]string{"account": "off", "on": "on"}[level]
			t.Run(o.flag+" "+level, func(t *testing.T) {
				was := fmt.Sprintf(`"%s":"on",`, o.flag)
				rest := strings.ReplaceAll(floortest.Manifest, was, "")
				if value != "" {
					rest = strings.Replace(rest, `"domain":"works.example",`, fmt.Sprintf(`"domain":"works.example","%s":"%s",`, o.flag, value), 1)
				}
				p := newPlant(t, floortest.Manifest, rest)
				err := o.try(p)
				if level == "on" {
					p.must(nil, err)
					return
				}
				refused(t, err, errdefs.Forbidden, o.flag, level)
			})
		}
	}
}

// A flag that is off is reported before other errors, such as no running or no such schedule.
func TestFlagComesFirst(t *testing.T) {
	p := newPlant(t, `"enableManualProduction":"on","enableRejectProduction":"on",`, "", `"enableProductionCorrection":"on","enableHistoricalCorrection":"on",`, "", `"enableQuickScheduleStart":"on",`, "")
	for _, in := range []schedule.EntryInput{{Good: 1}, {Bad: 1}, {Reject: 1}, {Good: -1, Correction: true}, {Reject: 1, ScheduleID: "none"}} {
		_, err := p.enter(in)
		refused(t, err, errdefs.Forbidden, "is off at station PRESS")
	}
	_, err := do(p, func(w *floor.Work) (*schedule.View, error) {
		return p.s.Quick(w, person(auth.Operator), schedule.QuickInput{StationCode: "PRESS", SKUCode: "NONE"})
	})
	refused(t, err, errdefs.Forbidden, "enableQuickScheduleStart is off")
}

// Where stations are flexible, a schedule may also be moved within the group. A move keeps its length.
func TestMoves(t *testing.T) {
	p := newPlant(t, `"enableManualDowntime":"on"`, `"enableManualDowntime":"on","enableScheduleStationFlexibility":"on"`)
	in := input("08:00")
	in.PlannedEnd = given(*moment("09:00"))
	v := p.make(in)
	move := func(in schedule.MoveInput) (*schedule.View, error) {
		return do(p, func(w *floor.Work) (*schedule.View, error) {
			return p.s.Move(w, person(auth.Supervisor), v.ID, in)
		})
	}
	_, err := move(schedule.MoveInput{StationCode: "PACK"})
	refused(t, err, errdefs.Forbidden, "enableDragBetweenStationsOnGantt")
	_, err = move(schedule.MoveInput{StationCode: "NONE"})
	refused(t, err, errdefs.Invalid, "stationCode")
	moved, err := move(schedule.MoveInput{StationCode: "PRESS-2", PlannedStart: moment("10:00")})
	p.must(moved, err)
	if moved.StationCode != "PRESS-2" || show(moved.PlannedEnd.UnixMilli()) != "11:00" || *moved.Events[1].Note != "from PRESS" {
		t.Errorf("moved it is %+v", moved)
	}
	_, err = p.start(v.ID, schedule.StartInput{StationCode: "PACK"})
	refused(t, err, errdefs.Conflict, "another group")
	p.must(p.start(v.ID, schedule.StartInput{StationCode: "PRESS"}))
	if got := p.get(v.ID); got.StationCode != "PRESS" || got.State != schedule.Running {
		t.Errorf("started it is %+v", got)
	}
	_, err = move(schedule.MoveInput{PlannedStart: moment("11:00")})
	refused(t, err, errdefs.Conflict, "running")
}

// Operators act only at the stations they are bound to, and do not plan.
func TestRoles(t *testing.T) {
	p := newPlant(t)
	v := p.make(input("08:00"))
	tablet := person(auth.Operator)
	tablet.StationCodes = []string{"PACK"}
	as := func(who auth.Principal, fn func(w *floor.Work, who auth.Principal) error) error {
		_, err := do(p, func(w *floor.Work) (any, error) { return nil, fn(w, who) })
		return err
	}
	begin := func(w *floor.Work, who auth.Principal) error {
		_, err := p.s.Start(w, who, v.ID, schedule.StartInput{})
		return err
	}
	write := func(w *floor.Work, who auth.Principal) error {
		_, err := p.s.Write(w, who, input("10:00"))
		return err
	}
	refused(t, as(tablet, begin), errdefs.Forbidden, "bound")
	refused(t, as(person(auth.Readonly), begin), errdefs.Forbidden)
	refused(t, as(person(auth.Operator), write), errdefs.Forbidden, "supervisor")
	refused(t, as(person(auth.Operator), func(w *floor.Work, who auth.Principal) error { return p.s.Delete(w, who, v.ID) }), errdefs.Forbidden)
	tablet.StationCodes = []string{"PACK", "PRESS"}
	p.must(nil, as(tablet, begin))
	v = p.make(input("11:00"))
	nowhere := person(auth.Operator)
	nowhere.StationCodes = nil
	refused(t, as(nowhere, begin), errdefs.Forbidden, "bound")
	supervisor := person(auth.Supervisor) // a supervisor may act at all stations, whatever the tablet is bound to
	supervisor.StationCodes = []string{"PACK"}
	p.must(nil, as(supervisor, write))
}

// A quick schedule needs a SKU that allows it. Two of them in one millisecond are two schedules.
func TestQuick(t *testing.T) {
	p := newPlant(t)
	quick := func(in schedule.QuickInput) (*schedule.View, error) {
		in.StationCode = "PRESS"
		return do(p, func(w *floor.Work) (*schedule.View, error) { return p.s.Quick(w, person(auth.Operator), in) })
	}
	_, err := quick(schedule.QuickInput{SKUCode: "PLATE"})
	refused(t, err, errdefs.Invalid, "skuCode", "allowUseInQuickSchedule")
	_, err = quick(schedule.QuickInput{})
	refused(t, err, errdefs.Invalid, "skuCode")
	_, err = quick(schedule.QuickInput{ReasonCode: "JAM"})
	refused(t, err, errdefs.Invalid, "reasonCode")
	a, err := quick(schedule.QuickInput{SKUCode: "BOWL", PlannedQuantity: 600})
	p.must(a, err)
	if a.State != schedule.Running || show(a.ExpectedEnd.UnixMilli()) != "08:10" || len(a.Events) != 2 {
		t.Errorf("started it is %+v", a)
	}
	_, err = quick(schedule.QuickInput{SKUCode: "BOWL"})
	refused(t, err, errdefs.Conflict, a.ID)
	b, err := quick(schedule.QuickInput{SKUCode: "BOWL", EndRunning: true})
	p.must(b, err)
	p.must(quick(schedule.QuickInput{ReasonCode: "BREAK"}))
	p.Pass(time.Second, 0)
	p.told(a.ID, "completed 08:00-08:00:00.001 create start replaced")
	p.told(b.ID, "running 08:00:00.001- create start")
	if _, total, err := p.s.List(account, everything()); err != nil || total != 3 {
		t.Errorf("there are %d, %v", total, err)
	}
}

// Counts whose signals have been deleted cannot change: no entries, undos or reopened schedules at such a time.
func TestOlderThanTheSignals(t *testing.T) {
	p := newPlant(t)
	p.Retention = 3 * 24 * time.Hour
	p.restart()
	v := p.make(input("08:00"))
	p.must(p.start(v.ID, schedule.StartInput{}))
	p.until("08:10")
	p.good(5)
	e, err := p.enter(schedule.EntryInput{Reject: 1})
	p.must(e, err)
	p.until("08:20")
	p.must(p.end(v.ID, ""))
	late := func() []error {
		_, entered := do(p, func(w *floor.Work) (any, error) {
			return p.s.Enter(w, person(auth.Admin), schedule.EntryInput{StationCode: "PRESS", ScheduleID: v.ID, Bad: 1, Correction: true, Initials: "xyz"})
		})
		_, undone := p.undo(e.ID, auth.Admin)
		_, reopened := do(p, func(w *floor.Work) (any, error) {
			return p.s.Start(w, person(auth.Admin), v.ID, schedule.StartInput{Correction: true})
		})
		return []error{entered, undone, reopened}
	}
	p.Pass(4*24*time.Hour, 12*time.Hour)
	for _, err := range late() {
		refused(t, err, errdefs.Conflict, "signals are kept for 3 days, now from 2026-03-04T00:00:00.000Z on")
	}
	p.told(v.ID, "completed 08:00-08:20 4/1 create start end")
}
