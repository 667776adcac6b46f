//go:build rig

package analysis_test

import (
	"fmt"
	"math"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"opsmon/app/test/browser/webtest"
)

// testAddress: the address has the selection, opening it shows the same, and going back works.
func testAddress(p *plant) {
	t := p.t
	choose := func(name, value string) {
		p.Eval(`((e) => { e.value = "` + value + `"; e.dispatchEvent(new Event("change", { bubbles: true })); })(document.querySelector("select[name=` + name + `]"))`)
	}
	p.show("")
	choose("by", "group")
	p.Until(`location.search.includes("by=group") && document.querySelector(".listing h2").textContent === "OEE by group"`)
	choose("and", "shift")
	p.Until(`document.querySelector(".listing h2").textContent === "OEE by group and shift"`)
	choose("profile", "evocon")
	p.Until(`document.querySelector(".profile-note").textContent.startsWith("Evocon.") && document.querySelector(".results[aria-busy=false]")`)
	p.Click(".listing thead th:nth-child(3) button")
	p.Click(".listing thead th:nth-child(3) button")
	p.Until(`document.querySelector("th[aria-sort=descending]")?.textContent.trim().startsWith("OEE")`)
	address, rows := webtest.Eval[string](p.Tab, `location.pathname + location.search`), p.rows(".listing")
	for _, part := range []string{"by=group%2Cshift", "profile=evocon", "sort=oee", "down=1", "range=20"} {
		if !strings.Contains(address, part) {
			t.Errorf("the address %s lacks %s", address, part)
		}
	}
	p.Visit(address)
	p.shown()
	if again := p.rows(".listing"); len(again) != len(rows) || again[0][0] != rows[0][0] || again[len(again)-1][1] != rows[len(rows)-1][1] {
		t.Errorf("the address shows %q, not %q", again, rows)
	}
	if got := webtest.Eval[string](p.Tab, `["by", "and", "profile"].map((n) => document.querySelector("select[name=" + n + "]").value).join()`); got != "group,shift,evocon" {
		t.Errorf("the choices show %s", got)
	}
	p.Eval(`history.back()`)
	p.Until(`document.querySelector(".listing h2")?.textContent === "OEE by group and shift"`)
	p.Visit("/floor/analysis?by=day,week,sku&view=nothing&profile=none&measure=x&range=today")
	p.shown()
	if got := p.Text(".listing h2"); got != "OEE by day" {
		t.Errorf("an address of nothing shows %s", got)
	}
}

// testLink: a copied link has the shown range as times, because the meaning of a named range changes.
func testLink(p *plant) {
	t := p.t
	p.Visit("/floor/analysis?range=yesterday&by=group")
	p.shown()
	p.Eval(`Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { window.copied = text; } } })`)
	span := p.Text(".results .span")
	p.Click(".page-head button")
	p.Until(`window.copied`)
	p.Visit(strings.TrimPrefix(webtest.Eval[string](p.Tab, `window.copied`), p.Tab.Base))
	p.shown()
	if got := p.Text(".results .span"); "Yesterday: "+got != span || p.Text(".listing h2") != "OEE by group" {
		t.Errorf("the link shows %s, not %s", got, span)
	}
}

// testBefore: the sums are compared with those of the previous range of the same length.
func testBefore(p *plant) {
	t := p.t
	lisbon, err := time.LoadLocation("Europe/Lisbon") // the plant's zone
	if err != nil {
		t.Fatal(err)
	}
	to := time.Now().In(lisbon).Truncate(time.Minute).Add(-10 * time.Minute)
	span := func(days int) string {
		return url.QueryEscape(to.Add(-time.Hour).AddDate(0, 0, -days).Format(time.RFC3339) + "/" + to.AddDate(0, 0, -days).Format(time.RFC3339))
	}
	var now, then []result
	p.same("/oee?rangecode="+span(0), &now, func() {
		p.same("/oee?rangecode="+span(1), &then, func() { p.Visit("/floor/analysis?range=" + span(0)); p.shown() })
	})
	if now[0].Availability.Value == nil || then[0].Availability.Value == nil {
		t.Fatal("nothing was scheduled then, so nothing is compared")
	}
	points := (*now[0].Availability.Value - *then[0].Availability.Value) * 100
	if got := p.Text("[data-figure=availability] .change"); !strings.Contains(got, fmt.Sprintf(" %.1f ", math.Abs(points))) || !strings.Contains(got, "the same time a day earlier") {
		t.Errorf("availability went by %g points, and it says %q", points, got)
	}
}

