//go:build rig

package gantt_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"opsmon/app/test/browser/webtest"
)

// TestABarIsDragged: in time, to another station, to another length. Nothing is stored before it is dropped, and the
// last change can be undone.
func TestABarIsDragged(t *testing.T) {
	c := serve(t)
	a := c.plan("PACK-1", "BOWL", 60, nil)
	c.open(webtest.Laptop, "supervisor")
	c.tab.Until(bar(a.ID))

	from, to := c.place("PACK-1", 90), c.place("PACK-2", 211) // two hours and a minute: snaps to two hours
	c.drag(from, to)
	c.tab.Until(`document.querySelector(".ghost.fine .ghost-why")?.textContent === "✓ Free"`)
	if got := c.get(a.ID); got.StationCode != "PACK-1" || !got.PlannedStartAt.Equal(c.at(60)) {
		t.Errorf("it was written while it was dragged: %+v", got)
	}
	c.release(to)
	moved := c.eventually(a.ID, "moved", func(s schedule) bool { return s.StationCode == "PACK-2" })
	if !moved.PlannedStartAt.Equal(c.at(180)) {
		t.Errorf("it starts at %s, not at %s", moved.PlannedStartAt, c.at(180))
	}
	c.tab.Until(`document.querySelector('.gantt-row[data-station="PACK-2"] .slot')?.dataset.id === "` + a.ID + `"`)

	c.tab.Click(`.page-head button[title^="Takes back"]`)
	c.eventually(a.ID, "back", func(s schedule) bool { return s.StationCode == "PACK-1" && s.PlannedStartAt.Equal(c.at(60)) })
	c.tab.Until(`document.querySelector('.gantt-row[data-station="PACK-1"] .slot')`)

	end := c.place("PACK-1", 180) // 1,200 bowls at 10 a minute take two hours
	end.X -= 4
	longer := c.place("PACK-1", 240)
	longer.X -= 4
	c.drag(end, longer)
	c.tab.Until(`/1,800 units/.test(document.querySelector(".ghost-tip")?.textContent)`)
	c.release(longer)
	c.eventually(a.ID, "of 1,800 units", func(s schedule) bool { return s.PlannedQuantity != nil && *s.PlannedQuantity == 1800 })
	c.tab.Clean()
}

// TestADropThatIsRefused: conflicts are shown before the drop. A refused drop stores nothing, the bar returns, and the
// page shows the reason.
func TestADropThatIsRefused(t *testing.T) {
	c := serve(t)
	a := c.plan("PACK-1", "BOWL", 60, nil)
	b := c.plan("PACK-2", "PLATE", 60, object{"plannedQuantity": 600, "workOrderReference": "WO-7"})
	m := c.plan("PACK-1", "MUG", 240, object{"plannedQuantity": 300})
	c.open(webtest.Laptop, "supervisor")
	c.tab.Until(bar(b.ID))
	for _, refused := range []struct {
		from, to spot
		why      string
	}{
		{c.place("PACK-1", 90), c.place("PACK-2", 120), "(WO-7) is planned there"},
		{c.place("PACK-1", 90), c.place("KILN-1", 120), "(enableDragBetweenStationsOnGantt) is off: no level switches it on"},
		{c.place("PACK-1", 250), c.place("PACK-3", 250), "Packing line 3 may not run Mug"},
	} {
		c.drag(refused.from, refused.to)
		c.tab.Until(`document.querySelector(".ghost.refused .ghost-why")?.textContent.includes(` + quote(refused.why) + `)`)
		if clash := webtest.Eval[int](c.tab, `document.querySelectorAll(".slot.clash").length`); (clash > 0) != strings.Contains(refused.why, "is planned there") {
			t.Errorf("%d bars are shown to be in the way of what %s", clash, refused.why)
		}
		c.release(refused.to)
		c.tab.Until(`[...document.querySelectorAll(".toast.bad")].some((t) => t.textContent.includes(` + quote(refused.why) + `))`)
		c.tab.Until(`document.querySelector(".ghost").hidden`)
		c.tab.Eval(`document.querySelectorAll(".toast button").forEach((b) => b.click())`)
	}
	for _, s := range []schedule{a, b, m} {
		if got := c.get(s.ID); got.StationCode != s.StationCode || !got.PlannedStartAt.Equal(s.PlannedStartAt) {
			t.Errorf("a refused drop was written: %+v", got)
		}
	}
	if kept := webtest.Eval[int](c.tab, `fetch("/refused").then((r) => r.json()).then((a) => a.results.length)`); kept != 0 {
		t.Errorf("%d requests were sent and refused; the page knew better", kept)
	}
	c.tab.Clean()
}

// TestTheServiceRefuses: errors that the page cannot predict are shown in the service's words.
func TestTheServiceRefuses(t *testing.T) {
	c := serve(t)
	a := c.plan("PACK-1", "BOWL", 60, nil)
	c.open(webtest.Laptop, "supervisor")
	c.tab.Until(bar(a.ID))
	c.tab.Eval(`(async () => { const real = fetch; window.fetch = (path, options) => /\/move/.test(path) ? Promise.resolve(new Response(JSON.stringify({ isSuccess: false, errorCode: "conflict", errorMessage: "at PACK-1 there is something" }), { status: 409, headers: { "X-Time": Date.now(), "Content-Type": "application/json" } })) : real(path, options); })()`)
	from, to := c.place("PACK-1", 90), c.place("PACK-1", 300)
	c.drag(from, to)
	c.tab.Until(`document.querySelector(".ghost.refused .ghost-why")?.textContent === "✕ At PACK-1 there is something."`)
	c.release(to)
	c.tab.Until(`document.querySelector(".toast.bad")?.textContent.includes("At PACK-1 there is something.") && document.querySelector(".ghost").hidden`)
	if got := c.get(a.ID); !got.PlannedStartAt.Equal(c.at(60)) {
		t.Errorf("it was moved: %+v", got)
	}
}

