package monitor_test

import (
	"fmt"
	"math"
	"testing"

	"opsmon/app/engine/monitor"
)

// The oracle calculates a plan the slow way: it has a slot for each second and applies one rule after the other over
// the whole range. It shares only inputs and names with the machine. In contrast to the machine, it does not proceed
// step by step with what is known at each moment.
type oracle struct {
	plan
	n           int    // seconds
	heard       []bool // devices are alive
	known       []bool // known by devices, or by people who count
	silentFrom  []bool // a second with the last sign of life before silence
	productive  []bool
	rising      []bool
	speed       []float64 // NaN: unknown
	power       []float64 // kW; NaN: unknown
	shift       []int     // 0: none; otherwise one number for each shift
	schedule    []string  // production and not paused
	paused      []string  // non-production
	planned     []string  // "", "+", "-"
	manual      []bool
	unit        []bool
	flow        []bool // units are made by speed
	class       []string
	good, bad   map[string]float64 // by schedule
	other       map[string]float64
	leftGood    map[string]float64 // unapplied units of entries, by schedule
	leftBad     map[string]float64
	goodByMin   []float64
	all         float64 // good and bad made under a rate
	downtimeSec int
	skus        map[string]string // by schedule

	down, slow  []span         // stops and slow periods, whole
	cause       []string       // of downtime, by the machine or by the person who reported it
	stopCause   map[int]string // by the start of the stop, the machine's cause
	reasons     map[string]string
	manualCause []string
	made        []made
}

// span is [a, b) in seconds.
type span struct{ a, b int }

// made has the counts of a second.
type made struct {
	t         int
	sku       string
	good, bad float64
	rate      float64 // units a minute; 0: none
	scheduled bool    // in scheduled production
	known     bool
}

func solve(p plan) *oracle {
	o := &oracle{plan: p, n: int((p.to - p.from) / second)}
	bools := func() []bool { return make([]bool, o.n) }
	o.known, o.silentFrom, o.productive, o.rising, o.manual, o.unit = bools(), bools(), bools(), bools(), bools(), bools()
	o.heard, o.flow = bools(), bools()
	o.speed, o.shift = make([]float64, o.n), make([]int, o.n)
	o.schedule, o.paused, o.planned, o.class = make([]string, o.n), make([]string, o.n), make([]string, o.n), make([]string, o.n)
	o.skus, o.reasons, o.stopCause = map[string]string{}, map[string]string{}, map[int]string{}
	o.cause, o.manualCause = make([]string, o.n), make([]string, o.n)
	o.good, o.bad, o.other = map[string]float64{}, map[string]float64{}, map[string]float64{}
	o.leftGood, o.leftBad = map[string]float64{}, map[string]float64{}
	o.goodByMin = make([]float64, o.n/60)
	o.life()
	o.plans()
	o.byHand()
	o.production()
	o.count()
	o.classify()
	return o
}

func (o *oracle) sec(at int64) int { return int((at - o.from) / second) }

// life marks silence: a gap of five minutes or more between two signs of life, from the first of them.
func (o *oracle) life() {
	signs := []int{}
	linked := make([]bool, o.n+1)
	for _, in := range o.inputs {
		if in.Kind == monitor.InputSignal || in.Kind == monitor.InputLink {
			signs = append(signs, o.sec(in.At))
		}
		if in.Kind == monitor.InputLink {
			for t := o.sec(in.At); t < o.n; t++ {
				linked[t] = in.Up
			}
		}
	}
	signs = append(signs, o.n)
	for i := range len(signs) - 1 {
		a, b := signs[i], signs[i+1]
		if linked[a] || b-a < 300 {
			for t := a; t < b; t++ {
				o.heard[t] = true
			}
		} else {
			o.silentFrom[a] = true
		}
	}
	for t := range o.known {
		o.heard[t] = o.heard[t] || o.cfg.SchedulingOnly || o.cfg.AlwaysConnected
		o.known[t] = o.heard[t]
	}
}

