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

// The size of the console's first view. Its time on a slow computer is logged and not tested, because it depends on
// other work of the computer. The goal is a second.
func TestTheFirstViewIsLight(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{})
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	s.SignIn(tab, "admin")
	tab.SlowCPU(4)
	tab.Visit("/console")
	tab.Until(`document.querySelector("main .cards")`)
	took := webtest.Eval[float64](tab, `new Promise((done) => new PerformanceObserver((list) => done(list.getEntries().at(-1).startTime)).observe({ type: "largest-contentful-paint", buffered: true }))`)
	size := tab.BytesOverWire()
	t.Logf("%.1f KiB over the wire in %d requests; the largest part was painted after %.0f ms with a CPU 4 times slower", float64(size)/1024, len(tab.Requests()), took)
	if size > 200<<10 {
		t.Errorf("the first view takes %d bytes over the wire; 200 KiB are too many", size)
	}
	tab.Clean()
}

// large returns a plant with a number of stations.
func large(stations int) []byte {
	var groups []object
	for n := 0; n < stations; n += 250 {
		var list []object
		for i := n; i < min(n+250, stations); i++ {
			list = append(list, object{"code": fmt.Sprintf("S-%05d", i), "name": fmt.Sprintf("Machine %d", i)})
		}
		groups = append(groups, object{"code": fmt.Sprintf("g%d", n/250), "name": fmt.Sprintf("Group %d", n/250), "stations": list})
	}
	return encode(object{"version": "v1", "account": object{"id": "demo", "domain": "demo.example", "skus": []object{{"code": "A", "name": "Apple", "unitsPerMinute": 10}},
		"plants": []object{{"code": "big", "name": "Big", "timezone": "Europe/Berlin", "dayStartHour": 0, "weekStartDay": 0, "stationGroups": groups}}}})
}

// With 10,000 stations, fields can be edited without delay, and the draft can be checked, reviewed and applied.
func TestTenThousandStationsAreEdited(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: large(10_000)})
	tab := open(t, s, "admin", "/console")
	if got := tab.Text("main .cards"); !strings.Contains(got, "10,000") {
		t.Errorf("the overview shows %s", got)
	}
	tab.Eval(`document.querySelector('a[href="/console/skus"]').click()`)
	tab.Click(`a[href="/console/skus/A"]`)
	tab.Until(`document.querySelector("#f-SKU-name")`)
	tab.Eval(`(() => { window.longest = 0; new PerformanceObserver((list) => { for (const e of list.getEntries()) longest = Math.max(longest, e.duration); }).observe({ type: "longtask" }); })()`)
	tab.Type("#f-SKU-name", "Apricot"+kb.Tab)
	tab.Until(`document.querySelector(".changes")?.textContent.includes("1 change")`)
	tab.Until(kept)
	tab.Until(workspace("w.checked === w.doc || !w.checking"))
	button(tab, ".changes", "Review and apply")
	tab.Until(`document.querySelector("dialog .differences")?.textContent.includes("Apricot")`)
	button(tab, "dialog footer", "Apply")
	tab.Until(`!document.querySelector("dialog") && !document.querySelector(".changes")`)
	longest := webtest.Eval[float64](tab, "longest")
	t.Logf("the page was held up for %.0f ms at most", longest)
	if longest > 1000 {
		t.Errorf("the page was held up for %.0f ms", longest)
	}
	tab.Visit("/console/skus/A")
	wantNames(t, tab, "A Apricot")
	tab.Clean()
}

// From signing in to an applied change by keyboard.
func TestByKeyboardAlone(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: small()})
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	tab.Visit("/signin?next=/console/skus")
	tab.Until(`document.querySelector("#email")`)
	for range 10 {
		if webtest.Eval[bool](tab, `document.activeElement?.id === "email"`) {
			break
		}
		tab.Press(kb.Tab)
	}
	tab.Press(webtest.Admin + kb.Enter)
	code := tab.Text("#code")
	var link struct{ Link string }
	s.Call("POST", "/login-request/"+code+"/link", nil, &link)
	_, token, _ := strings.Cut(link.Link, "#")
	phone := webtest.Open(t, s.Base, webtest.Phone)
	phone.Visit("/docs")
	phone.Eval(fmt.Sprintf(`fetch("/auth/approve", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ token: %q, code: %q }) })`, token, code))
	tab.Until(`location.pathname === "/console/skus" && document.querySelector("main h1")`)

	to := func(what string) { // by Tab
		t.Helper()
		for range 80 {
			if webtest.Eval[bool](tab, `Boolean(document.activeElement?.matches(`+"`"+what+"`"+`))`) {
				return
			}
			tab.Press(kb.Tab)
		}
		t.Fatalf("%s is not reached by the keyboard", what)
	}
	seen := func() { // the focus is visible
		t.Helper()
		if !webtest.Eval[bool](tab, `((e) => { const s = getComputedStyle(e), r = e.getBoundingClientRect(); return (s.outlineStyle !== "none" && s.outlineWidth !== "0px" || s.boxShadow !== "none") && r.top >= 0 && r.bottom <= innerHeight; })(document.activeElement)`) {
			t.Errorf("the focus is not seen on %s", webtest.Eval[string](tab, `document.activeElement.outerHTML.slice(0, 200)`))
		}
	}
	to(`a[href="/console/skus/B"]`)
	seen()
	tab.Press(kb.Enter)
	tab.Until(`document.querySelector("#f-SKU-name")`)
	to("#f-SKU-name")
	seen()
	tab.Press("a", chromedp.ModifierCtrl)
	tab.Press("Baguette" + kb.Tab)
	to(".changes .primary")
	seen()
	tab.Press(kb.Enter)
	tab.Until(`document.querySelector("dialog footer .primary:not(:disabled)")`)
	to("dialog #note")
	tab.Press("A better name")
	to("dialog footer .primary")
	seen()
	tab.Press(kb.Enter)
	tab.Until(`!document.querySelector("dialog") && !document.querySelector(".changes")`)
	if got := applied(s); got != "A Apple,B Baguette,C Cake" {
		t.Errorf("applied: %s", got)
	}
	var revisions []struct{ Note string }
	s.Call("GET", "/account/manifest/revisions?limit=1", nil, &revisions)
	if len(revisions) != 1 || revisions[0].Note != "A better name" {
		t.Errorf("the revision: %+v", revisions)
	}
	if webtest.Eval[bool](tab, `document.activeElement === document.body`) {
		t.Error("after applying the focus is nowhere")
	}
	tab.Clean()
}
