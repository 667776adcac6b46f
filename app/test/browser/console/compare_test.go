//go:build rig

package console_test

import (
	"testing"

	"opsmon/app/test/browser/webtest"
)

// The unchanged parts of an edited text and of a merge are shared with the base, so that a large draft is compared
// quickly. A draft is compared once, however often a page is drawn.
func TestADraftSharesWithItsBase(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: small()})
	tab := manifestText(t, s)
	const sharing = `w.doc !== w.base && w.doc.account.plants === w.base.account.plants && w.doc.account.skus[1] === w.base.account.skus[1]`
	tab.Eval(inEditor(`v.dispatch({ changes: { from: text.indexOf("Apple"), to: text.indexOf("Apple") + 5, insert: "Apricot" } })`))
	tab.Until(workspace(`w.doc.account.skus[0].name === "Apricot"`))
	if !webtest.Eval[bool](tab, workspace(sharing)) {
		t.Error("after a change of the text the draft shares nothing with its base")
	}
	if !webtest.Eval[bool](tab, workspace(`w.changes() === w.changes() && w.dirty`)) {
		t.Error("the draft is compared with its base each time")
	}
	s.Call("POST", "/account", object{"currency": "USD"}, nil)
	tab.Until(`document.querySelector(".changes-theirs")`)
	button(tab, ".changes", "See and merge")
	button(tab, "dialog", "Merge")
	tab.Until(workspace(`w.merged && w.base.account.currency === "USD"`))
	if !webtest.Eval[bool](tab, workspace(sharing)) {
		t.Error("after a merge the draft shares nothing with its base")
	}
	tab.Clean()
}

// Changes from another tab do not exceed the limit of undo steps for own changes.
func TestStepsToUndoHaveALimit(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: small()})
	one := open(t, s, "admin", "/console/skus")
	two := again(one, "/console/skus")
	for i := range 120 {
		name := string(rune('a'+i/26)) + string(rune('a'+i%26))
		one.Eval(workspace(`(w.edit((d) => ({ ...d, account: { ...d.account, currency: "` + name + `" } })), w.save())`))
	}
	two.Until(workspace(`w.doc.account.currency === "ep"`))
	if steps := webtest.Eval[int](two, workspace(`(() => { let n = 0; while (w.canUndo) { w.undo(); n++; } return n; })()`)); steps != 100 {
		t.Errorf("%d steps can be undone, not 100", steps)
	}
	one.Clean()
	two.Clean()
}

// inEditor returns an expression about the manifest's editor: v is the editor, and text its content.
func inEditor(expression string) string {
	return `import(document.querySelector("script[type=module]").src.replace("console/main.js", "vendor/@codemirror/view/dist/index.js")).then(({ EditorView }) => {
		const v = EditorView.findFromDOM(document.querySelector(".editor").shadowRoot.querySelector(".cm-editor")), text = v.state.doc.toString(); return ` + expression + `; })`
}

// Numbers are parsed as written, and ambiguous ones are refused.
func TestNumbersAndDurations(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Empty: true})
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	tab.Visit("/docs")
	got := webtest.Eval[string](tab, `import(document.querySelector('link[rel="stylesheet"]').href.replace("app.css", "format.js")).then((f) => [
		...["12000", "12 000", "0,5", "0,125", "12,000", "1,000,000"].map(f.parseNumber), ...["1,5 s", "1,500 s", "12,000"].map(f.parseDuration), ...[119960, 90000, 3599960, 75500].map(f.duration)].join(", "))`)
	if want := "12000, 12000, 0.5, 0.125, NaN, NaN, 1500, NaN, NaN, 2 min, 1 min 30 s, 1 h, 1 min 15.5 s"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	// Text is truncated by characters as people count them.
	got = webtest.Eval[string](tab, `import(document.querySelector('link[rel="stylesheet"]').href.replace("app.css", "brief.js")).then(({ cut }) => ["𞤀".repeat(35), "e\u0301".repeat(60), "e\u0301".repeat(61), "x".repeat(61)].map((text) => cut(text) === text ? "whole" : cut(text).length).join())`)
	if want := "whole,whole,119,60"; got != want {
		t.Errorf("cut gives %s, not %s", got, want)
	}
	// Values of a difference have units.
	got = webtest.Eval[string](tab, `import(document.querySelector('link[rel="stylesheet"]').href.replace("shared/app.css", "console/differences.js")).then((d) => [["dayStartHour", 6], ["weekStartDay", 0], ["duration", 7.5], ["cycleTime", 90000]].map(([name, value]) => d.showValue(value, name)).map((v) => v.values?.[0] ?? v).join(", "))`)
	if want := "06:00, Monday, 7 h 30 min, 1 min 30 s"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	tab.Clean()
}
