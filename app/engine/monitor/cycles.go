package monitor

import "math"

// reading is the last value of a running counter or a meter.
type reading struct {
	known bool
	value float64
	at    int64
}

// take returns the increase since the last value: 0 for the first value, all of it after a reset.
func (r *reading) take(at int64, value float64) (added float64, reset bool) {
	if r.known {
		if added = value - r.value; added < 0 {
			added, reset = value, true
		}
	}
	*r = reading{true, value, at}
	return math.Round(max(0, added)*Micro) / Micro, reset // 100.1 - 100 is 0.1
}

// Cycles counts the cycles completed by the signals of one station. The zero value has seen no signal.
type Cycles struct {
	good, bad   reading
	lastCounted int64 // when a completed cycle was last counted, ms; 0: never
}

// Take applies a signal at a time, ms, and returns its good and bad cycles: completed ones and the increase of running
// counters. Completed cycles within minimum, ms, of the last counted one are bounces of the sensor and ignored,
// whatever number the signal carries. Cycles of a time in which nothing counts are returned, but do not affect the
// detection of bounces. resets is the number of counters that were reset.
func (c *Cycles) Take(at int64, g *Signal, minimum int64, counts bool) (good, bad float64, resets int) {
	if g.Has&(HasCompleteGood|HasCompleteBad) != 0 && max(0, g.CompleteGood)+max(0, g.CompleteBad) > 0 && (c.lastCounted == 0 || at-c.lastCounted >= minimum) {
		good, bad = max(0, g.CompleteGood), max(0, g.CompleteBad)
		if counts {
			c.lastCounted = at
		}
	}
	add := func(to *float64, r *reading, value float64) {
		added, reset := r.take(at, value)
		if *to += added; reset {
			resets++
		}
	}
	if g.Has&HasCountGood != 0 {
		add(&good, &c.good, g.CountGood)
	}
	if g.Has&HasCountBad != 0 {
		add(&bad, &c.bad, g.CountBad)
	}
	return good, bad, resets
}
