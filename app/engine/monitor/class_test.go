package monitor_test

import (
	"testing"

	"opsmon/app/engine/monitor"
)

// TestClasses has a row for every rule of monitoring.md section 3 about the class of a millisecond. Unless a row
// changes it, there is no shift pattern, detection is by utilisation with a threshold of an hour, and SKU A has a cycle
// of a minute. The result ends at the moment of the view.
func TestClasses(t *testing.T) {
	type change = func(*monitor.Config)
	production := func(c *monitor.Config) { c.DowntimeMode = monitor.DowntimeProduction }
	holdOn := func(c *monitor.Config) { c.HoldOn = 3 * minute }
	early := pattern(t, "Early 06:00 8h")
	bySpeed := func(c *monitor.Config) { c.SpeedToProductionRatio = 1 }
	for _, tt := range []struct {
		name     string
		config   []change
		from, to string
		script   []string
		want     string
	}{
		{"nothing was ever heard", nil, "06:00", "07:00", nil, "06:00 noData, 07:00"},
		{"productive until it says otherwise", nil, "06:00", "06:10", []string{"alive 06:00 06:10", "06:02 productive on", "06:05 productive off"},
			"06:00 idle, 06:02 productive, 06:05 idle, 06:10"},
		{"each true holds from its own time, and false does not cut it short", []change{holdOn}, "06:00", "06:15", []string{"alive 06:00 06:15", "06:02 productive on", "06:04 productive on", "06:05 productive off", "06:10 productive on"},
			"06:00 idle, 06:02 productive, 06:07 idle, 06:10 productive, 06:13 idle, 06:15"},
		{"power at the threshold is productive", []change{func(c *monitor.Config) { c.ProductiveMode, c.StoppedKw = monitor.ProductiveElectrical, 2 }}, "06:00", "06:05",
			[]string{"06:00 kw 1.9", "06:01 kw 2", "06:02 kw 1.9"}, "06:00 idle, 06:01 productive, 06:02 idle, 06:05"},
		{"without a threshold power above 0 is", []change{func(c *monitor.Config) { c.ProductiveMode = monitor.ProductiveElectrical }}, "06:00", "06:04",
			[]string{"06:00 kw 0", "06:01 kw 0.1", "06:02 kw 0"}, "06:00 idle, 06:01 productive, 06:02 idle, 06:04"},
		{"else from differences of the meter: 0.1 kWh in a minute are 6 kW", []change{func(c *monitor.Config) { c.ProductiveMode, c.StoppedKw = monitor.ProductiveElectrical, 6 }}, "06:00", "06:05",
			[]string{"06:00 kwh 100", "06:01 kwh 100.1", "06:02 kwh 100.19"}, "06:00 idle, 06:01 productive, 06:02 idle, 06:05"},
		{"shown speed at the threshold is productive", []change{func(c *monitor.Config) {
			c.ProductiveMode, c.StoppedSpeed, c.SpeedScale, c.SpeedOffset = monitor.ProductiveLineSpeed, 10, 2, -2
		}}, "06:00", "06:05", []string{"06:00 speed 5.9", "06:01 speed 6", "06:02 speed 0"}, "06:00 idle, 06:01 productive, 06:02 idle, 06:05"},

		{"silent for just under five minutes is alive", nil, "06:00", "06:09:59", []string{"06:00 productive on", "06:04:59.999 rssi -50"}, "06:00 productive, 06:09:59"},
		{"silent for five minutes is no data from the last sign on", nil, "06:00", "06:11", []string{"06:00 productive on", "06:02 rssi -50", "06:07 rssi -50"},
			"06:00 productive, 06:02 noData, 06:07 productive, 06:11"},
		{"what it said before holds on after silence", nil, "06:00", "06:22", []string{"06:00 productive on", "06:10 rssi -50", "alive 06:11 06:22"}, "06:00 noData, 06:10 productive, 06:22"},
		{"a live connection is life", nil, "06:00", "08:00", []string{"06:00 link up", "06:00 productive on", "07:00 link down", "07:10 link up"},
			"06:00 productive, 07:00 noData, 07:10 productive, 08:00"},
		{"always connected: silence is stopped", []change{func(c *monitor.Config) { c.AlwaysConnected = true }}, "06:00", "06:26", []string{"06:00 productive on", "06:03 rssi -50", "06:20 rssi -50", "06:22 productive on"},
			"06:00 productive, 06:03 idle, 06:22 productive, 06:26"},
		{"but hold-on time runs out by itself", []change{holdOn, func(c *monitor.Config) { c.AlwaysConnected, c.HoldOn = true, 10*minute }}, "06:00", "06:30", []string{"06:00 productive on"},
			"06:00 productive, 06:10 idle, 06:30"},
		{"scheduling-only stations are never disconnected, and capture nothing", []change{func(c *monitor.Config) { c.SchedulingOnly, c.UtilisationThreshold = true, minute }}, "06:00", "08:00", []string{"06:10 start S sku=A", "06:20 productive on", "07:00 end S"},
			"06:00 idle, 06:10 idle+, 07:00 idle, 08:00"},
		{"a setting of its own", []change{func(c *monitor.Config) { c.AliveTimeout = 30 * minute }}, "06:00", "06:40", []string{"06:00 productive on"}, "06:00 noData, 06:40"},

		{"not productive for an hour is downtime from its beginning", nil, "06:00", "08:00", []string{"alive 06:00 08:00", "06:00 start S sku=A", "06:00 productive on", "06:10 productive off", "07:30 productive on"},
			"06:00 productive+, 06:10 downtime+, 07:30 productive+, 08:00"},
		{"a millisecond less is not", nil, "06:00", "07:30", []string{"alive 06:00 07:30", "06:00 start S sku=A", "06:00 productive on", "06:10 productive off", "07:09:59.999 productive on"},
			"06:00 productive+, 06:10 idle+, 07:09:59.999 productive+, 07:30"},
		{"exactly an hour is", nil, "06:00", "07:30", []string{"alive 06:00 07:30", "06:00 start S sku=A", "06:00 productive on", "06:10 productive off", "07:10 productive on"},
			"06:00 productive+, 06:10 downtime+, 07:10 productive+, 07:30"},
		{"before the hour is over nobody knows", nil, "06:00", "07:09", []string{"alive 06:00 07:09", "06:00 start S sku=A", "06:00 productive on", "06:10 productive off"},
			"06:00 productive+, 06:10 idle+, 07:09"},
		{"a unit ends it, and another may begin", []change{func(c *monitor.Config) { c.UtilisationThreshold = 10 * minute }}, "06:00", "07:00", []string{"alive 06:00 07:00", "06:00 start S sku=A", "06:20 good 1", "06:25 good 1", "06:40 bad 1", "06:45 good 1"},
			"06:00 downtime+, 06:20 idle+, 06:25 downtime+, 06:40 idle+, 06:45 downtime+, 07:00"},
		{"the schedule's end ends it, and its start begins it", []change{func(c *monitor.Config) { c.UtilisationThreshold = 10 * minute }}, "06:00", "07:00", []string{"alive 06:00 07:00", "06:05 start S sku=A", "06:30 end S", "06:55 start T sku=A"},
			"06:00 idle, 06:05 downtime+, 06:30 idle, 06:55 idle+, 07:00"},
		{"the shift's end ends it", []change{early, func(c *monitor.Config) { c.UtilisationThreshold = 10 * minute }}, "13:00", "15:00", []string{"alive 13:00 15:00", "13:00 start S sku=A", "13:00 productive on", "13:20 productive off"},
			"13:00 productive+, 13:20 downtime+, 14:00 out, 15:00"},
		{"a stop over a change of shifts is two, each with its own threshold", []change{pattern(t, "Early 06:00 8h", "Late 14:00 8h"), func(c *monitor.Config) { c.UtilisationThreshold = 10 * minute }}, "13:00", "15:00", []string{"alive 13:00 15:00", "13:00 start S sku=A", "13:00 productive on", "13:55 productive off", "14:20 productive on"},
			"13:00 productive+, 13:55 idle+, 14:00 downtime+, 14:20 productive+, 15:00"},
		{"a break is outside of the shift", []change{pattern(t, "Early 06:00 4h", "Early 10:30 3h30m"), func(c *monitor.Config) { c.UtilisationThreshold = 10 * minute }}, "09:00", "11:00", []string{"alive 09:00 11:00", "09:00 start S sku=A", "09:00 productive on", "09:45 productive off", "10:35 productive on"},
			"09:00 productive+, 09:45 downtime+, 10:00 out, 10:30 idle+, 10:35 productive+, 11:00"},
		{"without a schedule there is none", nil, "06:00", "09:00", []string{"alive 06:00 09:00"}, "06:00 idle, 09:00"},
		{"but where all shift time is planned", []change{early, func(c *monitor.Config) { c.ForceShiftTime = true }}, "05:00", "08:00", []string{"alive 05:00 08:00", "07:30 productive on"},
			"05:00 out, 06:00 downtime+, 07:30 productive+, 08:00"},
		{"no unit for longer than 1.5 cycles", []change{production}, "06:00", "06:06", []string{"alive 06:00 06:06", "06:00 start S sku=A", "06:01 good 1", "06:02:30 good 1", "06:04:00.001 good 1", "06:05 good 1"},
			"06:00 idle+, 06:02:30 downtime+, 06:04:00.001 idle+, 06:06"},
		{"by the SKU's own multiplier", []change{production, func(c *monitor.Config) {
			c.SKUs.(monitor.SKUs)["A"] = monitor.SKU{Rate: monitor.Rate{CycleTime: 60_000}, DowntimeMultiplier: 3}
		}}, "06:00", "06:10", []string{"alive 06:00 06:10", "06:00 start S sku=A", "06:03 good 1", "06:06 good 1", "06:09:30 good 1"},
			"06:00 idle+, 06:06 downtime+, 06:09:30 idle+, 06:10"},
		{"a cycle of 4 parts at 2 a minute lasts 2 minutes", []change{production}, "06:00", "06:10", []string{"alive 06:00 06:10", "06:00 start S sku=B", "06:03 good 1", "06:06:01 good 1", "06:08 good 1"},
			"06:00 idle+, 06:03 downtime+, 06:06:01 idle+, 06:10"},
		{"without a rate by the utilisation threshold", []change{production, func(c *monitor.Config) { c.UtilisationThreshold = 5 * minute }}, "06:00", "06:20", []string{"alive 06:00 06:20", "06:00 start S sku=N", "06:05 good 1", "06:11 good 1", "06:16 good 1"},
			"06:00 idle+, 06:05 downtime+, 06:11 idle+, 06:20"},
		{"a machine that runs without making any is stopped; one that starts is not", []change{production}, "06:00", "06:12", []string{"alive 06:00 06:12", "06:00 start S sku=A", "06:00 productive on", "06:05 productive off", "06:06 productive on", "06:07 good 1", "06:08 good 1"},
			"06:00 downtime+, 06:06 productive+, 06:08 downtime+, 06:12"},
		{"units by speed arise all the while", []change{production, bySpeed}, "06:00", "08:00", []string{"06:00 start S sku=A minute=10", "every 1m 06:00 08:00 speed 10"},
			"06:00 idle+, 08:00"},
		{"and a stop begins where the machine stopped", []change{production, bySpeed}, "06:00", "08:00", []string{"alive 06:00 08:00", "06:00 start S sku=A minute=10", "06:00 speed 10", "07:40:15 speed 0", "07:50:45 speed 10"},
			"06:00 idle+, 07:40:15 downtime+, 07:50:45 idle+, 08:00"},
		{"by utilisation too", []change{bySpeed, func(c *monitor.Config) { c.UtilisationThreshold = 5 * minute }}, "06:00", "08:00", []string{"alive 06:00 08:00", "06:00 start S sku=A minute=10", "06:00 productive on", "06:00 speed 10", "07:40:15 speed 0", "07:40:15 productive off", "07:50:45 speed 10", "07:50:45 productive on"},
			"06:00 productive+, 07:40:15 downtime+, 07:50:45 productive+, 08:00"},
		{"and with silence they end", []change{production, bySpeed, func(c *monitor.Config) { c.AlwaysConnected = true }}, "06:00", "08:00", []string{"06:00 start S sku=A minute=10", "every 1m 06:00 06:30:01 speed 10", "every 1m 07:30 08:00 speed 10"},
			"06:00 idle+, 06:30 downtime+, 07:30 idle+, 08:00"},
		{"the units of a minute are its cycles", []change{production}, "06:00", "08:00", []string{"06:00 start S sku=A minute=10", "every 1m 06:00 08:00 good 10"},
			"06:00 idle+, 08:00"},
		{"of a counter as well", []change{production}, "06:00", "06:05", []string{"06:00 start S sku=A minute=10", "06:00 count 100", "06:01 count 110", "06:02 count 117", "06:03 count 117", "06:04 count 127", "06:05 count 137"},
			"06:00 idle+, 06:02 downtime+, 06:03:06 idle+, 06:05"},
		{"too few are stops between them", []change{production}, "06:00", "06:03", []string{"06:00 start S sku=A minute=10", "06:00 good 10", "06:01 good 10", "06:02 good 2", "06:03 good 10"},
			"06:00 idle+, 06:01 downtime+, 06:02 idle+, 06:03"},
		{"good and bad of one moment are one report", []change{production}, "06:00", "06:03:30", []string{"06:00 start S sku=A minute=10", "every 1m 06:00 06:04 bad 1", "every 1m 06:00:00.020 06:04 good 9"},
			"06:00 idle+, 06:03:30"},
		{"over more than five minutes nothing is spread", []change{production}, "06:00", "06:12", []string{"alive 06:00 06:12", "06:00 start S sku=A minute=10", "06:00 good 10", "06:05:00.001 good 50", "06:10:00.001 good 50", "06:12 good 20"},
			"06:00 downtime+, 06:05:00.001 idle+, 06:12"},
		{"or what is set", []change{production, func(c *monitor.Config) { c.Spread = minute }}, "06:00", "06:03", []string{"alive 06:00 06:03", "06:00 start S sku=A minute=10", "06:00 good 10", "06:01 good 10", "06:02:00.001 good 10", "06:03 good 10"},
			"06:00 idle+, 06:01 downtime+, 06:02:00.001 idle+, 06:03"},
		{"a schedule that ends in between has its share", []change{production}, "06:00", "06:04", []string{"alive 06:00 06:04", "06:00 start S sku=A minute=10", "every 1m 06:00 06:05 good 10", "06:01:30 end S", "06:02:20 start T sku=A minute=10"},
			"06:00 idle+, 06:01:30 idle, 06:02:20 idle+, 06:04"},
		{"more than can be placed one by one", []change{production}, "06:00", "06:04", []string{"06:00 start S sku=A minute=30000", "06:00 good 1", "06:01 good 30000", "06:02 good 15000", "06:03 good 30000", "06:04 good 20000"},
			"06:00 idle+, 06:01 downtime+, 06:02 idle+, 06:04"},
		{"always connected: silence is stopped by speed too", []change{func(c *monitor.Config) {
			c.DowntimeMode, c.UtilisationThreshold, c.AlwaysConnected = monitor.DowntimeLineSpeed, 5*minute, true
		}}, "06:00", "12:00", []string{"06:00 start S sku=A", "every 1m 06:00 06:10:01 speed 10", "11:50 rssi -50", "11:52 speed 10", "alive 11:52 12:00"},
			"06:00 idle+, 06:10 downtime+, 11:52 idle+, 12:00"},
		{"speed under the threshold", []change{func(c *monitor.Config) {
			c.DowntimeMode, c.StoppedSpeed, c.UtilisationThreshold = monitor.DowntimeLineSpeed, 10, 5*minute
		}}, "06:00", "06:30", []string{"alive 06:00 06:30", "06:00 start S sku=A", "06:08 speed 20", "06:10 speed 9", "06:14:59 speed 10", "06:20 speed 9.9", "06:26 speed 10"},
			"06:00 idle+, 06:20 downtime+, 06:26 idle+, 06:30"},
		{"off", []change{func(c *monitor.Config) { c.DowntimeMode = monitor.DowntimeOff }}, "06:00", "09:00", []string{"alive 06:00 09:00", "06:00 start S sku=A"}, "06:00 idle+, 09:00"},
		{"a threshold of 0 registers at once", []change{func(c *monitor.Config) { c.UtilisationThreshold = 0 }}, "06:00", "06:10", []string{"alive 06:00 06:10", "06:00 start S sku=A", "06:01 productive on", "06:05 productive off", "06:05:00.001 productive on"},
			"06:00 downtime+, 06:01 productive+, 06:05 downtime+, 06:05:00.001 productive+, 06:10"},
		{"no data is no part of a stop: what is known of it is too short", nil, "06:00", "08:00", []string{"alive 06:00 06:30", "06:00 start S sku=A", "07:40 rssi -50", "alive 07:41 08:00"},
			"06:00 idle+, 06:29 noData+, 07:40 idle+, 08:00"},
		{"or long enough", []change{func(c *monitor.Config) { c.UtilisationThreshold = 20 * minute }}, "06:00", "08:00", []string{"alive 06:00 06:30", "06:00 start S sku=A", "alive 07:40 08:00"},
			"06:00 downtime+, 06:29 noData+, 07:40 downtime+, 08:00"},
		{"a stop that was registered on the strength of silence is taken back", []change{production}, "06:00", "06:20", []string{"alive 06:00 06:05", "06:00 start S sku=A", "06:04 good 1"},
			"06:00 downtime+, 06:04 noData+, 06:20"},

		{"manual downtime is downtime in any shift time", []change{early}, "05:00", "09:00", []string{"alive 05:00 09:00", "05:30 manual on mould", "07:00 manual off", "08:00 productive on"},
			"05:00 out, 06:00 downtime(mould), 07:00 idle, 08:00 productive, 09:00"},
		{"and a stop that it lies in is judged whole", []change{func(c *monitor.Config) { c.UtilisationThreshold = 30 * minute }}, "06:00", "08:00", []string{"alive 06:00 08:00", "06:00 start S sku=A", "06:20 manual on mould", "06:40 manual off", "07:05 productive on"},
			"06:00 downtime+, 06:20 downtime+(mould), 06:40 downtime+, 07:05 productive+, 08:00"},
		{"which is too short is none", []change{func(c *monitor.Config) { c.UtilisationThreshold = 30 * minute }}, "06:00", "08:00", []string{"alive 06:00 08:00", "06:00 start S sku=A", "06:05 manual on mould", "06:20 manual off", "06:29 productive on"},
			"06:00 idle+, 06:05 downtime+(mould), 06:20 idle+, 06:29 productive+, 08:00"},
		{"from 97 to 114 min, with manual downtime from 100 to 110: 17 min", []change{func(c *monitor.Config) { c.UtilisationThreshold = 5 * minute }}, "06:00", "08:00", []string{"alive 06:00 08:00", "06:00 start S sku=A", "06:00 productive on", "07:37 productive off", "07:40 manual on mould", "07:50 manual off", "07:54 productive on"},
			"06:00 productive+, 07:37 downtime+, 07:40 downtime+(mould), 07:50 downtime+, 07:54 productive+, 08:00"},
		{"so is a slow period", []change{func(c *monitor.Config) { c.SlowThreshold = 5 * minute }}, "06:00", "06:30", []string{"alive 06:00 06:30", "06:00 start S sku=A speed=100", "06:00 productive on", "06:00 speed 100", "06:07 speed 50", "06:10 manual on mould", "06:20 manual off", "06:24 speed 100"},
			"06:00 productive+, 06:07 slow+, 06:10 downtime+(mould), 06:20 slow+, 06:24 productive+, 06:30"},
		{"units that it keeps from counting show the machine at work", []change{production}, "06:00", "06:10", []string{"alive 06:00 06:10", "06:00 start S sku=A", "every 1m 06:00:30 06:10 good 1", "06:03 manual on mould", "06:05 manual off"},
			"06:00 idle+, 06:03 downtime+(mould), 06:05 idle+, 06:10"},
		{"it is downtime without data too", nil, "06:00", "08:00", []string{"06:00 start S sku=A", "06:20 manual on mould", "06:50 manual off"}, "06:00 noData+, 06:20 downtime+(mould), 06:50 noData+, 08:00"},

		{"under 80 % of the speed target for a minute is slow", nil, "06:00", "06:10", []string{"alive 06:00 06:10", "06:00 start S sku=A speed=100", "06:00 productive on", "06:01 speed 100", "06:02 speed 79.9", "06:02:59.999 speed 80", "06:04 speed 79", "06:07 speed 90"},
			"06:00 productive+, 06:04 slow+, 06:07 productive+, 06:10"},
		{"not where it stands still", nil, "06:00", "06:10", []string{"alive 06:00 06:10", "06:00 start S sku=A speed=100", "06:01 speed 0"}, "06:00 idle+, 06:10"},
		{"nor in non-production", nil, "06:00", "06:10", []string{"alive 06:00 06:10", "06:00 start S sku=A speed=100", "06:01 speed 20", "06:05 start N non=clean"},
			"06:00 idle+, 06:01 slow+, 06:05 idle-, 06:10"},
		{"downtime comes before slow", []change{production}, "06:00", "06:10", []string{"alive 06:00 06:10", "06:00 start S sku=A speed=100", "06:01 speed 20", "06:05 good 1", "06:06 good 1"},
			"06:00 downtime+, 06:05 slow+, 06:06 downtime+, 06:10"},

		{"a non-production schedule pauses the production one", nil, "06:00", "07:00", []string{"alive 06:00 07:00", "06:00 start S sku=A", "06:20 start N non=clean", "06:30 end N", "06:40 end S"},
			"06:00 idle+, 06:20 idle-, 06:30 idle+, 06:40 idle, 07:00"},
		{"and no stop reaches over it", nil, "06:00", "08:00", []string{"alive 06:00 08:00", "06:00 start S sku=A", "06:50 start N non=clean", "06:55 end N", "07:54 productive on"},
			"06:00 idle+, 06:50 idle-, 06:55 idle+, 07:54 productive+, 08:00"},
		{"out of shift a schedule is not production", []change{early}, "13:00", "15:00", []string{"alive 13:00 15:00", "13:00 start S sku=A", "13:00 productive on"},
			"13:00 productive+, 14:00 out, 15:00"},
		{"unless it extends the shift", []change{early}, "13:00", "16:00", []string{"alive 13:00 16:00", "13:00 start S sku=A extend", "13:00 productive on", "13:30 productive off", "15:00 end S"},
			"13:00 productive+, 13:30 downtime+, 15:00 out, 16:00"},

		{"an error code that is a reason is the cause", nil, "06:00", "08:00", []string{"alive 06:00 08:00", "06:00 start S sku=A", "06:05 error E17", "06:20 error jam"}, "06:00 downtime+(jam), 08:00"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			to := clock(t, tt.to)
			v := run(t, config(tt.config...), clock(t, tt.from), to, script(t, tt.script...))
			if got := line(v.Segments); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