// byHand marks production schedules that people count: if no device was alive for a day at the start, the state is
// known until one is.
func (o *oracle) byHand() {
	if o.cfg.SpeedToProductionRatio > 0 {
		return // speed is the only source
	}
	for _, start := range o.inputs {
		if start.Kind != monitor.InputScheduleStart || start.Schedule.NonProduction {
			continue
		}
		from, to, silent := o.sec(start.At), o.n, true
		for _, in := range o.inputs {
			switch t := o.sec(in.At); in.Kind {
			case monitor.InputSignal, monitor.InputLink:
				silent = silent && (t >= from || from-t >= 86_400)
				if t >= from {
					to = min(to, t)
				}
			case monitor.InputScheduleEnd:
				if in.ID == start.Schedule.ID {
					to = min(to, t)
				}
			case monitor.InputScheduleStart:
				if t > from && !in.Schedule.NonProduction {
					to = min(to, t)
				}
			}
		}
		counted := false
		for _, in := range o.inputs {
			if t := o.sec(in.At); in.Kind == monitor.InputEntry && !in.Entry.Correction && in.Entry.Good > 0 && t >= from && t < to {
				counted = counted || !o.manual[t] && o.schedule[t] == start.Schedule.ID && (in.Entry.Schedule == "" || in.Entry.Schedule == start.Schedule.ID)
			}
		}
		for t := from; t < to && silent && counted; t++ {
			o.known[t] = true
		}
	}
}

// plans fills in shifts, schedules and manual downtime.
func (o *oracle) plans() {
	extend := make([]bool, o.n)
	for _, in := range o.inputs {
		switch in.Kind {
		case monitor.InputScheduleStart:
			end := o.n
			for _, e := range o.inputs {
				if e.Kind == monitor.InputScheduleEnd && e.ID == in.Schedule.ID {
					end = min(end, o.sec(e.At))
				}
				if e.Kind == monitor.InputScheduleStart && e.At > in.At && e.Schedule.NonProduction == in.Schedule.NonProduction {
					end = min(end, o.sec(e.At))
				}
			}
			for t := o.sec(in.At); t < end; t++ {
				if in.Schedule.NonProduction {
					o.paused[t] = in.Schedule.ID
					o.reasons[in.Schedule.ID] = in.Schedule.Reason
				} else {
					o.schedule[t] = in.Schedule.ID
					extend[t] = in.Schedule.ExtendShift
				}
			}
		case monitor.InputManualStart, monitor.InputManualEnd:
			for t := o.sec(in.At); t < o.n; t++ {
				o.manual[t] = in.Kind == monitor.InputManualStart
				o.manualCause[t] = in.Reason
			}
		}
	}
	for t := range o.n {
		o.shift[t] = o.shiftOf(t)
		if o.shift[t] == 0 && extend[t] {
			o.shift[t] = -1
			if t > 0 && o.shift[t-1] != 0 {
				o.shift[t] = o.shift[t-1]
			} else {
				o.shift[t] = 1_000_000 + t
			}
		}
		if o.paused[t] != "" {
			o.schedule[t] = ""
		}
		switch {
		case o.shift[t] == 0:
		case o.paused[t] != "":
			o.planned[t] = "-"
		case o.schedule[t] != "" || o.cfg.ForceShiftTime:
			o.planned[t] = "+"
		}
	}
}

// shiftOf numbers shifts by the second of their start; every day has the same pattern.
func (o *oracle) shiftOf(t int) int {
	if len(o.shifts) == 0 {
		return 1
	}
	best, found := 0, 0
	for back := range 2 {
		midnight := t - t%86_400 - back*86_400
		for _, s := range o.shifts[:4] {
			start := midnight + int(s.Start.Seconds())
			if t >= start && t < start+int(s.Length.Seconds()) && (found == 0 || start > best) {
				best, found = start, 1
			}
		}
	}
	return found * (best + 1_000_000_000)
}

