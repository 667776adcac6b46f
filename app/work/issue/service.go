package issue

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/deliver/event"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
	"opsmon/kv"
)

// Config has the dependencies of a Service.
type Config struct {
	Store *kv.Store // must hold Buckets()
	// Authorize checks in a transaction that the caller's credential is still valid and that its role is sufficient.
	Authorize func(tx *kv.Tx, p auth.Principal, need auth.Role) error
	// Detail returns the segments and issues of a station in a range.
	Detail func(accountID, stationCode string, from, to int64) (*floor.Detail, error)
	Clock  func() time.Time // nil = time.Now
	// Retention is how long records are stored after the end of their issue; 0: forever.
	Retention time.Duration
}

// Service records the causes of stops. Methods that take a Work must be called inside floor.Do, all others from any
// goroutine.
type Service struct{ cfg Config }

// New returns a Service.
func New(cfg Config) *Service {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	return &Service{cfg}
}

// Now returns the current time, Unix ms.
func (s *Service) Now() int64 { return s.cfg.Clock().UnixMilli() }

// Findings returns what people entered about issues of a station, for the floor. The issues must not be parts of issues.
// Errors are the store's.
func Findings(tx *kv.Tx, account, station string, issues []monitor.Issue) ([]monitor.Finding, error) {
	if len(issues) == 0 {
		return nil, nil
	}
	from, to := extent(issues)
	records, err := about(tx, account, station, from, to)
	if err != nil || len(records) == 0 {
		return nil, err
	}
	of, _ := Follow(issues, records)
	var out []monitor.Finding
	for i := range of {
		out = append(out, of[i].Findings()...)
	}
	return out, nil
}

// EventData returns the body of an event about an issue that began or ended: the API's representation with what people
// entered. The issue must not be a part of one. Errors are the store's.
func EventData(tx *kv.Tx, account, station string, i monitor.Issue, now int64) ([]byte, error) {
	list := []monitor.Issue{i}
	from, to := extent(list)
	records, err := about(tx, account, station, from, to)
	if err != nil {
		return nil, err
	}
	of, _ := Follow(list, records)
	return json.Marshal(show(station, &of[0], now))
}

// extent returns the time range of issues; its end is far if an issue is in progress.
func extent(issues []monitor.Issue) (from, to int64) {
	from = math.MaxInt64
	for i := range issues {
		from, to = min(from, issues[i].Start), max(to, min(endOf(&issues[i]), far))
	}
	return from, to
}

// far is later than any moment of an issue, ms.
const far = 1 << 53

// Target is the issue of a request, with all issues that overlap its records. An error of the search is returned when
// the target is used, not before, so a repeated request gets its recorded answer even if the issue is gone.
type Target struct {
	station string
	issues  []monitor.Issue
	at      int // index in issues
	err     error
}

// Find looks an issue up by its ID. It reads the station's history, so it must not be called inside a transaction. The
// ID of an issue that late signals moved finds the issue that took its place.
func (s *Service) Find(account, id string) *Target {
	code, t, start, ok := ParseID(id)
	target := &Target{station: code, err: errdefs.New(errdefs.NotFound, "there is no stop with this id")}
	if !ok {
		return target
	}
	gone := target.err
	switch err := s.find(account, target, t, start); {
	case err != nil && errdefs.KindOf(err) != errdefs.NotFound:
		target.err = err
	case err != nil || target.at < 0:
		target.err = gone // no such station or no such stop
	default:
		target.err = nil
	}
	return target
}

// find reads the issues of a type around a moment: all that overlap the records there, and transitively the records and
// issues that overlap those.
func (s *Service) find(account string, target *Target, t monitor.IssueType, start int64) error {
	var records []*Record
	from, to := start, start+1
	for range maxWiden {
		d, err := s.cfg.Detail(account, target.station, instant.FloorMinute(from), instant.CeilMinute(to))
		if err != nil {
			return err
		}
		target.issues = slices.DeleteFunc(d.Issues, func(x monitor.Issue) bool { return x.Type != t })
		first, last := extent(append(slices.Clone(target.issues), monitor.Issue{Start: from, End: to}))
		if err := s.cfg.Store.View(func(tx *kv.Tx) (err error) {
			records, err = about(tx, account, target.station, first, last)
			return err
		}); err != nil {
			return err
		}
		records = slices.DeleteFunc(records, func(r *Record) bool { return r.Type != t })
		for _, r := range records {
			first, last = min(first, r.Start), max(last, r.end())
		}
		if first == from && last == to {
			break
		}
		from, to = first, last
	}
	of, _ := Follow(target.issues, records)
	target.at = choose(of, start)
	return nil
}

// maxWiden limits how often the searched range is widened by the records found in it.
const maxWiden = 5

