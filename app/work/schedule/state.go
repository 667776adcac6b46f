package schedule

import (
	"cmp"
	"slices"
	"strings"

	"opsmon/app/engine/monitor"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
)

// scheduleState is the state of a schedule at one moment, as an entry finds it.
type scheduleState struct {
	Count
	at     int64
	manual bool // manual downtime is active
	adds   bool // entered good units are added to the total, not only shown
}

// adds checks a schedule's totals with an additional entry: they must not be negative at the entry or at any later
// moment, and new units must not exceed the maximum. Error: Conflict.
func (a *act) adds(sched *Schedule, st *station.Station, e *Entry) error {
	least, bad := (&scheduleState{}).effect(e)
	list, err := a.states(sched, e, least, bad)
	if err != nil {
		return err
	}
	fresh, most := !e.Correction && (e.Good != 0 || e.Bad != 0), float64(st.Monitor.MaxUnits)
	if fresh && most > 0 {
		end, err := a.stateAt(sched, max(e.Effective, sched.until(a.w.Now)))
		if err != nil {
			return err
		}
		list = append(list, end)
	}
	for _, was := range list {
		if was.manual && fresh && was.at == e.Effective {
			return errdefs.New(errdefs.Conflict, "at %s manual downtime was active at %s; nothing counts while it is", st.Code, instant.FormatMs(was.at))
		}
		good, bad := was.effect(e)
		if err := was.with(sched, good, bad); err != nil {
			return err
		}
		if fresh && most > 0 && good+bad > 0 && was.Good+was.Bad+good+bad > most {
			return errdefs.New(errdefs.Conflict, "the schedule %s has %s units; maxProductionCountPerSchedule allows %s", sched.ID, units(was.Good+was.Bad), units(most))
		}
	}
	return nil
}

// lacks checks a schedule's totals without an entry. Only the part of the entry that counts is removed. Error:
// Conflict.
func (a *act) lacks(sched *Schedule, e *Entry) error {
	d, err := a.w.Detail(e.StationCode, instant.FloorMinute(e.Effective), instant.FloorMinute(e.Effective)+instant.MinuteMs)
	if err != nil {
		return err
	}
	left := unapplied(d.Minutes)[e.ID]
	good, bad := (&scheduleState{adds: true}).effect(e)
	list, err := a.states(sched, e, left.Good-good, left.Bad-bad)
	if err != nil {
		return err
	}
	for _, was := range list {
		good, bad := was.effect(e)
		if err := was.with(sched, left.Good-good, left.Bad-bad); err != nil {
			return err
		}
	}
	return nil
}

// effect returns what an entry adds to good and bad.
func (was *scheduleState) effect(e *Entry) (good, bad float64) {
	good, bad = e.Good, e.Bad
	if !e.Correction && !was.adds {
		good = 0
	}
	return good - e.Reject, bad + e.Reject
}

// with refuses totals below zero. Error: Conflict.
func (was *scheduleState) with(sched *Schedule, good, bad float64) error {
	const rounding = 1e-6 // units: counts are whole millionths
	if was.Good+good < -rounding || was.Bad+bad < -rounding {
		return errdefs.New(errdefs.Conflict, "the schedule %s had %s good and %s bad units at %s; a total must not be negative", sched.ID, units(was.Good), units(was.Bad), instant.FormatMs(was.at))
	}
	return nil
}

// states returns the states affected by a change of good and bad units at an entry: at its own moment, and right
// after each later entry that subtracts units, because totals decrease nowhere else. It reads only those states in
// which the change may find too few units, because each read recalculates a part of the past.
func (a *act) states(sched *Schedule, e *Entry, good, bad float64) ([]scheduleState, error) {
	behind, err := a.behind(sched, e)
	if err != nil {
		return nil, err
	}
	group, behind := first(behind, e.Effective)
	was, err := a.stateAt(sched, e.Effective)
	if err != nil {
		return nil, err
	}
	list := was.within(group)
	if good >= 0 && bad >= 0 {
		return list, nil
	}
	for left := was.Count; len(behind) > 0; {
		at := behind[0].Effective
		group, behind = first(behind, at)
		for _, other := range group {
			lessGood, lessBad := (&scheduleState{}).effect(other)
			left.Good, left.Bad = left.Good+min(0, lessGood), left.Bad+min(0, lessBad)
		}
		if left.Good+min(0, good) >= 0 && left.Bad+min(0, bad) >= 0 {
			continue // units made since can only add to the total
		}
		if was, err = a.stateAt(sched, at); err != nil {
			return nil, err
		}
		list, left = append(list, was.within(group)...), was.Count
	}
	return list, nil
}

// behind returns the schedule's entries that count after another one, in the order in which they count.
func (a *act) behind(sched *Schedule, e *Entry) ([]*Entry, error) {
	order := func(a, b *Entry) int {
		return cmp.Or(cmp.Compare(a.Effective, b.Effective), strings.Compare(a.ID, b.ID)) // as monitor.Compare
	}
	list, err := a.counting(sched, e.Effective)
	list = slices.DeleteFunc(list, func(other *Entry) bool { return order(other, e) <= 0 })
	slices.SortFunc(list, order)
	return list, err
}

// first splits a list into its leading entries that count at a moment and the rest.
func first(list []*Entry, at int64) (group, rest []*Entry) {
	n := 0
	for n < len(list) && list[n].Effective == at {
		n++
	}
	return list[:n], list[n:]
}

// within returns the states before each entry of one moment, calculated back from the state after them.
func (was scheduleState) within(group []*Entry) []scheduleState {
	list := []scheduleState{was}
	for _, e := range slices.Backward(group) {
		good, bad := was.effect(e)
		was.Good, was.Bad = max(0, was.Good-good), max(0, was.Bad-bad)
		list = append(list, was)
	}
	return list
}

// until returns the last moment at which all of a schedule's units are counted.
func (s *Schedule) until(now int64) int64 {
	if s.State == Completed {
		return s.End
	}
	return now
}

// stateAt returns the schedule's state at a moment: the machine's while the schedule runs, and from its end on the
// sum of the minutes, because the machine no longer holds the schedule.
func (a *act) stateAt(sched *Schedule, at int64) (was scheduleState, err error) {
	v, err := a.w.ViewAt(sched.StationCode, at)
	if err != nil {
		return scheduleState{}, err
	}
	was = scheduleState{at: at, adds: true, manual: slices.ContainsFunc(v.Open, func(i monitor.Issue) bool { return i.Type == monitor.IssueManual })}
	if sched.State == Completed && at >= sched.End {
		d, err := a.w.Detail(sched.StationCode, instant.FloorMinute(sched.Start), instant.FloorMinute(sched.End)+instant.MinuteMs)
		if err != nil {
			return scheduleState{}, err
		}
		if c := sums(d.Minutes)[sched.ID]; c != nil {
			was.Count, was.adds = *c, c.Other == 0
		}
		return was, nil
	}
	for i := range v.Running {
		if r := &v.Running[i]; r.ID == sched.ID {
			was.Count, was.adds = *countOf(r.Good, r.Bad, 0), r.Manual
		}
	}
	return was, nil
}
