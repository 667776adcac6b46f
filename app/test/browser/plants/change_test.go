//go:build rig

package plants_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"opsmon/app/test/browser/webtest"
)

func TestStationsAreAddedDuplicatedRenamedAndRemoved(t *testing.T) {
	s, tab := console(t, small(), "admin", "/console/plants/leeds/packing", webtest.Laptop)
	button(tab, ".node-actions", "Add a station")
	tab.Until(`document.querySelector("#f-new-code")?.value === "PACK-3"`)
	tab.Axe()
	tab.Type("#f-new-code", "PACK-1")
	tab.Type("#f-new-name", "Packer 3")
	button(tab, "dialog footer", "Add station")
	tab.Until(`document.querySelector("dialog .field.bad .problem")?.textContent.includes("another station")`)
	tab.Type("#f-new-code", "PACK 3"+kb.Enter)
	tab.Until(`document.querySelector("dialog .field.bad .problem")?.textContent.includes("only")`)
	tab.Type("#f-new-code", "PACK-9"+kb.Enter)
	tab.Until(`location.pathname === "/console/plants/leeds/packing/PACK-9" && document.querySelector("h1").textContent === "Packer 3"`)

	// The code of a new object can be changed, that of an applied one cannot.
	button(tab, ".node-actions", "Change code")
	tab.Type("#f-new-code", "PACK-3"+kb.Enter)
	tab.Until(`location.pathname === "/console/plants/leeds/packing/PACK-3"`)
	tab.Visit("/console/plants/leeds/packing/PACK-1")
	tab.Until(`document.querySelector(".node-actions")`)
	if webtest.Eval[bool](tab, `document.querySelector(".node-actions").textContent.includes("Change code")`) {
		t.Error("the code of a station that is applied can be changed")
	}
	button(tab, ".node-actions", "Duplicate")
	tab.Until(`document.querySelector("#f-new-code")?.value === "PACK-2" || document.querySelector("#f-new-code")?.value === "PACK-4"`)
	tab.Type("#f-new-code", "PACK-4"+kb.Enter)
	tab.Until(`location.pathname.endsWith("/PACK-4")`)
	if got := draft(tab, "plants[0].stationGroups[1].stations.map((s) => s.code + (s.unitsPerMinute ?? ''))"); got != `["PACK-1110","PACK-4110","PACK-2","PACK-3"]` {
		t.Errorf("after duplicating there are %s", got)
	}

	// Removing an object lists its references and removes them, too.
	tab.Visit("/console/plants/leeds/packing/PACK-1")
	button(tab, ".node-actions", "Remove")
	tab.Until(`document.querySelector("dialog")?.textContent.includes("SKU ONE")`)
	if got := tab.Text("dialog"); !containsAll(got, "History is kept", "archived", "same code") {
		t.Errorf("it says %s", got)
	}
	tab.Axe()
	button(tab, "dialog footer", "Remove")
	tab.Until(`location.pathname === "/console/plants/leeds/packing"`)
	if got := draft(tab, "skus[2].stationCodes"); got != "[]" {
		t.Errorf("the SKU names %s", got)
	}
	button(tab, `[aria-label="Removed"]`, "Put back")
	tab.Until(workspace(`w.doc.account.plants[0].stationGroups[1].stations[0].code === "PACK-1" && w.doc.account.plants[0].stationGroups[1].stations[0].unitsPerMinute === 110`))
	button(tab, ".changes", "Undo")
	tab.Until(`document.querySelector('[aria-label="Removed"]')?.textContent.includes("PACK-1")`)
	apply(tab)
	var stations []struct{ StationCode string }
	s.Call("GET", "/station?plantcode=leeds&groupcode=packing", nil, &stations)
	if len(stations) != 3 {
		t.Errorf("there are %v", stations)
	}
	tab.Clean()
}

func TestPlantsAndGroupsAreAddedAndRenamed(t *testing.T) {
	_, tab := console(t, small(), "admin", "/console/plants", webtest.Laptop)
	button(tab, ".page-head", "Add a plant")
	for _, f := range [][2]string{{"plantCode", "ghent"}, {"plantName", "Gent"}, {"groupCode", "hall-1"}, {"groupName", "Hall 1"}, {"code", "G-1"}, {"name", "Press 1"}} {
		tab.Type("#f-new-"+f[0], f[1]+kb.Tab)
	}
	tab.Eval(`(s => { s.value = [...s.options].find((o) => o.text === "Europe/Brussels").value; s.dispatchEvent(new Event("change", { bubbles: true })); })(document.querySelector("#f-new-timezone"))`)
	tab.Axe()
	tab.Shot("add-plant")
	button(tab, "dialog footer", "Add plant")
	tab.Until(`location.pathname === "/console/plants/ghent" && document.querySelector("h1").textContent === "Gent"`)
	tab.Until(`document.querySelector("#f-Plant-timezone").selectedOptions[0].text === "Europe/Brussels"`)
	button(tab, ".node-actions", "Add a group")
	for _, f := range [][2]string{{"groupCode", "hall 2"}, {"groupName", "Hall 2"}, {"code", "G-2"}, {"name", "Press 2"}} {
		tab.Type("#f-new-"+f[0], f[1]+kb.Tab)
	}
	button(tab, "dialog footer", "Add group")
	tab.Until(`location.pathname === "/console/plants/ghent/hall%202" && document.querySelector("h1").textContent === "Hall 2"`)

	tab.Visit("/console/plants/leeds/mixing")
	button(tab, ".node-actions", "Change code")
	tab.Until(`document.querySelector("dialog")?.textContent.includes("SKU MIXED")`)
	tab.Type("#f-new-code", "dough"+kb.Enter)
	tab.Until(`location.pathname === "/console/plants/leeds/dough"`)
	if got := draft(tab, "skus[1].stationGroupCodes"); got != `["dough"]` {
		t.Errorf("the SKU names %s", got)
	}
	apply(tab)
	tab.Clean()
}

