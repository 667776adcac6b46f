// Package cron parses standard 5-field cron patterns and computes when they fire in a time zone, including clock
// changes (http-api.md section 2.3, trigger type cron; decisions.md section 3). The check of a manifest and the
// monitoring engine share it, so both agree.
//
// # Clock changes
//
// The hour field decides, as in Debian's cron. If it does not start with a star, the pattern lists hours of the day,
// and each runs once per day: a wall time that occurs twice fires only the first time, and one that is skipped fires
// at the first minute after the gap (several skipped ones fire once there). If it starts with a star ("*", "*/2"),
// the pattern is an interval: it fires at each wall minute that exists and matches, both times if that minute occurs
// twice, and not for skipped ones.
//
// # Days
//
// If both the day of month and the day of week are restricted, a day must match one of them. A field that starts with
// a star ("*", "*/2") is not a restriction in this sense: then both fields must match.
package cron

import (
	"iter"
	"math/bits"
	"time"
)

// horizon bounds every search. The longest possible interval is 40 years (29 February on one day of the week, across
// 2100, which is not a leap year), so at least two fires are within it.
const horizon = 100 * 366 * 24 * time.Hour

// calendarCycle is the minimum range of SmallestGap: after 28 years dates fall on the same days of the week again.
const calendarCycle = 28 * 366 * 24 * time.Hour

const day = 24 * 60 * 60 // seconds of a wall clock day

// Pattern is a parsed cron pattern. The zero value never fires. It may be copied and used concurrently.
type Pattern struct {
	minutes        uint64 // bit 0 to 59
	hours          uint64 // bit 0 to 23
	daysOfMonth    uint64 // bit 1 to 31
	months         uint64 // bit 1 to 12
	daysOfWeek     uint64 // bit 0 (Sunday) to 6
	hourStar       bool   // the field starts with a star; likewise below
	dayOfMonthStar bool
	dayOfWeekStar  bool
}

// Next returns the first fire strictly after an instant, in the zone, on a whole minute of its wall clock. It returns
// the zero time if none comes within 100 years. For a pattern that Parse accepts, this requires that clock changes
// skip every minute in it (and that the hour field starts with a star). zone must not be nil.
func (p Pattern) Next(after time.Time, zone *time.Location) time.Time {
	from := after.Unix()
	for f := range p.fires(zone, from, after.Add(horizon).Unix()) {
		return time.Unix(f.first, 0).In(zone)
	}
	return time.Time{}
}

// Last returns the last fire at or before an instant, in the zone; the zero time if none within 100 years. zone must
// not be nil.
func (p Pattern) Last(upTo time.Time, zone *time.Location) time.Time {
	until := upTo.Unix() + 1
	for back := 2 * 24 * time.Hour; ; back = min(8*back, horizon) {
		last, found := int64(0), false
		for f := range p.fires(zone, until-int64(back/time.Second), until) {
			last, found = f.last, true
		}
		if found {
			return time.Unix(last, 0).In(zone)
		}
		if back == horizon {
			return time.Time{}
		}
	}
}

// SmallestGap returns the smallest elapsed time between two consecutive fires after from in any of the zones,
// including clock changes, and the zone of that gap (the first if several are equal). It searches 28 years, or 100
// years for a pattern that has not fired twice by then. If the pattern fires twice in no zone, the zone is nil and
// the gap 0. No zone may be nil. It takes well below a millisecond per zone for any pattern, so callers with many
// patterns should call it once per distinct pattern.
func (p Pattern) SmallestGap(zones []*time.Location, from time.Time) (gap time.Duration, zone *time.Location) {
	for _, z := range zones {
		g, ok := p.smallestGap(z, from.Unix(), from.Add(calendarCycle).Unix())
		if !ok {
			g, ok = p.smallestGap(z, from.Unix(), from.Add(horizon).Unix())
		}
		if ok && (zone == nil || g < gap) {
			gap, zone = g, z
		}
	}
	return gap, zone
}

// smallestGap is SmallestGap in one zone over the fires in (after, until), Unix seconds; false for fewer than two
// fires.
func (p Pattern) smallestGap(zone *time.Location, after, until int64) (time.Duration, bool) {
	const none = int64(1) << 62
	smallest, previous := none, -none
	for f := range p.fires(zone, after, until) {
		if f.inner > 0 {
			smallest = min(smallest, f.inner)
		}
		smallest = min(smallest, f.first-previous)
		previous = f.last
	}
	if smallest >= none/2 {
		return 0, false
	}
	return time.Duration(smallest) * time.Second, true
}

// span is a sequence of fires: the first and the last, in seconds, and the smallest distance between neighbours, 0
// for a single fire.
type span struct {
	first, last, inner int64
}

