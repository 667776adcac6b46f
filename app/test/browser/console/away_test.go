//go:build rig

package console_test

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"opsmon/app/host/config"
	"opsmon/app/test/browser/webtest"
)

// When the service stops and starts again, the page reports it, keeps the entered values, retries rarely, and continues
// automatically.
func TestTheServiceStartsAgain(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at, dir := l.Addr().String(), t.TempDir()
	l.Close()
	var tab, ann *webtest.Tab
	adjust := func(c *config.Settings) { c.Listen, c.DataDir = at, dir }
	var key string
	t.Run("before", func(t2 *testing.T) {
		s := webtest.Serve(t2, webtest.Options{Manifest: small(), Adjust: adjust})
		key = s.Key
		tab, ann = open(t, s, "admin", "/console/skus"), open(t, s, "member", "/console/skus")
		rename(tab, "A", "Apricot")
	})
	// It is reported even without user input.
	tab.Until(`document.querySelector(".banner.wait")?.textContent.includes("does not answer")`)
	ann.Until(`document.querySelector(".banner.wait")`)
	tab.Axe()
	tab.Shot("away")
	tab.Type("#f-SKU-name", "Apricots"+kb.Tab)
	button(tab, ".changes", "Review and apply")
	tab.Until(`document.querySelector("dialog .notice.bad")?.textContent.includes("does not answer")`)
	tab.Shot("away-review")
	button(tab, "dialog footer", "Back")
	before := len(tab.Requests())
	time.Sleep(7 * time.Second) // counts the requests during a pause
	if n := len(tab.Requests()) - before; n < 2 || n > 9 {
		t.Errorf("in 7 seconds the page asked %d times: %s", n, strings.Join(tab.Requests()[before:], " "))
	}
	s := webtest.Serve(t, webtest.Options{Empty: true, Adjust: adjust})
	s.Key = key
	tab.Until(`!document.querySelector(".banner.wait")`)
	wantNames(t, tab, "A Apricots,B Bread,C Cake")
	tab.Axe()
	apply(tab)
	wantNames(t, ann, "A Apricots,B Bread,C Cake") // an earlier listener works again
	tab.Clean()
	ann.Clean()
}

// After a lost answer it is unknown whether a draft was applied. The page reports that, finds it out, and does not ask
// a user to merge his own changes. A newly opened page finds it out as well.
func TestAnAnswerThatIsLost(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: small()})
	tab := open(t, s, "member", "/console/skus/A")
	lose := func() {
		tab.Eval(`window.fetch = ((real) => { let lost = false; return async (path, more) => {
			const answer = window.back || !lost ? await real(path, more) : null;
			if (more?.method === "PUT" && !path.includes("dryrun")) lost = true;
			if (lost && !window.back) throw new TypeError("lost");
			return answer;
		}; })(fetch)`)
	}
	lose()
	tab.Type("#f-SKU-name", "Apricot"+kb.Tab)
	button(tab, ".changes", "Review and apply")
	button(tab, "dialog footer", "Apply")
	tab.Until(`document.querySelector("dialog [role=alert] strong")?.textContent === "It is not known whether this was applied."`)
	tab.Axe()
	tab.Eval(`window.back = true`)
	tab.Until(`document.querySelector(".toast")?.textContent.includes("It was applied as revision 2.")`)
	tab.Until(`!document.querySelector("dialog") && !document.querySelector(".changes")`)

	// A request that never reached the service was not applied, even if the draft is gone by then.
	for _, gone := range []bool{false, true} {
		tab.Visit("/console/skus/A")
		tab.Until(`document.querySelector("#f-SKU-name")`)
		tab.Eval(`window.fetch = ((real) => { let lost = false; return (path, more) => {
			if (more?.method === "PUT" && !path.includes("dryrun")) lost = true;
			return lost && !window.back ? Promise.reject(new TypeError("lost")) : real(path, more);
		}; })(fetch)`)
		tab.Type("#f-SKU-name", "Pear"+kb.Tab)
		button(tab, ".changes", "Review and apply")
		button(tab, "dialog footer", "Apply")
		tab.Until(`document.querySelector("dialog [role=alert] strong")?.textContent === "It is not known whether this was applied."`)
		if gone {
			tab.Eval(workspace(`w.discard()`))
		}
		tab.Eval(`window.back = true`)
		tab.Until(`document.querySelector("dialog [role=alert] strong")?.textContent === "This was not applied."`)
		if webtest.Eval[bool](tab, `document.querySelector(".toast") !== null`) {
			t.Errorf("what was not applied is told as %q", tab.Text(".toast"))
		}
		button(tab, "dialog footer", "Back")
		if !gone {
			tab.Eval(workspace(`w.discard()`))
		}
		tab.Until(notKept)
	}

	tab.Visit("/console/skus/A")
	tab.Until(`document.querySelector("#f-SKU-name")`)
	lose()
	tab.Type("#f-SKU-name", "Avocado"+kb.Tab)
	button(tab, ".changes", "Review and apply")
	button(tab, "dialog footer", "Apply")
	tab.Until(`document.querySelector("dialog [role=alert] strong")?.textContent === "It is not known whether this was applied."`)
	tab.Visit("/console/skus")
	tab.Until(`document.querySelector("main h1")`)
	wantNames(t, tab, "A Avocado,B Bread,C Cake")
	tab.Until(workspace(`!w.dirty && !w.theirs && w.revision === 3`))
	tab.Until(notKept)
	if webtest.Eval[bool](tab, `document.querySelector(".changes") !== null`) {
		t.Errorf("the bar says %q", tab.Text(".changes"))
	}
}

