//go:build rig

package console_test

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"opsmon/app/test/browser/webtest"
)

// Unapplied changes survive a reload, leaving a page in the middle of a word, and closing the tab. They are gone after
// discarding and applying.
func TestUnsavedWorkStays(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: small()})
	tab := open(t, s, "admin", "/console/skus/A")
	tab.Type("#f-SKU-name", "Apricot") // the field keeps the focus
	tab.Visit("/console/skus")
	wantNames(t, tab, "A Apricot,B Bread,C Cake")
	tab.Until(`document.querySelector(".changes")?.textContent.includes("1 change")`)

	beside := again(tab, "/console/skus")
	wantNames(t, beside, "A Apricot,B Bread,C Cake")
	rename(beside, "B", "Baguette")
	beside.Close()
	wantNames(t, tab, "A Apricot,B Baguette,C Cake")
	tab.Do(chromedp.Reload())
	wantNames(t, tab, "A Apricot,B Baguette,C Cake")

	// Another user of this browser does not see them.
	before := s.SignIn(tab, "member")
	tab.Visit("/console/skus")
	tab.Until(`document.querySelector(".person")?.textContent.includes("` + before + `")`)
	wantNames(t, tab, "A Apple,B Bread,C Cake")
	s.SignIn(tab, "admin")
	tab.Visit("/console/skus")
	wantNames(t, tab, "A Apricot,B Baguette,C Cake")

	// A revision applied while the page was closed is merged, not overwritten.
	tab.Visit("/docs")
	ann := open(t, s, "member", "/console/skus")
	rename(ann, "C", "Crumble")
	apply(ann)
	tab.Visit("/console/skus")
	tab.Until(`document.querySelector(".changes-theirs")`)
	wantNames(t, tab, "A Apricot,B Baguette,C Cake")
	button(tab, ".changes", "See and merge")
	button(tab, "dialog", "Merge")
	wantNames(t, tab, "A Apricot,B Baguette,C Crumble")
	tab.Until(kept)
	apply(tab)
	tab.Until(notKept)
	if got := applied(s); got != "A Apricot,B Baguette,C Crumble" {
		t.Errorf("applied: %s", got)
	}

	rename(tab, "A", "Aubergine")
	tab.Until(kept)
	button(tab, ".changes", "Discard")
	button(tab, "dialog footer", "Discard")
	tab.Until(notKept)
	button(tab, ".changes", "Undo")
	wantNames(t, tab, "A Aubergine,B Baguette,C Crumble")
	tab.Until(kept)
	button(tab, ".changes", "Undo")
	tab.Until(notKept)
	button(tab, ".changes", "Redo")
	tab.Until(kept)
	tab.Eval(`document.querySelector("main").focus()`)
	tab.Press("z", chromedp.ModifierCtrl)
	wantNames(t, tab, "A Apricot,B Baguette,C Crumble")
	tab.Clean()
}

// Two tabs of one user share one draft: a change in one appears in the other, and neither loses changes.
func TestTabsOfOnePersonHaveOneDraft(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: small()})
	one := open(t, s, "admin", "/console/skus")
	two := again(one, "/console/skus")
	rename(one, "A", "Apricot")
	wantNames(t, two, "A Apricot,B Bread,C Cake")
	two.Until(`document.querySelector(".changes")?.textContent.includes("1 change")`)
	set := func(tab *webtest.Tab, at, name string) {
		tab.Eval(workspace(`w.edit((d) => ({ ...d, account: { ...d.account, skus: d.account.skus.with(` + at + `, { ...d.account.skus[` + at + `], name: "` + name + `" }) } }))`))
	}
	// Both change at the same moment, before either gets the other's change; then both change the same value and end
	// with the same.
	both := func(do func(tab *webtest.Tab)) {
		done := make(chan bool)
		go func() { do(two); close(done) }()
		do(one)
		<-done
	}
	both(func(tab *webtest.Tab) {
		tab.Eval(`(() => { const send = BroadcastChannel.prototype.postMessage; BroadcastChannel.prototype.postMessage = function (m) { setTimeout(() => send.call(this, m), 1000); }; })()`)
	})
	both(func(tab *webtest.Tab) {
		set(tab, map[*webtest.Tab]string{one: "2", two: "1"}[tab], map[*webtest.Tab]string{one: "Crumble", two: "Baguette"}[tab])
	})
	for _, tab := range []*webtest.Tab{one, two} {
		wantNames(t, tab, "A Apricot,B Baguette,C Crumble")
	}
	both(func(tab *webtest.Tab) {
		set(tab, "0", map[*webtest.Tab]string{one: "Almond", two: "Anise"}[tab])
	})
	first := workspace(`w.doc.account.skus[0].name`)
	time.Sleep(2500 * time.Millisecond) // until both have received each other's changes
	if a, b := webtest.Eval[string](one, first), webtest.Eval[string](two, first); a != b || a == "Apricot" {
		t.Errorf("one tab has %s, the other %s", a, b)
	}
	set(one, "0", "Apricot")
	wantNames(t, two, "A Apricot,B Baguette,C Crumble")
	two.Visit("/docs") // a page that was only read changes nothing
	one.Do(chromedp.Reload())
	wantNames(t, one, "A Apricot,B Baguette,C Crumble")
	two.Visit("/console/skus")
	apply(two)
	one.Until(`!document.querySelector(".changes")`)
	wantNames(t, one, "A Apricot,B Baguette,C Crumble")
	one.Until(notKept)
	one.Clean()
	two.Clean()
}

