// Package calendar calculates a station's shifts, the production day, week and month of a moment, and what quantity,
// end and rate of a production schedule imply for each other (monitoring.md sections 3 and 4). It is pure arithmetic:
// it stores nothing and reads no clock.
//
// # Times
//
// Moments are int64 milliseconds since 1970 in UTC. Ranges include their start and exclude their end. Shifts and days
// are defined on the wall clock of the plant's zone. A wall time that occurs twice means the first occurrence, and one
// that is skipped means the moment of the clock change. The order of wall times is therefore the order of their
// moments, shifts that are adjacent on the wall clock are always adjacent, and a shift across a clock change is an hour
// longer or shorter.
//
// # Shifts
//
// A part of a shift pattern lasts from its start for its length on the wall clock. Where parts overlap, the one that
// starts later wins, or the later one in the pattern if they start together; the other continues after it. Adjacent
// parts with the same name are one shift, which belongs to the production day in which it starts. In a plant that never
// closes, such parts would form an endless shift. A run of adjacent parts longer than a day is therefore cut into one
// shift for each production day, at the starts of parts.
package calendar

import (
	"cmp"
	"math"
	"slices"
	"sync/atomic"
	"time"
)

// Range is a range of time, [Start, End), Unix milliseconds.
type Range struct{ Start, End int64 }

// Day is a production day, as the number of days from 1 January 1970 to the date on which it starts.
type Day int32

// DayOf returns the production day that starts on a date.
func DayOf(year int, month time.Month, day int) Day {
	return Day(floorDiv(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix(), daySeconds))
}

// String returns the date on which the day starts, 2026-03-29.
func (d Day) String() string { return time.Unix(int64(d)*daySeconds, 0).UTC().Format(time.DateOnly) }

// Shift is one part of a shift pattern. Start counts from midnight on the wall clock. Start and Length are whole
// seconds (see Hours).
type Shift struct {
	Name    string
	Weekday int // 1 = Monday … 7 = Sunday, of the date on which it starts
	Start   time.Duration
	Length  time.Duration // at most 24 hours
}

// Hours converts decimal hours (14.5 = 14:30), rounded to the second. The decimals of a manifest are often truncated
// (8.3333 for 8:20), and adjacent parts must stay adjacent.
func Hours(decimal float64) time.Duration {
	return time.Duration(math.Round(decimal*3600)) * time.Second
}

// CalendarConfig configures a station's calendar.
type CalendarConfig struct {
	Zone         *time.Location
	DayStartHour int     // 0 to 23: the hour at which a production day starts
	WeekStartDay int     // 0 = Monday … 6 = Sunday
	Shifts       []Shift // empty: always in shift
}

// Calendar is the calendar of one station. It is safe for concurrent use.
type Calendar struct {
	zone     *time.Location
	dayStart int64 // seconds from midnight
	week     int64 // 0 = Monday
	always   bool
	parts    [8][]part // by weekday, 1 to 7

	last atomic.Pointer[stretch] // cache: consecutive calls mostly need the same one
}

// stretch is a range of Unix seconds in which a zone has one offset, in seconds.
type stretch struct{ start, end, offset int64 }

// part is a part of a pattern, in seconds from midnight.
type part struct {
	name       string
	start, end int64
	order      int // in the pattern
}

const (
	daySeconds = 24 * 60 * 60
	// reach is more than twice the largest offset of any zone from UTC, in seconds.
	reach = 36 * 60 * 60
)

// NewCalendar returns a calendar. It ignores shifts with a weekday outside of 1 to 7 or without a positive length,
// which an accepted manifest does not have.
func NewCalendar(c CalendarConfig) *Calendar {
	out := &Calendar{zone: c.Zone, dayStart: int64(c.DayStartHour) * 3600, week: int64(c.WeekStartDay), always: len(c.Shifts) == 0}
	for i, s := range c.Shifts {
		if s.Weekday >= 1 && s.Weekday <= 7 && s.Length > 0 {
			start := int64(s.Start / time.Second)
			out.parts[s.Weekday] = append(out.parts[s.Weekday], part{s.Name, start, start + int64(s.Length/time.Second), i})
		}
	}
	return out
}

// Always reports whether all time is shift time because there is no pattern.
func (c *Calendar) Always() bool { return c.always }

// Instance is one shift on a particular day.
type Instance struct {
	Name string
	Range
	Day Day // the production day in which it starts
}

// At returns the shift at t and a moment until which the answer is valid. Without a pattern, every moment is in an
// unnamed shift that never ends, with Day 0.
func (c *Calendar) At(t int64) (shift Instance, in bool, until int64) {
	if c.always {
		return Instance{Range: Range{math.MinInt64, math.MaxInt64}}, true, math.MaxInt64
	}
	const ahead = 2 * daySeconds * 1000
	shifts := c.Shifts(t, t+ahead)
	switch {
	case len(shifts) == 0:
		return Instance{}, false, t + ahead
	case shifts[0].Start > t:
		return Instance{}, false, shifts[0].Start
	}
	return shifts[0], true, shifts[0].End
}

