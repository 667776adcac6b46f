package schedule

import (
	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
)

// StartInput starts a schedule: POST /schedule/{id}/start.
type StartInput struct {
	At          *Moment `json:"at"`
	StationCode string  `json:"stationCode"` // another one of the group; "": the planned one
	Initials    string  `json:"initials"`
	Note        string  `json:"note"`
	Correction  bool    `json:"correction"` // reopens an ended schedule
	EndRunning  bool    `json:"-"`          // ends the running schedule of its kind
}

// Start starts a planned schedule. It requires an operator of the station. With Correction, an admin reopens a
// completed schedule. Errors: Forbidden, with the flag that is off; NotFound; Conflict, which names the schedule that
// is or was running.
func (s *Service) Start(w *floor.Work, p auth.Principal, id string, in StartInput) (*View, error) {
	old, err := load(w.Tx, w.Account, id)
	if err != nil {
		return nil, err
	}
	code := old.StationCode
	if in.StationCode != "" {
		code = in.StationCode
	}
	a, err := s.act(w, p, auth.Operator, code, in.At)
	if err != nil {
		return nil, err
	}
	a.say(in.Initials, in.Note, false)
	st, err := a.station("stationCode", code)
	if err := a.invalid(err); err != nil {
		return nil, err
	}
	switch {
	case in.Correction:
		return a.reopen(p, old, st)
	case old.State == Running:
		return nil, errdefs.New(errdefs.Conflict, "the schedule %s is running since %s", id, instant.FormatMs(old.Start))
	case old.State != Planned:
		return nil, gone(old)
	case st.Archived || st.Monitor.MeterOnly:
		return nil, errdefs.New(errdefs.Conflict, "nothing can start at %s: it is a meter, or has left the manifest", st.Code)
	}
	if err := old.Fields.runnable(st); err != nil {
		return nil, err
	}
	if code != old.StationCode {
		if err := a.movable(old.StationCode, st, false); err != nil {
			return nil, err
		}
		elsewhere := old.copy()
		elsewhere.StationCode = code
		if id, err := plannedAs(w.Tx, w.Account, elsewhere); err != nil {
			return nil, err
		} else if id != "" {
			return nil, errdefs.New(errdefs.Conflict, "at %s the schedule %s has the same SKU and planned start", code, id)
		}
	}
	next, err := a.startFor(p, old, st, in.EndRunning)
	if err != nil {
		return nil, err
	}
	return a.view(next)
}

// startFor starts a schedule, and checks that the caller may end the running one.
func (a *act) startFor(p auth.Principal, old *Schedule, st *station.Station, endRunning bool) (*Schedule, error) {
	if endRunning && !p.Role.AtLeast(auth.Supervisor) {
		l, err := a.kindAt(st.Code, old.Kind)
		if err != nil {
			return nil, err
		}
		if l.running != nil {
			if _, err := a.ending(l.running, st); err != nil {
				return nil, err
			}
		}
	}
	return a.start(old, st, MoveStart, endRunning)
}

// ending returns the move for an end of a running schedule at the act's moment and checks that it is allowed. An end
// before the planned end is a cut short.
func (a *act) ending(s *Schedule, st *station.Station) (Move, error) {
	if s.PlannedQuantity == 0 && s.EndDue == 0 || s.EndDue != 0 && a.at >= s.EndDue {
		return MoveEnd, nil
	}
	if s.PlannedQuantity != 0 {
		c, err := a.count(s)
		if err != nil {
			return "", err
		}
		if c.Good >= s.PlannedQuantity {
			return MoveEnd, nil
		}
	}
	return MoveCutShort, st.Refuse("enableScheduleCutShort")
}

// EndInput ends a schedule: POST /schedule/{id}/end.
type EndInput struct {
	At       *Moment `json:"at"`
	Initials string  `json:"initials"`
	Note     string  `json:"note"`
}

// End ends a running schedule. It requires an operator of the station. Errors: Invalid (at); Forbidden, with the flag
// that is off, for an end before the planned end; NotFound; Conflict for a schedule that is not running.
func (s *Service) End(w *floor.Work, p auth.Principal, id string, in EndInput) (*View, error) {
	old, err := load(w.Tx, w.Account, id)
	if err != nil {
		return nil, err
	}
	a, err := s.act(w, p, auth.Operator, old.StationCode, in.At)
	if err != nil {
		return nil, err
	}
	a.say(in.Initials, in.Note, false)
	// an end in the ms of the start is recorded 1 ms after it, which may be later than now
	if old.State == Running && a.at < old.Start-1 {
		a.problems.Add("at", "must be after the schedule's start, %s", instant.FormatMs(old.Start))
	}
	if err := a.invalid(); err != nil {
		return nil, err
	}
	switch {
	case old.State == Planned:
		return nil, errdefs.New(errdefs.Conflict, "the schedule %s has not started", id)
	case old.State != Running:
		return nil, gone(old)
	}
	st, err := a.w.Station(old.StationCode)
	if err != nil {
		return nil, err
	}
	how, err := a.ending(old, st)
	if err != nil {
		return nil, err
	}
	c, err := a.count(old)
	if err != nil {
		return nil, err
	}
	next, err := a.end(old, how, "")
	if err != nil {
		return nil, err
	}
	return next.show(st, c), nil
}

