//go:build rig

package station_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"opsmon/app/test/browser/webtest"
)

// isDrawn is true when the ribbon shows the range of the address and the figures are below it.
const isDrawn = `document.querySelector(".ribbon")?.dataset.drawn && document.querySelectorAll(".station-tiles .figure").length > 6 && document.querySelector(".u-over")`

// shown returns the range shown by the ribbon.
func shown(tab *webtest.Tab) (from, to time.Time) {
	var a, b float64
	text := webtest.Eval[string](tab, `document.querySelector(".ribbon").dataset.drawn`)
	if _, err := fmt.Sscanf(strings.Replace(text, "/", " ", 1), "%g %g", &a, &b); err != nil {
		panic(err)
	}
	return time.UnixMilli(int64(a)), time.UnixMilli(int64(b))
}

// mouse moves, presses or releases the mouse at a fraction of the ribbon's width, 0 to 1, and a number of CSS px below
// its top.
func mouse(tab *webtest.Tab, kind input.DispatchMouseEventType, part, y float64, change ...func(*input.DispatchMouseEventParams)) {
	box := webtest.Eval[[]float64](tab, `(() => { document.querySelector(".ribbon").scrollIntoView({ block: "center" }); const b = document.querySelector(".ribbon").getBoundingClientRect(); return [b.left, b.top, b.width]; })()`)
	p := input.DispatchMouseEventParams{Type: kind, X: box[0] + 56 + part*(box[2]-70), Y: box[1] + y}
	if kind == input.DispatchMouseEventTypeMousePressed || kind == input.DispatchMouseEventTypeMouseReleased {
		p.Button, p.ClickCount = input.MouseButtonLeft, 1
	}
	for _, do := range change {
		do(&p)
	}
	if _, err := chromedp.Call(tab.Context(), input.DispatchMouseEvent, p); err != nil {
		panic(err)
	}
}

// TestAStationsPage uses the page of a simulated station.
func TestAStationsPage(t *testing.T) {
	s, tab := floor(t, "supervisor", "/floor/station/CAST-1?range=PT300M/now", isDrawn)
	theTimelineIsZoomed(t, tab)
	aWheelTurns(t, tab)
	sharesMakeTheWhole(t, s, tab)
	stationsAreChangedQuickly(t, tab)
	aPlotIsGivenOtherWords(t, tab)
	tab = webtest.Open(t, s.Base, webtest.Laptop)
	s.SignIn(tab, "readonly")
	aStationIsLookedAt(t, s, tab)
}

