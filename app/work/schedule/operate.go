package schedule

import (
	"slices"
	"strings"

	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
)

// Write creates a planned schedule, or changes the one with the input's ID: all fields of a planned one; quantity, end
// and note of a running one. It requires a supervisor. Errors: Invalid by field; Forbidden; NotFound; Conflict if it
// would overlap another of its kind, has the same SKU and planned start as another, or has ended.
func (s *Service) Write(w *floor.Work, p auth.Principal, in Input) (*View, error) {
	if in.ID == "" {
		return s.create(w, p, in)
	}
	old, err := load(w.Tx, w.Account, in.ID)
	if err != nil {
		return nil, err
	}
	a, err := s.act(w, p, auth.Supervisor, old.StationCode, in.At)
	if err != nil {
		return nil, err
	}
	f := in.over(old.Fields)
	switch old.State {
	case Planned:
		return a.replan(old, f, MoveChange)
	case Running:
		return a.change(old, f)
	}
	return nil, gone(old)
}

// gone returns the error for an ended schedule.
func gone(s *Schedule) error {
	if s.State == Completed {
		return errdefs.New(errdefs.Conflict, "the schedule %s ended at %s", s.ID, instant.FormatMs(s.End))
	}
	return errdefs.New(errdefs.Conflict, "the schedule %s was deleted", s.ID)
}

func (s *Service) create(w *floor.Work, p auth.Principal, in Input) (*View, error) {
	f := in.over(Fields{})
	a, err := s.act(w, p, auth.Supervisor, f.StationCode, in.At)
	if err != nil {
		return nil, err
	}
	made, err := a.plan(f)
	if err != nil {
		return nil, err
	}
	return a.view(made)
}

// plan creates a planned schedule.
func (a *act) plan(f Fields) (*Schedule, error) {
	st, err := a.find(f.StationCode)
	if err != nil {
		return nil, err
	}
	if err := a.invalid(f.check(st, nil, a.at)); err != nil {
		return nil, err
	}
	made := &Schedule{Fields: f, State: Planned, Events: []Event{}, Created: a.w.Now}
	if !a.w.Dry { // a dry run needs no ID
		made.ID = newID()
	}
	made.expect(st, f.PlannedStart)
	if err := a.fits(made); err != nil {
		return nil, err
	}
	return made, a.save(nil, made, a.event(MoveCreate, ""))
}

// find returns a station; nil if there is no such station.
func (a *act) find(code string) (*station.Station, error) {
	st, err := a.w.Station(code)
	if errdefs.KindOf(err) == errdefs.NotFound || err == nil && st.Archived {
		return nil, nil
	}
	return st, err
}

// maxOpen limits the open schedules of a station.
const maxOpen = 1000

// fits checks that a schedule does not conflict with the station's plan. Error: Conflict.
func (a *act) fits(s *Schedule) error {
	if s.Kind == Production {
		if id, err := plannedAs(a.w.Tx, a.w.Account, s); err != nil {
			return err
		} else if id != "" && id != s.ID {
			return errdefs.New(errdefs.Conflict, "at %s the schedule %s has the same SKU and planned start", s.StationCode, id)
		}
	}
	open, err := openAt(a.w.Tx, a.w.Account, s.StationCode)
	if err != nil {
		return err
	}
	if len(open) >= maxOpen && !slices.ContainsFunc(open, func(o place) bool { return o.id == s.ID }) {
		return errdefs.New(errdefs.Conflict, "at %s %d schedules are planned, which is the most", s.StationCode, maxOpen)
	}
	return placeOf(s).free(open)
}

// replan changes fields of a planned schedule.
func (a *act) replan(old *Schedule, f Fields, how Move) (*View, error) {
	st, err := a.find(f.StationCode)
	if err != nil {
		return nil, err
	}
	if err := a.invalid(f.check(st, &old.Fields, a.at)); err != nil {
		return nil, err
	}
	note := ""
	if f.StationCode != old.StationCode {
		if err := a.movable(old.StationCode, st, true); err != nil {
			return nil, err
		}
		note = "from " + old.StationCode
		how = MoveStation
	}
	next := old.copy()
	next.Fields = f
	next.expect(st, f.PlannedStart)
	if err := a.fits(next); err != nil {
		return nil, err
	}
	if err := a.save(old, next, a.event(how, note)); err != nil {
		return nil, err
	}
	return a.view(next)
}

