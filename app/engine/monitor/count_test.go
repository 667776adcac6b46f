package monitor_test

import (
	"fmt"
	"strings"
	"testing"

	"opsmon/app/engine/monitor"
)

// TestCounts has a row for every rule about what counts and where. The view is at 08:00.
func TestCounts(t *testing.T) {
	type change = func(*monitor.Config)
	minimum := func(c *monitor.Config) { c.MinimumCycle = 10 * second }
	for _, tt := range []struct {
		name   string
		config []change
		script []string
		want   string
	}{
		{"completed cycles", nil, []string{"06:00 start S sku=A", "06:01 good 1", "06:02 good 2.5", "06:03 bad 1"}, "S A 3.5 good 1 bad"},
		{"a running counter's first value is the baseline", nil, []string{"06:00 start S sku=A", "06:01 count 1000", "06:02 count 1003", "06:03 count 1003"}, "S A 3 good"},
		{"a lower one is a reset", nil, []string{"06:00 start S sku=A", "06:01 count 1000", "06:02 count 1003", "06:03 count 2", "06:04 count 5"}, "S A 8 good"},
		{"bad ones count on their own", nil, []string{"06:00 start S sku=A", "06:01 countbad 10", "06:02 count 7", "06:02:01 countbad 12", "06:03 count 8"}, "S A 1 good 2 bad"},
		{"tenths add up", nil, []string{"06:00 start S sku=A quantity=1", "every 1m 06:01 06:11 good 0.1"}, "S A 1 good; quantity S 06:10"},
		{"parts of the SKU", nil, []string{"06:00 start S sku=B", "06:01 good 3"}, "S B 12 good"},
		{"parts of the schedule only where they may be edited", nil, []string{"06:00 start S sku=B parts=5", "06:01 good 3"}, "S B 12 good"},
		{"and there", []change{func(c *monitor.Config) { c.EditPartsPerCycle = true }}, []string{"06:00 start S sku=B parts=5", "06:01 good 3"}, "S B 15 good"},
		{"no schedule", nil, []string{"06:01 good 3", "06:02 start S sku=A", "06:03 good 4"}, "UNKNOWN 3 good, S A 4 good"},
		{"a schedule entered over it gets what was unknown", nil, []string{"06:00 start S sku=A", "06:01 good 3", "06:03 good 4"}, "S A 7 good"},
		{"out of shift units count too", []change{pattern(t, "Early 06:00 1h")}, []string{"06:00 start S sku=A", "06:30 good 3", "07:30 good 4"}, "S A 7 good"},
		{"while paused they are not the schedule's", nil, []string{"06:00 start S sku=A", "06:10 start N non=clean", "06:11 good 3", "06:12 end N", "06:13 good 4"}, "UNKNOWN 3 good, S A 4 good"},
		{"at the minimum cycle time a signal counts", []change{minimum}, []string{"06:00 start S sku=A", "06:01 good 1", "06:01:10 good 1"}, "S A 2 good"},
		{"just under it does not, whatever number it carries", []change{minimum}, []string{"06:00 start S sku=A", "06:01 good 1", "06:01:09.999 good 50"}, "S A 1 good"},
		{"it runs from the last one counted, good or bad", []change{minimum}, []string{"06:00 start S sku=A", "06:01 bad 1", "06:01:06 good 1", "06:01:10 good 1"}, "S A 1 good 1 bad"},
		{"the SKU's comes first, 0 too", []change{minimum, func(c *monitor.Config) { c.SKUs.(monitor.SKUs)["A"] = monitor.SKU{MinimumCycle: new(int64)} }}, []string{"06:00 start S sku=A", "06:01 good 1", "06:01:01 good 1"}, "S A 2 good"},
		{"counters are not filtered", []change{minimum}, []string{"06:00 start S sku=A", "06:01 count 1", "06:01:01 count 2", "06:01:02 count 3"}, "S A 2 good"},
		{"nothing counts in manual downtime, counters included", nil, []string{"06:00 start S sku=A", "06:01 count 10", "06:02 manual on", "06:03 count 15", "06:04 good 1", "06:05 entry good=7", "06:06 manual off", "06:07 count 17"}, "S A 2 good; unapplied  of S 7/0"},
		{"speed x ratio: 60 a minute for 90 s, then 30 for 60 s", []change{func(c *monitor.Config) { c.SpeedToProductionRatio = 0.5 }},
			[]string{"06:00 start S sku=A", "06:00:30 speed 120", "06:02 speed 60", "06:03 speed 0"}, "S A 120 good"},
		{"speed is the one source where a ratio is set", []change{func(c *monitor.Config) { c.SpeedToProductionRatio = 1 }},
			[]string{"06:00 start S sku=A", "06:00 good 7", "06:01 speed 10", "06:02 speed 0", "06:03 entry good=5 bad=2"}, "S A 10 good 2 bad 12 other"},
		{"two schedules in a minute of speed", []change{func(c *monitor.Config) { c.SpeedToProductionRatio = 1 }},
			[]string{"06:00 start S sku=A", "06:00 speed 60", "06:00:45 end S", "06:00:45 start T sku=B", "06:01 speed 0"}, "S A 45 good, T B 15 good"},
		{"two schedules in a minute", nil, []string{"06:00 start S sku=A", "06:00:10 good 2", "06:00:30 end S", "06:00:30 start T sku=B", "06:00:30 good 1"}, "S A 2 good, T B 4 good"},
		{"machine first, then what an operator enters is shown", nil, []string{"06:00 start S sku=A", "06:01 good 2", "06:02 entry good=5 bad=1"}, "S A 2 good 1 bad 5 other"},
		{"operator first, then what the machine counts is shown", nil, []string{"06:00 start S sku=A", "06:01 entry good=5", "06:02 good 2", "06:03 bad 1"}, "S A 5 good 1 bad 2 other"},
		{"the next schedule has its own source", nil, []string{"06:00 start S sku=A", "06:01 entry good=5", "06:02 end S", "06:02 start T sku=A", "06:03 good 2"}, "S A 5 good, T A 2 good"},
		{"a rejection moves good to bad and is no source", nil, []string{"06:00 start S sku=A", "06:01 entry reject=0", "06:02 good 5", "06:03 entry reject=2"}, "S A 3 good 2 bad"},
		{"a correction adds and is no source", nil, []string{"06:00 start S sku=A", "06:01 entry correction good=3", "06:02 good 5", "06:03 entry correction good=-1 bad=1"}, "S A 7 good 1 bad"},
		{"a correction takes away what was entered", nil, []string{"06:00 start S sku=A", "06:01 entry good=5 bad=2", "06:02 entry correction good=-5 bad=-2"}, "S A 0 good"},
		{"a reject of more than there is moves what there is", nil, []string{"06:00 start S sku=A", "06:01 good 2", "06:02 entry id=e reject=5", "06:03 good 7"}, "S A 7 good 2 bad; unapplied e of S -3/3"},
		{"a delta takes away what there is", nil, []string{"06:00 start S sku=A", "06:01 good 2", "06:01 bad 1", "06:02 entry id=e correction good=-5 bad=-3", "06:03 good 7"}, "S A 7 good; unapplied e of S -3/-2"},
		{"a delta comes before the move", nil, []string{"06:00 start S sku=A", "06:01 good 4", "06:02 entry id=e correction good=-3 reject=2"}, "S A 0 good 1 bad; unapplied e of S -1/1"},
		{"a reject pays for a delta of bad ones", nil, []string{"06:00 start S sku=A", "06:01 good 4", "06:02 entry correction bad=-2 reject=2"}, "S A 2 good"},
		{"the units of earlier minutes can be rejected", nil, []string{"06:00 start S sku=A", "06:01 good 4", "06:10 entry reject=3"}, "S A 1 good 3 bad"},
		{"what is entered in manual downtime is shown", nil, []string{"06:00 start S sku=A", "06:01 manual on", "06:02 entry id=e good=4 bad=1 reject=1"}, "; unapplied e of S 3/2"},
		{"and past the maximum", []change{func(c *monitor.Config) { c.MaxUnits = 10 }}, []string{"06:00 start S sku=A", "06:02 entry id=e good=14"}, "S A 10 good; maximum S 06:02; unapplied e of S 4/0"},
		{"an entry counts for its own schedule alone", nil, []string{"06:00 start S sku=A", "06:01 entry good=4 for=S", "06:02 start N non=clean", "06:03 entry id=e good=2 for=S"}, "S A 4 good; unapplied e of S 2/0"},
		{"past the maximum recording stops", []change{func(c *monitor.Config) { c.MaxUnits = 10 }}, []string{"06:00 start S sku=A", "06:01 good 6", "06:02 bad 2", "06:03 good 5", "06:04 good 5", "06:05 end S", "06:06 good 1"},
			"S A 8 good 2 bad, UNKNOWN 1 good; maximum S 06:03"},
		{"quantity reached in the middle of a minute, and its unit belongs to it", nil,
			[]string{"06:00 start S sku=A quantity=10", "06:01:10 good 9", "06:01:20 good 1", "06:01:20 complete S", "06:01:21 start T sku=A", "06:01:30 good 1"}, "S A 10 good, T A 1 good; quantity S 06:01:20"},
		{"quantity raised while it runs", nil, []string{"06:00 start S sku=A quantity=2", "06:01 change S sku=A quantity=5", "06:02 good 4", "06:03 good 1"}, "S A 5 good; quantity S 06:03"},
		{"quantity raised after it was reached is reached again", nil, []string{"06:00 start S sku=A quantity=2", "06:01 good 3", "06:02 change S sku=A quantity=5", "06:03 good 2"}, "S A 5 good; quantity S 06:01; quantity S 06:03"},
		{"quantity lowered to what is there is reached then", nil, []string{"06:00 start S sku=A quantity=9", "06:01 good 3", "06:02 change S sku=A quantity=3"}, "S A 3 good; quantity S 06:02"},
		{"another change does not reach it again", nil, []string{"06:00 start S sku=A quantity=2", "06:01 good 3", "06:02 change S sku=A quantity=2", "06:03 good 1"}, "S A 4 good; quantity S 06:01"},
		{"by an operator's entry", nil, []string{"06:00 start S sku=A quantity=2", "06:02 entry good=2"}, "S A 2 good; quantity S 06:02"},
		{"a start ends the one that runs", nil, []string{"06:00 start S sku=A", "06:02 start T sku=A", "06:03 good 1", "06:04 end S", "06:05 good 1"}, "T A 2 good"},
		{"meter-only stations count nothing", []change{func(c *monitor.Config) { c.MeterOnly = true }}, []string{"06:00 start S sku=A", "06:02 good 1", "06:03 kwh 1"}, ""},
		{"scheduling-only stations count what operators enter", []change{func(c *monitor.Config) { c.SchedulingOnly = true }}, []string{"06:00 start S sku=A", "06:02 good 1", "06:03 entry good=4"}, "S A 4 good"},
		{"gigantic numbers do not run over", nil, []string{"06:00 start S sku=A", "06:01 good 1e300", "06:02 good 1e300"}, "S A 2000000000 good"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := run(t, config(tt.config...), clock(t, "06:00"), clock(t, "08:00"), script(t, append(tt.script, "alive 06:00 08:00")...))
			got := counts(v.Minutes)
			for _, e := range v.Events {
				if e.Kind != monitor.EventCounterReset {
					got += fmt.Sprintf("; %s %s %s", [...]string{"", "quantity", "maximum"}[e.Kind], e.Schedule, show(e.At))
				}
			}
			for _, m := range v.Minutes {
				for _, u := range m.Unapplied {
					got += fmt.Sprintf("; unapplied %s of %s %s/%s", u.Entry, u.Schedule, units(u.Good), units(u.Bad))
				}
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestEnergy has a row for every source of energy: kWh by minute, and the time that they cover.
func TestEnergy(t *testing.T) {
	for _, tt := range []struct {
		name   string
		script []string
		want   string
	}{
		{"differences of the meter", []string{"06:00 kwh 100", "06:01 kwh 100.25", "06:02 kwh 101"}, "06:01 0.25 of 60s, 06:02 0.75 of 60s"},
		{"a meter that was reset", []string{"06:00 kwh 100", "06:01 kwh 0.5", "06:02 kwh 1"}, "06:01 0.5 of 60s, 06:02 0.5 of 60s"},
		{"intervals", []string{"06:00 interval 0.1", "06:00:30 interval 0.2", "06:01 interval 0.4"}, "06:00 0.3 of 30s, 06:01 0.4 of 30s"},
		{"power over time: 60 kW for 90 s, 0 after", []string{"06:00:30 kw 60", "06:02 kw 0"}, "06:00 0.5 of 30s, 06:01 1 of 60s"},
		{"power until the last sign of life", []string{"06:00 kw 60", "06:02 rssi -50"}, "06:00 1 of 60s, 06:01 1 of 60s"},
		{"a meter is better than power", []string{"06:00 kw 60", "06:01 kwh 7", "06:02 kwh 7.5", "06:03 kw 30"}, "06:00 1 of 60s, 06:02 0.5 of 60s"},
		{"and than intervals", []string{"06:00 interval 1", "06:01 kwh 7", "06:01:30 interval 2", "06:02 kwh 7.5"}, "06:00 1 of 0s, 06:02 0.5 of 60s"},
		{"a machine that is off uses nothing, which is known", []string{"06:00 kw 0", "06:02 rssi -50"}, "06:00 0 of 60s, 06:01 0 of 60s"},
		{"so does a meter that stands still", []string{"06:00 kwh 5", "06:01 kwh 5"}, "06:01 0 of 60s"},
		{"a difference is of all the time since the reading before", []string{"06:00 kwh 1", "06:20 kwh 3"}, "06:20 2 of 1200s"},
		{"nothing electrical is sent: nothing is known", []string{"06:00 good 1", "06:01 speed 80", "06:03 good 1"}, ""},
		{"one reading tells nothing", []string{"06:00 kwh 9"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := run(t, config(), clock(t, "06:00"), clock(t, "08:00"), script(t, tt.script...))
			var got []string
			for _, w := range monitor.Windows(v.Segments, v.Minutes) {
				if w.KWh != 0 || w.KWhMs != 0 {
					got = append(got, fmt.Sprintf("%s %s of %ds", show(w.Start), units(w.KWh), w.KWhMs/1000))
				}
			}
			if s := strings.Join(got, ", "); s != tt.want {
				t.Errorf("got  %s\nwant %s", s, tt.want)
			}
		})
	}
}

// TestNeverNegative adds up the counts of each schedule minute by minute, where operators reject and subtract more than
// there is and enter manual downtime over counted time. No total falls below zero, and the applied and unapplied parts
// of each entry add up to the entry.
func TestNeverNegative(t *testing.T) {
	short := 0
	for seed := range uint64(60) {
		p := generate(seed, 1)
		v := run(t, p.cfg, p.from, p.to, p.inputs)
		good, bad := map[string]int64{}, map[string]int64{}
		for _, m := range v.Minutes {
			for i := range m.Parts {
				q := &m.Parts[i]
				good[q.Ctx.Production] += q.Good
				bad[q.Ctx.Production] += q.Bad
				if id := q.Ctx.Production; good[id] < 0 || bad[id] < 0 {
					t.Fatalf("seed %d: at %s %q has %d good and %d bad", seed, show(m.Start), id, good[id], bad[id])
				}
			}
			short += len(m.Unapplied)
		}
		for _, r := range v.Running {
			if r.Good < 0 || r.Bad < 0 {
				t.Fatalf("seed %d: %s has %d good and %d bad", seed, r.ID, r.Good, r.Bad)
			}
		}
	}
	if short < 100 {
		t.Errorf("only %d entries were not applied in full: the plans try too little", short)
	}
}
