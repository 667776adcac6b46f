package energy_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/energy"
	"opsmon/app/engine/monitor"
)

const minute, hour = 60_000, 3_600_000

var (
	day        = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC).UnixMilli()
	utc        = calendar.NewCalendar(calendar.CalendarConfig{Zone: time.UTC})
	production = &monitor.Context{Plan: &monitor.Plan{InShift: true, Kind: monitor.Production, Production: "S", SKU: "A"}}
	idle       = &monitor.Context{Plan: &monitor.Plan{InShift: true, SKU: monitor.UnknownSKU}}
)

func used(at int64, c *monitor.Context, kwh, good float64) monitor.Minute {
	return monitor.Minute{Start: at, Parts: []monitor.Part{{Ctx: c, KWh: int64(kwh * monitor.Micro), KWhMs: hour / 2, Good: int64(good * monitor.Micro)}}}
}

// Productive from 06:30 to 07:15: 3 kWh while 30 units were made, and 1 kWh after production at another tariff.
var (
	segments = []monitor.Segment{
		{Start: day + 6*hour + 30*minute, End: day + 7*hour + 15*minute, Ctx: production, Known: true, Productive: true},
		{Start: day + 7*hour + 15*minute, End: day + 9*hour, Ctx: idle, Known: true},
	}
	minutes = []monitor.Minute{used(day+6*hour+40*minute, production, 2, 10), used(day+7*hour, production, 1, 20), used(day+8*hour, idle, 1, 0)}
	tariffs = []energy.Tariff{{From: day, Price: 0.2, HasPrice: true, CO2: 0.5, HasCO2: true}, {From: day + 7*hour + 30*minute, Price: 0.4, HasPrice: true}}
)

func total(rows []energy.Row) *energy.Usage {
	var u energy.Usage
	for i := range rows {
		u.Add(&rows[i].Usage)
	}
	return &u
}

var near = cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-9 })

func TestUsage(t *testing.T) {
	known := func(v float64) energy.Figure { return energy.Figure{Value: v, Known: true} }
	for _, tt := range []struct {
		name     string
		from, to int64
		tariffs  []energy.Tariff
		want     energy.Figures
	}{
		{"all of it: CO2 of the last hour is not known", day, day + 24*hour, tariffs,
			energy.Figures{KWh: known(4), Outside: known(1), Cost: known(3*0.2 + 0.4), CO2: energy.Figure{Value: 1.5}, PerUnit: known(4. / 30), PerProductiveHour: known(4 / 0.75)}},
		{"before the change of tariff", day, day + 7*hour + 30*minute, tariffs,
			energy.Figures{KWh: known(3), Outside: known(0), Cost: known(0.6), CO2: known(1.5), PerUnit: known(0.1), PerProductiveHour: known(4)}},
		{"the last hour: nothing made, nothing productive", day + 8*hour, day + 9*hour, tariffs, energy.Figures{KWh: known(1), Outside: known(1), Cost: known(0.4)}},
		{"no tariff yet", day, day + 7*hour, tariffs[1:], energy.Figures{KWh: known(2), Outside: known(0), PerUnit: known(0.2), PerProductiveHour: known(4)}},
		{"nothing", day + 12*hour, day + 13*hour, tariffs, energy.Figures{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, total(energy.Collect(utc, tt.tariffs, tt.from, tt.to, segments, minutes)).Figures(), near); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRowsAreHoursAndAddUp(t *testing.T) {
	rows := energy.Collect(utc, tariffs, day, day+24*hour, segments, minutes)
	var starts []int64
	var known, all int64
	for _, r := range rows {
		starts = append(starts, (r.Start-day)/hour)
		known += r.KnownMs
		all += r.TotalMs
	}
	if diff := cmp.Diff([]int64{6, 7, 8}, starts); diff != "" {
		t.Error(diff)
	}
	if known != 3*hour/2 || all != 5*hour/2 {
		t.Errorf("energy is known of %d ms, of %d in which the station was there", known, all)
	}
	whole := total(rows)
	for cut := day; cut < day+24*hour; cut += 7 * minute {
		parts := total(append(energy.Collect(utc, tariffs, day, cut, segments, minutes), energy.Collect(utc, tariffs, cut, day+24*hour, segments, minutes)...))
		if diff := cmp.Diff(whole, parts, near); diff != "" {
			t.Fatalf("cut after %d minutes: %s", (cut-day)/minute, diff)
		}
	}
}

func TestTotal(t *testing.T) {
	stations := map[string]energy.Usage{
		"press": {KWh: 5, KnownMs: 3, TotalMs: 4, Units: 7, ProductiveMs: 11, Cost: 1}, "oven": {KWh: 6, KnownMs: 4, TotalMs: 4, Units: 8, ProductiveMs: 12, NoPrice: true},
		"main": {KWh: 100, KnownMs: 1, TotalMs: 2, Outside: 30, Units: 1}, "never heard of": {TotalMs: 4},
	}
	members := []string{"press", "oven", "gone"}
	if got, want := energy.Total(members, nil, stations), (energy.Usage{KWh: 11, KnownMs: 7, TotalMs: 8, Units: 15, ProductiveMs: 23, Cost: 1, NoPrice: true}); got != want {
		t.Errorf("of its members: got %+v, want %+v", got, want)
	}
	if got, want := energy.Total(members, []string{"main"}, stations), (energy.Usage{KWh: 100, KnownMs: 1, TotalMs: 2, Outside: 30, Units: 15, ProductiveMs: 23}); got != want {
		t.Errorf("of its meter: got %+v, want %+v", got, want)
	}
	if got, want := energy.Total(members, []string{}, stations), (energy.Usage{Units: 15, ProductiveMs: 23}); got != want {
		t.Errorf("of no meter: got %+v, want %+v", got, want)
	}
	of := energy.Total(append(members, "never heard of"), nil, stations)
	if of.KnownMs != 7 || of.TotalMs != 12 {
		t.Errorf("with one that was never heard of: %+v", of)
	}
}

// TestNothingIsNoZero checks that unmeasured energy is unknown, while energy measured as 0 is 0 and costs 0.
func TestNothingIsNoZero(t *testing.T) {
	units := used(day, production, 0, 10)
	units.Parts[0].KWhMs = 0
	figures := func(m monitor.Minute) energy.Figures {
		return total(energy.Collect(utc, tariffs, day, day+hour, segments, []monitor.Minute{m})).Figures()
	}
	if got := figures(units); got != (energy.Figures{}) {
		t.Errorf("not measured: %+v", got)
	}
	zero := energy.Figure{Known: true}
	if got, want := figures(used(day, production, 0, 10)), (energy.Figures{KWh: zero, Outside: zero, Cost: zero, CO2: zero, PerUnit: zero}); got != want {
		t.Errorf("measured: %+v, want %+v", got, want)
	}
}
