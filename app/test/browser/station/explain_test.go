//go:build rig

package station_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"opsmon/app/test/browser/webtest"
)

const floorIsThere = `document.querySelector("[data-station]")`

// addUp follows figures of several kinds of rows through all breakdowns down to the minutes, and returns differences.
// Each request is made once, because it is the same for all figures of a profile.
const addUp = `
	const [{ figures }, { profiles }, { scopeOf, waysOf, rowsOf, partOf }, { addUp, near }, { get, query }] = m;
	const asked = new Map(), ask = window.fetch;
	window.fetch = async (path, options) => {
		if (!asked.has(path)) asked.set(path, await ask(path, options));
		return asked.get(path).clone();
	};
	const to = new Date(Date.now() - 2 * 3600000).toISOString(), from = new Date(Date.now() - 20 * 3600000 - 7 * 60000).toISOString();
	const stations = (await get("/station")).results.map((s) => s.stationCode);
	const busy = (await get("/oee" + query({ from, to, by: "station" }))).results.sort((a, b) => b.productionGoodCount * b.downtimeMs - a.productionGoodCount * a.downtimeMs)[0].stationCode;
	const specs = [{ query: { from, to } }, ...stations.map((code) => ({ query: { from, to, stationcodes: code } }))];
	for (const by of rowsBy) {
		const query_ = { from, to };
		for (const row of (await get("/oee" + query({ ...query_, by }))).results.filter((row) => !by.includes("shift") || row.shiftName).slice(0, 4)) specs.push({ query: query_, row });
	}
	// these do not depend on profile and SKU
	const energetic = ["electricalKwh", "outsideProductionKwh", "cost", "co2", "kwhPerUnit", "kwhPerProductiveHour", "energyCoverage"];
	const wrong = [], known = {}, levels = {};
	let checked = 0;
	async function walk(scope, name, depth, row) {
		for (const by of waysOf(scope)) {
			levels[by] = (levels[by] ?? 0) + 1;
			const [[whole], rows] = await Promise.all([rowsOf(scope), rowsOf(scope, by)]);
			if (!whole) { if (rows.length) wrong.push(name + " has rows of nothing"); continue; }
			if (row && scope.profile === "default" && scope.terms.source === "oee" && !near(scope.terms.value(whole), scope.terms.value(row))) wrong.push(name + " is " + scope.terms.value(row) + " on the page and " + scope.terms.value(whole) + " in its dialog");
			let sum = addUp(scope.terms, scope.profile, whole, rows);
			if (!sum.adds) { // late signals may have arrived between two answers
				asked.clear();
				const [[now], parts] = await Promise.all([rowsOf(scope), rowsOf(scope, by)]);
				sum = addUp(scope.terms, scope.profile, now, parts);
			}
			checked++;
			if (sum.value !== null) known[scope.figure] = (known[scope.figure] ?? 0) + 1;
			if (!sum.adds) wrong.push(name + " by " + by + ": " + JSON.stringify([sum.sums, sum.value, scope.terms.value(whole), scope.terms.columns.map((c) => c.of(whole))]));
			const most = rows.filter((row) => by !== "station" || row.stationCode === busy).sort((a, b) => b.totalMs - a.totalMs || b.downtimeMs * b.productionGoodCount - a.downtimeMs * a.productionGoodCount)[0];
			if (most && depth < 4 && (by !== "minute")) await walk(partOf(scope, most, by), name + " / " + by, depth + 1);
		}
	}
	for (const figure of Object.keys(figures)) {
		if (figure.startsWith("pareto") || (only.length && !only.includes(figure))) continue;
		for (const profile of Object.keys(profiles)) for (const spec of specs) if (!energetic.includes(figure) || (profile === "default" && !spec.row?.skuCode)) await walk(await scopeOf({ figure, profile, ...spec }), figure + " " + profile + " " + JSON.stringify(spec), 0, spec.row);
	}
	const unknown = Object.keys(figures).filter((f) => !known[f] && !f.startsWith("pareto") && (!only.length || only.includes(f)));
	return { wrong: wrong.slice(0, 10), amount: wrong.length, unknown, checked, levels, requests: asked.size };`

