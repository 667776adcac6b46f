//go:build rig

package analysis_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"opsmon/app/test/browser/webtest"
)

// testLosses: the steps equal the API's, add up from all time to good production, and are in the file.
func testLosses(p *plant) {
	t := p.t
	var all []result
	var rows [][]string
	heads := map[string]string{"time": "Step|Kind|Time (ms)|Share of the whole", "units": "Step|Kind|Units|Share of the whole", "money": "Step|Kind|Money|Share of all that was lost"}
	for measure, field := range map[string]func(loss) *float64{"time": func(l loss) *float64 { return l.Ms }, "units": func(l loss) *float64 { return l.Units }, "money": func(l loss) *float64 { return l.Money }} {
		p.same("/oee?"+p.where, &all, func() {
			p.show("&view=losses&measure=" + measure)
			_, rows = p.file(".figure-card button.small")
		})
		if got := strings.Join(rows[0], "|"); got != heads[measure] {
			t.Errorf("the columns of %s are %s", measure, got)
		}
		r, steps := all[0], map[string]float64{}
		sum := 0.0
		for _, row := range rows[1:] {
			value, err := strconv.ParseFloat(row[2], 64)
			if err != nil {
				t.Fatalf("%s: %q", measure, row)
			}
			steps[row[0]] = value
			if row[1] == "loss" || row[1] == "gain" {
				sum += value
			}
		}
		for name, want := range map[string]*float64{"Downtime": field(r.Losses.Downtime), "Speed": field(r.Losses.Speed), "Quality": field(r.Losses.Quality)} {
			if want == nil || steps[name] != *want {
				t.Errorf("%s of %s is %v, want %v", measure, name, steps[name], want)
			}
		}
		if terms := r.Availability; measure == "time" && (steps["Known scheduled production"] != terms.Denominator || steps["Running"] != terms.Numerator) {
			t.Errorf("known scheduled production is %g and running %g, want %+v", steps["Known scheduled production"], steps["Running"], terms)
		}
		whole, rest := r.TotalMs, steps["Good"]
		switch measure {
		case "units":
			whole = *r.ProductionIdealCount
		case "money":
			whole, rest = steps["Lost in all"], 0
		}
		if math.Abs(whole-sum-rest) > 1e-6*whole {
			t.Errorf("in %s %g without %g leaves %g, not %g", measure, whole, sum, whole-sum, rest)
		}
		if drawn := webtest.Eval[int](p.Tab, `document.querySelectorAll(".waterfall .step").length`); drawn != len(rows)-1 {
			t.Errorf("in %s %d steps are drawn of %d", measure, drawn, len(rows)-1)
		}
		p.Shot("losses-" + measure)
	}
}

// testPareto: bars, their file and their links; groups of causes have the same sum.
func testPareto(p *plant) {
	t := p.t
	var bars []struct {
		CauseCode         *string
		DowntimeMs        float64
		Count             int
		Share, Cumulative float64
	}
	var rows [][]string
	p.same("/pareto?"+p.where, &bars, func() {
		p.show("&view=pareto")
		_, rows = p.file(".figure-card button.small")
	})
	if len(rows) != len(bars)+1 {
		t.Fatalf("%d rows for %d bars", len(rows)-1, len(bars))
	}
	links := strings.Split(webtest.Eval[string](p.Tab, `[...document.querySelectorAll("a.cause")].map((a) => new URL(a.href).searchParams.get("cause") ?? "uncaused=" + new URL(a.href).searchParams.get("uncaused")).join()`), ",")
	sum, uncaused := 0.0, false
	for i, b := range bars {
		code, link := "", "uncaused=1"
		if b.CauseCode != nil {
			code, link = *b.CauseCode, *b.CauseCode
		} else {
			uncaused = true
			if rows[i+1][0] != "No cause given" {
				t.Errorf("stops without a cause are called %q", rows[i+1][0])
			}
		}
		if want := []string{code, fmt.Sprint(int64(b.DowntimeMs)), fmt.Sprint(b.Count)}; strings.Join(rows[i+1][1:4], "|") != strings.Join(want, "|") || links[i] != link {
			t.Errorf("bar %d is %q and leads to %s, want %q and %s", i, rows[i+1], links[i], want, link)
		}
		sum += b.DowntimeMs
	}
	if !uncaused {
		t.Error("the plant has no stop without a cause, so nothing was tried with one")
	}
	p.Shot("pareto")
	p.Click(".segmented label:nth-of-type(2)")
	p.Until(`location.search.includes("causes=groups") && document.querySelectorAll(".pareto .cause").length < ` + strconv.Itoa(len(bars)))
	p.shown()
	_, rows = p.file(".figure-card button.small")
	for _, row := range rows[1:] {
		sum -= number(t, row[2])
	}
	if last := rows[len(rows)-1][5]; math.Abs(sum) > 2*60_000*13 || last != "1" {
		t.Errorf("groups differ by %g ms from their causes, and end at %s", sum, last)
	}
}

