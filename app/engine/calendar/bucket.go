package calendar

import (
	"math"
	"time"

	"opsmon/app/instant"
)

// Unit is the length of a time bucket.
type Unit uint8

// The units. An hour is an hour of the wall clock. The repeated hour at the end of daylight saving time is two buckets.
const (
	UnitHour Unit = iota
	UnitDay
	UnitWeek
	UnitMonth
	UnitMinute
)

// Bucket returns the whole bucket that contains a moment. Days start at the calendar's hour, weeks on its weekday, and
// months with the production day of their first date.
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

// Buckets returns the buckets that overlap [from, to), in order. The first and the last are cut to the range.
func (c *Calendar) Buckets(from, to int64, u Unit) []Range {
	var out []Range
	for from < to {
		end := min(c.Bucket(from, u).End, to)
		out = append(out, Range{from, end})
		from = end
	}
	return out
}

// hour returns the wall-clock hour that contains a moment, cut at changes of the clock.
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

// ShiftTime returns the time of [from, to) in shift, ms.
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

// horizon limits how far AfterShiftTime searches, ms.
const horizon = 366 * daySeconds * 1000

// AfterShiftTime returns the moment at which need ms of shift time have passed since from. It returns false if that is
// more than 366 days away.
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
