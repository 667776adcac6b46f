package schedule

import (
	"encoding/json"
	"fmt"
	"slices"

	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/deliver/event"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
)

// act is one operation: who performs it, and when it takes effect.
type act struct {
	s        *Service
	w        *floor.Work
	by       audit.Actor
	at       int64 // ms
	initials string
	note     string
	problems errdefs.Problems // problems of the request found so far
}

// act begins an operation of a caller at a station. at is its time according to the caller; nil: now. An invalid at is
// added to the problems, which the operation must return by invalid. Errors: Forbidden; Conflict if the signals of that
// time have been deleted.
func (s *Service) act(w *floor.Work, p auth.Principal, role auth.Role, stationCode string, at *Moment) (*act, error) {
	if err := auth.AuthorizeAt(s.cfg.Authorize, w.Tx, p, role, stationCode); err != nil {
		return nil, err
	}
	a := &act{s: s, w: w, by: p.Actor(), at: w.Now}
	moment, err := floor.Moment("at", (*int64)(at), w.Now)
	if err != nil {
		return a, a.problems.Take(err)
	}
	a.at = moment
	return a, w.Reaches(moment)
}

// say sets the author and the note.
func (a *act) say(initials, note string, required bool) {
	var err error
	a.note = note
	a.initials, err = auth.Initials(initials, required)
	_ = a.problems.Take(err) // it is Invalid
}

// invalid returns all problems with the request, including errs of kind Invalid, else the first of errs.
func (a *act) invalid(errs ...error) error {
	var other error
	for _, err := range errs {
		if err = a.problems.Take(err); other == nil {
			other = err
		}
	}
	if err := a.problems.Err("the request"); err != nil {
		return err
	}
	return other
}

// event returns an event of the act.
func (a *act) event(move Move, note string) Event {
	if note != "" && a.note != "" {
		note += "; "
	}
	return Event{Move: move, At: a.at, Recorded: a.w.Now, By: a.by, Initials: a.initials, Note: note + a.note}
}

// maxEvents limits the events of a schedule. After that, people cannot change it any more.
const maxEvents = 200

// save stores the next state of a schedule with its event and publishes it. Actions of people are audited. A dry run
// stores nothing.
func (a *act) save(old, next *Schedule, e Event) error {
	if old != nil && len(old.Events) >= maxEvents && a.by != service {
		return errdefs.New(errdefs.Conflict, "the schedule %s has been changed %d times; it cannot be changed any more", old.ID, maxEvents)
	}
	next.Events = append(next.Events, e)
	next.Updated = a.w.Now
	if a.w.Dry {
		return nil
	}
	if err := save(a.w.Tx, a.w.Account, old, next); err != nil {
		return err
	}
	if a.by != service {
		detail := map[string]string{"stationCode": next.StationCode, "at": instant.FormatMs(e.At)}
		if err := audit.Put(a.w.Tx, a.w.Account, a.by, "schedule."+string(e.Move), next.ID, detail); err != nil {
			return err
		}
	}
	shown := next.copy()
	a.w.After(func() { a.s.note(a.w.Account, shown) })
	data, err := json.Marshal(shown.show(nil, nil))
	if err != nil {
		return fmt.Errorf("write schedule %s: %w", next.ID, err)
	}
	a.w.Publish(event.Event{At: a.w.Now, Type: event.Schedule, Station: next.StationCode, Data: data})
	return nil
}

// copy returns a copy that shares no events, so its events can be appended to.
func (s *Schedule) copy() *Schedule {
	c := *s
	c.Events = slices.Clone(s.Events)
	return &c
}

// station returns the station named by a field of the request. Error: Invalid if there is no such station.
func (a *act) station(field, code string) (*station.Station, error) {
	st, err := a.w.Station(code)
	if err != nil && errdefs.KindOf(err) == errdefs.NotFound {
		return nil, errdefs.InvalidField(field, "must be the code of a station; there is no station %q", code)
	}
	return st, err
}

