package monitor_test

import (
	"fmt"
	"testing"

	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
)

// TestCountedByHand has stations without a connected device and a schedule from 06:00 with a unit due each minute:
// entries and reports of people are all that is known.
func TestCountedByHand(t *testing.T) {
	for _, tt := range []struct {
		name, to string
		config   []func(*monitor.Config)
		script   []string
		line     string
		oee      string
		unknown  int64
	}{
		{name: "before the first entry only reported downtime is known", to: "08:00", script: []string{"06:00 start S sku=A", "06:30 manual on mould", "07:00 manual off"},
			line: "06:00 noData+, 06:30 downtime+(mould), 07:00 noData+, 08:00", oee: "A 0/30, P 0/0?, Q 0/0?, coverage 30/120"},
		{name: "an entry makes the schedule known from its start", to: "10:00",
			script: []string{"06:00 start S sku=A", "06:30 manual on mould", "07:00 manual off", "08:00 entry good=80 bad=10", "09:59 entry good=110"},
			line:   "06:00 idle+, 06:30 downtime+(mould), 07:00 idle+, 10:00", oee: "A 210/240, P 200/210, Q 190/200, OEE 0.7917, coverage 240/240"},
		{name: "no stop is found there, however long nothing comes", to: "14:00", config: []func(*monitor.Config){func(c *monitor.Config) { c.DowntimeMode = monitor.DowntimeProduction }},
			script: []string{"06:00 start S sku=A", "08:00 entry good=90"}, line: "06:00 idle+, 14:00", oee: "A 480/480, P 90/480, Q 90/90, OEE 0.1875, coverage 480/480"},
		{name: "nor is anything known after it", to: "10:00", script: []string{"06:00 start S sku=A", "07:00 entry good=60", "08:00 end S", "09:00 start T sku=A"},
			line: "06:00 idle+, 08:00 noData, 09:00 noData+, 10:00", oee: "A 120/120, P 60/120, Q 60/60, OEE 0.5000, coverage 120/180"},
		{name: "a correction is no count", to: "08:00", script: []string{"06:00 start S sku=A", "07:00 entry good=60 correction"}, unknown: 60,
			line: "06:00 noData+, 08:00", oee: "A 0/0?, P 0/0?, Q 0/0?, coverage 0/120"},
		{name: "a stray signal does not end it", to: "14:00",
			script: []string{"06:00 start S sku=A", "07:00 entry good=60", "08:00 entry good=50", "08:10 rssi -60", "09:00 entry good=700", "13:00 entry good=400"},
			line:   "06:00 idle+, 14:00", oee: "A 480/480, P 1210/480, Q 1210/1210, OEE 2.5208, coverage 480/480"},
		{name: "nor do stray signals before the first entry", to: "14:00",
			script: []string{"06:00 start S sku=A", "06:10 rssi -60", "06:13 rssi -60", "07:00 entry good=60", "09:00 entry good=110"},
			line:   "06:00 idle+, 14:00", oee: "A 480/480, P 170/480, Q 170/170, OEE 0.3542, coverage 480/480"},
		{name: "an entry beside a stray signal counts against the whole schedule", to: "14:00",
			script: []string{"06:00 start S sku=A", "06:10 rssi -60", "10:00 rssi -60", "10:01 entry good=240"},
			line:   "06:00 idle+, 14:00", oee: "A 480/480, P 240/480, Q 240/240, OEE 0.5000, coverage 480/480"},
		{name: "what stray signals tell is no stop once they end", to: "14:00", config: []func(*monitor.Config){func(c *monitor.Config) { c.UtilisationThreshold = 10 * minute }},
			script: []string{"06:00 start S sku=A", "07:00 entry good=240", "08:10 productive on", "08:12 productive off", "09:00 productive on", "10:00 productive off", "alive 11:00 11:31"},
			line:   "06:00 idle+, 08:10 productive+, 08:12 idle+, 09:00 productive+, 10:00 idle+, 11:00 downtime+, 11:30 idle+, 14:00",
			oee:    "A 450/480, P 240/450, Q 240/240, OEE 0.5000, coverage 480/480"},
		{name: "a machine that counts first ends it", to: "10:00",
			script: []string{"06:00 start S sku=A", "alive 07:00 08:00", "07:30 good 1", "09:00 entry good=60"},
			line:   "06:00 noData+, 07:00 idle+, 07:59 noData+, 10:00", oee: "A 59/59, P 1/59, Q 1/1, OEE 0.0169, coverage 59/240"},
		{name: "devices that are heard for a quarter of an hour end it", to: "12:00",
			script: []string{"06:00 start S sku=A", "06:10 rssi -60", "alive 08:00 08:21", "11:00 entry good=60"}, unknown: 60,
			line: "06:00 noData+, 08:00 idle+, 08:20 noData+, 12:00", oee: "A 20/20, P 0/20, Q 0/0?, coverage 20/360"},
		{name: "a machine that counts while another schedule pauses it does not", to: "14:00",
			script: []string{"06:00 start S sku=A", "07:00 entry good=60", "10:00 start N non=clean", "10:05 good 1", "10:30 end N", "12:00 entry good=240"},
			line:   "06:00 idle+, 10:00 idle-, 10:30 idle+, 14:00", oee: "A 450/450, P 300/450, Q 300/300, OEE 0.6667, coverage 450/450"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := config(tt.config...)
			from, to := clock(t, "06:00"), clock(t, tt.to)
			v := run(t, cfg, from, to, script(t, tt.script...))
			if got := line(v.Segments); got != tt.line {
				t.Errorf("got  %s\nwant %s", got, tt.line)
			}
			if got := figuresOf(cfg.Calendar, &v, from, to, oee.ProfileDefault); got != tt.oee {
				t.Errorf("got  %s\nwant %s", got, tt.oee)
			}
			unknown := int64(0)
			for _, r := range oee.Collect(oee.Config{Calendar: cfg.Calendar}, from, to, v.Segments, v.Minutes) {
				unknown += r.UnknownGood
			}
			if unknown != tt.unknown*monitor.Micro {
				t.Errorf("%d millionths of a unit were entered without data, want %d units", unknown, tt.unknown)
			}
		})
	}
}

