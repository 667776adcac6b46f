package floor

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/engine/monitor"
)

// TestCondense: a minute of very many segments is condensed to its kinds of time, which are as long as before; what it comes to
// does not depend on how much was added at once, nor on when what was kept was cut off. Other minutes stay as they are.
func TestCondense(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	other := &monitor.Context{Plan: &monitor.Plan{InShift: true, SKU: "BOWL"}}
	var rated [50]*monitor.Context
	for i := range rated {
		rated[i] = &monitor.Context{Plan: &monitor.Plan{InShift: true, Kind: monitor.Production}, UnitsPerMinute: float64(i) / 7, UnitGap: int64(i)}
	}
	var list []monitor.Segment
	for at := int64(10 * minute); at < 20*minute; {
		long := 1 + rng.Int64N(300) // some 400 segments a minute
		if at/minute%3 == 0 {
			long = 1 + rng.Int64N(5000)
		}
		g := monitor.Segment{Start: at, End: at + long, Ctx: rated[rng.IntN(50)], Known: true, Productive: rng.IntN(2) == 0}
		if rng.IntN(4) == 0 {
			g.Ctx, g.Stop = other, at
		}
		list = append(list, g)
		at = g.End
	}
	whole := outputs{}
	whole.add(monitor.Outputs{Segments: list})
	all, condensed := monitor.Windows(list, nil), monitor.Windows(whole.Segments, nil)
	for i, w := range all {
		c := condensed[i]
		if w.Times != c.Times || w.HasRate != c.HasRate || math.Abs(w.Ideal-c.Ideal) > 1e-9 || math.Abs(w.Target-c.Target) > 1e-9 || w.Ideal == 0 {
			t.Errorf("a minute:\n%+v\ncondensed:\n%+v", w, c)
		}
	}
	if n := len(whole.Segments); n > len(list)/3 {
		t.Errorf("%d segments of %d", n, len(list))
	}
	for range 50 {
		o, kept := outputs{}, int64(0)
		var got []monitor.Segment
		for rest := list; len(rest) > 0; {
			n := min(len(rest), 1+rng.IntN(500))
			o.add(monitor.Outputs{Segments: rest[:n]})
			rest = rest[n:]
			if end := o.Segments[len(o.Segments)-1].End; rng.IntN(3) == 0 && end-mod(end, minute) > kept {
				kept = end - mod(end, minute)
				cut := o.clone()
				o = o.from(kept)
				for _, g := range cut.Segments {
					if g.End = min(g.End, kept); g.Start < g.End {
						got = joinTo(got, g)
					}
				}
			}
		}
		for _, g := range o.Segments {
			got = joinTo(got, g)
		}
		if diff := cmp.Diff(whole.Segments, got); diff != "" {
			t.Fatalf("(-at once +bit by bit):\n%s", diff)
		}
	}
}

// joinTo puts a segment behind others, to the last where it is the rest of that.
func joinTo(list []monitor.Segment, g monitor.Segment) []monitor.Segment {
	if n := len(list); n > 0 {
		last := list[n-1]
		last.Start, last.End = g.Start, g.End
		if last == g && g.Start%minute == 0 {
			list[n-1].End = g.End
			return list
		}
	}
	return append(list, g)
}

// TestSlowPeriodsAreCondensed: those of a minute are one kind, however many they are.
func TestSlowPeriodsAreCondensed(t *testing.T) {
	ctx := &monitor.Context{Plan: &monitor.Plan{InShift: true, Kind: monitor.Production}, UnitsPerMinute: 60}
	var list []monitor.Segment
	const step = 10
	for at := int64(10 * minute); at < 11*minute; at += step {
		g := monitor.Segment{Start: at, End: at + step, Ctx: ctx, Known: true, Productive: true}
		if at/step%2 == 0 {
			g.Slow = at
		}
		list = append(list, g)
	}
	var o outputs
	o.add(monitor.Outputs{Segments: list})
	var slow int64
	for _, g := range o.Segments {
		if g.Slow != 0 {
			slow += g.End - g.Start
		}
	}
	if len(o.Segments) > 3 || slow != minute/2 {
		t.Errorf("%d segments, in which it is slow for %d ms", len(o.Segments), slow)
	}
}

// TestNoTrackersHoldNothing: while the stations are read again, there are no trackers, and the totals are zero.
func TestNoTrackersHoldNothing(t *testing.T) {
	wk := newWorker(&Floor{workers: map[string]*worker{}}, "a")
	wk.pending, wk.outputs = maxPending, maxOutputs
	if wk.relieveAll(); wk.pending != 0 || wk.outputs != 0 {
		t.Errorf("they hold %d inputs and %d outputs", wk.pending, wk.outputs)
	}
}
