package station

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/account/manifest"
	"opsmon/app/demo"
	"opsmon/app/engine/calendar"
	"opsmon/app/engine/energy"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/app/errdefs"
)

// plain returns the engine's configuration of a station without settings in the manifest small.
func plain() monitor.Config {
	return monitor.Config{
		Revision: 1, SpeedScale: 1, UtilisationThreshold: 3_600_000, SlowThreshold: 60_000,
		SKUs: monitor.SKUs{
			"A": {Rate: monitor.Rate{CycleTime: 12000}, MinimumCycle: new(int64(0)), PartsPerCycle: 2, LineSpeedTarget: 30, DowntimeMultiplier: 3},
			"B": {Rate: monitor.Rate{UnitsPerHour: 90}},
			"C": {Rate: monitor.Rate{UnitsPerMinute: 4}},
		},
		Causes: map[string]bool{"jam": true, "setup": true, "tool": true},
	}
}

// TestEngineConfig checks for each field of the manifest which fields of the engine's configuration of WELD-1 it
// changes.
func TestEngineConfig(t *testing.T) {
	const own = "plants[0].stationGroups[1].stations[0]."
	for _, c := range []struct {
		edits []string
		want  func(c *monitor.Config)
	}{
		{nil, func(*monitor.Config) {}},
		{[]string{own + `downtimeDetectionMode = "off"`}, func(c *monitor.Config) { c.DowntimeMode = monitor.DowntimeOff }},
		{[]string{own + `downtimeDetectionMode = "production"`}, func(c *monitor.Config) { c.DowntimeMode = monitor.DowntimeProduction }},
		{[]string{own + `downtimeDetectionMode = "utilisation"`}, func(c *monitor.Config) { c.DowntimeMode = monitor.DowntimeUtilisation }},
		{[]string{own + `downtimeDetectionMode = "line_speed"`}, func(c *monitor.Config) { c.DowntimeMode = monitor.DowntimeLineSpeed }},
		{[]string{own + `downtimeDetectionMode = null`}, func(*monitor.Config) {}},
		{[]string{own + `utilisationDowntimeThreshold = 90000`}, func(c *monitor.Config) { c.UtilisationThreshold = 90_000 }},
		{[]string{own + `utilisationDowntimeThreshold = 0`}, func(c *monitor.Config) { c.UtilisationThreshold = 0 }},
		{[]string{own + `slowDurationThreshold = 1.5e4`}, func(c *monitor.Config) { c.SlowThreshold = 15_000 }},
		{[]string{own + `forceAllShiftTimeAsPlannedProduction = true`}, func(c *monitor.Config) { c.ForceShiftTime = true }},
		{[]string{own + `productiveStatusMode = "electrical_usage"`, own + `electricalUsageStoppedThresholdKw = 2.5`}, func(c *monitor.Config) { c.ProductiveMode, c.StoppedKw = monitor.ProductiveElectrical, 2.5 }},
		{[]string{own + `productiveStatusMode = "line_speed"`, own + `lineSpeedStoppedThreshold = 0.5`}, func(c *monitor.Config) { c.ProductiveMode, c.StoppedSpeed = monitor.ProductiveLineSpeed, 0.5 }},
		{[]string{own + `productiveHoldOnTime = 120000`}, func(c *monitor.Config) { c.HoldOn = 120_000 }},
		{[]string{own + `speedScale = -0.25`, own + `speedOffset = 3`}, func(c *monitor.Config) { c.SpeedScale, c.SpeedOffset = -0.25, 3 }},
		{[]string{own + `speedScale = 0`}, func(c *monitor.Config) { c.SpeedScale = 0 }},
		{[]string{own + `speedToProductionRatio = 1.25`}, func(c *monitor.Config) { c.SpeedToProductionRatio = 1.25 }},
		{[]string{own + `cycleTime = 9000`, own + `unitsPerMinute = 3`, own + `unitsPerHour = 70`}, func(c *monitor.Config) { c.Rate = monitor.Rate{CycleTime: 9000, UnitsPerMinute: 3, UnitsPerHour: 70} }},
		{[]string{own + `minimumCycleTime = 700`}, func(c *monitor.Config) { c.MinimumCycle = 700 }},
		{[]string{own + `lineSpeedTarget = 12.5`}, func(c *monitor.Config) { c.LineSpeedTarget = 12.5 }},
		{[]string{`maxProductionCountPerSchedule = 9999999`}, func(c *monitor.Config) { c.MaxUnits = 9_999_999 }},
		{[]string{`enableEditPartsPerCycle = "on"`}, func(c *monitor.Config) { c.EditPartsPerCycle = true }},
		{[]string{`enableEditPartsPerCycle = "on"`, own + `enableEditPartsPerCycle = "off"`}, func(*monitor.Config) {}},
		{[]string{`plants[0].enableAlwaysConnected = "on"`, own + `enableAlwaysConnected = "inherit"`}, func(c *monitor.Config) { c.AlwaysConnected = true }},
		{[]string{`plants[0].stationGroups[1].enableSchedulingOnly = "on"`}, func(c *monitor.Config) { c.SchedulingOnly = true }},
		{[]string{own + `enableMeterOnly = "on"`}, func(c *monitor.Config) { c.MeterOnly = true }},
		{[]string{own + `excludeReasonCodes = ["setup"]`}, func(c *monitor.Config) { delete(c.Causes, "setup"); delete(c.Causes, "tool") }},
		{[]string{own + `includeReasonCodes = ["tool"]`}, func(c *monitor.Config) { c.Causes = map[string]bool{"tool": true} }},
		{[]string{own + `includeReasonCodes = []`}, func(c *monitor.Config) { c.Causes = map[string]bool{} }},
		{[]string{`skus[1].unitsPerHour = 1e300`}, func(c *monitor.Config) {
			c.SKUs.(monitor.SKUs)["B"] = monitor.SKU{Rate: monitor.Rate{UnitsPerHour: 1e9}}
		}},
	} {
		t.Run(strings.Join(c.edits, ", "), func(t *testing.T) {
			h := newHouse(t, edit(t, small, c.edits...))
			s := h.at(0, "WELD-1")
			stored, err := h.line().library.rules("WELD-1", s.digest, 1, h.line(), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if stored.engine != s.engine || stored.OEE.Money != s.OEE.Money || !maps.Equal(stored.OEE.Roles, s.OEE.Roles) {
				t.Errorf("rules that are stored: %+v, want %+v", stored, s.Rules)
			}
			for _, r := range []*Rules{s.Rules, stored} {
				got, want := *r.Monitor, plain()
				c.want(&want)
				if got.Calendar != r.Calendar || r.OEE.Calendar != r.Calendar {
					t.Error("engine, OEE and station have calendars of their own")
				}
				got.Calendar, got.SKUs = nil, known(r)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("configuration (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// known returns the SKUs of the manifest small as rules know them now.
func known(r *Rules) monitor.SKUs {
	skus := monitor.SKUs{}
	for _, code := range []string{"A", "B", "C"} {
		skus[code], _ = r.Monitor.SKU(code, latest)
	}
	return skus
}

// TestCalendar checks a station's shifts and days, with its own pattern, its group's or none, in its plant's zone.
func TestCalendar(t *testing.T) {
	at := func(s string) int64 {
		v, err := time.Parse("2006-01-02 15:04", s)
		if err != nil {
			t.Fatal(err)
		}
		return v.UnixMilli()
	}
	// Monday, 12 January and 13 July 2026: London is at UTC in winter and an hour ahead in summer, Vienna one and two
	// hours.
	for _, c := range []struct {
		station, at, shift, start, end string
		in                             bool
		day                            string
	}{
		{"PRESS-1", "2026-01-12 14:29", "", "", "", false, "2026-01-12"},
		{"PRESS-1", "2026-01-12 13:59", "early", "2026-01-12 06:00", "2026-01-12 14:00", true, "2026-01-12"},
		{"PRESS-1", "2026-01-12 14:30", "late", "2026-01-12 14:30", "2026-01-12 22:30", true, "2026-01-12"},
		{"PRESS-1", "2026-07-13 05:00", "early", "2026-07-13 05:00", "2026-07-13 13:00", true, "2026-07-13"},
		{"PRESS-1", "2026-07-13 04:59", "", "", "", false, "2026-07-12"},
		{"PRESS-2", "2026-01-13 05:59", "night", "2026-01-12 22:00", "2026-01-13 06:00", true, "2026-01-12"},
		{"PRESSE-1", "2026-01-12 05:00", "early", "2026-01-12 05:00", "2026-01-12 13:00", true, "2026-01-12"},
		{"PRESSE-1", "2026-01-12 23:00", "", "", "", false, "2026-01-13"},
		{"WELD-1", "2026-01-12 03:00", "", "", "", true, "2026-01-11"},
	} {
		s := resolved(t, small, c.station)
		got, in, _ := s.Calendar.At(at(c.at))
		if in != c.in || got.Name != c.shift {
			t.Errorf("%s at %s: in shift %v, %q; want %v, %q", c.station, c.at, in, got.Name, c.in, c.shift)
		}
		if c.shift != "" && got.Range != (calendar.Range{Start: at(c.start), End: at(c.end)}) {
			t.Errorf("%s at %s: shift %v, want %s to %s", c.station, c.at, got.Range, c.start, c.end)
		}
		if day := s.Calendar.ProductionDay(at(c.at)).String(); day != c.day {
			t.Errorf("%s at %s: production day %s, want %s", c.station, c.at, day, c.day)
		}
	}
	week := func(code string) string {
		return time.UnixMilli(resolved(t, small, code).Calendar.Bucket(at("2026-01-14 12:00"), calendar.UnitWeek).Start).UTC().Format("Mon 15:04")
	}
	if got := week("PRESS-1") + ", " + week("PRESSE-1"); got != "Mon 06:00, Sat 23:00" {
		t.Errorf("weeks start on %s", got)
	}
	for code, want := range map[string]string{"PRESS-1": "two Europe/London", "PRESS-2": "night Europe/London", "WELD-1": " Europe/London", "PRESSE-1": "two Europe/Vienna"} {
		if s := resolved(t, small, code); s.Pattern+" "+s.Zone.String() != want {
			t.Errorf("%s: pattern and zone %s %s, want %s", code, s.Pattern, s.Zone, want)
		}
	}
}

// TestOEEConfig checks where roles, values and money come from.
func TestOEEConfig(t *testing.T) {
	s := resolved(t, edit(t, small, "plants[0].stationGroups[1].stations[0].excludeReasonCodes = [\"setup\"]"), "WELD-1")
	want := oee.Config{
		Calendar: s.Calendar,
		// Includes reasons that cannot be selected: a stop keeps its cause.
		Roles: map[string]oee.Role{"setup": oee.RoleSetup, "tool": oee.RoleChangeover, "clean": oee.RolePlanned},
	}
	if diff := cmp.Diff(want, s.OEE, cmp.Comparer(func(a, b *calendar.Calendar) bool { return a == b })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s = resolved(t, edit(t, small, `enableLostProductionCost = "on"`, "plants[0].stationGroups[1].stations[0].idleCostPerMinute = 1.5"), "WELD-1")
	if !s.OEE.Money || s.OEE.IdleCostPerMinute != 1.5 {
		t.Errorf("money %v, idle cost %v", s.OEE.Money, s.OEE.IdleCostPerMinute)
	}
	h := newHouse(t, edit(t, small, `electricalPricePerKwh = 0`, "electricalCo2PerKwh = 0.4"))
	if list, err := h.line().Tariffs(ms(0), ms(h1)); err != nil || len(list) != 1 || list[0] != (energy.Tariff{From: math.MinInt64, CO2: 0.4, HasPrice: true, HasCO2: true}) {
		t.Errorf("tariffs %+v, %v", list, err)
	}
	if values, until, err := h.line().Values(map[string]bool{"A": true, "B": true, "Z": true}, ms(0)); err != nil || !maps.Equal(values, map[string]float64{"A": 4.5}) || until != math.MaxInt64 {
		t.Errorf("values %v until %d, %v", values, until, err)
	}
}

// TestChoices checks which reasons, SKUs and Task lists can be selected.
func TestChoices(t *testing.T) {
	s := resolved(t, edit(t, small, `includeTaskListCodes = ["start"]`, `plants[0].stationGroups[1].excludeReasonCodes = ["jam"]`), "WELD-1")
	want := map[string]Reason{
		"setup": {Code: "setup", Name: "Setup", Downtime: true, NonProduction: true, Role: oee.RoleSetup},
		"tool":  {Code: "tool", Name: "tool", Downtime: true, NonProduction: true, Role: oee.RoleChangeover},
		"clean": {Code: "clean", Name: "clean", NonProduction: true, Role: oee.RolePlanned},
		"off":   {Code: "off", Name: "off"},
	}
	if diff := cmp.Diff(want, s.Reasons); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
	if got := slices.Sorted(maps.Keys(s.SKUs)); !slices.Equal(got, []string{"A", "C"}) {
		t.Errorf("SKUs %v", got)
	}
	if len(s.TaskLists) != 1 || s.TaskLists[0].Tasks[0].Code != "T1" {
		t.Errorf("Task lists %+v", s.TaskLists)
	}
	for code, skus := range map[string]string{"PRESS-1": "[A B]", "PRESS-2": "[A]", "PRESSE-1": "[A]"} {
		if got := fmt.Sprint(slices.Sorted(maps.Keys(resolved(t, small, code).SKUs))); got != skus {
			t.Errorf("SKUs at %s are %s, want %s", code, got, skus)
		}
	}
	s = resolved(t, edit(t, small, `includeReasonCodes = ["tool"]`), "WELD-1")
	if len(s.Reasons) != 1 || s.Headings[0].Code != "setup" {
		t.Errorf("a heading can be chosen, or is not there: %v, %v", s.Reasons, s.Headings)
	}
}

// TestRefuse checks the errors of flags that are off.
func TestRefuse(t *testing.T) {
	doc := edit(t, small, `enableManualDowntime = "on"`, `plants[0].enableManualDowntime = "off"`, `plants[0].stationGroups[0].stations[1].enableManualDowntime = "on"`)
	for _, c := range []struct{ station, flag, want string }{
		{"PRESS-1", "enableManualDowntime", "enableManualDowntime is off at station PRESS-1: the plant decides so"},
		{"PRESS-2", "enableManualDowntime", ""},
		{"PRESSE-1", "enableManualDowntime", ""},
		{"PRESS-1", "enableRejectProduction", "enableRejectProduction is off at station PRESS-1: no level sets it, and off is its default"},
	} {
		err := resolved(t, doc, c.station).Refuse(c.flag)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s at %s: %v", c.flag, c.station, err)
			}
			continue
		}
		if err == nil || err.Error() != c.want || errdefs.KindOf(err) != errdefs.Forbidden {
			t.Errorf("%s at %s: %v, want %s", c.flag, c.station, err, c.want)
		}
	}
	if on, from := resolved(t, doc, "PRESS-2").Flag("enableManualDowntime"); !on || from != manifest.LevelStation {
		t.Errorf("flag is %v by %v", on, from)
	}
}

// TestRate checks the rate and its source.
func TestRate(t *testing.T) {
	doc := edit(t, small, "plants[0].stationGroups[0].stations[0].unitsPerHour = 30", `plants[0].enableEditPartsPerCycle = "on"`)
	press, other := resolved(t, doc, "PRESS-1"), resolved(t, doc, "PRESS-2")
	for _, c := range []struct {
		s        *Station
		schedule monitor.Schedule
		rate     float64
		from     string
	}{
		{press, monitor.Schedule{SKU: "A"}, 10, "sku"}, // 2 parts in 12 s
		{press, monitor.Schedule{SKU: "A", PartsPerCycle: 3}, 15, "sku"},
		{press, monitor.Schedule{SKU: "A", PartsPerCycle: 3, Rate: monitor.Rate{CycleTime: 6000}}, 30, "schedule"},
		{press, monitor.Schedule{SKU: "B"}, 1.5, "sku"},
		{press, monitor.Schedule{SKU: "B", Rate: monitor.Rate{UnitsPerMinute: 7}}, 7, "schedule"},
		{press, monitor.Schedule{SKU: "UNKNOWN"}, 0.5, "station"},
		{other, monitor.Schedule{SKU: "UNKNOWN"}, 0, ""},
	} {
		if rate, from := c.s.RateOf(&c.schedule); rate != c.rate || from != c.from {
			t.Errorf("%s %+v: %v from %q, want %v from %q", c.s.Code, c.schedule, rate, from, c.rate, c.from)
		}
	}
	if rate, from := press.Rate("A", monitor.Rate{UnitsPerHour: 120}); rate != 2 || from != "schedule" {
		t.Errorf("override: %v from %q", rate, from)
	}
}

// TestPlan checks the plants and groups of a plan, and that stations share equal values.
func TestPlan(t *testing.T) {
	p, err := newHouse(t, small).line().Now()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, plant := range p.Plants {
		for _, g := range plant.Groups {
			for _, s := range g.Stations {
				got = append(got, fmt.Sprintf("%s/%s/%s %v", s.Plant.Code, s.Group.Code, s.Code, plant.TotalEnergy))
			}
		}
	}
	want := []string{"leeds/press/PRESS-1 [PRESS-2]", "leeds/press/PRESS-2 [PRESS-2]", "leeds/weld/WELD-1 [PRESS-2]", "graz/press/PRESSE-1 []"}
	if !slices.Equal(got, want) || p.Revision != 1 || p.From != start.UnixMilli() || len(p.Stations) != 4 || len(p.Plants[0].Stations) != 3 {
		t.Errorf("plan %+v: %q, want %q", p, got, want)
	}
	if p.Of("PRESS-9") != nil || p.Of("PRESSE-1").Plant.Name != "Graz" || p.Plants[1].TotalEnergy != nil {
		t.Errorf("%v, %v", p.Of("PRESS-9"), p.Of("PRESSE-1"))
	}
	a, b := p.Of("PRESS-2"), p.Of("PRESSE-1")
	for what, same := range map[string]bool{
		"flags": sharedMap(a.Flags, b.Flags), "reasons": sharedMap(a.Reasons, b.Reasons), "SKUs": sharedMap(a.SKUs, b.SKUs), "engine's SKUs": a.Monitor.SKUs == b.Monitor.SKUs,
	} {
		if !same {
			t.Errorf("two stations have %s of their own that are equal", what)
		}
	}
}

// TestExamples resolves whole plants and compares them with the answer of GET /station.
func TestExamples(t *testing.T) {
	plant, err := os.ReadFile("../../account/testdata/plant.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, doc := range map[string][]byte{"demo": demo.Manifest(), "plant": plant} {
		h := newHouse(t, string(doc))
		id := h.accounts.List(false)[0].ID
		snap, err := h.accounts.Get(id)
		if err != nil {
			t.Fatal(err)
		}
		line, err := h.Of(id)
		if err != nil {
			t.Fatal(err)
		}
		p, err := line.Now()
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Stations) == 0 {
			t.Errorf("%s: no stations", name)
		}
		for _, s := range p.Stations {
			v, err := snap.Resolve(s.Code)
			if err != nil {
				t.Fatal(err)
			}
			codes := []string{}
			for _, k := range v.SKUs {
				codes = append(codes, k.Code)
			}
			slices.Sort(codes)
			if diff := cmp.Diff(codes, append([]string{}, slices.Sorted(maps.Keys(s.SKUs))...)); diff != "" {
				t.Errorf("%s %s: SKUs %s", name, s.Code, diff)
			}
			if diff := cmp.Diff(v.Flags, s.Flags); diff != "" {
				t.Errorf("%s %s: flags %s", name, s.Code, diff)
			}
			if diff := cmp.Diff(v.TaskLists, s.TaskLists); diff != "" {
				t.Errorf("%s %s: Task lists %s", name, s.Code, diff)
			}
			if (v.ShiftPattern == nil) != s.Calendar.Always() {
				t.Errorf("%s %s: pattern %v", name, s.Code, v.ShiftPattern)
			}
		}
	}
}
