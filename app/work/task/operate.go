package task

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
	"opsmon/kv"
)

// Completion is a request to complete a Task.
type Completion struct {
	Initials string `json:"initials"` // 3 to 8 letters or digits
	Note     string `json:"note"`     // at most 1,000 characters
	At       *int64 `json:"-"`        // ms: when it was done; nil: now
}

// Complete completes a Task. It requires an operator of its station. A missed Task can be completed with a time before
// its deadline. Errors: NotFound; Forbidden, also if enableTasks is off; Invalid (at, note); Conflict if it was already
// completed or missed.
func (s *Service) Complete(w *floor.Work, p auth.Principal, id string, in Completion) (*View, error) {
	k, ok := parseID(w.Account, id)
	if !ok {
		if err := s.cfg.Authorize(w.Tx, p, auth.Operator); err != nil {
			return nil, err
		}
		return nil, errNoTask
	}
	if err := auth.AuthorizeAt(s.cfg.Authorize, w.Tx, p, auth.Operator, k.B.A); err != nil {
		return nil, err
	}
	t, err := s.begin(w, k.B.A)
	if err != nil {
		return nil, err
	}
	// checked before the lookup: turning the flag off may have withdrawn the Task after it was listed
	if err := t.refuse(); err != nil {
		return nil, err
	}
	if !instances.Has(w.Tx, k) {
		return nil, errNoTask
	}
	var problems errdefs.Problems
	at, initials := timeAndAuthor(&problems, in.At, in.Initials, w.Now)
	i, err := t.one(k)
	if err != nil {
		return nil, err
	}
	if err := i.completable(&problems, at, w.Now, in.Note); err != nil {
		return nil, err
	}
	i.State, i.Done, i.Noted, i.Initials, i.Note = Completed, at, w.Now, initials, in.Note
	if err := instances.Put(w.Tx, k, i.record); err != nil {
		return nil, err
	}
	if i.Deadline <= t.rec.Through && currents.Has(w.Tx, k) { // it must stay current until its fire was processed
		if err := t.let(i); err != nil {
			return nil, err
		}
	}
	detail := map[string]string{"stationCode": t.code, "taskCode": i.text.TaskCode, "taskListCode": i.text.ListCode, "initials": initials, "at": instant.FormatMs(at)}
	if err := audit.Put(w.Tx, w.Account, p.Actor(), "task.complete", id, detail); err != nil {
		return nil, err
	}
	t.change(i)
	t.publishChanges()
	return i.view(), nil
}

var errNoTask = errdefs.New(errdefs.NotFound, "there is no such Task; a pending one is withdrawn when the manifest no longer requires it")

// one returns an Instance, from the current ones if it is among them.
func (t *stationTx) one(k key) (*instance, error) {
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

// refuse checks that the station exists and that enableTasks is on. Errors: Forbidden, NotFound.
func (t *stationTx) refuse() error {
	st, err := t.w.Station(t.code)
	if err != nil {
		return err
	}
	return st.Refuse(flag)
}

// completable checks that the Instance can be completed at a moment and that there are no other problems. Errors:
// Conflict, Invalid.
func (i *instance) completable(problems *errdefs.Problems, at, now int64, note string) error {
	if i.State == Completed {
		return errdefs.New(errdefs.Conflict, "the Task %s was completed by %s at %s", i.text.TaskCode, i.Initials, instant.FormatMs(i.Done))
	}
	if at < i.at() {
		problems.Add("at", "must not be before the Task was there, %s; it is %s", instant.FormatMs(i.at()), instant.FormatMs(at))
	}
	missed := (i.State == Missed || i.Deadline != 0 && i.Deadline <= now) && at >= i.Deadline
	if !missed && i.text.RequireNotes && strings.TrimSpace(note) == "" {
		problems.Add("note", "is required for the Task %s", i.text.TaskCode)
	}
	if err := problems.Err("the request"); err != nil || !missed {
		return err
	}
	return errdefs.New(errdefs.Conflict, "the Task %s was missed at %s; it can only be completed with an at before that", i.text.TaskCode, instant.FormatMs(i.Deadline))
}

// timeAndAuthor returns the time of an action, by default now, and its author.
func timeAndAuthor(problems *errdefs.Problems, at *int64, initials string, now int64) (ms int64, by string) {
	ms, err := floor.Moment("at", at, now)
	if err != nil {
		ms = now
	}
	by, unfit := auth.Initials(initials, true)
	_, _ = problems.Take(err), problems.Take(unfit) // both are Invalid
	return ms, by
}

// ListStart is a request to start a Task list.
type ListStart struct {
	StationCode string `json:"stationCode"`
	Initials    string `json:"initials"` // 3 to 8 letters or digits
	At          *int64 `json:"-"`        // ms; nil: now
}

// Start makes the on-demand Tasks of a list and returns them in their order. It requires an operator of the station.
// Errors: Invalid (stationCode, at); Forbidden, also if enableTasks is off; NotFound if the list is not available
// there; Conflict if it is not on demand, or if Tasks of an earlier start are pending.
func (s *Service) Start(w *floor.Work, p auth.Principal, listCode string, in ListStart) ([]*View, error) {
	if err := auth.AuthorizeAt(s.cfg.Authorize, w.Tx, p, auth.Operator, in.StationCode); err != nil {
		return nil, err
	}
	var problems errdefs.Problems
	at, initials := timeAndAuthor(&problems, in.At, in.Initials, w.Now)
	st, err := w.Station(in.StationCode)
	switch {
	case errdefs.KindOf(err) == errdefs.NotFound:
		problems.Add("stationCode", "must be the code of a station; no station has this code")
	case err != nil:
		return nil, err
	case st.Monitor.MeterOnly:
		problems.Add("stationCode", "must be a station that somebody works at; %s is an energy meter", st.Code)
	}
	if err := problems.Err("the request"); err != nil {
		return nil, err
	}
	if err := st.Refuse(flag); err != nil {
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
		i, err := t.add(text, at, record{State: Pending, Started: initials})
		if err != nil {
			return nil, err
		}
		made = append(made, i.view())
	}
	if err := t.store(); err != nil {
		return nil, err
	}
	detail := map[string]string{"stationCode": st.Code, "initials": initials, "at": instant.FormatMs(at), "tasks": fmt.Sprint(len(made))}
	return made, audit.Put(w.Tx, w.Account, p.Actor(), "taskList.start", listCode, detail)
}

// startable returns the texts of a list's on-demand Tasks.
func (t *stationTx) startable(st *station.Station, listCode string) (list []Text, err error) {
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
		return nil, errdefs.New(errdefs.Conflict, "the Task list %s was started at the station %s at %s, and %d of its Tasks are pending; complete them first", listCode, st.Code, instant.FormatMs(since), pending)
	}
	return list, nil
}
