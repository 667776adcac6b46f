package floor

import (
	"opsmon/app/engine/calendar"
	"opsmon/app/engine/energy"
	"opsmon/app/engine/history"
	"opsmon/app/engine/oee"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/kv"
)

// fewDays is the longest range, in ms, for which Days does as Rows does: reading the hours costs little then.
const fewDays = 2 * day

// Days returns what Rows returns, for long ranges. Whole stored production days come as one row for each production
// day, shift and SKU, starting with the day, and one row of energy for each production day. A production day may come
// in several rows. Sums by day, week, month, shift, SKU and station equal those of Rows; only Rows can be grouped by
// hour. use is called at least once for a station; it owns the rows until it returns. Errors are those of Rows.
func (f *Floor) Days(accountID string, stationCodes []string, from, to int64, use func(s *station.Rules, rows []oee.Row, used []energy.Row) error) error {
	to = min(to, f.now()/minute*minute)
	return f.eachTracker(accountID, stationCodes, func(wk *worker, t *station.Timeline, tr *tracker) error {
		return wk.days(t, tr, from, to, use)
	})
}

// days returns a tracker's sums: by day for UTC days that are stored whole, by hour for the rest. So the result does
// not depend on when a day was stored.
func (wk *worker) days(t *station.Timeline, tr *tracker, from, to int64, use func(s *station.Rules, rows []oee.Row, used []energy.Row) error) error {
	s, err := t.RulesAt(tr.code, min(max(to-1, from), wk.f.now()))
	if err != nil {
		return err
	}
	byHour := func(from, to int64) error {
		if from >= to {
			return nil
		}
		_, rows, used, err := wk.rows(t, tr, nil, from, to)
		if err != nil {
			return err
		}
		return use(s, rows, used)
	}
	first, last := wk.wholeHours(tr, s, from, to)
	if last-first < fewDays {
		if from >= to {
			return use(s, nil, nil)
		}
		return byHour(from, to)
	}
	if err := byHour(from, first); err != nil {
		return err
	}
	for first < last {
		through, err := wk.wholeDays(tr, s, first, last, use)
		if err != nil {
			return err
		}
		if first = max(through, first); first < last {
			// The sums of a day are missing, as something late came for it: its hours, and then on.
			next := min(last, hourAfterDay(s, first))
			if err := byHour(first, next); err != nil {
				return err
			}
			first = next
		}
	}
	return byHour(last, to)
}

// wholeHours returns the part of [from, to) that lies in whole hours and in stored UTC days.
func (wk *worker) wholeHours(tr *tracker, s *station.Rules, from, to int64) (first, last int64) {
	tr.mu.Lock()
	kept := min(to, tr.through)
	tr.mu.Unlock()
	first = from
	if h := s.Calendar.Bucket(from, calendar.UnitHour); h.Start < from {
		first = h.End
	}
	return first, s.Calendar.Bucket(history.Day(kept)*day, calendar.UnitHour).Start
}

// hourAfterDay is where the first hour after a moment begins that begins in or over a midnight of UTC.
func hourAfterDay(s *station.Rules, at int64) int64 {
	next := s.Calendar.Bucket((history.Day(at)+1)*day, calendar.UnitHour).Start
	if next <= at { // in zones that are half an hour off, an hour lies over each midnight of UTC
		next = s.Calendar.Bucket((history.Day(at)+2)*day, calendar.UnitHour).Start
	}
	return next
}

// wholeDays returns the sums by day of [from, to) up to the first gap in the stored days, and where that is.
func (wk *worker) wholeDays(tr *tracker, s *station.Rules, from, to int64, use func(s *station.Rules, rows []oee.Row, used []energy.Row) error) (through int64, err error) {
	var failed error
	err = wk.f.cfg.Store.View(func(tx *kv.Tx) (err error) {
		through, err = wk.f.cfg.History.Days(tx, wk.account, tr.code, s.Calendar, from, to, func(rows []oee.Row, used []energy.Row) {
			if failed == nil {
				failed = use(s, rows, used)
			}
		})
		return err
	})
	if err == nil {
		err = failed
	}
	return through, err
}

// Stations returns the plan in force and the stations that have left the manifest, as they last were, by code. Errors
// are those of Timeline.
func (f *Floor) Stations(accountID string) (*station.Plan, []*station.Station, error) {
	t, err := f.Timeline(accountID)
	if err != nil {
		return nil, nil, err
	}
	return t.All()
}

// Timeline returns the configuration of an account's stations over time, including all confirmed changes. It does not
// wait for the worker. Errors: errdefs.NotFound if there is no such account; the store's.
func (f *Floor) Timeline(accountID string) (*station.Timeline, error) {
	return f.cfg.Timelines.Of(accountID)
}

// Since returns the start of a station's stored history, in ms; now if it has none. Errors: errdefs.NotFound; the
// store's.
func (f *Floor) Since(accountID, stationCode string) (since int64, err error) {
	wk, err := f.ready(accountID)
	if err != nil {
		return 0, err
	}
	wk.mu.RLock()
	tr := wk.trackers[stationCode]
	wk.mu.RUnlock()
	if tr == nil {
		return 0, errdefs.New(errdefs.NotFound, "there is no station with the code %s", stationCode)
	}
	err = wk.f.cfg.Store.View(func(tx *kv.Tx) (err error) {
		since, err = wk.f.cfg.History.Since(tx, accountID, stationCode)
		return err
	})
	if err != nil || since != 0 {
		return since, err
	}
	now := f.now()
	tr.mu.Lock()
	defer tr.mu.Unlock()
	recent, _, err := tr.recent(now, nil)
	if err != nil || len(recent.Segments) == 0 {
		return now, err
	}
	return recent.Segments[0].Start, nil
}