func TestStationsAreMovedAndReordered(t *testing.T) {
	_, tab := console(t, small(), "admin", "/console/plants/leeds/mixing/MIX-2", webtest.Laptop)
	tab.Click(`.node-actions [aria-label="Move up in the list"]`)
	tab.Until(workspace(`w.doc.account.plants[0].stationGroups[0].stations[0].code === "MIX-2"`))
	button(tab, ".node-actions", "Move …")
	tab.Type(`dialog input[type=search]`, "lyon")
	tab.Until(`document.querySelectorAll("dialog .choices label").length === 1`)
	tab.Click("dialog .choices input")
	tab.Until(`document.querySelector("dialog")?.textContent.includes("the time zone is Europe/Paris instead of Europe/London")`)
	if got := tab.Text("dialog"); !containsAll(got, "the shift pattern is none instead of Three shifts", "Task lists change", "SKUs that can run change") {
		t.Errorf("it says %s", got)
	}
	tab.Axe()
	tab.Shot("move")
	button(tab, "dialog footer", "Move")
	tab.Until(`location.pathname === "/console/plants/lyon/filling/MIX-2"`)
	tab.Until(`document.querySelector(".node-title").textContent.includes("Moved, not applied")`)
	apply(tab)
	tab.Clean()
}

func TestManyStationsAreEditedTogether(t *testing.T) {
	_, tab := console(t, small(), "admin", "/console/plants", webtest.Laptop)
	tab.Eval(`[...document.querySelectorAll(".node.group")].find((n) => n.textContent.includes("Dough mixing")).querySelector(".tick").click()`)
	tab.Eval(`[...document.querySelectorAll(".node.station")].find((n) => n.textContent.includes("Packer 1")).querySelector(".tick").click()`)
	tab.Until(`document.querySelector(".chosen")?.textContent.includes("3 chosen")`)
	button(tab, ".chosen", "Edit together")
	flag := `[...document.querySelectorAll(".flags li")].find((li) => li.textContent.startsWith("Manual downtime"))`
	tab.Until(flag + `?.textContent.includes("Mixed") && ` + flag + `.textContent.includes("Inherit × 2")`)
	tab.Eval(flag + `.querySelectorAll("input")[3].click()`)
	tab.Until(flag + `.textContent.includes("Changes 2")`)
	tab.Eval(`(s => { s.value = "productiveHoldOnTime"; s.dispatchEvent(new Event("change", { bubbles: true })); })(document.querySelector("#bulk-add"))`)
	tab.Type("#f-bulk-productiveHoldOnTime", "2 min"+kb.Tab)
	tab.Until(`document.querySelector(".together-foot").textContent.includes("3 of 3 stations")`)
	tab.Axe()
	tab.Shot("together")
	button(tab, ".together-foot", "Change 3 stations")
	tab.Until(`document.querySelector(".changes")`)
	if got := draft(tab, "plants[0].stationGroups.flatMap((g) => g.stations.map((s) => [s.code, s.enableManualDowntime, s.productiveHoldOnTime].join()))"); got != `["MIX-1,off,120000","MIX-2,off,120000","PACK-1,off,120000","PACK-2,,","METER,,"]` {
		t.Errorf("after editing them together: %s", got)
	}
	apply(tab)
	tab.Clean()
}

