//go:build rig

package entry_test

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"opsmon/app/host/config"
	"opsmon/app/test/browser/webtest"
)

func TestMain(m *testing.M) { webtest.Main(m) }

const person = "planner@demo.example" // on the account's domain

// ask requests a sign-in and returns the five digits.
func ask(t *testing.T, tab *webtest.Tab, at, email string) (code string) {
	t.Helper()
	tab.Visit(at)
	tab.Type("#email", email)
	tab.Press(kb.Enter)
	code = tab.Text("#code")
	if len(code) != 5 || strings.Trim(code, "0123456789") != "" {
		t.Fatalf("the digits are %q", code)
	}
	return code
}

// linkFor acts as an administrator in the console with the digits, and returns the path of the link to hand over.
func linkFor(s *webtest.Service, code string) string {
	var link struct{ Link string }
	s.Call("POST", "/login-request/"+code+"/link", nil, &link)
	_, token, _ := strings.Cut(link.Link, "#")
	return "/link#" + token
}

// other returns five other digits.
func other(code string) string {
	if code == "00000" {
		return "11111"
	}
	return "00000"
}

// One browser requests a sign-in, another opens the link and approves the first, which continues automatically.
func TestAWaitingBrowserIsLetIn(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{})
	asking, phone := webtest.Open(t, s.Base, webtest.Laptop), webtest.Open(t, s.Base, webtest.Phone)
	asking.Visit("/signin?next=%2Fdocs%23createKey")
	asking.Until(`document.activeElement !== null && document.querySelector("#email")`)
	asking.Shot("signin")
	asking.Axe()
	code := ask(t, asking, "/signin?next=%2Fdocs%23createKey", person)
	asking.Axe()
	asking.Shot("signin-waiting")
	if got := webtest.Eval[string](asking, `document.querySelector("h1").textContent + document.querySelector("#command code").textContent + document.activeElement?.className`); got != "Ask to be let inapp login-link --code "+code+"title" {
		t.Errorf("it says %q", got)
	}
	if left := asking.Text("#left"); !strings.HasPrefix(left, "14 min ") && left != "15 min 0 s" {
		t.Errorf("there are %s left", left)
	}

	phone.Visit(linkFor(s, code))
	phone.Shot("link-phone")
	phone.Axe()
	phone.Type("#code", other(code))
	phone.Press(kb.Enter)
	phone.Until(`document.querySelector("#code-hint").textContent.includes("not the one")`)
	phone.Type("#code", code)
	phone.Press(kb.Enter)
	phone.Until(`document.querySelector("#message").textContent.includes("The other browser is let in")`)
	phone.Shot("link-approved")
	asking.Until(`location.pathname + location.hash === "/docs#createKey"`)
	if got := webtest.Eval[string](asking, `fetch("/auth/profile").then((a) => a.json()).then((a) => a.result.email + " " + localStorage.length)`); got != person+" 0" {
		t.Errorf("it came in as %q", got)
	}
	if got := webtest.Eval[int](phone, `fetch("/auth/profile").then((a) => a.status)`); got != 401 {
		t.Errorf("the phone that let the other in got %d", got)
	}
	// A signed-in user has nothing to do there.
	asking.Visit("/signin")
	asking.Until(`location.pathname === "/floor"`)
	phone.Clean()
}

// The link is opened in the browser that waits: both its page and the waiting page continue.
func TestTheLinkInTheSameBrowser(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{})
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	code := ask(t, tab, "/signin", person)
	_, token, _ := strings.Cut(linkFor(s, code), "#")
	tab.Eval(`fetch("/auth/callback?token=` + token + `")`) // like the page of the link in another tab
	tab.Until(`location.pathname === "/floor"`)

	tab = webtest.Open(t, s.Base, webtest.TabletTall)
	code = ask(t, tab, "/signin", person)
	tab.Visit(linkFor(s, code))
	tab.Shot("link-tablet")
	tab.Tap("#here")
	tab.Until(`location.pathname === "/floor"`)
}

