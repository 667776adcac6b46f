//go:build rig

package entry_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"opsmon/app/test/browser/webtest"
)

const injected = `<img src=x onerror=window.hit=1>`

// toStep waits for a step of the set-up.
func toStep(tab *webtest.Tab, title string) {
	tab.Until(fmt.Sprintf(`document.querySelector("h1")?.textContent === %q`, title))
}

// fill enters the values of the set-up, up to the last step.
func fill(tab *webtest.Tab, code string, each func(step string)) {
	tab.Type("#code", code)
	each("code")
	tab.Press(kb.Enter)
	toStep(tab, "You and your account")
	tab.Type("#email", "it@northgate.example")
	each("account")
	tab.Press(kb.Enter)
	toStep(tab, "Your plant")
	tab.Type("#plant", "Northgate works")
	tab.Type("#timezone", "Europe/Berlin")
	each("plant")
	tab.Press(kb.Enter)
	toStep(tab, "Groups and stations")
	each("stations")
	tab.Click("#next")
	toStep(tab, "Review")
	each("review")
}

// By keyboard, from the empty store to the console: the typed values are stored.
func TestFirstRunByKeyboard(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Empty: true})
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	tab.Visit("/")
	tab.Until(`location.pathname === "/welcome" && document.activeElement?.id === "code"`)
	tab.Press(s.SetupCode + kb.Enter)
	tab.Until(`document.activeElement?.id === "email"`)
	tab.Press("it@northgate.example" + kb.Enter)
	tab.Until(`document.activeElement?.id === "plant"`)
	tab.Press("Northgate works" + kb.Tab)
	tab.Until(`document.activeElement?.id === "timezone"`)
	tab.Eval(`document.activeElement.select()`)
	tab.Press("Europe/Berlin" + kb.Tab)
	tab.Until(`document.activeElement?.id === "dayStart"`)
	tab.Press("06")
	tab.Press(kb.Tab)
	tab.Until(`document.activeElement?.id === "weekStart"`)
	tab.Press("Mon")
	tab.Press(kb.Tab)
	tab.Until(`document.activeElement?.id === "currency"`)
	tab.Eval(`document.activeElement.select()`)
	tab.Press("eur" + kb.Enter)
	tab.Until(`document.activeElement?.id === "group-0"`)
	tab.Eval(`document.activeElement.select()`)
	tab.Press("Presses" + kb.Tab)
	tab.Until(`document.activeElement?.id === "count-0"`)
	tab.Eval(`document.activeElement.select()`)
	tab.Press("5" + kb.Tab)
	tab.Until(`document.activeElement?.id === "stations-0" && document.activeElement?.value?.split("\n").length === 5`)
	tab.Press(kb.Tab + kb.Tab)
	tab.Until(`document.activeElement?.id === "back"`)
	tab.Press(kb.Tab)
	tab.Press(kb.Enter)
	toStep(tab, "Review")
	tab.Until(`document.activeElement?.className === "title"`)
	tab.Press(kb.Tab + kb.Tab)
	tab.Until(`document.activeElement?.id === "next"`)
	tab.Press(kb.Enter)
	tab.Until(`location.pathname === "/console"`)
	got := webtest.Eval[string](tab, `fetch("/account").then((a) => a.json()).then(({ result: { id, domain, currency, manifest: { account: { plants: [p] } } } }) => JSON.stringify([id, domain, currency, p.code, p.name, p.timezone, p.dayStartHour, p.weekStartDay, p.stationGroups.map((g) => [g.code, g.name, g.stations.map((s) => s.code)])]))`)
	want := `["northgate","northgate.example","EUR","northgate-works","Northgate works","Europe/Berlin",6,0,[["presses","Presses",["STATION-1","STATION-2","STATION-3","STATION-4","STATION-5"]]]]`
	if got != want {
		t.Errorf("made:\n%s\nwant:\n%s", got, want)
	}
	if who := webtest.Eval[string](tab, `fetch("/auth/profile").then((a) => a.json()).then((a) => a.result.email + " " + a.result.role + " " + a.result.type + " " + sessionStorage.length)`); who != "it@northgate.example admin session 0" {
		t.Errorf("signed in as %s", who)
	}
	tab.Visit("/welcome") // no longer available
	tab.Until(`location.pathname === "/floor"`)
}

// Each screen, in light and dark colours: accessible, without overflow, with buttons large enough for fingers.
func TestFirstRunOnEveryScreen(t *testing.T) {
	for name, view := range map[string]webtest.Viewport{"laptop": webtest.Laptop, "wide": webtest.TabletWide, "tall": webtest.TabletTall, "phone": webtest.Phone} {
		s := webtest.Serve(t, webtest.Options{Empty: true})
		tab := webtest.Open(t, s.Base, view)
		if view.Touch && view.Width == 800 {
			tab.Media("prefers-color-scheme", "dark")
		}
		tab.Visit("/welcome")
		fill(tab, strings.ToUpper(s.SetupCode), func(step string) {
			tab.Axe()
			if over := webtest.Eval[float64](tab, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
				t.Errorf("%s: %s is %v px too wide", name, step, over)
			}
			if view.Touch {
				if small := webtest.Eval[[]string](tab, `[...document.querySelectorAll("button, input, select, textarea, .entry-foot a")].filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 44).map((e) => e.outerHTML)`); len(small) > 0 {
					t.Errorf("%s: %s: too small for a finger: %v", name, step, small)
				}
			}
			tab.Shot("welcome-" + name + "-" + step)
		})
		tab.Click("#next")
		tab.Until(`location.pathname === "/console"`)
	}
}

