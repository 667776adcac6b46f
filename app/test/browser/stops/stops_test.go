//go:build rig

package stops_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"opsmon/app/test/browser/webtest"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const min = time.Minute

// rows waits until the list has a number of stops.
func rows(tab *webtest.Tab, n int) {
	tab.Until(fmt.Sprintf(`document.querySelectorAll(".stop-row[data-issue]").length === %d`, n))
}

// stop opens a stop of the list.
func stop(tab *webtest.Tab, id string) {
	tab.Click(fmt.Sprintf(`.stop-row[data-issue=%q] a`, id))
	tab.Until(fmt.Sprintf(`document.querySelector(".stop-one")?.dataset.issue === %q`, id))
}

func rangeOf(p *plant) string { return p.ago(past) + "/" + p.ago(-time.Hour) }

// TestStopsAreFound: the address has every filter, and a link shows the same.
func TestStopsAreFound(t *testing.T) {
	p := open(t, "PRESS-2")
	p.runs("PRESS-1", [2]time.Duration{180 * min, 170 * min}, [2]time.Duration{120 * min, 117 * min})
	p.runs("PRESS-2", [2]time.Duration{100 * min, 60 * min}, [2]time.Duration{20 * min, 0})
	short := p.issues("PRESS-1")[0]
	p.Call("POST", "/issue/"+short.ID+"/cause", map[string]string{"causeCode": "BELT", "note": "at the drive"}, nil)
	tab := p.page("readonly", "/floor/stops?range="+rangeOf(p), `document.querySelector(".stop-row[data-issue]")`)
	rows(tab, 4)
	if got := tab.Text(".stops-sum p"); !strings.HasPrefix(got, "4 stops, 1 h ") || !strings.Contains(got, "without a cause") {
		t.Errorf("the sum is %q", got)
	}
	tab.Axe()
	tab.Shot("stops")
	choose(tab, ".scope label:nth-of-type(6) select", "Breakdown") // with its children
	rows(tab, 1)
	if got := tab.Text(".stop-row[data-issue]"); !strings.Contains(got, "Ремень порван") || !strings.Contains(got, "at the drive") || !strings.Contains(got, "3 min") {
		t.Errorf("the row is %q", got)
	}
	choose(tab, ".scope label:nth-of-type(6) select", "Without a cause")
	rows(tab, 3)
	set(tab, ".scope input:not([type=search])", "15 min")
	rows(tab, 2)
	choose(tab, ".scope label:nth-of-type(5) select", "Going on")
	rows(tab, 1)
	tab.Until(`new URLSearchParams(location.search).get("atleast") === "15min" && location.search.includes("cause=none") && location.search.includes("open=true")`)
	first := tab.Text(".stop-row[data-issue] .stop-length")
	// it is in progress
	tab.Until(fmt.Sprintf(`document.querySelector(".stop-row[data-issue] .stop-length").textContent.trim() !== %q`, first))
	tab.Do(chromedp.Reload())
	rows(tab, 1)
	tab.Visit("/floor/stops?cause=BELT,none&range=" + rangeOf(p)) // as other pages link here
	rows(tab, 4)
	tab.Visit("/floor/stops?cause=JAM&range=" + rangeOf(p))
	tab.Until(`document.querySelector(".empty")?.textContent.includes("No stop is left by these filters")`)
	set(tab, ".scope input[type=search]", "drive")
	tab.Visit("/floor/stops?search=drive&order=length&range=" + rangeOf(p))
	rows(tab, 1)
	tab.Visit("/floor/stops?order=length&range=" + rangeOf(p))
	rows(tab, 4)
	if got := webtest.Eval[string](tab, `[...document.querySelectorAll(".stop-row[data-issue]")].map((r) => r.dataset.issue.split(".")[0]).join(" ")`); got != "PRESS-2 PRESS-2 PRESS-1 PRESS-1" {
		t.Errorf("the longest first are of %s", got)
	}
	// Read-only users can see everything and change nothing; the arrow keys move between stops.
	tab.Eval(`document.querySelector("[data-row='0'] a").focus()`)
	tab.Press(kb.ArrowDown)
	tab.Press(kb.ArrowDown)
	tab.Press(kb.Enter)
	tab.Until(`document.querySelector(".stop-one")?.dataset.issue === document.querySelector("[data-row='2']").dataset.issue`)
	if webtest.Eval[bool](tab, `Boolean(document.querySelector(".stop-actions, .tick, .refused"))`) {
		t.Error("who reads alone is offered something to do")
	}
	tab.Visit("/floor/stops?range=2026-01-01/2026-01-02&issue=" + short.ID)
	// outside of the list's range
	tab.Until(`document.querySelector(".stop-one")?.textContent.includes("at the drive")`)
	tab.Visit("/floor/stops?uncaused=1&range=" + rangeOf(p))
	rows(tab, 3)
	tab.Visit("/floor/stops?range=2000-01-01/2026-01-02") // longer than the retention and the limit
	tab.Until(`document.querySelector("#main .notice.bad")?.innerText.replace(/\s+/g, " ").includes("The stops could not be read. The time must")`)
	tab.Clean()
}

