//go:build rig

package config_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"opsmon/app/test/browser/webtest"
)

// editor returns an expression about the code editor: v is the editor, and text its content.
func editor(expression string) string {
	return `import(document.querySelector("script[type=module]").src.replace("console/main.js", "vendor/@codemirror/view/dist/index.js")).then(({ EditorView }) => {
		const root = document.querySelector(".editor").shadowRoot, v = EditorView.findFromDOM(root.querySelector(".cm-editor")), text = v.state.doc.toString(); return ` + expression + `; })`
}

const mounted = `document.querySelector(".editor")?.shadowRoot?.querySelector(".cm-content")`

// cursor puts the cursor after a part of the text.
func cursor(tab *webtest.Tab, behind string) {
	tab.Eval(editor(fmt.Sprintf(`(v.dispatch({ selection: { anchor: text.indexOf(%q) + %d }, scrollIntoView: true }), v.focus())`, behind, len(behind))))
}

// complete waits for a completion and accepts it by keyboard.
func complete(tab *webtest.Tab, label string) {
	find := fmt.Sprintf(`[...document.querySelector(".editor").shadowRoot.querySelectorAll(".cm-tooltip-autocomplete li")].findIndex((li) => li.textContent.includes(%q))`, label)
	tab.Until(find + " >= 0")
	// the editor ignores an Enter shortly after the completion appears
	tab.Eval(`new Promise((done) => setTimeout(done, 120))`)
	for range webtest.Eval[int](tab, find) {
		tab.Press(kb.ArrowDown)
	}
	tab.Press(kb.Enter)
}

func upload(t *testing.T, tab *webtest.Tab, name string, content []byte, size int64) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if size > 0 {
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
	}
	tab.Do(chromedp.SetUploadFiles(chromedp.CSS(`input[type=file]`), []string{path}))
}

func TestTheManifestIsWritten(t *testing.T) {
	_, tab := console(t, "/console/manifest?at=account.skus[1].unitsPerMinute", ".editor")
	tab.Until(mounted)
	tab.Until(editor(`text.slice(v.state.selection.main.from, v.state.selection.main.to) === '"unitsPerMinute": 90'`))

	// Typed text changes the draft.
	cursor(tab, `"name": "Loaf`)
	tab.Press(" tin")
	draft(t, tab, "skus[0].name", `"Loaf tin"`)

	// Invalid JSON is marked at its position, does not change the draft, and survives a reload.
	cursor(tab, `{`)
	tab.Press("x")
	tab.Until(`document.querySelector("#main [role=alert]")?.textContent.includes("Line 1, column 2: Expected property name")`)
	tab.Until(`document.querySelector(".editor").shadowRoot.querySelector(".cm-lint-marker-error")`)
	looks(t, tab, "manifest-broken")
	tab.Visit("/console/manifest")
	tab.Until(mounted)
	tab.Until(`document.querySelector("#main [role=alert]")?.textContent.includes("Line 1, column 2")`)
	draft(t, tab, "skus[0].name", `"Loaf tin"`)
	cursor(tab, "{x")
	tab.Press(kb.Backspace)
	tab.Until(`!document.querySelector("#main [role=alert]")`)

	// A duplicate name is refused, as by the service, also after a reload.
	cursor(tab, `"code": "A-1",`)
	tab.Press(`"code": "A-7",`)
	tab.Until(`document.querySelector("#main [role=alert]")?.textContent.includes("“code” stands there twice")`)
	tab.Visit("/console/manifest")
	tab.Until(mounted)
	tab.Until(`document.querySelector("#main [role=alert]")?.textContent.includes("“code” stands there twice")`)
	draft(t, tab, "skus[0].code", `"A-1"`)
	tab.Eval(editor(`v.dispatch({ changes: { from: text.indexOf('"code": "A-7",'), to: text.indexOf('"code": "A-7",') + 14 } })`))
	tab.Until(`!document.querySelector("#main [role=alert]")`)

	// Names and values can be completed by keyboard.
	cursor(tab, `"code": "A-3",`)
	tab.Press(`"allowU`)
	complete(tab, "allowUseInQuickSchedule")
	tab.Press("tr")
	complete(tab, "true")
	tab.Press(",")
	draft(t, tab, "skus[2].allowUseInQuickSchedule", "true")
	cursor(tab, `"code": "SET",`)
	tab.Press(`"oee": ,`)
	tab.Eval(editor(`(v.dispatch({ changes: { from: text.indexOf('"oee": "setup"'), to: text.indexOf('"oee": "setup"') + 14, insert: '"description": "x"' } }), true)`))
	cursor(tab, `"oee": `)
	tab.Press(" ", chromedp.ModifierCtrl)
	complete(tab, "changeover")
	draft(t, tab, "reasons[1].oee", `"changeover"`)
	looks(t, tab, "manifest")

	// Problems found by the service are shown at their line.
	tab.Eval(editor(`v.dispatch({ changes: { from: text.indexOf('"unitsPerHour": 1200') + 16, insert: "-" } })`))
	tab.Until(editor(`(() => { const line = v.state.doc.lineAt(text.indexOf('"unitsPerHour": -1200')), marker = root.querySelector(".cm-lint-marker-error"); return marker && Math.abs(marker.getBoundingClientRect().top - (v.coordsAtPos(line.from)?.top ?? 0)) < 20 || (v.dispatch({ selection: { anchor: line.from }, scrollIntoView: true }), false); })()`))
	tab.Clean()
}

