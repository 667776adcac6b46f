package schedule

import (
	"cmp"
	"fmt"
	"slices"

	"opsmon/app/calendar"
	"opsmon/app/errdefs"
	"opsmon/app/floor"
	"opsmon/app/monitor"
	"opsmon/app/station"
	"opsmon/kv"
)

// Where is a station and the range of its time that is asked for, ms.
type Where struct {
	StationCode string
	calendar.Range
}

// Filter says which schedules to list.
type Filter struct {
	Where       []Where
	State       State // "": all but those that were deleted
	Limit, Skip int
}

// MaxListed is how many schedules a list may go over, whatever page of it is asked for.
const MaxListed = 100_000

// List lists the schedules of an account that have time in the ranges, by their begin, and how many there are in all.
// Without a known end a planned schedule is a moment. Errors: Invalid for ranges with more than MaxListed; the store's.
func (s *Service) List(accountID string, f Filter) ([]*View, int, error) {
	live, err := s.cfg.Live(accountID)
	if err != nil {
		return nil, 0, err
	}
	now := int64(0)
	for i := range live {
		now = max(now, live[i].View.Now)
	}
	var found []*Schedule
	total := 0
	err = s.cfg.Store.View(func(tx *kv.Tx) error {
		var all []place
		for _, w := range f.Where {
			if all, err = placesIn(tx, accountID, w, f.State, now, all); err != nil {
				return err
			}
			if len(all) > MaxListed {
				return errdefs.New(errdefs.Invalid, "more than %d schedules lie in this range; ask for a shorter one, or fewer stations", MaxListed)
			}
		}
		slices.SortFunc(all, func(a, b place) int {
			return cmp.Or(cmp.Compare(a.begins, b.begins), cmp.Compare(a.station, b.station), cmp.Compare(a.id, b.id))
		})
		total = len(all)
		all = all[min(f.Skip, total):]
		for _, p := range all[:min(f.Limit, len(all))] {
			sched, err := load(tx, accountID, p.id)
			if err != nil {
				return err
			}
			found = append(found, sched)
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	views, err := s.show(accountID, found, live)
	return views, total, err
}

// Get shows one schedule. errdefs.NotFound.
func (s *Service) Get(accountID, id string) (*View, error) {
	var sched *Schedule
	err := s.cfg.Store.View(func(tx *kv.Tx) (err error) {
		sched, err = load(tx, accountID, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	live, err := s.cfg.Live(accountID)
	if err != nil {
		return nil, err
	}
	views, err := s.show(accountID, []*Schedule{sched}, live)
	if err != nil {
		return nil, err
	}
	return views[0], nil
}

// placesIn adds the places of a station's schedules that have time in a range.
func placesIn(tx *kv.Tx, account string, w Where, state State, now int64, all []place) ([]place, error) {
	use := func(p place) {
		end := max(p.end, p.begins+1)
		if p.state == Running {
			end = max(end, now+1)
		}
		if p.begins < w.End && end > w.Start && (state == "" || state == p.state) {
			all = append(all, p)
		}
	}
	for item, err := range opens.Scan(tx, openUnder(account, w.StationCode)) {
		if err != nil {
			return nil, fmt.Errorf("read the open schedules of %s: %w", w.StationCode, err)
		}
		p, err := readOpen(item)
		if err != nil {
			return nil, err
		}
		use(p)
	}
	shelves := []string{string(Production), string(NonProduction)}
	switch state {
	case Planned, Running:
		return all, nil
	case Deleted:
		shelves = []string{string(Deleted)}
	}
	for _, shelf := range shelves {
		r := places.Between(placeKey(account, w.StationCode, shelf, 0, ""), placeKey(account, w.StationCode, shelf, w.End, ""))
		for item, err := range places.ScanDown(tx, r) {
			if err != nil {
				return nil, fmt.Errorf("read the schedules of %s: %w", w.StationCode, err)
			}
			p, err := readPlace(item)
			if err != nil {
				return nil, err
			}
			if p.state == Completed || p.state == Deleted {
				use(p)
				if p.begins < w.Start {
					break // those that ended do not overlap: the ones before it ended before it began
				}
				if len(all) > MaxListed {
					return all, nil
				}
			}
		}
	}
	return all, nil
}

// show shows schedules with what they have recorded.
func (s *Service) show(account string, list []*Schedule, live []floor.Live) ([]*View, error) {
	stations := map[string]*floor.Live{}
	for i := range live {
		stations[live[i].Station.Code] = &live[i]
	}
	counts, err := s.counts(account, list, stations)
	if err != nil {
		return nil, err
	}
	views := make([]*View, len(list))
	for i, sched := range list {
		var st *station.Station
		l := stations[sched.StationCode]
		if l != nil {
			st = l.Station
		}
		views[i] = sched.show(st, counts[sched.ID])
		views[i].Paused = sched.State == Running && sched.Kind == Production && l != nil && slices.ContainsFunc(l.View.Running, func(r monitor.RunningNow) bool { return r.NonProduction })
	}
	return views, nil
}

// counts tells what schedules have recorded: nothing of those that have not started, and what the stations' minutes say of
// those that have ended. It leaves out what is not known.
func (s *Service) counts(account string, list []*Schedule, live map[string]*floor.Live) (map[string]*Count, error) {
	counts := map[string]*Count{}
	spans := map[string]calendar.Range{} // by station
	for _, sched := range list {
		switch {
		case sched.Start == 0:
			counts[sched.ID] = &Count{}
		case sched.State == Completed || sched.State == Running:
			r, found := spans[sched.StationCode]
			if !found {
				r.Start = sched.Start
			}
			end := sched.End
			if l := live[sched.StationCode]; sched.State == Running && l != nil {
				end = l.View.Now
			}
			spans[sched.StationCode] = calendar.Range{Start: min(r.Start, sched.Start), End: max(r.End, end)}
			counts[sched.ID] = &Count{}
		}
	}
	const minute = 60_000
	for code, r := range spans {
		d, err := s.cfg.Detail(account, code, r.Start/minute*minute, (r.End+minute)/minute*minute)
		if err != nil {
			if errdefs.KindOf(err) == errdefs.NotFound {
				for _, sched := range list {
					if sched.StationCode == code {
						delete(counts, sched.ID)
					}
				}
				continue
			}
			return nil, err
		}
		sums := map[string]*[3]int64{}
		for i := range d.Minutes {
			for j := range d.Minutes[i].Parts {
				p := &d.Minutes[i].Parts[j]
				if sums[p.Ctx.Production] == nil {
					sums[p.Ctx.Production] = &[3]int64{}
				}
				n := sums[p.Ctx.Production]
				n[0], n[1], n[2] = n[0]+p.Good, n[1]+p.Bad, n[2]+p.Other
			}
		}
		for id, n := range sums {
			if counts[id] != nil {
				counts[id] = countOf(n[0], n[1], n[2])
			}
		}
	}
	return counts, nil
}