// TestTimesBefore: the comparison is the same time on the plant's clock, which changes in these weeks.
func TestTimesBefore(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{})
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	s.SignIn(tab, "readonly")
	tab.Visit("/floor/analysis")
	tab.Until(`document.querySelector(".tabs")`)
	for ask, want := range map[string]string{
		`"today", "2026-10-26T06:00Z", "2026-10-26T14:00Z"`:                 "2026-10-25T06:00 2026-10-25T14:00 a day",
		`"today", "2026-10-25T06:00Z", "2026-10-25T14:00Z"`:                 "2026-10-24T05:00 2026-10-24T13:00 a day",
		`"2026-10-25/2026-10-26", "2026-10-24T23:00Z", "2026-10-26T00:00Z"`: "2026-10-23T23:00 2026-10-24T23:00 a day", // a day of 25 hours
		`"week", "2026-11-16T06:00Z", "2026-11-16T10:00Z"`:                  "2026-11-09T06:00 2026-11-09T10:00 7 days",
		`"last7d", "2026-10-24T05:00Z", "2026-10-31T06:00Z"`:                "2026-10-17T05:00 2026-10-24T05:00 7 days",
		`"month", "2026-11-01T06:00Z", "2026-11-01T10:00Z"`:                 "2026-10-01T05:00 2026-10-01T09:00 a month",
		`"month", "2026-11-01T06:00Z", "2026-12-01T06:00Z"`:                 "2026-10-01T05:00 2026-11-01T06:00 a month",
		`"month", "2026-03-01T06:00Z", "2026-03-31T05:00Z"`:                 "2026-02-01T06:00 2026-03-01T06:00 a month",
		`"2026-11-03/2026-11-05", "2026-11-03T06:00Z", "2026-11-05T06:00Z"`: "2026-11-01T06:00 2026-11-03T06:00 2 days",
	} {
		got := webtest.Eval[string](tab, `import(document.querySelector("script[type=module]").src.replace("main.js", "analysis/sums.js")).then(({ timeBefore }) => {
			const [range, from, to] = [`+ask+`], found = timeBefore(range, [Date.parse(from), Date.parse(to)], { timezone: "Europe/Lisbon", dayStartHour: 6, weekStartDay: 0 });
			return [found.from, found.to].map((at) => new Date(at).toISOString().slice(0, 16)).join(" ") + found.than.replace("the same time", "").replace(" earlier", "");
		})`)
		if got != want {
			t.Errorf("%s is compared with %s, want %s", ask, got, want)
		}
	}
}

// testKeyboard: the tabs, the order of rows, a name and a figure can be used by keyboard.
func testKeyboard(p *plant) {
	p.show("")
	p.Eval(`document.querySelector(".tabs a").focus()`)
	p.Press(kb.Tab)
	p.Press(kb.Enter)
	p.Until(`location.search.includes("view=losses") && document.querySelector(".waterfall")`)
	p.Eval(`document.querySelector(".segmented input:checked").focus()`)
	p.Press(kb.ArrowRight)
	p.Until(`location.search.includes("measure=units") && document.querySelector(".waterfall .step-name").textContent === "Due by the rate"`)
	p.show("&view=pareto")
	p.Eval(`document.querySelector("a.cause").focus()`)
	p.Until(`getComputedStyle(document.activeElement).outlineStyle !== "none"`)
	p.show("")
	p.Eval(`document.querySelector(".listing thead button").focus()`)
	p.Press(kb.Enter)
	p.Until(`document.querySelector("th[aria-sort=ascending]")?.textContent.trim().startsWith("Station") && document.activeElement.closest("th")`)
	p.Eval(`document.querySelector(".listing tbody a").focus()`)
	p.Press(kb.Enter)
	p.Until(`location.search.includes("stations=") && document.querySelector(".listing h2")?.textContent === "OEE by SKU"`)
}

// slowly delays GET /oee until it is released or cancelled; window.cancelled counts the latter.
const slowly = `(() => { const ask = fetch; window.cancelled = 0; window.letGo = []; window.fetch = (path, options) => {
	if (!path.startsWith("/oee?")) return ask(path, options);
	return new Promise((done, failed) => {
		window.letGo.push(() => options.signal.aborted || done(ask(path, options)));
		options.signal.addEventListener("abort", () => { window.cancelled++; failed(new DOMException("it was cancelled", "AbortError")); });
	});
}; })()`