func TestManifestsAreUploadedAndDownloaded(t *testing.T) {
	_, tab := console(t, "/console/manifest", ".editor")
	refused := func(words string) {
		t.Helper()
		tab.Until(fmt.Sprintf(`document.querySelector("dialog [role=alert]")?.textContent.includes(%q)`, words))
		button(tab, "dialog footer", "Close")
		tab.Until(`!document.querySelector("dialog")`)
	}
	upload(t, tab, "rubbish.json", []byte("not at all"), 0)
	refused("Line 1, column 1")
	upload(t, tab, "picture.json", []byte{0xff, 0xd8, 0xff, 0xe0}, 0)
	refused("not text in UTF-8")
	upload(t, tab, "large.json", nil, 33<<20)
	refused("33.0 MiB, more than the 32.0 MiB")
	upload(t, tab, "twice.json", []byte(`{"account":{"plants":[],"plants":[]}}`), 0)
	refused("“plants” stands there twice")
	draft(t, tab, "currency", `"EUR"`)

	doc := document()
	doc["account"].(object)["currency"] = "SEK"
	good, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	upload(t, tab, "good.json", good, 0)
	tab.Until(`document.querySelector("dialog .differences")?.textContent.includes("SEK")`)
	draft(t, tab, "currency", `"EUR"`)
	tab.Axe()
	button(tab, "dialog footer", "Take it as the draft")
	draft(t, tab, "currency", `"SEK"`)
	tab.Until(editor(`text.includes('"currency": "SEK"')`))

	saved := webtest.Eval[string](tab, `new Promise((done) => {
		const address = URL.createObjectURL;
		let saved;
		URL.createObjectURL = (blob) => address.call(URL, (saved = blob));
		HTMLAnchorElement.prototype.click = function () { saved.text().then((text) => done(this.download + " " + text)); };
		[...document.querySelectorAll("#main button")].find((b) => b.textContent.startsWith("Download revision")).click(); })`)
	name, text, _ := strings.Cut(saved, " ")
	if name != "demo-revision-1.json" || !strings.Contains(text, `"currency": "EUR"`) {
		t.Errorf("it saves %s with %.200s", name, text)
	}
	tab.Clean()
}

// A document of 5 MB can be loaded, scrolled and edited; only its visible part is in the page.
func TestALargeManifestIsEdited(t *testing.T) {
	doc := document()
	skus := make([]object, 26000)
	for i := range skus {
		skus[i] = object{"code": fmt.Sprintf("SKU-%05d", i), "name": fmt.Sprintf("Product %d", i), "specifications": strings.Repeat("long ", 16), "unitsPerHour": 100 + i}
	}
	doc["account"].(object)["skus"] = skus
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	s := webtest.Serve(t, webtest.Options{Manifest: b})
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	s.SignIn(tab, "member")
	tab.Visit("/console/manifest?at=account.skus[25990].unitsPerHour")
	tab.Until(mounted)
	tab.Until(editor(`text.length > 5e6 && text.slice(v.state.selection.main.from, v.state.selection.main.to) === '"unitsPerHour": 26090'`))
	tab.Press(kb.ArrowRight)
	tab.Press("5")
	draft(t, tab, "skus[25990].unitsPerHour", "260905")
	if n := webtest.Eval[int](tab, `document.querySelector(".editor").shadowRoot.querySelectorAll("*").length`); n > 5000 {
		t.Errorf("%d elements are in the page", n)
	}
	tab.Clean()
}