// TestTheDayTurns: an open page switches to the new day when it begins, and shows its range.
func TestTheDayTurns(t *testing.T) {
	p := open(t)
	for path, list := range map[string]string{"/floor/stops": "/issue?", "/floor/tasks?state=done": "/task?"} {
		tab := p.page("readonly", path, `document.querySelector(".empty") && document.querySelector(".span")?.textContent.includes("(Asia/Tokyo)")`)
		span := tab.Text(".span")
		tab.Eval(fmt.Sprintf(`import(document.querySelector("script[type=module]").src.replace("floor/main.js", "shared/clock.js")).then((clock) => {
			const ask = fetch;
			window.fetch = (path, options) => (path.startsWith(%q) ? new Promise((done) => { window.go = () => done(ask(path, options)); }) : ask(path, options));
			clock.heard(Date.now() + 86400000, Date.now(), Date.now()); // time of the service's clock
		})`, list))
		tab.Until(fmt.Sprintf(`window.go && document.querySelector(".span").textContent !== %q`, span))
		tab.Eval(`window.go()`)
		// the clock was set again
		tab.Until(fmt.Sprintf(`document.querySelector(".empty") && document.querySelector(".span").textContent === %q`, span))
		tab.Clean()
	}
}

// TestAStopOfALink: it is being read, cannot be read or does not exist; and the answer for a link that was left is
// ignored.
func TestAStopOfALink(t *testing.T) {
	p := open(t)
	p.runs("PRESS-1", [2]time.Duration{180 * min, 170 * min}, [2]time.Duration{120 * min, 117 * min})
	stops := p.issues("PRESS-1")
	tab := p.page("readonly", "/floor/stops?range=2026-01-01/2026-01-02", `document.querySelector(".empty")`)
	follow := func(id string) {
		t.Helper()
		tab.Eval(fmt.Sprintf(`(() => { const a = Object.assign(document.createElement("a"), { href: "/floor/stops?range=2026-01-01/2026-01-02&issue=" + %q }); document.querySelector("#main").append(a); a.click(); a.remove(); })()`, id))
	}
	tab.Eval(`(() => { const ask = fetch; window.held = []; window.fetch = (path, options) => (path.includes("archived=true") ? new Promise((done) => window.held.push((answer) => done(answer ?? ask(path, options)))) : ask(path, options)); })()`)
	follow(stops[0].ID)
	tab.Until(`window.held.length === 1 && document.querySelector(".stop-one")?.textContent.includes("Loading")`)
	follow(stops[1].ID)
	tab.Until(`window.held.length === 2`)
	tab.Eval(`window.held[1]()`)
	tab.Until(fmt.Sprintf(`document.querySelector(".stop-one").dataset.issue === %q`, stops[1].ID))
	webtest.Eval[bool](tab, `new Promise((done) => { window.held[0](); setTimeout(() => done(true), 200); })`)
	if got := webtest.Eval[string](tab, `document.querySelector(".stop-one").dataset.issue ?? ""`); got != stops[1].ID {
		t.Errorf("the answer of a link that was left shows %q", got)
	}
	follow(stops[0].ID)
	tab.Until(`window.held.length === 3`)
	tab.Eval(`window.held[2](Response.json({ isSuccess: false, errorCode: "internal", errorMessage: "the store is away" }, { status: 500, headers: { "X-Time": Date.now() } }))`)
	tab.Until(`document.querySelector(".stop-one .bad")?.textContent.includes("The store is away.")`)
	tab.Axe()
	button(tab, ".stop-one", "Try again")
	tab.Until(`window.held.length === 4`)
	tab.Eval(`window.held[3]()`)
	tab.Until(fmt.Sprintf(`document.querySelector(".stop-one").dataset.issue === %q`, stops[0].ID))
	follow("PRESS-1.stop-1")
	tab.Until(`window.held.length === 5`)
	tab.Eval(`window.held[4]()`)
	tab.Until(`document.querySelector(".stop-one").textContent.includes("There is no stop PRESS-1.stop-1")`)
	tab.Clean()
}

