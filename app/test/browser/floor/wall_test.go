//go:build rig

package floor_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"opsmon/app/test/browser/webtest"
)

// The wall screen shows one group after the other, without controls, and hides the pointer.
func TestTheWallCyclesThroughGroups(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: plant(30, 24)})
	signals(s, time.Now(), produces(1), 0, 1, 2)
	tab := open(t, s, "/floor/wall?every=3", webtest.Viewport{Width: 1920, Height: 1080})
	title := func(want string) {
		t.Helper()
		tab.Until(`document.querySelector(".wall-head h1")?.textContent === "` + want + `"`)
	}
	title("Hall 0 1 of 2")
	if n := webtest.Eval[int](tab, `document.querySelectorAll(".cell").length`); n != 12 {
		t.Errorf("24 stations stand on two pages; on the first are %d", n)
	}
	if webtest.Eval[bool](tab, `Boolean(document.querySelector(".top, .menu")) || getComputedStyle(document.querySelector(".wall")).cursor !== "none"`) {
		t.Error("something is around the stations")
	}
	if webtest.Eval[bool](tab, `(() => { const r = document.querySelector(".wall").getBoundingClientRect(), all = [...document.querySelectorAll(".cell")].map((e) => e.getBoundingClientRect()); return r.width !== innerWidth || all.some((c) => c.right > innerWidth || c.bottom > innerHeight || c.height < 200); })()`) {
		t.Error("the stations do not fill the screen")
	}
	tab.Axe()
	tab.Shot("wall")
	title("Hall 0 2 of 2")
	title("Hall 1")
	title("Hall 0 1 of 2")
	tab.Press(" ")
	tab.Until(`document.querySelector(".wall.handled .wall-controls [aria-pressed=true]")`)
	tab.Axe()
	before := tab.Text(".wall-head h1")
	tab.Press(kb.ArrowLeft)
	tab.Until(`document.querySelector(".wall-head h1").textContent !== "` + before + `"`)
	tab.Visit("/floor/wall?group=g1&theme=light")
	title("Hall 1")
	tab.Axe()
	tab.Shot("wall-light")
	tab.Visit("/floor/wall?stations=S-29,S-1")
	tab.Until(`[...document.querySelectorAll(".cell")].map((e) => e.dataset.station).join() === "S-1,S-29"`)
	tab.Clean()
}

// Values are unambiguous from a distance: a duration is not formatted like a time of day, and a large ratio has
// separators.
func TestLengthsAndRatiosAreWritten(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: plant(1, 1)})
	s.Call("POST", "/signal", object{"signals": []object{{"stationCode": "S-0", "rssi": -60}}}, nil)
	tab := open(t, s, "/floor/wall", webtest.Laptop)
	tab.Until(`/^\d+ (s|min)$/.test(document.querySelector(".cell time")?.textContent)`)
	written := `Promise.all(["floor/floor/ticking.js", "shared/status.js"].map((path) => import(document.querySelector("script[type=module]").src.replace(/floor\/main\.js$/, path))))
		.then(([{ elapsed }, { percent }]) => [...[0, 59_900, 60_000, 780_000, 3_599_000, 11_520_000, 54_000_000, 187_200_000].map(elapsed), ...[null, 0, 0.6461, 9.994, 1235.524].map((ratio) => percent(ratio)), percent(0.646, 0)].join(", "))`
	want := "0 s, 59 s, 1 min, 13 min, 59 min, 3 h 12 min, 15 h, 2 d 4 h, –, 0.0 %, 64.6 %, 999.4 %, 123,552 %, 65 %"
	if got := webtest.Eval[string](tab, written); got != want {
		t.Errorf("it is written %s,\nnot %s", got, want)
	}
	tab.Clean()
}

// An unattended screen shows that its data is old, and reloads when the service has another version.
func TestTheWallTakesCareOfItself(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: plant(4, 4)})
	tab := open(t, s, "/floor/wall", webtest.Laptop)
	module := func(path string) string {
		return `import(document.querySelector('script[type=module]').src.replace(/floor\/main\.js$/, "` + path + `"))`
	}
	// no event for so long
	tab.Eval(`(() => { const real = Date.now, at = real(); Date.now = () => real() + 41_000; })()`)
	tab.Until(`document.querySelector(".wall.old .wall-old")?.textContent.includes("Connection lost since")`)
	tab.Axe()
	tab.Shot("wall-old")
	signals(s, time.Now(), produces(1), 0)
	tab.Until(`!document.querySelector(".wall-old") && ` + card(0, "[data-value=status]") + ` !== "No data"`)
	if webtest.Eval[bool](tab, `(async () => { const { grown } = await `+module("floor/wall/upkeep.js")+`; return grown(300 * 2 ** 20, 0) || grown(200 * 2 ** 20, 2 ** 20) || grown(300 * 2 ** 20, 100 * 2 ** 20) || !grown(300 * 2 ** 20, 50 * 2 ** 20); })()`) {
		t.Error("it begins anew for memory that has not grown, or not for memory that has")
	}
	tab.Eval(`(() => { window.same = true; window.fetch = ((real) => (path, more) => (path === "/floor/wall" ? Promise.resolve(new Response("<link href=/assets/other/shared/app.css>")) : real(path, more)))(fetch); })()`)
	tab.Eval(`(async () => (await ` + module("shared/live.js") + `).live.dispatchEvent(new Event("reset")))()`)
	tab.Until(`!window.same && document.querySelector(".cell")`)
	tab.Clean()
}

// The head of the wall screen is one line however long a name is, and it is printed black on white.
func TestTheWallsHeadAndItsPrint(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: bytes.Replace(plant(4, 4), []byte("Hall 0"), []byte("Forming, drying and glazing hall"), 1)})
	tab := open(t, s, "/floor/wall", webtest.Phone)
	tab.Until(`document.querySelector(".cell") && document.querySelector(".wall-clock").textContent`)
	if got := webtest.Eval[string](tab, `[...document.querySelectorAll(".wall-head > :is(h1, p)")].filter((e) => e.getBoundingClientRect().height > 2 * parseFloat(getComputedStyle(e).fontSize)).map((e) => e.outerHTML).join()`); got != "" {
		t.Errorf("in more than one line: %s", got)
	}
	if _, err := chromedp.Call(tab.Context(), emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}); err != nil {
		t.Fatal(err)
	}
	if got := webtest.Eval[string](tab, `(({ color, backgroundColor }) => color + " on " + backgroundColor)(getComputedStyle(document.querySelector(".wall")))`); got != "rgb(0, 0, 0) on rgb(255, 255, 255)" {
		t.Errorf("it prints %s", got)
	}
	tab.Axe()
	tab.Clean()
}
