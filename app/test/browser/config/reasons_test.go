//go:build rig

package config_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"opsmon/app/test/browser/webtest"
)

// dropReason drags a reason onto a part of another one's row: 0 is its upper edge, 1 its lower one.
func dropReason(tab *webtest.Tab, from, onto string, part float64) {
	tab.Eval(fmt.Sprintf(`(() => {
		const row = (code) => document.querySelector('.tree-row[data-code="' + code + '"]'), from = row(%q), onto = row(%q);
		const box = onto.getBoundingClientRect(), dataTransfer = new DataTransfer();
		const tell = (element, type) => element.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer, clientX: box.left + 40, clientY: box.top + box.height * %v }));
		tell(from, "dragstart"); tell(onto, "dragover"); tell(onto, "drop"); tell(from, "dragend"); })()`, from, onto, part))
}

// codes returns the tree of reasons as a short text.
const codes = `reasons.map(function code(r) { return r.code + (r.reasons?.length ? "(" + r.reasons.map(code).join() + ")" : ""); }).join()`

func TestReasonsAreDraggedMovedRenamedAndApplied(t *testing.T) {
	s, tab := console(t, "/console/reasons", ".tree-row")
	dropReason(tab, "STAFF", "BRK", 0.5)
	draft(t, tab, codes, `"BRK(BRK-E,BRK-M,STAFF),SET"`)
	dropReason(tab, "SET", "BRK", 0.1)
	draft(t, tab, codes, `"SET,BRK(BRK-E,BRK-M,STAFF)"`)
	dropReason(tab, "BRK-E", "BRK-M", 0.9)
	draft(t, tab, codes, `"SET,BRK(BRK-M,BRK-E,STAFF)"`)
	dropReason(tab, "BRK", "BRK-M", 0.5) // not into itself
	dropReason(tab, "BRK-M", "BRK", 0.1)
	draft(t, tab, codes, `"SET,BRK-M,BRK(BRK-E,STAFF)"`)

	tab.Click(`.tree-row[data-code="STAFF"]`)
	tab.Until(`location.pathname === "/console/reasons/STAFF"`)
	tab.Eval(`document.querySelector('.tree-row[data-code="STAFF"]').focus()`)
	for _, step := range []struct{ key, want string }{
		{kb.ArrowUp, `"SET,BRK-M,BRK(STAFF,BRK-E)"`}, {kb.ArrowDown, `"SET,BRK-M,BRK(BRK-E,STAFF)"`}, {kb.ArrowLeft, `"SET,BRK-M,BRK(BRK-E),STAFF"`},
		{kb.ArrowRight, `"SET,BRK-M,BRK(BRK-E,STAFF)"`}, {kb.ArrowRight, `"SET,BRK-M,BRK(BRK-E(STAFF))"`},
	} {
		tab.Press(step.key, chromedp.ModifierAlt)
		draft(t, tab, codes, step.want)
		tab.Until(`document.activeElement.dataset.code === "STAFF"`)
	}
	tab.Press(kb.ArrowUp) // without Alt it only moves the focus
	tab.Until(`location.pathname === "/console/reasons/BRK-E"`)
	looks(t, tab, "reasons")

	// References to a reason use its new code.
	tab.Visit("/console/reasons/BRK")
	tab.Type("#f-Reason-code", "STOP"+kb.Tab)
	tab.Until(`location.pathname === "/console/reasons/STOP"`)
	draft(t, tab, "plants[0].stationGroups[0].stations[0].includeReasonCodes", `["STOP"]`)
	tab.Type("#f-Reason-name", "Stopped"+kb.Tab)
	draft(t, tab, "reasons[2].name", `"Stopped"`)

	button(tab, "#main .page-head", "Add a reason")
	tab.Until(`location.pathname === "/console/reasons/NEW-REASON"`)
	button(tab, ".split", "Add below it")
	tab.Until(`location.pathname === "/console/reasons/NEW-REASON-2"`)
	draft(t, tab, codes, `"SET,BRK-M,STOP(BRK-E(STAFF)),NEW-REASON(NEW-REASON-2)"`)
	tab.Click(`.tree-row[data-code="NEW-REASON"]`)
	button(tab, ".split", "Remove")
	tab.Until(`document.querySelector("dialog")?.textContent.includes("1 reason below it goes too")`)
	button(tab, "dialog footer", "Remove")
	draft(t, tab, codes, `"SET,BRK-M,STOP(BRK-E(STAFF))"`)
	account := apply(s, tab)
	same(t, "the last reason", account["reasons"].([]any)[2].(map[string]any)["code"], `"STOP"`)
	tab.Clean()
}

// A selected reason is visible, beside the tree or further down the page.
func TestAReasonThatIsChosenIsSeen(t *testing.T) {
	_, tab := console(t, "/console/reasons", ".tree-row")
	tab.Eval(workspace(`w.edit((doc) => ({ ...doc, account: { ...a, reasons: Array.from({ length: 60 }, (_, i) => ({ code: "R" + i, name: "Reason " + i })) } }))`))
	last := `document.querySelector("[data-code=R59]")`
	for _, size := range [][2]int64{{1280, 800}, {800, 1280}, {640, 400}} {
		tab.Do(chromedp.EmulateViewport(size[0], size[1], chromedp.EmulateScale(1)))
		tab.Visit("/console/reasons")
		tab.Until(last)
		tab.Eval(last + `.scrollIntoView({ block: "center" })`)
		before := webtest.Eval[float64](tab, `scrollY`)
		tab.Eval(last + `.click()`)
		tab.Until(`(({ top, bottom }) => top < innerHeight / 2 && bottom > innerHeight / 2)(document.querySelector(".split > :last-child:has(#f-Reason-code)")?.getBoundingClientRect() ?? {})`)
		if after := webtest.Eval[float64](tab, `scrollY`); size[0] > 700 && after != before {
			t.Errorf("at %d pixels the tree went from %g to %g", size[0], before, after)
		}
	}
	tab.Clean()
}