// theTimelineIsZoomed: by buttons, keys, the wheel and a drag. The address has the range, going back works, and a range
// that ends now follows the clock.
func theTimelineIsZoomed(t *testing.T, tab *webtest.Tab) {
	t.Helper()
	tab.Shot("station")
	tab.Axe()
	spans := func(length time.Duration) {
		t.Helper()
		tab.Until(fmt.Sprintf(`(() => { const [a, b] = document.querySelector(".ribbon").dataset.drawn.split("/").map(Number); return Math.abs(b - a - %d) < 1000 && document.querySelector(".timeline [aria-busy=true]") === null; })()`, length.Milliseconds()))
	}
	button := func(text string) {
		tab.Eval(fmt.Sprintf(`[...document.querySelectorAll(".controls button")].find((b) => b.textContent === %q).click()`, text))
	}
	button("1 h")
	spans(time.Hour)
	if got := webtest.Eval[string](tab, `new URLSearchParams(location.search).get("range")`); got != "PT60M/now" {
		t.Errorf("the address has the range %s", got)
	}
	tab.Until(`document.querySelector(".following")`)
	tab.Eval(`document.querySelector(".ribbon").focus()`)
	tab.Press("+")
	spans(30 * time.Minute)
	for range 6 {
		tab.Press("+")
	}
	spans(time.Minute) // the shortest range
	button("1 h")
	spans(time.Hour)
	tab.Eval(`document.querySelector(".ribbon").focus()`)
	_, end := shown(tab)
	tab.Press(kb.ArrowLeft)
	tab.Until(`!document.querySelector(".following")`)
	if _, to := shown(tab); end.Sub(to) < 14*time.Minute || end.Sub(to) > 16*time.Minute {
		t.Errorf("an arrow moved the end by %v, want a quarter of an hour", end.Sub(to))
	}
	// A drag shows the dragged range, in whole minutes.
	from, _ := shown(tab)
	mouse(tab, input.DispatchMouseEventTypeMousePressed, .25, 40)
	mouse(tab, input.DispatchMouseEventTypeMouseMoved, .4, 40, func(p *input.DispatchMouseEventParams) { p.Button = input.MouseButtonLeft })
	mouse(tab, input.DispatchMouseEventTypeMouseReleased, .5, 40)
	tab.Until(`(() => { const [a, b] = document.querySelector(".ribbon").dataset.drawn.split("/").map(Number); return b - a < 20 * 60000; })()`)
	a, b := shown(tab)
	if a.Sub(from) < 13*time.Minute || a.Sub(from) > 16*time.Minute || b.Sub(a) < 14*time.Minute || b.Sub(a) > 17*time.Minute {
		t.Errorf("a drag over the second quarter of an hour from %v shows %v to %v", from, a, b)
	}
	// The link shows the same in another tab.
	link := webtest.Eval[string](tab, `location.pathname + location.search`)
	beside := tab.Beside()
	beside.Visit(link)
	beside.Until(isDrawn)
	if c, d := shown(beside); !c.Equal(a) || !d.Equal(b) {
		t.Errorf("the link shows %v to %v, want %v to %v", c, d, a, b)
	}
	beside.Close()
	tab.Eval(`history.back()`)
	spans(time.Hour)
	// The wheel zooms around the pointer, whose time stays in place.
	from, _ = shown(tab)
	mouse(tab, input.DispatchMouseEventTypeMouseWheel, .25, 40, func(p *input.DispatchMouseEventParams) { p.DeltaX, p.DeltaY = 1, -100 })
	tab.Until(fmt.Sprintf(`Number(document.querySelector(".ribbon").dataset.drawn.split("/")[0]) > %d`, from.UnixMilli()))
	c, d := shown(tab)
	if at, was := c.Add(d.Sub(c)/4), from.Add(15*time.Minute); at.Sub(was).Abs() > 2*time.Minute || d.Sub(c) >= time.Hour {
		t.Errorf("below the pointer is %v now, was %v; it shows %v", at, was, d.Sub(c))
	}
	// A button pressed while the wheel still turns takes precedence.
	tab.Eval(`document.querySelector(".ribbon").dispatchEvent(new WheelEvent("wheel", { deltaX: 1, deltaY: -100, clientX: 600, bubbles: true, cancelable: true })), [...document.querySelectorAll(".controls button")].find((b) => b.textContent === "Shift").click()`)
	tab.Eval(`new Promise((rest) => setTimeout(rest, 1000))`)
	tab.Until(`!location.search && document.querySelector(".following")`)
	tab.Clean()
}

