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

// Where is a station and the range of its time that is asked for, ms.
type Where struct {
	StationCode string
	calendar.Range
}

// Filter says which schedules to list.
type Filter struct {
	Where       []Where
	States      []State // none: all but those that were deleted
	Limit, Skip int
}

// MaxListed is how many schedules a list may go over, whatever page of it is asked for.
const MaxListed = 100_000

// List lists the schedules of an account that have time in the ranges, by their begin, and how many there are in all.
// Without a known end a planned schedule is a moment. Errors: Invalid for ranges with more than MaxListed; the store's.
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

// pauses notes the production schedules that are paused.
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

// Get shows one schedule. errdefs.NotFound.
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

// shelves returns where the schedules of some states stand that are neither planned nor running, with how long before a range
// one may begin, ms, and others be before it that reach into the range: those that ended do not overlap, and plans may.
func shelves(states []State) map[string]int64 {
	list := map[string]int64{}
	if len(states) == 0 || slices.Contains(states, Completed) {
		list[string(Production)], list[string(NonProduction)] = 0, 0
	}
	if slices.Contains(states, Deleted) {
		list[string(Deleted)] = maxLength
	}
	return list
}

// placesIn adds the places of a station's schedules that have time in a range.
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
	for shelf, reach := range shelves(states) {
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

// show shows schedules with what they have recorded.
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

// counts returns what schedules have recorded: nothing of those that have not started, and what the stations' minutes say of
// the others. It leaves out what is not known.
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

// sums adds up what minutes say of each production schedule.
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