// Undo reverses one step at a time, and a new change ends redoing.
func TestUndoAndRedo(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: small()})
	tab := open(t, s, "admin", "/console/skus")
	rename(tab, "A", "Apricot")
	tab.Eval(workspace(`w.edit((d) => ({ ...d, account: { ...d.account, currency: "GBP" } }))`))
	button(tab, ".changes", "Undo")
	tab.Until(workspace(`w.doc.account.currency === "EUR" && w.doc.account.skus[0].name === "Apricot" && w.canRedo`))
	button(tab, ".changes", "Redo")
	tab.Until(workspace(`w.doc.account.currency === "GBP" && !w.canRedo`))
	tab.Eval(`document.querySelector("main").focus()`)
	tab.Press("z", chromedp.ModifierCtrl)
	tab.Press("z", chromedp.ModifierCtrl)
	tab.Until(`document.querySelector(".changes")?.textContent.includes("Nothing to apply")`)
	tab.Axe()
	tab.Press("Z", chromedp.ModifierCtrl, chromedp.ModifierShift)
	wantNames(t, tab, "A Apricot,B Bread,C Cake")
	rename(tab, "B", "Baguette")
	if webtest.Eval[bool](tab, workspace(`w.canRedo`)) {
		t.Error("after a new change an old one can be done again")
	}

	// While a dialog is open, it gets the keys.
	button(tab, ".changes", "Review and apply")
	tab.Until(`document.querySelector("dialog footer .primary:not(:disabled)")`)
	tab.Eval(`document.querySelector("dialog footer .button").focus()`)
	tab.Press("z", chromedp.ModifierCtrl)
	wantNames(t, tab, "A Apricot,B Baguette,C Cake")
	tab.Clean()
}

// Storage that fails at first is retried, and storage that does not answer blocks nobody: changes are stored as soon as
// it answers.
func TestStorageThatFailsOrHangs(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: small()})
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	s.SignIn(tab, "admin")
	tab.Before(`(() => {
		const real = IDBFactory.prototype.open;
		IDBFactory.prototype.open = function (...all) {
			const asked = {}, now = () => {
				IDBFactory.prototype.open = real;
				const request = real.apply(this, all);
				for (const name of ["onupgradeneeded", "onsuccess", "onerror"]) request[name] = (event) => asked[name]?.(event);
				Object.defineProperty(asked, "result", { get: () => request.result });
			};
			if (location.search === "?hangs") window.answer = now;
			else { IDBFactory.prototype.open = real; setTimeout(() => asked.onerror()); }
			return asked;
		};
	})()`)
	tab.Visit("/console/skus")
	tab.Until(`document.querySelector("main h1")`)
	edit := workspace(`w.edit((doc) => ({ ...doc, account: { ...doc.account, currency: "CHF" + Math.random() } }))`)
	tab.Eval(edit)
	tab.Until(kept)

	tab.Eval(workspace(`w.discard()`))
	tab.Until(notKept)
	tab.Visit("/console/skus?hangs")
	tab.Until(`document.querySelector("main h1")`)
	tab.Eval(edit)
	tab.Until(workspace(`w.dirty`))
	tab.Eval(`window.answer()`)
	tab.Until(kept)
	tab.Clean()
}
