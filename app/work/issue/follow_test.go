package issue

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/engine/monitor"
	"opsmon/app/instant"
)

// day is 00:00 UTC on Monday 5 January 2026.
var day = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC).UnixMilli()

const (
	minute = instant.MinuteMs
	hour   = instant.HourMs
)

// clock parses a time of day of the first day, such as "06:30"; "" is 0.
func clock(t testing.TB, s string) int64 {
	t.Helper()
	if s == "" {
		return 0
	}
	at, err := time.Parse("15:04", s)
	if err != nil {
		t.Fatal(err)
	}
	return day + int64(at.Hour())*hour + int64(at.Minute())*minute
}

func hhmm(ms int64) string {
	if ms == forever {
		return "…"
	}
	return time.UnixMilli(ms).UTC().Format("15:04")
}

// issues parses lines such as "stop 06:10 07:30 jam": type, start, end ("-": in progress) and the machine's cause.
func issues(t testing.TB, lines ...string) []monitor.Issue {
	t.Helper()
	var out []monitor.Issue
	for _, line := range lines {
		f := append(strings.Fields(line), "")
		typ, ok := ParseType(f[0])
		if !ok {
			t.Fatalf("type %q", f[0])
		}
		x := monitor.Issue{Type: typ, Start: clock(t, f[1]), Cause: f[3]}
		if f[2] != "-" {
			x.End = clock(t, f[2])
		}
		out = append(out, x)
	}
	return out
}

// said parses lines such as "stop 06:10 07:30 jam 06:40=tool @3": type, the record's time range, the cause of the first
// part ("-": none), further parts, and the time of entry. "out" excludes the stop.
func said(t testing.TB, lines ...string) []*Record {
	t.Helper()
	var out []*Record
	for _, line := range lines {
		f := strings.Fields(line)
		typ, ok := ParseType(f[0])
		if !ok {
			t.Fatalf("type %q", f[0])
		}
		r := &Record{Type: typ, Start: clock(t, f[1]), Until: clock(t, f[2])}
		for _, a := range f[3:] {
			from, cause, cut := strings.Cut(a, "=")
			switch {
			case a == "out":
				r.Excluded = true
			case strings.HasPrefix(a, "@"):
				fmt.Sscan(a[1:], &r.CausedAt)
			case cut:
				r.Cuts = append(r.Cuts, Cut{At: clock(t, from), Cause: strings.Trim(cause, "-")})
			default:
				r.Cuts = append(r.Cuts, Cut{At: r.Start, Cause: strings.Trim(a, "-")})
			}
		}
		out = append(out, r)
	}
	return out
}

// text formats issues with their parts: "stop 06:10-07:30: 06:10 jam, 06:40 tool". "?" is uncaused, "*" a cause by the
// machine, "!" excluded from the figures.
func text(of []Of, orphans []*Record, now int64) []string {
	var out []string
	for _, o := range of {
		var parts []string
		for _, p := range o.Parts(now) {
			s := hhmm(p.Start) + " " + p.Cause
			if p.Cause == "" {
				s += "?"
			}
			if p.ByMachine {
				s += "*"
			}
			if p.Excluded {
				s += "!"
			}
			parts = append(parts, s)
		}
		end := "…"
		if o.End != 0 {
			end = hhmm(o.End)
		}
		out = append(out, fmt.Sprintf("%s %s-%s: %s", o.Type, hhmm(o.Start), end, strings.Join(parts, ", ")))
	}
	for _, r := range orphans {
		out = append(out, fmt.Sprintf("orphan %s %s", r.Type, hhmm(r.Start)))
	}
	return out
}