// Shifts returns the whole shifts that overlap [from, to), in order; none without a pattern.
func (c *Calendar) Shifts(from, to int64) []Instance {
	if c.always || from >= to {
		return nil
	}
	// Three more days on each side contain every part that can overlap the range or belong to a shift that does.
	first, last := floorDiv(c.wall(from), daySeconds)-3, floorDiv(c.wall(to), daySeconds)+3
	var out []Instance
	for _, p := range c.join(c.pieces(first, last)) {
		i := Instance{p.name, Range{c.moment(p.start), c.moment(p.end)}, c.dayOfWall(p.start)}
		if i.Start < i.End && i.Start < to && i.End > from {
			out = append(out, i)
		}
	}
	return out
}

// pieces returns the parts of the dates from first to last (days since 1970) in order and without overlaps, as seconds
// on the wall clock since 1970.
func (c *Calendar) pieces(first, last int64) []part {
	var parts []part
	var edges []int64
	for d := first; d <= last; d++ {
		for _, p := range c.parts[weekday(d)+1] {
			p.start += d * daySeconds
			p.end += d * daySeconds
			parts = append(parts, p)
			edges = append(edges, p.start, p.end)
		}
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.order, b.order)) })
	slices.Sort(edges)
	edges = slices.Compact(edges)
	var out []part
	begun := 0                    // parts that have started
	holder, until := -1, int64(0) // the part that owns the last piece, and its end
	for i := 0; i+1 < len(edges); i++ {
		for begun < len(parts) && parts[begun].start <= edges[i] {
			begun++
		}
		winner := -1
		for k := begun - 1; k >= 0 && parts[k].start > edges[i]-daySeconds; k-- {
			if parts[k].end > edges[i] {
				winner = k
				break
			}
		}
		if winner < 0 {
			continue
		}
		if n := len(out); n > 0 && holder == winner && until == edges[i] {
			out[n-1].end = edges[i+1]
		} else {
			out = append(out, part{parts[winner].name, edges[i], edges[i+1], 0})
		}
		holder, until = winner, edges[i+1]
	}
	return out
}

// join merges adjacent pieces with the same name.
func (c *Calendar) join(pieces []part) []part {
	var out []part
	for i := 0; i < len(pieces); {
		end := i + 1 // of the run of adjacent pieces with the same name
		for end < len(pieces) && pieces[end].name == pieces[i].name && pieces[end].start == pieces[end-1].end {
			end++
		}
		endless := pieces[end-1].end-pieces[i].start > daySeconds
		for k := i; k < end; k++ {
			if n := len(out); k > i && (!endless || c.dayOfWall(out[n-1].start) == c.dayOfWall(pieces[k].start)) {
				out[n-1].end = pieces[k].end
			} else {
				out = append(out, pieces[k])
			}
		}
		i = end
	}
	return out
}

// dayOfWall returns the production day of a wall time.
func (c *Calendar) dayOfWall(wall int64) Day { return Day(floorDiv(wall-c.dayStart, daySeconds)) }

// ProductionDay returns the production day of a moment.
func (c *Calendar) ProductionDay(t int64) Day {
	d := c.dayOfWall(c.wall(t))
	// Near a clock change, wall times jump or repeat; compare with the day's start instead.
	for c.DayRange(d).Start > t {
		d--
	}
	for c.DayRange(d).End <= t {
		d++
	}
	return d
}

// DayRange returns the range of a production day, mostly 23, 24 or 25 hours.
func (c *Calendar) DayRange(d Day) Range {
	wall := int64(d)*daySeconds + c.dayStart
	return Range{c.moment(wall), c.moment(wall + daySeconds)}
}

// weekday returns the weekday of a number of days since 1970: 0 = Monday … 6 = Sunday.
func weekday(day int64) int64 { return mod(day+3, 7) } // 1 January 1970 was a Thursday

// wall returns the wall time of a moment, as seconds since 1970 as if it were UTC.
func (c *Calendar) wall(t int64) int64 {
	sec := floorDiv(t, 1000)
	offset, _ := c.stretch(sec)
	return sec + offset
}

// moment returns the first moment, ms, at which the wall clock shows this time or a later one.
func (c *Calendar) moment(wall int64) int64 {
	start := wall - reach
	for {
		offset, end := c.stretch(start)
		if at := wall - offset; at < end {
			return max(at, start) * 1000
		}
		start = end
	}
}

// stretch returns the zone's offset at a moment (Unix seconds) and when it may change next. It is cached because a
// lookup in the zone takes about a microsecond, and a station's shifts are looked up hundreds of times for each day.
func (c *Calendar) stretch(at int64) (offset, end int64) {
	x := c.last.Load()
	if x == nil || at < x.start || at >= x.end {
		x = c.lookUp(at)
		c.last.Store(x)
	}
	return x.offset, x.end
}

// lookUp reads the stretch that contains a moment from the zone.
func (c *Calendar) lookUp(at int64) *stretch {
	t := time.Unix(at, 0).In(c.zone)
	_, o := t.Zone()
	x := &stretch{math.MinInt64, math.MaxInt64, int64(o)}
	s, e := t.ZoneBounds()
	if !s.IsZero() {
		x.start = min(s.Unix(), at)
	}
	switch {
	case e.IsZero():
	case !e.After(t):
		// Where the offset comes from a yearly rule, the returned end is 365 days after the start of the year. On 31
		// December of a leap year it is therefore in the past, and its start may be wrong, too. No change is left in
		// that year.
		x.start, x.end = at, time.Date(t.UTC().Year()+1, time.January, 1, 0, 0, 0, 0, time.UTC).Unix()
	default:
		x.end = e.Unix()
	}
	return x
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func mod(a, b int64) int64 { return a - floorDiv(a, b)*b }
