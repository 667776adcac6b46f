//go:build rig

package analysis_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"opsmon/app/test/browser/webtest"
)

// testOEE compares the table, the sums, the file and the trend with the API's answers for each profile.
func testOEE(p *plant) {
	t := p.t
	for _, profile := range []string{"default", "iso22400", "vorne", "evocon"} {
		query := "?" + p.where + "&profile=" + profile
		var all []result
		p.same("/oee"+query, &all, func() { p.show("&profile=" + profile) })
		for name, want := range map[string]figure{"oee": all[0].OEE, "availability": all[0].Availability, "performance": all[0].Performance, "quality": all[0].Quality} {
			if got := p.Text(`[data-figure=` + name + `]`); !strings.HasPrefix(got, want.percent()) {
				t.Errorf("%s: %s is %s in all, want %s", profile, name, got, want.percent())
			}
		}
		var want []result
		var rows [][]string
		p.same("/oee"+query+"&by=station", &want, func() { p.show("&profile=" + profile); rows = p.rows(".listing") })
		if len(rows) != len(want) || len(rows) < 10 {
			t.Fatalf("%s: %d rows for %d results", profile, len(rows), len(want))
		}
		for i, r := range want {
			cells := []string{r.OEE.percent(), r.Availability.percent(), r.Performance.percent(), r.Quality.percent()}
			for k, cell := range cells {
				if got, _, _ := strings.Cut(rows[i][k+1], "▲"); strings.TrimSpace(got) != cell {
					t.Errorf("%s: %s has %q, want %q in column %d", profile, rows[i][0], rows[i][k+1], cell, k+1)
				}
			}
			if got := number(t, rows[i][6]); got != math.Round(r.ProductionGoodCount) {
				t.Errorf("%s: %s has %g good units, want %g", profile, rows[i][0], got, r.ProductionGoodCount)
			}
		}
	}
}

// testOEEFile reads the table's file: codes, unrounded figures and their terms.
func testOEEFile(p *plant) {
	t := p.t
	var want []result
	var name string
	var rows [][]string
	p.same("/oee?"+p.where+"&by=station,sku", &want, func() {
		p.show("&by=station,sku")
		name, rows = p.file(".listing button.small")
	})
	if !strings.HasPrefix(name, "oee_20") || !strings.HasSuffix(name, ".csv") {
		t.Errorf("the file is called %s", name)
	}
	columns := "Station code|Station|SKU code|SKU|OEE|Availability|Performance|Quality|Known|Good units|Bad units|"
	for _, c := range []struct {
		label string
		of    func(*result) float64
	}{
		{"Good, made without a schedule", func(r *result) float64 { return r.UnscheduledGoodCount }}, {"Bad, made without a schedule", func(r *result) float64 { return r.UnscheduledBadCount }},
		{"Good, entered without data", func(r *result) float64 { return r.NoDataGoodCount }}, {"Bad, entered without data", func(r *result) float64 { return r.NoDataBadCount }},
	} {
		// whether there are any depends on the hour, because the plant is not always silent
		if slices.ContainsFunc(want, func(r result) bool { return c.of(&r) != 0 }) {
			columns += c.label + "|"
		}
	}
	if got := strings.Join(rows[0], "|"); got != columns+"Scheduled production ms|Downtime ms|Ideal units|Target units" {
		t.Errorf("its columns are %s", got)
	}
	if len(rows) != len(want)+1 {
		t.Fatalf("it has %d rows for %d results", len(rows)-1, len(want))
	}
	for i, r := range want {
		row := rows[i+1]
		value := ""
		if r.OEE.Value != nil {
			value = strconv.FormatFloat(*r.OEE.Value, 'f', -1, 64)
		}
		if row[0] != *r.StationCode || row[2] != *r.SKUCode || row[4] != value {
			t.Errorf("row %d is %q, want %s, %s, %s", i, row, *r.StationCode, *r.SKUCode, value)
		}
	}
}

