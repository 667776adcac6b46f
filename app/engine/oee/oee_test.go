package oee_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/app/iso"
)

const minute, hour = 60_000, 3_600_000

// day is 00:00 UTC on Monday 5 January 2026.
var day = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC).UnixMilli()

var utc = calendar.NewCalendar(calendar.CalendarConfig{Zone: time.UTC, DayStartHour: 6})

// line has adjacent segments from 06:00.
type line struct {
	at       int64
	segments []monitor.Segment
}

func (l *line) add(minutes int64, c *monitor.Context, g monitor.Segment) {
	g.Start, g.End, g.Ctx = l.at, l.at+minutes*minute, c
	l.at = g.End
	l.segments = append(l.segments, g)
}

var (
	early        = monitor.Shift{Name: "Early", Start: day + 6*hour, Day: calendar.DayOf(2026, 1, 5)}
	production   = &monitor.Context{Plan: &monitor.Plan{InShift: true, Shift: early, Kind: monitor.Production, Production: "S", SKU: "A"}, UnitsPerMinute: 1}
	setup        = &monitor.Context{Plan: &monitor.Plan{InShift: true, Shift: early, Kind: monitor.NonProduction, NonProduction: "N", SKU: monitor.UnknownSKU, Reason: "setup"}}
	pause        = &monitor.Context{Plan: &monitor.Plan{InShift: true, Shift: early, Kind: monitor.NonProduction, NonProduction: "N", SKU: monitor.UnknownSKU, Reason: "break"}}
	unscheduled  = &monitor.Context{Plan: &monitor.Plan{InShift: true, Shift: early, SKU: monitor.UnknownSKU}}
	out          = &monitor.Context{Plan: &monitor.Plan{SKU: monitor.UnknownSKU}}
	noRate       = &monitor.Context{Plan: &monitor.Plan{InShift: true, Shift: early, Kind: monitor.Production, Production: "T", SKU: "N"}}
	productive   = monitor.Segment{Known: true, Productive: true}
	idle         = monitor.Segment{Known: true}
	slow         = monitor.Segment{Known: true, Slow: 1}
	jam          = monitor.Segment{Known: true, Stop: 2, Cause: "jam"}
	tool         = monitor.Segment{Known: true, Stop: 3, Cause: "tool"}
	silent       = monitor.Segment{}
	outside      = &monitor.Context{Plan: &monitor.Plan{InShift: true, Shift: early, SKU: monitor.UnknownSKU}, UnitsPerMinute: 1} // the station's own rate
	withoutUnits []monitor.Minute
)

func config() oee.Config {
	return oee.Config{Calendar: utc, Roles: map[string]oee.Role{"setup": oee.RoleSetup, "tool": oee.RolePlanned}, Money: true, Values: map[string]float64{"A": 2}, IdleCostPerMinute: 3}
}

// shift returns eight hours: set-up 30 min, then production of 360 (270 productive, 30 slow, 40 jammed, 10 for a
// planned tool change, 10 idle), a break of 30, and 60 without a schedule. One unit a minute is due.
func shift() *line {
	l := &line{at: day + 6*hour}
	l.add(30, setup, idle)
	l.add(200, production, productive)
	l.add(40, production, jam)
	l.add(30, production, slow)
	l.add(10, production, tool)
	l.add(70, production, productive)
	l.add(10, production, idle)
	l.add(30, pause, idle)
	l.add(60, unscheduled, idle)
	l.add(60, out, idle)
	return l
}

// ofSKU returns the context of production of another SKU.
func ofSKU(code string) *monitor.Context {
	plan := *production.Plan
	plan.SKU = code
	return &monitor.Context{Plan: &plan, UnitsPerMinute: production.UnitsPerMinute}
}

func units(c *monitor.Context, good, bad int64) []monitor.Minute {
	return []monitor.Minute{{Start: day + 6*hour, Parts: []monitor.Part{{Ctx: c, Good: good * monitor.Micro, Bad: bad * monitor.Micro}}}}
}