// Every problem is shown at its field in the service's words, nothing is stored, and a reload keeps the typed values
// except the code.
func TestFirstRunSaysWhatIsWrong(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Empty: true})
	tab := webtest.Open(t, s.Base, webtest.TabletTall)
	tab.Visit("/signin")
	tab.Until(`location.pathname === "/welcome"`)
	problem := func(field, value, want string) {
		t.Helper()
		tab.Type("#"+field, value)
		tab.Click("#next")
		tab.Until(fmt.Sprintf(`document.querySelector("#%s-problem")?.textContent.includes(%q)`, field, want))
		if !webtest.Eval[bool](tab, fmt.Sprintf(`document.activeElement?.id === %q && document.activeElement.getAttribute("aria-invalid") === "true" && document.activeElement.getAttribute("aria-describedby").includes("%s-problem")`, field, field)) {
			t.Errorf("the cursor is not at %s", field)
		}
	}
	problem("code", "", "Type the code that the PC shows")
	problem("code", "k7qm-2dxa-9fpe", "This is not the set-up code")
	tab.Shot("welcome-problem")
	tab.Axe()
	tab.Type("#code", s.SetupCode)
	tab.Press(kb.Enter)
	toStep(tab, "You and your account")
	problem("email", "no body@northgate.example", "Must be an e-mail address")
	tab.Type("#email", "boss@gmail.com")
	tab.Until(`document.querySelector("#domain-hint").textContent.includes("Anybody can have an address at gmail.com")`)
	problem("domain", injected, "Must be a domain")
	tab.Type("#domain", "acme.example")
	problem("id", "A B", "lower-case letters")
	tab.Shot("welcome-problems")
	tab.Type("#id", "acme")
	tab.Press(kb.Enter)
	toStep(tab, "Your plant")
	tab.Type("#plant", injected)
	problem("timezone", "Berlin", "did you mean Europe/Berlin?")
	tab.Type("#timezone", "Europe/Berlin")
	problem("currency", "XXQ", "currency")
	tab.Type("#currency", "EUR")

	if kept := webtest.Eval[string](tab, `JSON.stringify(sessionStorage) + JSON.stringify(localStorage) + location.href`); strings.Contains(kept, s.SetupCode) || !strings.Contains(kept, "Europe/Berlin") {
		t.Errorf("this is kept: %s", kept)
	}
	tab.Visit("/welcome")
	tab.Until(`document.querySelector(".notice")?.textContent.includes("What you typed is kept")`)
	tab.Type("#code", s.SetupCode)
	tab.Press(kb.Enter)
	toStep(tab, "Your plant")
	if got := webtest.Eval[string](tab, `document.querySelector("#plant").value + document.querySelector("#currency").value`); got != injected+"EUR" {
		t.Errorf("after a reload: %s", got)
	}
	tab.Click("#next")
	toStep(tab, "Groups and stations")
	tab.Click("#add-group")
	tab.Type("#group-1", injected)
	long := strings.Repeat("x", 33)
	tab.Eval(`(() => { const e = document.querySelector("#stations-1"); e.value = "Press 1\n\nPress 1\n` + long + `"; e.dispatchEvent(new Event("input", { bubbles: true })); })()`)
	tab.Click("#next")
	tab.Until(`document.querySelector("#stations-1-problem")?.textContent.startsWith("Line 3: must be")`)
	tab.Shot("welcome-stations-problem")
	tab.Axe()
	tab.Eval(`(() => { const e = document.querySelector("#stations-1"); e.value = "Press 1\n\nPress 1\n梱包機\n` + injected[:32] + `"; e.dispatchEvent(new Event("input", { bubbles: true })); })()`)
	tab.Click("#next")
	toStep(tab, "Review")
	if got := webtest.Eval[string](tab, `[...document.querySelectorAll(".codes code")].map((e) => e.textContent).join()`); got != "STATION-1,STATION-2,STATION-3,PRESS-1,PRESS-1-2,ST-2-3,IMG-SRC-X-ONERROR-WINDOW-HIT-1" {
		t.Errorf("the codes are %s", got)
	}

	// A request without an answer: nothing was stored, and the button works again.
	tab.Eval(`window.real = fetch, window.fetch = () => Promise.reject(new TypeError("Failed to fetch"))`)
	tab.Click("#next")
	tab.Until(`document.querySelector(".notice")?.textContent.includes("The service does not answer")`)
	tab.Shot("welcome-away")
	// A request with a lost answer: it was executed, and this browser is signed in.
	tab.Eval(`window.fetch = async (path, options) => { const answer = await real(path, options); if (path === "/setup") { window.fetch = real; throw new TypeError("lost"); } return answer; }`)
	tab.Click("#next")
	tab.Until(`!document.querySelector("#next").disabled && document.querySelector(".notice")?.textContent.includes("The service does not answer")`)
	tab.Click("#next")
	tab.Until(`location.pathname === "/console"`)
	if webtest.Eval[bool](tab, "'hit' in window") {
		t.Error("a name was run as script")
	}
}

// Somebody else was faster.
func TestFirstRunComesTooLate(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Empty: true})
	slow, quick := webtest.Open(t, s.Base, webtest.TabletWide), webtest.Open(t, s.Base, webtest.Laptop)
	slow.Visit("/welcome")
	fill(slow, s.SetupCode, func(string) {})
	quick.Visit("/welcome")
	fill(quick, s.SetupCode, func(string) {})
	quick.Click("#next")
	quick.Until(`location.pathname === "/console"`)
	slow.Click("#next")
	slow.Until(`document.querySelector(".notice")?.textContent.includes("This appliance is set up already") && document.querySelector('.notice a[href="/signin"]')`)
	slow.Shot("welcome-late")
	slow.Clean()
}
