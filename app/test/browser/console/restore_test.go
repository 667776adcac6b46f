//go:build rig

package console_test

import (
	"testing"

	"opsmon/app/test/browser/webtest"
)

func TestARestoreUndoesNothingUnseen(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: small()})
	s.Call("POST", "/account", object{"currency": "USD"}, nil)
	tab := open(t, s, "admin", "/console/revisions/1")
	const press = `.find((b) => b.textContent.trim().startsWith("Restore"))`
	tab.Until(`[...document.querySelectorAll("main button")]` + press)
	tab.Eval(`[...document.querySelectorAll("main button")]` + press + `.click()`)
	tab.Until(`document.querySelector("dialog .differences")`)
	s.Call("POST", "/account", object{"currency": "GBP"}, nil)
	tab.Eval(`[...document.querySelectorAll("dialog button")]` + press + `.click()`)
	tab.Until(`!document.querySelector("dialog") || document.querySelector("dialog .notice.bad")`)
	var account struct{ Currency string }
	if s.Call("GET", "/account", nil, &account); account.Currency != "GBP" {
		t.Errorf("what was applied while somebody looked at a restore is gone: the currency is %s", account.Currency)
	}
}
