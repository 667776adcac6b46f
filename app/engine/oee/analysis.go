package oee

import (
	"cmp"
	"slices"
	"strings"

	"opsmon/app/engine/monitor"
)

// Bar is one row of a Pareto list.
type Bar struct {
	Cause      string // reason code; "": time without a cause
	Ms         int64
	Count      int // of issues that overlap the range
	Share      float64
	Cumulative float64 // share of this row and all rows before it
}

// Pareto lists downtime in [from, to) by cause, the longest first. Segments must have whole issues: one that extends
// beyond the range counts with its time inside. Excluded stops are left out.
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

// MergePareto merges the lists of several stations.
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

// CycleTimes has the statistics of a SKU's cycle times at a station, ms.
type CycleTimes struct {
	Count  int
	Median float64
	Best   float64 // 10th percentile
	Spread float64 // interquartile range
}

// Cycles calculates the statistics of cycle times. Percentiles between two values are interpolated linearly. It
// reorders times.
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