// TestManyStops: however many there are, few are in the page; they are read in pages, completely on request, and
// printed.
func TestManyStops(t *testing.T) {
	p := open(t)
	tab := p.page("supervisor", "/floor/stops", `document.querySelector(".empty")`)
	tab.Eval(`(() => { const ask = fetch; window.asked = []; window.fetch = (path, options) => {
		if (!path.startsWith("/issue?")) return ask(path, options);
		const at = new URL(path, location).searchParams, skip = Number(at.get("skip") ?? 0), total = 6200;
		window.asked.push(skip);
		const results = [...Array(Math.min(1000, total - skip))].map((_, i) => { const n = skip + i, start = Date.now() - (n + 1) * 60000, part = { startAt: new Date(start).toISOString(), endAt: new Date(start + 30000).toISOString(), durationMs: 30000, causeCode: n % 2 ? "JAM" : null, causeFrom: n % 2 ? "person" : null, excluded: false };
			return { id: "PRESS-1.stop-" + start, type: "stop", stationCode: "PRESS-1", ...part, uncausedMs: n % 2 ? 0 : 30000, note: null, parts: [part], scheduleId: null, skuCode: null, acknowledged: null, estimate: null, escalation: null, orphaned: false, events: [] }; });
		return Promise.resolve(Response.json({ isSuccess: true, results, paging: { totalElements: total } }));
	}; })()`)
	choose(tab, ".scope select", "Last 7 days")
	tab.Until(`document.querySelector(".stops-sum p").textContent.startsWith("5,000 stops, 1 d 17 h 40 min, of which 20 h 50 min without a cause")`)
	if got := webtest.Eval[string](tab, `window.asked.join(" ")`); got != "0 1000 2000 3000 4000" {
		t.Errorf("it asked for %s", got)
	}
	button(tab, ".stops-sum", "Read more")
	tab.Until(`document.querySelector(".stops-sum p").textContent.startsWith("6,200 stops")`)
	if n := webtest.Eval[int](tab, `document.querySelectorAll(".stop-row").length`); n > 60 {
		t.Errorf("%d rows are in the page", n)
	}
	tab.Eval(`document.querySelector(".stops-rows").scrollTop = 1e9`)
	tab.Until(`document.querySelector("[data-row='6199']")`)
	tab.Eval(`dispatchEvent(new Event("beforeprint"))`)
	tab.Until(`document.querySelectorAll(".stop-row[data-issue]").length === 6200`)
	tab.Eval(`dispatchEvent(new Event("afterprint"))`)
	tab.Until(`document.querySelectorAll(".stop-row[data-issue]").length < 60`)
	tab.Clean()
}

