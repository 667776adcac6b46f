package floor

import (
	"cmp"
	"slices"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/energy"
	"opsmon/app/engine/history"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/kv"
)

// Detail is what is known of a station in a range of time.
type Detail struct {
	Rules    *station.Rules    // of the end of the range
	Segments []monitor.Segment // in order, with the causes that people found; they cover what is known of the range
	Minutes  []monitor.Minute  // in order, those in which something was measured
	Issues   []monitor.Issue   // whole, by their start, those that have time in the range; End 0: it goes on
	Final    int64             // what lies before it changes only when something comes late, ms
}

// Detail returns what is known of a station in [from, to), ms, whole minutes: what is kept, and up to now what the live
// state shows. Errors: errdefs.NotFound; the store's.
func (f *Floor) Detail(accountID, stationCode string, from, to int64) (*Detail, error) {
	wk, err := f.ready(accountID)
	if err != nil {
		return nil, err
	}
	wk.mu.RLock()
	tr, t := wk.trackers[stationCode], wk.timeline
	wk.mu.RUnlock()
	if tr == nil {
		return nil, errdefs.New(errdefs.NotFound, "there is no station with this code")
	}
	return wk.detail(t, tr, nil, from, to)
}

// detail is Detail of a tracker. g may be nil; else its view is used where the tracker has not changed since.
func (wk *worker) detail(t *station.Timeline, tr *tracker, g *glimpse, from, to int64) (*Detail, error) {
	now := wk.f.now()
	d := &Detail{}
	var err error
	if d.Rules, err = t.RulesAt(tr.code, min(max(to-1, from), now)); err != nil {
		return nil, err
	}
	for again := true; again; {
		tr.mu.Lock()
		recent, v, err := tr.recent(now, g)
		through, version := tr.through, tr.version
		tr.mu.Unlock()
		if err != nil {
			return nil, err
		}
		d.Final = v.Final
		var kept monitor.Outputs
		var findings []monitor.Finding
		err = wk.f.cfg.Store.View(func(tx *kv.Tx) (err error) {
			if from < through {
				if kept, _, err = wk.f.cfg.History.Detail(tx, wk.account, tr.code, from, min(to, through)); err != nil {
					return err
				}
			}
			d.Issues = kept.Issues
			for _, i := range slices.Concat(recent.Issues, v.Open) {
				if i.Start < to && (i.End == 0 || i.End > from && i.End >= through) {
					d.Issues = append(d.Issues, i)
				}
			}
			findings, err = wk.f.cfg.Findings(tx, wk.account, tr.code, d.Issues)
			return err
		})
		if err != nil {
			return nil, err
		}
		tr.mu.Lock()
		again = tr.version != version // what is kept has changed in between
		tr.mu.Unlock()
		later := history.Cut(recent, max(from, through), max(to, through))
		later = history.Cut(later, from, to)
		d.Segments = monitor.Explain(history.Join(kept.Segments, later.Segments), findings)
		d.Minutes = append(kept.Minutes, later.Minutes...)
	}
	slices.SortStableFunc(d.Issues, func(a, b monitor.Issue) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Type, b.Type))
	})
	return d, nil
}

// Rows returns the sums of stations in [from, to), ms, whole minutes, one station after another: an hour, shift and SKU
// a row. A station that is not there is errdefs.NotFound; other errors are the store's, or use's own.
func (f *Floor) Rows(accountID string, stationCodes []string, from, to int64, use func(s *station.Rules, rows []oee.Row, used []energy.Row) error) error {
	to = min(to, f.now()/minute*minute)
	return f.eachTracker(accountID, stationCodes, func(wk *worker, t *station.Timeline, tr *tracker) error {
		s, rows, used, err := wk.rows(t, tr, nil, from, to)
		if err != nil {
			return err
		}
		return use(s, rows, used)
	})
}

// Minutes returns what Rows gives by the minute, but for energy: what its terms add up to is the same. It is for short
// times.
func (f *Floor) Minutes(accountID string, stationCodes []string, from, to int64, use func(s *station.Rules, rows []oee.Row, used []energy.Row) error) error {
	to = min(to, f.now()/minute*minute)
	return f.eachTracker(accountID, stationCodes, func(wk *worker, t *station.Timeline, tr *tracker) error {
		s, err := t.RulesAt(tr.code, min(max(to-1, from), wk.f.now()))
		if err != nil || to <= from {
			return err
		}
		d, err := wk.detail(t, tr, nil, from, to)
		if err != nil {
			return err
		}
		rows, _, err := collect(t, tr.code, calendar.UnitMinute, from, to, d.Segments, d.Minutes)
		if err != nil {
			return err
		}
		return use(s, rows, nil)
	})
}

