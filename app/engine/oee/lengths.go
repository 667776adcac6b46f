package oee

import (
	"slices"

	"opsmon/app/engine/monitor"
)

// lengthBounds are where the bins of Lengths end, ms; the last bin has no end.
var lengthBounds = [...]int64{
	1_000, 2_000, 5_000, 10_000, 15_000, 20_000, 30_000, 45_000, 60_000, 90_000, 120_000, 180_000, 300_000, 420_000, 600_000, 900_000,
	1_200_000, 1_800_000, 2_700_000, 3_600_000, 7_200_000, 14_400_000, 28_800_000,
}

// Lengths are how long stretches of time are.
type Lengths struct {
	Count int
	Ms    int64
	bins  [len(lengthBounds) + 1]Bin
}

// Bin is the stretches that are at least From and shorter than To, ms; To 0: of any length above.
type Bin struct {
	From, To int64
	Count    int
	Ms       int64 // of all of them
}

// Add adds a stretch.
func (l *Lengths) Add(ms int64) {
	i, found := slices.BinarySearch(lengthBounds[:], ms)
	if found { // a bin's end is the next one's
		i++
	}
	l.Count++
	l.Ms += ms
	l.bins[i].Count++
	l.bins[i].Ms += ms
}

// Bins returns the stretches by their length, all bins in order.
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

// Stops returns how long the stops are that segments in order of time have time of, each as far as they have it. Manual downtime
// is none.
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
