package issue

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"opsmon/app/engine/monitor"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
)

// may accepts the reasons "jam", "tool" and "wait" as causes of a stop.
func may(code string) string {
	if strings.Contains(" jam tool wait ", " "+code+" ") {
		return ""
	}
	return fmt.Sprintf("must be a reason; it is %q", code)
}

func parts(t testing.TB, list ...string) []PartInput {
	t.Helper()
	var out []PartInput
	for _, item := range list {
		from, cause, _ := strings.Cut(item, "=")
		var p PartInput
		if from != "" {
			at := instant.Of(time.UnixMilli(clock(t, from)))
			p.StartAt = &at
		}
		if cause != "" {
			p.Cause = &cause
		}
		out = append(out, p)
	}
	return out
}

// TestEntries has a row for each rule about entries on a stop from 06:10 to 07:30, or on one in progress since 06:10.
// It is 08:00. The wanted line is the stop as formatted by text, or the error.
func TestEntries(t *testing.T) {
	type step = func(r *Record, o *Of, s Author) error
	cause := func(code, part string) step {
		return func(r *Record, o *Of, s Author) error { return r.cause(s, o.Others, may, code, clock(t, part), "") }
	}
	split := func(list ...string) step {
		return func(r *Record, o *Of, s Author) error { return r.split(s, may, parts(t, list...), "") }
	}
	estimate := func(end string) step {
		return func(r *Record, o *Of, s Author) error { return r.estimate(s, o, clock(t, end), "") }
	}
	exclude := func(out bool, note string) step {
		return func(r *Record, o *Of, s Author) error { return r.exclude(s, o.Others, out, note) }
	}
	seen := func(r *Record, o *Of, s Author) error { return r.acknowledge(s, "") }
	escalate := func(level int) step {
		return func(r *Record, o *Of, s Author) error { return r.escalate(s, level, "call the fitter") }
	}
	late := func(fn step) step { // entered half an hour before it is received
		return func(r *Record, o *Of, s Author) error {
			s.At -= 30 * minute
			return fn(r, o, s)
		}
	}
	closed, open := []string{"stop 06:10 07:30 jam"}, []string{"stop 06:10 -"}
	for _, tt := range []struct {
		name   string
		issues []string
		before []string
		steps  []step
		want   string
	}{
		{"a cause", closed, nil, []step{cause("tool", "")}, "stop 06:10-07:30: 06:10 tool"},
		{"of one that goes on", open, nil, []step{cause("tool", "")}, "stop 06:10-…: 06:10 tool"},
		{"another one instead", closed, nil, []step{cause("tool", ""), cause("wait", "")}, "stop 06:10-07:30: 06:10 wait"},
		{"taken back: the machine's again", closed, nil, []step{cause("tool", ""), cause("", "")}, "stop 06:10-07:30: 06:10 jam*"},
		{"no reason of the station", closed, nil, []step{cause("heading", "")}, `the cause has a problem: causeCode must be a reason; it is "heading"`},
		{"split in three", closed, nil, []step{split("=tool", "06:40=wait", "07:00")}, "stop 06:10-07:30: 06:10 tool, 06:40 wait, 07:00 jam*"},
		{"the first part's start may be told", closed, nil, []step{split("06:10=tool", "06:40=wait")}, "stop 06:10-07:30: 06:10 tool, 06:40 wait"},
		{"and named part by part", open, nil, []step{split("", "06:40"), cause("tool", "06:40")}, "stop 06:10-…: 06:10 ?, 06:40 tool"},
		{"of which the first", open, nil, []step{split("", "06:40"), cause("tool", "06:10")}, "stop 06:10-…: 06:10 tool, 06:40 ?"},
		{"a part's cause is taken back", open, nil, []step{split("=tool", "06:40=wait"), cause("", "06:40")}, "stop 06:10-…: 06:10 tool, 06:40 ?"},
		{"split again", closed, nil, []step{split("=tool", "06:40=wait"), split("=wait", "07:00=tool")}, "stop 06:10-07:30: 06:10 wait, 07:00 tool"},
		{"one cause after all", closed, nil, []step{split("=tool", "06:40=wait"), cause("wait", "")}, "stop 06:10-07:30: 06:10 wait"},
		{"no such part", closed, nil, []step{split("=tool", "06:40=wait"), cause("tool", "06:50")}, "the cause has a problem: partStartAt must be the start of a part of this stop; it is 2026-01-05T06:50:00.000Z"},
		{"one part is no split", closed, nil, []step{split("=tool")}, "parts must have 2 to 50 items; it has 1"},
		{"51 parts", closed, nil, []step{split(strings.Split(strings.Repeat("06:20,", 50)+"06:20", ",")...)}, "parts must have 2 to 50 items; it has 51"},
		{"a part from nowhere", closed, nil, []step{split("=tool", "=wait")}, "the split has a problem: parts[1].startAt must be given for every part but the first"},
		{"a first part that starts elsewhere", closed, nil, []step{split("06:11=tool", "06:40=wait")}, "the split has a problem: parts[0].startAt must be the start of the stop, 2026-01-05T06:10:00.000Z; it is 2026-01-05T06:11:00.000Z"},
		{"parts out of order", closed, nil, []step{split("=tool", "06:40=wait", "06:40=tool")}, "the split has a problem: parts[2].startAt must lie after the start of the part before it, 2026-01-05T06:40:00.000Z; it is 2026-01-05T06:40:00.000Z"},
		{"a part after the end", closed, nil, []step{split("=tool", "07:30=wait")}, "the split has a problem: parts[1].startAt must lie before the end of the stop, 2026-01-05T07:30:00.000Z; it is 2026-01-05T07:30:00.000Z"},
		{"a part in the future", open, nil, []step{split("=tool", "08:00=wait")}, "the split has a problem: parts[1].startAt must lie before the end of the stop, 2026-01-05T08:00:00.000Z; it is 2026-01-05T08:00:00.000Z"},
		{"all that is wrong at once", closed, nil, []step{split("=x", "06:00=y")}, "the split has 3 problems"},
		{"out of the figures", closed, nil, []step{exclude(true, "a visit")}, "stop 06:10-07:30: 06:10 jam*!"},
		{"and in again", closed, nil, []step{exclude(true, "a visit"), exclude(false, "")}, "stop 06:10-07:30: 06:10 jam*"},
		{"not without a word", closed, nil, []step{exclude(true, "")}, "note must say why the stop is taken out of the figures"},
		{"not twice", closed, nil, []step{exclude(true, "a visit"), exclude(true, "a visit")}, "this stop is out of the figures"},
		{"what is in is in", closed, nil, []step{exclude(false, "")}, "this stop is in the figures"},
		{"a slow period made units", []string{"slow 06:10 07:30"}, nil, []step{exclude(true, "a visit")}, "a slow period cannot be taken out of the figures: units were made in it"},
		{"acknowledged once", open, nil, []step{seen, seen}, "this stop was acknowledged by ABC at 2026-01-05T07:59:00.000Z"},
		{"an estimate", open, nil, []step{estimate("09:00")}, "stop 06:10-…: 06:10 ?; expected to end at 09:00"},
		{"taken back", open, nil, []step{estimate("09:00"), estimate("")}, "stop 06:10-…: 06:10 ?"},
		{"of what is over", closed, nil, []step{estimate("09:00")}, "this stop ended at 2026-01-05T07:30:00.000Z; nothing is left to estimate"},
		{"in the past", open, nil, []step{estimate("07:59")}, "expectedEndAt must lie after 2026-01-05T07:59:00.000Z; it is 2026-01-05T07:59:00.000Z"},
		{"in a year and more", open, nil, []step{func(r *Record, o *Of, s Author) error { return r.estimate(s, o, day+400*24*hour, "") }}, "expectedEndAt must lie within a year; it is 2027-02-09T00:00:00.000Z"},
		{"escalated", open, nil, []step{escalate(1), escalate(3)}, "stop 06:10-…: 06:10 ?; level 3: call the fitter"},
		{"too high", open, nil, []step{escalate(6)}, "level must be from 1 to 5; it is 6"},
		{"too low", open, nil, []step{escalate(0)}, "level must be from 1 to 5; it is 0"},

		{"an older cause changes nothing", closed, nil, []step{cause("tool", ""), late(cause("wait", ""))}, "stop 06:10-07:30: 06:10 tool"},
		{"of one moment the later heard counts", closed, nil, []step{late(cause("tool", "")), late(cause("wait", ""))}, "stop 06:10-07:30: 06:10 wait"},
		{"nor after the newer one was taken back", closed, nil, []step{cause("tool", ""), cause("", ""), late(cause("wait", ""))}, "stop 06:10-07:30: 06:10 jam*"},
		{"an older taking back changes nothing", closed, nil, []step{cause("tool", ""), late(cause("", ""))}, "stop 06:10-07:30: 06:10 tool"},
		{"an older cause of another part holds", open, nil, []step{late(split("", "06:40")), cause("tool", "06:40"), late(cause("jam", "06:10"))}, "stop 06:10-…: 06:10 jam, 06:40 tool"},
		{"of the whole too, but for the newer part", open, nil, []step{late(split("", "06:40")), cause("tool", "06:40"), late(cause("jam", ""))}, "stop 06:10-…: 06:10 jam, 06:40 tool"},
		{"an older split changes nothing", closed, nil, []step{cause("tool", ""), late(split("=wait", "06:40"))}, "stop 06:10-07:30: 06:10 tool"},
		{"an older estimate changes nothing", open, nil, []step{estimate("09:00"), late(estimate("10:00"))}, "stop 06:10-…: 06:10 ?; expected to end at 09:00"},
		{"nor when the newer one was taken back", open, nil, []step{estimate("09:00"), estimate(""), late(estimate("10:00"))}, "stop 06:10-…: 06:10 ?"},
		{"an older escalation changes nothing", open, nil, []step{escalate(3), late(escalate(1))}, "stop 06:10-…: 06:10 ?; level 3: call the fitter"},
		{"older than being put back: it stays in the figures", closed, nil, []step{exclude(true, "a visit"), exclude(false, ""), late(exclude(true, "a visit"))}, "stop 06:10-07:30: 06:10 jam*"},
		{"of one that began earlier since: what was said moves along", []string{"stop 06:00 07:30"}, []string{"stop 06:10 07:30 tool 06:40=wait @1"}, []step{cause("jam", "06:40")}, "stop 06:00-07:30: 06:00 tool, 06:40 jam"},
		{"of one that began later", []string{"stop 06:50 07:30"}, []string{"stop 06:10 07:30 tool 06:40=wait 07:00=jam @1"}, []step{cause("tool", "07:00")}, "stop 06:50-07:30: 06:50 wait, 07:00 tool"},
		{"of two that became one: the last word counts", []string{"stop 06:10 08:00"}, []string{"stop 06:10 06:30 tool @1", "stop 07:00 07:30 wait @2"}, []step{cause("jam", "")}, "stop 06:10-08:00: 06:10 jam"},
		{"and takes back all", []string{"stop 06:10 08:00"}, []string{"stop 06:10 06:30 tool @1", "stop 07:00 07:30 wait @2"}, []step{cause("", "")}, "stop 06:10-08:00: 06:10 ?"},
		{"or puts all back into the figures", []string{"stop 06:10 08:00"}, []string{"stop 06:10 06:30 tool @1", "stop 07:00 07:30 out @2"}, []step{exclude(false, "")}, "stop 06:10-08:00: 06:10 tool"},
		{"what was taken in is split anew", []string{"stop 06:10 08:00"}, []string{"stop 06:10 06:30 tool @1", "stop 07:00 07:30 wait @2"}, []step{split("=jam", "07:10=tool")}, "stop 06:10-08:00: 06:10 jam, 07:10 tool"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := clock(t, "08:00")
			of, _ := Follow(issues(t, tt.issues...), said(t, tt.before...))
			o := &of[0]
			var err error
			for _, step := range tt.steps {
				r := o.own(now)
				if err = step(r, o, Author{By: "a@b.example", Initials: "ABC", At: now - minute, Now: now}); err != nil {
					break
				}
				if n := len(r.Events); n == 0 || r.Events[n-1].By != "a@b.example" || r.Events[n-1].RecordedAt != now || r.Events[n-1].At > now-minute {
					t.Fatalf("the event is not there: %+v", r.Events)
				}
				o.Own = r
			}
			got := fmt.Sprint(err)
			if err == nil {
				if got = text(of, nil, now)[0]; o.Own.Estimate != nil {
					got += "; expected to end at " + hhmm(o.Own.Estimate.EndAt)
				}
				if e := o.Own.Escalation; e != nil {
					got += fmt.Sprintf("; level %d: %s", e.Level, e.Text)
				}
				if want := min(endOf(&o.Issue), now); o.Own.Start != o.Start || o.Own.Until != want {
					t.Errorf("it is said of %s to %s", hhmm(o.Own.Start), hhmm(o.Own.Until))
				}
				if sum := parted(o, now); sum != min(endOf(&o.Issue), now)-o.Start {
					t.Errorf("the parts have %d ms", sum)
				}
			} else if kind := errdefs.KindOf(err); kind != errdefs.Invalid && kind != errdefs.Conflict {
				t.Errorf("the kind of %q is %d", err, kind)
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func parted(o *Of, now int64) (sum int64) {
	for _, p := range o.Parts(now) {
		sum += p.End - p.Start
	}
	return sum
}

// TestEventsEnd checks the limit of events of an issue.
func TestEventsEnd(t *testing.T) {
	r := &Record{Type: monitor.IssueStop, Start: day}
	for i := range MaxEvents {
		if err := r.escalate(Author{By: "a"}, 1, ""); err != nil {
			t.Fatalf("event %d: %v", i, err)
		}
	}
	if err := r.escalate(Author{By: "a"}, 1, ""); errdefs.KindOf(err) != errdefs.Conflict {
		t.Errorf("event %d: %v", MaxEvents, err)
	}
	if len(r.Events) != MaxEvents {
		t.Errorf("%d events are kept", len(r.Events))
	}
}