// production fills in the speed and whether the machine is productive.
func (o *oracle) production() {
	c := o.cfg
	// A value of a second is valid until the next one.
	type told[T any] map[int]T
	speeds, powers, ons, trues := told[float64]{-1: math.NaN()}, told[float64]{-1: math.NaN()}, told[bool]{}, told[bool]{}
	for i := range o.inputs {
		in := &o.inputs[i]
		t := o.sec(in.At)
		if in.Kind == monitor.InputSignal && !c.SchedulingOnly {
			if in.Has&monitor.HasLineSpeed != 0 {
				speeds[t] = in.LineSpeed
			}
			if in.Has&monitor.HasKw != 0 {
				powers[t] = in.Kw
			}
			if in.Has&monitor.HasProductive != 0 {
				ons[t] = in.Productive
				if in.Productive {
					trues[t] = true
				}
			}
		}
		if (i+1 == len(o.inputs) || o.inputs[i+1].At > in.At) && o.silentFrom[t] {
			speeds[t], powers[t] = math.NaN(), math.NaN()
			if c.AlwaysConnected {
				ons[t] = false
			}
		}
	}
	on := make([]bool, o.n)
	o.power = make([]float64, o.n)
	p, v, n := math.NaN(), math.NaN(), false
	for t := range o.n {
		if x, ok := powers[t]; ok {
			p = x
		}
		if x, ok := speeds[t]; ok {
			v = x
		}
		if x, ok := ons[t]; ok {
			n = x
		}
		o.power[t], o.speed[t], on[t] = p, v, n
	}
	for t := range o.n {
		switch {
		case c.SchedulingOnly:
		case c.ProductiveMode == monitor.ProductiveElectrical:
			o.productive[t] = o.power[t] > 0 && o.power[t] >= c.StoppedKw
		case c.ProductiveMode == monitor.ProductiveLineSpeed:
			o.productive[t] = o.runs(t)
		case c.HoldOn == 0:
			o.productive[t] = on[t]
		default:
			held := false
			for u := max(0, t-int(c.HoldOn/second)+1); u < t && !held; u++ {
				held = trues[u]
			}
			o.productive[t] = held || trues[t]
			o.rising[t] = o.productive[t] && !held
			continue
		}
		o.rising[t] = o.productive[t] && (t == 0 || !o.productive[t-1])
	}
}

func (o *oracle) runs(t int) bool { return o.speed[t] > 0 && o.speed[t] >= o.cfg.StoppedSpeed }