// TestStopsAreSpokenOf makes every kind of entry about a stop, and compares the API's answer.
func TestStopsAreSpokenOf(t *testing.T) {
	p := open(t, "PRESS-1")
	p.runs("PRESS-1", [2]time.Duration{180 * min, 170 * min}, [2]time.Duration{15 * min, 0})
	p.runs("PRESS-2", [2]time.Duration{100 * min, 60 * min})
	open, old, other := p.issues("PRESS-1")[0], p.issues("PRESS-1")[1], p.issues("PRESS-2")[0]
	tab := p.page("supervisor", "/floor/stops?range="+rangeOf(p), `document.querySelector(".stop-row[data-issue]")`)
	rows(tab, 3)

	stop(tab, old.ID)
	tab.Axe()
	tab.Media("prefers-color-scheme", "dark")
	tab.Axe()
	tab.Shot("stop-dark")
	tab.Media("prefers-color-scheme", "light")
	button(tab, ".stop-one", "Give the cause")
	tab.Until(`document.querySelectorAll("dialog .reason").length === 5`)
	tab.Axe()
	tab.Shot("cause")
	tab.Eval(`[...document.querySelectorAll("dialog .reason")].find((r) => r.textContent.includes("Ремень порван")).click()`)
	set(tab, "#f-cause-note", "am Antrieb")
	set(tab, "#f-cause-initials", "ab")
	button(tab, "dialog footer", "Give the cause")
	tab.Until(`document.querySelector("dialog .notice.bad")?.textContent.toLowerCase().includes("initials")`)
	set(tab, "#f-cause-initials", "ABC")
	button(tab, "dialog footer", "Give the cause")
	gone(tab)
	if got := p.only("PRESS-1", old.ID); text(got.CauseCode) != "BELT" || text(got.Note) != "am Antrieb" || text(got.Events[0].Initials) != "ABC" {
		t.Errorf("the cause: %+v", got)
	}
	tab.Until(`document.querySelector(".stop-one .stop-events")?.textContent.includes("Ремень порван")`)

	button(tab, ".stop-one", "Acknowledge")
	tab.Until(`document.querySelector("#f-ask-initials")`)
	// somebody else was faster
	p.Call("POST", "/issue/"+old.ID+"/acknowledge", map[string]string{"initials": "XYZ"}, nil)
	button(tab, "dialog footer", "Acknowledge")
	tab.Until(`document.querySelector("dialog .notice.bad")?.textContent.startsWith("This stop was acknowledged by XYZ at ")`)
	tab.Axe()
	button(tab, "dialog footer", "Cancel")
	gone(tab)
	tab.Until(`document.querySelector(".stop-one").textContent.includes("by XYZ")`) // updated live

	button(tab, ".stop-one", "Escalate")
	tab.Until(`document.querySelector("#f-ask-level")`)
	choose(tab, "#f-ask-level", "Level 3")
	set(tab, "#f-ask-note", "call the fitter")
	button(tab, "dialog footer", "Escalate")
	gone(tab)
	button(tab, ".stop-one", "Take it out of the figures")
	tab.Until(`document.querySelector("#f-ask-note")`)
	button(tab, "dialog footer", "Take it out")
	tab.Eval(`document.querySelector("#f-ask-note").removeAttribute("required")`)
	set(tab, "#f-ask-note", "a visit")
	button(tab, "dialog footer", "Take it out")
	gone(tab)
	if got := p.only("PRESS-1", old.ID); got.Escalation == nil || got.Escalation.Level != 3 || text(got.Escalation.Note) != "call the fitter" || !got.Excluded {
		t.Errorf("escalated and excluded: %+v", got)
	}
	tab.Until(`document.querySelector(".stop-one .notice")?.textContent.includes("out of the figures")`)
	button(tab, ".stop-one", "Let it count")
	button(tab, "dialog footer", "Let it count")
	gone(tab)
	if p.only("PRESS-1", old.ID).Excluded {
		t.Error("it does not count again")
	}

	stop(tab, open.ID)
	button(tab, ".stop-one", "Expected end")
	soon := time.Now().Add(time.Hour).Truncate(time.Minute)
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	set(tab, "#f-ask-expectedEndAt", soon.In(tokyo).Format("2006-01-02T15:04"))
	button(tab, "dialog footer", "Save")
	gone(tab)
	if got := p.only("PRESS-1", open.ID); got.Estimate == nil || got.Estimate.ExpectedEndAt != soon.UTC().Format("2006-01-02T15:04:05.000Z") {
		t.Errorf("the estimate: %+v, want %s", got.Estimate, soon.UTC())
	}
	tab.Until(`document.querySelector(".stop-one .facts").textContent.includes("(in ")`)

	// Many at once: with the reasons that all of their stations have; a refusal of one does not prevent the others.
	tab.Eval(`document.querySelector(".stops-head input").click()`)
	button(tab, ".stops-sum", "Give the cause of 3 stops")
	tab.Until(`document.querySelectorAll("dialog .reason").length === 4`) // Ремень порван is not available at Press 2
	tab.Eval(`[...document.querySelectorAll("dialog .reason")].find((r) => r.textContent.includes("Waiting for clay")).click()`)
	tab.Eval(`(() => { const ask = fetch; window.fetch = (path, options) => { if (!path.includes("PRESS-2") || !path.endsWith("/cause")) return ask(path, options); window.fetch = ask; return Promise.resolve(Response.json({ isSuccess: false, errorCode: "conflict", errorMessage: "somebody was quicker" }, { status: 409, headers: { "X-Time": Date.now() } })); }; })()`)
	button(tab, "dialog footer", "Give the cause")
	// all are sent
	tab.Until(`[...document.querySelectorAll("dialog footer button")].some((b) => b.textContent === "Give the cause" && !b.disabled)`)
	tab.Until(`document.querySelector("dialog .notice.bad")?.innerText.replace(/\s+/g, " ").includes("1 stop is as before. Stop at Press 2")`)
	if got := p.only("PRESS-2", other.ID); got.CauseCode != nil || !strings.Contains(tab.Text("dialog .notice.bad"), "Somebody was quicker.") {
		t.Errorf("what was refused has the cause %s", text(got.CauseCode))
	}
	before := len(p.only("PRESS-1", old.ID).Events)
	button(tab, "dialog footer", "Give the cause") // again, only for that one
	gone(tab)
	if n := len(p.only("PRESS-1", old.ID).Events); n != before {
		t.Errorf("one that had its cause was given it again: %d events, before %d", n, before)
	}
	for _, i := range []issue{open, old, other} {
		if got := p.only(i.StationCode, i.ID); text(got.CauseCode) != "NO-CLAY" {
			t.Errorf("%s has the cause %s", i.ID, text(got.CauseCode))
		}
	}
	tab.Until(`!document.querySelector(".uncaused-sum")`)
	tab.Clean()
}

