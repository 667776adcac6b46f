//go:build rig

package console_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"opsmon/app/test/browser/webtest"
)

type object = map[string]any

// encode encodes a document as JSON.
func encode(doc object) []byte {
	b, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return b
}

// small returns a plant with two stations and three SKUs.
func small() []byte {
	return encode(object{"version": "v1", "account": object{
		"id": "demo", "domain": "demo.example", "currency": "EUR",
		"skus": []object{{"code": "A", "name": "Apple", "unitsPerMinute": 10}, {"code": "B", "name": "Bread", "unitsPerMinute": 20}, {"code": "C", "name": "Cake", "unitsPerMinute": 30}},
		"plants": []object{{"code": "leeds", "name": "Leeds", "timezone": "Europe/London", "dayStartHour": 6, "weekStartDay": 0, "stationGroups": []object{
			{"code": "mixing", "name": "Mixing", "stations": []object{{"code": "MIX-1", "name": "Mixer 1"}, {"code": "MIX-2", "name": "Mixer 2"}}}}}},
	}})
}

// open opens a page of the console in a new tab with its own user.
func open(t *testing.T, s *webtest.Service, role, path string) *webtest.Tab {
	t.Helper()
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	s.SignIn(tab, role)
	tab.Visit(path)
	tab.Until(`document.querySelector("main h1")`)
	return tab
}

// again opens another tab with the same cookies and storage.
func again(tab *webtest.Tab, path string) *webtest.Tab {
	next := tab.Beside()
	next.Visit(path)
	next.Until(`document.querySelector("main h1")`)
	return next
}

// workspace returns an expression about the draft's workspace w.
func workspace(expression string) string {
	return `import(document.querySelector("script[type=module]").src.replace("console/main.js", "shared/workspace.js")).then(({ workspace: w }) => ` + expression + `)`
}

// names returns the SKUs of the draft: "A Apple,B Bread".
func names(tab *webtest.Tab) string {
	return webtest.Eval[string](tab, workspace(`w.doc.account.skus.map((s) => s.code + " " + s.name).join()`))
}

// wantNames waits until the draft has the given SKUs.
func wantNames(t *testing.T, tab *webtest.Tab, want string) {
	t.Helper()
	tab.Until(workspace(fmt.Sprintf(`(w.doc?.account.skus.map((s) => s.code + " " + s.name).join() === %q)`, want)))
}

// applied returns the service's manifest.
func applied(s *webtest.Service) (all string) {
	var account struct {
		Manifest struct {
			Account struct{ SKUs []struct{ Code, Name string } }
		}
	}
	s.Call("GET", "/account", nil, &account)
	for i, sku := range account.Manifest.Account.SKUs {
		if i > 0 {
			all += ","
		}
		all += sku.Code + " " + sku.Name
	}
	return all
}

// rename changes the name of the SKU on the open page like a person.
func rename(tab *webtest.Tab, code, name string) {
	tab.Visit("/console/skus/" + code)
	tab.Type("#f-SKU-name", name+"\t")
	tab.Until(`document.querySelector(".changes")`)
}

// button clicks the button with a text below a selector.
func button(tab *webtest.Tab, below, text string) {
	find := fmt.Sprintf(`[...document.querySelectorAll(%q)].find((b) => b.textContent.trim().startsWith(%q) && !b.disabled)`, below+" button", text)
	tab.Until(find)
	tab.Eval(find + `.click()`)
}

// apply reviews the draft and applies it.
func apply(tab *webtest.Tab) {
	button(tab, ".changes", "Review and apply")
	button(tab, "dialog", "Apply")
	tab.Until(`!document.querySelector("dialog") && !document.querySelector(".changes")`)
}

// kept is an expression for whether the browser stores a draft.
const kept = `(new Promise((done) => { const asked = indexedDB.open("opsmon", 1); asked.onsuccess = () => { const all = asked.result.transaction("kept").objectStore("kept").getAllKeys(); all.onsuccess = () => { asked.result.close(); done(all.result.some((k) => k.startsWith("draft:"))); }; }; }))`

const notKept = kept + `.then((k) => !k)`
