//go:build rig

package gantt_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"opsmon/app/test/browser/webtest"
)

// button clicks the button with a text below a selector.
func (c *chart) button(below, text string) {
	c.t.Helper()
	find := `[...document.querySelectorAll("` + below + ` button")].find((b) => b.textContent.trim().startsWith(` + quote(text) + `) && !b.disabled)`
	c.tab.Until(find)
	c.tab.Eval(find + `.click()`)
}

// choose clicks an option of the dialog.
func (c *chart) choose(label string) {
	c.t.Helper()
	c.tab.Eval(`[...document.querySelectorAll("dialog .segmented label")].find((l) => l.textContent.trim() === ` + quote(label) + `).click()`)
}

// enter sets a field of the dialog like a person who types and leaves the field.
func (c *chart) enter(name, value string) {
	c.t.Helper()
	c.tab.Eval(`(() => { const box = document.querySelector("#f-schedule-` + name + `"); box.value = ` + quote(value) + `; box.dispatchEvent(new Event("input", { bubbles: true })); box.dispatchEvent(new Event("change", { bubbles: true })); })()`)
}

// TestASchedulesLife: planned in the dialog, with only the SKUs of the station; changed, started, cut short.
func TestASchedulesLife(t *testing.T) {
	c := serve(t)
	berlin := c.steady()
	other := c.plan("PACK-3", "BOWL", 60, nil)
	c.open(webtest.Laptop, "supervisor")
	c.tab.Until(bar(other.ID))
	c.tab.Axe()
	c.button(".page-head", "Plan")
	c.tab.Until(`document.querySelector("dialog #f-schedule-stationCode")`)
	c.enter("stationCode", webtest.Eval[string](c.tab, `String([...document.querySelector("#f-schedule-stationCode").options].find((o) => o.textContent.includes("PACK-3")).value)`))
	c.tab.Until(`/SKUs that the station can run/.test(document.querySelector("dialog").textContent)`)
	c.tab.Eval(`document.querySelector("#f-schedule-skuCode").focus()`)
	c.tab.Until(`document.querySelectorAll("dialog .finds [role=option]").length === 2`)
	if got := c.tab.Text("dialog .finds"); strings.Contains(got, "MUG") {
		t.Errorf("a SKU is offered that the station may not run: %s", got)
	}
	c.tab.Press("PLATE")
	c.tab.Press(kb.Enter)
	c.tab.Until(`document.querySelector("dialog .chip")?.textContent.includes("PLATE")`)
	local := func(minutes int) string { return c.at(minutes).In(berlin).Format("2006-01-02T15:04") }
	c.enter("plannedStartAt", local(90))
	c.enter("plannedQuantity", "300")
	c.tab.Until(`/That is not possible.*the schedule ` + other.ID + ` is planned/.test(document.querySelector("dialog").textContent)`)
	c.enter("plannedStartAt", local(240))
	c.tab.Until(`/It would run .* 300 units at 5 per minute/.test(document.querySelector("dialog").textContent)`)
	c.tab.Axe()
	c.button("dialog footer", "Plan")
	c.tab.Until(`!document.querySelector("dialog")`)
	made := c.list()[1]
	if *made.SkuCode != "PLATE" || *made.PlannedQuantity != 300 || !made.PlannedStartAt.Equal(c.at(240)) || made.PlannedEndAt != nil {
		t.Fatalf("made is %+v", made)
	}
	c.tab.Until(`document.activeElement === ` + bar(made.ID))
	c.tab.Press(kb.Enter)
	c.button("dialog footer", "Change")
	c.tab.Until(`document.querySelector("dialog #f-schedule-workOrderReference")`)
	c.enter("workOrderReference", "WO-9")
	c.choose("Quantity and end")
	c.enter("plannedEndAt", local(300))
	c.tab.Until(`/300 units at 5 per minute/.test(document.querySelector("dialog .notice.ok")?.textContent)`)
	c.button("dialog footer", "Save")
	c.eventually(made.ID, "changed", func(s schedule) bool {
		return s.PlannedEndAt != nil && s.PlannedEndAt.Equal(c.at(300)) && *s.WorkOrderReference == "WO-9"
	})
	c.tab.Until(`!document.querySelector("dialog")`)

	c.tab.Eval(bar(made.ID) + `.click()`)
	c.button("dialog footer", "Start now")
	c.eventually(made.ID, "running", func(s schedule) bool { return s.State == "running" })
	c.tab.Until(`!document.querySelector("dialog")`)
	c.visit(time.Now().Add(-2 * time.Hour))
	c.tab.Until(bar(made.ID) + `?.classList.contains("running")`)
	c.tab.Eval(bar(made.ID) + `.click()`)
	c.button("dialog footer", "Cut short")
	c.tab.Until(`document.querySelectorAll("dialog").length === 2`)
	c.button("dialog:last-of-type footer", "Cut short")
	c.eventually(made.ID, "completed", func(s schedule) bool { return s.State == "completed" })
	c.tab.Until(`!document.querySelector("dialog") && ` + bar(made.ID) + `?.classList.contains("completed")`)
	c.tab.Clean()
}