// TestAStopIsSplit by keyboard, by dragging and by numbers: the parts cover exactly its time.
func TestAStopIsSplit(t *testing.T) {
	p := open(t)
	p.runs("PRESS-1", [2]time.Duration{100*min + 1700*time.Millisecond, 60 * min})
	whole := p.issues("PRESS-1")[0]
	tab := p.page("supervisor", "/floor/stops?issue="+whole.ID+"&range="+rangeOf(p), `document.querySelector(".stop-one[data-issue]")`)
	button(tab, ".stop-one", "Split")
	tab.Until(`document.querySelectorAll(".split-handle").length === 1`)
	now := func() int {
		return webtest.Eval[int](tab, `Number(document.querySelector(".split-handle").ariaValueNow)`)
	}
	middle := now()
	tab.Eval(`document.querySelector(".split-handle").focus()`)
	tab.Press(kb.ArrowRight)
	tab.Press(kb.ArrowRight, chromedp.ModifierShift)
	if got := now() - middle; got != 61 {
		t.Errorf("the arrows moved the cut by %d s, want 61", got)
	}
	tab.Eval(`(() => { const h = document.querySelector(".split-handle"), bar = h.parentElement.getBoundingClientRect(), at = (type, x) => h.dispatchEvent(new PointerEvent(type, { bubbles: true, pointerId: 1, clientX: x }));
		h.setPointerCapture = () => {}; at("pointerdown", bar.left); at("pointermove", bar.left + bar.width / 4); at("lostpointercapture", 0); })()`)
	if got := now(); got != 600 {
		t.Errorf("dragged to a quarter the cut is at %d s, want 600", got)
	}
	set(tab, "#f-split-length-0", "15 min")
	if got := now(); got != 900 {
		t.Errorf("the first part has %d s, want 900", got)
	}
	button(tab, "dialog", "Another cut")
	choose(tab, "#f-split-cause-0", "Breakdown / Jam")
	choose(tab, "#f-split-cause-2", "Supply / Waiting for clay")
	tab.Axe()
	tab.Shot("split")
	button(tab, "dialog footer", "Split")
	gone(tab)
	got := p.only("PRESS-1", whole.ID)
	if len(got.Parts) != 3 || got.Parts[0].DurationMs != 900_000 || text(got.Parts[0].CauseCode) != "JAM" || got.Parts[1].CauseCode != nil || text(got.Parts[2].CauseCode) != "NO-CLAY" {
		t.Fatalf("the parts are %+v", got.Parts)
	}
	if sum := got.Parts[0].DurationMs + got.Parts[1].DurationMs + got.Parts[2].DurationMs; sum != whole.DurationMs || got.DurationMs != whole.DurationMs || whole.DurationMs != 2_401_700 {
		t.Errorf("the parts have %d ms, the whole %d, before %d", sum, got.DurationMs, whole.DurationMs)
	}
	// A part has its own cause.
	tab.Until(`document.querySelectorAll(".stop-parts li").length === 3`)
	tab.Eval(`document.querySelectorAll(".stop-parts button")[1].click()`)
	tab.Until(`document.querySelector("dialog .reason")`)
	tab.Eval(`[...document.querySelectorAll("dialog .reason")].find((r) => r.textContent.includes("Breakdown, no more is known")).click()`)
	button(tab, "dialog footer", "Give the cause")
	gone(tab)
	if got := p.only("PRESS-1", whole.ID); text(got.Parts[1].CauseCode) != "FAULT" || text(got.Parts[0].CauseCode) != "JAM" || got.UncausedMs != 0 {
		t.Errorf("the parts are %+v", got.Parts)
	}
	tab.Clean()
}

