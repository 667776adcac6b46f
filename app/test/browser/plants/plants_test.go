//go:build rig

package plants_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"opsmon/app/test/browser/webtest"
)

// The page resolves a draft by the same rules as the service resolves an applied manifest.
func TestTheDraftIsResolvedAsTheServiceDoes(t *testing.T) {
	s, tab := console(t, small(), "admin", "/console/plants", webtest.Laptop)
	for _, code := range []string{"MIX-1", "MIX-2", "PACK-1", "PACK-2", "METER", "FILL-1"} {
		var want map[string]any
		s.Call("GET", "/station/"+code, nil, &want)
		for _, name := range []string{"code", "name", "plant", "group", "settings", "statusCode", "statusCodeUpdatedAt", "currentOperatorInitials", "alertMessage", "alertExpiresAt"} {
			delete(want, name)
		}
		text := webtest.Eval[string](tab, `(async () => {
			const base = document.querySelector("script[type=module]").src.replace("main.js", "plants/");
			const [{ indexOf }, { resolve }, doc] = await Promise.all([import(base + "tree.js"), import(base + "resolve.js"), fetch("/account/manifest").then((a) => a.json())]);
			return JSON.stringify(resolve(indexOf(doc).byCode.get("`+code+`"), doc.account)); })()`)
		var got map[string]any
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: service -, page +\n%s", code, diff)
		}
	}
	tab.Clean()
}

func TestAStationIsEditedInPlace(t *testing.T) {
	s, tab := console(t, small(), "member", "/console/plants/leeds/packing/PACK-1", webtest.Laptop)
	tab.Until(`document.querySelector("#f-Station-name")?.value === "Packer 1"`)
	if got := webtest.Eval[string](tab, `document.querySelector("#f-Station-minimumCycleTime").value`); got != "0.35 s" {
		t.Errorf("350 ms are shown as %q", got)
	}
	tab.Type("#f-Station-name", "Pack")
	tab.Eval(workspace(`w.dispatchEvent(new Event("change"))`)) // draws the page again during typing
	tab.Eval(`new Promise(requestAnimationFrame)`)
	tab.Press("er one" + kb.Tab)
	tab.Until(`document.querySelector("h1").textContent === "Packer one"`)
	tab.Type("#f-Station-minimumCycleTime", "1:30"+kb.Tab)
	tab.Until(`document.querySelector("#f-Station-minimumCycleTime").value === "1 min 30 s"`)
	tab.Until(`document.querySelector('[aria-current=page].node .mark.wait')`)
	tab.Axe()

	// A flag shows its inherited value.
	flag := `[...document.querySelectorAll(".flags li")].find((li) => li.textContent.startsWith("Reject units"))`
	if got := webtest.Eval[string](tab, flag+`.querySelector(".flag-value > span").textContent`); got != "On from group Packing" {
		t.Errorf("the flag inherits %q", got)
	}
	tab.Eval(flag + `.querySelectorAll("input")[2].click()`)
	tab.Until(flag + `.querySelector(".flag-value > span").textContent === "instead of On from group Packing"`)

	// One rate replaces the other.
	tab.Eval(`document.querySelectorAll(".rate input[type=radio]")[1].click()`)
	tab.Type("#f-Station-cycleTime", "500 ms"+kb.Tab)
	tab.Until(`document.querySelector("#f-Station-cycleTime").value === "0.5 s"`)
	tab.Shot("station-edited")
	apply(tab)
	var got struct {
		Settings map[string]any
		Flags    map[string]struct{ Value, From string }
	}
	s.Call("GET", "/station/PACK-1", nil, &got)
	want := map[string]any{"cycleTime": 500.0, "unitsPerMinute": nil, "minimumCycleTime": 90000.0}
	for name, value := range want {
		if got.Settings[name] != value {
			t.Errorf("%s is %v, want %v", name, got.Settings[name], value)
		}
	}
	if flag := got.Flags["enableRejectProduction"]; flag.Value != "off" || flag.From != "station" {
		t.Errorf("the flag is %v", flag)
	}
	tab.Clean()
}

// A reverted change is no change, and the service's problems are shown at their fields.
func TestWhatIsWrongStandsAtItsField(t *testing.T) {
	_, tab := console(t, small(), "admin", "/console/plants/leeds/mixing/MIX-1", webtest.Laptop)
	flag := `[...document.querySelectorAll(".flags li")].find((li) => li.textContent.startsWith("Manual downtime"))`
	tab.Until(flag)
	tab.Eval(flag + `.querySelectorAll("input")[1].click()`)
	tab.Until(`document.querySelector(".changes")`)
	tab.Eval(flag + `.querySelectorAll("input")[0].click()`)
	tab.Until(`!document.querySelector(".changes")`)

	tab.Type("#f-Station-name", strings.Repeat("x", 33)+kb.Tab)
	tab.Until(`document.querySelector(".field-text.bad .problem")?.textContent.includes("32")`)
	tab.Until(`document.querySelector('[aria-current=page].node .mark.bad')`)
	tab.Axe()
	tab.Shot("station-problem")
	tab.Clean()
}