// walked is the result of addUp.
type walked struct {
	Wrong, Unknown            []string
	Amount, Checked, Requests int
	Levels                    map[string]int
}

// walk breaks down figures of the plant, of its stations and of rows by a dimension; only limits the figures.
func walk(t *testing.T, tab *webtest.Tab, rowsBy, only string) walked {
	t.Helper()
	got := webtest.Eval[walked](tab, with(`["explain/names.js", "explain/rules.js", "explain/scope.js", "explain/terms.js", "api.js"]`, "const rowsBy = "+rowsBy+", only = "+only+";"+addUp))
	t.Logf("%d sums checked, by %v, with %d requests", got.Checked, got.Levels, got.Requests)
	for _, w := range got.Wrong {
		t.Errorf("%s", w)
	}
	if got.Amount > len(got.Wrong) {
		t.Errorf("and %d more", got.Amount-len(got.Wrong))
	}
	return got
}

// TestAnyFigureIsAsked explains figures of a simulated plant.
func TestAnyFigureIsAsked(t *testing.T) {
	s, tab := floor(t, "readonly", "/floor", floorIsThere)
	aFigureIsAsked(t, s, tab)
	everyFigureAddsUp(t, tab)
}

// everyFigureAddsUp: each figure of each profile, of the plant, of each station and of rows by SKU and group, is the
// sum of its parts, from the whole down to the minute.
func everyFigureAddsUp(t *testing.T, tab *webtest.Tab) {
	t.Helper()
	got := walk(t, tab, `["sku", "group", "station,sku", "group,day"]`, `[]`)
	for _, figure := range got.Unknown {
		if figure != "losses.schedule.units" && figure != "losses.plannedNonProduction.units" {
			t.Errorf("%s is known nowhere: nothing was checked", figure)
		}
	}
	for _, way := range []string{"station", "hour", "minute"} {
		if got.Levels[way] == 0 {
			t.Errorf("nothing was taken apart by %s", way)
		}
	}
	tab.Clean()
}

// TestAShiftAddsUp checks the breakdown of a row by shift with shifts across midnight: they belong to the day in which
// they start.
func TestAShiftAddsUp(t *testing.T) {
	var doc map[string]any
	if err := json.Unmarshal(alwaysOn(t), &doc); err != nil {
		t.Fatal(err)
	}
	account := doc["account"].(map[string]any)
	var shifts []map[string]any
	for day := range 7 {
		for i, name := range []string{"Day", "Night"} {
			shifts = append(shifts, map[string]any{"name": name, "startHour": 7 + 12*i, "duration": 12, "weekDay": fmt.Sprint(day + 1)})
		}
	}
	account["shiftPatterns"] = append(account["shiftPatterns"].([]any), map[string]any{"code": "ROUND", "title": "Round the clock", "shifts": shifts})
	for _, plant := range account["plants"].([]any) {
		for _, group := range plant.(map[string]any)["stationGroups"].([]any) {
			group.(map[string]any)["shiftPatternCode"] = "ROUND"
		}
	}
	manifest, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	s := webtest.Serve(t, webtest.Options{Manifest: manifest, Simulated: true})
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	s.SignIn(tab, "readonly")
	tab.Visit("/floor")
	tab.Until(floorIsThere)
	got := walk(t, tab, `["shift", "shift,day", "station,shift"]`, `["oee", "availability", "downtimeMs", "productionGoodCount", "losses.speed.units"]`)
	if len(got.Unknown) > 0 || got.Levels["hour"] == 0 {
		t.Errorf("%v are known nowhere; taken apart by %v", got.Unknown, got.Levels)
	}
	tab.Clean()
}

