package monitor_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/monitor"
)

// TestExplain names and splits the stop from 06:10 to 07:30, whose machine said "jam", and the manual downtime after it.
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
