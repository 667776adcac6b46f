//go:build rig

package console_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"opsmon/app/test/browser/webtest"
)

// Texts as entered by people and by attackers.
var texts = []string{
	`<img src=x onerror=alert(1)>`, `"'><svg onload=alert(2)>`, `javascript:alert(3)`, "مكبس التعبئة والتغليف", "🏭👩‍🏭 Press", "\u202eevil\u202c", "${alert(4)}{{.}}", strings.Repeat("漢", 24), strings.Repeat("W", 24),
}

// hostile returns a manifest in which every text is one of those, and each description has the maximum length.
func hostile() []byte {
	turn := 0
	text := func() string { turn++; return texts[turn%len(texts)] }
	short := func() string { r := []rune(text()); return string(r[:min(len(r), 31)]) + string(rune('a'+turn%26)) }
	long := func() string {
		one := text() + " "
		return one + strings.Repeat("W", 4000-len([]rune(one)))
	}
	stations := []object{}
	for i := range texts {
		stations = append(stations, object{"code": fmt.Sprintf("S%d", i), "name": short(), "description": long()})
	}
	return encode(object{"version": "v1", "account": object{
		"id": "demo", "domain": "demo.example", "currency": "EUR", "dashboardConfig": object{"<img src=x onerror=alert(5)>": long()},
		"skus": []object{
			{"code": "JS", "name": long(), "unitsPerMinute": 1, "specifications": long(), "instructionsUrl": "https://x.example/\"><script>alert(6)</script>" + strings.Repeat("x", 500), "stationCodes": []string{"S0"}, "stationGroupCodes": []string{`<i>"`}},
			{"code": "<script>", "name": texts[0], "unitsPerMinute": 1, "instructionsUrl": "https://plant.example/" + strings.Repeat("x", 3000)}},
		"shiftPatterns": []object{{"code": "<s>", "title": long(), "shifts": []object{{"name": long(), "startHour": 6, "duration": 8, "weekDay": "1"}}}},
		"reasons":       []object{{"code": "<r>", "name": long(), "reasons": []object{{"code": "R2", "name": texts[0]}, {"code": "R3", "name": texts[3]}}}},
		"tasks":         []object{{"code": "<t>", "title": long(), "taskListCodes": []object{{"code": "<l>", "order": 1}}}},
		"taskLists":     []object{{"code": "<l>", "name": long()}},
		"plants": []object{{"code": "ppp", "name": long(), "timezone": "Europe/London", "dayStartHour": 6, "weekStartDay": 0, "stationGroups": []object{
			{"code": `<i>"`, "name": long(), "shiftPatternCode": "<s>", "stations": stations}}}},
	}})
}

// pageNames returns the names of the menu's pages from the console itself.
func pageNames(t *testing.T) (names []string) {
	t.Helper()
	source, err := os.ReadFile("../../../../assets/console/pages.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile(`path: "([^"]*)", module: "([^"]*)"`).FindAllSubmatch(source, -1) {
		if _, err := os.Stat("../../../../assets/console/pages/" + string(found[2]) + ".js"); err == nil {
			names = append(names, string(found[1]))
		}
	}
	if len(names) < 10 {
		t.Fatalf("the pages are %v", names)
	}
	return names
}

// Every page of the console with hostile names: no script runs, nothing overflows horizontally, and all pages are
// accessible.
func TestHostileNamesOnEveryPage(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: hostile()})
	var made object
	s.Call("POST", "/account", object{"currency": "USD"}, &made)
	paths := []string{"skus/JS", "skus/%3Cscript%3E", "shifts/%3Cs%3E", "reasons/%3Cr%3E", "plants/ppp", "plants/ppp/%3Ci%3E%22", "plants/ppp/%3Ci%3E%22/S0", "plants/ppp/%3Ci%3E%22/S0?view=resolved", "plants/ppp/%3Ci%3E%22/S0?view=compare&with=S1", "tasks/%3Ct%3E", "tasks/list/%3Cl%3E", "revisions/2"}
	for _, view := range []webtest.Viewport{webtest.Laptop, webtest.TabletTall} {
		t.Run(fmt.Sprint(view.Width), func(t *testing.T) {
			tab := webtest.Open(t, s.Base, view)
			s.SignIn(tab, "admin")
			for _, path := range append(pageNames(t), paths...) {
				tab.Visit("/console/" + path)
				tab.Until(`document.querySelector("main h1") && !document.querySelector("main .loading")`)
				checkWidth(t, tab)
				checkHeight(t, tab)
				for _, scheme := range []string{"dark", "light"} {
					tab.Media("prefers-color-scheme", scheme)
					tab.Axe()
				}
				if view == webtest.Laptop {
					checkPaper(t, tab)
				}
				tab.Shot(fmt.Sprintf("hostile-%d-%s", view.Width, strings.NewReplacer("/", "_", "%", "", "?", "_").Replace(path)))
				if links := webtest.Eval[[]string](tab, `[...document.querySelectorAll("a[href], form[action], iframe, object, embed")].map((e) => e.href ?? e.action ?? e.tagName).filter((h) => !/^https?:|^blob:/.test(h))`); len(links) > 0 {
					t.Errorf("%s has live links %v", path, links)
				}
			}
			tab.Clean()
		})
	}
}

