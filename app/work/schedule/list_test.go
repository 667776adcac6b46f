package schedule_test

import (
	"strings"
	"testing"

	"opsmon/app/engine/calendar"
	"opsmon/app/work/schedule"
)

func span(from, to string) schedule.Filter {
	f := schedule.Filter{Limit: 100}
	for _, code := range []string{"PRESS", "PRESS-2", "PACK"} {
		f.Where = append(f.Where, schedule.Where{StationCode: code, Range: calendar.Range{Start: clock(from), End: clock(to)}})
	}
	return f
}

func everything() schedule.Filter { return span("-1 00:00", "+1 23:59") }

// Schedules are listed if they overlap the range, ordered by start.
func TestList(t *testing.T) {
	p := newPlant(t)
	name := map[string]string{}
	plan := func(what, start, end, station string) string {
		in := input(start)
		in.StationCode = given(station)
		if end != "" {
			in.PlannedEnd = given(*moment(end))
		}
		id := p.make(in).ID
		name[id] = what
		return id
	}
	a := plan("a", "08:00", "", "PRESS")
	b := plan("b", "09:00", "", "PRESS")
	c := plan("c", "12:00", "13:00", "PRESS")
	d := plan("d", "10:00", "", "PRESS-2")
	e := plan("e", "14:00", "", "PRESS")
	for what, times := range map[string][2]string{"f": {"08:00", "11:00"}, "g": {"09:30", "10:00"}} {
		p.must(nil, p.delete(plan(what, times[0], times[1], "PACK")))
	}
	p.must(p.start(a, schedule.StartInput{}))
	p.until("09:00")
	p.must(p.start(b, schedule.StartInput{EndRunning: true}))
	p.until("11:00")
	p.must(nil, p.delete(e))
	n := pause("10:30")
	pid := p.make(n).ID
	name[pid] = "n"
	p.must(p.start(pid, schedule.StartInput{At: moment("10:30")}))
	p.must(p.end(pid, "10:40"))
	_ = c
	_ = d
	for _, tt := range []struct {
		from, to string
		states   string
		want     string
	}{
		{"-1 00:00", "+1 23:00", "", "a b d n c"},
		{"08:30", "08:31", "", "a"},
		{"08:59", "09:00", "", "a"},
		{"08:59", "09:00:00.001", "", "a b"},
		{"09:00", "09:01", "", "b"},
		{"10:35", "10:36", "", "b n"},
		{"10:40", "10:41", "", "b"},
		{"12:30", "12:40", "", "c"},
		{"13:00", "15:00", "", ""},
		{"10:00", "10:01", "", "b d"},
		{"-1 00:00", "+1 23:00", "planned", "d c"},
		{"-1 00:00", "+1 23:00", "running", "b"},
		{"-1 00:00", "+1 23:00", "completed", "a n"},
		{"-1 00:00", "+1 23:00", "deleted", "f g e"},
		{"-1 00:00", "+1 23:00", "planned,running", "b d c"},
		{"-1 00:00", "+1 23:00", "completed,running", "a b n"},
		{"-1 00:00", "+1 23:00", "deleted,completed", "f a g n e"},
		{"10:50", "10:55", "deleted", "f"}, // another one, which began later, had ended by then
		{"-1 00:00", "07:00", "", ""},
	} {
		f := span(tt.from, tt.to)
		for state := range strings.SplitSeq(tt.states, ",") {
			if state != "" {
				f.States = append(f.States, schedule.State(state))
			}
		}
		views, total, err := p.s.List(account, f)
		p.must(nil, err)
		var got []string
		for _, v := range views {
			got = append(got, name[v.ID])
		}
		if strings.Join(got, " ") != tt.want || total != len(got) {
			t.Errorf("from %s to %s, states %q: %v of %d, want %s", tt.from, tt.to, tt.states, got, total, tt.want)
		}
	}
	f := everything()
	f.Limit, f.Skip = 2, 3
	views, total, err := p.s.List(account, f)
	if err != nil || total != 5 || len(views) != 2 || name[views[0].ID] != "n" || name[views[1].ID] != "c" {
		t.Errorf("a page of the list is %d of %d, %v", len(views), total, err)
	}
	f.Skip = 10
	if views, total, err := p.s.List(account, f); err != nil || total != 5 || len(views) != 0 {
		t.Errorf("beyond the end there are %d of %d, %v", len(views), total, err)
	}
	if row, head := p.get(a).CSV(), schedule.CSVHeader(); len(row) != len(head) || row[0] != a || row[10] != "2026-03-02T08:00:00.000Z" || row[15] != "0" {
		t.Errorf("as a row: %q", row)
	}
}