// aStationIsLookedAt: the cursor's text, a clicked range and its link, another station, and figures.
func aStationIsLookedAt(t *testing.T, s *webtest.Service, tab *webtest.Tab) {
	t.Helper()
	var stops []struct{ StationCode string }
	s.Call("GET", fmt.Sprintf("/issue?type=stop&open=false&from=%s", time.Now().Add(-5*time.Hour).UTC().Format(time.RFC3339)), nil, &stops)
	if len(stops) == 0 {
		t.Fatal("the plant had no stop in five hours")
	}
	code := stops[0].StationCode
	tab.Visit("/floor/station/" + code + "?range=PT300M/now")
	tab.Until(isDrawn)
	if webtest.Eval[bool](tab, `[...document.querySelectorAll("button")].some((b) => /alert|Change/.test(b.textContent))`) {
		t.Error("who may only read is offered to change something")
	}
	mouse(tab, input.DispatchMouseEventTypeMouseMoved, .5, 40)
	tab.Until(`/\d\d:\d\d/.test(document.querySelector(".at-cursor").textContent)`)
	tab.Until(`!document.querySelector(".ribbon .line").hidden && [...document.querySelectorAll(".u-legend .u-value")].some((v) => /^\d/.test(v.textContent))`)
	mouse(tab, input.DispatchMouseEventTypeMousePressed, .5, 40)
	mouse(tab, input.DispatchMouseEventTypeMouseReleased, .5, 40)
	tab.Until(`document.querySelector(".picked strong")`)
	tab.Shot("picked")
	tab.Axe()
	// A stop links to the page of stops, and to the timeline.
	tab.Until(`document.querySelector("[aria-label=Stops] tbody tr")`)
	href := webtest.Eval[string](tab, `document.querySelector("[aria-label=Stops] tbody td a").getAttribute("href")`)
	if at, err := url.Parse(href); err != nil || at.Path != "/floor/stops" || at.Query().Get("stations") != code || at.Query().Get("issue") == "" {
		t.Errorf("a stop leads to %s", href)
	}
	tab.Until(`document.querySelector('.station-columns a[href^="/floor/schedules?"]').search.includes("at=20")`)
	tab.Click("[aria-label=Stops] tbody .link")
	tab.Until(`new URLSearchParams(location.search).get("range").includes("Z/")`)
	// The timeline is also available as a table for people who cannot see it.
	tab.Click(".timeline details summary")
	tab.Until(`document.querySelectorAll(".timeline details tbody tr").length > 0`)
	tab.Axe()
	// A figure is explained for exactly this range.
	tab.Until(isDrawn)
	tab.Click(".station-tiles .main .figure")
	tab.Until(`document.querySelector(".explain[aria-busy=false] .equation")`)
	tab.Until(`!document.querySelector(".explain .adds") || document.querySelector(".explain .adds").dataset.adds === "true"`)
	if figure, tile := tab.Text(".explain .value"), tab.Text(".station-tiles .main .figure"); strings.Split(figure, ".")[0] != strings.Split(tile, ".")[0] {
		t.Errorf("the dialog explains %s, the tile has %s", figure, tile)
	}
	tab.Press(kb.Escape)
	tab.Eval(`(select => { select.value = "KILN-3"; select.dispatchEvent(new Event("change", { bubbles: true })); })(document.querySelector(".station-title select"))`)
	tab.Until(`location.pathname.endsWith("/KILN-3") && document.querySelector("[data-station=KILN-3]") && document.querySelector(".ribbon")?.dataset.drawn`)
	tab.Visit("/floor/station/METER-1") // it has no shift and makes nothing
	tab.Until(`document.querySelector(".ribbon")?.dataset.drawn && document.querySelector(".following")`)
	tab.Visit("/floor/station/METER-1?range=PT240M/now")
	tab.Until(isDrawn + ` && document.querySelector("[data-chart=power]")`)
	if webtest.Eval[bool](tab, `Boolean(document.querySelector("[data-chart=counts]"))`) {
		t.Error("counts are drawn of a meter")
	}
	// Energy is broken down to the signals of an hour, which have the meter's readings.
	tab.Eval(`[...document.querySelectorAll(".station-tiles .figure")].find((b) => b.textContent.includes("kWh")).click()`)
	tab.Until(`document.querySelector(".explain[aria-busy=false] .adds")?.dataset.adds === "true"`)
	tab.Click(".explain tbody .link")
	tab.Until(`document.querySelector(".explain[aria-busy=false] [aria-label=Signals] code")`)
	tab.Press(kb.Escape)
	tab.Shot("meter")
	tab.Clean()
	tab.Visit("/floor/station/NOBODY")
	tab.Until(`document.querySelector("[role=alert]")?.textContent.includes("NOBODY")`)
	tab.Visit("/floor/station")
	tab.Until(`document.querySelectorAll(".station-links a").length > 5`)
	tab.Axe()
}

// touch puts fingers at fractions of the ribbon's width.
func touch(t *testing.T, tab *webtest.Tab, kind input.DispatchTouchEventType, parts ...float64) {
	t.Helper()
	box := webtest.Eval[[]float64](tab, `(() => { const b = document.querySelector(".ribbon").getBoundingClientRect(); return [b.left, b.top, b.width]; })()`)
	p := input.DispatchTouchEventParams{Type: kind, TouchPoints: []*input.TouchPoint{}}
	for i, part := range parts {
		id := float64(i + 1)
		p.TouchPoints = append(p.TouchPoints, &input.TouchPoint{X: box[0] + 56 + part*(box[2]-76), Y: box[1] + 40, ID: &id})
	}
	if _, err := chromedp.Call(tab.Context(), input.DispatchTouchEvent, p); err != nil {
		t.Fatal(err)
	}
}

