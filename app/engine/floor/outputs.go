package floor

import (
	"cmp"
	"math"
	"slices"

	"opsmon/app/engine/history"
	"opsmon/app/engine/monitor"
)

// segmentsMost is how many segments of a minute are kept one by one. A machine whose state changes more often has its minute
// condensed, so that a day of any station can be kept and read.
const segmentsMost = 240

// outputs are what a state has given out. Minutes with very many segments are condensed, which depends on nothing but what
// the state gave out: not on when it was taken.
type outputs struct {
	monitor.Outputs
	minute    int64 // the last minute in which a segment starts, ms
	condensed bool  // the segments of that minute were condensed
}

// add puts more outputs after those that there are.
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
		if o.condensed = o.condensed || n-i > segmentsMost; o.condensed {
			kinds := condense(o.Segments[i:n])
			o.Segments = slices.Delete(o.Segments, i+kinds, n)
			n = i + kinds
		}
		if i = n; i < len(o.Segments) && o.Segments[i].Start < o.minute+minute { // it reaches into the next
			i++
		}
	}
}

// condense puts segments that follow one another together which differ in their time alone, or in which stop it is: each kind
// at its first place, for as long as all of them were. Their sums stay the same. It returns how many kinds there are, which
// are the first of the list then.
func condense(list []monitor.Segment) (kinds int) {
	if len(list) == 0 {
		return 0
	}
	start := list[0].Start
	places := make(map[alike]int, len(list)) // of kinds; changes of a rate can make each segment one
	for _, g := range list {
		kind := alikeTo(&g)
		if k, known := places[kind]; known {
			list[k].End += g.End - g.Start
			continue
		}
		places[kind] = kinds
		list[kinds] = g
		kinds++
	}
	for k := range list[:kinds] {
		g := &list[k]
		g.Start, g.End = start, start+g.End-g.Start
		start = g.End
	}
	return kinds
}

// alike is what is the same of segments that differ in their time alone, or in which stop it is.
type alike struct {
	segment monitor.Segment // without time and context; Stop is 1 for any stop
	context monitor.Context
}

func alikeTo(g *monitor.Segment) alike {
	x := alike{*g, *g.Ctx}
	x.segment.Start, x.segment.End, x.segment.Ctx, x.segment.Stop = 0, 0, nil, min(g.Stop, 1)
	return x
}
