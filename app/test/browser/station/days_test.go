//go:build rig

package station_test

import (
	"encoding/json"
	"testing"
	"time"

	"opsmon/app/test/browser/webtest"
)

// twoWorks returns a manifest of two plants whose days begin at different times.
func twoWorks(t *testing.T) []byte {
	t.Helper()
	type object = map[string]any
	works := func(code, zone, station string, hours int) object { // its day begins the given hours before the usual one
		return object{"code": code, "name": code, "timezone": zone, "dayStartHour": (webtest.DayStart(zone) + 24 - hours) % 24, "weekStartDay": 0, "stationGroups": []object{{"code": "g-" + code, "name": "Hall", "stations": []object{{"code": station, "name": station}}}}}
	}
	b, err := json.Marshal(object{"version": "v1", "account": object{"id": "demo", "domain": "demo.example", "plants": []object{works("near", "Europe/London", "N-1", 0), works("far", "Asia/Tokyo", "F-1", 9)}}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestDaysThatDiffer: yesterday is another range in each plant, and the figures still add up. The dialog shows when the
// page has another figure, and shows the last request, whichever answer arrives last.
func TestDaysThatDiffer(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: twoWorks(t)})
	var signals []map[string]any
	for at := time.Now().UTC().Add(-50 * time.Hour); at.Before(time.Now()); at = at.Add(4 * time.Minute) {
		for _, code := range []string{"N-1", "F-1"} {
			signals = append(signals, map[string]any{"stationCode": code, "at": at.Format(time.RFC3339), "productive": true, "productionCompleteGood": 1})
		}
	}
	s.Call("POST", "/signal", map[string]any{"signals": signals}, nil)
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	s.SignIn(tab, "readonly")
	tab.Visit("/floor")
	tab.Until(floorIsThere)
	wrong := webtest.Eval[[]string](tab, with(`["explain/scope.js", "explain/terms.js", "api.js"]`, `
		const [{ scopeOf, waysOf, rowsOf, partOf }, { addUp, near }, { get }] = m, wrong = [];
		const row = (await get("/oee?rangecode=yesterday")).results[0];
		for (const figure of ["productionGoodCount", "totalMs"]) {
			const scope = await scopeOf({ figure, query: { rangecode: "yesterday" }, row }), ways = waysOf(scope);
			const value = scope.terms.value, [whole] = await rowsOf(scope), parts = await rowsOf(scope, "station");
			if (!value(row) || !near(value(whole), value(row))) wrong.push(figure + " is " + value(row) + " on the page, " + value(whole) + " in its dialog");
			if (ways.join() !== "station" || !addUp(scope.terms, "default", whole, parts).adds) wrong.push(figure + " by " + ways + " does not add up");
			for (const part of parts) {
				const below = partOf(scope, part, "station"), [one] = await rowsOf(below), way = waysOf(below)[0];
				if (!near(value(one), value(part)) || !addUp(below.terms, "default", one, await rowsOf(below, way)).adds) wrong.push(figure + " of " + part.stationCode + " by " + way + " does not add up");
			}
		}
		return wrong;`))
	for _, w := range wrong {
		t.Error(w)
	}
	ask := func(more string) {
		tab.Eval(with(`["explain.js"]`, `m[0].explain({ figure: "productionGoodCount", query: { from: "`+time.Now().UTC().Add(-30*time.Hour).Format(time.RFC3339)+`", to: "`+time.Now().UTC().Add(-20*time.Hour).Format(time.RFC3339)+`" }`+more+` });`))
		tab.Until(`document.querySelector(".explain[aria-busy=false] .adds")`)
	}
	ask(`, value: 7`)
	tab.Until(`document.querySelector("[data-other]")?.textContent.includes("7 units")`)
	tab.Eval(`(() => {
		const ask = window.fetch, held = new Promise((done) => { window.release = done; });
		window.fetch = async (path, ...more) => { if (/by=hour/.test(path)) await held; return ask(path, ...more); };
		const ways = document.querySelectorAll(".explain input[type=radio]");
		ways[1].click();
		ways[0].click();
	})()`)
	tab.Until(`document.querySelector(".explain[aria-busy=false] .adds")`)
	tab.Eval(`(async () => { release(); await new Promise((done) => { setTimeout(done, 500); }); })()`)
	if got := tab.Text(".explain thead th"); got != "Station" {
		t.Errorf("what was asked for last was by station; it shows %q", got)
	}
	tab.Clean()
}
