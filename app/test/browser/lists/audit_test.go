//go:build rig

package lists_test

import (
	"fmt"
	"testing"

	"opsmon/app/test/browser/webtest"
)

// TestTheAuditIsSearched: by words, in pages, and the export has the same records.
func TestTheAuditIsSearched(t *testing.T) {
	s, tab := console(t, "admin", "/console", `document.querySelector("h1")`)
	for i := range 110 {
		s.Call("POST", "/user", map[string]string{"email": fmt.Sprintf("person-%d@demo.example", i), "role": "readonly"}, nil)
	}
	tab.Visit("/console/audit")
	tab.Until(`document.querySelectorAll("tbody tr").length >= 20`)
	tab.Axe()
	tab.Type(".search", "ReadOnly user. PERSON")
	tab.Until(`document.querySelector("p.spread").textContent.includes("100 of 110 records")`)
	button(tab, "p.spread", "Show more")
	tab.Until(`document.querySelector("p.spread").textContent.includes("110 of 110 records") && !document.querySelector("p.spread button")`)
	tab.Type(".search", "person-77@")
	tab.Until(`document.querySelector("p.spread").textContent.includes("1 of 1 record")`)
	tab.Shot("audit")
	tab.Axe()
	text := webtest.Eval[string](tab, `fetch([...document.querySelectorAll(".page-head a")].find((a) => a.textContent === "Export CSV").href).then((a) => a.text()).then((t) => t.trim().split("\r\n").map((l) => l.split(",").slice(5, 7).join(" ")).join("|"))`)
	if want := "action target|user.add person-77@demo.example"; text != want {
		t.Errorf("the export has %q, want %q", text, want)
	}
	// A search that stopped at its limit continues with older records, and counts all of them.
	tab.Eval(`(() => { const ask = fetch; window.asked = []; window.fetch = (path, options) => {
		if (!path.startsWith("/audit?")) return ask(path, options);
		const at = new URL(path, location).searchParams, older = at.get("before") === "500", skip = Number(at.get("skip") ?? 0);
		window.asked.push((at.get("before") ?? "") + "/" + skip);
		const results = [...Array(older ? 150 : 1)].map((_, i) => ({ seq: older ? 499 - i : 900, at: "2026-11-20T08:15:30.123Z", accountId: "demo", actor: { email: "", credential: "local", address: "" }, action: "a.b", target: "t", detail: null }));
		return Promise.resolve(Response.json({ isSuccess: true, results: results.slice(skip, skip + 100), paging: { totalElements: results.length, before: older ? undefined : 500 } }));
	}; })()`)
	tab.Type(".search", "older")
	tab.Until(`document.querySelector("p.spread").textContent.includes("1 of 1 record, and older ones were not searched yet")`)
	button(tab, "p.spread", "Search older records")
	tab.Until(`document.querySelector("p.spread").textContent.includes("101 of 151 records")`)
	button(tab, "p.spread", "Show more")
	tab.Until(`document.querySelector("p.spread").textContent.includes("151 of 151 records") && !document.querySelector("p.spread button")`)
	if got := webtest.Eval[string](tab, `window.asked.join(" ")`); got != "/0 500/0 500/100" {
		t.Errorf("it asked for %s", got)
	}
	tab.Visit("/console/audit")
	tab.Until(`document.querySelector("input[type=date]")`)
	tab.Eval(`(to => { to.value = "2001-01-01"; to.dispatchEvent(new Event("change", { bubbles: true })); })(document.querySelectorAll("input[type=date]")[1])`)
	tab.Until(`document.querySelector("#main").innerText.includes("Nothing is found")`)
	tab.Clean()
}