// TestBarsByKeyboard: arrows pick a bar up and move it, Shift with arrows changes its length, Enter drops it, Escape
// cancels, Delete asks for confirmation.
func TestBarsByKeyboard(t *testing.T) {
	c := serve(t)
	a := c.plan("PACK-1", "BOWL", 60, nil)
	c.open(webtest.Laptop, "supervisor")
	c.tab.Until(bar(a.ID))
	c.tab.Eval(bar(a.ID) + `.focus()`)
	for range 4 {
		c.tab.Press(kb.ArrowRight) // a quarter of an hour each
	}
	c.tab.Press(kb.ArrowDown)
	c.tab.Until(`/Packing line 2/.test(document.querySelector(".ghost-tip").textContent) && document.querySelector(".ghost.fine")`)
	c.tab.Until(`/Enter puts it down/.test(document.querySelector("[role=status].visually-hidden").textContent)`)
	if got := c.get(a.ID); got.StationCode != "PACK-1" {
		t.Errorf("it was written before Enter: %+v", got)
	}
	c.tab.Press(kb.Escape)
	c.tab.Until(`document.querySelector(".ghost").hidden && document.activeElement === ` + bar(a.ID))
	c.tab.Press(kb.ArrowRight)
	c.tab.Press(kb.ArrowDown)
	c.tab.Press(kb.Enter)
	c.eventually(a.ID, "moved", func(s schedule) bool { return s.StationCode == "PACK-2" && s.PlannedStartAt.Equal(c.at(75)) })
	c.tab.Until(`document.querySelector(".ghost").hidden && document.activeElement === ` + bar(a.ID))

	c.tab.Press(kb.ArrowRight, chromedp.ModifierShift)
	c.tab.Press(kb.Enter)
	c.eventually(a.ID, "longer", func(s schedule) bool { return *s.PlannedQuantity == 1350 })
	c.tab.Press("z", chromedp.ModifierCtrl)
	c.eventually(a.ID, "as long as before", func(s schedule) bool { return *s.PlannedQuantity == 1200 })

	c.tab.Until(`document.activeElement === ` + bar(a.ID))
	c.tab.Press(kb.Delete)
	c.tab.Until(`document.querySelector("dialog")?.textContent.includes("Delete the schedule?")`)
	c.tab.Press(kb.Escape)
	c.tab.Until(`!document.querySelector("dialog") && document.activeElement === ` + bar(a.ID))
	c.tab.Press(kb.Enter)
	c.tab.Until(`document.querySelector("dialog h2")?.textContent === "Bowl 14 cm"`)
	c.tab.Press(kb.Escape)
	c.tab.Until(`!document.querySelector("dialog")`)
	c.tab.Press(kb.Delete)
	c.tab.Until(`document.querySelector("dialog .danger")`)
	c.tab.Press(kb.Enter)
	c.eventually(a.ID, "deleted", func(s schedule) bool { return s.State == "deleted" })
	c.tab.Until(`!` + bar(a.ID))
	c.tab.Clean()
}

// TestOthersChangesAreSeen: changes of other users appear automatically.
func TestOthersChangesAreSeen(t *testing.T) {
	c := serve(t)
	c.open(webtest.Laptop, "readonly")
	a := c.plan("PACK-1", "BOWL", 60, nil)
	c.tab.Until(bar(a.ID) + `?.closest(".gantt-row").dataset.station === "PACK-1"`)
	c.s.Call("POST", "/schedule/"+a.ID+"/move", object{"plannedStartAt": c.at(120), "stationCode": "PACK-3"}, nil)
	c.tab.Until(bar(a.ID) + `?.closest(".gantt-row").dataset.station === "PACK-3"`)
	c.s.Call("POST", "/schedule/"+a.ID+"/start", object{"stationCode": "PACK-1"}, nil)
	c.tab.Before(`{ const real = Date.now; Date.now = () => real() - 90 * 60000; }`)
	c.visit(time.Now().Add(-4 * time.Hour)) // on a computer whose clock is slow
	c.tab.Until(bar(a.ID) + `?.classList.contains("running")`)
	if is, at := webtest.Eval[float64](c.tab, `document.querySelector(".gantt-now").getBoundingClientRect().left`), c.place("PACK-1", time.Since(c.begin).Minutes()); math.Abs(is-at.X) > 10 { // 1440 minutes are the chart
		t.Errorf("now is shown at %v, and is at %v", is, at.X)
	}
	c.s.Call("POST", "/schedule", object{"stationCode": "PACK-1", "reasonCode": "CLEAN", "plannedStartAt": time.Now().UTC(), "plannedEndAt": time.Now().Add(time.Hour).UTC()}, &a)
	c.tab.Until(bar(a.ID))
	c.s.Call("POST", "/schedule/"+a.ID+"/start", object{}, nil)
	c.tab.Until(`document.querySelector(".slot.production.paused")`)
	if strings.Contains(c.tab.Text("main"), "Plan …") {
		t.Error("a person of the role readonly is offered to plan")
	}
	from, to := c.place("PACK-1", -150), c.place("PACK-1", 0)
	c.drag(from, to)
	c.release(to)
	if !webtest.Eval[bool](c.tab, `document.querySelector(".ghost").hidden`) {
		t.Error("a person of the role readonly drags bars")
	}
	c.tab.Clean()
}

func quote(text string) string { return "`" + text + "`" }
