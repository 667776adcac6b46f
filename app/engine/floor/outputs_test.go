package floor

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/engine/monitor"
)

// TestCondense: a minute of very many segments is condensed to its kinds of time, which are as long as before; what it comes to
// does not depend on how much was added at once, nor on when what was kept was cut off. Other minutes stay as they are.
func TestCondense(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	ctx, other := &monitor.Context{InShift: true}, &monitor.Context{InShift: true, SKU: "BOWL"}
	var list []monitor.Segment
	for at := int64(10 * minute); at < 20*minute; {
		long := 1 + rng.Int64N(300) // some 400 segments a minute
		if at/minute%3 == 0 {
			long = 1 + rng.Int64N(5000)
		}
		g := monitor.Segment{Start: at, End: at + long, Ctx: ctx, Known: true, Productive: rng.IntN(2) == 0}
		if rng.IntN(4) == 0 {
			g.Ctx, g.Stop = other, at
		}
		list = append(list, g)
		at = g.End
	}
	whole := outputs{}
	whole.add(monitor.Outputs{Segments: list})
	times := func(list []monitor.Segment) map[int64]monitor.Times {
		all := map[int64]monitor.Times{}
		for _, w := range monitor.Windows(list, nil) {
			all[w.Start] = w.Times
		}
		return all
	}
	if diff := cmp.Diff(times(list), times(whole.Segments)); diff != "" {
		t.Errorf("the times of minutes (-all +condensed):\n%s", diff)
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
