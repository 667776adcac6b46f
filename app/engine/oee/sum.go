package oee

import (
	"cmp"
	"slices"
	"strings"

	"opsmon/app/engine/calendar"
)

// By is a dimension to group terms by.
type By uint8

// The dimensions. The last five are time buckets, of which at most one can be used.
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
	ByMinute // needs rows collected by the minute
)

var byNames = [...]string{"plant", "group", "station", "sku", "shift", "hour", "day", "week", "month", "minute"}

// String returns the name in requests.
func (b By) String() string { return byNames[b] }

// ParseBy returns the By with a name.
func ParseBy(name string) (By, bool) {
	i := slices.Index(byNames[:], name)
	return By(max(i, 0)), i >= 0
}

// Time returns the unit of a time bucket, and whether it is one.
func (b By) Time() (calendar.Unit, bool) {
	return calendar.UnitHour + calendar.Unit(max(b, ByHour)-ByHour), b >= ByHour
}

// Place is the place of a station in the plant.
type Place struct{ Plant, Group, Station string }

// Bucket identifies a group of terms. Dimensions that are not used are empty. Start and End are those of the time
// bucket, or 0.
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

// Summer adds rows up. Make one with NewSummer. It is not safe for concurrent use.
type Summer struct {
	by   [ByMinute + 1]bool
	unit calendar.Unit
	time bool
	sums map[Bucket]*Terms
}

// NewSummer returns a Summer. If several Bys are time buckets, the last one is used.
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

// Add adds a station's rows. Their days and weeks are those of its calendar; when grouped by shift, those in which the
// shift starts, so a night shift is whole. Groups and plants are only merged across stations whose calendars have the
// same days.
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

// Len returns the number of sums so far.
func (s *Summer) Len() int { return len(s.sums) }

// Sums returns the sums, ordered by place, time, shift and SKU.
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
