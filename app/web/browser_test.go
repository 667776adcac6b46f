//go:build rig

package web_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"opsmon/app/httpapi"
	"opsmon/app/test/browser/webtest"
	"opsmon/app/web"
)

// fakeAPI replaces the API behind the pages, except for the real OpenAPI document.
type fakeAPI struct {
	mu       sync.Mutex
	answers  map[string]answer // by path
	requests []string
}

type answer struct {
	status int
	body   string
	retry  string
}

func (f *fakeAPI) set(path string, a answer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[path] = a
}

func (f *fakeAPI) seen() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.requests...)
}

func (f *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	body := make([]byte, max(r.ContentLength, 0))
	_, _ = r.Body.Read(body)
	f.requests = append(f.requests, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
	a, found := f.answers[r.URL.Path]
	if !found {
		a = answer{status: 404, body: `{"isSuccess":false,"errorCode":"notFound","errorMessage":"there is nothing at this path"}`}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Time", strconv.FormatInt(time.Now().UnixMilli(), 10))
	if a.retry != "" {
		w.Header().Set("Retry-After", a.retry)
	}
	w.WriteHeader(a.status)
	_, _ = w.Write([]byte(a.body))
}

func serve(t *testing.T, demo *web.DemoInfo) (base string, fake *fakeAPI) {
	t.Helper()
	fake = &fakeAPI{answers: map[string]answer{"/ready": {status: 200, body: `{"isSuccess":true}`}}}
	real := httpapi.New(httpapi.Config{Log: slog.New(slog.DiscardHandler)})
	pages := newPages(t, web.Config{Version: "1.2.3", Demo: demo})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case pages.Handles(r):
			pages.ServeHTTP(w, r)
		case r.URL.Path == "/openapi.json":
			real.ServeHTTP(w, r)
		default:
			fake.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, fake
}

func TestPagesInABrowser(t *testing.T) {
	t.Run("views", func(t *testing.T) { testViews(t) })
	t.Run("documentation", func(t *testing.T) { testDocumentation(t) })
	t.Run("link", func(t *testing.T) { testLink(t) })
	t.Run("sign in while not ready", func(t *testing.T) { testNotReady(t) })
	t.Run("no sideways scrolling", func(t *testing.T) { testWidths(t) })
}

// testViews tests the view library under the pages' content security policy.
func testViews(t *testing.T) {
	base, _ := serve(t, nil)
	p := webtest.Open(t, base, webtest.Viewport{Width: 1280, Height: 800})
	p.Visit("/console/x")
	got := webtest.Eval[string](p, `(async () => {
		const at = document.querySelector('link[rel="stylesheet"]').href.replace("/shared/app.css", "/vendor/lit-html/");
		const { html, render } = await import(at + "lit-html.js");
		const { repeat } = await import(at + "directives/repeat.js");
		const box = document.createElement("div");
		const list = (names) => render(html`+"`<ul>${repeat(names, (n) => n, (n) => html`<li title=${n} @click=${() => {}}>${n}</li>`)}</ul>`"+`, box);
		list(["a", "<b>"]);
		const kept = box.querySelector('[title="<b>"]');
		list(["<b>", "c"]);
		return [...box.querySelectorAll("li")].map((e) => e.textContent).join() + " " + (kept === box.querySelector("li"));
	})()`)
	if got != "<b>,c true" {
		t.Errorf("drawn: %s", got)
	}
	p.Clean()
}

func testDocumentation(t *testing.T) {
	base, _ := serve(t, nil)
	p := webtest.Open(t, base, webtest.Viewport{Width: 1280, Height: 800})
	p.Visit("/docs#createKey")
	p.Until(`document.getElementById("createKey")`)
	p.Until(`document.activeElement.closest("section")?.id === "createKey"`) // a deep link shows its section
	if top := webtest.Eval[float64](p, `document.getElementById("createKey").getBoundingClientRect().top`); top < -2 || top > 400 {
		t.Errorf("the operation linked to is %v px from the top", top)
	}
	inPage := webtest.Eval[[]string](p, `[...document.querySelectorAll(".operation:not(.model)")].map((s) => s.id)`)
	inDocument := webtest.Eval[[]string](p, `(async () => Object.values((await (await fetch("/openapi.json")).json()).paths).flatMap((item) => Object.values(item)).map((op) => op.operationId))()`)
	if len(inDocument) == 0 {
		t.Fatal("the description has no operation")
	}
	if diff := cmp.Diff(toSet(inDocument), toSet(inPage)); diff != "" {
		t.Errorf("description and page differ:\n%s", diff)
	}
	// Every link in the page has a target, and no id occurs twice.
	if dead := webtest.Eval[[]string](p, `[...document.querySelectorAll('a[href^="#"]')].map((a) => a.getAttribute("href").slice(1)).filter((id) => !document.getElementById(id))`); len(dead) > 0 {
		t.Errorf("links lead nowhere: %v", dead)
	}
	if twice := webtest.Eval[[]string](p, `[...document.querySelectorAll("[id]")].map((e) => e.id).filter((id, i, all) => all.indexOf(id) !== i)`); len(twice) > 0 {
		t.Errorf("ids are there twice: %v", twice)
	}
	section := p.Text("#createKey")
	for _, want := range []string{"POST", "/key", "expiresAt", "date-time", "an API key", "409", "conflict", "X-API-KEY: $KEY", base + "/key"} {
		if !strings.Contains(section, want) {
			t.Errorf("POST /key does not mention %q", want)
		}
	}

	// By keyboard only: to the search, a word, the first result.
	p.Do(chromedp.KeyEvent("/"), chromedp.KeyEvent("restore"))
	p.Until(`document.activeElement.id === "search" && document.getElementById("found").textContent.includes(" of ")`)
	if webtest.Eval[bool](p, `document.getElementById("createKey").checkVisibility()`) || !webtest.Eval[bool](p, `document.getElementById("restoreRevision").checkVisibility()`) {
		t.Error("the search for restore shows something else")
	}
	webtest.Eval[bool](p, `window.gone = 0, addEventListener("focusin", (e) => { if (e.target.tagName === "H3") gone++; }), addEventListener("hashchange", () => { setTimeout(() => { window.settled = true; }); }), true`)
	webtest.Eval[bool](p, `document.getElementById("search").dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", bubbles: true})), document.getElementById("search").focus(), true`)
	p.Until(`window.settled && document.activeElement.tagName === "H3"`)
	if n := webtest.Eval[float64](p, "gone"); n != 1 {
		t.Errorf("the first that is found was gone to %v times: a reader who types on loses the keys between", n)
	}
	p.Do(chromedp.KeyEvent("/"), chromedp.KeyEvent("xyzzy"))
	p.Until(`document.getElementById("found").textContent === "Nothing found"`)
	p.Do(chromedp.KeyEvent(kb.Escape))
	p.Until(`document.getElementById("createKey").checkVisibility()`)

	// Everything is open on paper, and closed again afterwards.
	const closed = `document.querySelectorAll("details:not([open])").length`
	before := webtest.Eval[float64](p, closed)
	if webtest.Eval[float64](p, `dispatchEvent(new Event("beforeprint")) && `+closed) != 0 || before == 0 || webtest.Eval[float64](p, `dispatchEvent(new Event("afterprint")) && `+closed) != before {
		t.Errorf("%v parts are closed on the screen; printing must open them for its time", before)
	}
	p.Clean()

	loaded := len(p.Requests())
	size := p.BytesOverWire()
	if size > 200<<10 {
		t.Errorf("the page takes %d bytes over the wire; 200 KiB are too many", size)
	}
	t.Logf("%d requests, %.1f KiB over the wire", loaded, float64(size)/1024)
}

func newPages(t *testing.T, cfg web.Config) *web.Web {
	t.Helper()
	w, err := web.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// testNotReady: the sign-in page shows why the service is not ready, until it is.
func testNotReady(t *testing.T) {
	base, fake := serve(t, nil)
	fake.set("/ready", answer{status: 503, body: `{"isSuccess":false,"errorCode":"unavailable","errorMessage":"not ready: the <b>store</b> is damaged; restore it with: app restore"}`})
	p := webtest.Open(t, base, webtest.Laptop)
	p.Visit("/signin")
	p.Until(`document.querySelector(".notice")?.textContent.includes("Not ready: the <b>store</b> is damaged; restore it with: app restore.")`)
	fake.set("/ready", answer{status: 200, body: `{"isSuccess":true}`})
	p.Until(`document.querySelector("#email") && !document.querySelector(".notice")`)
	p.Clean()
}

func toSet(list []string) map[string]bool {
	set := map[string]bool{}
	for _, s := range list {
		set[s] = true
	}
	return set
}

const exampleToken = "opl_7xk2v9m4q6w3p5z8c2b7n4t6r9y3h5j2"

func testLink(t *testing.T) {
	base, fake := serve(t, nil)
	visit := func(t *testing.T) *webtest.Tab {
		p := webtest.Open(t, base, webtest.Viewport{Width: 800, Height: 1280})
		p.Visit("/link#" + exampleToken)
		p.Until(`!document.getElementById("here").disabled`)
		return p
	}
	envelope := func(status int, code, message string) answer {
		return answer{status: status, body: fmt.Sprintf(`{"isSuccess":false,"errorCode":%q,"errorMessage":%q}`, code, message)}
	}
	last := func() string { all := fake.seen(); return all[len(all)-1] }

	t.Run("opening it uses nothing", func(t *testing.T) {
		p := visit(t)
		if at := webtest.Eval[string](p, "location.href"); at != base+"/link" {
			t.Errorf("the address bar has %s", at)
		}
		if n := webtest.Eval[float64](p, "history.length"); n > 2 {
			t.Errorf("the history has %v entries: the token may be in one", n)
		}
		for _, request := range fake.seen() {
			if strings.Contains(request, "opl_") || strings.Contains(request, "/auth/") {
				t.Errorf("the page asked for %s before anybody pressed anything", request)
			}
		}
		p.Clean()
	})

	t.Run("sign in here, by keyboard", func(t *testing.T) {
		fake.set("/auth/callback", answer{status: 200, body: `{"isSuccess":true}`})
		p := visit(t)
		for range 8 {
			p.Do(chromedp.KeyEvent(kb.Tab))
			if webtest.Eval[string](p, "document.activeElement.id") == "here" {
				break
			}
		}
		p.Do(chromedp.KeyEvent(kb.Enter))
		p.Until(`location.pathname === "/floor"`) // the link's page is not in the history
		if want := "GET /auth/callback?token=" + exampleToken; !slices.Contains(fake.seen(), want) {
			t.Errorf("asked %s, want %s", fake.seen(), want)
		}
	})

	for _, tt := range []struct {
		name  string
		reply answer
		says  string
		again bool // the link can be used again
	}{
		{"incomplete", envelope(400, "invalidInput", "token must not be empty"), "This link is not complete", false},
		{"expired", envelope(403, "forbidden", "the link is not valid, or not any more"), "not valid any more", false},
		{"used", envelope(409, "conflict", "the link was used before"), "was used before", false},
		{"throttled", answer{429, `{"isSuccess":false,"errorCode":"tooManyRequests","errorMessage":"wait"}`, "42"}, "Wait 42 seconds", true},
		{"busy", envelope(503, "unavailable", "the disk is full"), "Your link was not used", true},
		{"broken", envelope(500, "internalServerError", "something <b>went</b> wrong"), "Something <b>went</b> wrong.", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fake.set("/auth/callback", tt.reply)
			p := visit(t)
			p.Click("#here")
			p.Until(`document.getElementById("message").textContent !== ""`)
			if got := p.Text("#message"); !strings.Contains(got, tt.says) {
				t.Errorf("it says %q", got)
			}
			if again := webtest.Eval[bool](p, `document.getElementById("here").checkVisibility() && !document.getElementById("here").disabled`); again != tt.again {
				t.Errorf("it can be tried again: %v", again)
			}
			p.Clean()
		})
	}

	t.Run("let the waiting browser in", func(t *testing.T) {
		p := visit(t)
		submit := func(digits string) {
			webtest.Eval[any](p, `document.getElementById("code").value = ""`)
			p.Do(chromedp.SendKeys(chromedp.CSS("#code"), digits+kb.Enter))
		}
		before := len(fake.seen())
		submit("123")
		p.Until(`document.getElementById("code-hint").textContent.includes("five digits")`)
		if len(fake.seen()) != before {
			t.Errorf("three digits were sent: %s", last())
		}
		fake.set("/auth/approve", envelope(403, "forbidden", "the code is not the one that the waiting browser shows"))
		submit("11111")
		p.Until(`document.getElementById("code-hint").textContent.startsWith("The code is not the one")`)
		if !webtest.Eval[bool](p, `document.activeElement.id === "code" && document.activeElement.getAttribute("aria-invalid") === "true"`) {
			t.Error("the field with the wrong code is not where the cursor is")
		}
		fake.set("/auth/approve", answer{400, `{"isSuccess":false,"errorCode":"invalidInput","errorMessage":"x","details":[{"field":"code","issue":"must be five digits"}]}`, ""})
		submit("22222")
		p.Until(`document.getElementById("code-hint").textContent === "The code must be five digits."`)
		fake.set("/auth/approve", envelope(409, "conflict", "no other browser waits for this link"))
		submit("33333")
		p.Until(`document.getElementById("message").textContent.includes("No other browser waits")`)
		fake.set("/auth/approve", answer{status: 200, body: `{"isSuccess":true}`})
		submit("04817")
		p.Until(`document.getElementById("message").textContent.includes("The other browser is let in")`)
		if want := `POST /auth/approve {"token":"` + exampleToken + `","code":"04817"}`; last() != want {
			t.Errorf("sent %s, want %s", last(), want)
		}
		p.Clean()
	})

	t.Run("a second link in the same tab", func(t *testing.T) {
		fake.set("/auth/callback", envelope(409, "conflict", "the link was used before"))
		p := visit(t)
		p.Click("#here")
		p.Until(`document.getElementById("message").textContent.includes("was used before")`)
		fake.set("/auth/callback", answer{status: 200, body: `{"isSuccess":true}`})
		webtest.Eval[any](p, `location.hash = "opl_second"`)
		p.Until(`document.getElementById("here").checkVisibility() && location.hash === ""`)
		p.Click("#here")
		p.Until(`location.pathname === "/floor"`)
		if !slices.Contains(fake.seen(), "GET /auth/callback?token=opl_second") {
			t.Errorf("asked %s", fake.seen())
		}
	})

	t.Run("no token", func(t *testing.T) {
		p := webtest.Open(t, base, webtest.Viewport{Width: 360, Height: 740})
		p.Visit("/link")
		p.Until(`document.getElementById("message").textContent.includes("There is no link here")`)
		p.Clean()
	})

	t.Run("no network", func(t *testing.T) {
		p := visit(t)
		webtest.Eval[any](p, `globalThis.fetch = () => Promise.reject(new TypeError("Failed to fetch"))`)
		p.Click("#here")
		p.Until(`document.getElementById("message").textContent.includes("The service does not answer")`)
		if webtest.Eval[bool](p, `document.getElementById("here").disabled`) {
			t.Error("it cannot be tried again")
		}
	})

	t.Run("touch", func(t *testing.T) {
		p := visit(t)
		small := webtest.Eval[[]string](p, `[...document.querySelectorAll("button, input, .bar a")].filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 48).map((e) => e.outerHTML)`)
		if len(small) > 0 {
			t.Errorf("too small for a finger in a glove: %v", small)
		}
	})
}

// testWidths opens every page from the width of a phone to that of a wall screen, light and dark: nothing may overflow
// horizontally, and text must have enough contrast.
func testWidths(t *testing.T) {
	base, _ := serve(t, web.ExampleDemo)
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{360, 800, 1280, 1920} {
			p := webtest.Open(t, base, webtest.Viewport{Width: width, Height: 900})
			p.Media("prefers-color-scheme", scheme)
			for path, ready := range map[string]string{
				"/docs": `document.getElementById("getOpenAPI")`, "/link#" + exampleToken: `!document.getElementById("here").disabled`,
				"/help": `document.querySelector(".help-cards")`, "/help/tablet": `document.getElementById("offline")`,
				"/help/floor": `document.getElementById("explain")`, "/help/console": `document.getElementById("backups")`,
			} {
				p.Visit(path)
				p.Until(ready)
				if over := webtest.Eval[float64](p, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
					t.Errorf("%s is %v px too wide at %d", path, over, width)
				}
				for _, weak := range webtest.Eval[[]string](p, contrast) {
					t.Errorf("%s %s: %s", scheme, path, weak)
				}
			}
			p.Clean()
		}
	}
}

// contrast returns texts with a contrast below 4.5 (WCAG 2.2, 1.4.3), a few of each kind.
const contrast = `(() => {
	const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
	const rgba = (color) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
	const known = new Map();
	const read = (color) => { if (!known.has(color)) known.set(color, rgba(color)); return known.get(color); };
	const light = ([r, g, b]) => { const f = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
	const weak = new Set();
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let node; (node = walker.nextNode());) {
		const e = node.parentElement;
		if (!node.data.trim() || e.matches(":disabled, script, noscript") || !e.checkVisibility()) continue;
		let back = e;
		while (back && read(getComputedStyle(back).backgroundColor)[3] < 255) back = back.parentElement;
		const [a, b] = [light(read(getComputedStyle(e).color)), light(read(getComputedStyle(back ?? document.documentElement).backgroundColor))].sort((x, y) => y - x);
		const ratio = (a + 0.05) / (b + 0.05);
		if (ratio < 4.5 && weak.size < 5) weak.add(e.tagName + "." + e.className + " has " + ratio.toFixed(2) + ": " + node.data.trim().slice(0, 30));
	}
	return [...weak];
})()`
