package monitor_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
)

// Reasons of the oracle's plant, and the value of its goods.
var (
	oracleRoles  = map[string]oee.Role{"setup": oee.RoleSetup, "changeover": oee.RoleChangeover, "meeting": oee.RolePlanned, "tool": oee.RolePlanned}
	oracleValues = map[string]float64{"A": 2, "B": 0.5}
)

const oracleIdleCost = 3 // a minute

// compareIssues compares the machine's issues with the oracle's runs of seconds.
func (o *oracle) compareIssues(t *testing.T, v monitor.View) {
	t.Helper()
	manual := o.runsOf(func(t int) bool { return o.manual[t] })
	for typ, want := range map[monitor.IssueType][]span{monitor.IssueStop: o.down, monitor.IssueSlow: o.slow, monitor.IssueManual: manual} {
		var got []span
		for _, i := range slices.Concat(v.Issues, v.Open) {
			if i.Type != typ {
				continue
			}
			s := span{o.sec(i.Start), o.sec(i.End)}
			if i.End == 0 {
				s.b = o.n
			}
			got = append(got, s)
			cause := o.cause[s.a]
			if typ == monitor.IssueStop {
				cause = o.stopCause[s.a]
			}
			if typ != monitor.IssueSlow && i.Cause != cause {
				t.Fatalf("the %s of %s has the cause %q, by the oracle %q", typ, show(i.Start), i.Cause, cause)
			}
		}
		for _, list := range [][]span{got, want} {
			slices.SortFunc(list, func(a, b span) int { return a.a - b.a })
		}
		if !slices.Equal(got, want) {
			t.Fatalf("issues of type %s: the machine has %v, the oracle %v", typ, got, want)
		}
	}
}

func (o *oracle) runsOf(holds func(int) bool) (out []span) {
	for t := range o.n {
		if holds(t) && (t == 0 || !holds(t-1)) {
			out = append(out, span{t, t})
		}
		if holds(t) {
			out[len(out)-1].b = t + 1
		}
	}
	return out
}

// find makes findings that set causes of some stops, split and exclude them: as findings for the machine, and by the
// second for the oracle.
func (o *oracle) find() (findings []monitor.Finding, cause []string, out []bool) {
	cause, out = slices.Clone(o.cause), make([]bool, o.n)
	say := func(typ monitor.IssueType, issue, part span, why string, excluded bool) {
		at := func(sec int) int64 { return o.from + int64(sec)*second }
		findings = append(findings, monitor.Finding{Type: typ, Issue: at(issue.a), Start: at(part.a), End: at(part.b), Cause: why, Excluded: excluded})
		for t := part.a; t < part.b; t++ {
			if typ == monitor.IssueStop && o.manual[t] {
				continue // it has its own cause
			}
			if why != "" {
				cause[t] = why
			}
			out[t] = out[t] || excluded
		}
	}
	for i, s := range o.down {
		middle := (s.a + s.b) / 2
		switch i % 8 {
		case 1:
			say(monitor.IssueStop, s, s, "", true)
		case 3:
			say(monitor.IssueStop, s, s, "setup", false)
		case 4:
			say(monitor.IssueStop, s, span{s.a, middle}, "tool", false)
			say(monitor.IssueStop, s, span{middle, s.b}, "meeting", false)
		case 6:
			say(monitor.IssueStop, s, span{middle, s.b}, "jam", true)
		}
	}
	for i, s := range o.runsOf(func(t int) bool { return o.manual[t] }) {
		switch i % 3 {
		case 0:
			say(monitor.IssueManual, s, s, "", true)
		case 1:
			say(monitor.IssueManual, s, s, "changeover", false)
		}
	}
	return findings, cause, out
}

// expected has figures of some seconds of a plan, calculated by the text of monitoring.md section 7.
type expected struct {
	ratio    map[oee.Profile][3][2]float64 // A, P, Q: numerator and denominator
	coverage [2]float64
	outside  [2]float64 // good and bad units without a schedule
	unknown  [2]float64 // good and bad units of unknown time
	rated    bool
	lost     [oee.Losses][3]float64 // ms, units, money
}