// A page opened while the service is down loads automatically when the service is back.
func TestAPageThatCouldNotBeLoadedComesByItself(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: small()})
	tab := open(t, s, "admin", "/console/skus")
	tab.Eval(`(() => { const real = fetch; window.real = real; window.fetch = () => Promise.reject(new TypeError("Failed to fetch")); })()`)
	tab.Eval(`document.querySelector('a[href="/console/revisions"]').click()`)
	tab.Until(`document.querySelector("main .notice.bad")?.textContent.includes("does not answer") && document.querySelector(".banner.wait")`)
	tab.Axe()
	tab.Eval(`(() => { window.fetch = window.real; })()`)
	tab.Until(`document.querySelector("main h1")?.textContent === "Revisions" && !document.querySelector(".banner.wait")`)
	tab.Clean()
}

// The end of a session leads to signing in and back to the page, with the entered values.
func TestTheSessionEnds(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: small()})
	tab := open(t, s, "member", "/console/skus")
	rename(tab, "A", "Apricot")
	tab.Type("#f-SKU-name", "Apricots")
	s.Call("DELETE", "/user/member@demo.example", nil, nil)
	tab.Press(kb.Tab)
	tab.Until(`location.pathname === "/signin" && new URLSearchParams(location.search).get("next") === "/console/skus/A"`)
	s.SignIn(tab, "member")
	tab.Visit(webtest.Eval[string](tab, `new URLSearchParams(location.search).get("next")`))
	wantNames(t, tab, "A Apricots,B Bread,C Cake")
	apply(tab)
	tab.Clean()
}