func total(rows []oee.Row) *oee.Terms {
	var t oee.Terms
	for i := range rows {
		t.Add(&rows[i].Terms)
	}
	return &t
}

func TestProfiles(t *testing.T) {
	fraction := func(r oee.Ratio) string {
		if !r.Known {
			return "unknown"
		}
		s := fmt.Sprintf("%.4f", r.Value)
		if r.AboveOne {
			s += " above one: " + r.Cause
		}
		return s
	}
	twice := shift()
	for i := range twice.segments { // the second half of each segment is silent
		g := twice.segments[i]
		g.Start += (g.End - g.Start) / 2
		g.Known = false
		twice.segments[i].End = g.Start
		twice.segments = append(twice.segments, g)
	}
	spared := shift()
	for i := range spared.segments { // the jam is excluded; the mark has no effect on other classes
		spared.segments[i].Excluded = spared.segments[i].Cause != "tool"
	}
	none := &line{at: day + 6*hour}
	none.add(60, noRate, productive)
	empty := &line{at: day + 6*hour}
	empty.add(60, unscheduled, idle)
	for _, tt := range []struct {
		name     string
		segments []monitor.Segment
		minutes  []monitor.Minute
		profile  string
		want     [5]float64 // A, P, Q, OEE, coverage; -1: unknown
		above    string
	}{
		{"default", shift().segments, units(production, 250, 10), "default", [5]float64{310. / 360, 260. / 310, 250. / 260, 250. / 360, 1}, ""},
		{"iso22400", shift().segments, units(production, 250, 10), "iso22400", [5]float64{300. / 380, 260. / 300, 250. / 260, 250. / 380, 1}, ""},
		{"vorne", shift().segments, units(production, 250, 10), "vorne", [5]float64{310. / 390, 260. / 310, 250. / 260, 250. / 390, 1}, ""},
		{"evocon", shift().segments, units(production, 250, 10), "evocon", [5]float64{300. / 440, 270. / 300, 250. / 260, 300. / 440 * 0.9 * 250 / 260, 1}, ""},
		{"no data is in nothing", twice.segments, units(production, 125, 5), "default", [5]float64{310. / 360, 130. / 155, 250. / 260, 250. / 360, 0.5}, ""},
		{"no data is in nothing, evocon", twice.segments, units(production, 125, 5), "evocon", [5]float64{300. / 440, 0.9, 250. / 260, 300. / 440 * 0.9 * 250 / 260, 0.5}, ""},
		{"a stop that is taken out is in nothing", spared.segments, units(production, 250, 10), "default", [5]float64{310. / 320, 260. / 310, 250. / 260, 250. / 320, 1}, ""},
		{"taken out, iso22400", spared.segments, units(production, 250, 10), "iso22400", [5]float64{300. / 340, 260. / 300, 250. / 260, 250. / 340, 1}, ""},
		{"taken out, vorne", spared.segments, units(production, 250, 10), "vorne", [5]float64{310. / 350, 260. / 310, 250. / 260, 250. / 350, 1}, ""},
		{"taken out, evocon", spared.segments, units(production, 250, 10), "evocon", [5]float64{300. / 400, 270. / 300, 250. / 260, 300. / 400 * 0.9 * 250 / 260, 1}, ""},
		{"a rate that is too low", shift().segments, units(production, 620, 0), "default", [5]float64{310. / 360, 2, 1, 310. / 360 * 2, 1}, oee.CauseRateTooLow},
		{"no rate", none.segments, units(noRate, 5, 0), "default", [5]float64{1, -1, 1, -1, 1}, ""},
		{"no rate, evocon needs none", none.segments, units(noRate, 5, 0), "evocon", [5]float64{1, 1, 1, 1, 1}, ""},
		{"nothing scheduled", empty.segments, withoutUnits, "default", [5]float64{-1, -1, -1, -1, -1}, ""},
		{"units without a rate are not held against others' target", shift().segments, units(noRate, 500, 0), "default", [5]float64{310. / 360, 0, 1, 0, 1}, ""},
		{"units without a schedule are in no ratio", shift().segments, append(units(production, 250, 10), units(outside, 500, 70)...), "default", [5]float64{310. / 360, 260. / 310, 250. / 260, 250. / 360, 1}, ""},
		{"nor alone", shift().segments, units(outside, 500, 70), "default", [5]float64{310. / 360, 0, -1, -1, 1}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, ok := oee.ParseProfile(tt.profile)
			if !ok || p.String() != tt.profile {
				t.Fatalf("profile %s is %s", tt.profile, p)
			}
			f := total(oee.Collect(config(), day, day+24*hour, sorted(tt.segments), tt.minutes)).Figures(p)
			for i, got := range []oee.Ratio{f.A, f.P, f.Q, f.OEE, f.Coverage} {
				want := oee.Ratio{Value: tt.want[i], Known: tt.want[i] >= 0, AboveOne: tt.want[i] > 1, Cause: tt.above}
				if g, w := fraction(got), fraction(want); g != w {
					t.Errorf("%s is %s, want %s", [...]string{"A", "P", "Q", "OEE", "coverage"}[i], g, w)
				}
			}
		})
	}
	if _, ok := oee.ParseProfile("best"); ok {
		t.Error("there is no profile best")
	}
}