// choose returns the index of the issue meant by a start: the issue with that start, else the one that owns the record
// with that start, else the one that contains the start; -1: none.
func choose(of []Of, start int64) int {
	if i := slices.IndexFunc(of, func(o Of) bool { return o.Start == start }); i >= 0 {
		return i
	}
	named := func(r *Record) bool { return r != nil && r.Start == start }
	if i := slices.IndexFunc(of, func(o Of) bool { return named(o.Own) || slices.ContainsFunc(o.Others, named) }); i >= 0 {
		return i
	}
	return slices.IndexFunc(of, func(o Of) bool { return o.Start < start && start < endOf(&o.Issue) })
}

// Entry has the fields common to all requests about an issue: author, note and time of the entry.
type Entry struct {
	Initials string        `json:"initials"`
	Note     string        `json:"note"`
	At       *instant.Time `json:"at"`
}

// AcknowledgeInput is a request to acknowledge an issue.
type AcknowledgeInput struct{ Entry }

// EstimateInput is a request to set the expected end of an issue; nil removes it.
type EstimateInput struct {
	Entry
	ExpectedEndAt *instant.Time `json:"expectedEndAt"`
}

// EscalateInput is a request to escalate an issue to a level from 1 to MaxEscalated.
type EscalateInput struct {
	Entry
	Level int `json:"level"`
}

// CauseInput is a request to set the cause of an issue or of one of its parts; nil removes what people entered.
type CauseInput struct {
	Entry
	Cause       *string       `json:"causeCode"`
	PartStartAt *instant.Time `json:"partStartAt"`
}

// SplitInput is a request to split an issue into parts.
type SplitInput struct {
	Entry
	Parts []PartInput `json:"parts"`
}

// ExcludeInput is a request to exclude an issue from the figures or to include it again.
type ExcludeInput struct {
	Entry
	Excluded bool `json:"excluded"`
}

// Acknowledge records that an operator has seen an issue. Errors of this and the methods below: Invalid by field,
// Forbidden, NotFound, Conflict.
func (s *Service) Acknowledge(w *floor.Work, p auth.Principal, t *Target, in AcknowledgeInput) (*View, error) {
	return s.enter(w, p, auth.Operator, t, in.Entry, func(a *act) error { return a.own.acknowledge(a.who, in.Note) })
}

// Estimate records when an issue in progress is expected to end. It requires an operator.
func (s *Service) Estimate(w *floor.Work, p auth.Principal, t *Target, in EstimateInput) (*View, error) {
	end := int64(0)
	if in.ExpectedEndAt != nil {
		end = in.ExpectedEndAt.UnixMilli()
	}
	return s.enter(w, p, auth.Operator, t, in.Entry, func(a *act) error { return a.own.estimate(a.who, &a.of, end, in.Note) })
}

// Escalate raises the escalation level of an issue. It requires an operator.
func (s *Service) Escalate(w *floor.Work, p auth.Principal, t *Target, in EscalateInput) (*View, error) {
	return s.enter(w, p, auth.Operator, t, in.Entry, func(a *act) error { return a.own.escalate(a.who, in.Level, in.Note) })
}

// Cause sets the cause of an issue or of one of its parts. It requires an operator.
func (s *Service) Cause(w *floor.Work, p auth.Principal, t *Target, in CauseInput) (*View, error) {
	code, part := "", int64(0)
	if in.Cause != nil {
		code = *in.Cause
	}
	if in.PartStartAt != nil {
		part = in.PartStartAt.UnixMilli()
	}
	return s.enter(w, p, auth.Operator, t, in.Entry, func(a *act) error {
		a.figures = true
		return a.own.cause(a.who, a.taken, mayBe(a.station), code, part, in.Note)
	})
}

// Split splits an issue into parts. It requires an operator.
func (s *Service) Split(w *floor.Work, p auth.Principal, t *Target, in SplitInput) (*View, error) {
	return s.enter(w, p, auth.Operator, t, in.Entry, func(a *act) error {
		a.figures = true
		return a.own.split(a.who, mayBe(a.station), in.Parts, in.Note)
	})
}

// Exclude excludes an issue from the figures or includes it again. It requires a supervisor.
func (s *Service) Exclude(w *floor.Work, p auth.Principal, t *Target, in ExcludeInput) (*View, error) {
	return s.enter(w, p, auth.Supervisor, t, in.Entry, func(a *act) error {
		a.figures = true
		return a.own.exclude(a.who, a.taken, in.Excluded, in.Note)
	})
}

// mayBe returns the check of causes at a station: a cause must be a selectable reason for downtime.
func mayBe(s *station.Station) reasons {
	return func(code string) string {
		if r, ok := s.Reasons[code]; ok && r.Downtime {
			return ""
		} else if ok {
			return fmt.Sprintf("must be a reason for downtime; %s is only for non-production", code)
		}
		if heading(s, code) {
			return fmt.Sprintf("must be a reason and not a heading; %s stands above the reasons that can be chosen", code)
		}
		return fmt.Sprintf("must be a reason that is available at the station %s; it is %q", s.Code, code)
	}
}

// act is the state of one request about an issue.
type act struct {
	who     Author
	station *station.Station
	of      Of
	own     *Record
	taken   []*Record // records that belong only to issues merged into this one
	figures bool      // the entry changes figures

	problems errdefs.Problems // problems of the request found so far
}

