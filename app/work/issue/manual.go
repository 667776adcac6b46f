package issue

import (
	"slices"

	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
	"opsmon/kv"
)

// CreateInput is a request for manual downtime. Without EndAt, downtime starts. With only EndAt, the downtime in
// progress ends. With both, a past downtime is recorded, or the one in progress since StartAt ends.
type CreateInput struct {
	Entry
	StationCode string        `json:"stationCode"`
	StartAt     *instant.Time `json:"startAt"`
	EndAt       *instant.Time `json:"endAt"`
	Cause       *string       `json:"causeCode"`
}

// FlagManual is the flag that allows manual downtime at a station.
const FlagManual = "enableManualDowntime"

// pastLimit is how far back a supervisor may record manual downtime, ms. For others the limit of floor.Moment applies.
const pastLimit = 31 * 24 * 60 * instant.MinuteMs

// Manual starts, ends or records manual downtime. It requires an operator. Errors: Invalid by field; Forbidden, also if
// the flag is off; NotFound; Conflict if it would overlap another downtime, if none is in progress, or if the signals
// of that time have been deleted.
func (s *Service) Manual(w *floor.Work, p auth.Principal, in CreateInput) (*View, error) {
	m := manual{w: w, p: p, in: in}
	who, st, err := s.begin(w, p, auth.Operator, in.StationCode, in.Entry, &m.problems)
	m.who = who
	if errdefs.KindOf(err) == errdefs.NotFound {
		m.problems.Add("stationCode", "must be a station of the account; it is %q", in.StationCode)
		st, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	if in.Cause != nil && st != nil {
		if issue := mayBe(st)(*in.Cause); issue != "" {
			m.problems.Add("causeCode", "%s", issue)
		}
		m.cause = *in.Cause
	}
	open, err := openOf(w.Tx, w.Account, in.StationCode)
	if err != nil {
		return nil, err
	}
	ends := open != 0 && in.EndAt != nil && (in.StartAt == nil || in.StartAt.UnixMilli() == open)
	var refused error
	if st != nil && !ends { // a downtime in progress can always be ended: nothing counts until then
		refused = m.problems.Take(mayStop(st))
	}
	start, end := m.times(open)
	if err := m.problems.Err("the downtime"); err != nil {
		return nil, err
	}
	if refused != nil {
		return nil, refused
	}
	if err := m.reaches(open, start, end); err != nil {
		return nil, err
	}
	switch {
	case end == 0 && open != 0:
		return nil, errdefs.New(errdefs.Conflict, "a manual downtime has been in progress at %s since %s: %s; end it first", in.StationCode, instant.FormatMs(open), ID(in.StationCode, monitor.IssueManual, open))
	case end == 0:
		return m.start(start)
	case in.StartAt == nil && open == 0:
		return nil, errdefs.New(errdefs.Conflict, "no manual downtime is in progress at %s; startAt must be given to record a past one", in.StationCode)
	case in.StartAt == nil || start == open:
		return m.end(open, end)
	}
	return m.whole(start, end)
}

// mayStop checks whether a station can have manual downtime. Errors: Invalid for an energy meter, which produces
// nothing; Forbidden if the flag is off.
func mayStop(st *station.Station) error {
	if st.Monitor.MeterOnly {
		return errdefs.InvalidField("stationCode", "must be a station that produces; %s is an energy meter", st.Code)
	}
	return st.Refuse(FlagManual)
}

// manual is the state of one request.
type manual struct {
	w     *floor.Work
	p     auth.Principal
	who   Author
	in    CreateInput
	cause string

	problems errdefs.Problems // problems of the request found so far
}

// times returns the start, by default now, and the end, by default 0. open is the start of the downtime in progress; 0:
// none.
func (m *manual) times(open int64) (start, end int64) {
	start = m.who.At
	var early, late error
	if m.in.StartAt != nil {
		start, early = m.past("startAt", m.in.StartAt)
	}
	if m.in.EndAt != nil {
		end, late = m.past("endAt", m.in.EndAt)
	}
	_, _ = m.problems.Take(early), m.problems.Take(late) // both are Invalid
	switch {
	case m.in.EndAt == nil || early != nil || late != nil:
	case m.in.StartAt == nil && open != 0 && end <= open:
		m.problems.Add("endAt", "must lie after the start of the downtime, %s; it is %s", instant.FormatMs(open), instant.FormatMs(end))
	case m.in.StartAt != nil && end <= start:
		m.problems.Add("endAt", "must lie after startAt, %s; it is %s", instant.FormatMs(start), instant.FormatMs(end))
	}
	return start, end
}

// reaches checks that the signals of the times are still stored. Error: Conflict.
func (m *manual) reaches(open int64, times ...int64) error {
	for _, at := range times {
		if at == 0 || at == open { // a downtime in progress can be ended however long ago it began
			continue
		}
		if err := m.w.Reaches(at); err != nil {
			return err
		}
	}
	return nil
}

// past reads a time of a downtime. It must not be in the future, nor further back than the caller may record.
func (m *manual) past(field string, at *instant.Time) (int64, error) {
	ms := at.UnixMilli()
	if known, err := moment(field, at, m.w.Now); err == nil || ms > m.w.Now || !m.p.Role.AtLeast(auth.Supervisor) {
		return known, err
	}
	if ms < m.w.Now-pastLimit {
		return 0, errdefs.InvalidField(field, "must not be more than 31 days ago; it is %s", instant.FormatMs(ms))
	}
	return ms, nil
}

// free checks that no other manual downtime overlaps [start, end). Error: Conflict, which names it.
func (m *manual) free(start, end int64) error {
	list, err := about(m.w.Tx, m.w.Account, m.in.StationCode, start, end)
	if err != nil {
		return err
	}
	open, err := openOf(m.w.Tx, m.w.Account, m.in.StationCode)
	if err != nil {
		return err
	}
	if open != 0 && open < end {
		return m.overlaps(open)
	}
	if i := slices.IndexFunc(list, func(r *Record) bool { return r.Type == monitor.IssueManual && r.Manual.End > start }); i >= 0 {
		return m.overlaps(list[i].Start)
	}
	return nil
}

func (m *manual) overlaps(start int64) error {
	return errdefs.New(errdefs.Conflict, "the time overlaps a manual downtime that began at %s: %s", instant.FormatMs(start), ID(m.in.StationCode, monitor.IssueManual, start))
}

func (m *manual) record(kind monitor.InputKind, at int64) (uint64, error) {
	return m.w.Record(m.in.StationCode, monitor.Input{At: at, Kind: kind, Source: m.who.By})
}

func (m *manual) key() kv.Pair[string, string] {
	return kv.Pair[string, string]{A: m.w.Account, B: m.in.StationCode}
}

func (m *manual) start(start int64) (*View, error) {
	if err := m.free(start, far); err != nil {
		return nil, err
	}
	r := m.begin(start)
	number, err := m.record(monitor.InputManualStart, start)
	if err != nil {
		return nil, err
	}
	r.Manual.StartSeq = number
	if err := opens.Put(m.w.Tx, m.key(), start); err != nil {
		return nil, err
	}
	return m.keep(r)
}

// begin returns the record of a new manual downtime.
func (m *manual) begin(start int64) *Record {
	r := &Record{Type: monitor.IssueManual, Start: start, Until: max(start, m.w.Now), Manual: &Manual{}, Note: m.in.Note}
	r.Events = []Event{{At: m.who.At, RecordedAt: m.w.Now, By: m.who.By, Initials: m.who.Initials, Action: ActionStart, Value: m.cause, Note: m.in.Note}}
	if m.cause != "" {
		r.whole(m.who, m.cause)
	}
	return r
}

func (m *manual) end(start, end int64) (*View, error) {
	r, err := get(m.w.Tx, m.w.Account, m.in.StationCode, monitor.IssueManual, start)
	if err != nil {
		return nil, err
	}
	if r.Manual.EndSeq, err = m.record(monitor.InputManualEnd, end); err != nil {
		return nil, err
	}
	r.Manual.End, r.Until = end, end
	if m.cause != "" {
		r.whole(m.who, m.cause)
		m.w.Changed(m.in.StationCode, instant.FloorMinute(start))
	}
	if m.in.Note != "" {
		r.Note = m.in.Note
	}
	// Not limited by MaxEvents: downtime in progress can always be ended.
	r.Events = append(r.Events, Event{At: m.who.At, RecordedAt: m.w.Now, By: m.who.By, Initials: m.who.Initials, Action: ActionEnd, Value: m.cause, Note: m.in.Note})
	if err := opens.Delete(m.w.Tx, m.key()); err != nil {
		return nil, err
	}
	return m.keep(r)
}

func (m *manual) whole(start, end int64) (*View, error) {
	if err := m.free(start, end); err != nil {
		return nil, err
	}
	r := m.begin(start)
	var err error
	if r.Manual.StartSeq, err = m.record(monitor.InputManualStart, start); err != nil {
		return nil, err
	}
	if r.Manual.EndSeq, err = m.record(monitor.InputManualEnd, end); err != nil {
		return nil, err
	}
	r.Manual.End, r.Until = end, end
	if err := r.note(m.who, ActionEnd, "", ""); err != nil {
		return nil, err
	}
	return m.keep(r)
}

// keep stores the record and publishes the event.
func (m *manual) keep(r *Record) (*View, error) {
	if err := put(m.w.Tx, m.w.Account, m.in.StationCode, r); err != nil {
		return nil, err
	}
	return publish(m.w, m.in.StationCode, &Of{Issue: monitor.Issue{Type: r.Type, Start: r.Start, End: r.Manual.End}, Own: r})
}
