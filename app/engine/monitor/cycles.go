package monitor

import "math"

// reading is the last value of a running counter or a meter.
type reading struct {
	known bool
	value float64
	at    int64
}

// take returns what a value adds: nothing as the first one, and all of it after a reset.
func (r *reading) take(at int64, value float64) (added float64, reset bool) {
	if r.known {
		if added = value - r.value; added < 0 {
			added, reset = value, true
		}
	}
	*r = reading{true, value, at}
	return math.Round(max(0, added)*Micro) / Micro, reset // 100.1 - 100 is 0.1
}

// Cycles counts the cycles that the signals of one station complete. The zero value knows of no signal.
type Cycles struct {
	good, bad   reading
	lastCounted int64 // when a completed cycle was last counted, ms; 0: never
}

// Take takes in a signal, ms, and returns its good and bad cycles: completed ones, and what it adds to running counters.
// Completed cycles that come sooner than minimum, ms, after the last that counted are bounces of the sensor, whatever number
// the signal carries; those of a time in which nothing counts are returned, and no bounce is judged by them. resets is how many
// counters began again.
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