// A reload and a restart of the service do not affect the waiting browser.
func TestWaitingOutlivesAReloadAndARestart(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	l.Close()
	dir := t.TempDir()
	service := func(t *testing.T, empty bool) *webtest.Service {
		return webtest.Serve(t, webtest.Options{Empty: empty, Adjust: func(c *config.Settings) { c.Listen, c.DataDir = at, dir }})
	}
	tab := webtest.Open(t, "http://"+at, webtest.TabletWide)
	var code, key string
	t.Run("before", func(t *testing.T) {
		s := service(t, false)
		key = s.Key
		code = ask(t, tab, "/signin", person)
		tab.Visit("/signin")
		if got := tab.Text("#code"); got != code {
			t.Errorf("after a reload the digits are %s, not %s", got, code)
		}
	})
	tab.Until(`document.querySelector(".waiting").textContent.includes("tries again automatically")`)
	tab.Shot("signin-away")
	t.Run("after", func(t *testing.T) {
		s := service(t, true)
		s.Key = key
		tab.Until(`document.querySelector(".waiting").textContent.includes("continues automatically")`)
		link := linkFor(s, code)
		_, token, _ := strings.Cut(link, "#")
		phone := webtest.Open(t, s.Base, webtest.Phone)
		phone.Visit("/docs")
		phone.Eval(fmt.Sprintf(`fetch("/auth/approve", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({token: %q, code: %q})})`, token, code))
		tab.Until(`location.pathname === "/floor"`)
	})
}

// Errors are shown with a solution, and the page continues to work.
func TestSigningInSaysWhatIsWrong(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{})
	tab := webtest.Open(t, s.Base, webtest.TabletTall)
	tab.Visit("/signin")
	try := func(email, want string) {
		t.Helper()
		tab.Type("#email", email)
		tab.Press(kb.Enter)
		tab.Until(fmt.Sprintf(`document.querySelector("#email-problem, .notice")?.textContent.includes(%q)`, want))
	}
	try(" ", "Type your e-mail address")
	try("nobody", "The address must be an e-mail address")
	try("<img src=x onerror=window.hit=1>@evil.example", "The address must be")
	try("someone@elsewhere.example", "ask an administrator to add it")
	if !webtest.Eval[bool](tab, `document.activeElement?.id === "email" && document.activeElement.getAttribute("aria-invalid") === "true"`) {
		t.Error("the cursor is not where the problem is")
	}
	tab.Shot("signin-problem")
	tab.Axe()

	// Answers of an overloaded or failing service.
	tab.Eval(`window.real = fetch, window.next = null, window.fetch = (path, options) => path === "/auth/login" && window.next ? window.next() : window.real(path, options)`)
	answer := func(status int, retry, message string) string {
		return fmt.Sprintf(`window.next = async () => new Response(JSON.stringify({isSuccess: false, errorCode: "x", errorMessage: %q}), {status: %d, headers: {"X-Time": Date.now(), "Content-Type": "application/json", "Retry-After": %q}})`, message, status, retry)
	}
	tab.Eval(answer(503, "1", "the disk is full"))
	try(person, "The disk is full.")
	tab.Eval(`window.next = () => Promise.reject(new TypeError("Failed to fetch"))`)
	try(person, "The service does not answer")
	tab.Eval(answer(500, "", "something <b>broke</b>"))
	try(person, "Something <b>broke</b>.")
	tab.Eval(answer(429, "3", "there were too many requests to sign in: wait a while"))
	try(person, "Too many requests to sign in")
	if got := tab.Text("form button"); !strings.HasPrefix(got, "Try again in ") || !webtest.Eval[bool](tab, `document.querySelector("form button").disabled`) {
		t.Errorf("the button says %q", got)
	}
	tab.Shot("signin-throttled")
	tab.Eval(`window.next = null`)
	tab.Until(`!document.querySelector("form button").disabled && !document.querySelector(".notice")`)
	tab.Click("form button")
	tab.Until(`document.querySelector("#code")`)
	if webtest.Eval[bool](tab, "'hit' in window") {
		t.Error("an address was run as script")
	}
	tab.Clean()

	// Without approval, five wrong digits end the link, and so does its expiry.
	code := tab.Text("#code")
	_, token, _ := strings.Cut(linkFor(s, code), "#")
	for range 5 {
		tab.Eval(fmt.Sprintf(`fetch("/auth/approve", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({token: %q, code: %q})})`, token, other(code)))
	}
	tab.Until(`document.querySelector("h1").textContent === "The time is over"`)
	tab.Axe()
	tab.Shot("signin-over")
	tab.Click("form button")
	tab.Until(`document.querySelector("#code")`)
	tab.Click("#other")
	tab.Until(`document.activeElement?.id === "email"`)
	if webtest.Eval[int](tab, "localStorage.length") != 0 {
		t.Error("what was given up is kept")
	}
}

