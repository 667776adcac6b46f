package monitor_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"opsmon/app/engine/monitor"
)

// collected returns all outputs of a station as bytes.
func collected(t testing.TB, segments []monitor.Segment, minutes []monitor.Minute, issues []monitor.Issue, events []monitor.Event) []byte {
	t.Helper()
	b, err := json.Marshal([]any{segments, minutes, issues, events, monitor.Windows(segments, minutes)})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// gather appends newly final outputs.
func gather(all *monitor.Outputs, more monitor.Outputs) {
	all.Segments = append(all.Segments, more.Segments...)
	all.Minutes = append(all.Minutes, more.Minutes...)
	all.Issues = append(all.Issues, more.Issues...)
	all.Events = append(all.Events, more.Events...)
}

// finish returns the bytes of a station at the end of its plan.
func finish(t testing.TB, s *monitor.State, all monitor.Outputs, to int64) []byte {
	t.Helper()
	v := s.View(to)
	gather(&all, v.Outputs)
	return append(collected(t, all.Segments, all.Minutes, all.Issues, all.Events), fmt.Sprint(v.Open, v.Status, v.Since, v.Running)...)
}

// TestTheSameBytes processes the same inputs in three ways: in one go; with views, advances, encodings and decodings at
// random times; and in another order of arrival, with late inputs applied to a checkpoint. All must return the same
// bytes.
func TestTheSameBytes(t *testing.T) {
	for seed := range uint64(40) {
		p := generate(seed, 1)
		r := rand.New(rand.NewPCG(seed, 3))
		// A meter with its readings.
		for at := p.from; at < p.to; at += 7 * minute {
			in := monitor.Input{At: at, Kind: monitor.InputSignal, Source: "meter", Signal: monitor.Signal{Has: monitor.HasKwhInterval, KwhInterval: r.Float64()}}
			if seed%3 == 0 && at > p.from+6*hour {
				in.Has, in.Kwh = monitor.HasKwhInterval|monitor.HasKwh, float64(at-p.from)/hour
			}
			p.inputs = append(p.inputs, in)
		}
		slices.SortStableFunc(p.inputs, func(a, b monitor.Input) int { return monitor.Compare(&a, &b) })
		// Every other station gets a new manifest in the middle.
		configs := map[int64]*monitor.Config{1: p.cfg}
		if seed%2 == 0 {
			next := *generate(seed+1000, 1).cfg
			next.Revision = 2
			configs[2] = &next
			change := monitor.Input{At: p.from + r.Int64N(p.to-p.from), Kind: monitor.InputConfig, Config: &next}
			at, _ := slices.BinarySearchFunc(p.inputs, change, func(a, b monitor.Input) int { return monitor.Compare(&a, &b) })
			p.inputs = slices.Insert(p.inputs, at, change)
		}
		s := monitor.New(p.cfg, p.from)
		for i := range p.inputs {
			if err := s.Apply(&p.inputs[i]); err != nil {
				t.Fatal(err)
			}
		}
		want := finish(t, s, monitor.Outputs{}, p.to)

		// Viewed, advanced and restarted at random.
		var all monitor.Outputs
		s = monitor.New(p.cfg, p.from)
		for i := range p.inputs {
			if err := s.Apply(&p.inputs[i]); err != nil {
				t.Fatal(err)
			}
			next := p.to
			if i+1 < len(p.inputs) {
				next = p.inputs[i+1].At
			}
			switch r.IntN(40) {
			case 0:
				s.View(next)
			case 1:
				s.Advance(p.inputs[i].At + r.Int64N(next-p.inputs[i].At+1))
			case 2:
				gather(&all, s.Take())
			case 3:
				gather(&all, s.Take())
				data := s.Encode()
				again, err := monitor.Decode(data, func(revision int64) *monitor.Config { return configs[revision] })
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if !bytes.Equal(again.Encode(), data) {
					t.Fatalf("seed %d: a state read back is written otherwise", seed)
				}
				s = again
			}
		}
		if got := finish(t, s, all, p.to); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: restarted at random the outputs differ", seed)
		}

		if got := late(t, p, r); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: in another order of arrival the outputs differ", seed)
		}
	}
}