// fingersZoom: two fingers zoom, with the times below them staying in place; one finger moves the range.
func fingersZoom(t *testing.T, tab *webtest.Tab) {
	t.Helper()
	tab.Eval(`[...document.querySelectorAll(".controls button")].find((b) => b.textContent === "Week").click()`)
	tab.Until(`document.querySelector(".ribbon").dataset.drawn.split("/").reduce((a, b) => b - a) === 7 * 86400000`)
	tab.Eval(`document.querySelector(".ribbon").scrollIntoView({ block: "center" })`)
	from, to := shown(tab)
	touch(t, tab, input.DispatchTouchEventTypeTouchStart, .3, .5)
	touch(t, tab, input.DispatchTouchEventTypeTouchMove, .25, .55)
	touch(t, tab, input.DispatchTouchEventTypeTouchMove, .2, .6)
	touch(t, tab, input.DispatchTouchEventTypeTouchEnd)
	tab.Until(`document.querySelector(".ribbon").dataset.drawn.split("/").reduce((a, b) => b - a) < 4 * 86400000 && location.search.includes("Z%2F")`)
	a, b := shown(tab)
	week, half := to.Sub(from), b.Sub(a)
	if half < week*45/100 || half > week*55/100 {
		t.Errorf("fingers twice as far apart show %v of %v", half, week)
	}
	if was, is := from.Add(week*3/10), a.Add(half*2/10); was.Sub(is).Abs() > week/50 {
		t.Errorf("below the first finger was %v and is %v", was, is)
	}
	touch(t, tab, input.DispatchTouchEventTypeTouchStart, .3)
	touch(t, tab, input.DispatchTouchEventTypeTouchMove, .4)
	touch(t, tab, input.DispatchTouchEventTypeTouchMove, .5)
	touch(t, tab, input.DispatchTouchEventTypeTouchEnd)
	tab.Until(fmt.Sprintf(`Number(document.querySelector(".ribbon").dataset.drawn.split("/")[0]) < %d`, a.UnixMilli()))
	if c, d := shown(tab); (d.Sub(c)-half).Abs() > 5*time.Minute || (a.Sub(c)-half/5).Abs() > half/20 {
		t.Errorf("one finger moved %v to %v by %v, and it shows %v", a, b, a.Sub(c), d.Sub(c))
	}
}

// TestAnAlertIsPutUp: a supervisor sets and removes an alert and sets the operator; all viewers see both.
func TestAnAlertIsPutUp(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: alwaysOn(t)})
	tab := webtest.Open(t, s.Base, webtest.TabletTall)
	s.SignIn(tab, "supervisor")
	tab.Visit("/floor/station/CAST-1")
	tab.Until(`document.querySelector(".ribbon")?.dataset.drawn`)
	find := func(text string) string {
		return fmt.Sprintf(`[...document.querySelectorAll("main button, dialog footer button")].findLast((b) => b.textContent.trim() === %q)`, text)
	}
	press := func(text string) { tab.Until(find(text)); tab.Eval(find(text) + `.click()`) }
	fingersZoom(t, tab)
	press("Put an alert up")
	tab.Until(`document.querySelector("dialog textarea")`)
	tab.Axe()
	press("Put up")
	// refused, in the service's words
	tab.Until(`document.querySelector("dialog [role=alert]")?.textContent.trim().length > 0`)
	tab.Type("dialog textarea", "خطر: Mind the <b>step</b>")
	press("Put up")
	tab.Until(`!document.querySelector("dialog") && document.querySelector(".station-alert strong")?.textContent === "خطر: Mind the <b>step</b>"`)
	var before, after struct{ AlertExpiresAt string }
	s.Call("GET", "/station/CAST-1", nil, &before)
	tab.Click(".station-alert button")
	tab.Until(`document.querySelector("dialog textarea")?.value.startsWith("خطر")`)
	press("Put up")
	tab.Until(`!document.querySelector("dialog")`)
	if s.Call("GET", "/station/CAST-1", nil, &after); before.AlertExpiresAt == "" || after != before {
		t.Errorf("the alert was up until %q and is until %q: nobody has changed its end", before.AlertExpiresAt, after.AlertExpiresAt)
	}
	tab.Eval(`[...document.querySelectorAll(".station-head button")].find((b) => b.textContent === "Change").click()`)
	tab.Until(`document.querySelector("dialog input")`)
	tab.Type("dialog input", "AB")
	press("Save")
	tab.Until(`document.querySelector("dialog [role=alert]")?.textContent.includes("3")`)
	tab.Type("dialog input", "ABC")
	press("Save")
	tab.Until(`!document.querySelector("dialog") && document.querySelector(".station-head").textContent.includes("ABC")`)
	s.Call("POST", "/message", map[string]any{"stationCode": "CAST-1", "text": "The left mould sticks", "initials": "ABC"}, nil)
	tab.Until(`document.querySelector(".station-columns").textContent.includes("The left mould sticks")`)
	tab.Shot("station-tall")
	tab.Axe()
	press("Take down")
	tab.Until(`!document.querySelector(".station-alert")`)
	var station struct{ AlertMessage *string }
	s.Call("GET", "/station/CAST-1", nil, &station)
	if station.AlertMessage != nil {
		t.Errorf("the alert is still up: %s", *station.AlertMessage)
	}
}