// testEnergy: figures equal the API's; an unknown one is a dash on the page and empty in the file.
func testEnergy(p *plant) {
	t := p.t
	var want []struct {
		StationCode                               string
		ElectricalKwh, Cost, OutsideProductionKwh *float64
	}
	var rows, shown [][]string
	p.same("/energy?"+p.where+"&by=station", &want, func() {
		p.show("&view=energy")
		_, rows = p.file(".listing button.small")
		shown = p.rows(".listing")
	})
	unknown := 0
	text := func(v *float64) string {
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(*v, 'f', -1, 64)
	}
	for i, r := range want {
		if got := rows[i+1]; got[0] != r.StationCode || got[2] != text(r.ElectricalKwh) || got[3] != text(r.Cost) || got[7] != text(r.OutsideProductionKwh) {
			t.Errorf("row %d is %q, want %s with %s kWh for %s", i, got, r.StationCode, text(r.ElectricalKwh), text(r.Cost))
		}
		if r.ElectricalKwh == nil {
			unknown++
			if shown[i][1] != "–" || shown[i][2] != "–" {
				t.Errorf("%s, which nobody measured, shows %q", r.StationCode, shown[i])
			}
		}
	}
	if unknown == 0 || len(rows) != len(want)+1 {
		t.Errorf("%d of %d stations are not measured, in %d rows", unknown, len(want), len(rows)-1)
	}
	p.Shot("energy")
	// A large figure fits its tile.
	p.Until(`document.querySelector(".tiles div:nth-child(2) .figure")`)
	if over := webtest.Eval[string](p.Tab, `(() => { document.querySelector(".tiles div:nth-child(2) .figure").textContent = "€1,234,567.80"; return [...document.querySelectorAll(".tiles dd")].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.innerText).join(); })()`); over != "" {
		t.Errorf("it is wider than its tile: %s", over)
	}
}

// testCycleTimes compares with the API's cycle times.
func testCycleTimes(p *plant) {
	t := p.t
	var want []struct {
		StationCode, SKUCode string
		MedianMs             float64
		Count                int
	}
	var rows [][]string
	p.same("/analysis/cycletime?"+p.where, &want, func() {
		p.show("&view=cycletimes")
		_, rows = p.file(".listing button.small")
	})
	if len(want) == 0 || len(rows) != len(want)+1 {
		t.Fatalf("%d rows for %d results", len(rows)-1, len(want))
	}
	for i, r := range want {
		if got := rows[i+1]; got[0] != r.SKUCode || got[2] != r.StationCode || got[5] != strconv.FormatFloat(r.MedianMs, 'f', -1, 64) || got[9] != strconv.Itoa(r.Count) {
			t.Errorf("row %d is %q, want %+v", i, got, r)
		}
	}
}

// testExplained: the figures of each view can be explained, and the explanation has the same values.
func testExplained(p *plant) {
	t := p.t
	for view, at := range map[string]string{"oee": ".listing tbody td:nth-child(3) button.figure", "losses": ".step.loss:nth-child(7) button.figure", "losses&measure=time": ".step.whole:nth-child(6) button.figure", "losses&profile=vorne": ".step.whole:nth-child(8) button.figure", "energy": ".tiles button.figure"} {
		p.show("&view=" + view)
		shown := p.Text(at)
		p.Click(at)
		p.Until(`document.querySelector("dialog[open] .equation .value")`)
		said := webtest.Eval[string](p.Tab, `document.querySelector("dialog[open] .equation .value").textContent`)
		if !strings.HasPrefix(view, "losses") && math.Abs(number(t, shown)-number(t, said)) > 0.51 {
			t.Errorf("%s: %s is explained as %s", view, shown, said)
		}
		if bad := webtest.Eval[bool](p.Tab, `Boolean(document.querySelector("dialog[open] [data-adds=false], dialog[open] .notice.bad"))`); bad {
			t.Errorf("%s: %s does not add up", view, shown)
		}
	}
}

// testBarriers: every view is accessible, in light and dark colours.
func testBarriers(p *plant) {
	for _, view := range []string{"oee", "losses", "losses&measure=money", "pareto", "energy", "cycletimes"} {
		p.show("&view=" + view)
		p.Eval(`document.querySelectorAll("details.numbers").forEach((d) => { d.open = true; })`)
		for _, scheme := range []string{"light", "dark"} {
			p.Media("prefers-color-scheme", scheme)
			p.Axe()
			p.Shot(strings.ReplaceAll(view, "&measure=", "-") + "-" + scheme)
		}
	}
}
