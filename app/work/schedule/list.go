package schedule

import (
	"cmp"
	"fmt"
	"slices"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/monitor"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
	"opsmon/kv"
)

// Where is a station and a requested time range, ms.
type Where struct {
	StationCode string
	calendar.Range
}

// Filter selects the schedules of a list.
type Filter struct {
	Where       []Where
	States      []State // empty: all except deleted ones
	Limit, Skip int
}

// MaxListed is the largest number of schedules in the ranges of one list, over all its pages.
const MaxListed = 100_000

// List returns a page of the schedules that overlap the ranges, ordered by start, and their total number. A planned
// schedule without a known end occupies one moment. Errors: Invalid for ranges with more than MaxListed schedules; the
// store's.
func (s *Service) List(accountID string, f Filter) ([]*View, int, error) {
	now := s.cfg.Floor.Time()
	var found []*Schedule
	total := 0
	paused := map[string]bool{}
	err := s.cfg.Store.View(func(tx *kv.Tx) error {
		var all []place
		for _, w := range f.Where {
			var err error
			if all, err = placesIn(tx, accountID, w, f.States, now, all); err != nil {
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
		return pauses(tx, accountID, found, paused)
	})
	if err != nil {
		return nil, 0, err
	}
	views, err := s.show(accountID, found, paused)
	return views, total, err
}

// pauses records the paused production schedules in paused.
func pauses(tx *kv.Tx, account string, list []*Schedule, paused map[string]bool) error {
	for _, sched := range list {
		if sched.State == Running && sched.Kind == Production {
			above, err := runningOf(tx, account, sched.StationCode, NonProduction)
			if err != nil {
				return err
			}
			paused[sched.ID] = above != nil
		}
	}
	return nil
}

// Get returns one schedule. Error: errdefs.NotFound.
func (s *Service) Get(accountID, id string) (*View, error) {
	var list []*Schedule
	paused := map[string]bool{}
	err := s.cfg.Store.View(func(tx *kv.Tx) error {
		sched, err := load(tx, accountID, id)
		if err != nil {
			return err
		}
		list = []*Schedule{sched}
		return pauses(tx, accountID, list, paused)
	})
	if err != nil {
		return nil, err
	}
	views, err := s.show(accountID, list, paused)
	if err != nil {
		return nil, err
	}
	return views[0], nil
}

// sections returns the sections of the list that hold the ended schedules of some states, each with the search distance
// before a range, ms. Completed schedules do not overlap each other, so the last one before the range is enough;
// deleted ones may overlap.
func sections(states []State) map[string]int64 {
	list := map[string]int64{}
	if len(states) == 0 || slices.Contains(states, Completed) {
		list[string(Production)], list[string(NonProduction)] = 0, 0
	}
	if slices.Contains(states, Deleted) {
		list[string(Deleted)] = maxLength
	}
	return list
}

// placesIn appends the places of a station's schedules that overlap a range.
func placesIn(tx *kv.Tx, account string, w Where, states []State, now int64, all []place) ([]place, error) {
	use := func(p place) {
		end := max(p.end, p.begins+1)
		if p.state == Running {
			end = max(end, now+1)
		}
		if p.begins < w.End && end > w.Start && (len(states) == 0 || slices.Contains(states, p.state)) {
			all = append(all, p)
		}
	}
	open, err := openAt(tx, account, w.StationCode)
	if err != nil {
		return nil, err
	}
	for _, p := range open {
		use(p)
	}
	for section, reach := range sections(states) {
		r := places.Between(placeKey(account, w.StationCode, section, 0, ""), placeKey(account, w.StationCode, section, w.End, ""))
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
				if p.begins < w.Start-reach {
					break
				}
				if len(all) > MaxListed {
					return all, nil
				}
			}
		}
	}
	return all, nil
}

// show returns the representations of schedules with their counts.
func (s *Service) show(account string, list []*Schedule, paused map[string]bool) ([]*View, error) {
	plan, err := s.cfg.Floor.Plan(account)
	if err != nil {
		return nil, err
	}
	counts, err := s.counts(account, list)
	if err != nil {
		return nil, err
	}
	views := make([]*View, len(list))
	for i, sched := range list {
		views[i] = sched.show(plan.Of(sched.StationCode), counts[sched.ID])
		views[i].Paused = paused[sched.ID]
	}
	return views, nil
}

// counts returns the counts of schedules from the stations' minutes. Schedules that have not started, or whose minutes
// are unknown, are left out.
func (s *Service) counts(account string, list []*Schedule) (map[string]*Count, error) {
	counts := map[string]*Count{}
	spans := map[string]calendar.Range{} // by station
	now := s.cfg.Floor.Time()
	for _, sched := range list {
		counts[sched.ID] = &Count{}
		if sched.Start == 0 {
			continue
		}
		end := sched.End
		if sched.State == Running {
			end = max(now, sched.Start)
		}
		r, found := spans[sched.StationCode]
		if !found {
			r.Start = sched.Start
		}
		spans[sched.StationCode] = calendar.Range{Start: min(r.Start, sched.Start), End: max(r.End, end)}
	}
	for code, r := range spans {
		d, err := s.cfg.Floor.Detail(account, code, instant.FloorMinute(r.Start), instant.FloorMinute(r.End)+instant.MinuteMs)
		if errdefs.KindOf(err) == errdefs.NotFound {
			for _, sched := range list {
				if sched.StationCode == code && sched.Start != 0 {
					delete(counts, sched.ID)
				}
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		for id, c := range sums(d.Minutes) {
			if counts[id] != nil {
				counts[id] = c
			}
		}
	}
	return counts, nil
}

// sums adds up the minutes by production schedule.
func sums(minutes []monitor.Minute) map[string]*Count {
	totals := map[string]*[3]int64{}
	short := map[string]int{}
	for i := range minutes {
		for _, u := range minutes[i].Unapplied {
			short[u.Schedule]++
		}
		for j := range minutes[i].Parts {
			p := &minutes[i].Parts[j]
			if p.Ctx.Production == "" {
				continue
			}
			n := totals[p.Ctx.Production]
			if n == nil {
				n = &[3]int64{}
				totals[p.Ctx.Production] = n
			}
			n[0], n[1], n[2] = n[0]+p.Good, n[1]+p.Bad, n[2]+p.Other
		}
	}
	counts := make(map[string]*Count, len(totals))
	for id, n := range totals {
		counts[id] = countOf(n[0], n[1], n[2])
	}
	for id, n := range short {
		if counts[id] == nil {
			counts[id] = &Count{}
		}
		counts[id].Unapplied = n
	}
	return counts
}