// movable checks that a schedule may move to another station: within its group if the stations are flexible, anywhere
// if the account allows dragging.
func (a *act) movable(from string, to *station.Station, drag bool) error {
	const dragging, flexible = "enableDragBetweenStationsOnGantt", "enableScheduleStationFlexibility"
	if on, _ := to.Flag(dragging); on && drag {
		return nil
	}
	source, err := a.find(from)
	if err != nil {
		return err
	}
	inGroup := source != nil && source.Plant.Code == to.Plant.Code && source.Group.Code == to.Group.Code
	if inGroup {
		if err = to.Refuse(flexible); err == nil {
			err = source.Refuse(flexible)
		}
	}
	switch {
	case inGroup && err == nil:
		return nil
	case drag:
		return to.Refuse(dragging)
	case !inGroup:
		return errdefs.New(errdefs.Conflict, "a schedule starts on a station of its own group; %s is in another group than %s", to.Code, from)
	}
	return err
}

// change sets a running schedule's quantity, end or note.
func (a *act) change(old *Schedule, f Fields) (*View, error) {
	if changed := fixed(&old.Fields, &f); len(changed) > 0 {
		return nil, errdefs.New(errdefs.Conflict, "the schedule %s is running: its quantity, end and note can be changed, and not %s", old.ID, strings.Join(changed, ", "))
	}
	st, err := a.station("stationCode", f.StationCode)
	if err != nil {
		return nil, err
	}
	p := &a.problems
	if a.at < old.Start {
		p.Add("at", "must not be before the schedule's start, %s", instant.FormatMs(old.Start))
	}
	if f.PlannedEnd != old.PlannedEnd {
		f.checkEnd(p, old.Start, a.at)
	}
	if f.AutoEnd && f.PlannedEnd == 0 && f.PlannedQuantity == 0 {
		p.Add("plannedEndAt", "is required, because the schedule ends automatically")
	}
	if f.Kind == NonProduction && f.PlannedQuantity != 0 {
		p.Add("plannedQuantity", "is for production schedules only")
	}
	if err := a.invalid(); err != nil {
		return nil, err
	}
	next := old.copy()
	next.Fields = f
	o := next.expect(st, next.Start)
	if f.PlannedQuantity != old.PlannedQuantity || f.PlannedEnd != old.PlannedEnd {
		if err := a.fits(next); err != nil {
			return nil, err
		}
		if _, err := a.w.Record(st.Code, monitor.Input{At: a.at, Kind: monitor.InputScheduleChange, Schedule: next.machine(o)}); err != nil {
			return nil, err
		}
	}
	if err := a.save(old, next, a.event(MoveChange, "")); err != nil {
		return nil, err
	}
	return a.view(next)
}

// MoveInput moves a planned schedule to another station or time: POST /schedule/{id}/move. Without an end, the schedule
// keeps its length.
type MoveInput struct {
	At           *Moment `json:"at"`
	StationCode  string  `json:"stationCode"`
	PlannedStart *Moment `json:"plannedStartAt"`
	PlannedEnd   *Moment `json:"plannedEndAt"`
}

// Move moves a planned schedule. It requires a supervisor. Errors: as Write's, and Forbidden with the flag that is
// required for another station.
func (s *Service) Move(w *floor.Work, p auth.Principal, id string, in MoveInput) (*View, error) {
	old, err := load(w.Tx, w.Account, id)
	if err != nil {
		return nil, err
	}
	a, err := s.act(w, p, auth.Supervisor, old.StationCode, in.At)
	if err != nil {
		return nil, err
	}
	if old.State == Running {
		return nil, errdefs.New(errdefs.Conflict, "the schedule %s is running; only planned ones can be moved", id)
	}
	if old.State != Planned {
		return nil, gone(old)
	}
	f := old.Fields
	if in.StationCode != "" {
		f.StationCode = in.StationCode
	}
	if in.PlannedStart != nil {
		f.PlannedStart = int64(*in.PlannedStart)
		if f.PlannedEnd != 0 {
			f.PlannedEnd += f.PlannedStart - old.PlannedStart
		}
	}
	if in.PlannedEnd != nil {
		f.PlannedEnd = int64(*in.PlannedEnd)
	}
	return a.replan(old, f, MoveStation)
}

// Delete deletes a planned schedule; deleting it again has no effect. It requires a supervisor. Errors: Forbidden;
// NotFound; Conflict if it has started.
func (s *Service) Delete(w *floor.Work, p auth.Principal, id string) error {
	old, err := load(w.Tx, w.Account, id)
	if err != nil {
		return err
	}
	a, err := s.act(w, p, auth.Supervisor, old.StationCode, nil)
	if err != nil {
		return err
	}
	switch old.State {
	case Deleted:
		return nil
	case Running:
		return errdefs.New(errdefs.Conflict, "the schedule %s is running; end it instead", id)
	case Completed:
		return gone(old)
	}
	next := old.copy()
	next.State = Deleted
	return a.save(old, next, a.event(MoveDelete, ""))
}
