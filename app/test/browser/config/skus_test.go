//go:build rig

package config_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"opsmon/app/test/browser/webtest"
)

func TestSKUsAreAddedRatedAndRemoved(t *testing.T) {
	s, tab := console(t, "/console/skus", ".table")
	looks(t, tab, "skus")
	button(tab, "#main .page-head", "Add an SKU")
	tab.Until(`location.pathname === "/console/skus/NEW-SKU"`)
	tab.Type("#f-SKU-code", "A-4"+kb.Tab)
	tab.Until(`location.pathname === "/console/skus/A-4"`)
	tab.Type("#f-SKU-name", "Cake"+kb.Tab)
	tab.Until(`document.querySelector("h1").textContent === "Cake"`)

	// One kind of rate replaces the other.
	choose(tab, "Cycle time")
	tab.Type("#f-SKU-cycleTime", "1 min 30 s"+kb.Tab)
	draft(t, tab, "skus[3]", `{"code":"A-4","name":"Cake","cycleTime":90000}`)
	tab.Until(`document.querySelector(".rate").textContent.includes("40 units an hour")`)
	tab.Type("#f-SKU-cycleTime", "soon"+kb.Tab)
	tab.Until(`document.querySelector("#f-SKU-cycleTime").validationMessage.includes("such as 90 s")`)
	tab.Type("#f-SKU-cycleTime", "1:30"+kb.Tab)
	tab.Until(`document.querySelector("#f-SKU-cycleTime").value === "1 min 30 s"`)

	// The service's problem is shown at its field.
	tab.Eval(workspace(`w.edit((doc) => ({ ...doc, account: { ...doc.account, skus: doc.account.skus.with(3, { ...doc.account.skus[3], stationCodes: ["PACK-9"] }) } }))`))
	tab.Until(`document.querySelector("#f-SKU-stationCodes-problem").textContent.includes("PACK-9")`)
	looks(t, tab, "sku")
	tab.Click(`[aria-label="Remove PACK-9"]`)
	tab.Type("#f-SKU-stationCodes", "packer 2"+kb.Enter)
	draft(t, tab, "skus[3].stationCodes", `["PACK-2"]`)

	tab.Click(`#main .page-head a[href="/console/skus"]`)
	tab.Click(`[aria-label="Choose A-1"]`)
	tab.Click(`[aria-label="Choose A-3"]`)
	button(tab, "#main .page-head", "Remove 2")
	button(tab, "dialog footer", "Remove")
	draft(t, tab, "skus.map((sku) => sku.code)", `["A-2","A-4"]`)
	tab.Type("#main .search", "cake")
	tab.Until(`document.querySelectorAll(".table tbody tr").length === 1 && document.querySelector(".table tbody").textContent.includes("PACK-2")`)
	account := apply(s, tab)
	same(t, "the SKU", account["skus"].([]any)[1], `{"code":"A-4","cycleTime":90000,"name":"Cake","stationCodes":["PACK-2"]}`)

	// A right-to-left name is aligned like the others, however long it is.
	tab.Eval(workspace(`w.edit((doc) => ({ ...doc, account: { ...doc.account, skus: [3, 50, 200].map((n) => ({ code: "R" + n, name: "خبز ".repeat(n / 3), cycleTime: 1000 })) } }))`))
	tab.Type("#main .search", "خبز")
	tab.Until(`document.querySelectorAll(".table tbody tr").length === 3`)
	if n := webtest.Eval[int](tab, `new Set([...document.querySelectorAll("tbody td:nth-child(3) span")].map((e) => { const text = document.createRange(); text.selectNodeContents(e); return text.getClientRects()[0].left; })).size`); n != 1 {
		t.Errorf("three names begin at %d places", n)
	}

	// Of very many SKUs the first are drawn, and more on scrolling; each can be opened by keyboard.
	tab.Eval(workspace(`w.edit((doc) => ({ ...doc, account: { ...doc.account, skus: Array.from({ length: 600 }, (_, i) => ({ code: "N" + i, name: "Many", cycleTime: 1000 })) } }))`))
	tab.Type("#main .search", "many")
	const rows = `document.querySelectorAll(".table tbody tr").length`
	tab.Until(rows + ` === 250`)
	if got := tab.Text(".table-rest"); !strings.Contains(got, "250 of 600 rows") {
		t.Errorf("below the table stands %q", got)
	}
	if got := webtest.Eval[string](tab, `["beforeprint", "afterprint"].map((type) => (dispatchEvent(new Event(type)), `+rows+`)).join()`); got != "600,250" {
		t.Errorf("on paper, and afterwards, the table has %s rows", got)
	}
	tab.Until(`(scrollTo(0, document.body.scrollHeight), document.querySelectorAll(".table tbody tr").length === 600 && !document.querySelector(".table-rest"))`)
	tab.Eval(`scrollTo(0, 0)`)
	tab.Type("#main .search", "N")
	tab.Until(rows + ` === 250`)
	// a mouse click would scroll first, which draws more rows
	tab.Eval(`document.querySelector(".table-rest button").click()`)
	tab.Until(rows + ` === 600 && document.activeElement.matches(".table-wrap")`)
	tab.Type("#main .search", "N599")
	tab.Until(`document.querySelectorAll(".table tbody tr").length === 1`)
	for range 20 {
		if tab.Press(kb.Tab); webtest.Eval[bool](tab, `document.activeElement.matches("tbody a")`) {
			break
		}
	}
	if outline := webtest.Eval[string](tab, `getComputedStyle(document.activeElement).outlineStyle`); outline != "solid" {
		t.Errorf("the focus of a row is shown by an outline that is %s", outline)
	}
	tab.Press(kb.Enter)
	tab.Until(`location.pathname === "/console/skus/N599" && document.querySelector("h1").textContent === "Many"`)
	tab.Clean()
}
