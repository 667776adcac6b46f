package calendar

import (
	"math"
	"time"

	"opsmon/app/instant"
)

// Unit is a length of time bucket.
type Unit uint8

// The units. An hour is one of the wall clock; where clocks go back the hour that comes twice is two buckets.
const (
	UnitHour Unit = iota
	UnitDay
	UnitWeek
	UnitMonth
	UnitMinute
)

// Bucket returns the whole bucket that a moment lies in: days start at the calendar's hour, weeks on its day, months with
// the production day of their first date.
func (c *Calendar) Bucket(t int64, u Unit) Range {
	switch u {
	case UnitMinute:
		start := instant.FloorMinute(t)
		return Range{start, start + instant.MinuteMs}
	case UnitHour:
		return c.hour(t)
	}
	first := int64(c.ProductionDay(t))
	next := first + 1
	switch u {
	case UnitWeek:
		first -= mod(weekday(first)-c.week, 7)
		next = first + 7
	case UnitMonth:
		y, m, _ := time.Unix(first*daySeconds, 0).UTC().Date()
		first = int64(DayOf(y, m, 1))
		next = int64(DayOf(y, m+1, 1))
	}
	return Range{c.DayRange(Day(first)).Start, c.DayRange(Day(next)).Start}
}

// Buckets returns the buckets that have time in [from, to), in order, the first and the last cut to the range.
func (c *Calendar) Buckets(from, to int64, u Unit) []Range {
	var out []Range
	for from < to {
		end := min(c.Bucket(from, u).End, to)
		out = append(out, Range{from, end})
		from = end
	}
	return out
}

// hour returns the hour of the wall clock that a moment lies in, cut where clocks change.
func (c *Calendar) hour(t int64) Range {
	sec := floorDiv(t, 1000)
	start := sec - reach
	for {
		offset, end := c.stretch(start)
		if sec < end {
			from := floorDiv(sec+offset, 3600)*3600 - offset
			return Range{max(from, start) * 1000, min(from+3600, end) * 1000}
		}
		start = end
	}
}

// ShiftTime returns how many of the milliseconds of [from, to) are in shift.
func (c *Calendar) ShiftTime(from, to int64) int64 {
	if c.always {
		return max(0, to-from)
	}
	var sum int64
	for _, s := range c.Shifts(from, to) {
		sum += min(s.End, to) - max(s.Start, from)
	}
	return sum
}

// horizon bounds how far AfterShiftTime looks.
const horizon = 366 * daySeconds * 1000

// AfterShiftTime returns the moment at which so many milliseconds of shift time have passed since from. It is false when
// that is more than 366 days away.
func (c *Calendar) AfterShiftTime(from, need int64) (int64, bool) {
	if need <= 0 {
		return from, true
	}
	if c.always {
		return from + need, need <= horizon
	}
	const step = 7 * daySeconds * 1000
	for at := from; at < from+horizon; at += step {
		for _, s := range c.Shifts(at, at+step) {
			start, end := max(s.Start, at), min(s.End, at+step)
			if end-start >= need {
				return start + need, true
			}
			need -= end - start
		}
	}
	return math.MaxInt64, false
}