// runnable checks that the station still accepts the schedule's SKU or reason. Error: Conflict.
func (f *Fields) runnable(st *station.Station) error {
	if f.Kind == Production && st.SKUs[f.SKUCode] == nil {
		return errdefs.New(errdefs.Conflict, "%s may not run the SKU %s any more", st.Code, f.SKUCode)
	}
	if r, found := st.Reasons[f.ReasonCode]; f.Kind == NonProduction && !(found && r.NonProduction) {
		return errdefs.New(errdefs.Conflict, "%s is no reason for non-production at %s any more", f.ReasonCode, st.Code)
	}
	return nil
}

// endsByQuantity reports whether the schedule ends when its quantity is reached.
func (s *Schedule) endsByQuantity(st *station.Station) bool {
	if s.PlannedQuantity == 0 {
		return false
	}
	if s.AutoEndQuantity != nil {
		return *s.AutoEndQuantity
	}
	on, _ := st.Flag("enableAutoEndOnQuantityComplete")
	return on
}

// kindAt reads the running schedule of one kind at a station, and those that ended after the act's moment.
func (a *act) kindAt(stationCode string, kind Kind) (l kindSchedules, err error) {
	if l.running, err = runningOf(a.w.Tx, a.w.Account, stationCode, kind); err != nil {
		return kindSchedules{}, err
	}
	l.ended, err = after(a.w.Tx, a.w.Account, stationCode, kind, a.at)
	return l, err
}

// start starts a planned schedule at the act's moment, at a station that may differ from the planned one. If endRunning
// is set, it ends the running schedule of its kind. Error: Conflict.
func (a *act) start(old *Schedule, st *station.Station, how Move, endRunning bool) (*Schedule, error) {
	l, err := a.kindAt(st.Code, old.Kind)
	if err != nil {
		return nil, err
	}
	at, ends, err := l.enter(a.at, endRunning)
	if err != nil {
		return nil, err
	}
	a.at = at
	if ends != nil {
		by := *a
		by.note = ""
		ended, err := by.end(ends, MoveReplaced, old.ID)
		if err != nil {
			return nil, err
		}
		at = max(at, ended.End)
		a.at = at
	}
	next := old.copy()
	note := ""
	if st.Code != old.StationCode {
		note = "planned at " + old.StationCode
		next.StationCode = st.Code
	}
	next.State, next.Start = Running, at
	o := next.expect(st, at)
	if _, err := a.w.Record(st.Code, monitor.Input{At: at, Kind: monitor.InputScheduleStart, Schedule: next.machine(o)}); err != nil {
		return nil, err
	}
	return next, a.save(old, next, a.event(how, note))
}

// expect sets the values that follow from the plan if the schedule starts at a moment.
func (s *Schedule) expect(st *station.Station, start int64) outlook {
	o := s.outlook(st, start)
	s.EndDue, s.Rate, s.RateFrom = o.end, o.rate, o.rateFrom
	return o
}

// end ends a running schedule at the act's moment, but at least a millisecond after its start and after its operators'
// entries: late units may reach its quantity before that. The schedule keeps its last rate.
func (a *act) end(old *Schedule, how Move, note string) (*Schedule, error) {
	in := monitor.Input{At: max(a.at, old.Start+1), Kind: monitor.InputScheduleEnd, ID: old.ID}
	if how == MoveQuantityReached {
		in.At, in.Kind = a.at, monitor.InputQuantityEnd // the completing unit may be made in the ms of the start
	}
	latest, err := a.latestEntry(old, in.At)
	switch {
	case err != nil:
		return nil, err
	case a.by != service && latest > in.At+1:
		return nil, errdefs.New(errdefs.Conflict, "the schedule %s has an operator's entry of %s; take it back, or end the schedule after it", old.ID, instant.FormatMs(latest))
	case latest >= in.At && in.Kind == monitor.InputQuantityEnd:
		in.At = latest // within a ms, this end comes after entries
	case latest >= in.At:
		in.At = latest + 1 // other ends come before them
	}
	next := old.copy()
	if st, err := a.w.Station(old.StationCode); err == nil {
		o := next.outlook(st, next.Start)
		next.Rate, next.RateFrom = o.rate, o.rateFrom
	}
	seq, err := a.w.Record(old.StationCode, in)
	if err != nil {
		return nil, err
	}
	next.State, next.End, next.EndSequence = Completed, in.At, seq
	e := a.event(how, note)
	e.At = in.At
	return next, a.save(old, next, e)
}