// TestLongReads: a long read is shown and can be stopped, another selection cancels it, and errors name a solution.
func TestLongReads(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{})
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	s.SignIn(tab, "readonly")
	p := &plant{s, tab, t, "today", ""}
	p.show("")
	p.Eval(slowly)
	p.Click(".tabs a:nth-child(2)")
	p.Until(`document.querySelector(".progress")?.textContent.includes("Adding up 15 stations")`)
	p.Axe()
	p.Click(".tabs a:nth-child(1)")
	p.Until(`window.cancelled === 1 && window.letGo.length === 2`)
	p.Click(".progress button")
	p.Until(`window.cancelled === 2 && document.querySelector("#main").textContent.includes("Stopped.")`)
	p.Eval(`document.querySelector(".empty button").click()`)
	p.Until(`window.letGo.length === 3`)
	p.Eval(`window.letGo[2]()`)
	p.Until(`window.letGo.length > 3`)
	p.Eval(`setInterval(() => window.letGo.splice(0).forEach((go) => go()), 20)`)
	p.Until(`document.querySelector(".listing") && document.querySelector(".results[aria-busy=false]")`)
	p.Visit("/floor/analysis?plant=nowhere")
	p.Until(`document.querySelector(".notice.bad")`)
	if text := p.Text(".notice.bad"); !strings.Contains(text, "nowhere") || !strings.Contains(text, "start over") {
		t.Errorf("an unknown plant: %s", text)
	}
	p.Axe()
	p.Click(".notice.bad a")
	p.shown()
	p.Visit("/floor/analysis?view=cycletimes&range=2026-01-01T00:00:00Z/2026-06-01T00:00:00Z")
	p.Until(`document.querySelector(".notice.bad")?.textContent.includes("31 days or less")`)
	p.Clean()
}

// TestOff: if costs or cycle times are off, the page shows that and the level that decided.
func TestOff(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{})
	s.Call("POST", "/account", map[string]string{"enableLostProductionCost": "off", "enableCycleTimeAnalysis": "off"}, nil)
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	s.SignIn(tab, "supervisor")
	p := &plant{s, tab, t, "today", ""}
	p.show("&view=losses&measure=money")
	if text := p.Text(".results .notice"); !strings.Contains(text, "enableLostProductionCost") || !strings.Contains(text, "account") {
		t.Errorf("money is off: %s", text)
	}
	p.show("&view=cycletimes")
	if text := p.Text(".results .notice"); !strings.Contains(text, "enableCycleTimeAnalysis") || !strings.Contains(text, "account") {
		t.Errorf("cycle times are off: %s", text)
	}
	p.Axe()
	p.Clean()
}

// TestManyRows: of 1,200 rows the first are drawn, with a note below, and more on scrolling; the file has all of them.
func TestManyRows(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{})
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	s.SignIn(tab, "readonly")
	p := &plant{s, tab, t, "last7d", ""}
	p.show("")
	p.answer(`Array.from({ length: 1200 }, (_, i) => ` + made + `({ stationCode: "S-" + i % 200, startAt: new Date(1.7e12 + 86400000 * (i / 200 | 0)).toISOString(), endAt: new Date(1.7e12 + 86400000 * (i / 200 | 0) + 86400000).toISOString(), oee: { value: i / 1199, numerator: i / 1199, denominator: 1 } }))`)
	p.Eval(`((e) => { e.value = "day"; e.dispatchEvent(new Event("change", { bubbles: true })); })(document.querySelector("select[name=and]"))`)
	p.Until(`document.querySelectorAll(".listing tbody tr").length === 250`)
	p.Click(".listing thead th:nth-child(3) button")
	p.Click(".listing thead th:nth-child(3) button")
	p.Until(`document.querySelector(".listing tbody td:nth-child(3)").innerText.startsWith("100.0")`)
	if _, rows := p.file(".listing button.small"); len(rows) != 1201 {
		t.Errorf("the file has %d rows", len(rows))
	}
	p.Eval(`scrollTo(0, document.body.scrollHeight / 2)`)
	p.Until(`(scrollTo(0, document.body.scrollHeight / 2), (([line]) => line.bottom <= innerHeight && line.bottom > innerHeight - 100)(document.querySelector(".table-rest").getClientRects()))`)
	p.Until(`(scrollTo(0, document.body.scrollHeight), document.querySelectorAll(".listing tbody tr").length === 1200)`)
	p.Clean()
}

// TestDurations: durations are formatted by the account's durationFormat.
func TestDurations(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{})
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	s.SignIn(tab, "readonly")
	tab.Visit("/floor/analysis")
	tab.Until(`document.querySelector(".tabs")`)
	for ask, want := range map[string]string{
		`null`: "–", `0`: "0 min", `59999`: "1 min", `3599900`: "1 h", `45000`: "45 s", `750000`: "12 min 30 s", `90061000`: "1 d 1 h", `90061000, "hours"`: "25 h 1 min", `90061000, "minutes"`: "1,501 min",
		`2678400000`: "1 mo 1 d", `2678400000, "days"`: "31 d", `2678400000, "hours"`: "744 h", `-5400000`: "−1 h 30 min", `86399000, "months"`: "1 d",
	} {
		if got := webtest.Eval[string](tab, `import(document.querySelector("script[type=module]").src.replace("floor/main.js", "shared/format.js")).then((f) => f.lasted(`+ask+`))`); got != want {
			t.Errorf("lasted(%s) is %q, want %q", ask, got, want)
		}
	}
}
