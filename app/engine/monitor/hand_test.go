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

// figuresText formats the ratios of a profile as fractions: times in minutes, counts in units, "?" for an unknown
// ratio.
func figuresText(f oee.Figures, p oee.Profile) string {
	one := func(name string, r oee.Ratio, unit float64) string {
		s := fmt.Sprintf("%s %.6g/%.6g", name, r.Numerator/unit, r.Denominator/unit)
		if !r.Known {
			s += "?"
		}
		return s
	}
	ofTime := 1.0
	if p != oee.ProfileDefault {
		ofTime = minute
	}
	s := one("A", f.A, minute) + ", " + one("P", f.P, ofTime) + ", " + one("Q", f.Q, 1)
	if f.OEE.Known {
		s += fmt.Sprintf(", OEE %.4f", f.OEE.Value)
	}
	return s + ", " + one("coverage", f.Coverage, minute)
}

// figuresOf returns the figures of a range as text.
func figuresOf(c *calendar.Calendar, v *monitor.View, from, to int64, p oee.Profile) string {
	var terms oee.Terms
	for _, r := range oee.Collect(oee.Config{Calendar: c}, from, to, v.Segments, v.Minutes) {
		terms.Add(&r.Terms)
	}
	return figuresText(terms.Figures(p), p)
}

// london has one night shift of 8 hours on the wall clock, on Saturdays.
func london(t testing.TB) func(*monitor.Config) {
	t.Helper()
	zone, err := iso.Zone("Europe/London")
	if err != nil {
		t.Fatal(err)
	}
	return func(c *monitor.Config) {
		c.Calendar = calendar.NewCalendar(calendar.CalendarConfig{Zone: zone, Shifts: []calendar.Shift{{Name: "Night", Weekday: 6, Start: 22 * time.Hour, Length: 8 * time.Hour}}})
	}
}

