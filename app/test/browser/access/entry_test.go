//go:build rig

package access_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"opsmon/app/test/browser/webtest"
)

// find adds the result of a picker's search.
func find(tab *webtest.Tab, selector, text string) {
	tab.Type(selector, text)
	tab.Click(`dialog [role=option][data-value="` + text + `"]`)
	says(tab, "dialog .picker .chip", text)
}

func TestDevices(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{})
	var stations []struct{ StationCode string }
	s.Call("GET", "/station", nil, &stations)
	at := stations[0].StationCode
	tab := open(t, s, "admin", "/console/devices")
	button(tab, ".page-head", "Add a device")
	tab.Type("#f-ask-name", "no spaces, please")
	find(tab, "#f-ask-stationCodes", at)
	looks(tab, "devices-add", false)
	button(tab, "dialog footer", "Add")
	tab.Until(`document.querySelector('dialog .field[data-field="name"].bad .problem')?.textContent`)
	tab.Type("#f-ask-name", "press-gateway")
	button(tab, "dialog footer", "Add")
	token := once(t, tab)
	if got := webtest.Eval[string](tab, `document.querySelectorAll("dialog .secret input")[1].value`); got != s.AccountID+"/press-gateway" {
		t.Errorf("the user for MQTT is %q", got)
	}
	looks(tab, "devices-added", false)
	button(tab, "dialog footer", "Done")
	tab.Until(row("press-gateway") + `.includes("never")`)

	send := func(after time.Duration) int {
		status, answer := ask(t, s, token, "POST", "/signal", map[string]any{"signals": []any{map[string]any{"stationCode": at, "at": time.Now().Add(after).UTC().Format(time.RFC3339), "productive": true}}})
		if status == 200 && !strings.Contains(answer, `"accepted":true`) {
			t.Errorf("the signal gets %s", answer)
		}
		return status
	}
	if status := send(0); status != 200 {
		t.Fatalf("the signal gets %d", status)
	}
	tab.Until(row("press-gateway") + `.match(/just now|\ds ago|\d s ago/)`) // the page refreshes automatically
	if !webtest.Eval[bool](tab, row("press-gateway")+`.includes("right")`) {
		t.Error("its clock is not right")
	}
	send(10 * time.Minute)
	visit(tab, "/console/devices")
	tab.Until(row("press-gateway") + `.match(/(9 min 5|10 min).*ahead/)`)
	looks(tab, "devices", true)
	button(tab, "#main tbody", "Revoke press-gateway")
	button(tab, "dialog footer", "Revoke")
	told(tab, "revoked")
	if status := send(0); status != 401 {
		t.Errorf("after that a signal gets %d", status)
	}
	tab.Clean()
}

func TestTablets(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{})
	var stations []struct{ StationCode string }
	s.Call("GET", "/station", nil, &stations)
	tab := open(t, s, "admin", "/console/tablets")
	button(tab, ".page-head", "Pair a tablet")
	tab.Type("#f-ask-name", "pack-line-1")
	find(tab, "#f-ask-stationCodes", stations[0].StationCode)
	choose(tab, "#f-ask-role", "operator")
	looks(tab, "tablets-pair", false)
	button(tab, "dialog footer", "Make the QR code")
	link := once(t, tab)
	if got := scan(t, tab); got != link || !strings.HasPrefix(link, s.Base+"/") {
		t.Errorf("the QR code is %q, the link %q", got, link)
	}
	looks(tab, "tablets-link", true)
	button(tab, "dialog footer", "Done")
	tab.Until(row("pack-line-1") + `.includes("waits")`)

	tablet := webtest.Open(t, s.Base, webtest.TabletTall)
	tablet.Visit(strings.TrimPrefix(link, s.Base))
	tablet.Tap("#here")
	tablet.Until(`location.pathname !== "/link"`)
	tablet.Until(`document.querySelector("h1")`)
	if got := whoami(tablet); !strings.HasSuffix(got, " operator") {
		t.Errorf("the tablet is %s", got)
	}
	tab.Until(row("pack-line-1") + `.match(/Just now|just now|s ago/) && !` + row("pack-line-1") + `.includes("waits")`)
	looks(tab, "tablets", false)
	button(tab, "#main tbody", "Revoke pack-line-1")
	button(tab, "dialog footer", "Revoke")
	told(tab, "revoked")
	if got := whoami(tablet); got != "401" {
		t.Errorf("the tablet that was revoked is %s", got)
	}
	tab.Clean()
}

