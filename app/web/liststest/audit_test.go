package liststest_test

import (
	"fmt"
	"testing"

	"opsmon/app/web/webtest"
)

// TestTheAuditIsSearched: by words, in pages, and the export has the same.
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
	tab.Eval(`(to => { to.value = "2001-01-01"; to.dispatchEvent(new Event("change", { bubbles: true })); })(document.querySelectorAll("input[type=date]")[1])`)
	tab.Until(`document.querySelector("#main").innerText.includes("Nothing is found")`)
	tab.Clean()
}