// begin checks the caller, the station and the time of the entry. Invalid fields are added to problems.
func (s *Service) begin(w *floor.Work, p auth.Principal, role auth.Role, code string, entry Entry, problems *errdefs.Problems) (Author, *station.Station, error) {
	if err := auth.AuthorizeAt(s.cfg.Authorize, w.Tx, p, role, code); err != nil {
		return Author{}, nil, err
	}
	// several people share a tablet, so initials are required
	initials, unfit := auth.Initials(entry.Initials, p.Tablet())
	at, err := moment("at", entry.At, w.Now)
	if err != nil {
		at = w.Now
	}
	_, _ = problems.Take(unfit), problems.Take(err) // both are Invalid
	by := p.Actor()
	who := by.Email
	if who == "" {
		who = by.Credential
	}
	w.By = by
	st, err := w.Station(code)
	return Author{By: who, Initials: initials, At: at, Now: w.Now}, st, err
}

// moment returns the time of an entry, ms; now if it is not given.
func moment(field string, at *instant.Time, now int64) (int64, error) {
	if at == nil {
		return now, nil
	}
	ms := at.UnixMilli()
	return floor.Moment(field, &ms, now)
}

// enter makes one entry: it stores the record, audits it and publishes the event.
func (s *Service) enter(w *floor.Work, p auth.Principal, role auth.Role, t *Target, entry Entry, do func(*act) error) (*View, error) {
	if t.station == "" { // the ID names no station
		if err := s.cfg.Authorize(w.Tx, p, role); err != nil {
			return nil, err
		}
		return nil, t.err
	}
	a := &act{}
	who, st, err := s.begin(w, p, role, t.station, entry, &a.problems)
	if err != nil && errdefs.KindOf(err) != errdefs.NotFound {
		return nil, err
	}
	if t.err != nil {
		return nil, t.err
	}
	if err != nil {
		return nil, errdefs.New(errdefs.Conflict, "the station %s is not in the manifest any more; what was said of its stops stays as it is", t.station)
	}
	a.who, a.station = who, st
	from, to := extent(t.issues)
	list, err := about(w.Tx, w.Account, t.station, from, to)
	if err != nil {
		return nil, err
	}
	all, _ := Follow(t.issues, list)
	a.of = all[t.at]
	if who.At < a.of.Start {
		a.problems.Add("at", "must not be before the start of the stop, %s; it is %s", instant.FormatMs(a.of.Start), instant.FormatMs(who.At))
	}
	a.own = a.of.own(w.Now)
	for i := range a.of.Others {
		a.of.Others[i] = a.of.Others[i].clone()
	}
	a.taken = slices.DeleteFunc(slices.Clone(a.of.Others), func(r *Record) bool { return owned(all, t.at, r) })
	moved := a.of.Own
	err = a.problems.Take(do(a))
	if invalid := a.problems.Err("the request"); invalid != nil {
		err = invalid
	}
	if err != nil {
		return nil, err
	}
	for _, r := range append(a.taken, a.own) {
		if err := put(w.Tx, w.Account, t.station, r); err != nil {
			return nil, err
		}
	}
	if moved != nil && moved.Start != a.own.Start && !owned(all, t.at, moved) {
		if err := remove(w.Tx, w.Account, t.station, moved); err != nil {
			return nil, err
		}
	}
	if a.figures {
		w.Changed(t.station, instant.FloorMinute(a.of.Start))
	}
	a.of.Own = a.own
	return publish(w, t.station, &a.of)
}

// owned reports whether a record is the own record of another issue.
func owned(all []Of, but int, r *Record) bool {
	return slices.ContainsFunc(all, func(o Of) bool {
		return o.Start != all[but].Start && o.Own != nil && o.Own.Start == r.Start
	})
}

// publish writes the audit record of the last event and publishes the issue.
func publish(w *floor.Work, code string, of *Of) (*View, error) {
	last := of.Own.Events[len(of.Own.Events)-1]
	id := ID(code, of.Type, of.Start)
	detail := map[string]string{"at": instant.FormatMs(last.At)}
	if last.Value != "" {
		detail["value"] = last.Value
	}
	if last.Initials != "" {
		detail["initials"] = last.Initials
	}
	if err := audit.Put(w.Tx, w.Account, w.By, "issue."+string(last.Action), id, detail); err != nil {
		return nil, err
	}
	v := show(code, of, w.Now)
	body, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("write stop %s: %w", id, err)
	}
	w.Publish(event.Event{At: w.Now, Type: event.Issue, Station: code, Data: body})
	return v, nil
}

// openOf returns the start of the manual downtime in progress at a station; 0: none.
func openOf(tx *kv.Tx, account, station string) (int64, error) {
	start, err := opens.Get(tx, kv.Pair[string, string]{A: account, B: station})
	if errors.Is(err, kv.ErrNotFound) {
		return 0, nil
	}
	return start, err
}