func sorted(segments []monitor.Segment) []monitor.Segment {
	out := append([]monitor.Segment(nil), segments...)
	for i := range out {
		for k := i; k > 0 && out[k].Start < out[k-1].Start; k-- {
			out[k], out[k-1] = out[k-1], out[k]
		}
	}
	return out
}

func TestLosses(t *testing.T) {
	text := func(t *oee.Terms) (out []string) {
		for i, l := range t.Lost() {
			s := [...]string{"schedule", "planned", "downtime", "speed", "quality"}[i]
			if l.TimeKnown {
				s += fmt.Sprintf(" %gmin", l.Time/minute)
			}
			if l.UnitsKnown {
				s += fmt.Sprintf(" %gu", l.Units)
			}
			if l.MoneyKnown {
				s += fmt.Sprintf(" %g€", l.Money)
			}
			if l.Partial {
				s += " at least"
			}
			out = append(out, s)
		}
		return out
	}
	for _, tt := range []struct {
		name   string
		change func(*oee.Config)
		want   []string
	}{
		{"units x value, else minutes x idle cost", func(*oee.Config) {}, []string{"schedule 60min 180€", "planned 60min 180€", "downtime 50min 50u 100€", "speed 50min 50u 100€", "quality 10min 10u 20€"}},
		{"without a value minutes x idle cost", func(c *oee.Config) { c.Values = nil }, []string{"schedule 60min 180€", "planned 60min 180€", "downtime 50min 50u 150€", "speed 50min 50u 150€", "quality 10min 10u 30€"}},
		{"with neither nobody knows", func(c *oee.Config) { c.Values, c.IdleCostPerMinute = nil, 0 }, []string{"schedule 60min", "planned 60min", "downtime 50min 50u", "speed 50min 50u", "quality 10min 10u"}},
		{"switched off", func(c *oee.Config) { c.Money = false }, []string{"schedule 60min", "planned 60min", "downtime 50min 50u", "speed 50min 50u", "quality 10min 10u"}},
	} {
		c := config()
		tt.change(&c)
		got := text(total(oee.Collect(c, day, day+24*hour, shift().segments, units(production, 250, 10))))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// TestMoneyOfAPart checks that the money is marked as partial if some of the losses have no price.
func TestMoneyOfAPart(t *testing.T) {
	of := func(c oee.Config, segments []monitor.Segment, minutes []monitor.Minute) *oee.Terms {
		return total(oee.Collect(c, day, day+24*hour, segments, minutes))
	}
	values := config()
	values.IdleCostPerMinute = 0
	unvalued := ofSKU("B")
	other := &line{at: day + 6*hour}
	other.add(60, unvalued, productive)
	full := of(values, []monitor.Segment{{Start: day + 6*hour, End: day + 7*hour, Ctx: production, Known: true, Productive: true}}, units(production, 60, 0))
	for _, tt := range []struct {
		name  string
		other *oee.Terms
		want  [oee.Losses]bool
	}{
		{"nothing else", &oee.Terms{}, [oee.Losses]bool{}},
		{"a SKU without a value that lost nothing", of(values, other.segments, units(unvalued, 60, 0)), [oee.Losses]bool{}},
		{"a SKU without a value that was too slow", of(values, other.segments, units(unvalued, 50, 0)), [oee.Losses]bool{oee.LossSpeed: true}},
		{"a SKU without a value that made rejects", of(values, other.segments, units(unvalued, 50, 10)), [oee.Losses]bool{oee.LossQuality: true}},
		{"one without a rate: what was lost nobody knows", of(values, []monitor.Segment{{Start: day, End: day + hour, Ctx: noRate, Known: true, Productive: true}}, nil), [oee.Losses]bool{oee.LossSpeed: true}},
	} {
		sum := *full
		sum.Add(tt.other)
		for l, lost := range sum.Lost() {
			if lost.Partial != tt.want[l] {
				t.Errorf("%s: loss %d is %+v, want partial %v", tt.name, l, lost, tt.want[l])
			}
		}
	}
	// Money that is entirely unknown is not partial.
	for l, lost := range of(values, shift().segments, nil).Lost() {
		if lost.Partial {
			t.Errorf("loss %d is %+v", l, lost)
		}
	}
}

// TestUnitsThatCountNowhere checks that units of the other source under a rate do not make anything known that has no
// rate.
func TestUnitsThatCountNowhere(t *testing.T) {
	l := &line{at: day + 6*hour}
	l.add(60, noRate, productive)
	rated := &monitor.Context{Plan: &monitor.Plan{SKU: "A", InShift: true, Kind: monitor.Production}, UnitsPerMinute: 1}
	minutes := []monitor.Minute{{Start: day + 6*hour, Parts: []monitor.Part{{Ctx: rated, Other: 5 * monitor.Micro}}}}
	terms := total(oee.Collect(config(), day, day+24*hour, l.segments, minutes))
	if got := terms.Figures(oee.ProfileISO22400).P; got.Known {
		t.Errorf("performance is %+v, and no unit was made under a rate", got)
	}
	minutes[0].Parts[0].Good = monitor.Micro
	terms = total(oee.Collect(config(), day, day+24*hour, l.segments, minutes))
	if got := terms.Figures(oee.ProfileISO22400).P; !got.Known {
		t.Errorf("performance is %+v, and a unit was made under a rate", got)
	}
}

// TestUnscheduled has an hour at the station's own rate of 361 an hour, of which the second half is scheduled. All
// units of the first half are outside; ratios and losses have those of the second half. The same applies to entries in
// time without data.
func TestUnscheduled(t *testing.T) {
	free := &monitor.Context{Plan: &monitor.Plan{InShift: true, Shift: early, SKU: monitor.UnknownSKU}, UnitsPerMinute: 6}
	planned := &monitor.Context{Plan: &monitor.Plan{InShift: true, Shift: early, Kind: monitor.Production, Production: "S", SKU: "A"}, UnitsPerMinute: 6}
	l := &line{at: day + 6*hour}
	l.add(30, free, productive)
	l.add(30, planned, productive)
	minutes := []monitor.Minute{{Start: day + 6*hour, Parts: []monitor.Part{
		{Ctx: free, Good: 170 * monitor.Micro, Bad: 10 * monitor.Micro},
		{Ctx: planned, Good: 200 * monitor.Micro, Bad: 13 * monitor.Micro, UnknownGood: 29 * monitor.Micro, UnknownBad: 4 * monitor.Micro},
	}}}
	terms := total(oee.Collect(config(), day, day+24*hour, l.segments, minutes))
	got := []int64{terms.Good, terms.Bad, terms.UnscheduledGood, terms.UnscheduledBad, terms.UnknownGood, terms.UnknownBad, terms.All}
	for i, want := range []int64{370, 23, 170, 10, 29, 4, 180} {
		if got[i] != want*monitor.Micro {
			t.Errorf("count %d is %d millionths, want %d units", i, got[i], want)
		}
	}
	f := terms.Figures(oee.ProfileDefault)
	if f.A.Value != 1 || f.P.Value != 1 || f.P.AboveOne || f.Q.Numerator != 171 || f.Q.Denominator != 180 {
		t.Errorf("the figures are %+v", f)
	}
	lost := terms.Lost()
	if lost[oee.LossQuality].Units != 9 || lost[oee.LossSpeed].Units != 0 || lost[oee.LossQuality].Money != 18 {
		t.Errorf("the losses are %+v", lost)
	}
}

// TestExcluded excludes the jam of 40 minutes: it is in no loss and no Pareto list, and its time is in Excluded.
func TestExcluded(t *testing.T) {
	l := shift()
	l.segments[2].Excluded = true
	terms := total(oee.Collect(config(), day, day+24*hour, l.segments, nil))
	if want := [3]int64{monitor.Production: 40 * minute}; terms.Excluded != want || terms.Total() != 9*hour || terms.Ideal != 320 || terms.Target != 310 {
		t.Errorf("excluded %v of %d, ideal %v, target %v", terms.Excluded, terms.Total(), terms.Ideal, terms.Target)
	}
	if down := terms.Lost()[oee.LossDowntime]; down.Time != 10*minute || down.Units != 10 {
		t.Errorf("the loss is %+v", down)
	}
	var twice oee.Terms
	twice.Add(terms)
	twice.Add(terms)
	if twice.Excluded[monitor.Production] != 80*minute {
		t.Errorf("twice %v", twice.Excluded)
	}
	if diff := cmp.Diff([]oee.Bar{{Cause: "tool", Ms: 10 * minute, Count: 1, Share: 1, Cumulative: 1}}, oee.Pareto(l.segments, day, day+24*hour)); diff != "" {
		t.Error(diff)
	}
}

// TestCutRange asks for the middle of a stop: its time inside the range counts, and it counts as one stop.
func TestCutRange(t *testing.T) {
	// The jam is from 09:50 to 10:30.
	from, to := day+10*hour, day+10*hour+20*minute
	terms := total(oee.Collect(config(), from, to, shift().segments, units(production, 250, 10)))
	if terms.Total() != 20*minute || terms.Times[monitor.Production][monitor.Downtime] != 20*minute || terms.Good != 0 || terms.Ideal != 20 || terms.Target != 0 {
		t.Errorf("%+v", terms)
	}
	if diff := cmp.Diff([]oee.Bar{{Cause: "jam", Ms: 20 * minute, Count: 1, Share: 1, Cumulative: 1}}, oee.Pareto(shift().segments, from, to)); diff != "" {
		t.Error(diff)
	}
}

func TestPareto(t *testing.T) {
	l := shift()
	l.add(10, production, monitor.Segment{Known: true, Stop: 9})
	l.add(30, production, monitor.Segment{Known: true, Manual: 10, Cause: "tool"})
	want := []oee.Bar{{"jam", 40 * minute, 1, 40. / 90, 40. / 90}, {"tool", 40 * minute, 2, 40. / 90, 80. / 90}, {"", 10 * minute, 1, 10. / 90, 1}}
	got := oee.Pareto(l.segments, day, day+48*hour)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	merged := oee.MergePareto(got, []oee.Bar{{Cause: "", Ms: 80 * minute, Count: 3}})
	if diff := cmp.Diff([]oee.Bar{{"", 90 * minute, 4, 90. / 170, 90. / 170}, {"jam", 40 * minute, 1, 40. / 170, 130. / 170}, {"tool", 40 * minute, 2, 40. / 170, 1}}, merged); diff != "" {
		t.Error(diff)
	}
}

func TestCycles(t *testing.T) {
	got := oee.Cycles([]int64{70, 10, 20, 30, 40, 50, 60, 80, 90, 100, 110})
	if want := (oee.CycleTimes{Count: 11, Median: 60, Best: 20, Spread: 50}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := oee.Cycles([]int64{7}); got != (oee.CycleTimes{Count: 1, Median: 7, Best: 7}) {
		t.Errorf("one cycle: %+v", got)
	}
	if got := oee.Cycles(nil); got != (oee.CycleTimes{}) {
		t.Errorf("none: %+v", got)
	}
}

func TestSumsBy(t *testing.T) {
	london, err := iso.Zone("Europe/London")
	if err != nil {
		t.Fatal(err)
	}
	// Productive during the nights of the clock changes, from Saturday 22:00 to Sunday 06:00, and the days around them.
	nights := func(date time.Time) ([]monitor.Segment, *calendar.Calendar) {
		c := calendar.NewCalendar(calendar.CalendarConfig{Zone: london, DayStartHour: 0, Shifts: []calendar.Shift{{Name: "Night", Weekday: 6, Start: 22 * time.Hour, Length: 8 * time.Hour}}})
		from, to := date.UnixMilli()-48*hour, date.UnixMilli()+48*hour
		var out []monitor.Segment
		at := from
		for _, s := range c.Shifts(from, to) {
			x := ofSKU(production.SKU)
			x.Shift = monitor.Shift{Name: s.Name, Start: s.Start, Day: s.Day}
			out = append(out, monitor.Segment{Start: at, End: s.Start, Ctx: &monitor.Context{Plan: &monitor.Plan{SKU: "UNKNOWN"}}, Known: true},
				monitor.Segment{Start: s.Start, End: s.End, Ctx: x, Known: true, Productive: true})
			at = s.End
		}
		return append(out, monitor.Segment{Start: at, End: to, Ctx: &monitor.Context{Plan: &monitor.Plan{SKU: "UNKNOWN"}}, Known: true}), c
	}
	for _, tt := range []struct {
		date string
		by   []oee.By
		want string // bucket and hours of scheduled production
	}{
		{"2026-03-29", []oee.By{oee.ByDay}, "2026-03-28 00:00 2, 2026-03-29 00:00 5"},
		{"2026-10-25", []oee.By{oee.ByDay}, "2026-10-23 23:00 2, 2026-10-24 23:00 7"},
		{"2026-11-01", []oee.By{oee.ByDay}, "2026-10-31 00:00 2, 2026-11-01 00:00 6"},
		{"2026-03-29", []oee.By{oee.ByShift, oee.ByDay}, "Night 2026-03-28 00:00 7"},
		{"2026-10-25", []oee.By{oee.ByShift, oee.ByDay}, "Night 2026-10-23 23:00 9"},
		{"2026-11-01", []oee.By{oee.ByShift, oee.ByMonth}, "Night 2026-09-30 23:00 8"},
		{"2026-11-01", []oee.By{oee.ByMonth}, "2026-09-30 23:00 2, 2026-11-01 00:00 6"},
		{"2026-10-25", []oee.By{oee.ByWeek}, "2026-10-18 23:00 9"},
		{"2026-10-25", []oee.By{oee.ByStation, oee.BySKU}, "press A 9"},
		{"2026-10-25", nil, "9"},
	} {
		date, err := time.Parse(time.DateOnly, tt.date)
		if err != nil {
			t.Fatal(err)
		}
		segments, c := nights(date)
		s := oee.NewSummer(tt.by...)
		s.Add(oee.Place{Plant: "leeds", Group: "hall", Station: "press"}, c, oee.Collect(oee.Config{Calendar: c}, segments[0].Start, date.UnixMilli()+48*hour, segments, nil))
		var got []string
		for _, sum := range s.Sums() {
			f := []string{sum.Station, sum.Shift}
			if sum.SKU != "UNKNOWN" {
				f = append(f, sum.SKU)
			}
			if sum.Start != 0 {
				f = append(f, time.UnixMilli(sum.Start).UTC().Format("2006-01-02 15:04"))
			}
			if h := sum.Of(monitor.Production) / hour; h > 0 {
				got = append(got, strings.Join(strings.Fields(strings.Join(append(f, fmt.Sprint(h)), " ")), " "))
			}
		}
		if s := strings.Join(got, ", "); s != tt.want {
			t.Errorf("%s by %v: got %s, want %s", tt.date, tt.by, s, tt.want)
		}
	}
	for b := oee.ByPlant; b <= oee.ByMonth; b++ {
		if got, ok := oee.ParseBy(b.String()); !ok || got != b {
			t.Errorf("%s reads as %s", b, got)
		}
	}
}

// TestGroupsAreSums has two stations, one with an OEE of 1 for an hour and one with 0.5 for three; the group has 2.5 /
// 4.
func TestGroupsAreSums(t *testing.T) {
	s := oee.NewSummer(oee.ByGroup)
	for i, p := range []struct{ minutes, good int64 }{{60, 60}, {180, 90}} {
		l := &line{at: day + 6*hour}
		l.add(p.minutes, production, productive)
		s.Add(oee.Place{Plant: "leeds", Group: "hall", Station: fmt.Sprint("s", i)}, utc, oee.Collect(config(), day, day+24*hour, l.segments, units(production, p.good, 0)))
	}
	sums := s.Sums()
	if len(sums) != 1 || sums[0].Figures(oee.ProfileDefault).OEE.Value != 150./240 {
		t.Errorf("%+v", sums)
	}
}

// TestRangesAddUp cuts a random week at random moments: the parts' terms add up to the whole's.
func TestRangesAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	l := &line{at: day}
	contexts := []*monitor.Context{production, setup, pause, unscheduled, out, noRate}
	states := []monitor.Segment{productive, idle, slow, jam, tool, silent}
	var minutes []monitor.Minute
	for l.at < day+7*24*hour {
		c, at := contexts[r.IntN(len(contexts))], l.at
		l.add(1+r.Int64N(90), c, states[r.IntN(len(states))])
		for ; at < l.at; at += minute {
			minutes = append(minutes, monitor.Minute{Start: at, Parts: []monitor.Part{{Ctx: c, Good: r.Int64N(5_000_000), Bad: r.Int64N(1_000_000)}}})
		}
	}
	whole := total(oee.Collect(config(), day, l.at, l.segments, minutes))
	same := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(a)) })
	for range 200 {
		cut := day + r.Int64N((l.at-day)/minute)*minute
		parts := total(oee.Collect(config(), day, cut, l.segments, minutes))
		parts.Add(total(oee.Collect(config(), cut, l.at, l.segments, minutes)))
		if diff := cmp.Diff(whole, parts, same); diff != "" {
			t.Fatalf("cut after %d minutes: %s", (cut-day)/minute, diff)
		}
	}
	byMinute := config()
	byMinute.Unit = calendar.UnitMinute
	for range 50 {
		from := day + r.Int64N((l.at-day)/minute)*minute
		to := from + (1+r.Int64N((l.at-from)/minute))*minute
		whole := total(oee.Collect(config(), from, to, l.segments, minutes))
		s := oee.NewSummer(oee.ByMinute)
		s.Add(oee.Place{}, utc, oee.Collect(byMinute, from, to, l.segments, minutes))
		sums := s.Sums()
		if int64(len(sums)) != (to-from)/minute {
			t.Fatalf("%d sums of %d minutes", len(sums), (to-from)/minute)
		}
		var sum oee.Terms
		for i, b := range sums {
			if b.Start != from+int64(i)*minute || b.End != b.Start+minute || b.Total() != minute {
				t.Fatalf("the sum %d is of %d ms: %+v", i, b.Total(), b.Bucket)
			}
			sum.Add(&b.Terms)
		}
		if diff := cmp.Diff(whole, &sum, same); diff != "" {
			t.Fatalf("by the minute: %s", diff)
		}
	}
	for _, by := range [][]oee.By{nil, {oee.ByHour}, {oee.ByShift, oee.ByDay}, {oee.BySKU, oee.ByWeek}} {
		s := oee.NewSummer(by...)
		s.Add(oee.Place{}, utc, oee.Collect(config(), day, l.at, l.segments, minutes))
		var sum oee.Terms
		for _, b := range s.Sums() {
			sum.Add(&b.Terms)
		}
		if diff := cmp.Diff(whole, &sum, same); diff != "" {
			t.Fatalf("by %v: %s", by, diff)
		}
	}
}