// TestFollow has a row for each way in which issues can change after a record was made. It is 12:00.
func TestFollow(t *testing.T) {
	for _, tt := range []struct {
		name   string
		issues []string
		said   []string
		want   []string
	}{
		{"nothing said", []string{"stop 06:10 07:30", "stop 08:00 -"}, nil, []string{"stop 06:10-07:30: 06:10 ?", "stop 08:00-…: 08:00 ?"}},
		{"the machine's error code", []string{"stop 06:10 07:30 jam"}, nil, []string{"stop 06:10-07:30: 06:10 jam*"}},
		{"people's word wins", []string{"stop 06:10 07:30 jam"}, []string{"stop 06:10 07:30 tool"}, []string{"stop 06:10-07:30: 06:10 tool"}},
		{"an open stop was given a cause and ended later", []string{"stop 06:10 07:30"}, []string{"stop 06:10 06:30 tool"}, []string{"stop 06:10-07:30: 06:10 tool"}},
		{"a cause for a stop that goes on", []string{"stop 06:10 -"}, []string{"stop 06:10 06:30 tool"}, []string{"stop 06:10-…: 06:10 tool"}},
		{"split", []string{"stop 06:10 07:30 jam"}, []string{"stop 06:10 07:30 tool 06:40=wait 07:00=-"}, []string{"stop 06:10-07:30: 06:10 tool, 06:40 wait, 07:00 jam*"}},
		{"split in parts that nobody has named yet", []string{"stop 06:10 07:30"}, []string{"stop 06:10 07:30 - 06:40=-"}, []string{"stop 06:10-07:30: 06:10 ?, 06:40 ?"}},
		{"another type's word is not heard", []string{"stop 06:10 07:30"}, []string{"slow 06:10 07:30 tool"}, []string{"stop 06:10-07:30: 06:10 ?", "orphan slow 06:10"}},
		{"excluded, without a cause", []string{"stop 06:10 07:30"}, []string{"stop 06:10 07:30 out"}, []string{"stop 06:10-07:30: 06:10 ?!"}},

		{"late signals made it begin earlier: the first part grows", []string{"stop 06:00 07:30"}, []string{"stop 06:10 07:30 tool 06:40=wait"}, []string{"stop 06:00-07:30: 06:00 tool, 06:40 wait"}},
		{"begin later", []string{"stop 06:20 07:30"}, []string{"stop 06:10 07:30 tool 06:40=wait"}, []string{"stop 06:20-07:30: 06:20 tool, 06:40 wait"}},
		{"begin after the first part: that is gone with its time", []string{"stop 06:50 07:30"}, []string{"stop 06:10 07:30 tool 06:40=wait out"}, []string{"stop 06:50-07:30: 06:50 wait!"}},
		{"end later: the last part grows", []string{"stop 06:10 08:00"}, []string{"stop 06:10 07:30 tool 06:40=wait"}, []string{"stop 06:10-08:00: 06:10 tool, 06:40 wait"}},
		{"end before the last part", []string{"stop 06:10 06:30"}, []string{"stop 06:10 07:30 tool 06:40=wait"}, []string{"stop 06:10-06:30: 06:10 tool"}},
		{"cut in two: both keep the cause", []string{"stop 06:10 06:30", "stop 06:35 07:30"}, []string{"stop 06:10 07:30 tool"}, []string{"stop 06:10-06:30: 06:10 tool", "stop 06:35-07:30: 06:35 tool"}},
		{"until something is said of the second by name", []string{"stop 06:10 06:30", "stop 06:35 07:30"}, []string{"stop 06:10 07:30 tool @1", "stop 06:35 07:30 wait @2"}, []string{"stop 06:10-06:30: 06:10 tool", "stop 06:35-07:30: 06:35 wait"}},
		{"two became one: each says its own time, the first the rest", []string{"stop 06:10 08:00"}, []string{"stop 06:10 06:30 tool @1", "stop 07:00 07:30 wait @2"}, []string{"stop 06:10-08:00: 06:10 tool, 07:00 wait, 07:30 tool"}},
		{"whichever spoke first", []string{"stop 06:10 08:00"}, []string{"stop 06:10 06:30 tool @2", "stop 07:00 07:30 wait @1"}, []string{"stop 06:10-08:00: 06:10 tool, 07:00 wait, 07:30 tool"}},
		{"a later word on the one counts for all of it", []string{"stop 06:10 08:00"}, []string{"stop 06:10 08:00 tool @2", "stop 07:00 07:30 wait @1"}, []string{"stop 06:10-08:00: 06:10 tool"}},
		{"what was excluded of it stays so", []string{"stop 06:10 08:00"}, []string{"stop 06:10 06:30 tool @1", "stop 07:00 07:30 out"}, []string{"stop 06:10-08:00: 06:10 tool, 07:00 tool!, 07:30 tool"}},
		{"none by name: the nearest start", []string{"stop 06:20 08:00"}, []string{"stop 06:00 06:30 a @1", "stop 06:25 07:30 b @1"}, []string{"stop 06:20-08:00: 06:20 a, 06:25 b"}},
		{"of two as near the earlier", []string{"stop 06:20 08:00"}, []string{"stop 06:30 06:40 b @1", "stop 06:10 06:30 a @1"}, []string{"stop 06:20-08:00: 06:20 a, 06:30 b, 06:40 a"}},
		{"gone", []string{"stop 08:00 09:00"}, []string{"stop 06:10 07:30 tool"}, []string{"stop 08:00-09:00: 08:00 ?", "orphan stop 06:10"}},
		{"to touch is not to overlap", []string{"stop 07:30 09:00"}, []string{"stop 06:10 07:30 tool"}, []string{"stop 07:30-09:00: 07:30 ?", "orphan stop 06:10"}},
		{"but a moment is some time", []string{"stop 06:00 09:00"}, []string{"stop 06:10 06:10 tool"}, []string{"stop 06:00-09:00: 06:00 tool"}},
		{"and a name is a name, however short the stop", []string{"manual 06:10 06:10"}, []string{"manual 06:10 06:10 tool"}, []string{"manual 06:10-06:10: 06:10 tool"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			of, orphans := Follow(issues(t, tt.issues...), said(t, tt.said...))
			if diff := cmp.Diff(tt.want, text(of, orphans, clock(t, "12:00"))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestPartsAndFigures makes random issues and records. Parts cover their issue exactly, they show what package monitor
// makes of the segments, and neither depends on the order of the arguments or on the requested range.
func TestPartsAndFigures(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	causes := []string{"", "a", "b", "c"}
	for range 3000 {
		var xs []monitor.Issue
		for at := day + r.Int64N(20)*minute; len(xs) < 5; at += (1 + r.Int64N(20)) * minute {
			x := monitor.Issue{Type: monitor.IssueStop, Start: at, Cause: causes[r.IntN(3)]}
			at += (1 + r.Int64N(30)) * minute
			if x.End = at; len(xs) == 4 && r.IntN(2) == 0 {
				x.End = 0
			}
			xs = append(xs, x)
		}
		now := xs[4].Start + hour
		var list []*Record
		starts := map[int64]bool{}
		for range r.IntN(6) {
			s := &Record{Type: monitor.IssueStop, Start: day + r.Int64N(200)*minute, CausedAt: r.Int64N(1000), Excluded: r.IntN(4) == 0}
			if r.IntN(2) == 0 {
				s.Start = xs[r.IntN(5)].Start
			}
			if starts[s.Start] {
				continue // only one record per start
			}
			starts[s.Start] = true
			s.Until = s.Start + r.Int64N(60)*minute
			for at := s.Start; r.IntN(3) > 0; at += (1 + r.Int64N(20)) * minute {
				s.Cuts = append(s.Cuts, Cut{At: at, Cause: causes[r.IntN(4)]})
			}
			list = append(list, s)
		}
		of, orphans := Follow(xs, list)
		var segments []monitor.Segment
		var findings []monitor.Finding
		for i, o := range of {
			segments = append(segments, monitor.Segment{Start: o.Start, End: min(endOf(&o.Issue), now), Ctx: &monitor.Context{Plan: &monitor.Plan{InShift: true}}, Known: true, Stop: o.Start, Cause: o.Cause})
			findings = append(findings, o.Findings()...)
			// The result for an issue does not depend on the other issues in the call.
			alone, _ := Follow(xs[i:i+1], list)
			if diff := cmp.Diff(o.Parts(now), alone[0].Parts(now)); diff != "" {
				t.Fatalf("alone: %s", diff)
			}
			for _, orphan := range orphans {
				if related(&o.Issue, orphan) {
					t.Fatalf("%s is about %s and called an orphan", hhmm(orphan.Start), hhmm(o.Start))
				}
			}
		}
		type piece struct {
			start, end int64
			cause      string
			out        bool
		}
		join := func(list []piece) (out []piece) {
			for _, p := range list {
				if n := len(out); n > 0 && out[n-1].end == p.start && out[n-1].cause == p.cause && out[n-1].out == p.out {
					out[n-1].end = p.end
					continue
				}
				out = append(out, p)
			}
			return out
		}
		var shown, explained []piece
		for _, o := range of {
			sum := int64(0)
			for _, p := range o.Parts(now) {
				shown = append(shown, piece{p.Start, p.End, p.Cause, p.Excluded})
				sum += p.End - p.Start
			}
			if sum != min(endOf(&o.Issue), now)-o.Start {
				t.Fatalf("the parts of %s have %d ms", hhmm(o.Start), sum)
			}
		}
		for _, g := range monitor.Explain(segments, findings) {
			explained = append(explained, piece{g.Start, g.End, g.Cause, g.Excluded})
		}
		if diff := cmp.Diff(join(explained), join(shown), cmp.AllowUnexported(piece{})); diff != "" {
			t.Fatalf("issues %v\nshown otherwise than it is counted: %s", xs, diff)
		}
		slices.Reverse(list)
		again, _ := Follow(xs, list)
		for i := range again {
			if diff := cmp.Diff(of[i].Parts(now), again[i].Parts(now)); diff != "" && distinct(list) {
				t.Fatalf("in another order: %s", diff)
			}
		}
	}
}

// distinct reports whether all records have different times of entry.
func distinct(list []*Record) bool {
	seen := map[int64]bool{}
	for _, r := range list {
		if seen[r.CausedAt] {
			return false
		}
		seen[r.CausedAt] = true
	}
	return true
}

func TestID(t *testing.T) {
	id := ID("PACK-1", monitor.IssueStop, 1767600000000)
	if id != "PACK-1.stop-1767600000000" {
		t.Errorf("the id is %s", id)
	}
	if station, typ, start, ok := ParseID(id); station != "PACK-1" || typ != monitor.IssueStop || start != 1767600000000 || !ok {
		t.Errorf("%s is read as %s %s %d %t", id, station, typ, start, ok)
	}
	for _, bad := range []string{"", ".", "-", "A", "A.", "A.stop", "A.stop-", ".stop-1", "A.stop-x", "A.stop-01", "A.stop-+1", "A.stop--1", "A.stop-0", "A.jam-1", "A.STOP-1", "A.stop-1 ", "A.stop-9007199254740993", "A.stop-99999999999999999999"} {
		if _, _, _, ok := ParseID(bad); ok {
			t.Errorf("%q is taken for an id", bad)
		}
	}
}

func FuzzParseID(f *testing.F) {
	f.Add("PACK-1.stop-1767600000000")
	f.Add("a_b.manual-1")
	f.Fuzz(func(t *testing.T, id string) {
		if station, typ, start, ok := ParseID(id); ok && ID(station, typ, start) != id {
			t.Errorf("%q is read as %s", id, ID(station, typ, start))
		}
	})
}
