package consoletest_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"opsmon/app/web/webtest"
)

// manifestText opens the manifest and puts the cursor at the beginning of its text.
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

	// A reload changes nothing of that.
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
