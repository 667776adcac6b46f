package schedule

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
	"opsmon/kv"
)

// EntryInput is an operator's entry (POST /production), in units. Its numbers are within the limits of
// production-create.schema.json.
type EntryInput struct {
	At          *Moment `json:"at"`
	StationCode string  `json:"stationCode"`
	ScheduleID  string  `json:"scheduleId"` // "": the production schedule running at that time
	Good        float64 `json:"good"`
	Bad         float64 `json:"bad"`
	Reject      float64 `json:"reject"`     // good units that turned out to be bad
	Correction  bool    `json:"correction"` // good and bad are deltas that correct a count
	Initials    string  `json:"initials"`
	Note        string  `json:"note"`
}

// EntryView is a production entry.
//
//openapi:schema ProductionEntry
type EntryView struct {
	ID          string       `json:"id"`
	StationCode string       `json:"stationCode"`
	ScheduleID  string       `json:"scheduleId"`
	At          instant.Time `json:"at"`
	EffectiveAt instant.Time `json:"effectiveAt"` // when it counts: before a pause, or before the end of the schedule
	Good        float64      `json:"good"`
	Bad         float64      `json:"bad"`
	Reject      float64      `json:"reject"` // good units that turned out bad
	Correction  bool         `json:"correction"`
	Initials    string       `json:"initials"`
	Note        *string      `json:"note"`
	Undoes      *string      `json:"undoes"`   // the entry that it reverses
	UndoneBy    *string      `json:"undoneBy"` // the entry that reversed it
	// Units of the entry that do not count, with the entry's sign, because later facts left no room for them: no total
	// may be negative. null if it counts in full.
	Unapplied  *Unapplied   `json:"unapplied"`
	RecordedAt instant.Time `json:"recordedAt"`
	By         string       `json:"by"`
}

// Unapplied is the part of an entry that does not count, in units with the entry's sign. For a reject, Good is negative
// and Bad positive, of the same size.
type Unapplied struct {
	Good float64 `json:"good"`
	Bad  float64 `json:"bad"`
}

func (e *Entry) view() *EntryView {
	by := e.By.Email
	if by == "" {
		by = e.By.Credential
	}
	return &EntryView{
		ID: e.ID, StationCode: e.StationCode, ScheduleID: e.ScheduleID, At: instant.OfMs(e.At), EffectiveAt: instant.OfMs(e.Effective),
		Good: e.Good, Bad: e.Bad, Reject: e.Reject, Correction: e.Correction, Initials: e.Initials,
		Note: given(e.Note), Undoes: given(e.Undoes), UndoneBy: given(e.UndoneBy), RecordedAt: instant.OfMs(e.Recorded), By: by,
	}
}

// Enter records an operator's entry. It requires an operator of the station, or an admin for the correction of an ended
// schedule. Errors: Invalid by field; Forbidden, with the flag that is off; NotFound for an unknown schedule; Conflict
// if no production schedule was running, a total would become negative, the maximum would be exceeded, the entry would
// not count because of manual downtime, or the signals of its time have been deleted.
func (s *Service) Enter(w *floor.Work, p auth.Principal, in EntryInput) (*EntryView, error) {
	a, err := s.act(w, p, auth.Operator, in.StationCode, in.At)
	if err != nil {
		return nil, err
	}
	a.say(in.Initials, in.Note, true)
	in.check(&a.problems)
	st, err := a.station("stationCode", in.StationCode)
	if err != nil {
		return nil, a.invalid(err)
	}
	e := Entry{
		ID: entryID(w.Now), StationCode: in.StationCode, At: a.at, Good: in.Good, Bad: in.Bad, Reject: in.Reject, Correction: in.Correction,
		Initials: a.initials, Note: in.Note, Recorded: w.Now, By: a.by,
	}
	sched, unfit := a.entryFor(&e, in.ScheduleID, in.At != nil)
	unfit = a.problems.Take(unfit)
	if err := a.invalid(); err != nil {
		return nil, err
	}
	if err := a.mightEnter(p, st, &in); err != nil {
		return nil, err
	}
	if unfit != nil {
		return nil, unfit
	}
	e.ScheduleID = sched.ID
	if err := w.Reaches(e.Effective); err != nil {
		return nil, err
	}
	if err := a.mayEnter(p, st, sched, &e); err != nil {
		return nil, err
	}
	if err := a.adds(sched, st, &e); err != nil {
		return nil, err
	}
	e.Sequence, err = w.Record(st.Code, monitor.Input{At: e.Effective, Kind: monitor.InputEntry, ID: e.ID, Entry: monitor.Entry{Schedule: sched.ID, Good: e.Good, Bad: e.Bad, Reject: e.Reject, Correction: e.Correction}})
	if err != nil {
		return nil, err
	}
	return e.view(), a.keep(nil, &e, "production.enter")
}

