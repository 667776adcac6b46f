package monitor_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/app/iso"
)

// windowText formats the fields of a window that are not zero.
func windowText(w monitor.Window) string {
	s := show(w.Start)
	for k, name := range []string{"", "+", "-"} {
		for c, class := range classNames {
			if ms := w.Times[k][c]; ms != 0 {
				s += fmt.Sprintf(" %s%s=%d", class, name, ms)
			}
		}
	}
	if w.Good != 0 || w.Bad != 0 {
		s += fmt.Sprintf(" good=%s bad=%s", units(w.Good), units(w.Bad))
	}
	if w.HasRate {
		s += fmt.Sprintf(" ideal=%.4g target=%.4g", w.Ideal, w.Target)
	}
	if w.HasSpeed {
		s += fmt.Sprintf(" speed=%.4g/%.4g", w.SpeedAvg, w.SpeedTarget)
	}
	if w.HasRSSI {
		s += fmt.Sprintf(" rssi=%.4g", w.RSSIAvg)
	}
	if w.DowntimeSince != 0 {
		s += " since=" + show(w.DowntimeSince)
	}
	s += fmt.Sprintf(" %v%v%v %s r%d", w.Schedules, w.Reasons, w.ErrorCodes, w.SKU, w.Revision)
	if !w.Alive {
		s += " dead"
	}
	return s
}

