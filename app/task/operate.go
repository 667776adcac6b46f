package task

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/app/floor"
	"opsmon/app/station"
	"opsmon/kv"
)

// Completion is what an operator says of a Task that is done.
type Completion struct {
	Initials string `json:"initials"` // 3 to 8 characters, which the caller has checked
	Note     string `json:"note"`     // at most 1,000 characters
	At       *int64 `json:"-"`        // ms: when it was done; nil: now
}

// Complete completes a Task, for an operator of its station. A missed one is completed where that was before its deadline.
// Errors: NotFound; Forbidden, also where enableTasks is off; Invalid (at, note); Conflict for one that is completed
// already, or was missed.
func (s *Service) Complete(w *floor.Work, p auth.Principal, id string, in Completion) (*View, error) {
	if err := s.cfg.Authorize(w.Tx, p, auth.Operator); err != nil {
		return nil, err
	}
	k, ok := parseID(w.Account, id)
	if !ok {
		return nil, errNoTask
	}
	t, err := s.begin(w, k.B.A)
	if err != nil {
		return nil, err
	}
	if err := bound(p, t.code); err != nil {
		return nil, err
	}
	if err := t.refuse(); err != nil { // before it is looked for: a Task may have gone with the flag since it was listed
		return nil, err
	}
	if !instances.Has(w.Tx, k) {
		return nil, errNoTask
	}
	at, err := floor.Moment("at", in.At, w.Now)
	if err != nil {
		return nil, err
	}
	i, err := t.one(k)
	if err != nil {
		return nil, err
	}
	if err := i.completable(at, w.Now, in.Note); err != nil {
		return nil, err
	}
	i.State, i.Done, i.Noted, i.Initials, i.Note = Completed, at, w.Now, in.Initials, in.Note
	if err := instances.Put(w.Tx, k, i.record); err != nil {
		return nil, err
	}
	if i.Deadline <= t.rec.Through && currents.Has(w.Tx, k) { // a fire that is to be gone through must find it
		if err := t.let(i); err != nil {
			return nil, err
		}
	}
	detail := map[string]string{"stationCode": t.code, "taskCode": i.text.TaskCode, "taskListCode": i.text.ListCode, "initials": in.Initials, "at": stamp(at)}
	if err := audit.Put(w.Tx, w.Account, p.Actor(), "task.complete", id, detail); err != nil {
		return nil, err
	}
	t.change(i)
	t.tell()
	return i.view(), nil
}

var errNoTask = errdefs.New(errdefs.NotFound, "there is no such Task; a pending one that the manifest no longer asks for is gone")

// one gives an Instance: the one among the current ones, where it is.
func (t *turn) one(k key) (*instance, error) {
	for _, i := range t.current {
		if i.key == k {
			return i, nil
		}
	}
	i, err := t.reader.get(k)
	if errors.Is(err, kv.ErrNotFound) {
		return nil, errdefs.New(errdefs.NotFound, "there is no such Task")
	}
	return i, err
}

// refuse tells whether enableTasks is off at the station, or the station is gone: Forbidden, NotFound.
func (t *turn) refuse() error {
	st, err := t.w.Station(t.code)
	if err != nil {
		return err
	}
	return st.Refuse(flag)
}

// completable tells whether the Instance can be completed at a moment: Conflict, Invalid.
func (i *instance) completable(at, now int64, note string) error {
	switch {
	case i.State == Completed:
		return errdefs.New(errdefs.Conflict, "the Task %s was completed by %s at %s", i.text.TaskCode, i.Initials, stamp(i.Done))
	case at < i.at():
		return errdefs.InvalidField("at", "must not be before the Task was there, %s; it is %s", stamp(i.at()), stamp(at))
	case (i.State == Missed || i.Deadline != 0 && i.Deadline <= now) && at >= i.Deadline:
		return errdefs.New(errdefs.Conflict, "the Task %s was missed at %s; it can only be completed with an at before that", i.text.TaskCode, stamp(i.Deadline))
	case i.text.RequireNotes && strings.TrimSpace(note) == "":
		return errdefs.InvalidField("note", "is required for the Task %s", i.text.TaskCode)
	}
	return nil
}