// The tree and its pages by keyboard.
func TestTheTreeIsUsedByKeyboardAlone(t *testing.T) {
	_, tab := console(t, small(), "admin", "/console/plants", webtest.Laptop)
	at := func(name string) {
		t.Helper()
		tab.Until(`document.getElementById(document.querySelector(".tree").getAttribute("aria-activedescendant"))?.querySelector(".name").textContent === "` + name + `"`)
	}
	tab.Eval(`document.getElementById("side-search").focus()`)
	tab.Press(kb.ArrowDown)
	at("Leeds bakery")
	tab.Press(kb.ArrowRight)
	at("Dough mixing")
	tab.Press(kb.ArrowLeft)
	tab.Until(`!document.querySelector(".tree").textContent.includes("Mixer 1")`)
	tab.Press(kb.ArrowRight)
	tab.Until(`document.querySelector(".tree").textContent.includes("Mixer 1")`)
	tab.Press("pack")
	at("Packing")
	tab.Press(kb.End)
	at("Filler 1")
	tab.Press(kb.Home)
	at("Leeds bakery")
	tab.Press(kb.ArrowDown + kb.ArrowDown)
	at("Mixer 1")
	tab.Press(" ")
	tab.Press(kb.ArrowDown, chromedp.ModifierShift)
	tab.Until(`document.querySelector(".chosen")?.textContent.includes("2 chosen")`)
	tab.Press(kb.Escape)
	tab.Until(`!document.querySelector(".chosen")`)
	tab.Press(kb.ArrowUp, chromedp.ModifierAlt)
	tab.Until(workspace(`w.doc.account.plants[0].stationGroups[0].stations[0].code === "MIX-2"`))
	tab.Press(kb.Enter)
	tab.Until(`location.pathname === "/console/plants/leeds/mixing/MIX-2"`)

	// The search opens the first result.
	tab.Type("#side-search", "evora")
	tab.Until(`document.querySelectorAll(".node.station").length === 1`)
	tab.Type("#side-search", "filler"+kb.Enter)
	tab.Until(`location.pathname === "/console/plants/lyon/filling/FILL-1"`)
	tab.Clean()
}

// tabTo presses Tab until the element found by a selector has the focus.
func tabTo(t *testing.T, tab *webtest.Tab, selector string) {
	t.Helper()
	for range 150 {
		if webtest.Eval[bool](tab, `document.activeElement.matches(`+"`"+selector+"`"+`)`) {
			return
		}
		tab.Press(kb.Tab)
	}
	t.Fatalf("Tab does not come to %s", selector)
}

// A station is found, changed, moved and applied by keyboard.
func TestAStationIsChangedByKeyboardAlone(t *testing.T) {
	s, tab := console(t, small(), "admin", "/console/plants", webtest.Laptop)
	tabTo(t, tab, "#side-search")
	tab.Press("packer 1" + kb.Enter)
	tab.Until(`document.querySelector("h1")?.textContent === "Packer 1"`)
	tabTo(t, tab, ".node-actions button:nth-of-type(2)")
	tab.Press(kb.Enter)
	tab.Until(`document.querySelector("dialog input[type=search]") === document.activeElement`)
	tab.Press("mixing")
	tabTo(t, tab, "dialog .choices input")
	tab.Press(" ")
	tab.Until(`document.querySelector("dialog").textContent.includes("What they inherit changes")`)
	tabTo(t, tab, "dialog .button.primary")
	tab.Press(kb.Enter)
	tab.Until(`location.pathname === "/console/plants/leeds/mixing/PACK-1" && !document.querySelector("dialog")`)

	tabTo(t, tab, "#f-Station-name")
	tab.Press("a", chromedp.ModifierCtrl)
	tab.Press("Packer by keys" + kb.Tab)
	tabTo(t, tab, `input[name="flag-enableManualProduction"]`)
	tab.Press(kb.ArrowRight)
	tab.Until(workspace(`w.doc.account.plants[0].stationGroups[0].stations[2].enableManualProduction === "on"`))
	tabTo(t, tab, ".changes .button.primary")
	tab.Press(kb.Enter)
	tab.Until(`document.querySelector("dialog .button.primary:not(:disabled)")`)
	tabTo(t, tab, "dialog .button.primary")
	tab.Press(kb.Enter)
	tab.Until(`!document.querySelector("dialog") && !document.querySelector(".changes")`)
	var got struct {
		Name  string
		Group struct{ Code string }
		Flags map[string]struct{ Value string }
	}
	s.Call("GET", "/station/PACK-1", nil, &got)
	if got.Name != "Packer by keys" || got.Group.Code != "mixing" || got.Flags["enableManualProduction"].Value != "on" {
		t.Errorf("the station is %+v", got)
	}
	tab.Clean()
}

// Selecting, opening and changing by touch; targets are large enough.
func TestATabletIsUsedByFingers(t *testing.T) {
	_, tab := console(t, small(), "member", "/console/plants", webtest.TabletTall)
	tab.Tap(".node.station .tick")
	tab.Until(`document.querySelector(".chosen")?.textContent.includes("1 chosen")`)
	tab.Tap(".node.station a")
	tab.Until(`location.pathname === "/console/plants/leeds/mixing/MIX-1" && document.querySelector(".tabs")`)
	tab.Tap(`.tabs a[href$="view=resolved"]`)
	tab.Until(`document.querySelector(".week")`)
	small := webtest.Eval[[]string](tab, `[...document.querySelectorAll("#main button, #main select, #main .tabs a, #main .node")].filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 44).map((e) => e.outerHTML.slice(0, 120))`)
	if len(small) > 0 {
		t.Errorf("too small for fingers: %v", small)
	}
	tab.Tap(`.tabs a`)
	tab.Until(`document.querySelector(".settings")`)
	tab.Tap(`.jump button:last-child`)
	tab.Until(`(r => r.top >= 0 && r.top < innerHeight)(document.querySelector('section[aria-label="Features"]').getBoundingClientRect())`)
	tab.Clean()
}
