package monitor_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/monitor"
)

// day is 00:00 UTC on Monday 5 January 2026, the day of the scripts.
var day = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC).UnixMilli()

const second, minute, hour = 1000, 60_000, 3_600_000

// clock parses "06:30", "06:30:15" or "06:30:15.250" of the day; hours may exceed 23.
func clock(t testing.TB, s string) int64 {
	t.Helper()
	parts := strings.Split(s, ":")
	at := 0.0
	for i, unit := range []float64{hour, minute, second} {
		if i < len(parts) {
			v, err := strconv.ParseFloat(parts[i], 64)
			if err != nil {
				t.Fatalf("time %q: %v", s, err)
			}
			at += v * unit
		}
	}
	return day + int64(at+0.5)
}

// show formats a time of the day as clock parses it.
func show(ms int64) string {
	ms -= day
	s := fmt.Sprintf("%02d:%02d", ms/hour, ms/minute%60)
	if sec := ms % minute; sec%second != 0 {
		return s + fmt.Sprintf(":%06.3f", float64(sec)/1000)
	} else if sec != 0 {
		return s + fmt.Sprintf(":%02d", sec/second)
	}
	return s
}

// config returns the configuration of a plain station, modified by change.
func config(change ...func(*monitor.Config)) *monitor.Config {
	c := &monitor.Config{
		Revision: 1, Calendar: calendar.NewCalendar(calendar.CalendarConfig{Zone: time.UTC}),
		SpeedScale: 1, UtilisationThreshold: hour, SlowThreshold: minute,
		SKUs: monitor.SKUs{
			"A": {Rate: monitor.Rate{CycleTime: 60_000}},
			"B": {Rate: monitor.Rate{UnitsPerMinute: 2}, PartsPerCycle: 4},
			"N": {},
		},
		Causes: map[string]bool{"jam": true},
	}
	for _, f := range change {
		f(c)
	}
	return c
}

// pattern returns a change that sets the shifts of every day: "Early 06:00 8h".
func pattern(t testing.TB, items ...string) func(*monitor.Config) {
	t.Helper()
	var shifts []calendar.Shift
	for _, item := range items {
		f := strings.Fields(item)
		length, err := time.ParseDuration(f[2])
		if err != nil {
			t.Fatal(err)
		}
		for d := 1; d <= 7; d++ {
			shifts = append(shifts, calendar.Shift{Name: f[0], Weekday: d, Start: time.Duration(clock(t, f[1])-day) * time.Millisecond, Length: length})
		}
	}
	return func(c *monitor.Config) {
		c.Calendar = calendar.NewCalendar(calendar.CalendarConfig{Zone: time.UTC, Shifts: shifts})
	}
}

// script parses inputs, one "time word arguments" for each item, and sorts them. "alive 06:00 08:00" is a heartbeat
// each minute, "every 30s 06:00 08:00 good 1" a signal with that interval.
func script(t testing.TB, lines ...string) []monitor.Input {
	t.Helper()
	var out []monitor.Input
	for _, line := range lines {
		f := strings.Fields(line)
		switch f[0] {
		case "alive":
			f = append([]string{"every", "1m", f[1], f[2], "rssi", "-60"}, f[3:]...)
			fallthrough
		case "every":
			step, err := time.ParseDuration(f[1])
			if err != nil {
				t.Fatal(err)
			}
			for at := clock(t, f[2]); at < clock(t, f[3]); at += step.Milliseconds() {
				out = append(out, input(t, at, f[4:]))
			}
		default:
			out = append(out, input(t, clock(t, f[0]), f[1:]))
		}
	}
	slices.SortStableFunc(out, func(a, b monitor.Input) int { return monitor.Compare(&a, &b) })
	return out
}

