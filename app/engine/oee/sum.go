package oee

import (
	"cmp"
	"slices"
	"strings"

	"opsmon/app/engine/calendar"
)

// By is what terms are added up by.
type By uint8

// What to add up by. The last five are times, of which there may be one.
const (
	ByPlant By = iota
	ByGroup
	ByStation
	BySKU
	ByShift // by the shift's name
	ByHour
	ByDay
	ByWeek
	ByMonth
	ByMinute // of rows that were collected by the minute
)

var byNames = [...]string{"plant", "group", "station", "sku", "shift", "hour", "day", "week", "month", "minute"}

// String returns the name that requests carry.
func (b By) String() string { return byNames[b] }

// ParseBy returns the By of a name.
func ParseBy(name string) (By, bool) {
	i := slices.Index(byNames[:], name)
	return By(max(i, 0)), i >= 0
}

// Time reports whether it is a time, and its unit.
func (b By) Time() (calendar.Unit, bool) {
	return calendar.UnitHour + calendar.Unit(max(b, ByHour)-ByHour), b >= ByHour
}

// Place says where a station stands.
type Place struct{ Plant, Group, Station string }

// Bucket names what some terms were added up by; what was not asked for is empty. Start and End are of the time, 0 without.
type Bucket struct {
	Place
	SKU, Shift string
	Start, End int64
}

// Sum is a bucket with its terms.
type Sum struct {
	Bucket
	Terms
}

// Summer adds rows up. Make one with NewSummer; it belongs to one goroutine.
type Summer struct {
	by   [ByMinute + 1]bool
	unit calendar.Unit
	time bool
	sums map[Bucket]*Terms
}

// NewSummer makes a Summer. Of the Bys at most one is a time; the last one counts.
func NewSummer(by ...By) *Summer {
	s := &Summer{sums: map[Bucket]*Terms{}}
	for _, b := range by {
		s.by[b] = true
		if unit, ok := b.Time(); ok {
			s.unit, s.time = unit, true
		}
	}
	return s
}

// Add adds a station's rows. Day and week of a row are those of its calendar; by shift as well, those in which the shift
// starts, so that a night is whole. A group or plant is one place only while its stations' calendars have the same days.
func (s *Summer) Add(p Place, c *calendar.Calendar, rows []Row) {
	place := Place{}
	if s.by[ByPlant] || s.by[ByGroup] || s.by[ByStation] {
		place.Plant = p.Plant
	}
	if s.by[ByGroup] || s.by[ByStation] {
		place.Group = p.Group
	}
	if s.by[ByStation] {
		place.Station = p.Station
	}
	var last Bucket
	var terms *Terms
	var span calendar.Range
	for i := range rows {
		r := &rows[i]
		b := Bucket{Place: place}
		if s.by[BySKU] {
			b.SKU = r.SKU
		}
		if s.by[ByShift] {
			b.Shift = r.Shift.Name
		}
		if s.time {
			at := r.Start
			if s.by[ByShift] && r.Shift.Name != "" && s.unit != calendar.UnitHour && s.unit != calendar.UnitMinute {
				at = c.DayRange(r.Shift.Day).Start
			}
			if at < span.Start || at >= span.End {
				span = c.Bucket(at, s.unit)
			}
			b.Start, b.End = span.Start, span.End
		}
		if terms == nil || b != last {
			if terms = s.sums[b]; terms == nil {
				terms = &Terms{}
				s.sums[b] = terms
			}
			last = b
		}
		terms.Add(&r.Terms)
	}
}

// Len is how many sums there are so far.
func (s *Summer) Len() int { return len(s.sums) }

// Sums returns what was added up, in order of place, time, shift and SKU.
func (s *Summer) Sums() []Sum {
	out := make([]Sum, 0, len(s.sums))
	for b, t := range s.sums {
		out = append(out, Sum{b, *t})
	}
	slices.SortFunc(out, func(a, b Sum) int {
		return cmp.Or(strings.Compare(a.Plant, b.Plant), strings.Compare(a.Group, b.Group), strings.Compare(a.Station, b.Station),
			cmp.Compare(a.Start, b.Start), strings.Compare(a.Shift, b.Shift), strings.Compare(a.SKU, b.SKU))
	})
	return out
}
