//go:build rig

package access_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"opsmon/app/test/browser/webtest"
)

func TestUsers(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{})
	tab := open(t, s, "admin", "/console/users")

	button(tab, ".page-head", "Add a user")
	tab.Type("#f-ask-email", "no address"+kb.Enter)
	tab.Until(`document.querySelector('dialog .field[data-field="email"].bad .problem')?.textContent.length > 10`)
	looks(tab, "users-add", false)
	tab.Type("#f-ask-email", "a.very.long.name.of.somebody.in.production.planning@contractors.partner.example")
	choose(tab, "#f-ask-role", "operator")
	button(tab, "dialog footer", "Add")
	told(tab, "added")
	tab.Until(row("a.very.long") + `.includes("operator")`)

	// A request in progress continues when its dialog is closed, and its result is reported.
	for _, step := range []struct{ email, told string }{{"late@demo.example", "added"}, {"no address", "must be"}} {
		tab.Eval(`window.fetch = ((real) => async (path, more) => { if (more?.method === "POST") { window.fetch = real; await new Promise((go) => { window.go = go; }); } return real(path, more); })(fetch)`)
		button(tab, ".page-head", "Add a user")
		tab.Type("#f-ask-email", step.email)
		button(tab, "dialog footer", "Add")
		tab.Until(`window.go`)
		tab.Press(kb.Escape)
		tab.Until(`!document.querySelector("dialog")`)
		tab.Eval(`(() => { go(); go = null; })()`)
		told(tab, step.told)
	}
	tab.Until(row("late@"))
	s.Call("DELETE", "/user/late@demo.example", nil, nil)

	// A removed user is signed out everywhere.
	person := webtest.Open(t, s.Base, webtest.Laptop)
	email := s.SignIn(person, "member")
	person.Visit("/docs")
	if got := whoami(person); got != email+" member" {
		t.Fatalf("signed in as %s", got)
	}
	visit(tab, "/console/users")
	looks(tab, "users", true)
	button(tab, "#main tbody", "Sign out "+email)
	button(tab, "dialog footer", "Sign out")
	told(tab, "1 session")
	if got := whoami(person); got != "401" {
		t.Errorf("after that it is %s", got)
	}

	button(tab, "#main tbody", "Change role of "+email)
	choose(tab, "#f-ask-role", "supervisor")
	button(tab, "dialog footer", "Change")
	told(tab, "changed")
	tab.Until(row(email) + `.includes("supervisor")`)
	button(tab, "#main tbody", "Remove "+email)
	button(tab, "dialog footer", "Cancel")
	button(tab, "#main tbody", "Remove "+email)
	button(tab, "dialog footer", "Remove")
	told(tab, "removed")
	tab.Until("!" + row(email))
	var users []struct{ Email, Role string }
	s.Call("GET", "/user", nil, &users)
	if len(users) != 2 {
		t.Errorf("there are %+v", users)
	}

	// The last administrator cannot be removed or changed.
	button(tab, "#main tbody", "Remove "+webtest.Admin)
	says(tab, "dialog", "This is you")
	button(tab, "dialog footer", "Remove")
	told(tab, webtest.Admin+" is the account's last admin") // an address is not modified
	button(tab, "#main tbody", "Change role of "+webtest.Admin)
	choose(tab, "#f-ask-role", "member")
	button(tab, "dialog footer", "Change")
	says(tab, "dialog [role=alert]", "admin")
	button(tab, "dialog footer", "Cancel")
	tab.Until(row(webtest.Admin) + `.includes("admin")`)
	tab.Clean()
}

func TestKeys(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{})
	tab := open(t, s, "supervisor", "/console/keys")
	tab.Until(`document.querySelector(".empty")`) // the administrator's key is not shown
	button(tab, ".page-head", "Make an API key")
	tab.Until(`document.querySelector("#f-ask-role")`)
	if got := webtest.Eval[string](tab, `[...document.querySelector("#f-ask-role").options].map((o) => o.label).join()`); got != "readonly,operator,supervisor" {
		t.Errorf("a supervisor may give %s", got)
	}
	looks(tab, "keys-make", false)
	tab.Type("#f-ask-name", "Wallboard in the canteen, שלום")
	choose(tab, "#f-ask-role", "operator")
	tab.Eval(`((d) => { d.value = "` + time.Now().AddDate(0, 0, 40).Format(time.DateOnly) + `"; d.dispatchEvent(new Event("change")); })(document.querySelector("#f-ask-expiresAt"))`)
	button(tab, "dialog footer", "Make the key")
	key := once(t, tab)
	tab.Press(kb.Enter + kb.Enter) // repeated by the key press that submitted the form
	if got := webtest.Eval[string](tab, `getSelection().toString() || document.activeElement.value?.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd)`); got != key {
		t.Errorf("what can be copied at once is %q", got)
	}
	looks(tab, "keys-made", true)
	button(tab, "dialog footer", "Done")
	tab.Until(row("Wallboard") + `.includes("in 40 d")`)
	if webtest.Eval[bool](tab, `document.documentElement.innerHTML.includes("`+key+`")`) {
		t.Error("the key is still in the page")
	}
	if status, answer := ask(t, s, key, "GET", "/auth/profile", nil); status != 200 || !strings.Contains(answer, `"operator"`) {
		t.Errorf("the key gets %d %s", status, answer)
	}
	visit(tab, "/console/keys")
	tab.Until(row("Wallboard") + `.includes("just now") || ` + row("Wallboard") + `.includes("s ago")`)
	looks(tab, "keys", false)

	// An administrator sees all keys.
	admin := open(t, s, "admin", "/console/keys")
	admin.Until(row("Wallboard") + `.includes("supervisor@")`)
	looks(admin, "keys-all", false)
	admin.Clean()

	button(tab, "#main tbody", "Revoke Wallboard")
	button(tab, "dialog footer", "Revoke")
	told(tab, "revoked")
	tab.Until(`document.querySelector(".empty")`)
	if status, _ := ask(t, s, key, "GET", "/auth/profile", nil); status != 401 {
		t.Errorf("the revoked key gets %d", status)
	}
	button(tab, ".page-head", "Make an API key")
	tab.Eval(`((d) => { d.value = "2020-01-01"; d.dispatchEvent(new Event("change")); })(document.querySelector("#f-ask-expiresAt"))`)
	button(tab, "dialog footer", "Make the key")
	tab.Until(`document.querySelector('dialog .field[data-field="expiresAt"].bad .problem')?.textContent`)
	tab.Clean()
}