// A waiting page polls at increasing intervals, and obeys Retry-After. Time runs faster in it.
func TestAWaitingPageNeverHammers(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{})
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	tab.Visit("/signin")
	tab.Until(`document.querySelector("#email")`)
	tab.Eval(`window.waits = [], window.claims = 0, window.slow = setTimeout, window.setTimeout = (f, ms) => { if (ms >= 1000) waits.push(ms); return slow(f, ms / 100); },
		window.real = fetch, window.fetch = (path, options) => path !== "/auth/claim" ? real(path, options) : ++claims !== 20 ? real(path, options)
			: Promise.resolve(new Response("{}", {status: 429, headers: {"X-Time": Date.now(), "Content-Type": "application/json", "Retry-After": "60"}}))`)
	tab.Type("#email", person)
	tab.Press(kb.Enter)
	tab.Until(`claims > 25`)
	waits := webtest.Eval[[]float64](tab, `waits`)
	told := false
	for i, ms := range waits[:25] {
		told = told || ms == 60000
		if ms < 1500 || i > 0 && ms < waits[i-1] && waits[i-1] != 60000 {
			t.Errorf("the waits are %v ms", waits)
			break
		}
	}
	if !told || waits[19] > 60000 {
		t.Errorf("told to wait a minute it waited %v", waits)
	}
}

// With a mail server, the page says that the link was sent.
func TestSigningInByMail(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Adjust: func(c *config.Settings) {
		c.SMTP.Host, c.SMTP.Port, c.SMTP.From, c.SMTP.TLS = "127.0.0.1", 9, "opsmon@demo.example", "none"
	}})
	tab := webtest.Open(t, s.Base, webtest.TabletTall)
	tab.Media("prefers-color-scheme", "dark")
	ask(t, tab, "/signin", person)
	tab.Until(`document.querySelector("h1").textContent === "Check your mail"`)
	tab.Shot("signin-mail-dark")
	tab.Axe()
	tab.Clean()
}

// The parameter for the next page is untrusted input.
func TestNextStaysHere(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{})
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	tab.Visit("/docs")
	tab.Eval(`import(document.querySelector('link[rel="stylesheet"]').href.replace("app.css", "next.js")).then((m) => { window.nextPage = m.nextPage; })`)
	for path, want := range map[string]string{
		"/console": "/console", "/console/stations?x=1#y": "/console/stations?x=1#y", "/docs": "/docs", "/docs/../console/x": "/console/x", "/floor/wall": "/floor/wall",
		"": "/floor", "console": "/floor", "https://evil.example/console": "/floor", "//evil.example/console": "/floor", "///evil.example": "/floor",
		`/\evil.example`: "/floor", `\\evil.example`: "/floor", "/\t/evil.example": "/floor", "/\n/evil.example/console": "/floor", "/%2fevil.example": "/floor",
		"/.//evil.example/console": "/floor", "/console/..//evil.example": "/floor", "javascript:alert(1)": "/floor", "data:text/html,x": "/floor",
		"/auth/logout": "/floor", "/auth/callback?token=x": "/floor", "/signin?next=/console": "/floor", "/link#opl_x": "/floor", "/consolex": "/floor", "http:/docs": "/floor",
		"/@evil.example": "/floor", "/console@evil.example": "/floor", "/:80": "/floor",
	} {
		if got := webtest.Eval[string](tab, fmt.Sprintf("nextPage(%q)", path)); got != s.Base+want {
			t.Errorf("%q leads to %s", path, got)
		}
	}
	if got := webtest.Eval[string](tab, "nextPage(null)"); got != s.Base+"/floor" {
		t.Errorf("nothing leads to %s", got)
	}
	s.SignIn(tab, "admin")
	tab.Visit("/signin?next=%2F%2Fevil.example%2Fconsole")
	tab.Until(`location.href === "` + s.Base + `/floor"`)
}

