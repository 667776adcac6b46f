//go:build rig

package plants_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"opsmon/app/test/browser/webtest"
)

func containsAll(text string, all ...string) bool {
	for _, part := range all {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}

// The tree of 10,000 stations: the page has few rows, a search finds the right ones, and scrolling never blocks the
// page for a second.
func TestTenThousandStations(t *testing.T) {
	_, tab := console(t, large(10_000), "admin", "/console/plants", webtest.Laptop)
	tab.Until(`document.querySelector(".side-foot").textContent.includes("10,000 stations")`)
	tab.Eval(`new Promise(requestIdleCallback)`)
	tab.Eval(`(() => { window.longest = 0; new PerformanceObserver((list) => { for (const e of list.getEntries()) longest = Math.max(longest, e.duration); }).observe({ type: "longtask" }); })()`)
	took := webtest.Eval[[]float64](tab, `(async () => {
		const box = document.getElementById("side-search"), all = [];
		for (const text of ["m", "ma", "machine", "machine 9", "hall 3", "cafe 12", "S-09999", "nothing at all"]) {
			const from = performance.now();
			box.value = text;
			box.dispatchEvent(new Event("input", { bubbles: true }));
			await Promise.resolve();
			await new Promise((done) => setTimeout(done));
			all.push(performance.now() - from);
		}
		return all; })()`)
	t.Logf("searches took %.0f ms", took)
	tab.Until(`document.querySelector(".tree").textContent.trim() === ""`)
	tab.Type("#side-search", "S-09999")
	tab.Until(`document.querySelectorAll(".node.station").length === 1 && document.querySelector(".node.station").textContent.includes("Machine 9999")`)
	tab.Type("#side-search", "machine")
	tab.Until(`document.querySelector(".side-foot").textContent.includes("10,000 of 10,000")`)
	most := webtest.Eval[int](tab, `(async () => {
		const box = document.querySelector(".tree");
		let most = 0;
		for (let i = 0; i <= 60; i++) {
			box.scrollTop = (box.scrollHeight / 60) * i;
			await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
			most = Math.max(most, box.querySelectorAll(".node").length);
		}
		return most; })()`)
	if most < 10 || most > 120 {
		t.Errorf("%d rows are in the page at once", most)
	}
	tab.Until(`document.querySelector(".tree").textContent.includes("Machine 9999")`)
	if longest := webtest.Eval[float64](tab, "longest"); longest >= 1000 {
		t.Errorf("the page was held up for %.0f ms", longest)
	} else {
		t.Logf("the page was held up for %.0f ms at most", longest)
	}

	// All of them can be edited at once.
	tab.Eval(`(() => { document.querySelector(".tree").scrollTop = 0; })()`)
	tab.Until(`document.querySelector(".node.plant .tick")`)
	tab.Eval(`document.querySelector(".node.plant .tick").click()`)
	tab.Until(`document.querySelector(".chosen")?.textContent.includes("10,000 chosen")`)
	button(tab, ".chosen", "Edit together")
	tab.Until(`document.querySelector(".flags")`)
	tab.Eval(`document.querySelectorAll(".flags li")[0].querySelectorAll("input")[2].click()`)
	button(tab, ".together-foot", "Change 10,000 stations")
	tab.Until(`document.querySelector(".changes")?.textContent.includes("10,000 changes")`)
	tab.Clean()
}

var hostile = map[string]string{
	"MARKUP": `<img src=x onerror="alert(1)">`, "RTL": "مكبس التعبئة والتغليف", "EMOJI": "🏭👩‍🏭 Press", "WIDE": strings.Repeat("漢", 32), "BIDI": "\u202eevil\u202c station", "QUOTE": `"'><script>alert(2)</script>`,
}

// Names in any script, including markup, on every view and every screen.
func TestNamesInAnyScript(t *testing.T) {
	var stations []object
	for _, code := range []string{"MARKUP", "RTL", "EMOJI", "WIDE", "BIDI", "QUOTE"} {
		name := hostile[code]
		if utf8.RuneCountInString(name) > 32 {
			t.Fatalf("%q is too long for a station", name)
		}
		stations = append(stations, object{"code": code, "name": name, "description": name})
	}
	doc := document(object{"code": "leeds", "name": hostile["MARKUP"], "timezone": "Europe/London", "dayStartHour": 6, "weekStartDay": 0, "stationGroups": []object{
		{"code": `<b>/../"?#`, "name": hostile["WIDE"] + hostile["WIDE"], "shiftPatternCode": "3x8", "stations": stations}, {"code": "mixing", "name": hostile["RTL"], "stations": []object{{"code": "PACK-1", "name": "Packer"}}}}})
	s, tab := console(t, doc, "admin", "/console/plants", webtest.Laptop)
	for _, code := range []string{"MARKUP", "WIDE", "RTL"} {
		tab.Eval(`[...document.querySelectorAll(".node.station")].find((n) => n.querySelector(".code").textContent === "` + code + `").querySelector("a").click()`)
		tab.Until(`location.pathname.endsWith("/` + code + `") && document.querySelector("h1")`)
		if got := tab.Text("h1"); got != hostile[code] {
			t.Errorf("the heading is %q", got)
		}
	}
	here := webtest.Eval[string](tab, "location.pathname")
	for name, view := range map[string]webtest.Viewport{"laptop": webtest.Laptop, "tablet-wide": webtest.TabletWide, "tablet-tall": webtest.TabletTall, "phone": webtest.Phone} {
		tab := webtest.Open(t, s.Base, view)
		s.SignIn(tab, "admin")
		for _, path := range []string{"/console/plants", here, here + "?view=resolved", here + "?view=compare&with=WIDE"} {
			tab.Visit(path)
			tab.Until(`document.querySelector(".plants-page h1")`)
			if path == here+"?view=resolved" {
				tab.Until(`document.querySelector(".week")`)
			}
			if wide := webtest.Eval[int](tab, "document.documentElement.scrollWidth - innerWidth"); wide > 0 {
				t.Errorf("%s %s is %d pixels too wide", name, path, wide)
			}
			tab.Axe()
			tab.Shot("hostile-" + name + "-" + strings.NewReplacer("/", "_", "?", "_", "%", "").Replace(path[len("/console"):]))
		}
		tab.Media("prefers-color-scheme", "dark")
		tab.Axe()
		tab.Shot("hostile-dark-" + name)
		tab.Clean()
	}
	tab.Clean()
}

// Read-only users see the same and can change nothing.
func TestReadersChangeNothing(t *testing.T) {
	s, tab := console(t, small(), "supervisor", "/console/plants/leeds/packing/PACK-1", webtest.TabletTall)
	tab.Until(`document.querySelector("#f-Station-name")`)
	if open := webtest.Eval[[]string](tab, `[...document.querySelectorAll(".plants-page input, .plants-page select, .plants-page textarea")].filter((e) => !e.matches(":disabled")).map((e) => e.id || e.name)`); len(open) > 0 {
		t.Errorf("can be changed: %v", open)
	}
	if webtest.Eval[bool](tab, `document.querySelector(".node-actions") !== null`) {
		t.Error("there are actions")
	}
	tab.Tap(".tree .node.station:not([aria-current]) > :nth-child(2)") // the place of the checkbox
	tab.Until(`location.pathname !== "/console/plants/leeds/packing/PACK-1"`)
	tab.Eval(`document.querySelector(".tree").focus()`)
	tab.Press("a", chromedp.ModifierCtrl)
	if webtest.Eval[bool](tab, `document.querySelector(".tick, .chosen, [aria-selected]") !== null`) {
		t.Error("stations can be chosen, which is for what changes them")
	}
	tab.Axe()
	var before, after object
	s.Call("GET", "/account", nil, &before)
	tab.Eval(workspace(`w.edit((doc) => ({ ...doc, account: {} }))`))
	s.Call("GET", "/account", nil, &after)
	if diff := cmp.Diff(before["manifest"], after["manifest"]); diff != "" {
		t.Error(diff)
	}
	tab.Clean()
}