// reopen reverses the end of a completed schedule.
func (a *act) reopen(p auth.Principal, old *Schedule, st *station.Station) (*View, error) {
	if err := a.historical(p, st); err != nil {
		return nil, err
	}
	if old.State != Completed || st.Code != old.StationCode {
		return nil, errdefs.New(errdefs.Conflict, "a correction brings back a schedule that has ended, at its own station; %s is %s at %s", old.ID, old.State, old.StationCode)
	}
	if err := a.w.Reaches(old.End); err != nil {
		return nil, err
	}
	later := *a
	later.at = old.End
	l, err := later.kindAt(st.Code, old.Kind)
	if err != nil {
		return nil, err
	}
	for _, other := range append(l.ended, l.running) {
		if other != nil && other.ID != old.ID {
			return nil, errdefs.New(errdefs.Conflict, "at %s the schedule %s was started after %s had ended", st.Code, other.ID, old.ID)
		}
	}
	if err := a.w.Cancel(st.Code, old.End, old.EndSequence); err != nil {
		return nil, err
	}
	next := old.copy()
	next.State, next.End, next.EndSequence = Running, 0, 0
	off := false // otherwise it would end again at once; people end it now
	next.AutoEnd, next.AutoEndQuantity = false, &off
	if next.Kind == NonProduction {
		next.AutoEndQuantity = nil
	}
	if err := a.save(old, next, a.event(MoveCorrection, "")); err != nil {
		return nil, err
	}
	return a.view(next)
}

// historical refuses corrections of ended schedules to everybody except admins, and to all if the account does not
// allow them.
func (a *act) historical(p auth.Principal, st *station.Station) error {
	if err := a.s.cfg.Authorize(a.w.Tx, p, auth.Admin); err != nil {
		return err
	}
	return st.Refuse("enableHistoricalCorrection")
}

// QuickInput starts a schedule without planning it: POST /quick-schedule.
type QuickInput struct {
	At              *Moment `json:"at"`
	StationCode     string  `json:"stationCode"`
	SKUCode         string  `json:"skuCode"`
	ReasonCode      string  `json:"reasonCode"`
	WorkOrder       string  `json:"workOrderReference"`
	PlannedQuantity float64 `json:"plannedQuantity"`
	PlannedEnd      *Moment `json:"plannedEndAt"`
	Initials        string  `json:"initials"`
	Note            string  `json:"note"`
	EndRunning      bool    `json:"-"`
}

// Quick creates a schedule and starts it. It requires an operator of the station; from a tablet, initials are required.
// Errors: Invalid by field; Forbidden if enableQuickScheduleStart is off; Conflict, which names the running schedule.
func (s *Service) Quick(w *floor.Work, p auth.Principal, in QuickInput) (*View, error) {
	a, err := s.act(w, p, auth.Operator, in.StationCode, in.At)
	if err != nil {
		return nil, err
	}
	a.say(in.Initials, "", p.Tablet()) // several people share a tablet, so initials are required
	st, err := a.find(in.StationCode)
	if err != nil {
		return nil, err
	}
	f := in.fields(a.at)
	if st != nil {
		if err := st.Refuse("enableQuickScheduleStart"); err != nil {
			return nil, err
		}
	}
	if err := a.invalid(f.check(st, nil, a.at), f.quick(st)); err != nil {
		return nil, err
	}
	made := &Schedule{ID: newID(), Fields: f, State: Planned, Events: []Event{}, Created: w.Now}
	for { // a planned start taken by another schedule moves by 1 ms
		id, err := plannedAs(w.Tx, w.Account, made)
		if err != nil {
			return nil, err
		}
		if id == "" {
			break
		}
		made.PlannedStart++
	}
	made.expect(st, f.PlannedStart)
	if err := a.save(nil, made, a.event(MoveCreate, "")); err != nil {
		return nil, err
	}
	next, err := a.startFor(p, made, st, in.EndRunning)
	if err != nil {
		return nil, err
	}
	return a.view(next)
}

// quick refuses a SKU that is not enabled for quick schedules. Error: Invalid.
func (f *Fields) quick(st *station.Station) error {
	if st == nil || st.SKUs[f.SKUCode] == nil || f.Kind != Production {
		return nil
	}
	if may := st.SKUs[f.SKUCode].AllowUseInQuickSchedule; may == nil || !*may {
		return errdefs.InvalidField("skuCode", "must be a SKU with allowUseInQuickSchedule; %s has it not", f.SKUCode)
	}
	return nil
}

// fields returns the plan of a schedule that starts at a moment, ms.
func (in *QuickInput) fields(at int64) Fields {
	f := Fields{
		StationCode: in.StationCode, SKUCode: in.SKUCode, ReasonCode: in.ReasonCode, Kind: Production, WorkOrder: in.WorkOrder,
		PlannedStart: at, PlannedQuantity: in.PlannedQuantity, Note: in.Note,
	}
	if in.PlannedEnd != nil {
		f.PlannedEnd = int64(*in.PlannedEnd)
	}
	if in.SKUCode == "" && in.ReasonCode != "" {
		f.Kind = NonProduction
	}
	return f
}