func TestWhatHoldsNowAndAfterIsTold(t *testing.T) {
	_, tab := console(t, small(), "admin", "/console/plants/leeds/mixing/MIX-2?view=resolved", webtest.Laptop)
	row := func(label string) string {
		return `[...document.querySelectorAll("tr")].find((r) => r.querySelector("th")?.textContent === "` + label + `")?.innerText.replace(/\s+/g, " ")`
	}
	tab.Until(row("Manual downtime") + ` === "Manual downtime Off station"`)
	tab.Until(row("Quick start") + ` === "Quick start On account"`)
	tab.Until(row("Energy meter only") + ` === "Energy meter only Off by default"`)
	tab.Until(`document.querySelector('[aria-label="Task lists"]').innerText.includes("Cleaning clean, at 14:00 and 22:00, Monday to Friday")`)
	tab.Axe()
	tab.Eval(workspace(`w.edit((doc) => { const next = structuredClone(doc), g = next.account.plants[0].stationGroups[0]; delete g.stations[1].enableManualDowntime; g.shiftPatternCode = "days"; g.excludeReasonCodes = ["SET"]; return next; })`))
	tab.Until(`document.querySelector("tr.differs ins.after")?.textContent.includes("On")`)
	for _, want := range []string{"After applying:", "Days only", "Set-up", "− goes", "Mechanical", "+ comes"} {
		if !strings.Contains(tab.Text(".plants-page"), want) {
			t.Errorf("%q is not told", want)
		}
	}
	tab.Axe()
	tab.Shot("resolved-after")
	tab.Clean()
}

func TestStationsAreComparedAndCopied(t *testing.T) {
	_, tab := console(t, small(), "admin", "/console/plants/leeds/packing/PACK-2?view=compare", webtest.Laptop)
	tab.Type("#f-compare-with", "packer 1")
	tab.Press(kb.Enter)
	tab.Until(`document.querySelector(".compare tr.differs")`)
	tab.Axe()
	tab.Shot("compare")
	button(tab, ".plants-page", "Tick all")
	button(tab, ".plants-page", "Copy")
	tab.Until(`document.querySelector(".changes")`)
	got := draft(tab, "plants[0].stationGroups[1].stations[1]")
	want := `{"code":"PACK-2","name":"Packer 2","unitsPerMinute":110,"downtimeDetectionMode":"production","minimumCycleTime":350,"includeReasonCodes":["BRK-F"]}`
	var a, b map[string]any
	if err := json.Unmarshal([]byte(got), &a); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"createdAt", "updatedAt", "archivedAt", "statusCode", "statusCodeUpdatedAt", "currentOperatorInitials", "alertMessage", "alertExpiresAt"} {
		delete(a, name)
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b, a); diff != "" {
		t.Errorf("copied: want -, got +\n%s", diff)
	}
	tab.Clean()
}

// A failed request is made once, and again when the user asks for it.
func TestWhatCannotBeToldIsSaid(t *testing.T) {
	_, tab := console(t, small(), "admin", "/console/plants/leeds/mixing/MIX-1", webtest.Laptop)
	tab.Eval(`(() => { window.asked = 0; window.real = window.fetch; window.fetch = (path, ...more) => path.startsWith("/station/")
		? (asked++, Promise.resolve(new Response('{"isSuccess":false,"errorCode":"internalServerError","errorMessage":"the disk is gone"}', { status: 500, headers: { "X-Time": Date.now(), "Content-Type": "application/json" } }))) : real(path, ...more); })()`)
	tab.Click(`.tabs a[href$="view=resolved"]`)
	tab.Until(`document.querySelector(".plants-page .notice.bad")?.textContent.includes("The disk is gone.")`)
	tab.Eval(workspace(`w.dispatchEvent(new Event("change"))`))
	tab.Axe()
	if asked := webtest.Eval[int](tab, "asked"); asked != 1 {
		t.Errorf("it was asked %d times", asked)
	}
	tab.Eval(`(() => { window.fetch = window.real; })()`)
	button(tab, ".plants-page", "Try again")
	tab.Until(`document.querySelector(".plants-page .week")`)
	tab.Clean()
}
