package monitor_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"opsmon/app/engine/monitor"
)

// TestExcluded excludes stops from the figures: classes and times stay, only the stop's known downtime is marked, and
// the machine's cause is kept.
func TestExcluded(t *testing.T) {
	v := run(t, config(pattern(t, "Early 06:00 2h"), func(c *monitor.Config) { c.UtilisationThreshold = 10 * minute }), clock(t, "06:00"), clock(t, "08:30"), script(t, "alive 06:00 07:40", "06:00 start S sku=A speed=100",
		"06:00 error jam", "06:20 productive on", "06:30 speed 20", "06:40 speed 100", "07:00 manual on mould", "alive 07:50 08:30"))
	far := int64(1) << 60
	out := func(typ monitor.IssueType, from string) monitor.Finding {
		return monitor.Finding{Type: typ, Issue: clock(t, from), Start: clock(t, from), End: far, Excluded: true}
	}
	for _, tt := range []struct {
		name     string
		findings []monitor.Finding
		excluded string
		line     string
	}{
		{"a stop, whole", []monitor.Finding{out(monitor.IssueStop, "06:00")}, "06:00-06:20(jam)", "06:00 downtime+(jam), 06:20 productive+, 06:30 slow+, 06:40 productive+, 07:00 downtime+(mould), 08:00 out, 08:30"},
		{"with a cause that people found", []monitor.Finding{out(monitor.IssueStop, "06:00"), {Type: monitor.IssueStop, Issue: clock(t, "06:00"), Start: clock(t, "06:05"), End: clock(t, "06:10"), Cause: "tool"}},
			"06:00-06:05(jam) 06:05-06:10(tool) 06:10-06:20(jam)", "06:00 downtime+(jam), 06:05 downtime+(tool), 06:10 downtime+(jam), 06:20 productive+, 06:30 slow+, 06:40 productive+, 07:00 downtime+(mould), 08:00 out, 08:30"},
		{"manual downtime, with data or without, in the shift", []monitor.Finding{out(monitor.IssueManual, "07:00")}, "07:00-07:39(mould) 07:39-07:50(mould) 07:50-08:00(mould)", "06:00 downtime+(jam), 06:20 productive+, 06:30 slow+, 06:40 productive+, 07:00 downtime+(mould), 08:00 out, 08:30"},
		{"a slow period is no stop", []monitor.Finding{out(monitor.IssueSlow, "06:30")}, "", "06:00 downtime+(jam), 06:20 productive+, 06:30 slow+, 06:40 productive+, 07:00 downtime+(mould), 08:00 out, 08:30"},
	} {
		got := monitor.Explain(v.Segments, tt.findings)
		var excluded []string
		for _, g := range got {
			if g.Excluded {
				excluded = append(excluded, show(g.Start)+"-"+show(g.End)+"("+g.Cause+")")
			}
		}
		if s := strings.Join(excluded, " "); s != tt.excluded {
			t.Errorf("%s: excluded %s, want %s", tt.name, s, tt.excluded)
		}
		if s := line(got); s != tt.line {
			t.Errorf("%s: got %s, want %s", tt.name, s, tt.line)
		}
		if diff := cmp.Diff(monitor.Windows(v.Segments, v.Minutes)[:60], monitor.Windows(got, v.Minutes)[:60], cmpopts.IgnoreFields(monitor.Window{}, "Reasons")); diff != "" {
			t.Errorf("%s: the windows differ: %s", tt.name, diff)
		}
	}
}

// TestExplain sets causes on the stop from 06:10 to 07:30, with "jam" by the machine, and the manual downtime after it,
// and splits them.
func TestExplain(t *testing.T) {
	v := run(t, config(), clock(t, "06:00"), clock(t, "08:00"), script(t, "alive 06:00 08:00", "06:00 start S sku=A speed=100", "06:00 productive on", "06:10 speed 20", "07:30 speed 100", "06:10 productive off", "06:20 error jam", "07:30 productive on", "07:40 manual on", "07:50 manual off"))
	stop, manual := clock(t, "06:10"), clock(t, "07:40")
	about := func(from, to, cause string) monitor.Finding {
		return monitor.Finding{Type: monitor.IssueStop, Issue: stop, Start: clock(t, from), End: clock(t, to), Cause: cause}
	}
	for _, tt := range []struct {
		name     string
		findings []monitor.Finding
		want     string
	}{
		{"nothing found", nil, "06:00 productive+, 06:10 downtime+(jam), 07:30 productive+, 07:40 downtime+, 07:50 productive+, 08:00"},
		{"the whole", []monitor.Finding{about("06:10", "07:30", "tool")}, "06:00 productive+, 06:10 downtime+(tool), 07:30 productive+, 07:40 downtime+, 07:50 productive+, 08:00"},
		{"split in two, the rest stays", []monitor.Finding{about("06:30", "07:00", "tool")}, "06:00 productive+, 06:10 downtime+(jam), 06:30 downtime+(tool), 07:00 downtime+(jam), 07:30 productive+, 07:40 downtime+, 07:50 productive+, 08:00"},
		{"of an overlap the last", []monitor.Finding{about("06:10", "07:30", "tool"), about("07:00", "09:00", "wait")}, "06:00 productive+, 06:10 downtime+(tool), 07:00 downtime+(wait), 07:30 productive+, 07:40 downtime+, 07:50 productive+, 08:00"},
		{"manual downtime", []monitor.Finding{{Type: monitor.IssueManual, Issue: manual, Start: manual, End: manual + hour, Cause: "mould"}}, "06:00 productive+, 06:10 downtime+(jam), 07:30 productive+, 07:40 downtime+(mould), 07:50 productive+, 08:00"},
		{"a slow period that a stop lies over", []monitor.Finding{{Type: monitor.IssueSlow, Issue: stop, Start: stop, End: stop + hour, Cause: "tool"}}, "06:00 productive+, 06:10 downtime+(jam), 07:30 productive+, 07:40 downtime+, 07:50 productive+, 08:00"},
		{"another issue", []monitor.Finding{{Type: monitor.IssueStop, Issue: stop + 1, Start: stop, End: stop + hour, Cause: "tool"}}, "06:00 productive+, 06:10 downtime+(jam), 07:30 productive+, 07:40 downtime+, 07:50 productive+, 08:00"},
	} {
		got := monitor.Explain(v.Segments, tt.findings)
		if diff := cmp.Diff(tt.want, line(got)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		sum := int64(0)
		for i, g := range got {
			if sum += g.End - g.Start; i > 0 && g.Start != got[i-1].End {
				t.Errorf("%s: a gap at %s", tt.name, show(g.Start))
			}
		}
		if sum != 2*hour {
			t.Errorf("%s: the parts have %d ms", tt.name, sum)
		}
	}
}
