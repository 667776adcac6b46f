//go:build rig

package config_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"opsmon/app/test/browser/webtest"
)

func TestRevisionsAreListedComparedAndRestored(t *testing.T) {
	s, tab := console(t, "/console/account", ".flags")
	doc := document()
	for _, currency := range []string{"SEK", "GBP"} {
		doc["account"].(object)["currency"] = currency
		s.Call("PUT", "/account/manifest?note=to+"+currency, doc, nil)
	}
	tab.Visit("/console/revisions")
	tab.Until(`document.querySelectorAll(".table tbody tr").length === 3 && document.querySelector(".table tbody tr").textContent.includes("to GBP")`)
	looks(t, tab, "revisions")
	tab.Click(`#main a[href="/console/revisions/2"]`)
	tab.Until(`document.querySelector(".differences")?.textContent.includes("SEK") && document.querySelector("#main").textContent.includes("From revision 1 to revision 2")`)
	button(tab, "#main", "Show it, with the differences")
	tab.Until(`document.querySelector(".editor")?.shadowRoot?.querySelector(".cm-changedLine")?.textContent.includes("SEK")`)
	looks(t, tab, "revision")
	tab.Click(`#main .page-head a[href="/console/revisions"]`)
	tab.Click(`[aria-label="Choose 3"]`)
	tab.Click(`[aria-label="Choose 1"]`)
	button(tab, "#main .page-head", "Compare two")
	tab.Until(`location.search === "?with=1" && document.querySelector(".differences")?.textContent.includes("GBP")`)

	// Unapplied changes remain when another revision is restored, and are compared with it.
	tab.Visit("/console/skus/A-1")
	tab.Type("#f-SKU-name", "Tin loaf"+kb.Tab)
	draft(t, tab, "skus[0].name", `"Tin loaf"`)
	tab.Click(`.menu a[href="/console/revisions"], nav a[href="/console/revisions"]`)
	tab.Click(`#main a[href="/console/revisions/1"]`)
	button(tab, "#main .page-head", "Restore")
	tab.Until(`document.querySelector("dialog .differences")?.textContent.includes("EUR") && document.querySelector("dialog").textContent.includes("not applied stay")`)
	tab.Axe()
	tab.Shot("restore")
	button(tab, "dialog footer", "Restore")
	tab.Until(`location.pathname === "/console/revisions" && document.querySelectorAll(".table tbody tr").length === 4 && document.querySelector(".changes-theirs")`)
	draft(t, tab, "skus[0].name", `"Tin loaf"`)
	same(t, "the currency", applied(tab)["currency"], `"EUR"`)
	button(tab, ".changes", "See and merge")
	button(tab, "dialog footer", "Merge")
	account := apply(s, tab)
	same(t, "the account", []any{account["currency"], account["skus"].([]any)[0].(map[string]any)["name"]}, `["EUR","Tin loaf"]`)
	tab.Clean()
}

// Each problem links to the form with its field, or else to its place in the manifest.
func TestAProblemLeadsToItsForm(t *testing.T) {
	_, tab := console(t, "/console/account", ".flags")
	for field, want := range map[string]string{
		"account.currency":                                    "/console/account",
		"account.includeReasonCodes[0]":                       "/console/account",
		"account.skus":                                        "/console/skus",
		"account.skus[1].cycleTime":                           "/console/skus/A-2",
		"account.skus[1].stationCodes[2]":                     "/console/skus/A-2",
		"account.shiftPatterns[0].shifts[1].startHour":        "/console/shifts/3x8",
		"account.reasons[0].reasons[1].type":                  "/console/reasons/BRK-M",
		"account.tasks[2].taskListCodes[0].code":              "/console/tasks/t3",
		"account.taskLists[0].trigger.pattern":                "/console/tasks/list/start",
		"account.plants[0].stationGroups[0].stations[1].name": "/console/plants/leeds/packing/PACK-2",
		"account.plants[0].stationGroups":                     "/console/plants/leeds",
		"account.plants[0].timezone":                          "/console/plants/leeds",
		"account.skus[1].colour":                              "/console/manifest?at=account.skus%5B1%5D.colour",
		"account.skus[9].name":                                "/console/manifest?at=account.skus%5B9%5D.name",
		"version":                                             "/console/manifest?at=version",
		"":                                                    "/console/manifest",
	} {
		got := webtest.Eval[string](tab, fmt.Sprintf(`Promise.all(["console/where.js", "shared/workspace.js"].map((path) => import(document.querySelector("script[type=module]").src.replace("console/main.js", path)))).then(([{ hrefOf }, { workspace }]) => hrefOf(workspace, %q))`, field))
		if got != want {
			t.Errorf("%s leads to %s, want %s", field, got, want)
		}
	}
	tab.Clean()
}
