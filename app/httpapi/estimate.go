package httpapi

import (
	"time"

	"opsmon/app/engine/oee"
	"opsmon/app/errdefs"
)

// mostSums is how many results an answer with figures has at most.
const mostSums = 100_000

// longestBuckets are the longest buckets of each unit of time, ms, with room for changes of the clock.
var longestBuckets = map[oee.By]int64{
	oee.ByMinute: minuteMs,
	oee.ByHour:   time.Hour.Milliseconds(),
	oee.ByDay:    dayMs + clockChange.Milliseconds(),
	oee.ByWeek:   7*dayMs + clockChange.Milliseconds(),
	oee.ByMonth:  31*dayMs + clockChange.Milliseconds(),
}

// few refuses a request whose answer would have too many results, before anything is read for it.
func (c *call) few(list []asked, by []oee.By) error {
	if c.api.tooMany(atLeast(list, by, nil)) == nil {
		return nil
	}
	since := make([]int64, len(list))
	for i := range list {
		var err error
		if since[i], err = c.api.cfg.Floor.Since(c.p.AccountID, list[i].Code); err != nil {
			return err
		}
	}
	return c.api.tooMany(atLeast(list, by, since))
}

// atLeast estimates how many results figures by something have: one for each place and time. It never returns more than
// there are, because by SKU and by shift a place and time has one at least. since tells from when on something is known of
// each station, ms; nil = from the beginning of the range. A station that has left the manifest may have nothing.
func atLeast(list []asked, by []oee.By, since []int64) int {
	unit := int64(0)
	places := map[oee.Place]int{}
	for _, b := range by {
		unit = max(unit, longestBuckets[b])
	}
	for i := range list {
		a := &list[i]
		from := a.from
		if since != nil {
			from = max(from, since[i])
		}
		if from >= a.to || a.Archived {
			continue
		}
		n := 1
		if unit > 0 {
			n = max(1, int((a.to-from)/unit))
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

// placeOf returns the place that a station's figures are summed up in.
func placeOf(a *asked, by []oee.By) (at oee.Place) {
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

// tooMany refuses an answer with more results than anybody can read.
func (a *API) tooMany(results int) error {
	if results <= a.mostSums {
		return nil
	}
	return errdefs.InvalidField("by", "makes %d results or more, and at most %d are given; ask for a shorter time, for fewer stations or by something longer", results, a.mostSums)
}