// The dialogs and the bar with the same names.
func TestHostileNamesInDialogs(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: hostile()})
	ann := open(t, s, "member", "/console/skus")
	for _, view := range []webtest.Viewport{webtest.Laptop, webtest.TabletTall} {
		t.Run(fmt.Sprint(view.Width), func(t *testing.T) {
			tab := webtest.Open(t, s.Base, view)
			s.SignIn(tab, "admin")
			tab.Visit("/console/skus/JS")
			tab.Until(`document.querySelector("main h1")`)
			tab.Eval(workspace(`w.edit((d) => ({ ...d, account: { ...d.account, skus: d.account.skus.map((s) => ({ ...s, name: "mine " + s.name.slice(0, 3000), specifications: "<img src=y onerror=alert(9)>" + "m".repeat(3000) })) } }))`))
			button(tab, ".changes", "Review and apply")
			tab.Until(`document.querySelector("dialog .differences, dialog .problems")`)
			checkWidth(t, tab)
			tab.Axe()
			tab.Shot(fmt.Sprintf("hostile-review-%d", view.Width))
			button(tab, "dialog footer", "Back")
			ann.Eval(workspace(fmt.Sprintf(`w.edit((d) => ({ ...d, account: { ...d.account, skus: d.account.skus.map((s) => ({ ...s, name: "%d " + s.name.slice(2, 3000) })), plants: d.account.plants.map((p) => ({ ...p, name: "theirs %d " + p.name.slice(0, 3000) })) } }))`, view.Width, view.Width)))
			apply(ann)
			button(tab, ".changes", "See and merge")
			tab.Until(`document.querySelectorAll("dialog .conflict").length === 2`)
			checkWidth(t, tab)
			tab.Axe()
			tab.Shot(fmt.Sprintf("hostile-merge-%d", view.Width))
			button(tab, "dialog", "Take all of theirs")
			tab.Until(`document.querySelectorAll("dialog .conflict input:checked").length === 2 && [...document.querySelectorAll("dialog .conflict input:checked")].every((i) => i.parentElement.textContent === "Take theirs")`)
			tab.Clean()
		})
	}
	ann.Clean()
}

// checkHeight checks that a name of four thousand letters takes only a few lines: in headings, lists, chips and rows of
// tables.
func checkHeight(t *testing.T, tab *webtest.Tab) {
	t.Helper()
	if tall := webtest.Eval[[]string](tab, `[...document.querySelectorAll("main :is(h1, h2, td, li, .chip, .crumbs)")].filter((e) => e.getBoundingClientRect().height > 180 && !e.querySelector("input, textarea, select, li, dl")).slice(0, 3).map((e) => Math.round(e.getBoundingClientRect().height) + " " + e.outerHTML.slice(0, 160))`); len(tall) > 0 {
		t.Errorf("%s has what is too high: %s", webtest.Eval[string](tab, "location.pathname + location.search"), strings.Join(tall, "\n"))
	}
}

// checkWidth checks that nothing is wider than the screen or outside of it.
func checkWidth(t *testing.T, tab *webtest.Tab) {
	t.Helper()
	if wide := webtest.Eval[[]string](tab, `(() => {
		const wide = document.documentElement.scrollWidth - innerWidth, at = document.querySelector("dialog[open]") ?? document.querySelector("main");
		const scrolls = (e) => e && e !== at && (/auto|scroll|hidden|clip/.test(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
		const out = [...at.querySelectorAll("*")].filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 1 && !scrolls(e.parentElement));
		return [...(wide > 0 ? ["the page by " + wide] : []), ...out.slice(0, 3).map((e) => e.outerHTML.slice(0, 120)), ...(at.scrollWidth > at.clientWidth + 1 ? ["what scrolls sideways: " + at.tagName] : [])];
	})()`); len(wide) > 0 {
		t.Errorf("%s is too wide: %s", webtest.Eval[string](tab, "location.pathname + location.search"), strings.Join(wide, "\n"))
	}
}

// checkPaper checks the printout on A4: only the page, without buttons, and nothing wider than the paper.
func checkPaper(t *testing.T, tab *webtest.Tab) {
	t.Helper()
	tab.Do(chromedp.EmulateViewport(718, 1000))
	medium := func(name string) {
		if _, err := chromedp.Call(tab.Context(), emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: name}); err != nil {
			t.Fatal(err)
		}
	}
	medium("print")
	if wrong := webtest.Eval[[]string](tab, `(() => {
		const all = [...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() && !e.closest(".visually-hidden"));
		const short = (e) => e.outerHTML.slice(0, 120), wide = (e) => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".week");
		return [...all.filter((e) => e.matches(".top, .menu, .changes, .button, button") && !e.closest("th")), ...all.filter(wide)].slice(0, 3).map(short);
	})()`); len(wrong) > 0 {
		t.Errorf("%s prints what it should not, or what is too wide: %s", webtest.Eval[string](tab, "location.pathname + location.search"), strings.Join(wrong, "\n"))
	}
	medium("")
	tab.Do(chromedp.EmulateViewport(webtest.Laptop.Width, webtest.Laptop.Height))
}
