package oee

import (
	"slices"

	"opsmon/app/engine/monitor"
)

// lengthBounds are the upper bounds of the bins of Lengths, ms; the last bin has none.
var lengthBounds = [...]int64{
	1_000, 2_000, 5_000, 10_000, 15_000, 20_000, 30_000, 45_000, 60_000, 90_000, 120_000, 180_000, 300_000, 420_000, 600_000, 900_000,
	1_200_000, 1_800_000, 2_700_000, 3_600_000, 7_200_000, 14_400_000, 28_800_000,
}

// Lengths is a histogram of durations.
type Lengths struct {
	Count int
	Ms    int64
	bins  [len(lengthBounds) + 1]Bin
}

// Bin has the durations of at least From and less than To, ms; To 0: no upper bound.
type Bin struct {
	From, To int64
	Count    int
	Ms       int64 // sum of the durations
}

// Add adds a duration.
func (l *Lengths) Add(ms int64) {
	i, found := slices.BinarySearch(lengthBounds[:], ms)
	if found { // a bin's upper bound belongs to the next bin
		i++
	}
	l.Count++
	l.Ms += ms
	l.bins[i].Count++
	l.bins[i].Ms += ms
}

// Bins returns all bins in order.
func (l *Lengths) Bins() []Bin {
	out := slices.Clone(l.bins[:])
	for i := range out {
		if i > 0 {
			out[i].From = lengthBounds[i-1]
		}
		if i < len(lengthBounds) {
			out[i].To = lengthBounds[i]
		}
	}
	return out
}

// Stops returns the durations of stops in the segments, which must be ordered by time. A stop counts with its time in
// the segments, and manual downtime does not count.
func Stops(segments []monitor.Segment) (l Lengths) {
	start, ms := int64(0), int64(0)
	for i := range segments {
		g := &segments[i]
		if g.Class() != monitor.Downtime || g.Stop == 0 || g.Manual != 0 {
			continue
		}
		if g.Stop != start && ms > 0 {
			l.Add(ms)
			ms = 0
		}
		start = g.Stop
		ms += g.End - g.Start
	}
	if ms > 0 {
		l.Add(ms)
	}
	return l
}
