//go:build rig

package console_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"opsmon/app/test/browser/webtest"
)

// paper lays the tab out for printing, with the width of A4 without margins.
func paper(t *testing.T, tab *webtest.Tab) {
	t.Helper()
	tab.Do(chromedp.EmulateViewport(718, 1000))
	if _, err := chromedp.Call(tab.Context(), emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}); err != nil {
		t.Fatal(err)
	}
}

// The printout has the whole page: content that is scrolled or folded on the screen, in columns that fit the paper.
func TestPagesArePrinted(t *testing.T) {
	name := strings.Repeat("Long & <b>name</b> ", 6) + "end"
	s := webtest.Serve(t, webtest.Options{Manifest: []byte(strings.Replace(string(small()), `"Apple"`, `"`+name+`"`, 1))})
	tab := open(t, s, "admin", "/console/skus/A")
	paper(t, tab)
	for _, path := range []string{"", "skus", "skus/A", "plants", "plants/leeds", "plants/leeds/mixing", "plants/leeds/mixing/MIX-1", "plants/leeds/mixing/MIX-1?view=resolved", "shifts", "reasons", "tasks", "account", "revisions", "users", "keys", "appliance", "backups", "audit"} {
		tab.Visit("/console/" + path)
		tab.Until(`document.querySelector("main h1") && !document.querySelector("main .loading")`)
		if got := webtest.Eval[string](tab, `[...document.querySelectorAll(".top, .menu, .button, .changes, main :is(input, select):not([type=checkbox], [type=radio], [type=search], [type=date])")].filter((e) => e.checkVisibility()).map((e) => e.outerHTML.slice(0, 80)).join("\n")`); got != "" {
			t.Errorf("/console/%s prints what is for hands: %s", path, got)
		}
		if got := webtest.Eval[string](tab, `[...document.querySelectorAll("main *")].filter((e) => e.checkVisibility() && !e.closest(".visually-hidden") && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 80)).join("\n")`); got != "" {
			t.Errorf("/console/%s is wider than the paper: %s", path, got)
		}
	}
	tab.Visit("/console/skus/A")
	tab.Until(`document.querySelector("[data-field=name] .on-paper")?.checkVisibility()`)
	if got := webtest.Eval[string](tab, `(({ innerText, scrollWidth, clientWidth }) => innerText + (scrollWidth > clientWidth ? " is cut" : ""))(document.querySelector("[data-field=name] .on-paper"))`); got != name {
		t.Errorf("a long name prints as %q", got)
	}
	tab.Visit("/console/plants/leeds/mixing")
	tab.Until(`document.querySelector(".stations-of li")?.checkVisibility()`)
	if webtest.Eval[bool](tab, `document.querySelector(".stations-of").open`) {
		t.Error("it is open on the screen already, so nothing was tried")
	}
	tab.Clean()
}