// count applies the signals and entries of each schedule.
func (o *oracle) count() {
	c := o.cfg
	sources := map[string]string{}
	last, counter, counted := math.MinInt, math.NaN(), -1
	run := 0
	for _, in := range o.inputs {
		if in.Kind == monitor.InputScheduleStart {
			o.skus[in.Schedule.ID] = in.Schedule.SKU
		}
	}
	// Each range of time without a schedule is separate.
	key := make([]string, o.n)
	for t := range o.n {
		if key[t] = o.schedule[t]; key[t] == "" {
			if t > 0 && o.schedule[t-1] != "" {
				run++
			}
			key[t] = fmt.Sprint("?", run)
		}
	}
	record := func(t int, from string, good, bad float64) {
		k := key[t]
		if from == "machine" && good+bad > 0 {
			o.unit[t] = true // counted or not
		}
		if o.manual[t] || good == 0 && bad == 0 {
			return
		}
		if sources[k] == "" && good > 0 {
			if sources[k] = from; c.SpeedToProductionRatio > 0 {
				sources[k] = "speed"
			}
		}
		if from == "operator" && good > 0 && sources[k] == from {
			o.unit[t] = true
		}
		if from != sources[k] {
			o.other[o.schedule[t]] += good
			good = 0
		}
		if o.schedule[t] != "" && c.MaxUnits > 0 {
			room := math.Max(0, float64(c.MaxUnits)-o.good[k]-o.bad[k])
			good = math.Min(good, room)
			bad = math.Min(bad, room-good)
		}
		o.good[k] += good
		o.bad[k] += bad
		o.goodByMin[t/60] += good
		o.make(t, good, bad, from != "operator")
	}
	breaks := map[int]bool{}
	for i := range o.inputs {
		if k := o.inputs[i].Kind; k != monitor.InputSignal && k != monitor.InputEntry {
			breaks[o.sec(o.inputs[i].At)] = true
		}
	}
	at := 0
	inputs := o.inputs
	sum := 0.0
	for t := range o.n + 1 {
		// Speed counts at the end of a minute, and at the end of the context.
		if t > 0 {
			if v := o.speed[t-1]; v > 0 && !o.manual[t-1] {
				sum += v * c.SpeedToProductionRatio / 60
			}
			if sum > 0 && (t%60 == 0 || t == o.n || key[t] != key[t-1] || o.manual[t] != o.manual[t-1] || o.planned[t] != o.planned[t-1] || o.shift[t] != o.shift[t-1] || breaks[t] || !math.IsNaN(o.speed[t-1]) && math.IsNaN(o.speed[t])) {
				record(t-1, "speed", math.Round(sum*1e6)/1e6, 0)
				sum = 0
			}
		}
		if t < o.n {
			o.flow[t] = o.speed[t] > 0 && c.SpeedToProductionRatio > 0
		}
		for ; at < len(inputs) && o.sec(inputs[at].At) == t; at++ {
			in := inputs[at]
			ppc := 1.0
			if o.schedule[t] != "" && o.sku(t) == "B" {
				ppc = 2
			}
			switch {
			case in.Kind == monitor.InputSignal && !c.SchedulingOnly:
				good, bad := in.CompleteGood, in.CompleteBad
				minimum := int(c.MinimumCycle / second)
				if o.schedule[t] != "" && o.sku(t) == "N" {
					minimum = 0
				}
				if good+bad > 0 {
					if last != math.MinInt && t-last < minimum {
						good, bad = 0, 0
					} else if !o.manual[t] {
						last = t
					}
				}
				if in.Has&monitor.HasCountGood != 0 {
					switch v := in.CountGood; {
					case math.IsNaN(counter):
					case v < counter:
						good += v
					default:
						good += v - counter
					}
					counter = in.CountGood
				}
				record(t, "machine", good*ppc, bad*ppc)
				if in.Has&(monitor.HasCompleteGood|monitor.HasCompleteBad|monitor.HasCountGood) != 0 {
					if n := int(good + bad); counted >= 0 && t-counted <= 300 && c.DowntimeMode == monitor.DowntimeProduction {
						for k := 1; k < n; k++ {
							o.unit[counted+(t-counted)*k/n] = true
						}
					}
					counted = t
				}
			case in.Kind == monitor.InputEntry:
				e, left := in.Entry, in.Entry.Schedule
				if left == "" {
					left = o.schedule[t]
				}
				good, bad := e.Good-e.Reject, e.Bad+e.Reject
				if left == o.schedule[t] {
					hadGood, hadBad, hadOther := o.good[key[t]], o.bad[key[t]], o.other[left]
					if !e.Correction {
						record(t, "operator", e.Good, e.Bad)
						e.Good, e.Bad = 0, 0
					}
					o.adjust(t, key[t], e)
					good -= o.good[key[t]] - hadGood + o.other[left] - hadOther
					bad -= o.bad[key[t]] - hadBad
				}
				o.leftGood[left] += good
				o.leftBad[left] += bad
			}
		}
	}
}

// adjust applies an entry's deltas and its reject without letting a total fall below zero.
func (o *oracle) adjust(t int, k string, e monitor.Entry) {
	had, hadBad := o.good[k], o.bad[k]
	moved := math.Max(0, math.Min(e.Reject, had+e.Good))
	o.good[k] = math.Max(0, had+e.Good-moved)
	o.bad[k] = math.Max(0, hadBad+e.Bad+moved)
	o.goodByMin[t/60] += o.good[k] - had
	o.make(t, o.good[k]-had, o.bad[k]-hadBad, false)
}