// bound refuses a station that the caller is not bound to.
func bound(p auth.Principal, stationCode string) error {
	if p.StationCodes != nil && !slices.Contains(p.StationCodes, stationCode) {
		return errdefs.New(errdefs.Forbidden, "this tablet may not act on the station %s", stationCode)
	}
	return nil
}

// ListStart starts a Task list.
type ListStart struct {
	StationCode string `json:"stationCode"`
	Initials    string `json:"initials"` // 3 to 8 characters, which the caller has checked
	At          *int64 `json:"-"`        // ms; nil: now
}

// Start makes the Tasks of a list that are on demand, for an operator of the station, and gives them in their order.
// Errors: Invalid (stationCode, at); Forbidden, also where enableTasks is off; NotFound for a list that is not available
// there; Conflict for one that is not on demand, or of which Tasks are pending since an earlier start.
func (s *Service) Start(w *floor.Work, p auth.Principal, listCode string, in ListStart) ([]*View, error) {
	if err := s.cfg.Authorize(w.Tx, p, auth.Operator); err != nil {
		return nil, err
	}
	if err := bound(p, in.StationCode); err != nil {
		return nil, err
	}
	st, err := w.Station(in.StationCode)
	if errdefs.KindOf(err) == errdefs.NotFound {
		return nil, errdefs.InvalidField("stationCode", "must be the code of a station; there is none of this code")
	}
	if err == nil && st.Monitor.MeterOnly {
		return nil, errdefs.InvalidField("stationCode", "must be a station that somebody works at; %s is an energy meter", st.Code)
	}
	if err == nil {
		err = st.Refuse(flag)
	}
	if err != nil {
		return nil, err
	}
	at, err := floor.Moment("at", in.At, w.Now)
	if err != nil {
		return nil, err
	}
	t, err := s.begin(w, st.Code)
	if err != nil {
		return nil, err
	}
	list, err := t.startable(st, listCode)
	if err != nil {
		return nil, err
	}
	made := []*View{}
	for _, text := range list {
		i, err := t.add(text, at, record{State: Pending, Started: in.Initials})
		if err != nil {
			return nil, err
		}
		made = append(made, i.view())
	}
	if err := t.store(); err != nil {
		return nil, err
	}
	detail := map[string]string{"stationCode": st.Code, "initials": in.Initials, "at": stamp(at), "tasks": fmt.Sprint(len(made))}
	return made, audit.Put(w.Tx, w.Account, p.Actor(), "taskList.start", listCode, detail)
}

// startable gives the words of a list's Tasks that are on demand.
func (t *turn) startable(st *station.Station, listCode string) (list []Text, err error) {
	if !slices.ContainsFunc(st.TaskLists, func(l listView) bool { return l.Code == listCode }) {
		return nil, errdefs.New(errdefs.NotFound, "there is no Task list of this code at the station %s", st.Code)
	}
	for _, a := range asksOf(st) {
		if a.text.ListCode == listCode && a.text.Trigger == OnDemand {
			list = append(list, a.text)
		}
	}
	if len(list) == 0 {
		return nil, errdefs.New(errdefs.Conflict, "the Task list %s has no Task that is started by hand at the station %s", listCode, st.Code)
	}
	pending, since := 0, int64(0)
	for _, i := range t.current {
		if i.State == Pending && i.text.ListCode == listCode && i.text.Trigger == OnDemand {
			pending++
			since = max(since, i.at())
		}
	}
	if pending > 0 {
		return nil, errdefs.New(errdefs.Conflict, "the Task list %s was started at the station %s at %s, and %d of its Tasks are pending; complete them first", listCode, st.Code, stamp(since), pending)
	}
	return list, nil
}