// Signing out ends the session on the server and in the browser, and the page shows that.
func TestSigningOut(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{})
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	s.SignIn(tab, "member")
	tab.Visit("/console")
	tab.Until(`document.querySelector(".person")`)
	tab.Eval(`fetch("/auth/profile").then((a) => { if (a.status !== 200) throw new Error(a.status); })`)
	tab.Eval(`document.querySelector(".person").open = true`)
	tab.Eval(`[...document.querySelectorAll(".person button")].find((b) => b.textContent === "Sign out").click()`)
	tab.Until(`location.pathname === "/signin" && document.querySelector(".notice")?.textContent.includes("You are signed out")`)
	tab.Shot("signin-out")
	if got := webtest.Eval[int](tab, `fetch("/auth/profile").then((a) => a.status)`); got != 401 {
		t.Errorf("after signing out the profile is %d", got)
	}
	if got := webtest.Eval[string](tab, `location.search`); got != "" {
		t.Errorf("a reload would say it again: %s", got)
	}
	tab.Visit("/console/stations?q=1")
	tab.Until(`location.pathname + location.search === "/signin?next=%2Fconsole%2Fstations%3Fq%3D1"`)
}

// The demo opens on its sign-in page with a button that signs in, only on this computer.
func TestTheDemoIsEnteredByAButton(t *testing.T) {
	key := "opk_9m4q6w3p5z8c2b7n4t6r9y3h5j2k7x"
	s := webtest.Serve(t, webtest.Options{Adjust: func(c *config.Settings) {
		c.Demo = &config.Demo{Account: "demo", Email: webtest.Admin, Plants: []string{"Riverside <img src=x onerror=window.hit=1>"}, Groups: 4, Stations: 14, SKUs: 20, APIKey: key, BaseURL: "http://127.0.0.1:8080"}
	}})
	for name, view := range map[string]webtest.Viewport{"laptop": webtest.Laptop, "tablet": webtest.TabletTall} {
		tab := webtest.Open(t, s.Base, view)
		tab.Visit("/")
		tab.Until(`location.pathname === "/signin" && document.querySelector("#enter") && document.querySelector("#email")`)
		if got := tab.Text("#key"); got != key {
			t.Errorf("the key is %q", got)
		}
		if got, want := tab.Text("#curl"), `curl -H "X-API-KEY: `+key+`" http://127.0.0.1:8080/account`; got != want {
			t.Errorf("the command is %q, want %q", got, want)
		}
		tab.Axe()
		tab.Shot("demo-" + name)
		tab.Eval(`document.querySelector("details").open = true`)
		tab.Click(`[data-copy="curl"]`)
		tab.Until(`["Copied", "Selected"].includes(document.querySelector('[data-copy="curl"]').textContent)`)
		tab.Shot("demo-open-" + name)
		tab.Eval(`document.querySelector("#enter").focus()`)
		tab.Press(kb.Enter)
		tab.Until(`location.pathname === "/floor"`)
		if got := webtest.Eval[string](tab, `fetch("/auth/profile").then((a) => a.json()).then((a) => a.result.email + " " + a.result.role)`); got != webtest.Admin+" admin" {
			t.Errorf("it was entered as %s", got)
		}
		if webtest.Eval[bool](tab, "'hit' in window") {
			t.Error("a plant's name was run as script")
		}
	}
	// While the example plant catches up with the present, a link may expire before it is used: another is created.
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	tab.Visit("/signin")
	tab.Eval(`window.real = fetch, window.tries = 0, window.fetch = (path, options) => path.startsWith("/auth/callback") && ++tries < 3 ? real("/auth/callback?token=opl_over", options) : real(path, options)`)
	tab.Click("#enter")
	tab.Until(`location.pathname === "/floor"`)
}