// TestManualDowntime starts one, is refused a second one, ends it, and records one; without the flag, the page says so.
func TestManualDowntime(t *testing.T) {
	p := open(t)
	tab := p.page("supervisor", "/floor/stops", `document.querySelector(".empty")`)
	tab.Axe()
	button(tab, ".page-head", "Manual downtime")
	choose(tab, "#f-manual-station", "Hand work")
	tab.Until(`document.querySelector("dialog .notice")?.textContent.includes("off at this station: the station decides so")`)
	choose(tab, "#f-manual-station", "Пресс 1")
	tab.Until(`document.querySelectorAll("dialog .reason").length === 5`)
	tab.Eval(`[...document.querySelectorAll("dialog .reason")].find((r) => r.textContent.includes("Jam")).click()`)
	tab.Shot("manual")
	button(tab, "dialog footer", "Start it now")
	gone(tab)
	tab.Until(`document.querySelector(".stop-one h2")?.textContent.includes("Manual downtime")`)
	rows(tab, 1)
	made := p.issues("PRESS-1")[0]
	if made.Type != "manual" || made.EndAt != nil || text(made.CauseCode) != "JAM" {
		t.Errorf("made is %+v", made)
	}
	button(tab, ".page-head", "Manual downtime")
	choose(tab, "#f-manual-station", "Пресс 1")
	button(tab, "dialog footer", "Start it now")
	tab.Until(`document.querySelector("dialog .notice.bad")?.textContent.includes("end it first")`)
	button(tab, "dialog footer", "Cancel")
	gone(tab)
	button(tab, ".stop-one", "End it")
	tab.Eval(`(() => { const real = fetch; window.fetch = async (path, options) => { const answer = await real(path, options); if (options?.method !== "POST") return answer; window.fetch = real; throw new TypeError("no network"); }; })()`)
	button(tab, "dialog footer", "End it")
	tab.Until(`/does not answer/.test(document.querySelector("dialog .notice.bad")?.textContent)`)
	button(tab, "dialog footer", "End it") // with the same time: the same write
	gone(tab)
	if got := p.only("PRESS-1", made.ID); got.EndAt == nil {
		t.Error("it goes on")
	}
	tab.Until(`![...document.querySelectorAll(".stop-one button")].some((b) => b.textContent === "End it")`)
	button(tab, ".page-head", "Manual downtime")
	choose(tab, "#f-manual-station", "Press 2")
	tab.Eval(`document.querySelector("#f-manual-over").click()`)
	tokyo := time.FixedZone("Asia/Tokyo", 9*3600)
	set(tab, "#f-manual-startAt", p.now.Add(-2*time.Hour).In(tokyo).Format("2006-01-02T15:04:05"))
	set(tab, "#f-manual-endAt", p.now.Add(-3*time.Hour).In(tokyo).Format("2006-01-02T15:04:05"))
	button(tab, "dialog footer", "Record it")
	tab.Until(`document.querySelector("#f-manual-endAt-problem").textContent.includes("must lie after startAt")`)
	set(tab, "#f-manual-endAt", p.now.Add(-time.Hour).In(tokyo).Format("2006-01-02T15:04:05"))
	button(tab, "dialog footer", "Record it")
	gone(tab)
	if got := p.issues("PRESS-2"); len(got) != 1 || got[0].StartAt != p.ago(2*time.Hour) || got[0].DurationMs != 3_600_000 {
		t.Errorf("recorded is %+v", got)
	}
	tab.Clean()
}