// eachTracker calls fn for the trackers of some stations. errdefs.NotFound; errors of fn.
func (f *Floor) eachTracker(accountID string, stationCodes []string, fn func(wk *worker, t *station.Timeline, tr *tracker) error) error {
	wk, err := f.ready(accountID)
	if err != nil {
		return err
	}
	for _, code := range stationCodes {
		wk.mu.RLock()
		tr, t := wk.trackers[code], wk.timeline
		wk.mu.RUnlock()
		if tr == nil {
			return errdefs.New(errdefs.NotFound, "there is no station with the code %s", code)
		}
		if err := fn(wk, t, tr); err != nil {
			return err
		}
	}
	return nil
}

// rows returns the sums of a tracker: of whole hours those that are kept, of other times sums of its detail. g is as in
// detail.
func (wk *worker) rows(t *station.Timeline, tr *tracker, g *glimpse, from, to int64) (s *station.Rules, rows []oee.Row, used []energy.Row, err error) {
	if s, err = t.RulesAt(tr.code, min(max(to-1, from), wk.f.now())); err != nil || to <= from {
		return s, nil, nil, err
	}
	add := func(from, to int64) error {
		if from >= to {
			return nil
		}
		d, err := wk.detail(t, tr, g, from, to)
		if err != nil {
			return err
		}
		more, energies, err := collect(t, tr.code, calendar.UnitHour, from, to, d.Segments, d.Minutes)
		rows, used = append(rows, more...), append(used, energies...)
		return err
	}
	// An hour of which only a part is kept is added up from its detail as a whole, so that sums of floating point
	// numbers do not depend on when the hour was kept.
	tr.mu.Lock()
	kept := min(to, tr.through)
	tr.mu.Unlock()
	first, last := s.Calendar.Bucket(from, calendar.UnitHour), s.Calendar.Bucket(kept, calendar.UnitHour)
	whole := calendar.Range{Start: first.Start, End: last.Start}
	if first.Start < from {
		whole.Start = first.End
	}
	if whole.Start >= whole.End {
		return s, rows, used, add(from, to)
	}
	if err = add(from, whole.Start); err != nil {
		return s, nil, nil, err
	}
	sums, energies, through, err := wk.keptRows(tr, s, whole)
	if err != nil {
		return s, nil, nil, err
	}
	rows, used = append(rows, sums...), append(used, energies...)
	return s, rows, used, add(max(whole.Start, through), to)
}

// keptRows returns what is kept of a tracker in whole hours, as far as that is without a gap: through is how far.
func (wk *worker) keptRows(tr *tracker, s *station.Rules, whole calendar.Range) (rows []oee.Row, used []energy.Row, through int64, err error) {
	err = wk.f.cfg.Store.View(func(tx *kv.Tx) error {
		sums, energies, until, err := wk.f.cfg.History.Rows(tx, wk.account, tr.code, whole.Start, whole.End)
		if through = s.Calendar.Bucket(until, calendar.UnitHour).Start; err != nil || through <= whole.Start {
			return err
		}
		if through < whole.End { // something late came in the meantime
			if sums, energies, _, err = wk.f.cfg.History.Rows(tx, wk.account, tr.code, whole.Start, through); err != nil {
				return err
			}
		}
		rows, used = sums, energies
		return nil
	})
	return rows, used, through, err
}

// Live is a station as it is now.
type Live struct {
	Station  *station.Station
	View     monitor.View // without outputs
	Note     station.Note // what is put up there
	Sequence uint64       // of the event that told watchers of it; equal sequences show equal values
	status   Status       // with that sequence
}