// fires returns all fires in (after, until), Unix seconds, in order, in spans of at most one wall clock day. A day
// without a clock change has the same cost for any number of fires, which bounds the cost of SmallestGap.
func (p Pattern) fires(zone *time.Location, after, until int64) iter.Seq[span] {
	return func(yield func(span) bool) {
		wholeDay, _ := p.within(0, day)
		for s := range stretches(zone, after, until) {
			from, to := s.start+s.offset, s.end+s.offset // wall clock time at both ends
			if !p.hourStar {
				if s.seen < from && p.fireIn(s.seen, from) {
					at := ceil(from, 60)
					if at-s.offset > after && at < to && !yield(span{first: at - s.offset, last: at - s.offset}) {
						return
					}
					from = at + 1 // a match in that minute is the same fire
				}
				from = max(from, s.seen)
			}
			from = max(from, after+s.offset+1)
			for midnight := range p.days(from, to) {
				f, ok := wholeDay, true
				if midnight < from || midnight+day > to {
					f, ok = p.within(max(from-midnight, 0), min(to-midnight, day))
				}
				if !ok {
					continue
				}
				f.first += midnight - s.offset
				f.last += midnight - s.offset
				if !yield(f) {
					return
				}
			}
		}
	}
}

// fireIn reports whether a wall time in [from, to) matches, in seconds of wall clock.
func (p Pattern) fireIn(from, to int64) bool {
	for midnight := range p.days(from, to) {
		if _, ok := p.within(max(from-midnight, 0), min(to-midnight, day)); ok {
			return true
		}
	}
	return false
}

// days returns the midnights of the matching days that overlap [from, to), in seconds of wall clock since 1970.
func (p Pattern) days(from, to int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		if from >= to {
			return
		}
		year, month, dayOfMonth := time.Unix(from, 0).UTC().Date()
		for {
			first := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
			begin := first.Unix()
			if begin >= to {
				return
			}
			// Shifts out the days before the first one.
			for left := p.daysOf(first) >> dayOfMonth << dayOfMonth; left != 0; left &= left - 1 {
				midnight := begin + int64(bits.TrailingZeros64(left)-1)*day
				if midnight >= to || !yield(midnight) {
					return
				}
			}
			dayOfMonth = 1
			if month++; month > time.December {
				year, month = year+1, time.January
			}
		}
	}
}

// daysOf returns the matching days of the month that begins at first (UTC midnight), bit 1 to 31.
func (p Pattern) daysOf(first time.Time) uint64 {
	if p.months>>first.Month()&1 == 0 {
		return 0
	}
	length := first.AddDate(0, 1, -1).Day()
	inMonth := uint64(1)<<(length+1) - 2
	// The week repeated over the month: bit 1 is the weekday of the first.
	week := p.daysOfWeek | p.daysOfWeek<<7
	week = week >> int(first.Weekday()) & 0x7f
	byWeek := (week | week<<7 | week<<14 | week<<21 | week<<28) << 1
	if p.dayOfMonthStar || p.dayOfWeekStar {
		return p.daysOfMonth & byWeek & inMonth
	}
	return (p.daysOfMonth | byWeek) & inMonth
}

// within returns the fires of a matching day in [from, to), in seconds since its midnight; false if none.
func (p Pattern) within(from, to int64) (s span, ok bool) {
	first, end := ceil(from, 60)/60, ceil(to, 60)/60 // minutes of the day, end exclusive
	for h := first / 60; h*60 < end; h++ {
		if p.hours>>h&1 == 0 {
			continue
		}
		minutes := p.minutes
		if h*60 < first {
			minutes &= ^uint64(0) << (first - h*60)
		}
		if end < (h+1)*60 {
			minutes &= 1<<(end-h*60) - 1
		}
		if minutes == 0 {
			continue
		}
		at := h*3600 + int64(bits.TrailingZeros64(minutes))*60
		if !ok {
			s.first, ok = at, true
		} else {
			s.inner = smaller(s.inner, at-s.last)
		}
		s.last = h*3600 + int64(bits.Len64(minutes)-1)*60
		s.inner = smaller(s.inner, closest(minutes)*60)
	}
	return s, ok
}

// closest returns the smallest distance between two set bits, 0 for fewer than two.
func closest(set uint64) int64 {
	if bits.OnesCount64(set) < 2 {
		return 0
	}
	distance := int64(1)
	for set&(set>>distance) == 0 {
		distance++
	}
	return distance
}

// smaller returns the smaller of two distances, ignoring 0.
func smaller(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// ceil rounds up to a multiple of unit, also for negative values.
func ceil(v, unit int64) int64 {
	rest := v % unit
	if rest > 0 {
		rest -= unit
	}
	return v - rest
}