// testOEEOverTime: the table below the chart has the points of the chart, as in the API's answer.
func testOEEOverTime(p *plant) {
	t := p.t
	var want []result
	var rows [][]string
	p.same("/oee?"+p.where+"&by=hour", &want, func() {
		p.show("&by=group")
		p.Until(`document.querySelector(".plot canvas")`)
		p.Eval(`document.querySelector(".numbers").open = true`)
		rows = p.rows(".numbers")
	})
	if len(rows) != len(want) {
		t.Fatalf("%d rows for %d results", len(rows), len(want))
	}
	for i, r := range want {
		if got := rows[i][1:5]; strings.Join(got, "|") != strings.Join([]string{r.OEE.percent(), r.Availability.percent(), r.Performance.percent(), r.Quality.percent()}, "|") {
			t.Errorf("%s is %q", r.StartAt, rows[i])
		}
	}
	p.Shot("oee")
}

// answer replaces the answer of GET /oee by rows from an expression in the page; the sum of all is the first one.
func (p *plant) answer(rows string) {
	p.Eval(fmt.Sprintf(`(() => { const ask = fetch; window.fetch = (path, options) => {
		if (!path.startsWith("/oee?")) return ask(path, options);
		const all = (%s), by = new URL(path, location).searchParams.get("by");
		return Promise.resolve(Response.json({ isSuccess: true, results: by ? all : all.slice(0, 1) }));
	}; })()`, rows))
}

// made returns a result of GET /oee in the page, with additional fields.
const made = `((more) => { const none = { value: null, numerator: 0, denominator: 0 }, lost = { ms: null, units: null, money: null, moneyPartial: false };
	return { plantCode: "riverside", groupCode: "firing", stationCode: "KILN-1", skuCode: null, shiftName: null, startAt: "2026-11-18T06:00:00.000Z", endAt: "2026-11-19T06:00:00.000Z", profile: "default",
		availability: none, performance: none, quality: none, oee: none, coverage: none, totalMs: 86400000, shiftMs: 0, scheduledProductionMs: 0, scheduledNonProductionMs: 0, outOfShiftMs: 86400000, noDataMs: 0, downtimeMs: 0, slowMs: 0, productiveMs: 0, idleMs: 0, excludedMs: 0,
		productionGoodCount: 0, productionBadCount: 0, productionOtherCount: 0, productionIdealCount: null, productionTargetCount: null, losses: { schedule: lost, plannedNonProduction: lost, downtime: lost, speed: lost, quality: lost }, ...more }; })`

// TestOEEMarks: unknown is not shown as zero, values above 1 are marked with their cause, and coverage is not rounded
// up.
func TestOEEMarks(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{})
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	s.SignIn(tab, "readonly")
	p := &plant{s, tab, t, "last7d", ""}
	p.show("")
	p.answer(`[` + made + `({}), ` + made + `({ stationCode: "KILN-2", performance: { value: 1.042, numerator: 1042, denominator: 1000, aboveOne: true, cause: "rateTooLow" }, quality: { value: 1235.52, numerator: 123552, denominator: 100, aboveOne: true, cause: "rateTooLow" }, oee: { value: 0, numerator: 0, denominator: 1 }, coverage: { value: 0.9999, numerator: 9999, denominator: 10000 } })]`)
	p.Eval(`document.querySelectorAll(".tabs a")[1].click()`)
	p.Until(`document.querySelector(".waterfall")`)
	p.Eval(`document.querySelectorAll(".tabs a")[0].click()`)
	p.Until(`document.querySelectorAll(".listing tbody tr").length === 2`)
	rows := p.rows(".listing")
	if got := strings.Join(rows[0][:6], "|"); got != "Bisque kiln|–|–|–|–|–" {
		t.Errorf("what is not known is shown as %s", got)
	}
	if got := strings.Join(strings.Fields(strings.Join(rows[1][:6], "|")), " "); !strings.HasPrefix(got, "Glost kiln|0.0 %|–|104.2 % ▲") || !strings.HasSuffix(got, "99.9 %") {
		t.Errorf("what is above 1 is shown as %s", got)
	}
	if got := p.Text(".notice.wait"); !strings.Contains(got, "Glost kiln") || !strings.Contains(got, "performance 104.2 %") || !strings.Contains(got, "rate") {
		t.Errorf("the note says %q", got)
	}
	if over := webtest.Eval[int](p.Tab, `[...document.querySelectorAll(".listing .above")].filter((e) => e.getBoundingClientRect().left < e.previousElementSibling.querySelector(".figure").getBoundingClientRect().right).length`); over > 0 {
		t.Errorf("%d marks lie over their figure", over)
	}
	p.Axe()
	p.Media("prefers-color-scheme", "dark")
	p.Axe()
	p.Clean()
}