// TestWindows checks every field of windows calculated by hand from the rules.
func TestWindows(t *testing.T) {
	for _, tt := range []struct {
		name     string
		config   func(*monitor.Config)
		from, to string
		script   []string
		want     []string
	}{
		{"a shift's end, a schedule's start and productive time in a minute", pattern(t, "Early 06:00 30s", "Late 06:00:40 1h"), "06:00", "06:01",
			[]string{"06:00 rssi -60", "06:00 rssi -70", "06:00:10 start S sku=A", "06:00:20 productive on", "06:00:50 good 1", "06:01 rssi -60"},
			[]string{"06:00 out=10000 idle=10000 productive+=30000 idle+=10000 good=1 bad=0 ideal=0.6667 target=0.6667 rssi=-65 [S][][] A r1"}},
		{"more rejected and taken away than was made in the minute: the units are those of the first", nil, "06:00", "06:03",
			[]string{"06:00 start S sku=A", "06:00:10 good 9", "06:01:20 entry reject=2", "06:02:20 good 3", "06:02:30 entry correction good=-4", "alive 06:00 06:03"},
			[]string{
				"06:00 idle+=60000 good=9 bad=0 ideal=1 target=1 rssi=-60 [S][][] A r1",
				"06:01 idle+=60000 good=-2 bad=2 ideal=1 target=1 rssi=-60 [S][][] A r1",
				"06:02 idle+=60000 good=-1 bad=0 ideal=1 target=1 rssi=-60 [S][][] A r1",
			}},
		{"with the moment at which they were made they are taken there", nil, "06:00", "06:03",
			[]string{"06:00 start S sku=A", "06:00:10 good 9", "06:00:10 entry id=a reject=2", "06:02:20 good 3", "06:00:20 entry id=b correction good=-4", "alive 06:00 06:03"},
			[]string{
				"06:00 idle+=60000 good=3 bad=2 ideal=1 target=1 rssi=-60 [S][][] A r1",
				"06:01 idle+=60000 ideal=1 target=1 rssi=-60 [S][][] A r1",
				"06:02 idle+=60000 good=3 bad=0 ideal=1 target=1 rssi=-60 [S][][] A r1",
			}},
		{"two schedules: ideal by each one's rate", nil, "06:00", "06:01",
			[]string{"06:00 start S sku=A", "06:00:30 end S", "06:00:30 start T sku=B minute=10", "06:00 rssi -60", "06:01 rssi -60"},
			[]string{"06:00 idle+=60000 ideal=5.5 target=5.5 rssi=-60 [S T][][] B r1"}},
		{"a stop cut to minutes: target without it", func(c *monitor.Config) { c.UtilisationThreshold = 90 * second }, "06:00", "06:03",
			[]string{"06:00 start S sku=A", "06:00 productive on", "06:00:30 productive off", "06:01 error jam", "06:02:15 productive on", "06:03 rssi -60"},
			[]string{"06:00 downtime+=30000 productive+=30000 ideal=1 target=0.5 since=06:00:30 [S][jam][] A r1",
				"06:01 downtime+=60000 ideal=1 target=0 since=06:00:30 [S][jam][jam] A r1",
				"06:02 downtime+=15000 productive+=45000 ideal=1 target=0.75 since=06:00:30 [S][jam][] A r1"}},
		{"non-production has its reason, and nothing is due", nil, "06:00", "06:01",
			[]string{"06:00 start S sku=A", "06:00 start N non=clean", "06:00:15 end N", "06:00 rssi -60", "06:01 rssi -60"},
			[]string{"06:00 idle+=45000 idle-=15000 ideal=0.75 target=0.75 rssi=-60 [N S][clean][] A r1"}},
		{"no rate: nothing is known of what was due", nil, "06:00", "06:01", []string{"06:00 start S sku=N", "06:00 rssi -60", "06:01 rssi -60"},
			[]string{"06:00 idle+=60000 rssi=-60 [S][][] N r1"}},
		{"the station's rate where all shift time is planned", func(c *monitor.Config) { c.ForceShiftTime, c.UnitsPerHour = true, 120 }, "06:00", "06:01", []string{"06:00 rssi -60", "06:01 rssi -60"},
			[]string{"06:00 idle+=60000 ideal=2 target=2 rssi=-60 [][][] UNKNOWN r1"}},
		{"speed is averaged over the time it is known", nil, "06:00", "06:02", []string{"06:00 start S sku=A speed=40", "06:00:15 speed 30", "06:00:30 speed 45", "06:01:30 speed 0", "06:02 rssi -60"},
			[]string{"06:00 noData+=15000 idle+=45000 ideal=0.75 target=0.75 speed=40/40 [S][][] A r1", "06:01 idle+=60000 ideal=1 target=1 speed=22.5/40 [S][][] A r1"}},
		{"silence takes what was due away", nil, "06:00", "06:07", []string{"06:00 start S sku=A", "06:00 rssi -60", "06:01:30 rssi -60"},
			[]string{"06:00 idle+=60000 ideal=1 target=1 rssi=-60 [S][][] A r1", "06:01 noData+=30000 idle+=30000 ideal=0.5 target=0.5 rssi=-60 [S][][] A r1", "06:02 noData+=60000 ideal=0 target=0 [S][][] A r1 dead",
				"06:03 noData+=60000 ideal=0 target=0 [S][][] A r1 dead", "06:04 noData+=60000 ideal=0 target=0 [S][][] A r1 dead", "06:05 noData+=60000 ideal=0 target=0 [S][][] A r1 dead", "06:06 noData+=60000 ideal=0 target=0 [S][][] A r1 dead"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var changes []func(*monitor.Config)
			if tt.config != nil {
				changes = append(changes, tt.config)
			}
			v := run(t, config(changes...), clock(t, tt.from), clock(t, tt.to), script(t, tt.script...))
			var got []string
			for _, w := range monitor.Windows(v.Segments, v.Minutes) {
				got = append(got, windowText(w))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestManifestChange changes every setting that a revision can change in the middle of a shift.
func TestManifestChange(t *testing.T) {
	next := config(pattern(t, "Early 06:00 4h"), func(c *monitor.Config) {
		c.Revision, c.UtilisationThreshold, c.SpeedScale = 2, 10*minute, 2
		c.SKUs.(monitor.SKUs)["A"] = monitor.SKU{Rate: monitor.Rate{CycleTime: 30_000}, PartsPerCycle: 3}
	})
	inputs := script(t, "alive 08:00 11:00", "08:00 start S sku=A", "08:00 productive on", "08:01 good 1", "08:10 productive off", "08:20 speed 10", "08:31 good 1", "09:45 productive on")
	change := monitor.Input{At: clock(t, "08:30"), Kind: monitor.InputConfig, Config: next}
	for i := range inputs {
		if inputs[i].At >= change.At {
			inputs = append(inputs[:i:i], append([]monitor.Input{change}, inputs[i:]...)...)
			break
		}
	}
	v := run(t, config(pattern(t, "Early 06:00 8h")), clock(t, "08:00"), clock(t, "11:00"), inputs)
	// At 08:30 the stop of 08:10 is longer than the new threshold, and a unit ends it at 08:31.
	if got, want := line(v.Segments), "08:00 productive+, 08:10 downtime+, 09:45 productive+, 10:00 out, 11:00"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := counts(v.Minutes), "S A 4 good"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// 120 minutes of production, 95 of them stopped: 25. The due units without them are 10 at 1 a minute, and 15
	// minutes at 3 parts each 30 s.
	if got, want := figuresOf(next.Calendar, &v, clock(t, "08:00"), clock(t, "11:00"), oee.ProfileDefault), "A 25/120, P 4/100, Q 4/4, OEE 0.0083, coverage 120/120"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	w := monitor.Windows(v.Segments, v.Minutes)
	for at, want := range map[string]string{
		"08:29": "08:29 downtime+=60000 ideal=1 target=0 speed=10/0 rssi=-60 since=08:10 [S][][] A r1",
		"08:30": "08:30 downtime+=60000 ideal=6 target=0 speed=20/0 rssi=-60 since=08:10 [S][][] A r2",
		"08:31": "08:31 downtime+=60000 good=3 bad=0 ideal=6 target=0 speed=20/0 rssi=-60 since=08:31 [S][][] A r2",
	} {
		if got := windowText(w[(clock(t, at)-clock(t, "08:00"))/minute]); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestClockChanges has a night shift in both clock changes: 7 and 9 hours of a shift of 8.
func TestClockChanges(t *testing.T) {
	london, err := iso.Zone("Europe/London")
	if err != nil {
		t.Fatal(err)
	}
	night := func(c *monitor.Config) {
		c.Calendar = calendar.NewCalendar(calendar.CalendarConfig{Zone: london, DayStartHour: 6, Shifts: []calendar.Shift{{Name: "Night", Weekday: 6, Start: 22 * time.Hour, Length: 8 * time.Hour}}})
	}
	for _, tt := range []struct {
		date  time.Time // UTC midnight before the change
		hours int64
	}{
		{time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC), 7},
		{time.Date(2026, 10, 25, 0, 0, 0, 0, time.UTC), 9},
		{time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), 8},
	} {
		from := tt.date.UnixMilli() - 12*hour
		s := monitor.New(config(night), from)
		for _, in := range []monitor.Input{
			{At: from, Kind: monitor.InputScheduleStart, Schedule: monitor.Schedule{ID: "S", SKU: "A"}},
			{At: from, Kind: monitor.InputLink, Source: "d", Up: true},
			{At: from, Kind: monitor.InputSignal, Signal: monitor.Signal{Has: monitor.HasProductive, Productive: true}},
		} {
			if err := s.Apply(&in); err != nil {
				t.Fatal(err)
			}
		}
		v := s.View(from + 24*hour)
		var times monitor.Times
		var ideal float64
		for _, w := range monitor.Windows(v.Segments, v.Minutes) {
			times.Add(&w.Times)
			ideal += w.Ideal
		}
		if got := times[monitor.Production][monitor.Productive]; got != tt.hours*hour || times.Total() != 24*hour || int64(ideal+0.5) != tt.hours*60 {
			t.Errorf("%s: %d ms productive, %d in all, %v due; want %d hours, 24 and as many minutes", tt.date.Format(time.DateOnly), got, times.Total(), ideal, tt.hours)
		}
	}
}

// TestIssues lists whole stops for any requested range, including open ones at the end.
func TestIssues(t *testing.T) {
	v := run(t, config(func(c *monitor.Config) { c.UtilisationThreshold = 10 * minute }), clock(t, "06:00"), clock(t, "09:00"), script(t, "alive 06:00 09:00",
		"06:00 start S sku=A speed=100", "06:10 error jam", "06:30 productive on", "06:31 speed 50", "06:40 speed 100", "07:00 manual on mould", "07:30 manual off", "07:35 productive off", "08:30 error E1"))
	var got []string
	for _, i := range append(v.Issues, v.Open...) {
		end := "now"
		if i.End != 0 {
			end = show(i.End)
		}
		got = append(got, fmt.Sprint(i.Type, " ", show(i.Start), " ", end, " ", i.Cause, " ", i.Production))
	}
	if diff := cmp.Diff([]string{"stop 06:00 06:30 jam S", "slow 06:31 06:40  S", "manual 07:00 07:30 mould S", "stop 07:35 now  S"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestStatus(t *testing.T) {
	inputs := script(t, "05:00 link up", "05:10 productive on", "05:20 productive off", "06:10 start S sku=A", "06:20 productive on", "06:30 speed 10", "06:40 speed 100", "06:45 productive off", "08:10 start N non=clean", "08:20 end N", "08:30 manual on", "08:40 manual off", "09:00 end S", "09:10 link down", "09:30 link up")
	cfg := config(pattern(t, "Early 06:00 8h"), func(c *monitor.Config) { c.LineSpeedTarget = 100 })
	for at, want := range map[string]string{
		"04:59": "disconnected 04:00", "05:05": "outOfShift 05:00", "05:15": "productive 05:10", "05:25": "outOfShift 05:20", "06:05": "unscheduled 06:00", "06:15": "idle 06:10",
		"06:25": "productive 06:20", "06:30:59": "productive 06:20", "06:31": "slow 06:30", "06:41": "productive 06:40", "07:44": "idle 06:45", "07:45": "downtime 06:45",
		"08:15": "nonProduction 08:10", "08:25": "idle 08:20", "08:35": "manualDowntime 08:30", "08:45": "idle 08:40", "09:05": "unscheduled 09:00", "09:14": "unscheduled 09:00", "09:15": "disconnected 09:10", "09:35": "unscheduled 09:30", "14:00": "outOfShift 14:00",
	} {
		to, n := clock(t, at), 0
		for n < len(inputs) && inputs[n].At <= to {
			n++
		}
		v := run(t, cfg, clock(t, "04:00"), to, inputs[:n])
		if got := fmt.Sprint(v.Status, " ", show(v.Since)); got != want {
			t.Errorf("%s: %s, want %s", at, got, want)
		}
	}
}

// TestLateBatch has a radio without a connection for 80 minutes that then sends its buffer: the minutes are
// recalculated from a checkpoint.
func TestLateBatch(t *testing.T) {
	s := monitor.New(config(), clock(t, "06:00"))
	feed := func(s *monitor.State, inputs []monitor.Input) {
		t.Helper()
		for i := range inputs {
			if err := s.Apply(&inputs[i]); err != nil {
				t.Fatalf("at %s: %v", show(inputs[i].At), err)
			}
		}
	}
	feed(s, script(t, "06:00 start S sku=A", "alive 06:00 06:31", "06:10 productive on"))
	checkpoint := s.Clone()
	after := script(t, "alive 07:50 08:00")
	feed(s, after)
	before := s.View(clock(t, "08:00"))
	if got, want := line(before.Segments), "06:00 idle+, 06:10 productive+, 06:30 noData+, 07:50 productive+, 08:00"; got != want {
		t.Errorf("without the batch\ngot  %s\nwant %s", got, want)
	}
	figures := func(v monitor.View) string {
		return figuresOf(config().Calendar, &v, clock(t, "06:00"), clock(t, "08:00"), oee.ProfileDefault)
	}
	minuteOf := func(v monitor.View) string {
		return windowText(monitor.Windows(v.Segments, v.Minutes)[72])
	}
	// 40 of 120 minutes are known, without a unit.
	if got, want := figures(before), "A 40/40, P 0/40, Q 0/0?, coverage 40/120"; got != want {
		t.Errorf("without the batch\ngot  %s\nwant %s", got, want)
	}
	if got, want := minuteOf(before), "07:12 noData+=60000 ideal=0 target=0 [S][][] A r1 dead"; got != want {
		t.Errorf("without the batch\ngot  %s\nwant %s", got, want)
	}
	batch := script(t, "every 2m 06:32 07:50 good 2", "07:01 productive off", "07:21 productive on")
	if err := s.Apply(&batch[0]); err != monitor.ErrLate {
		t.Fatalf("the late signal: %v, want ErrLate", err)
	}
	feed(checkpoint, batch)
	feed(checkpoint, after)
	v := checkpoint.View(clock(t, "08:00"))
	if got, want := line(v.Segments), "06:00 idle+, 06:10 productive+, 07:01 idle+, 07:21 productive+, 08:00"; got != want {
		t.Errorf("with the batch\ngot  %s\nwant %s", got, want)
	}
	if got, want := counts(v.Minutes), "S A 78 good"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := figures(v), "A 120/120, P 78/120, Q 78/78, OEE 0.6500, coverage 120/120"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := minuteOf(v), "07:12 idle+=60000 good=2 bad=0 ideal=1 target=1 [S][][] A r1"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
