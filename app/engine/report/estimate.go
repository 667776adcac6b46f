package report

import (
	"time"

	"opsmon/app/engine/oee"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
)

// longestBuckets are the longest buckets of each unit of time, ms, including clock changes.
var longestBuckets = map[oee.By]int64{
	oee.ByMinute: instant.MinuteMs,
	oee.ByHour:   time.Hour.Milliseconds(),
	oee.ByDay:    instant.DayMs + clockChange.Milliseconds(),
	oee.ByWeek:   7*instant.DayMs + clockChange.Milliseconds(),
	oee.ByMonth:  31*instant.DayMs + clockChange.Milliseconds(),
}

// checkSize returns errdefs.Invalid for the field by if the figures would certainly have too many results. It reads
// little.
func (s *Service) checkSize(account string, list []Station, by []oee.By) error {
	if s.tooMany(atLeast(list, by, nil)) == nil {
		return nil
	}
	since := make([]int64, len(list))
	for i := range list {
		var err error
		if since[i], err = s.cfg.Floor.Since(account, list[i].Code); err != nil {
			return err
		}
	}
	return s.tooMany(atLeast(list, by, since))
}

// atLeast returns a lower bound of the number of results: one for each place and time, because by SKU and by shift a
// place and time has at least one. since has the start of each station's data, ms; nil: the start of the range. A
// station that has left the manifest may have no results.
func atLeast(list []Station, by []oee.By, since []int64) int {
	unit := int64(0)
	places := map[oee.Place]int{}
	for _, b := range by {
		unit = max(unit, longestBuckets[b])
	}
	for i := range list {
		a := &list[i]
		from := a.From
		if since != nil {
			from = max(from, since[i])
		}
		if from >= a.To || a.Archived {
			continue
		}
		n := 1
		if unit > 0 {
			n = max(1, int((a.To-from)/unit))
		}
		at := placeOf(a, by)
		places[at] = max(places[at], n)
	}
	sum := 0
	for _, n := range places {
		sum += n
	}
	return sum
}

// placeOf returns the place by which a station's figures are grouped.
func placeOf(a *Station, by []oee.By) (at oee.Place) {
	for _, b := range by {
		switch b {
		case oee.ByPlant:
			at.Plant = a.Plant.Code
		case oee.ByGroup:
			at.Plant, at.Group = a.Plant.Code, a.Group.Code
		case oee.ByStation:
			at.Plant, at.Group, at.Station = a.Plant.Code, a.Group.Code, a.Code
		}
	}
	return at
}

// tooMany returns errdefs.Invalid if results exceeds the limit.
func (s *Service) tooMany(results int) error {
	if results <= s.cfg.MostResults {
		return nil
	}
	return errdefs.InvalidField("by", "makes %d results or more, and at most %d are given; ask for a shorter time, for fewer stations or by something longer", results, s.cfg.MostResults)
}