// late delivers some inputs up to 80 minutes late, like a caller with checkpoints.
func late(t *testing.T, p plan, r *rand.Rand) []byte {
	type checkpoint struct {
		state   *monitor.State
		all     monitor.Outputs // the outputs so far
		applied int             // of the log
		at      int64
	}
	arrival := make([]int64, len(p.inputs))
	order := make([]int, len(p.inputs))
	for i := range order {
		order[i], arrival[i] = i, p.inputs[i].At
		if r.IntN(300) == 0 {
			arrival[i] += r.Int64N(80 * minute)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(arrival[a] - arrival[b]) })
	s := monitor.New(p.cfg, p.from)
	checks := []checkpoint{{state: s.Clone()}}
	var all monitor.Outputs
	var log []monitor.Input
	apply := func(from int) {
		for i := from; i < len(log); i++ {
			if i%200 == 0 {
				gather(&all, s.Take())
				kept := all
				kept.Segments, kept.Minutes, kept.Issues, kept.Events = slices.Clip(kept.Segments), slices.Clip(kept.Minutes), slices.Clip(kept.Issues), slices.Clip(kept.Events)
				checks = append(checks, checkpoint{s.Clone(), kept, i, log[i].At})
			}
			if err := s.Apply(&log[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	lates := 0
	for _, n := range order {
		in := p.inputs[n]
		at, _ := slices.BinarySearchFunc(log, in, func(a, b monitor.Input) int { return monitor.Compare(&a, &b) })
		log = slices.Insert(log, at, in)
		if at == len(log)-1 {
			err := s.Apply(&log[at])
			if err == nil {
				continue
			}
			if !errors.Is(err, monitor.ErrLate) {
				t.Fatal(err)
			}
		} else if err := s.Clone().Apply(&in); err == nil && in.At < log[at+1].At {
			t.Fatalf("an input of %s was taken in after one of %s", show(in.At), show(log[at+1].At))
		}
		lates++
		for len(checks) > 1 && (checks[len(checks)-1].applied > at || checks[len(checks)-1].at >= in.At) {
			checks = checks[:len(checks)-1]
		}
		c := checks[len(checks)-1]
		s, all = c.state.Clone(), c.all
		apply(c.applied)
	}
	if lates == 0 && len(p.inputs) > 1000 {
		t.Fatal("nothing was late")
	}
	gather(&all, s.Take())
	return finish(t, s, all, p.to)
}

// TestWindowsAddUp compares the segments, the windows and any range of them with each other.
func TestWindowsAddUp(t *testing.T) {
	for seed := range uint64(40) {
		p := generate(seed, 1)
		v := run(t, p.cfg, p.from, p.to, p.inputs)
		windows := monitor.Windows(v.Segments, v.Minutes)
		if len(windows) != 24*60 {
			t.Fatalf("seed %d: %d windows in a day", seed, len(windows))
		}
		var whole, parts monitor.Times
		var good, bad, kwh int64
		for i, w := range windows {
			if w.Start != p.from+int64(i)*minute || w.Total() != minute {
				t.Fatalf("seed %d: window %d starts at %s and has %d ms", seed, i, show(w.Start), w.Total())
			}
			if w.Shift()+w.Was(monitor.OutOfShift) != minute || w.Of(monitor.Production)+w.Of(monitor.NonProduction) > w.Shift() {
				t.Fatalf("seed %d: %+v", seed, w.Times)
			}
			if w.Target > w.Ideal {
				t.Fatalf("seed %d: target %v above ideal %v", seed, w.Target, w.Ideal)
			}
			whole.Add(&w.Times)
			good, bad, kwh = good+w.Good, bad+w.Bad, kwh+w.KWh
		}
		for _, g := range v.Segments {
			parts[g.Ctx.Kind][g.Class()] += g.End - g.Start
		}
		if whole != parts {
			t.Fatalf("seed %d: windows %v, segments %v", seed, whole, parts)
		}
		for _, m := range v.Minutes {
			for _, q := range m.Parts {
				good, bad, kwh = good-q.Good, bad-q.Bad, kwh-q.KWh
			}
		}
		if good != 0 || bad != 0 || kwh != 0 {
			t.Fatalf("seed %d: units are lost between minutes and windows: %d %d %d", seed, good, bad, kwh)
		}
		// A stop is whole in any requested range: the windows of an issue have its time.
		for _, i := range append(v.Issues, v.Open...) {
			end, sum := i.End, int64(0)
			if end == 0 {
				end = p.to
			}
			for _, g := range v.Segments {
				if g.Stop == i.Start && i.Type == monitor.IssueStop || g.Slow == i.Start && i.Type == monitor.IssueSlow || g.Manual == i.Start && i.Type == monitor.IssueManual {
					sum += g.End - g.Start
				}
			}
			if sum != end-i.Start {
				t.Fatalf("seed %d: the %s of %s lasts %d ms, its segments %d", seed, i.Type, show(i.Start), end-i.Start, sum)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	p := generate(3, 1)
	s := monitor.New(p.cfg, p.from)
	for i := range p.inputs[:len(p.inputs)/2] {
		if err := s.Apply(&p.inputs[i]); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(s.Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := monitor.Decode(data, func(int64) *monitor.Config { return p.cfg })
		if err == nil && len(got.Encode()) == 0 {
			t.Error("a state without bytes")
		}
	})
}

// BenchmarkDayOf100Stations processes a day of 100 stations with a signal every 5 s, windows included, on all cores.
func BenchmarkDayOf100Stations(b *testing.B) {
	inputs := steady(b)
	cfg := config(pattern(b, "Early 06:00 8h", "Late 14:00 8h"), func(c *monitor.Config) { c.UtilisationThreshold = 5 * minute })
	windows := 0
	for b.Loop() {
		windows = 0
		for range 100 {
			s := monitor.New(cfg, day)
			for i := range inputs {
				if err := s.Apply(&inputs[i]); err != nil {
					b.Fatal(err)
				}
			}
			v := s.View(day + 24*hour)
			windows += len(monitor.Windows(v.Segments, v.Minutes))
		}
	}
	b.ReportMetric(float64(windows), "windows")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(100*len(inputs)), "ns/signal")
}

// steady returns a station's day with a signal every 5 s: cycles, speed and state in turn, with stops.
func steady(b testing.TB) []monitor.Input {
	return script(b, "every 15s 00:00 24:00 good 1", "every 15s 00:00:05 24:00 speed 95", "every 15s 00:00:10 24:00 kwh 5", "every 20m 00:00 24:00 productive on", "every 20m 00:15 24:00 productive off",
		"00:00 start S1 sku=A", "06:00 end S1", "06:00 start S2 sku=B", "14:00 end S2", "14:00 start S3 sku=A")
}

// BenchmarkSignal measures the cost of one signal, and the bytes of a state.
func BenchmarkSignal(b *testing.B) {
	inputs := steady(b)
	cfg := config(func(c *monitor.Config) { c.UtilisationThreshold = 5 * minute })
	s := monitor.New(cfg, day)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if i == len(inputs) {
			i, s = 0, monitor.New(cfg, day)
		}
		if err := s.Apply(&inputs[i]); err != nil {
			b.Fatal(err)
		}
		if i++; i%1000 == 0 {
			s.Take()
		}
	}
	s.Take()
	b.ReportMetric(float64(len(s.Encode())), "state-bytes")
}

// BenchmarkView measures the cost of a view, which is made each minute.
func BenchmarkView(b *testing.B) {
	inputs := steady(b)
	s := monitor.New(config(), day)
	for i := range inputs[:8000] {
		if err := s.Apply(&inputs[i]); err != nil {
			b.Fatal(err)
		}
	}
	s.Take()
	b.ReportAllocs()
	for b.Loop() {
		s.View(inputs[7999].At + minute)
	}
}

// TestFinalStays makes views of live stations: what a view calls final must equal the outputs at the end.
func TestFinalStays(t *testing.T) {
	looked := 0
	for seed := range uint64(30) {
		p := generate(seed, 1)
		r := rand.New(rand.NewPCG(seed, 5))
		end := run(t, p.cfg, p.from, p.to, p.inputs)
		windows := monitor.Windows(end.Segments, end.Minutes)
		s := monitor.New(p.cfg, p.from)
		for i := range p.inputs {
			if err := s.Apply(&p.inputs[i]); err != nil {
				t.Fatal(err)
			}
			if r.IntN(400) != 0 || i+1 == len(p.inputs) {
				continue
			}
			now := p.inputs[i].At + r.Int64N(p.inputs[i+1].At-p.inputs[i].At+1)
			v := s.View(now)
			if v.Now != now || v.Final > now {
				t.Fatalf("seed %d: a view of %s is of %s and final to %s", seed, show(now), show(v.Now), show(v.Final))
			}
			for _, w := range monitor.Windows(v.Segments, v.Minutes) {
				if w.Start+minute > v.Final {
					break
				}
				looked++
				want := windows[(w.Start-p.from)/minute]
				if windowText(w) != windowText(want) || w.KWh != want.KWh {
					t.Fatalf("seed %d: at %s a window is final up to %s:\n%s\nand in the end\n%s", seed, show(now), show(v.Final), windowText(w), windowText(want))
				}
			}
		}
	}
	if looked < 10_000 {
		t.Errorf("only %d windows were looked at", looked)
	}
}

// TestWhatIsDueOfASchedule compares the due units of a running schedule with its segments.
func TestWhatIsDueOfASchedule(t *testing.T) {
	compared := 0
	for seed := range uint64(20) {
		p := generate(seed, 1)
		s, all, began := monitor.New(p.cfg, p.from), monitor.Outputs{}, map[string]int64{}
		for i := range p.inputs {
			if err := s.Apply(&p.inputs[i]); err != nil {
				t.Fatal(err)
			}
			if p.inputs[i].Kind == monitor.InputScheduleStart {
				began[p.inputs[i].Schedule.ID] = p.inputs[i].At
			}
			gather(&all, s.Take())
			if i%50 != 0 {
				continue
			}
			v := s.View(p.inputs[i].At)
			for _, run := range v.Running {
				ideal, target := 0.0, 0.0
				for _, g := range slices.Concat(all.Segments, v.Segments) {
					if g.Start < began[run.ID] || g.Ctx.Kind != monitor.Production || g.Ctx.Production != run.ID || g.Class() == monitor.NoData {
						continue
					}
					due := g.Ctx.UnitsPerMinute * float64(max(0, min(g.End, v.Now/minute*minute)-g.Start)) / minute
					ideal += due
					if g.Class() != monitor.Downtime {
						target += due
					}
				}
				if math.Abs(run.Ideal-ideal) > 1e-6*(1+ideal) || math.Abs(run.Target-target) > 1e-6*(1+target) {
					t.Fatalf("seed %d: of %s %v units are due, %v without downtime; its segments say %v and %v", seed, run.ID, run.Ideal, run.Target, ideal, target)
				}
				if target > 0 && target < ideal {
					compared++
				}
			}
		}
	}
	if compared == 0 {
		t.Error("no schedule had downtime")
	}
}
