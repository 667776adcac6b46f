package monitor_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/engine/monitor"
)

// TestChartAddsUp compares the rows of charts with the windows, for many stations and steps, and runs and spells with
// the segments.
func TestChartAddsUp(t *testing.T) {
	for seed := range uint64(30) {
		p, r := generate(seed, 1), rand.New(rand.NewPCG(seed, 3))
		v := run(t, p.cfg, p.from, p.to, p.inputs)
		windows := monitor.Windows(v.Segments, v.Minutes)
		from := p.from + r.Int64N(300)*minute - 60*minute
		to := from + (1+r.Int64N(26*60))*minute
		step := []int64{1, 2, 5, 10, 15, 30, 60, 120, 240, 360, 720, 1440}[r.IntN(12)] * minute
		c := monitor.NewChart(from, to, step, 1_000_000)
		k, m := r.IntN(len(v.Segments)+1), r.IntN(len(v.Minutes)+1)
		c.Add(v.Segments[:k], v.Minutes[:m])
		c.Add(v.Segments[k:], v.Minutes[m:])
		c.Close()
		if int64(len(c.Rows)) != (to-from+step-1)/step {
			t.Fatalf("seed %d: %d rows", seed, len(c.Rows))
		}
		for i := range c.Rows {
			start := from + int64(i)*step
			want, got := rowOf(windows, v.Minutes, start, min(to, start+step)), c.Rows[i]
			for _, f := range []struct{ into, of *float64 }{{&got.Ideal, &want.Ideal}, {&got.Target, &want.Target}} {
				if math.Abs(*f.into-*f.of) <= 1e-9*max(1, *f.of) {
					*f.into = *f.of
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d: row %d of %d min:\n%s", seed, i, step/minute, diff)
			}
		}
		runsAddUp(t, c, v.Segments)
	}
}

// rowOf adds up the windows and minutes of [from, to).
func rowOf(windows []monitor.Window, minutes []monitor.Minute, from, to int64) (row monitor.ChartRow) {
	row.Times[monitor.Unscheduled][monitor.NoData] = to - from
	for i := range windows {
		w := &windows[i]
		if w.Start < from || w.Start >= to {
			continue
		}
		row.Times[monitor.Unscheduled][monitor.NoData] -= minute
		row.Times.Add(&w.Times)
		row.Good, row.Bad, row.KWh, row.KWhMs = row.Good+w.Good, row.Bad+w.Bad, row.KWh+w.KWh, row.KWhMs+w.KWhMs
		row.HasRate, row.Ideal, row.Target = row.HasRate || w.HasRate, row.Ideal+w.Ideal, row.Target+w.Target
		row.SpeedTarget = w.SpeedTarget
	}
	for i := range minutes {
		if m := &minutes[i]; m.Start >= from && m.Start < to {
			row.SpeedSum, row.SpeedMs = row.SpeedSum+m.SpeedSum, row.SpeedMs+m.SpeedMs
		}
	}
	return row
}

// runsAddUp checks that runs and spells agree with the segments in each millisecond, and that no two adjacent ones
// could be merged.
func runsAddUp(t *testing.T, c *monitor.Chart, segments []monitor.Segment) {
	t.Helper()
	var times, sum monitor.Times
	for i := range c.Rows {
		sum.Add(&c.Rows[i].Times)
	}
	at := max(c.From, segments[0].Start)
	sum[monitor.Unscheduled][monitor.NoData] -= at - c.From + max(0, c.To-segments[len(segments)-1].End)
	for i, x := range c.Runs {
		if x.Start != at || x.End <= x.Start {
			t.Fatalf("run %d is %+v, after %s", i, x, show(at))
		}
		if i > 0 {
			before := c.Runs[i-1]
			if before.Start, before.End = x.Start, x.End; before == x {
				t.Fatalf("run %d goes on where the one before it ends", i)
			}
		}
		times[x.Kind][x.Class] += x.End - x.Start
		if x.Class == monitor.Downtime && (x.Type == 0 || x.Issue == 0 || x.Issue > x.Start) {
			t.Fatalf("run %d is of no stop: %+v", i, x)
		}
		at = x.End
	}
	if at != min(c.To, segments[len(segments)-1].End) || times != sum {
		t.Fatalf("the runs end at %s and are %v; the rows %v", show(at), times, sum)
	}
	for _, g := range segments {
		for _, s := range c.Spells {
			if s.Start < g.End && s.End > g.Start && (s.SKU != g.Ctx.SKU || s.Production != g.Ctx.Production || s.NonProduction != g.Ctx.NonProduction || s.Shift != g.Ctx.Shift.Name) {
				t.Fatalf("the spell %+v lies over %+v", s, *g.Ctx)
			}
		}
	}
}

// TestChartLimits checks the limit of runs and spells.
func TestChartLimits(t *testing.T) {
	p := generate(1, 1)
	v := run(t, p.cfg, p.from, p.to, p.inputs)
	c := monitor.NewChart(p.from, p.to, minute, 2)
	c.Add(v.Segments, v.Minutes)
	c.Close()
	if !c.TooManyRuns || c.Runs != nil || !c.TooManySpells || c.Spells != nil {
		t.Errorf("%d runs, %d spells", len(c.Runs), len(c.Spells))
	}
}