// A role only shows what it allows: in the menu, at an address, in a page.
func TestRolesSeeTheirPages(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: small()})
	for role, want := range map[string]string{"readonly": "API keys", "supervisor": "API keys", "member": "API keys"} {
		tab := open(t, s, role, "/console/skus/A")
		menu := webtest.Eval[[]string](tab, `[...document.querySelectorAll("#menu a")].map((a) => a.getAttribute("href"))`)
		for _, path := range []string{"users", "signins", "tablets", "devices", "appliance", "backups", "log", "audit"} {
			if strings.Contains(strings.Join(menu, " "), "/console/"+path) {
				t.Errorf("%s has %s in the menu", role, path)
			}
			tab.Visit("/console/" + path)
			tab.Until(`document.querySelector("main .notice.bad")?.textContent.includes("page is for the role admin; yours is ` + role + `")`)
			if got := webtest.Eval[string](tab, `[...document.querySelectorAll("main :is(button, a)")].map((e) => e.outerHTML).join()`); !strings.Contains(got, `href="/console"`) || strings.Contains(got, "<button") {
				t.Errorf("%s is offered %s on a page that it cannot see", role, got)
			}
		}
		tab.Visit("/console/nothing/here")
		tab.Until(`document.querySelector("main .notice")?.textContent.includes("no page at this address")`)
		tab.Axe()
		tab.Visit("/console/%FF")
		tab.Until(`document.querySelector("main .notice")?.textContent.includes("no page at this address")`)
		tab.Visit("/console/keys")
		tab.Until(`document.querySelector("main h1")?.textContent === "` + want + `"`)
		if role != "member" {
			for _, path := range []string{"skus", "skus/A", "shifts", "reasons", "account", "plants"} {
				tab.Visit("/console/" + path)
				tab.Until(`document.querySelector("main h1")`)
				tab.Eval(workspace(`w.edit((d) => ({ ...d, version: "v2" }))`))
				if open := webtest.Eval[[]string](tab, `[...document.querySelectorAll("main input:not([type=search]), main select, main textarea")].filter((e) => !e.matches(":disabled, [readonly], .tick *, [aria-label=Show]")).map((e) => e.id || e.name || e.outerHTML)`); len(open) > 0 {
					t.Errorf("%s can change on %s: %v", role, path, open)
				}
				if webtest.Eval[bool](tab, `document.querySelector(".changes") !== null`) {
					t.Errorf("%s has the bar of changes on %s", role, path)
				}
			}
		}
		tab.Clean()
	}
}

func TestSigningOutThatFailsIsTold(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: small()})
	tab := open(t, s, "member", "/console/skus")
	tab.Eval(`window.fetch = ((real) => (path, more) => (path === "/auth/logout" ? Promise.resolve(new Response("{}", { status: window.status })) : real(path, more)))(fetch)`)
	// the latter two are from another server, because they lack the service's time
	for i, status := range []int{503, 401, 200} {
		tab.Eval(fmt.Sprintf(`window.status = %d`, status))
		tab.Eval(`document.querySelector(".person").open = true`)
		tab.Eval(`[...document.querySelectorAll(".person button")].find((b) => b.textContent === "Sign out").click()`)
		tab.Until(fmt.Sprintf(`location.pathname === "/signin" || [...document.querySelectorAll(".toast.bad")].filter((t) => t.textContent.includes("You are still signed in")).length > %d`, i))
		if got := webtest.Eval[string](tab, `location.pathname`); got != "/console/skus" {
			t.Fatalf("answered %d, a session that goes on is told to be over, at %s", status, got)
		}
	}
	tab.Axe()
}

// The first page leaves the focus at the top, like browsers do. Later pages get the focus, so that users of keyboards
// and screen readers continue in the new page.
func TestOnlyLaterPagesTakeTheFocus(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: small()})
	tab := open(t, s, "readonly", "/console/skus")
	if got := webtest.Eval[string](tab, `document.activeElement.tagName`); got != "BODY" {
		t.Errorf("the first page puts the focus on %s", got)
	}
	tab.Press(kb.Tab)
	tab.Until(`document.activeElement.matches(".skip")`)
	tab.Click(`#menu a[href="/console/shifts"]`)
	tab.Until(`document.querySelector("main h1")?.textContent === "Shift patterns" && document.activeElement.id === "main"`)
	tab.Eval(`document.activeElement.blur()`)
	tab.Eval(`history.back()`)
	tab.Until(`document.querySelector("main h1")?.textContent === "SKUs" && document.activeElement.id === "main"`)
	tab.Clean()
}

// Ages are correct on a computer whose clock is wrong by hours.
func TestAComputerWithAWrongClock(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: small()})
	for _, off := range []string{"5", "-5"} {
		tab := webtest.Open(t, s.Base, webtest.Laptop)
		s.SignIn(tab, "admin")
		tab.Before(`{ const real = Date.now; Date.now = () => real() + ` + off + ` * 3600_000; }`)
		for path, where := range map[string]string{"": ".plain-list time", "keys": "tbody tr", "sessions": "tbody tr"} {
			tab.Visit("/console/" + path)
			if got := tab.Text("main " + where); strings.Contains(got, " h") {
				t.Errorf("by a clock that is %s h off /console/%s tells %q", off, path, got)
			}
		}
		tab.Clean()
	}
}
