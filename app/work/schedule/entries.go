package schedule

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"opsmon/app/engine/monitor"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
	"opsmon/kv"
)

// Entries returns a page of the operators' entries in the ranges, ordered by time, and their total number. Errors:
// Invalid for ranges with more than MaxListed entries; the store's.
func (s *Service) Entries(accountID string, f Filter) (views []*EntryView, total int, err error) {
	var found []*Entry
	err = s.cfg.Store.View(func(tx *kv.Tx) error {
		all, err := entriesIn(tx, accountID, f.Where)
		if err != nil {
			return err
		}
		slices.SortFunc(all, func(a, b entryKey) int { return compareEntries(a.B.B, b.B.B) })
		total = len(all)
		all = all[min(f.Skip, total):]
		for _, k := range all[:min(f.Limit, len(all))] {
			e, err := entries.Get(tx, idKey{A: accountID, B: k.B.B.B})
			if err != nil {
				return fmt.Errorf("read entry %s: %w", k.B.B.B, err)
			}
			found = append(found, &e)
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	left, err := s.unapplied(accountID, found)
	if err != nil {
		return nil, 0, err
	}
	views = make([]*EntryView, len(found))
	for i, e := range found {
		views[i] = e.view()
		if u, short := left[e.ID]; short {
			views[i].Unapplied = &u
		}
	}
	return views, total, nil
}

// entriesIn returns the keys of the entries in the ranges.
func entriesIn(tx *kv.Tx, accountID string, ranges []Where) (all []entryKey, err error) {
	for _, where := range ranges {
		at := func(ms int64) entryKey {
			return (&Entry{StationCode: where.StationCode, At: ms}).key(accountID)
		}
		for item, err := range entriesAt.Scan(tx, entriesAt.Between(at(where.Start), at(where.End))) {
			if err != nil {
				return nil, fmt.Errorf("read the entries of %s: %w", where.StationCode, err)
			}
			if all = append(all, item.Key); len(all) > MaxListed {
				return nil, errdefs.New(errdefs.Invalid, "more than %d entries lie in this range; ask for a shorter one, or fewer stations", MaxListed)
			}
		}
	}
	return all, nil
}

// unapplied returns the parts of entries that do not count. It reads each day with entries once.
func (s *Service) unapplied(account string, list []*Entry) (map[string]Unapplied, error) {
	type place struct {
		station string
		day     int64
	}
	left, read := map[string]Unapplied{}, map[place]bool{}
	for _, e := range list {
		p := place{e.StationCode, e.Effective / instant.DayMs}
		if read[p] || e.Undoes != "" || e.UndoneBy != "" {
			continue
		}
		read[p] = true
		d, err := s.cfg.Floor.Detail(account, e.StationCode, p.day*instant.DayMs, (p.day+1)*instant.DayMs)
		if errdefs.KindOf(err) == errdefs.NotFound {
			continue // the station no longer exists
		}
		if err != nil {
			return nil, err
		}
		maps.Copy(left, unapplied(d.Minutes))
	}
	return left, nil
}

// unapplied returns by entry ID the part that does not count.
func unapplied(minutes []monitor.Minute) map[string]Unapplied {
	left := map[string]Unapplied{}
	for i := range minutes {
		for _, u := range minutes[i].Unapplied {
			left[u.Entry] = Unapplied{float64(u.Good) / monitor.Micro, float64(u.Bad) / monitor.Micro}
		}
	}
	return left
}

func compareEntries(a, b timeID) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) }