// TestWhatMayNotBeCutShort: the page names the flag that prevents an early end, and the level that decided.
func TestWhatMayNotBeCutShort(t *testing.T) {
	c := serve(t)
	a := c.plan("KILN-1", "BOWL", -60, object{"plannedEndAt": c.at(600)})
	c.s.Call("POST", "/schedule/"+a.ID+"/start", object{}, nil)
	c.begin = c.begin.Add(-6 * time.Hour)
	c.open(webtest.Laptop, "supervisor")
	c.tab.Until(bar(a.ID))
	c.tab.Eval(bar(a.ID) + `.click()`)
	c.tab.Until(`/“Cut schedules short” \(enableScheduleCutShort\) is off: no level switches it on/.test(document.querySelector("dialog")?.textContent) && [...document.querySelectorAll("dialog footer button")].find((b) => b.textContent.startsWith("Cut short")).disabled`)
	c.tab.Clean()
}

// TestNonProductionIsPlanned: with the reasons of the station, and distinguishable by more than its colour.
func TestNonProductionIsPlanned(t *testing.T) {
	c := serve(t)
	c.open(webtest.TabletTall, "supervisor")
	c.button(".page-head", "Plan")
	c.tab.Until(`/SKUs that the station can run/.test(document.querySelector("dialog")?.textContent)`)
	c.choose("Non-production")
	c.tab.Eval(`document.querySelector("#f-schedule-reasonCode").focus()`)
	c.tab.Press("clean")
	c.tab.Press(kb.Enter)
	c.tab.Until(`/It would run/.test(document.querySelector("dialog").textContent)`)
	c.tab.Axe()
	c.button("dialog footer", "Plan")
	c.tab.Until(`document.querySelector(".slot.nonProduction")?.querySelector(".slot-text").dataset.sign.includes("◆") && /Cleaning; non-production; planned/.test(document.querySelector(".slot.nonProduction").getAttribute("aria-label"))`)
	c.tab.Media("prefers-color-scheme", "dark")
	c.tab.Axe()
	c.tab.Shot("tall")
	if small := webtest.Eval[[]string](c.tab, `[...document.querySelectorAll("#main button, #main select, .slot")].filter((e) => e.getBoundingClientRect().height < 44).map((e) => e.className + e.textContent)`); len(small) > 0 {
		t.Errorf("too small for a finger: %q", small)
	}
	c.tab.Clean()
}

// TestTheChartAsATable: the chart is also available as a table, which is printed.
func TestTheChartAsATable(t *testing.T) {
	c := serve(t)
	a := c.plan("PACK-1", "PLATE", 60, object{"workOrderReference": "WO-1"})
	c.plan("PACK-2", "BOWL", 60*40, nil) // outside of the shown range
	c.open(webtest.Laptop, "readonly")
	c.tab.Until(bar(a.ID))
	c.tab.Eval(`dispatchEvent(new Event("beforeprint"))`)
	c.tab.Until(`document.querySelectorAll(".gantt-table tbody tr").length === 1 && /Packing line 1.*Teller <groß> مكبس.*WO-1.*Planned.*1,200/s.test(document.querySelector(".gantt-table tbody").textContent)`)
	c.tab.Axe()
	if _, err := chromedp.Call(c.tab.Context(), emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}); err != nil {
		t.Fatal(err)
	}
	c.tab.Until(`!document.querySelector(".gantt").checkVisibility() && document.querySelector(".gantt-table td").checkVisibility()`)
	c.tab.Shot("print")
	c.tab.Clean()
}

// TestAnAnswerNeverComes: without an answer a dragged bar returns to its place, and the page shows the reason.
// Repeating the drag sends the same change.
func TestAnAnswerNeverComes(t *testing.T) {
	c := serve(t)
	a := c.plan("PACK-1", "BOWL", 60, nil)
	c.open(webtest.Laptop, "supervisor")
	c.tab.Until(bar(a.ID))
	c.tab.Eval(`(() => {
		const real = fetch, timeout = AbortSignal.timeout.bind(AbortSignal), keys = window.keys = [];
		AbortSignal.timeout = (ms) => timeout(ms === 20_000 ? 300 : ms);
		window.fetch = async (path, options) => {
			if (!path.endsWith("/move")) return real(path, options);
			keys.push(options.headers["Idempotency-Key"]);
			return keys.length > 1 ? real(path, options) : new Promise((_, fail) => options.signal?.addEventListener("abort", () => fail(options.signal.reason)));
		};
	})()`)
	for range 2 {
		from, to := c.place("PACK-1", 90), c.place("PACK-2", 90)
		c.drag(from, to)
		c.release(to)
		c.tab.Until(`!document.querySelector(".slot.carried")`)
	}
	c.tab.Until(`/does not answer/.test(document.querySelector(".toast.bad")?.textContent)`)
	c.tab.Until(`keys.length === 2 && document.querySelector('.gantt-row[data-station="PACK-2"] .slot')?.dataset.id === "` + a.ID + `"`)
	if !webtest.Eval[bool](c.tab, `keys[0] === keys[1]`) {
		t.Error("it was sent again as another change")
	}
	c.tab.Clean()
}

