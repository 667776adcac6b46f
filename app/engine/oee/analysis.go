package oee

import (
	"cmp"
	"slices"
	"strings"

	"opsmon/app/engine/monitor"
)

// Bar is one line of a Pareto list.
type Bar struct {
	Cause      string // reason code; "" is time without a cause
	Ms         int64
	Count      int // of issues that have time in the range
	Share      float64
	Cumulative float64 // share of this and all lines before
}

// Pareto lists downtime in [from, to) by its cause, the longest first. It is cut from whole issues: one that lies over the
// range's end counts with what lies inside. What people took out of the figures is not in it.
func Pareto(segments []monitor.Segment, from, to int64) []Bar {
	type stop struct {
		cause string
		start int64
	}
	bars, seen, total := map[string]*Bar{}, map[stop]bool{}, int64(0)
	for i := range segments {
		g := &segments[i]
		ms := min(g.End, to) - max(g.Start, from)
		if ms <= 0 || g.Class() != monitor.Downtime || g.Excluded {
			continue
		}
		b := bars[g.Cause]
		if b == nil {
			b = &Bar{Cause: g.Cause}
			bars[g.Cause] = b
		}
		b.Ms += ms
		total += ms
		if k := (stop{g.Cause, cmp.Or(g.Manual, g.Stop)}); !seen[k] {
			seen[k] = true
			b.Count++
		}
	}
	out := make([]Bar, 0, len(bars))
	for _, b := range bars {
		out = append(out, *b)
	}
	return rank(out, total)
}

// MergePareto makes one list of those of several stations.
func MergePareto(lists ...[]Bar) []Bar {
	bars, total := map[string]Bar{}, int64(0)
	for _, list := range lists {
		for _, b := range list {
			sum := bars[b.Cause]
			bars[b.Cause] = Bar{Cause: b.Cause, Ms: sum.Ms + b.Ms, Count: sum.Count + b.Count}
			total += b.Ms
		}
	}
	out := make([]Bar, 0, len(bars))
	for _, b := range bars {
		out = append(out, b)
	}
	return rank(out, total)
}

func rank(bars []Bar, total int64) []Bar {
	slices.SortFunc(bars, func(a, b Bar) int { return cmp.Or(cmp.Compare(b.Ms, a.Ms), strings.Compare(a.Cause, b.Cause)) })
	sum := int64(0)
	for i := range bars {
		sum += bars[i].Ms
		bars[i].Share, bars[i].Cumulative = float64(bars[i].Ms)/float64(total), float64(sum)/float64(total)
	}
	return bars
}

// CycleTimes are what a SKU's cycles took at a station, ms.
type CycleTimes struct {
	Count  int
	Median float64
	Best   float64 // a tenth of the cycles took at most this long
	Spread float64 // from the first to the third quartile
}

// Cycles works out how long cycles took. Values between two measurements are taken on the straight line between them. The
// order of times is not kept.
func Cycles(times []int64) CycleTimes {
	if len(times) == 0 {
		return CycleTimes{}
	}
	slices.Sort(times)
	return CycleTimes{len(times), quantile(times, 0.5), quantile(times, 0.1), quantile(times, 0.75) - quantile(times, 0.25)}
}

func quantile(sorted []int64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	low := int(at)
	if low+1 == len(sorted) {
		return float64(sorted[low])
	}
	part := at - float64(low)
	return float64(sorted[low])*(1-part) + float64(sorted[low+1])*part
}