// Now returns stations of an account as they are now, in their order: those of the plan in force, or as they last were
// those that have left it. Errors: one that is Unavailable while the stations are being read after a start.
func (f *Floor) Now(accountID string, stations []*station.Station) ([]Live, error) {
	wk, err := f.ready(accountID)
	if err != nil {
		return nil, err
	}
	list := make([]Live, len(stations))
	for i, s := range stations {
		if list[i], err = wk.live(s, answerAge); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// LiveOf returns one station as it is now. errdefs.NotFound.
func (f *Floor) LiveOf(accountID, stationCode string) (Live, error) {
	wk, plan, err := f.standing(accountID)
	if err != nil {
		return Live{}, err
	}
	s := plan.Of(stationCode)
	if s == nil {
		return Live{}, errdefs.New(errdefs.NotFound, "there is no station with this code")
	}
	return wk.live(s, answerAge)
}

// standing returns the worker of an account when its trackers are there, and the plan in force.
func (f *Floor) standing(accountID string) (*worker, *station.Plan, error) {
	wk, err := f.ready(accountID)
	if err != nil {
		return nil, nil, err
	}
	plan, err := f.Plan(accountID)
	return wk, plan, err
}

// tracker returns the tracker of a station; nil when it has none.
func (wk *worker) tracker(code string) *tracker {
	wk.mu.RLock()
	defer wk.mu.RUnlock()
	return wk.trackers[code]
}

// live shows a station; what time alone changes may be age old, ms.
func (wk *worker) live(s *station.Station, age int64) (Live, error) {
	now := wk.f.now()
	tr := wk.tracker(s.Code)
	if tr == nil { // it has just come: nothing is known of it yet
		return wk.fresh(s, now)
	}
	note := wk.f.cfg.Notes(wk.account, s.Code, now)
	if !s.Archived { // who looks first tells watchers of the same
		err := wk.look(tr, s, now, age, 2*showEvery)
		tr.mu.Lock()
		defer tr.mu.Unlock()
		return Live{Station: s, View: tr.seen, Note: note, Sequence: tr.shown.Sequence, status: tr.shown.Status}, err
	}
	tr.mu.Lock()
	v, err := tr.view(now)
	tr.mu.Unlock()
	if err == nil {
		err = wk.name(s.Code, v.Open, now)
	}
	v.Outputs = monitor.Outputs{}
	return Live{Station: s, View: v, Note: note, status: statusOf(s, &v, note)}, err
}

// fresh shows a station that its worker has not come to yet.
func (wk *worker) fresh(s *station.Station, now int64) (Live, error) {
	v := monitor.New(s.Monitor, now).View(now)
	v.Outputs = monitor.Outputs{}
	note := wk.f.cfg.Notes(wk.account, s.Code, now)
	return Live{Station: s, View: v, Note: note, status: statusOf(s, &v, note)}, nil
}

// Plan returns the configuration of all stations of an account that is in force now: with all that anybody was told is
// applied. It does not wait for what goes on at the stations. Errors are those of Timeline.
func (f *Floor) Plan(accountID string) (*station.Plan, error) {
	t, err := f.Timeline(accountID)
	if err != nil {
		return nil, err
	}
	return t.Now()
}

// Meter reports whether a station is an energy meter.
func (f *Floor) Meter(accountID, stationCode string) bool {
	plan, err := f.Plan(accountID)
	if err != nil {
		return false
	}
	s := plan.Of(stationCode)
	return s != nil && s.Monitor.MeterOnly
}

// Health is how the Floor keeps up.
type Health struct {
	Stations  int
	Late      int   // stations to be computed again because something came late
	Behind    int64 // the earliest moment from which on their figures are still to change, ms; 0: none
	Failing   int64 // how much of what rules do at stations cannot be done there
	Backfills int64 // how often stations were computed again since the start
	Kept      int64 // up to when all that came is kept, ms; 0: nothing yet
	Loading   bool  // what went on is being read since the start
	Failed    error // why that failed the last time, with Loading; it is tried again
}

// Health returns how an account's stations keep up, at once.
func (f *Floor) Health(accountID string) Health {
	wk, err := f.worker(accountID)
	if err != nil {
		return Health{Loading: true}
	}
	select {
	case <-wk.loaded:
	default:
		wk.mu.RLock()
		defer wk.mu.RUnlock()
		return Health{Loading: true, Failed: wk.loading}
	}
	wk.mu.RLock()
	h := Health{Stations: wk.stations, Kept: wk.kept.Load()}
	h.Backfills, h.Failing = wk.computed.Load(), wk.failing.Load()
	trackers := wk.trackers
	wk.mu.RUnlock()
	for _, tr := range trackers {
		tr.mu.Lock()
		if at := tr.backfill.behind(); at != 0 {
			h.Late++
			h.Behind = earlier(h.Behind, at)
		}
		tr.mu.Unlock()
	}
	return h
}