// classify finds stops and slow periods as runs, and then the class of each second.
func (o *oracle) classify() {
	c := o.cfg
	down, slow := make([]bool, o.n), make([]bool, o.n)
	alike := func(a, b int) bool {
		return o.shift[a] == o.shift[b] && o.schedule[a] == o.schedule[b] && o.paused[a] == o.paused[b] && o.heard[a] == o.heard[b]
	}
	// runs calls each for the longest runs in which the condition is true and no boundary lies.
	runs := func(holds func(int) bool, each func(a, b int)) {
		for a := 0; a < o.n; {
			b := a + 1
			for holds(a) && b < o.n && holds(b) && alike(a, b) {
				b++
			}
			if holds(a) {
				each(a, b)
			}
			a = b
		}
	}
	fill := func(list []bool, a, b int) {
		for t := a; t < b; t++ {
			list[t] = true
		}
	}
	base := func(t int) bool { return o.planned[t] == "+" && o.heard[t] && !o.flow[t] && !c.SchedulingOnly }
	threshold := int(c.UtilisationThreshold / second)
	atLeast := func(a, b int) { // pieces between units
		for p := a; p < b; {
			q := p + 1
			for q < b && !o.unit[q] {
				q++
			}
			if q-p >= threshold {
				fill(down, p, q)
				o.down = append(o.down, span{p, q})
			}
			p = q
		}
	}
	switch c.DowntimeMode {
	case monitor.DowntimeUtilisation:
		runs(func(t int) bool { return base(t) && !o.productive[t] }, atLeast)
	case monitor.DowntimeLineSpeed:
		runs(func(t int) bool { return base(t) && !o.runs(t) && (c.AlwaysConnected || !math.IsNaN(o.speed[t])) }, func(a, b int) {
			// With detection by something other than speed, a machine that starts to produce restarts the time, too.
			for p := a; p < b; {
				q := p + 1
				for q < b && !o.rising[q] {
					q++
				}
				atLeast(p, q)
				p = q
			}
		})
	case monitor.DowntimeProduction:
		runs(base, func(a, b int) {
			gap := threshold
			if rate := o.unitsPerMinute(a); rate > 0 {
				sku, parts, multiplier := o.sku(a), 1.0, 1.5
				if sku == "B" {
					parts, multiplier = 2, 4
				}
				gap = int(multiplier * 60 * parts / rate)
			}
			for p := a; p < b; {
				q := p + 1
				for q < b && !o.unit[q] && !(o.rising[q] && q-p > gap) {
					q++
				}
				if q-p > gap {
					fill(down, p, q)
					o.down = append(o.down, span{p, q})
				}
				p = q
			}
		})
	}
	runs(func(t int) bool {
		target := c.LineSpeedTarget
		if o.sku(t) == "B" {
			target = 120
		}
		return target > 0 && o.shift[t] != 0 && o.planned[t] != "-" && o.heard[t] && o.runs(t) && o.speed[t] < 0.8*target
	}, func(a, b int) {
		if b-a >= int(c.SlowThreshold/second) {
			fill(slow, a, b)
			o.slow = append(o.slow, span{a, b})
		}
	})
	o.name()
	for t := range o.n {
		name := "idle"
		switch {
		case o.shift[t] == 0:
			name = "out"
		case !o.known[t] && !o.manual[t]:
			name = "noData"
		case o.manual[t] || down[t]:
			name = "downtime"
			o.downtimeSec++
		case slow[t]:
			name = "slow"
		case o.productive[t]:
			name = "productive"
		}
		o.class[t] = name + o.planned[t]
	}
}

// make records units. Units sent by a device make the second known, even if they are its last signal.
func (o *oracle) make(t int, good, bad float64, told bool) {
	sku := o.sku(t)
	if o.schedule[t] == "" {
		sku = monitor.UnknownSKU
	}
	o.made = append(o.made, made{t, sku, good, bad, o.rate(t), o.planned[t] == "+", told || o.known[t]})
	if o.rate(t) > 0 {
		o.all += good + bad
	}
}

// name sets the cause of each stop to its first error code that is a reason.
func (o *oracle) name() {
	for t := range o.n {
		if o.manual[t] {
			o.cause[t] = o.manualCause[t]
		}
	}
	codes := make([][]string, o.n)
	for i := range o.inputs {
		t := o.sec(o.inputs[i].At)
		codes[t] = append(codes[t], o.inputs[i].ErrorCode)
	}
	for _, s := range o.down {
		cause := ""
		for t := s.a; t < s.b; t++ {
			for _, code := range codes[t] {
				if cause == "" && o.cfg.Causes[code] {
					cause = code
				}
			}
		}
		o.stopCause[s.a] = cause
		for t := s.a; t < s.b; t++ {
			if !o.manual[t] {
				o.cause[t] = cause
			}
		}
	}
}