func TestPendingSignIns(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{})
	tab := open(t, s, "admin", "/console/signins")
	tab.Until(`document.querySelector(".empty")`)
	asking := webtest.Open(t, s.Base, webtest.Laptop)
	asking.Visit("/signin")
	asking.Type("#email", "planner@demo.example"+kb.Enter)
	digits := asking.Text("#code")
	tab.Until(row("planner@demo.example") + `.includes("` + digits + `")`)
	looks(tab, "signins", true)
	button(tab, "#main tbody", "Show the link for planner@")
	link := once(t, tab)
	if got := scan(t, tab); got != link {
		t.Errorf("the QR code is %q, the link %q", got, link)
	}
	says(tab, "dialog .code-large", digits)
	looks(tab, "signins-link", false)
	phone := webtest.Open(t, s.Base, webtest.Phone)
	phone.Visit(strings.TrimPrefix(link, s.Base))
	phone.Type("#code", digits+kb.Enter)
	says(phone, "#message", "let in")
	asking.Until(`location.pathname === "/floor"`)
	if got := whoami(asking); got != "planner@demo.example readonly" {
		t.Errorf("it came in as %s", got)
	}
	button(tab, "dialog footer", "Done")
	tab.Until(`document.querySelector(".empty")`)
	tab.Clean()
}

func TestSessions(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{})
	tab, other := open(t, s, "readonly", "/console"), open(t, s, "readonly", "/console")
	tab.Click(".person summary")
	tab.Axe()
	tab.Press(kb.Escape)
	tab.Until(`!document.querySelector(".person").open && document.activeElement === document.querySelector(".person summary")`)
	tab.Press(kb.Enter)
	tab.Click(`.person a[href="/console/sessions"]`)
	tab.Until(`document.querySelectorAll("#main tbody tr").length === 2 && document.querySelectorAll("#main tbody .chip").length === 1`)
	tab.Until(`!document.querySelector(".person").open`) // it does not cover the selection
	looks(tab, "sessions", true)
	button(tab, ".page-head", "Sign out everywhere else")
	button(tab, "dialog footer", "Sign out")
	told(tab, "1 session ended")
	tab.Until(`document.querySelectorAll("#main tbody tr").length === 1 && document.querySelector(".page-head button").disabled`)
	if got := whoami(other); got != "401" {
		t.Errorf("the other browser is %s", got)
	}
	other.Eval(`document.querySelector('a[href="/console/keys"]').click()`)
	other.Until(`location.pathname + location.search === "/signin?next=%2Fconsole%2Fkeys"`)

	s.SignIn(other, "readonly")
	visit(other, "/console")
	other.Click(".person summary")
	button(other, ".person", "Sign out everywhere")
	other.Until(`location.pathname === "/signin" && document.body?.innerText.includes("You are signed out")`)
	if got := whoami(tab) + whoami(other); got != "401401" {
		t.Errorf("after that the two are %s", got)
	}
	s.SignIn(tab, "readonly")
	visit(tab, "/console")
	tab.Eval(`import(document.querySelector("script[type=module]").src.replace("console/main.js", "shared/workspace.js")).then(({ workspace }) => { workspace.save = () => new Promise(() => {}); })`)
	tab.Click(".person summary")
	button(tab, ".person", "Sign out") // works even if the browser's storage does not answer
	tab.Until(`location.pathname === "/signin" && document.body?.innerText.includes("You are signed out")`)
	if got := whoami(tab); got != "401" {
		t.Errorf("signed out, it is %s", got)
	}
	tab.Clean()
}