// TestStatusWithoutSignals follows the status of a station without a connected device.
func TestStatusWithoutSignals(t *testing.T) {
	inputs := script(t, "06:00 start S sku=A", "06:30 manual on mould", "07:00 manual off", "08:00 entry good=80", "09:00 rssi -60")
	s, at := monitor.New(config(), day), 0
	for _, tt := range []struct{ now, want string }{
		{"05:00", "disconnected, never heard"},
		{"06:10", "disconnected, never heard"},
		{"06:40", "manualDowntime since 06:30"},
		{"07:30", "disconnected, never heard"},
		{"08:30", "idle since 08:00"},
		{"09:02", "idle since 08:00"},
		{"09:30", "idle since 08:00"},
	} {
		for ; at < len(inputs) && inputs[at].At <= clock(t, tt.now); at++ {
			if err := s.Apply(&inputs[at]); err != nil {
				t.Fatal(err)
			}
		}
		v := s.View(clock(t, tt.now))
		got := fmt.Sprint(v.Status, " since ", show(v.Since))
		if v.Status == monitor.StatusDisconnected && !v.Heard {
			got = "disconnected, never heard"
		}
		if got != tt.want {
			t.Errorf("at %s it is %s, want %s", tt.now, got, tt.want)
		}
	}
}

// TestReportsOfAGateway has a station whose gateway sends the units of each minute, every 7 s. The station is not
// stopped until a report is overdue by half of the interval, and the report corrects the past when it arrives.
func TestReportsOfAGateway(t *testing.T) {
	cfg := config(func(c *monitor.Config) { c.DowntimeMode = monitor.DowntimeProduction })
	inputs := script(t, "06:00 start S sku=A minute=10", "every 1m 05:58 06:30:01 good 10", "alive 06:00 06:40", "06:33 good 30", "06:34 good 10", "06:35 good 0", "06:36 good 0")
	s, at := monitor.New(cfg, day), 0
	final := int64(0)
	for now := clock(t, "06:00"); now < clock(t, "06:40"); now += 7 * second {
		for ; at < len(inputs) && inputs[at].At <= now; at++ {
			if err := s.Apply(&inputs[at]); err != nil {
				t.Fatal(err)
			}
		}
		v := s.View(now)
		if v.Final < final {
			t.Fatalf("at %s it is final to %s, and was to %s", show(now), show(v.Final), show(final))
		}
		final = v.Final
		// Overdue from 06:31:30 to the report of 06:33; the reports from 06:35 have no units.
		stands := now >= clock(t, "06:31:30") && now < clock(t, "06:33") || now >= clock(t, "06:35")
		if (v.Status == monitor.StatusDowntime) != stands || (len(v.Open) > 0) != stands {
			t.Errorf("at %s the status is %s since %s, with %d stops", show(now), v.Status, show(v.Since), len(v.Open))
		}
	}
	v := s.View(clock(t, "06:40"))
	if got, want := line(v.Segments), "00:00 noData, 05:58 idle, 06:00 idle+, 06:34 downtime+, 06:40"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestUnitsBySpeed: eight hours at exactly the rate, sent as a speed each minute, are eight hours without a stop at 100
// %.
func TestUnitsBySpeed(t *testing.T) {
	cfg := config(func(c *monitor.Config) {
		c.DowntimeMode, c.SpeedToProductionRatio = monitor.DowntimeProduction, 1
		c.SKUs = monitor.SKUs{"A": {Rate: monitor.Rate{CycleTime: 6000}}}
	})
	from, to := clock(t, "06:00"), clock(t, "14:00")
	v := run(t, cfg, from, to, script(t, "06:00 start S sku=A", "every 1m 06:00 14:00 speed 10"))
	if got := figuresOf(cfg.Calendar, &v, from, to, oee.ProfileDefault); got != "A 480/480, P 4800/4800, Q 4800/4800, OEE 1.0000, coverage 480/480" || len(v.Issues)+len(v.Open) != 0 {
		t.Errorf("%s, with the stops %v %v", got, v.Issues, v.Open)
	}
}
