package calendar

import (
	"math"

	"opsmon/app/instant"
)

// Plan is the start of a production schedule and, if given, its quantity and end (monitoring.md section 4). Which of
// them are given decides its type.
type Plan struct {
	Start    int64
	End      int64   // 0: not given
	Quantity float64 // units; 0: not given
	// UnitsPerMinute is the rate of the schedule's override, SKU or station; 0: unknown.
	UnitsPerMinute float64
	ExtendShift    bool // all time counts, not only shift time
}

// Type is which of quantity and end were given.
type Type uint8

// The types of schedule.
const (
	Continuous    Type = iota // neither: runs until somebody ends it
	FixedQuantity             // quantity: the end follows from the rate
	FixedEnd                  // end: the quantity follows from the rate
	FixedBoth                 // both: the rate follows
)

// Type returns the plan's type.
func (p Plan) Type() Type {
	switch {
	case p.Quantity > 0 && p.End > 0:
		return FixedBoth
	case p.Quantity > 0:
		return FixedQuantity
	case p.End > 0:
		return FixedEnd
	}
	return Continuous
}

// Implied fills in the values that follow from the given ones, over shift time: the end of a fixed quantity (the
// millisecond in which the last unit is due), the quantity of a fixed end (whole units, rounded down), or the rate of
// both. Unknown values stay 0: an end or a quantity without a rate, an end more than 366 days away, a rate without
// shift time in the range.
func (c *Calendar) Implied(p Plan) Plan {
	switch p.Type() {
	case FixedQuantity:
		if p.UnitsPerMinute > 0 {
			need := math.Ceil(p.Quantity / p.UnitsPerMinute * instant.MinuteMs)
			if need <= horizon {
				if end, ok := c.after(p, int64(need)); ok {
					p.End = end
				}
			}
		}
	case FixedEnd:
		const rounding = 1e-9 // of a unit: 480 minutes of a third of a unit are 160 units
		p.Quantity = math.Floor(p.UnitsPerMinute*float64(c.during(p))/instant.MinuteMs + rounding)
	case FixedBoth:
		p.UnitsPerMinute = 0
		if ms := c.during(p); ms > 0 {
			p.UnitsPerMinute = p.Quantity * instant.MinuteMs / float64(ms)
		}
	}
	return p
}

func (c *Calendar) after(p Plan, need int64) (int64, bool) {
	if p.ExtendShift {
		return p.Start + need, true
	}
	return c.AfterShiftTime(p.Start, need)
}

func (c *Calendar) during(p Plan) int64 {
	if p.ExtendShift {
		return max(0, p.End-p.Start)
	}
	return c.ShiftTime(p.Start, p.End)
}
