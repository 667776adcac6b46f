//go:build rig

package console_test

import (
	"strings"
	"testing"
	"time"

	"opsmon/app/test/browser/webtest"
)

// Two people edit at the same time: the second is notified of the applied changes of the first, and both changes
// remain.
func TestTwoPeopleEditAtOnce(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: small()})
	ann, bob := open(t, s, "admin", "/console/skus"), open(t, s, "member", "/console/skus")
	rename(bob, "B", "Baguette")
	rename(ann, "A", "Apricot")
	from := time.Now()
	apply(ann)
	bob.Until(`document.querySelector(".changes-theirs")`)
	t.Logf("told after %v", time.Since(from).Round(10*time.Millisecond))
	if got := bob.Text(".changes-theirs"); !strings.Contains(got, webtest.Admin) || !strings.Contains(got, "revision 2") {
		t.Errorf("it says %s", got)
	}
	if !webtest.Eval[bool](bob, `document.querySelector(".changes .primary").disabled`) {
		t.Error("it can be applied before it is merged")
	}
	bob.Axe()
	button(bob, ".changes", "See and merge")
	bob.Until(`document.querySelector("dialog")?.textContent.includes("skus[A].name") && document.querySelector("dialog .differences").childElementCount === 1 && document.querySelector("dialog").textContent.includes("None of it touches")`)
	bob.Axe()
	bob.Shot("merge")
	button(bob, "dialog", "Merge")
	bob.Until(`!document.querySelector("dialog") && document.querySelector(".changes").textContent.includes("merged in")`)
	if got := names(bob); got != "A Apricot,B Baguette,C Cake" {
		t.Errorf("merged: %s", got)
	}
	apply(bob)
	if got := applied(s); got != "A Apricot,B Baguette,C Cake" {
		t.Errorf("applied: %s", got)
	}
	wantNames(t, ann, "A Apricot,B Baguette,C Cake") // a user without changes follows
	ann.Clean()
	bob.Clean()
}

// If both changed the same value, the second must choose before applying.
func TestBothChangedTheSame(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: small()})
	ann, bob := open(t, s, "admin", "/console/skus"), open(t, s, "member", "/console/skus")
	rename(bob, "A", "Bob's")
	rename(bob, "B", "Bob's too")
	bob.Eval(workspace(`w.edit((d) => ({ ...d, account: { ...d.account, skus: d.account.skus.filter((s) => s.code !== "C") } }))`))
	ann.Eval(workspace(`w.edit((d) => ({ ...d, account: { ...d.account, skus: d.account.skus.map((s) => ({ ...s, name: "Ann's" })) } }))`))
	apply(ann)
	button(bob, ".changes", "See and merge")
	bob.Until(`document.querySelectorAll("dialog .conflict").length === 3`)
	if !webtest.Eval[bool](bob, `document.querySelector("dialog footer .primary").disabled`) {
		t.Error("it merges before each is chosen")
	}
	bob.Axe()
	bob.Shot("conflicts")
	for i, side := range []string{"Keep mine", "Take theirs", "Take theirs"} {
		bob.Eval(`[...document.querySelectorAll("dialog .conflict")[` + string(rune('0'+i)) + `].querySelectorAll("label")].find((l) => l.textContent === "` + side + `").click()`)
	}
	button(bob, "dialog", "Merge")
	wantNames(t, bob, "A Bob's,B Ann's,C Ann's")
	apply(bob)
	if got := applied(s); got != "A Bob's,B Ann's,C Ann's" {
		t.Errorf("applied: %s", got)
	}
	ann.Clean()
	bob.Clean()
}

// Somebody applies between another user's review and applying: the answer of 409 leads to the merge, and so does a
// third revision during the merge.
func TestSomebodyIsFaster(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: small()})
	ann, bob := open(t, s, "admin", "/console/skus"), open(t, s, "member", "/console/skus")
	deaf := `(() => { const real = fetch; window.fetch = (path, o) => (path === "/account/manifest" && o?.method === "GET" && window.deaf ? Promise.reject(new DOMException("", "AbortError")) : real(path, o)); window.deaf = true; })()`
	rename(bob, "B", "Baguette")
	bob.Eval(deaf) // misses events
	button(bob, ".changes", "Review and apply")
	bob.Until(`document.querySelector("dialog footer .primary:not(:disabled)")`)
	ann.Eval(workspace(`w.edit((d) => ({ ...d, account: { ...d.account, currency: "GBP" } }))`))
	apply(ann)
	bob.Eval(`window.deaf = false`)
	button(bob, "dialog footer", "Apply")
	bob.Until(`document.querySelector("dialog")?.textContent.includes("Somebody else was faster")`)
	bob.Shot("faster")
	button(bob, "dialog .notice", "See and merge")
	bob.Until(`document.querySelector("dialog h2")?.textContent.startsWith("Revision 2")`)

	// The next revision is applied.
	ann.Eval(workspace(`w.edit((d) => ({ ...d, account: { ...d.account, durationFormat: "minutes" } }))`))
	apply(ann)
	bob.Until(workspace(`w.theirs.revision === 3`))
	button(bob, "dialog footer", "Merge")
	bob.Until(`document.querySelector("dialog h2").textContent.startsWith("Revision 3") && document.querySelector("dialog").textContent.includes("changed meanwhile")`)
	button(bob, "dialog footer", "Merge")
	apply(bob)
	var account struct {
		Currency, DurationFormat string
		Manifest                 struct{ Account struct{ SKUs []object } }
	}
	s.Call("GET", "/account", nil, &account)
	if account.Currency != "GBP" || account.DurationFormat != "minutes" || applied(s) != "A Apple,B Baguette,C Cake" {
		t.Errorf("applied: %+v", account)
	}
	ann.Clean()
	bob.Clean()
}

// After discarding, the draft is the revision of the other user, and undo cannot bring back changes that would revert
// it.
func TestDiscardingFollowsTheOther(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: small()})
	ann, bob := open(t, s, "admin", "/console/skus"), open(t, s, "member", "/console/skus")
	rename(bob, "B", "Baguette")
	rename(ann, "A", "Apricot")
	apply(ann)
	bob.Until(`document.querySelector(".changes-theirs")`)
	button(bob, ".changes", "Discard")
	bob.Until(`document.querySelector("dialog")?.textContent.includes("revision 2")`)
	button(bob, "dialog footer", "Discard")
	wantNames(t, bob, "A Apricot,B Bread,C Cake")
	bob.Until(`!document.querySelector(".changes")`)
	bob.Until(notKept)
	bob.Clean()
}