func (in *EntryInput) check(p *errdefs.Problems) {
	if in.Good == 0 && in.Bad == 0 && in.Reject == 0 {
		p.AddGiven("good", "bad,reject", "must be given, or bad, or reject")
	}
	if !in.Correction {
		for _, of := range []struct {
			name  string
			value float64
		}{{"good", in.Good}, {"bad", in.Bad}} {
			if of.value < 0 {
				p.AddGiven(of.name, "correction", "must not be negative, but in a correction; it is %s", strconv.FormatFloat(of.value, 'f', -1, 64))
			}
		}
	}
}

// mightEnter refuses an entry that no flag allows, for the named schedule or, without a name, for any schedule.
func (a *act) mightEnter(p auth.Principal, st *station.Station, in *EntryInput) error {
	sched, err := load(a.w.Tx, a.w.Account, in.ScheduleID)
	if err != nil { // an unknown schedule is reported later
		sched = &Schedule{State: Running}
	}
	err = a.mayEnter(p, st, sched, &Entry{Good: in.Good, Bad: in.Bad, Reject: in.Reject, Correction: in.Correction})
	if err != nil && in.Correction && sched.State == Running && a.historical(p, st) == nil {
		return nil
	}
	return err
}

// mayEnter refuses an entry whose flag is off. Only admins may correct an ended schedule.
func (a *act) mayEnter(p auth.Principal, st *station.Station, sched *Schedule, e *Entry) error {
	if e.Correction && sched.State == Completed {
		return a.historical(p, st)
	}
	if e.Reject != 0 {
		if err := st.Refuse("enableRejectProduction"); err != nil {
			return err
		}
	}
	switch {
	case e.Good == 0 && e.Bad == 0:
		return nil
	case e.Correction:
		return st.Refuse("enableProductionCorrection")
	}
	return st.Refuse("enableManualProduction")
}

// entryFor finds the schedule of an entry and the moment at which the entry counts: its own time, or the last moment
// before it at which the schedule ran and was not paused.
func (a *act) entryFor(e *Entry, scheduleID string, timed bool) (*Schedule, error) {
	sched, err := a.scheduleOf(e, scheduleID)
	if err != nil {
		return nil, err
	}
	e.Effective = e.At
	switch {
	case e.At < sched.Start:
		return nil, errdefs.InvalidField("at", "must not be before the schedule's start, %s", instant.FormatMs(sched.Start))
	case sched.State == Completed && e.At >= sched.End:
		if timed && scheduleID != "" && e.At > sched.End && !e.Correction {
			return nil, errdefs.InvalidField("at", "must not be after the schedule's end, %s", instant.FormatMs(sched.End))
		}
		e.Effective = sched.last()
	}
	pauses, err := after(a.w.Tx, a.w.Account, e.StationCode, NonProduction, sched.Start)
	if err != nil {
		return nil, err
	}
	if pause, err := runningOf(a.w.Tx, a.w.Account, e.StationCode, NonProduction); err != nil {
		return nil, err
	} else if pause != nil {
		pauses = slices.Insert(pauses, 0, pause)
	}
	for _, pause := range pauses { // the latest first
		if pause.Start <= e.Effective && (pause.State == Running || e.Effective < pause.End) {
			e.Effective = pause.Start - 1
		}
	}
	if e.Effective < sched.Start {
		return nil, errdefs.New(errdefs.Conflict, "the schedule %s has been paused since its start; nothing counts for it yet", sched.ID)
	}
	return sched, nil
}

// scheduleOf finds the named production schedule, or the one running at the time of the entry.
func (a *act) scheduleOf(e *Entry, id string) (*Schedule, error) {
	if id != "" {
		sched, err := load(a.w.Tx, a.w.Account, id)
		switch {
		case err != nil:
			return nil, err
		case sched.StationCode != e.StationCode || sched.Kind != Production:
			return nil, errdefs.InvalidField("scheduleId", "must be a production schedule of %s", e.StationCode)
		case sched.State == Planned:
			return nil, errdefs.New(errdefs.Conflict, "the schedule %s has not started", id)
		case sched.State == Deleted:
			return nil, gone(sched)
		}
		return sched, nil
	}
	moment := *a
	moment.at = e.At
	l, err := moment.kindAt(e.StationCode, Production)
	if err != nil {
		return nil, err
	}
	if l.running != nil && l.running.Start <= e.At {
		return l.running, nil
	}
	for _, s := range l.ended {
		if s.Start <= e.At && e.At < s.freed() {
			return s, nil
		}
	}
	return nil, errdefs.New(errdefs.Conflict, "no production schedule runs at %s at %s; start one first, or name one by scheduleId", e.StationCode, instant.FormatMs(e.At))
}

// last returns the last moment at which units count for an ended schedule.
func (s *Schedule) last() int64 {
	if s.byQuantity() {
		return s.End
	}
	return max(s.End-1, s.Start)
}

