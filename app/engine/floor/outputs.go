package floor

import (
	"cmp"
	"math"
	"slices"

	"opsmon/app/engine/history"
	"opsmon/app/engine/monitor"
)

// maxMinuteSegments is the number of segments in a minute above which it is condensed, so that the day of a machine
// that changes its state all the time can still be stored and read.
const maxMinuteSegments = 240

// outputs are what a state has given out. Minutes with very many segments are condensed, which depends on nothing but what
// the state gave out: not on when it was taken.
type outputs struct {
	monitor.Outputs
	minute    int64 // the last minute in which a segment starts, ms
	condensed bool  // the segments of that minute were condensed
}

// add appends more outputs.
func (o *outputs) add(more monitor.Outputs) {
	join(&o.Outputs, more)
	o.condense()
}

// join puts more outputs after others.
func join(a *monitor.Outputs, b monitor.Outputs) {
	a.Segments = append(a.Segments, b.Segments...)
	a.Minutes = append(a.Minutes, b.Minutes...)
	a.Issues = append(a.Issues, b.Issues...)
	a.Events = append(a.Events, b.Events...)
}

// clone returns a copy that shares no segments.
func (o *outputs) clone() outputs {
	c := *o
	c.Segments = slices.Clone(o.Segments)
	c.Minutes, c.Issues, c.Events = slices.Clip(o.Minutes), slices.Clip(o.Issues), slices.Clip(o.Events)
	return c
}

// from returns those from a moment on, a whole minute, ms.
func (o *outputs) from(at int64) outputs {
	return outputs{history.Cut(o.Outputs, at, math.MaxInt64), o.minute, o.condensed}
}

// count returns how much there is: segments, and issues, which take about as much memory.
func (o *outputs) count() int { return len(o.Segments) + len(o.Issues) }

// condense condenses minutes from the last on that was looked at.
func (o *outputs) condense() {
	i, _ := slices.BinarySearchFunc(o.Segments, o.minute, func(g monitor.Segment, at int64) int { return cmp.Compare(g.Start, at) })
	for i < len(o.Segments) {
		if start := o.Segments[i].Start; start >= o.minute+minute || o.minute == 0 {
			o.minute, o.condensed = start-mod(start, minute), false
		}
		if o.Segments[i].Start == o.minute { // it may be the rest of one that was cut here
			i++
		}
		n := i // of those that lie in the minute as a whole
		for n < len(o.Segments) && o.Segments[n].End <= o.minute+minute {
			n++
		}
		if o.condensed = o.condensed || n-i > maxMinuteSegments; o.condensed {
			kinds := condense(o.Segments[i:n])
			o.Segments = slices.Delete(o.Segments, i+kinds, n)
			n = i + kinds
		}
		if i = n; i < len(o.Segments) && o.Segments[i].Start < o.minute+minute { // it reaches into the next
			i++
		}
	}
}

// condense puts segments that follow one another together which differ in their time alone, in which stop or slow period it
// is, or in how fast units were due: each kind at its first place, for as long as all of them were. Their sums stay the same,
// and those of units due but for the last bits. It returns how many kinds there are, which are the first of the list then.
func condense(list []monitor.Segment) (kinds int) {
	if len(list) == 0 {
		return 0
	}
	start := list[0].Start
	first := map[hint]int{} // the last kind that looks so
	var before []int        // by kind: the one before that looks the same; -1: none
	var rates []float64     // by kind: units due a minute, on average so far
	for i := range list {
		g := &list[i]
		h := hintOf(g)
		k, found := first[h]
		if !found {
			k = -1
		}
		looks := k
		for k >= 0 && !alike(&list[k], g) {
			k = before[k]
		}
		if k < 0 {
			first[h], before, rates = kinds, append(before, looks), append(rates, g.Ctx.UnitsPerMinute)
			list[kinds] = *g
			kinds++
			continue
		}
		// One after another, so that it does not matter how many were added at once.
		o := &list[k]
		if was, ms := float64(o.End-o.Start), float64(g.End-g.Start); g.Ctx.UnitsPerMinute != rates[k] {
			rates[k] = (rates[k]*was + g.Ctx.UnitsPerMinute*ms) / (was + ms)
		}
		o.End += g.End - g.Start
	}
	for k := range list[:kinds] {
		g := &list[k]
		g.Start, g.End = start, start+g.End-g.Start
		start = g.End
		if g.Ctx.UnitsPerMinute != rates[k] {
			average := *g.Ctx // contexts are shared
			average.UnitsPerMinute = rates[k]
			g.Ctx = &average
		}
	}
	return kinds
}

// hint holds the fields that are quickly compared; segments that are alike have the same hint.
type hint struct {
	revision                                  int64
	cause                                     string
	known, productive, down, slow, out, rated bool
}

func hintOf(g *monitor.Segment) hint {
	return hint{g.Ctx.Revision, g.Cause, g.Known, g.Productive, g.Stop != 0, g.Slow != 0, g.Excluded, g.Ctx.UnitsPerMinute > 0}
}

// alike reports whether segments differ only in their time, their stop or slow period, or the expected rate.
func alike(a, b *monitor.Segment) bool {
	x, y := *a, *b
	x.Start, x.End, x.Ctx, x.Stop, x.Slow = 0, 0, nil, min(x.Stop, 1), min(x.Slow, 1)
	y.Start, y.End, y.Ctx, y.Stop, y.Slow = 0, 0, nil, min(y.Stop, 1), min(y.Slow, 1)
	if x != y || a.Ctx == b.Ctx {
		return x == y
	}
	// UnitGap follows from the rate, and has done its work when time is given out.
	return (a.Ctx.UnitsPerMinute > 0) == (b.Ctx.UnitsPerMinute > 0) && a.Ctx.SamePlan(b.Ctx)
}
