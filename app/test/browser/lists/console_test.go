//go:build rig

package lists_test

import (
	"fmt"
	"testing"

	"opsmon/app/test/browser/webtest"
)

func TestMain(m *testing.M) { webtest.Main(m) }

// console opens a page of the console with the demo's plant.
func console(t *testing.T, role, path, ready string) (*webtest.Service, *webtest.Tab) {
	t.Helper()
	s := webtest.Serve(t, webtest.Options{})
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	s.SignIn(tab, role)
	tab.Visit(path)
	tab.Until(ready)
	return s, tab
}

// lists returns an expression that uses the modules of lists, files and documents, the schemas and the draft's
// workspace.
func lists(body string) string {
	return `(async () => {
		const at = (path) => import(document.querySelector("script[type=module]").src.replace("console/main.js", path));
		const [lists, csv, document_, { schemas }, { workspace: w }] = await Promise.all(["console/lists/lists.js", "shared/csv.js", "shared/document.js", "shared/schema.js", "shared/workspace.js"].map(at));
		const all = await schemas(), doc = w.doc, { exportList, importList } = lists, { differences, setIn } = document_;
		` + body + ` })()`
}

// button clicks the button with a text below a selector.
func button(tab *webtest.Tab, below, text string) {
	find := fmt.Sprintf(`[...document.querySelectorAll(%q)].find((b) => b.textContent.trim().startsWith(%q) && !b.disabled)`, below+" button", text)
	tab.Until(find)
	tab.Eval(find + `.click()`)
}