func units(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// keep stores an entry with its audit record.
func (a *act) keep(old, e *Entry, action string) error {
	if old == nil {
		if err := entriesAt.Put(a.w.Tx, e.key(a.w.Account), []byte(e.ScheduleID)); err != nil {
			return err
		}
		detail := map[string]string{
			"stationCode": e.StationCode, "scheduleId": e.ScheduleID, "at": instant.FormatMs(e.At), "initials": e.Initials,
			"good": units(e.Good), "bad": units(e.Bad), "reject": units(e.Reject), "correction": fmt.Sprint(e.Correction),
		}
		if err := audit.Put(a.w.Tx, a.w.Account, a.by, action, e.ID, detail); err != nil {
			return err
		}
	}
	return entries.Put(a.w.Tx, idKey{A: a.w.Account, B: e.ID}, *e)
}

// UndoInput undoes an entry: POST /production/{id}/undo.
type UndoInput struct {
	At       *Moment `json:"at"`
	Initials string  `json:"initials"`
	Note     string  `json:"note"`
}

// Undo adds a counter-entry to an entry and returns it. It requires the same role and flags as making the entry.
// Errors: as Enter's, and Conflict for an entry that was already undone or is itself a counter-entry.
func (s *Service) Undo(w *floor.Work, p auth.Principal, id string, in UndoInput) (*EntryView, error) {
	old, err := entries.Get(w.Tx, idKey{A: w.Account, B: id})
	if errors.Is(err, kv.ErrNotFound) {
		return nil, errdefs.New(errdefs.NotFound, "there is no such entry")
	}
	if err != nil {
		return nil, fmt.Errorf("read entry %s: %w", id, err)
	}
	a, err := s.act(w, p, auth.Operator, old.StationCode, in.At)
	if err != nil {
		return nil, err
	}
	a.say(in.Initials, in.Note, true)
	if a.at < old.At {
		a.problems.Add("at", "must not be before the entry, %s", instant.FormatMs(old.At))
	}
	if err := a.invalid(); err != nil {
		return nil, err
	}
	if err := a.mayUndo(p, &old); err != nil {
		return nil, err
	}
	if err := w.Cancel(old.StationCode, old.Effective, old.Sequence); err != nil {
		return nil, err
	}
	counter := Entry{
		ID: entryID(w.Now), StationCode: old.StationCode, ScheduleID: old.ScheduleID, At: a.at, Effective: old.Effective,
		Good: -old.Good, Bad: -old.Bad, Reject: -old.Reject, Correction: old.Correction,
		Initials: a.initials, Note: in.Note, Undoes: old.ID, Recorded: w.Now, By: a.by,
	}
	if err := a.keep(nil, &counter, "production.undo"); err != nil {
		return nil, err
	}
	undone := old
	undone.UndoneBy = counter.ID
	return counter.view(), a.keep(&old, &undone, "")
}

// mayUndo checks that a caller may undo an entry.
func (a *act) mayUndo(p auth.Principal, old *Entry) error {
	switch {
	case old.UndoneBy != "":
		return errdefs.New(errdefs.Conflict, "the entry %s was undone by %s", old.ID, old.UndoneBy)
	case old.Undoes != "":
		return errdefs.New(errdefs.Conflict, "the entry %s reverses another one; enter the correct units as a new entry", old.ID)
	}
	st, err := a.w.Station(old.StationCode)
	if err != nil {
		return err
	}
	sched, err := load(a.w.Tx, a.w.Account, old.ScheduleID)
	if err != nil {
		return err
	}
	if sched.State == Completed {
		err = a.historical(p, st)
	} else {
		err = a.mayEnter(p, st, sched, old)
	}
	if err != nil {
		return err
	}
	if err := a.w.Reaches(old.Effective); err != nil {
		return err
	}
	return a.lacks(sched, old)
}

// latestEntry returns the latest time of a schedule's entries that count at from or later, ms; 0: none. An end at from
// would leave those entries outside of the schedule.
func (a *act) latestEntry(sched *Schedule, from int64) (latest int64, err error) {
	list, err := a.counting(sched, from)
	for _, e := range list {
		latest = max(latest, e.Effective)
	}
	return latest, err
}

// counting returns a schedule's entries that count at from or later, ms, and were not undone.
func (a *act) counting(sched *Schedule, from int64) (list []*Entry, err error) {
	at := func(ms int64) entryKey { return (&Entry{StationCode: sched.StationCode, At: ms}).key(a.w.Account) }
	for item, err := range entriesAt.Scan(a.w.Tx, entriesAt.Between(at(from), at(a.w.Now+1))) {
		if err != nil {
			return nil, fmt.Errorf("read the entries of %s: %w", sched.StationCode, err)
		}
		if string(item.Value) != sched.ID {
			continue
		}
		e, err := entries.Get(a.w.Tx, idKey{A: a.w.Account, B: item.Key.B.B.B})
		if err != nil {
			return nil, fmt.Errorf("read entry %s: %w", item.Key.B.B.B, err)
		}
		if e.Effective >= from && e.UndoneBy == "" && e.Undoes == "" {
			list = append(list, &e)
		}
	}
	return list, nil
}
