//go:build rig

package web_test

import (
	"path"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"opsmon/app/test/browser/webtest"
	"opsmon/assets"
)

func TestMain(m *testing.M) { webtest.Main(m) }

// vendored opens a page from which vendored modules can be imported.
func vendored(t *testing.T) *webtest.Tab {
	t.Helper()
	s := webtest.Serve(t, webtest.Options{})
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	tab.Visit("/link")
	tab.Eval(`globalThis.vendor = new URL("../vendor/", document.querySelector('link[rel="stylesheet"]').href).href`)
	return tab
}

// Every vendored module loads with all of its imports.
func TestVendoredModulesLoadInABrowser(t *testing.T) {
	z, err := assets.Vendor()
	if err != nil {
		t.Fatal(err)
	}
	tab := vendored(t)
	for _, f := range z.File {
		if path.Ext(f.Name) == ".css" {
			if kind := webtest.Eval[string](tab, `fetch(vendor + "`+f.Name+`").then((a) => a.headers.get("Content-Type"))`); kind != "text/css; charset=utf-8" {
				t.Errorf("%s is %s", path.Join("vendor", f.Name), kind)
			}
			continue
		}
		if n := webtest.Eval[int](tab, `import(vendor + "`+f.Name+`").then((m) => Object.keys(m).length, (e) => -1)`); n < 0 {
			t.Errorf("%s does not load", path.Join("vendor", f.Name))
		}
	}
	if got := webtest.Eval[string](tab, `import(vendor + "uqr/dist/index.mjs").then(({ encode }) => { const code = encode("https://opsmon.local/trust", { border: 0 }); return code.size + " " + code.data.length; })`); got != "25 25" {
		t.Errorf("a QR code of %s modules", got)
	}
	tab.Clean()
}

// editor opens an editor of the manifest and a diff view in a shadow root. There the library's styles are adopted style
// sheets, which the policy allows; elsewhere they are style elements, which it forbids.
const editor = `(async () => {
	const load = async (...names) => Object.assign({}, ...await Promise.all(names.map((n) => import(vendor + n + "/dist/index.js"))));
	const cm = await load("@codemirror/state", "@codemirror/view", "@codemirror/language", "@codemirror/commands", "@codemirror/autocomplete", "@codemirror/lint", "@codemirror/search", "@codemirror/lang-json", "@codemirror/merge");
	const host = document.createElement("div");
	document.querySelector("main").prepend(host);
	globalThis.root = host.attachShadow({ mode: "open" });
	const common = [cm.lineNumbers(), cm.foldGutter(), cm.highlightActiveLine(), cm.drawSelection(), cm.bracketMatching(), cm.closeBrackets(), cm.history(), cm.json(), cm.syntaxHighlighting(cm.defaultHighlightStyle)];
	const words = (context) => ({ from: context.matchBefore(/\w*/).from, options: [{ label: "stationCode", detail: "text" }, { label: "skuCode" }] });
	globalThis.cm = cm;
	globalThis.editing = new cm.EditorView({
		doc: '{\n  "name": "Riverside",\n  "plants": [1, 2,, 3]\n}\n', root, parent: root,
		extensions: [...common, cm.lintGutter(), cm.linter(cm.jsonParseLinter(), { delay: 0 }), cm.search({ top: true }), cm.autocompletion({ override: [words], interactionDelay: 0 }),
			cm.keymap.of([...cm.closeBracketsKeymap, ...cm.defaultKeymap, ...cm.searchKeymap, ...cm.historyKeymap, ...cm.completionKeymap, ...cm.lintKeymap])],
	});
	globalThis.comparing = new cm.MergeView({
		a: { doc: '{\n  "name": "Riverside"\n}\n', extensions: common }, b: { doc: '{\n  "name": "Northgate"\n}\n', extensions: common },
		root, parent: root, gutter: true, highlightChanges: true, collapseUnchanged: {},
	});
	globalThis.unified = new cm.EditorView({
		doc: '{\n  "name": "Northgate"\n}\n', root, parent: root, extensions: [...common, cm.unifiedMergeView({ original: '{\n  "name": "Riverside"\n}\n' })],
	});
})()`

func TestTheCodeEditorKeepsThePolicy(t *testing.T) {
	tab := vendored(t)
	tab.Eval(editor)
	// Its styles are applied, including those of highlighting.
	tab.Until(`getComputedStyle(root.querySelector(".cm-scroller")).display === "flex"`)
	tab.Until(`new Set([...root.querySelectorAll(".cm-editor:first-child .cm-line span")].map((e) => getComputedStyle(e).color)).size > 1`)

	tab.Eval(`cm.forceLinting(editing), editing.focus()`)
	tab.Until(`root.querySelector(".cm-lint-marker-error")`)

	tab.Eval(`editing.dispatch({ selection: { anchor: 3 } }), cm.startCompletion(editing)`)
	tab.Until(`root.querySelector(".cm-tooltip-autocomplete [aria-selected]")?.textContent === "skuCode"`)
	tab.Press(kb.Enter)
	tab.Until(`editing.state.sliceDoc(0, 30).includes("skuCode")`)

	tab.Press("f", chromedp.ModifierCtrl)
	tab.Until(`root.activeElement?.closest(".cm-search")`)
	tab.Press("Riverside")
	tab.Until(`root.querySelector(".cm-searchMatch")`)
	tab.Press(kb.Escape)
	tab.Until(`!root.querySelector(".cm-search") && root.activeElement?.classList.contains("cm-content")`)

	tab.Until(`root.querySelectorAll(".cm-mergeView .cm-changedText").length >= 2`)
	tab.Until(`root.querySelector(".cm-deletedChunk") && getComputedStyle(root.querySelector(".cm-deletedChunk")).backgroundColor !== "rgba(0, 0, 0, 0)"`)
	tab.Shot("code-editor")
	tab.Clean()
}

// The test documents why the editor must be in a shadow root.
func TestTheCodeEditorNeedsAShadowRoot(t *testing.T) {
	tab := vendored(t)
	tab.Eval(`(async () => { const { EditorView } = await import(vendor + "@codemirror/view/dist/index.js"); new EditorView({ doc: "x", parent: document.body }); })()`)
	if webtest.Eval[string](tab, `getComputedStyle(document.querySelector(".cm-scroller")).display`) == "flex" {
		t.Error("the editor has its styles outside of a shadow root: the policy lets style elements in, or the library does without; then say so where it is used")
	}
}