// TestWhatWasTypedIsKept: a dialog with typed text asks before it is closed, however it is closed.
func TestWhatWasTypedIsKept(t *testing.T) {
	p := open(t)
	tab := p.page("supervisor", "/floor/stops", `document.querySelector(".empty")`)
	leave, typed := map[string]func(){
		"Escape":     func() { tab.Press(kb.Escape) },
		"the button": func() { button(tab, "dialog footer", "Cancel") },
		"the cross":  func() { tab.Click(`dialog [aria-label="Close"]`) },
	}, `document.querySelector("#f-manual-note").value === "am Antrieb"`
	for _, out := range leave {
		button(tab, ".page-head", "Manual downtime")
		tab.Until(`document.querySelector("#f-manual-note")`)
		out() // nothing was typed
		gone(tab)
		button(tab, ".page-head", "Manual downtime")
		tab.Type("#f-manual-note", "am Antrieb")
		out()
		tab.Until(`document.querySelectorAll("dialog[open]").length === 2 && document.activeElement.textContent === "Leave"`)
		tab.Press(kb.Escape)
		tab.Until(`document.querySelectorAll("dialog[open]").length === 1 && ` + typed)
		out()
		tab.Until(`document.querySelectorAll("dialog[open]").length === 2`)
		button(tab, "dialog:last-of-type footer", "Leave")
		gone(tab)
	}
	tab.Clean()
}

// TestADialogIsLeftWhileItIsSent: without a question, because its text has been sent, and the result is reported.
func TestADialogIsLeftWhileItIsSent(t *testing.T) {
	p := open(t)
	p.runs("PRESS-1", [2]time.Duration{100 * min, 60 * min})
	one := p.issues("PRESS-1")[0]
	tab := p.page("supervisor", "/floor/stops?issue="+one.ID+"&range="+rangeOf(p), `document.querySelector(".stop-one[data-issue]")`)
	tab.Eval(`(() => { const ask = fetch; window.fetch = (path, options) => (options?.method !== "POST" ? ask(path, options) : new Promise((done) => { window.refuse = (why) => done(Response.json({ isSuccess: false, errorCode: "conflict", errorMessage: why }, { status: 409, headers: { "X-Time": Date.now() } })); })); })()`)
	reason := func() {
		tab.Until(`document.querySelector("dialog .reason")`)
		tab.Eval(`document.querySelector("dialog .reason").click()`)
	}
	for i, d := range []struct {
		below, opens, note, sends string
		more                      func()
	}{
		{".stop-one", "Escalate", "#f-ask-note", "Escalate", nil},
		{".stop-one", "Give the cause", "#f-cause-note", "Give the cause", reason},
		{".stop-one", "Split", "#f-split-note", "Split", nil},
		{".page-head", "Manual downtime", "#f-manual-note", "Start it now", func() { choose(tab, "#f-manual-station", "Press 2") }},
	} {
		button(tab, d.below, d.opens)
		tab.Until(fmt.Sprintf(`document.querySelector(%q)`, d.note))
		if d.more != nil {
			d.more()
		}
		set(tab, d.note, "am Antrieb")
		tab.Eval(`(() => { window.refuse = null; })()`)
		button(tab, "dialog footer", d.sends)
		tab.Until(`window.refuse`)
		if i == 0 {
			tab.Press(kb.Escape)
		} else {
			button(tab, "dialog footer", "Leave it running")
		}
		gone(tab)
		tab.Eval(fmt.Sprintf(`window.refuse("number %d came late")`, i))
		tab.Until(fmt.Sprintf(`[...document.querySelectorAll(".toast.bad")].some((t) => /number %d came late/i.test(t.textContent))`, i))
	}
	tab.Clean()
}

// TestRefusedWrites: supervisors see refused writes of tablets with their errors.
func TestRefusedWrites(t *testing.T) {
	p := open(t)
	tab := p.page("supervisor", "/floor/stops", `document.querySelector(".refused summary")`, webtest.TabletTall)
	tab.Media("prefers-color-scheme", "dark")
	tab.Eval(`fetch("/issue", { method: "POST", headers: { "Content-Type": "application/json", "Idempotency-Key": "k-1" }, body: JSON.stringify({ stationCode: "HAND" }) })`)
	tab.Click(".refused summary")
	tab.Until(`document.querySelector(".refused-list")?.textContent.includes("is off at station HAND: the station decides so")`)
	if got := tab.Text(".refused-list"); !strings.Contains(got, "Manual downtime") || !strings.Contains(got, "supervisor@demo.example") {
		t.Errorf("refused is %q", got)
	}
	tab.Axe()
	tab.Shot("refused")
}
