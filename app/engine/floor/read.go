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
	Segments []monitor.Segment // in order, with the causes that people entered; they cover the known part of the range
	Minutes  []monitor.Minute  // in order, those in which something was measured
	Issues   []monitor.Issue   // whole, by start, those that overlap the range; End 0: ongoing
	Final    int64             // results before it only change with late inputs, ms
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
func (wk *worker) detail(t *station.Timeline, tr *tracker, g *liveView, from, to int64) (*Detail, error) {
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
		again = tr.version != version // the stored results have changed in between
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

// Rows returns the sums of stations in [from, to), ms, whole minutes, one station after another: one row for each hour,
// shift and SKU. An unknown station is errdefs.NotFound; other errors are the store's, or use's own.
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

// Minutes returns what Rows returns by the minute, without energy; both have the same totals. It is for short ranges.
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
		rows, _, err := sumRows(t, tr.code, calendar.UnitMinute, from, to, d.Segments, d.Minutes)
		if err != nil {
			return err
		}
		return use(s, rows, nil)
	})
}

// eachTracker calls fn with the tracker of each station. Errors: errdefs.NotFound; fn's.
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

// rows returns the sums of a tracker: the stored ones for whole hours, and sums of its detail for the rest. g is as in
// detail.
func (wk *worker) rows(t *station.Timeline, tr *tracker, g *liveView, from, to int64) (s *station.Rules, rows []oee.Row, used []energy.Row, err error) {
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
		more, energies, err := sumRows(t, tr.code, calendar.UnitHour, from, to, d.Segments, d.Minutes)
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
	sums, energies, through, err := wk.storedRows(tr, s, whole)
	if err != nil {
		return s, nil, nil, err
	}
	rows, used = append(rows, sums...), append(used, energies...)
	return s, rows, used, add(max(whole.Start, through), to)
}

// storedRows returns a tracker's stored sums of whole hours up to the first gap, and where that is.
func (wk *worker) storedRows(tr *tracker, s *station.Rules, whole calendar.Range) (rows []oee.Row, used []energy.Row, through int64, err error) {
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

// Live is the current state of a station.
type Live struct {
	Station  *station.Station
	View     monitor.View // without outputs
	Note     station.Note // operator and alert
	Sequence uint64       // of the event that published it; equal sequences mean equal values
	status   Status       // with that sequence
}

// Now returns the current state of stations, in their order. Stations that left the manifest have their last state.
// Errors: one of kind Unavailable while the stations are loading after a start.
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

// LiveOf returns the current state of a station. errdefs.NotFound.
func (f *Floor) LiveOf(accountID, stationCode string) (Live, error) {
	wk, plan, err := f.readyPlan(accountID)
	if err != nil {
		return Live{}, err
	}
	s := plan.Of(stationCode)
	if s == nil {
		return Live{}, errdefs.New(errdefs.NotFound, "there is no station with this code")
	}
	return wk.live(s, answerAge)
}

// readyPlan returns the worker of an account once its trackers are loaded, and the plan in force.
func (f *Floor) readyPlan(accountID string) (*worker, *station.Plan, error) {
	wk, err := f.ready(accountID)
	if err != nil {
		return nil, nil, err
	}
	plan, err := f.Plan(accountID)
	return wk, plan, err
}

// tracker returns the tracker of a station, nil if there is none.
func (wk *worker) tracker(code string) *tracker {
	wk.mu.RLock()
	defer wk.mu.RUnlock()
	return wk.trackers[code]
}

// live returns the current state of a station. Values that change only with time may be age old, in ms.
func (wk *worker) live(s *station.Station, age int64) (Live, error) {
	now := wk.f.now()
	tr := wk.tracker(s.Code)
	if tr == nil { // it has just come: nothing is known of it yet
		return wk.fresh(s, now)
	}
	note := wk.f.cfg.Notes(wk.account, s.Code, now)
	if !s.Archived { // the first reader publishes the status
		err := wk.refreshView(tr, s, now, age, 2*showEvery)
		tr.mu.Lock()
		defer tr.mu.Unlock()
		return Live{Station: s, View: tr.seen, Note: note, Sequence: tr.published.Sequence, status: tr.published.Status}, err
	}
	tr.mu.Lock()
	v, err := tr.view(now)
	tr.mu.Unlock()
	if err == nil {
		err = wk.setCauses(s.Code, v.Open, now)
	}
	v.Outputs = monitor.Outputs{}
	return Live{Station: s, View: v, Note: note, status: statusOf(s, &v, note)}, err
}

// fresh returns the state of a station that the worker has not opened yet.
func (wk *worker) fresh(s *station.Station, now int64) (Live, error) {
	v := monitor.New(s.Monitor, now).View(now)
	v.Outputs = monitor.Outputs{}
	note := wk.f.cfg.Notes(wk.account, s.Code, now)
	return Live{Station: s, View: v, Note: note, status: statusOf(s, &v, note)}, nil
}

// Plan returns the current configuration of all stations of an account, including all confirmed changes. It does not
// wait for the worker. Errors are those of Timeline.
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
	Failing   int64 // failed actions of rules
	Backfills int64 // how often stations were computed again since the start
	Kept      int64 // everything is stored up to here, ms; 0: nothing yet
	Loading   bool  // the stations are loading after the start
	Failed    error // why that failed the last time, with Loading; it is tried again
}

// Health returns the state of an account's processing. It does not wait.
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