func (o *oracle) sku(t int) string { return o.skus[o.schedule[t]] }

// rate is the units due a minute; 0 during a non-production schedule.
func (o *oracle) rate(t int) float64 {
	if o.paused[t] != "" {
		return 0
	}
	return o.unitsPerMinute(t)
}

func (o *oracle) unitsPerMinute(t int) float64 {
	switch o.sku(t) {
	case "A":
		return 60_000 / o.cfg.SKUs.(monitor.SKUs)["A"].CycleTime
	case "B":
		return o.cfg.SKUs.(monitor.SKUs)["B"].UnitsPerMinute
	}
	return o.cfg.UnitsPerHour / 60
}

// compare compares a view of the machine with the oracle.
func (o *oracle) compare(t *testing.T, v monitor.View) {
	t.Helper()
	at := 0
	for _, g := range v.Segments {
		if g.Start%second != 0 || g.End%second != 0 || o.sec(g.Start) != at {
			t.Fatalf("segment %s to %s does not follow %s", show(g.Start), show(g.End), show(o.from+int64(at)*second))
		}
		want := classNames[g.Class()] + [...]string{"", "+", "-"}[g.Ctx.Kind]
		for ; at < o.sec(g.End); at++ {
			if o.class[at] != want {
				t.Fatalf("at %s the machine says %s, the oracle %s (mode %d, productive by %d)", show(o.from+int64(at)*second), want, o.class[at], o.cfg.DowntimeMode, o.cfg.ProductiveMode)
			}
		}
	}
	if at != o.n {
		t.Fatalf("the segments end at %s", show(o.from+int64(at)*second))
	}
	byMin := make([]float64, len(o.goodByMin))
	good, bad, other := map[string]float64{}, map[string]float64{}, map[string]float64{}
	leftGood, leftBad := map[string]float64{}, map[string]float64{}
	for _, m := range v.Minutes {
		for _, u := range m.Unapplied {
			leftGood[u.Schedule] += float64(u.Good) / monitor.Micro
			leftBad[u.Schedule] += float64(u.Bad) / monitor.Micro
		}
		for _, p := range m.Parts {
			byMin[(m.Start-o.from)/minute] += float64(p.Good) / monitor.Micro
			k := p.Ctx.Production
			good[k] += float64(p.Good) / monitor.Micro
			bad[k] += float64(p.Bad) / monitor.Micro
			other[k] += float64(p.Other) / monitor.Micro
		}
	}
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 1e-3 {
			t.Fatalf("%s: the machine counts %v, the oracle %v", what, got, want)
		}
	}
	for m := range byMin {
		near("good at "+show(o.from+int64(m)*minute), byMin[m], o.goodByMin[m])
	}
	unknownGood, unknownBad := 0.0, 0.0
	for k := range o.good {
		if k[0] == '?' {
			unknownGood += o.good[k]
			unknownBad += o.bad[k]
			continue
		}
		near("good of "+k, good[k], o.good[k])
		near("bad of "+k, bad[k], o.bad[k])
		near("other of "+k, other[k], o.other[k])
	}
	for k := range o.leftGood {
		near("unapplied good of "+k, leftGood[k], o.leftGood[k])
		near("unapplied bad of "+k, leftBad[k], o.leftBad[k])
	}
	near("good without a schedule", good[""], unknownGood)
	near("bad without a schedule", bad[""], unknownBad)
	o.compareWindows(t, v)
	o.compareIssues(t, v)
	o.compareOEE(t, v)
}

func TestAgainstTheOracle(t *testing.T) {
	stops := 0
	for seed := range uint64(stations) {
		t.Run(fmt.Sprint("station", seed), func(t *testing.T) {
			p := generate(seed, days)
			o := solve(p)
			stops += o.downtimeSec
			o.compare(t, run(t, p.cfg, p.from, p.to, p.inputs))
		})
	}
	if stops == 0 {
		t.Error("nothing ever stopped: the plans try nothing")
	}
}
