//go:build rig

package console_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"opsmon/app/test/browser/webtest"
)

// manifestText opens the manifest and puts the cursor at the start of its text.
func manifestText(t *testing.T, s *webtest.Service) *webtest.Tab {
	t.Helper()
	tab := open(t, s, "admin", "/console/manifest")
	tab.Until(`document.querySelector(".editor")?.shadowRoot?.querySelector(".cm-content")`)
	tab.Eval(`document.querySelector(".editor").shadowRoot.querySelector(".cm-content").focus()`)
	return tab
}

const broken = `document.querySelector("main .notice.bad")?.textContent.includes("not valid JSON")`

func TestWhatOthersApplyWhileATextIsBrokenStays(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: small()})
	tab := manifestText(t, s)
	tab.Press("x")
	tab.Until(broken)
	s.Call("POST", "/account", object{"currency": "USD"}, nil)
	tab.Until(workspace(`w.base.account.currency === "USD"`))
	tab.Press(kb.Backspace)
	tab.Until(`!(` + broken + `)`)
	if got := webtest.Eval[string](tab, workspace(`w.doc.account.currency + " " + w.dirty`)); got != "USD false" {
		t.Errorf("when the text is whole again the draft has the currency and changes: %s", got)
	}
	tab.Until(`document.querySelector(".editor").shadowRoot.querySelector(".cm-content").textContent.includes('"USD"')`)

	// A reload changes nothing.
	tab.Press("x")
	tab.Until(broken)
	s.Call("POST", "/account", object{"currency": "GBP"}, nil)
	tab.Visit("/console/manifest")
	tab.Until(broken)
	tab.Eval(`document.querySelector(".editor").shadowRoot.querySelector(".cm-content").focus()`)
	tab.Press(kb.Delete)
	tab.Until(`!(` + broken + `)`)
	if got := webtest.Eval[string](tab, workspace(`w.doc.account.currency + " " + w.dirty`)); got != "GBP false" {
		t.Errorf("after a reload the draft has the currency and changes: %s", got)
	}
	tab.Clean()
}

func TestUndoInTheEditorIsTheEditors(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: small()})
	tab := manifestText(t, s)
	tab.Eval(workspace(`w.edit((doc) => ({ ...doc, account: { ...doc.account, currency: "CHF" } }))`))
	tab.Press("x")
	tab.Until(broken)
	tab.Press("z", chromedp.ModifierCtrl)
	tab.Until(`!(` + broken + `)`)
	if got := webtest.Eval[string](tab, workspace(`w.doc.account.currency`)); got != "CHF" {
		t.Errorf("undoing what was typed in the editor took the draft back too: %s", got)
	}
	tab.Clean()
}

// A text without the lists that every page needs does not become the draft, wherever something is missing or of another
// type. A missing plant is allowed, and every page still works.
func TestATextThatIsNoManifestIsHeldBack(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: small()})
	tab := manifestText(t, s)
	write := func(change string) {
		tab.Eval(inEditor(`(() => { const d = JSON.parse(text), a = d.account; ` + change + `; v.dispatch({ changes: { from: 0, to: text.length, insert: JSON.stringify(d, null, 2) } }); })()`))
	}
	good := webtest.Eval[string](tab, inEditor(`text`))
	for _, step := range []struct{ change, want string }{
		{`delete a.plants[0].stationGroups`, "“account.plants[0].stationGroups” must be a list."},
		{`a.plants[0].stationGroups[0].stations = null`, "“account.plants[0].stationGroups[0].stations” must be a list."},
		{`a.plants[0].stationGroups[0].stations[1] = "MIX-2"`, "“account.plants[0].stationGroups[0].stations[1]” must be an object."},
		{`a.skus = {}`, "“account.skus” must be a list."},
		{`a.shiftPatterns = [{ code: "x" }]`, "“account.shiftPatterns[0].shifts” must be a list."},
		{`a.reasons = [{ code: "x", reasons: 5 }]`, "“account.reasons[0].reasons” must be a list."},
		{`d.account = []`, "“account” must be an object."},
	} {
		write(step.change)
		tab.Until(fmt.Sprintf(`document.querySelector("main .notice.bad")?.textContent.includes("no manifest") && document.querySelector("main .notice.bad").textContent.includes(%q)`, step.want))
		if webtest.Eval[bool](tab, workspace(`w.dirty`)) {
			t.Errorf("the draft is changed with %s", step.change)
		}
		tab.Eval(inEditor(fmt.Sprintf(`v.dispatch({ changes: { from: 0, to: text.length, insert: %q } })`, good)))
		tab.Until(`!document.querySelector("main .notice.bad")`)
	}
	write(`a.plants = []; a.tasks = [{ code: "t", title: "T", trigger: { type: "cron", pattern: "0 6 * * *", availableBeforeDeadlineMinutes: 30 } }]`)
	tab.Until(workspace(`w.doc.account.plants.length === 0`))
	for _, page := range []string{"tasks", "tasks/t", "shifts", "skus", "reasons", "plants", "account", ""} {
		tab.Visit("/console/" + page)
		tab.Until(`document.querySelector("main h1")`)
		if got := tab.Text("main"); strings.Contains(got, "has a fault") {
			t.Errorf("without a plant /console/%s shows %s", page, got)
		}
	}
	tab.Clean()
}

// The start of a JSON error is marked, whatever the browser's error text.
func TestTheFaultOfATextIsMarked(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: small()})
	tab := manifestText(t, s)
	tab.Eval(inEditor(`v.dispatch({ changes: { from: text.indexOf('"Apple"'), insert: "oops" } })`))
	tab.Until(broken)
	place := webtest.Eval[string](tab, inEditor(`(() => { const line = v.state.doc.lineAt(text.indexOf("oops")); return "Line " + line.number + ", column " + (text.indexOf("oops") - line.from + 1) + ":"; })()`))
	if got := tab.Text("main .notice.bad"); !strings.Contains(got, place) {
		t.Errorf("the fault at %s is told as %s", place, got)
	}
	tab.Clean()
}