// figures calculates the figures of the seconds from a to b, of one SKU or (sku "") of all.
func (o *oracle) figures(a, b int, sku string, cause []string, out []bool) expected {
	var scheduled, production, stopped, plannedStops, setup, plannedTime, otherTime, ran, slow, shift, unscheduled, ranSetup, heard float64
	var ideal, target, rated float64
	var e expected
	is := func(t int) string {
		if o.schedule[t] == "" {
			return monitor.UnknownSKU
		}
		return o.sku(t)
	}
	for t := a; t < b; t++ {
		plan := o.planned[t]
		class := o.class[t][:len(o.class[t])-len(plan)]
		if sku != "" && is(t) != sku || class == "out" {
			continue
		}
		rate := 0.0
		if plan == "+" {
			rate = o.rate(t)
			scheduled++
			e.rated = e.rated || rate > 0
		}
		if class == "noData" {
			continue
		}
		if plan == "+" {
			heard++ // an excluded stop is known, too
		}
		if class == "downtime" && out[t] {
			continue
		}
		shift++
		runs := class == "productive" || class == "slow"
		role := oracleRoles[cause[t]]
		switch plan {
		case "":
			unscheduled++
			if class == "downtime" && role == oee.RolePlanned {
				otherTime++ // a planned stop without a schedule
			}
			if runs {
				ranSetup++ // counts only for evocon
			}
		case "-":
			e.lost[oee.LossPlanned][0] += second
			e.lost[oee.LossPlanned][2] += oracleIdleCost / 60.
			switch oracleRoles[o.reasons[o.paused[t]]] {
			case oee.RoleSetup, oee.RoleChangeover:
				setup++
				if runs {
					ranSetup++
				}
			case oee.RolePlanned:
				plannedTime++
			default:
				otherTime++
			}
		case "+":
			production++
			ideal += rate / 60
			if class == "downtime" {
				stopped++
				if role == oee.RolePlanned {
					plannedStops++
				}
				e.lost[oee.LossDowntime][1] += rate / 60
				if worth, ok := oracleValues[is(t)]; ok {
					e.lost[oee.LossDowntime][2] += rate / 60 * worth
				} else {
					e.lost[oee.LossDowntime][2] += oracleIdleCost / 60.
				}
				break
			}
			if target += rate / 60; rate > 0 {
				rated++
				if worth, ok := oracleValues[is(t)]; ok {
					e.lost[oee.LossSpeed][2] += rate / 60 * worth
				} else {
					e.lost[oee.LossSpeed][2] += oracleIdleCost / 60.
				}
			}
			if runs {
				ran++
			}
		}
		if class == "slow" {
			slow++
		}
	}
	var good, bad, all, should, badTime float64
	for _, m := range o.made {
		if m.t < a || m.t >= b || sku != "" && m.sku != sku {
			continue
		}
		if !m.scheduled {
			e.outside[0], e.outside[1] = e.outside[0]+m.good, e.outside[1]+m.bad
			continue
		}
		if !m.known {
			e.unknown[0], e.unknown[1] = e.unknown[0]+m.good, e.unknown[1]+m.bad
			continue
		}
		good, bad = good+m.good, bad+m.bad
		worth, valued := oracleValues[m.sku]
		if valued {
			e.lost[oee.LossQuality][2] += m.bad * worth
		}
		if m.rate > 0 {
			e.rated = e.rated || m.good != 0 || m.bad != 0
			all += m.good + m.bad
			should += (m.good + m.bad) * 60 / m.rate
			badTime += m.bad * 60 / m.rate
			if valued {
				e.lost[oee.LossSpeed][2] -= (m.good + m.bad) * worth
			} else {
				e.lost[oee.LossSpeed][2] -= (m.good + m.bad) / m.rate * oracleIdleCost
				e.lost[oee.LossQuality][2] += m.bad / m.rate * oracleIdleCost
			}
		}
	}
	run := production - stopped
	producing := ran + ranSetup
	q := [2]float64{good, good + bad}
	e.ratio = map[oee.Profile][3][2]float64{
		oee.ProfileDefault:  {{run * second, production * second}, {all, target}, q},
		oee.ProfileISO22400: {{ran * second, (production - plannedStops + setup) * second}, {should * second, ran * second}, q},
		oee.ProfileVorne:    {{run * second, (production + setup + plannedTime) * second}, {should * second, run * second}, q},
		oee.ProfileEvocon:   {{producing * second, (shift - plannedStops - plannedTime - otherTime) * second}, {(producing - slow) * second, producing * second}, q},
	}
	e.coverage = [2]float64{heard * second, scheduled * second}
	e.lost[oee.LossSchedule][0], e.lost[oee.LossSchedule][2] = unscheduled*second, unscheduled/60*oracleIdleCost
	e.lost[oee.LossDowntime][0] = stopped * second
	e.lost[oee.LossSpeed][0], e.lost[oee.LossSpeed][1] = (rated-should)*second, target-all
	e.lost[oee.LossQuality][0], e.lost[oee.LossQuality][1] = badTime*second, bad
	return e
}