// TestAnAnswerIsLost: a change repeated after a lost answer is executed once, and repeated undo reverses one change.
func TestAnAnswerIsLost(t *testing.T) {
	c := serve(t)
	a := c.plan("PACK-1", "BOWL", 60, nil)
	c.open(webtest.Laptop, "supervisor")
	c.tab.Until(bar(a.ID))
	c.tab.Eval(bar(a.ID) + `.click()`)
	c.button("dialog footer", "Delete")
	c.button("dialog:last-of-type footer", "Delete")
	c.eventually(a.ID, "deleted", func(s schedule) bool { return s.State == "deleted" })
	c.tab.Until(`!document.querySelector("dialog") && document.querySelector('.page-head button[title^="Takes back: deleting"]')`)
	// The answer to a repeated plan is lost.
	c.tab.Eval(`(() => { const real = fetch; let lost = 0; window.sent = 0; window.fetch = async (path, options) => {
		if (path !== "/schedule" || options?.method !== "POST") return real(path, options);
		window.sent++;
		if (lost++) return new Promise((done) => setTimeout(done, 300)).then(() => real(path, options));
		await real(path, options);
		throw new TypeError("no network");
	}; })()`)
	c.tab.Press("z", chromedp.ModifierCtrl)
	c.tab.Until(`/does not answer/.test(document.querySelector(".toast.bad")?.textContent)`)
	if got := c.list(); len(got) != 1 {
		t.Fatalf("there are %d schedules", len(got))
	}
	c.tab.Press("z", chromedp.ModifierCtrl)
	c.tab.Press("z", chromedp.ModifierCtrl)
	c.tab.Until(`[...document.querySelectorAll(".toast")].some((toast) => /Taken back: deleting/.test(toast.textContent))`)
	if got := c.list(); len(got) != 1 {
		t.Errorf("there are %d schedules, not the one", len(got))
	}
	if got := webtest.Eval[int](c.tab, `window.sent`); got != 2 {
		t.Errorf("it was sent %d times", got)
	}
	c.tab.Clean()
}

// TestWhatIsEnteredStays: leaving a form asks for confirmation, and its values survive the end of the session.
func TestWhatIsEnteredStays(t *testing.T) {
	c := serve(t)
	c.open(webtest.Laptop, "supervisor")
	form := func() {
		c.button(".page-head", "Plan")
		c.tab.Until(`document.querySelector("dialog #f-schedule-workOrderReference")`)
	}
	form()
	c.tab.Press(kb.Escape)
	c.tab.Until(`!document.querySelector("dialog")`)
	form()
	c.tab.Eval(`document.querySelector("#f-schedule-workOrderReference").focus()`)
	c.tab.Press("WO-5")
	for range 2 {
		c.tab.Press(kb.Escape)
		c.tab.Until(`document.querySelector("dialog:last-of-type h2")?.textContent === "Leave without sending?"`)
		c.tab.Press(kb.Escape)
		c.tab.Until(`document.querySelectorAll("dialog").length === 1 && document.activeElement === document.querySelector("#f-schedule-workOrderReference")`)
	}
	c.tab.Eval(`fetch("/auth/logout", { method: "POST", headers: { "Content-Type": "application/json" } })`)
	c.enter("note", "gone")
	c.tab.Eval(`import(document.querySelector("script[type=module]").src.replace("floor/main.js", "shared/api.js")).then(({ get }) => { get("/station"); })`)
	c.tab.Until(`location.pathname === "/signin"`)
	c.s.SignIn(c.tab, "supervisor")
	c.visit(c.begin)
	c.tab.Until(`document.querySelector("dialog #f-schedule-workOrderReference")?.value === "WO-5" && document.querySelector("#f-schedule-note").value === "gone"`)
	c.tab.Eval(`document.querySelector("dialog [aria-label=Close]").click()`)
	c.button("dialog:last-of-type footer", "Leave")
	c.tab.Until(`!document.querySelector("dialog")`)
	c.visit(c.begin)
	if webtest.Eval[bool](c.tab, `sessionStorage.length > 0`) {
		t.Error("what was thrown away is kept")
	}
	c.tab.Clean()
}