// aFigureIsAsked: the dialog of a figure shows its terms, its rule and its rows, down to the signals, and works by
// keyboard.
func aFigureIsAsked(t *testing.T, s *webtest.Service, tab *webtest.Tab) {
	t.Helper()
	var rows []struct {
		StationCode         string
		ProductionGoodCount float64
		DowntimeMs          float64
		Oee                 struct{ Value *float64 }
	}
	now := time.Now().UTC().Truncate(time.Minute)
	span := fmt.Sprintf("from=%s&to=%s", now.Add(-5*time.Hour).Format(time.RFC3339), now.Add(-2*time.Hour).Format(time.RFC3339))
	s.Call("GET", "/oee?by=station&"+span, nil, &rows)
	best := rows[0]
	for _, r := range rows {
		if r.ProductionGoodCount > best.ProductionGoodCount {
			best = r
		}
	}
	open := func(figure, profile string) {
		tab.Eval(with(`["explain.js"]`, fmt.Sprintf(`m[0].explain({ figure: %q, profile: %q, query: { stationcodes: %q, from: %q, to: %q } }); return true;`,
			figure, profile, best.StationCode, now.Add(-5*time.Hour).Format(time.RFC3339), now.Add(-2*time.Hour).Format(time.RFC3339))))
		tab.Until(`document.querySelector(".explain[aria-busy=false] .adds")`)
	}
	open("oee", "default")
	if got, want := tab.Text(".explain .value"), fmt.Sprintf("%.2f %%", *best.Oee.Value*100); got != want {
		t.Errorf("OEE is %s, want %s", got, want)
	}
	if got := webtest.Eval[string](tab, `document.querySelector(".explain .adds").dataset.adds`); got != "true" {
		t.Errorf("the rows do not add up: %s", tab.Text(".explain .adds"))
	}
	tab.Shot("explain-oee")
	tab.Axe()
	tab.Media("prefers-color-scheme", "dark")
	tab.Shot("explain-oee-dark")
	tab.Axe()
	tab.Media("prefers-color-scheme", "light")
	// An hour, a minute, and the signals of the minute.
	tab.Click(".explain tbody tr:nth-child(2) .link")
	tab.Until(`document.querySelector(".explain-path") && document.querySelectorAll(".explain[aria-busy=false] .parts tbody tr").length === 60`)
	if got := webtest.Eval[string](tab, `document.querySelector(".explain .adds").dataset.adds`); got != "true" {
		t.Errorf("the minutes do not add up: %s", tab.Text(".explain .adds"))
	}
	tab.Click(".explain tbody .link")
	tab.Until(`document.querySelectorAll(".explain-path li").length === 3 && document.querySelector("[aria-label=Signals] tbody tr")`)
	tab.Shot("explain-minute")
	tab.Axe()
	// Back to the start and out of the dialog: the focus returns.
	tab.Click(".explain-path .link")
	tab.Until(`!document.querySelector(".explain-path")`)
	tab.Press(kb.Escape)
	tab.Until(`!document.querySelector("dialog")`)
	for _, profile := range []string{"iso22400", "vorne", "evocon"} {
		open("availability", profile)
		tab.Shot("explain-" + profile)
		tab.Press(kb.Escape)
		tab.Until(`!document.querySelector("dialog")`)
	}
	// A cause's share of the downtime: the selected row is shown among all.
	var causes []struct {
		CauseCode *string
		Share     float64
	}
	s.Call("GET", "/pareto?"+span, nil, &causes)
	if len(causes) > 0 {
		code := "null"
		if causes[0].CauseCode != nil {
			code = fmt.Sprintf("%q", *causes[0].CauseCode)
		}
		tab.Eval(with(`["explain.js"]`, fmt.Sprintf(`m[0].explain({ figure: "paretoShare", row: { causeCode: %s }, query: { from: %q, to: %q } }); return true;`, code, now.Add(-5*time.Hour).Format(time.RFC3339), now.Add(-2*time.Hour).Format(time.RFC3339))))
		tab.Until(`document.querySelector(".explain tr.mine")`)
		if got, want := tab.Text(".explain .value"), fmt.Sprintf("%.2f %%", causes[0].Share*100); got != want {
			t.Errorf("the share is %s, want %s", got, want)
		}
		tab.Shot("explain-pareto")
		tab.Axe()
		tab.Press(kb.Escape)
	}
	tab.Clean()
}
