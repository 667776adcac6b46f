//go:build rig

package console_test

import (
	"testing"

	"github.com/chromedp/chromedp/kb"

	"opsmon/app/test/browser/webtest"
)

// kinds returns a manifest with every kind of object that has a page and a code.
func kinds() []byte {
	return encode(object{"version": "v1", "account": object{
		"id": "demo", "domain": "demo.example", "currency": "EUR", "enableTasks": "on",
		"skus":          []object{{"code": "A", "name": "Apple", "unitsPerMinute": 10}, {"code": "B", "name": "Bread", "unitsPerMinute": 20}, {"code": "C", "name": "Cake", "unitsPerMinute": 30}},
		"shiftPatterns": []object{{"code": "days", "title": "Days", "shifts": []object{{"name": "Day", "startHour": 8, "duration": 8, "weekDay": "1"}}}, {"code": "nights", "title": "Nights", "shifts": []object{{"name": "Night", "startHour": 22, "duration": 8, "weekDay": "1"}}}},
		"reasons":       []object{{"code": "BRK", "name": "Breakdown", "reasons": []object{{"code": "BRK-E", "name": "Electrical"}, {"code": "BRK-M", "name": "Mechanical"}}}, {"code": "SET", "name": "Set-up"}},
		"taskLists":     []object{{"code": "start", "name": "Start-up"}, {"code": "clean", "name": "Cleaning"}},
		"tasks": []object{
			{"code": "t1", "title": "Check the guards", "taskListCodes": []object{{"code": "start", "order": 10}}},
			{"code": "t2", "title": "Check the film", "taskListCodes": []object{{"code": "start", "order": 30}}},
			{"code": "t3", "title": "Check the date", "taskListCodes": []object{{"code": "start"}}},
			{"code": "t4", "title": "Sweep"},
		},
		"plants": []object{{"code": "leeds", "name": "Leeds", "timezone": "Europe/London", "dayStartHour": 6, "weekStartDay": 0, "stationGroups": []object{
			{"code": "mixing", "name": "Mixing", "stations": []object{{"code": "MIX-1", "name": "Mixer 1"}}}}}},
	}})
}

// codesOf is an expression for the codes of a list in the draft; those of child reasons are in parentheses.
func codesOf(list string) string {
	return workspace(`(w.doc.account.` + list + `).map(function code(e) { return e.code + (e.reasons?.length ? "(" + e.reasons.map(code).join() + ")" : ""); }).join()`)
}

// Only the confirmed object is removed, even if another tab changes the list while the question is open.
func TestWhatIsRemovedIsWhatWasAsked(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: kinds()})
	tab := open(t, s, "admin", "/console/skus/B")
	for _, c := range []struct{ page, list, want string }{
		{"/console/skus/B", "skus", "Z,A,C"}, {"/console/shifts/days", "shiftPatterns", "Z,nights"}, {"/console/reasons/BRK-E", "reasons", "Z,BRK(BRK-M),SET"},
		{"/console/tasks/t2", "tasks", "Z,t1,t3,t4"}, {"/console/tasks/list/start", "taskLists", "Z,clean"},
	} {
		tab.Visit(c.page)
		button(tab, "#main", "Remove")
		tab.Until(`document.querySelector("dialog footer")`)
		tab.Eval(workspace(`w.edit((doc) => ({ ...doc, account: { ...doc.account, ` + c.list + `: [{ ...doc.account.` + c.list + `[0], code: "Z", reasons: undefined }, ...doc.account.` + c.list + `] } }))`))
		button(tab, "dialog footer", "Remove")
		tab.Until(`!document.querySelector("dialog")`)
		if got := webtest.Eval[string](tab, codesOf(c.list)); got != c.want {
			t.Errorf("%s leaves %s, want %s", c.page, got, c.want)
		}
	}

	tab.Visit("/console/skus")
	tab.Click(`[aria-label="Choose A"]`)
	button(tab, "#main .page-head", "Remove 1")
	tab.Until(`document.querySelector("dialog footer")`)
	tab.Eval(workspace(`w.edit((doc) => ({ ...doc, account: { ...doc.account, skus: [...doc.account.skus, { code: "D", name: "Dough", unitsPerMinute: 1 }] } }))`))
	button(tab, "dialog footer", "Remove")
	tab.Until(`!document.querySelector("dialog")`)
	if got := webtest.Eval[string](tab, codesOf("skus")); got != "Z,C,D" {
		t.Errorf("the SKUs that are left are %s, want Z,C,D", got)
	}
	tab.Clean()
}