// compareOEE compares the four profiles, losses and money with the oracle's: of the whole, of each hour and of each
// SKU, with findings about stops.
func (o *oracle) compareOEE(t *testing.T, v monitor.View) {
	t.Helper()
	findings, cause, out := o.find()
	config := oee.Config{Calendar: o.cfg.Calendar, Roles: oracleRoles, Money: true, Values: oracleValues, IdleCostPerMinute: oracleIdleCost}
	var whole oee.Terms
	hours, skus := make([]oee.Terms, o.n/3600), map[string]*oee.Terms{}
	for _, r := range oee.Collect(config, o.from, o.to, monitor.Explain(v.Segments, findings), v.Minutes) {
		whole.Add(&r.Terms)
		hours[(r.Start-o.from)/hour].Add(&r.Terms)
		if skus[r.SKU] == nil {
			skus[r.SKU] = &oee.Terms{}
		}
		skus[r.SKU].Add(&r.Terms)
	}
	o.hold(t, "the whole", &whole, o.figures(0, o.n, "", cause, out))
	for h := range hours {
		o.hold(t, fmt.Sprint("hour ", h), &hours[h], o.figures(h*3600, (h+1)*3600, "", cause, out))
	}
	for sku, terms := range skus {
		o.hold(t, "SKU "+sku, terms, o.figures(0, o.n, sku, cause, out))
	}
}

func (o *oracle) hold(t *testing.T, of string, terms *oee.Terms, want expected) {
	t.Helper()
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 1e-3+1e-9*math.Abs(want) {
			t.Fatalf("%s: %s is %v, by the oracle %v", of, what, got, want)
		}
	}
	for p := oee.ProfileDefault; p <= oee.ProfileEvocon; p++ {
		f := terms.Figures(p)
		product, known := 1.0, true
		for i, got := range []oee.Ratio{f.A, f.P, f.Q} {
			w := want.ratio[p][i]
			what := fmt.Sprintf("%s of %s", [...]string{"A", "P", "Q"}[i], p)
			near(what+"'s numerator", got.Numerator, w[0])
			near(what+"'s denominator", got.Denominator, w[1])
			is := got.Denominator > 0 && (i != 1 || want.rated || p == oee.ProfileEvocon)
			if got.Known != is {
				t.Fatalf("%s: %s is known: %t, by the oracle %t", of, what, got.Known, is)
			}
			if known = known && is; is {
				near(what, got.Value, got.Numerator/got.Denominator)
				product *= got.Value
			}
		}
		if f.OEE.Known != known {
			t.Fatalf("%s: the OEE of %s is known: %t, by the oracle %t", of, p, f.OEE.Known, known)
		}
		if known {
			near("the OEE of "+p.String(), f.OEE.Value, product)
		}
		near("good units without a schedule", float64(terms.UnscheduledGood)/monitor.Micro, want.outside[0])
		near("bad units without a schedule", float64(terms.UnscheduledBad)/monitor.Micro, want.outside[1])
		near("good units without data", float64(terms.UnknownGood)/monitor.Micro, want.unknown[0])
		near("bad units without data", float64(terms.UnknownBad)/monitor.Micro, want.unknown[1])
		near("what coverage knows", f.Coverage.Numerator, want.coverage[0])
		near("what coverage is of", f.Coverage.Denominator, want.coverage[1])
	}
	for l, got := range terms.Lost() {
		w := want.lost[l]
		what := [...]string{"schedule", "planned", "downtime", "speed", "quality"}[l]
		near("time lost by "+what, got.Time, w[0])
		near("units lost by "+what, got.Units, w[1])
		near("money lost by "+what, got.Money, w[2])
	}
}