// TestByHand has typical cases of a plant, from signals to windows and OEE, calculated by hand. SKU A is due once a
// minute. Unless a row changes it, a stop is an hour without production. Times are UTC, of 5 January or of the row's
// date; hours after midnight continue beyond 24. A row may ask for a part of its range.
func TestByHand(t *testing.T) {
	tenMinutes := func(c *monitor.Config) { c.UtilisationThreshold = 10 * minute }
	for _, tt := range []struct {
		name     string
		date     string // "": 5 January
		config   []func(*monitor.Config)
		from, to string
		script   []string
		line     string
		windows  []string // some of them
		asked    [2]string
		oee      string
		profile  oee.Profile
		other    string // the figures of that profile
	}{
		{
			// 8 h of shift, of which 25:00 to 26:30 stopped: 390 of 480 minutes. 180 + 200 good and 10 bad of 390 due.
			name: "a night shift over midnight", config: []func(*monitor.Config){pattern(t, "Night 22:00 8h")}, from: "21:00", to: "31:00",
			script: []string{"alive 21:00 31:00", "21:00 start S sku=A", "22:00 productive on", "every 1m 22:00:30 25:00 good 1", "25:00 productive off", "26:30 productive on", "every 1m 26:30:30 29:50:30 good 1", "29:59:45 bad 10"},
			line:   "21:00 out, 22:00 productive+, 25:00 downtime+, 26:30 productive+, 30:00 out, 31:00",
			windows: []string{"21:59 out=60000 rssi=-60 [S][][] A r1", "23:59 productive+=60000 good=1 bad=0 ideal=1 target=1 rssi=-60 [S][][] A r1",
				"25:00 downtime+=60000 ideal=1 target=0 rssi=-60 since=25:00 [S][][] A r1", "29:59 productive+=60000 good=0 bad=10 ideal=1 target=1 rssi=-60 [S][][] A r1"},
			oee: "A 390/480, P 390/390, Q 380/390, OEE 0.7917, coverage 480/480",
		},
		{
			// The clocks go forward at 01:00 UTC: 22:00 to 06:00 are 7 hours, of which 90 minutes stopped.
			name: "the night in which an hour is missing", date: "2026-03-28", config: []func(*monitor.Config){london(t)}, from: "21:00", to: "30:00",
			script:  []string{"alive 21:00 30:00", "21:00 start S sku=A", "21:00 productive on", "every 1m 22:00:30 24:30 good 1", "24:30 productive off", "26:00 productive on", "every 1m 26:00:30 29:00 good 1"},
			line:    "21:00 out, 22:00 productive+, 24:30 downtime+, 26:00 productive+, 29:00 out, 30:00",
			windows: []string{"25:00 downtime+=60000 ideal=1 target=0 rssi=-60 since=24:30 [S][][] A r1", "28:59 productive+=60000 good=1 bad=0 ideal=1 target=1 rssi=-60 [S][][] A r1", "29:00 out=60000 rssi=-60 [S][][] A r1"},
			oee:     "A 330/420, P 330/330, Q 330/330, OEE 0.7857, coverage 420/420",
		},
		{
			// The clocks go back at 01:00 UTC: 22:00 (21:00 UTC) to 06:00 are 9 hours.
			name: "the night in which an hour comes twice", date: "2026-10-24", config: []func(*monitor.Config){london(t)}, from: "20:00", to: "31:00",
			script:  []string{"alive 20:00 31:00", "20:00 start S sku=A", "20:00 productive on", "every 1m 21:00:30 24:00 good 1", "24:00 productive off", "25:30 productive on", "every 1m 25:30:30 30:00 good 1"},
			line:    "20:00 out, 21:00 productive+, 24:00 downtime+, 25:30 productive+, 30:00 out, 31:00",
			windows: []string{"20:59 out=60000 rssi=-60 [S][][] A r1", "25:00 downtime+=60000 ideal=1 target=0 rssi=-60 since=24:00 [S][][] A r1", "29:59 productive+=60000 good=1 bad=0 ideal=1 target=1 rssi=-60 [S][][] A r1"},
			oee:     "A 450/540, P 450/450, Q 450/450, OEE 0.8333, coverage 540/540",
		},
		{
			// 240 + 210 minutes of shift. The stop of 09:45 ends with the shift's first part; that of 10:30 is another.
			name: "a shift with a break", config: []func(*monitor.Config){pattern(t, "Early 06:00 4h", "Early 10:30 3h30m"), tenMinutes}, from: "06:00", to: "14:00",
			script: []string{"alive 06:00 14:00", "06:00 start S sku=A", "06:00 productive on", "every 1m 06:00:30 09:45 good 1", "09:45 productive off", "10:45 productive on", "every 1m 10:45:30 14:00 good 1"},
			line:   "06:00 productive+, 09:45 downtime+, 10:00 out, 10:30 downtime+, 10:45 productive+, 14:00",
			windows: []string{"09:59 downtime+=60000 ideal=1 target=0 rssi=-60 since=09:45 [S][][] A r1", "10:00 out=60000 rssi=-60 [S][][] A r1",
				"10:44 downtime+=60000 ideal=1 target=0 rssi=-60 since=10:30 [S][][] A r1"},
			oee: "A 420/450, P 420/420, Q 420/420, OEE 0.9333, coverage 450/450",
		},
		{
			// It is stopped from 06:10 to 09:00. The hour in the middle has no other time, and so no target to divide
			// by.
			name: "a stop that begins before and ends after the range", from: "06:00", to: "10:00", asked: [2]string{"07:00", "08:00"},
			script:  []string{"alive 06:00 10:00", "06:00 start S sku=A", "06:00 productive on", "06:05 good 1", "06:10 productive off", "09:00 productive on", "09:30 good 4"},
			line:    "06:00 productive+, 06:10 downtime+, 09:00 productive+, 10:00",
			windows: []string{"07:00 downtime+=60000 ideal=1 target=0 rssi=-60 since=06:10 [S][][] A r1", "07:59 downtime+=60000 ideal=1 target=0 rssi=-60 since=06:10 [S][][] A r1"},
			oee:     "A 0/60, P 0/0?, Q 0/0?, coverage 60/60",
		},
		{
			// 10 minutes of the first hour remain.
			name: "and the range in which it begins", from: "06:00", to: "10:00", asked: [2]string{"06:00", "07:00"},
			script: []string{"alive 06:00 10:00", "06:00 start S sku=A", "06:00 productive on", "06:05 good 8", "06:10 productive off", "09:00 productive on"},
			line:   "06:00 productive+, 06:10 downtime+, 09:00 productive+, 10:00",
			oee:    "A 10/60, P 8/10, Q 8/8, OEE 0.1333, coverage 60/60",
		},
		{
			// The 30 minutes in Late are a separate stop; each shift has its part. 80 of 120 minutes.
			name: "a stop over a shift's end", config: []func(*monitor.Config){pattern(t, "Early 06:00 8h", "Late 14:00 8h"), tenMinutes}, from: "13:00", to: "15:00",
			script:  []string{"alive 13:00 15:00", "13:00 start S sku=A", "13:00 productive on", "every 1m 13:00:30 13:50 good 1", "13:50 productive off", "14:30 productive on", "every 1m 14:30:30 15:00 good 1"},
			line:    "13:00 productive+, 13:50 downtime+, 14:30 productive+, 15:00",
			windows: []string{"13:59 downtime+=60000 ideal=1 target=0 rssi=-60 since=13:50 [S][][] A r1", "14:00 downtime+=60000 ideal=1 target=0 rssi=-60 since=14:00 [S][][] A r1"},
			oee:     "A 80/120, P 80/80, Q 80/80, OEE 0.6667, coverage 120/120",
		},
		{
			// 06:00 and 06:02 hold on to 06:05, 06:20 to 06:23. It is stopped for 15 minutes from 06:05; the 4 minutes
			// at the end are too short.
			name: "hold-on", config: []func(*monitor.Config){func(c *monitor.Config) { c.HoldOn, c.UtilisationThreshold = 3*minute, 5*minute }}, from: "06:00", to: "06:27",
			script:  []string{"alive 06:00 06:27", "06:00 start S sku=A", "06:00 productive on", "06:01 good 1", "06:02 productive on", "06:03 good 1", "06:04 productive off", "06:20 productive on", "06:21 good 1"},
			line:    "06:00 productive+, 06:05 downtime+, 06:20 productive+, 06:23 idle+, 06:27",
			windows: []string{"06:04 productive+=60000 ideal=1 target=1 rssi=-60 [S][][] A r1", "06:05 downtime+=60000 ideal=1 target=0 rssi=-60 since=06:05 [S][][] A r1", "06:23 idle+=60000 ideal=1 target=1 rssi=-60 [S][][] A r1"},
			oee:     "A 12/27, P 3/12, Q 3/3, OEE 0.1111, coverage 27/27",
			profile: oee.ProfileISO22400, other: "A 8/27, P 3/8, Q 3/3, OEE 0.1111, coverage 27/27",
		},
		{
			// 10 s after the last counted cycle counts; 9.999 s does not, and does not restart the time.
			name: "the minimum cycle at and just under its bound", config: []func(*monitor.Config){func(c *monitor.Config) { c.MinimumCycle = 10 * second }}, from: "06:00", to: "06:05",
			script:  []string{"alive 06:00 06:05", "06:00 start S sku=A", "06:00 productive on", "06:01 good 1", "06:01:10 good 1", "06:01:19.999 good 1", "06:01:20 bad 1"},
			line:    "06:00 productive+, 06:05",
			windows: []string{"06:01 productive+=60000 good=2 bad=1 ideal=1 target=1 rssi=-60 [S][][] A r1"},
			oee:     "A 5/5, P 3/5, Q 2/3, OEE 0.4000, coverage 5/5",
		},
		{
			// 3, then 2 since the counter's reset, then 3: 8 of 10.
			name: "a counter reset", from: "06:00", to: "06:10",
			script: []string{"alive 06:00 06:10", "06:00 start S sku=A", "06:00 productive on", "06:00 count 100", "06:01:30 count 103", "06:02:30 count 2", "06:03:30 count 5"},
			line:   "06:00 productive+, 06:10",
			windows: []string{"06:00 productive+=60000 ideal=1 target=1 rssi=-60 [S][][] A r1", "06:01 productive+=60000 good=3 bad=0 ideal=1 target=1 rssi=-60 [S][][] A r1",
				"06:02 productive+=60000 good=2 bad=0 ideal=1 target=1 rssi=-60 [S][][] A r1", "06:03 productive+=60000 good=3 bad=0 ideal=1 target=1 rssi=-60 [S][][] A r1"},
			oee: "A 10/10, P 8/10, Q 8/8, OEE 0.8000, coverage 10/10",
		},
		{
			// No signal from 06:30 to 07:00: 90 of 120 minutes are known, and all of them productive.
			name: "silence", from: "06:00", to: "08:00",
			script:  []string{"alive 06:00 06:31", "alive 07:00 08:00", "06:00 start S sku=A", "06:00 productive on", "every 1m 06:00:30 06:30 good 1", "every 1m 07:00:30 08:00 good 1"},
			line:    "06:00 productive+, 06:30 noData+, 07:00 productive+, 08:00",
			windows: []string{"06:29 productive+=60000 good=1 bad=0 ideal=1 target=1 rssi=-60 [S][][] A r1", "06:45 noData+=60000 ideal=0 target=0 [S][][] A r1 dead"},
			oee:     "A 90/90, P 90/90, Q 90/90, OEE 1.0000, coverage 90/120",
		},
		{
			// Out of shift it has no effect; from 06:00 it is downtime, without a schedule for half an hour. 60 of 90
			// scheduled minutes.
			name: "manual downtime", config: []func(*monitor.Config){pattern(t, "Early 06:00 8h")}, from: "05:00", to: "08:00",
			script: []string{"alive 05:00 08:00", "05:30 manual on mould", "06:30 start S sku=A", "06:45 good 5", "07:00 manual off", "07:00 productive on", "every 1m 07:00:30 08:00 good 1"},
			line:   "05:00 out, 06:00 downtime(mould), 06:30 downtime+(mould), 07:00 productive+, 08:00",
			windows: []string{"05:45 out=60000 rssi=-60 [][][] UNKNOWN r1", "06:00 downtime=60000 rssi=-60 since=05:30 [][mould][] UNKNOWN r1",
				"06:45 downtime+=60000 ideal=1 target=0 rssi=-60 since=05:30 [S][mould][] A r1"},
			oee:     "A 60/90, P 60/60, Q 60/60, OEE 0.6667, coverage 90/90",
			profile: oee.ProfileEvocon, other: "A 60/120, P 60/60, Q 60/60, OEE 0.5000, coverage 90/90",
		},
		{
			// 79 of 100 for 20 minutes. The loss is in units by default, and in productive time for evocon.
			name: "slow", from: "06:00", to: "07:00",
			script:  []string{"alive 06:00 07:00", "06:00 start S sku=A speed=100", "06:00 productive on", "06:00 speed 100", "06:10 speed 79", "06:30 speed 80", "every 1m 06:00:30 06:50 good 1"},
			line:    "06:00 productive+, 06:10 slow+, 06:30 productive+, 07:00",
			windows: []string{"06:10 slow+=60000 good=1 bad=0 ideal=1 target=1 speed=79/100 rssi=-60 [S][][] A r1", "06:30 productive+=60000 good=1 bad=0 ideal=1 target=1 speed=80/100 rssi=-60 [S][][] A r1"},
			oee:     "A 60/60, P 50/60, Q 50/50, OEE 0.8333, coverage 60/60",
			profile: oee.ProfileEvocon, other: "A 60/60, P 40/60, Q 50/50, OEE 0.6667, coverage 60/60",
		},
		{
			// Half a unit is due by A's rate, and 5 by the other's; 1 and a cycle of 4 are made.
			name: "two schedules in one minute", from: "06:00", to: "06:01",
			script:  []string{"06:00 rssi -60", "06:00 start S sku=A", "06:00:20 good 1", "06:00:30 end S", "06:00:30 start T sku=B minute=10", "06:00:40 good 1", "06:01 rssi -60"},
			line:    "06:00 idle+, 06:01",
			windows: []string{"06:00 idle+=60000 good=5 bad=0 ideal=5.5 target=5.5 rssi=-60 [S T][][] B r1"},
			oee:     "A 1/1, P 5/5.5, Q 5/5, OEE 0.9091, coverage 1/1",
		},
		{
			// 80 s of one schedule, 10 s of none, 90 s of the next: 170 s scheduled, 2 5/6 units due, 11 made.
			name: "quantity reached in the middle of a minute", from: "06:00", to: "06:03",
			script:  []string{"alive 06:00 06:03", "06:00 start S sku=A quantity=10", "06:01:10 good 9", "06:01:20 good 1", "06:01:20 complete S", "06:01:30 start T sku=A", "06:01:40 good 1"},
			line:    "06:00 idle+, 06:01:20 idle, 06:01:30 idle+, 06:03",
			windows: []string{"06:01 idle=10000 idle+=50000 good=11 bad=0 ideal=0.8333 target=0.8333 rssi=-60 [S T][][] A r1"},
			oee:     "A 2.83333/2.83333, P 11/2.83333, Q 11/11, OEE 3.8824, coverage 2.83333/2.83333",
		},
		{
			// 6 and 2 bad leave room for 2 of the 5, and for none of the next.
			name: "the maximum count", config: []func(*monitor.Config){func(c *monitor.Config) { c.MaxUnits = 10 }}, from: "06:00", to: "06:10",
			script:  []string{"alive 06:00 06:10", "06:00 start S sku=A", "06:00 productive on", "06:01 good 6", "06:02 bad 2", "06:03 good 5", "06:04 good 5"},
			line:    "06:00 productive+, 06:10",
			windows: []string{"06:03 productive+=60000 good=2 bad=0 ideal=1 target=1 rssi=-60 [S][][] A r1", "06:04 productive+=60000 ideal=1 target=1 rssi=-60 [S][][] A r1"},
			oee:     "A 10/10, P 10/10, Q 8/10, OEE 0.8000, coverage 10/10",
		},
		{
			// The due units are unknown: P and OEE are unknown, A and Q are known.
			name: "a rate of zero", config: []func(*monitor.Config){tenMinutes}, from: "06:00", to: "07:00",
			script:  []string{"alive 06:00 07:00", "06:00 start S sku=N", "06:00 productive on", "06:05 good 8", "06:06 bad 2", "06:30 productive off", "06:45 productive on"},
			line:    "06:00 productive+, 06:30 downtime+, 06:45 productive+, 07:00",
			windows: []string{"06:05 productive+=60000 good=8 bad=0 rssi=-60 [S][][] N r1", "06:30 downtime+=60000 rssi=-60 since=06:30 [S][][] N r1"},
			oee:     "A 45/60, P 0/0?, Q 8/10, coverage 60/60",
			profile: oee.ProfileEvocon, other: "A 45/60, P 45/45, Q 8/10, OEE 0.6000, coverage 60/60",
		},
		{
			// Without a schedule, no unit is due and nothing stops; units count for the UNKNOWN SKU.
			name: "no SKU", from: "06:00", to: "08:00",
			script:  []string{"alive 06:00 08:00", "06:00 productive on", "06:05 good 3", "06:30 productive off"},
			line:    "06:00 productive, 06:30 idle, 08:00",
			windows: []string{"06:05 productive=60000 good=3 bad=0 rssi=-60 [][][] UNKNOWN r1"},
			oee:     "A 0/0?, P 0/0?, Q 0/0?, coverage 0/0?",
		},
		{
			// If all shift time is planned, the station's own rate of 2 a minute applies.
			name: "no SKU, and all shift time planned", config: []func(*monitor.Config){func(c *monitor.Config) { c.ForceShiftTime, c.UnitsPerHour = true, 120 }}, from: "06:00", to: "08:00",
			script:  []string{"alive 06:00 08:00", "06:00 productive on", "06:05 good 45", "06:30 productive off", "07:30 productive on", "07:40 good 60"},
			line:    "06:00 productive+, 06:30 downtime+, 07:30 productive+, 08:00",
			windows: []string{"06:05 productive+=60000 good=45 bad=0 ideal=2 target=2 rssi=-60 [][][] UNKNOWN r1", "06:30 downtime+=60000 ideal=2 target=0 rssi=-60 since=06:30 [][][] UNKNOWN r1"},
			oee:     "A 60/120, P 105/120, Q 105/105, OEE 0.4375, coverage 120/120",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			moved := int64(0)
			if tt.date != "" {
				date, err := time.Parse(time.DateOnly, tt.date)
				if err != nil {
					t.Fatal(err)
				}
				moved = date.UnixMilli() - day
			}
			inputs := script(t, tt.script...)
			for i := range inputs {
				inputs[i].At += moved
			}
			cfg := config(tt.config...)
			v := run(t, cfg, clock(t, tt.from)+moved, clock(t, tt.to)+moved, inputs)
			from, to := clock(t, tt.from)+moved, clock(t, tt.to)+moved
			if tt.asked[0] != "" {
				from, to = clock(t, tt.asked[0])+moved, clock(t, tt.asked[1])+moved
			}
			if got := figuresOf(cfg.Calendar, &v, from, to, oee.ProfileDefault); got != tt.oee {
				t.Errorf("got  %s\nwant %s", got, tt.oee)
			}
			if tt.other != "" {
				if got := figuresOf(cfg.Calendar, &v, from, to, tt.profile); got != tt.other {
					t.Errorf("%s: got  %s\nwant %s", tt.profile, got, tt.other)
				}
			}
			windows := map[string]string{}
			for _, w := range monitor.Windows(v.Segments, v.Minutes) {
				w.Start -= moved
				if w.DowntimeSince != 0 {
					w.DowntimeSince -= moved
				}
				windows[show(w.Start)] = windowText(w)
			}
			for _, want := range tt.windows {
				if got := windows[want[:5]]; got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			}
			for i := range v.Segments {
				v.Segments[i].Start -= moved
				v.Segments[i].End -= moved
			}
			if diff := cmp.Diff(tt.line, line(v.Segments)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