// A code in use is refused at its field, whatever kind of object has it.
func TestNothingIsRenamedToATakenCode(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: kinds()})
	tab := open(t, s, "admin", "/console/skus/B")
	for _, c := range []struct{ page, list, field, taken, says, is string }{
		{"/console/skus/B", "skus", "SKU", "A", "A is the code of Apple", "A,B,C"},
		{"/console/shifts/days", "shiftPatterns", "ShiftPattern", "nights", "nights is the code of Nights", "days,nights"},
		{"/console/reasons/SET", "reasons", "Reason", "BRK-M", "BRK-M is the code of Mechanical", "BRK(BRK-E,BRK-M),SET"},
		{"/console/tasks/t2", "tasks", "Task", "t3", "t3 is the code of Check the date", "t1,t2,t3,t4"},
		{"/console/tasks/list/start", "taskLists", "TaskList", "clean", "clean is the code of Cleaning", "start,clean"},
	} {
		tab.Visit(c.page)
		box := `document.querySelector("#f-` + c.field + `-code")`
		tab.Until(box)
		tab.Type("#f-"+c.field+"-code", c.taken+kb.Tab)
		tab.Until(box + `.validationMessage.startsWith("` + c.says + `")`)
		tab.Type("#f-"+c.field+"-code", kb.Delete+kb.Tab)
		tab.Until(box + `.validity.valueMissing`)
		if got := webtest.Eval[string](tab, codesOf(c.list)); got != c.is {
			t.Errorf("%s: the codes are %s, want %s", c.page, got, c.is)
		}
		tab.Type("#f-"+c.field+"-code", "free"+kb.Tab)
		tab.Until(`location.pathname.endsWith("/free") && ` + box + `.value === "free"`)
	}
	tab.Clean()
}

// A Task added to a list comes after all numbered ones, however it is added; Tasks without a number are last.
func TestATaskComesIntoAListAsTheLast(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: kinds()})
	tab := open(t, s, "admin", "/console/tasks/list/start")
	tab.Eval(`(() => { const box = document.querySelector('[aria-label="A Task to add"]'); box.value = "t4"; box.dispatchEvent(new Event("change")); })()`)
	tab.Until(`[...document.querySelectorAll(".ordered > li code")].map((e) => e.textContent).join() === "t1,t2,t4,t3"`)
	button(tab, "#main", "Add a new one")
	tab.Until(`location.pathname === "/console/tasks/new-task"`)
	tab.Visit("/console/tasks/list/start")
	tab.Until(`[...document.querySelectorAll(".ordered > li")].map((e) => e.querySelector(".order").textContent + " " + e.querySelector("code").textContent).join() === "10 t1,30 t2,31 t4,32 new-task, t3"`)
	tab.Clean()
}

// The buttons of a reason move it like Alt with the arrow keys.
func TestAReasonIsMovedByButtons(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: kinds()})
	tab := open(t, s, "admin", "/console/reasons/BRK-E")
	for _, step := range []struct{ where, want string }{
		{"down", "BRK(BRK-M,BRK-E),SET"}, {"into the one before it", "BRK(BRK-M(BRK-E)),SET"}, {"out of the one above it", "BRK(BRK-M,BRK-E),SET"},
		{"up", "BRK(BRK-E,BRK-M),SET"}, {"out of the one above it", "BRK(BRK-M),BRK-E,SET"}, {"down", "BRK(BRK-M),SET,BRK-E"},
	} {
		tab.Click(`button[aria-label="Move Electrical ` + step.where + `"]`)
		tab.Until(codesOf("reasons") + `.then((is) => is === "` + step.want + `")`)
	}
	tab.Until(`document.querySelector('button[aria-label="Move Electrical down"]').disabled`)
	tab.Axe()
	tab.Shot("reason-moves")
	tab.Clean()
}

// Times of day are never changed or dropped silently, and an explanation that the service could not return is requested
// again.
func TestTimesOfATimetable(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: kinds()})
	tab := open(t, s, "admin", "/console/tasks/t4")
	tab.Eval(`(() => { const all = window.fetch; window.fetch = (to, how) => String(to).includes("/cron") ? Promise.resolve(new Response('{"errorMessage":"no room"}', { status: 429, headers: { "X-Time": Date.now(), "Content-Type": "application/json" } })) : all(to, how); window.mend = () => { window.fetch = all; const now = Date.now; Date.now = () => now() + 31000; }; })()`)
	tab.Eval(`[...document.querySelectorAll("#main .segmented label")].find((l) => l.textContent.trim() === "A timetable").querySelector("input").click()`)
	tab.Until(`document.querySelector(".fires")?.textContent.includes("no room")`)
	tab.Eval(`window.mend()`)
	times := `document.querySelector("[data-field=times] input")`
	for _, c := range []struct{ text, says string }{{"06:00, 14:30", "14:30 and 06:00 are not at the same minute"}, {"06:00, soon", "soon is no time of day"}} {
		tab.Type("[data-field=times] input", c.text+kb.Tab)
		tab.Until(times + `.validationMessage.startsWith("` + c.says + `")`)
	}
	tab.Until(workspace(`w.doc.account.tasks[3].trigger.pattern === "0 6 * * 1-5"`))
	tab.Eval(workspace(`w.edit((doc) => ({ ...doc }))`)) // draws the page again
	tab.Until(`document.querySelectorAll(".fires li").length > 0`)
	tab.Type("[data-field=times] input", "06:30, 14:30"+kb.Tab)
	tab.Until(workspace(`w.doc.account.tasks[3].trigger.pattern === "30 6,14 * * 1-5"`))
	tab.Clean()
}