func input(t testing.TB, at int64, f []string) monitor.Input {
	t.Helper()
	in := monitor.Input{At: at, Source: "d", Kind: monitor.InputSignal}
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatalf("%v: %v", f, err)
		}
		return v
	}
	signal := func(has monitor.Has, p *float64) { in.Has, *p = has, number(f[1]) }
	switch f[0] {
	case "productive":
		in.Has, in.Productive = monitor.HasProductive, f[1] == "on"
	case "good":
		signal(monitor.HasCompleteGood, &in.CompleteGood)
	case "bad":
		signal(monitor.HasCompleteBad, &in.CompleteBad)
	case "count":
		signal(monitor.HasCountGood, &in.CountGood)
	case "countbad":
		signal(monitor.HasCountBad, &in.CountBad)
	case "speed":
		signal(monitor.HasLineSpeed, &in.LineSpeed)
	case "kwh":
		signal(monitor.HasKwh, &in.Kwh)
	case "interval":
		signal(monitor.HasKwhInterval, &in.KwhInterval)
	case "kw":
		signal(monitor.HasKw, &in.Kw)
	case "rssi":
		signal(monitor.HasRSSI, &in.RSSI)
	case "error":
		in.ErrorCode = f[1]
	case "link":
		in.Kind, in.Up = monitor.InputLink, f[1] == "up"
	case "manual":
		in.Kind = monitor.InputManualEnd
		if f[1] == "on" {
			in.Kind = monitor.InputManualStart
			if len(f) > 2 {
				in.Reason = f[2]
			}
		}
	case "end":
		in.Kind, in.ID = monitor.InputScheduleEnd, f[1]
	case "complete":
		in.Kind, in.ID = monitor.InputQuantityEnd, f[1]
	case "entry":
		in.Kind = monitor.InputEntry
		for _, a := range f[1:] {
			name, value, _ := strings.Cut(a, "=")
			switch name {
			case "good":
				in.Entry.Good = number(value)
			case "bad":
				in.Entry.Bad = number(value)
			case "reject":
				in.Entry.Reject = number(value)
			case "correction":
				in.Entry.Correction = true
			case "id":
				in.ID = value
			case "for":
				in.Entry.Schedule = value
			}
		}
	case "start", "change":
		in.Kind = monitor.InputScheduleStart
		if f[0] == "change" {
			in.Kind = monitor.InputScheduleChange
		}
		d := &in.Schedule
		d.ID = f[1]
		for _, a := range f[2:] {
			name, value, _ := strings.Cut(a, "=")
			switch name {
			case "sku":
				d.SKU = value
			case "non":
				d.NonProduction, d.Reason = true, value
			case "quantity":
				d.Quantity = number(value)
			case "minute":
				d.UnitsPerMinute = number(value)
			case "speed":
				d.LineSpeedTarget = number(value)
			case "parts":
				d.PartsPerCycle = number(value)
			case "extend":
				d.ExtendShift = true
			default:
				t.Fatalf("%v: unknown %q", f, name)
			}
		}
	default:
		t.Fatalf("unknown input %v", f)
	}
	return in
}

// run feeds inputs to a new station at from and returns its view at to.
func run(t testing.TB, cfg *monitor.Config, from, to int64, inputs []monitor.Input) monitor.View {
	t.Helper()
	s := monitor.New(cfg, from)
	for i := range inputs {
		if err := s.Apply(&inputs[i]); err != nil {
			t.Fatalf("input %d at %s: %v", i, show(inputs[i].At), err)
		}
	}
	return s.View(to)
}

var classNames = [...]string{"out", "noData", "downtime", "slow", "productive", "idle"}

// line formats segments as "06:00 idle, 06:10 productive, … 14:00", merged where class and schedule are equal. "+" is
// scheduled production, "-" scheduled non-production.
func line(segments []monitor.Segment) string {
	var b strings.Builder
	last := ""
	for _, g := range segments {
		what := classNames[g.Class()] + [...]string{"", "+", "-"}[g.Ctx.Kind]
		if g.Class() == monitor.Downtime && g.Cause != "" {
			what += "(" + g.Cause + ")"
		}
		if what != last {
			fmt.Fprintf(&b, "%s %s, ", show(g.Start), what)
		}
		last = what
	}
	return b.String() + show(segments[len(segments)-1].End)
}

// counts formats the counts of each schedule: "S1 A 10 good 2 bad, …", with " other" for units of the other source.
func counts(minutes []monitor.Minute) string {
	type key struct{ schedule, sku string }
	var order []key
	sums := map[key][3]int64{}
	for _, m := range minutes {
		for _, p := range m.Parts {
			k := key{p.Ctx.Production, p.Ctx.SKU}
			v := sums[k]
			if p.Good == 0 && p.Bad == 0 && p.Other == 0 {
				continue
			}
			if !slices.Contains(order, k) {
				order = append(order, k)
			}
			sums[k] = [3]int64{v[0] + p.Good, v[1] + p.Bad, v[2] + p.Other}
		}
	}
	var out []string
	for _, k := range order {
		v := sums[k]
		s := strings.TrimSpace(k.schedule+" "+k.sku) + " " + units(v[0]) + " good"
		if v[1] != 0 {
			s += " " + units(v[1]) + " bad"
		}
		if v[2] != 0 {
			s += " " + units(v[2]) + " other"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func units(micro int64) string {
	return strconv.FormatFloat(float64(micro)/monitor.Micro, 'f', -1, 64)
}
