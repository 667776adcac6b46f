//go:build rig

package config_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"opsmon/app/test/browser/webtest"
)

// dropTask drags a Task of a list onto the place of another one.
func dropTask(tab *webtest.Tab, from, onto int) {
	tab.Eval(fmt.Sprintf(`(() => {
		const rows = document.querySelectorAll(".ordered > li"), dataTransfer = new DataTransfer();
		const tell = (row, type) => row.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }));
		tell(rows[%d], "dragstart"); tell(rows[%d], "dragover"); tell(rows[%[2]d], "drop"); tell(rows[%[1]d], "dragend"); })()`, from, onto))
}

// inList is an expression for the codes of a list's Tasks in their order, as JSON.
const inList = `tasks.flatMap((t) => (t.taskListCodes ?? []).filter((l) => l.code === "begin").map((l) => [l.order, t.code])).sort(([a], [b]) => a - b).map(([, code]) => code).join()`

func TestTasksAreOrderedTimedRenamedAndRemoved(t *testing.T) {
	s, tab := console(t, "/console/tasks", ".table")
	looks(t, tab, "tasks")
	tab.Click(`#main a[href="/console/tasks/list/start"]`)
	tab.Type("#f-TaskList-code", "begin"+kb.Tab)
	tab.Until(`location.pathname === "/console/tasks/list/begin"`)
	draft(t, tab, "includeTaskListCodes", `["begin"]`)
	draft(t, tab, inList, `"t1,t2,t3"`)

	dropTask(tab, 2, 0)
	draft(t, tab, inList, `"t3,t1,t2"`)
	tab.Eval(`document.querySelectorAll(".ordered > li")[0].focus()`)
	tab.Press(kb.ArrowDown, chromedp.ModifierAlt)
	draft(t, tab, inList, `"t1,t3,t2"`)
	tab.Press(kb.ArrowDown, chromedp.ModifierAlt)
	draft(t, tab, inList, `"t1,t2,t3"`)
	tab.Until(`document.activeElement.textContent.includes("Check the date")`)
	tab.Click(`[aria-label="Take Check the film out of the list"]`)
	draft(t, tab, inList, `"t1,t3"`)
	tab.Eval(`(s => { s.value = "t2"; s.dispatchEvent(new Event("change", { bubbles: true })); })(document.querySelector('[aria-label="A Task to add"]'))`)
	draft(t, tab, inList, `"t1,t3,t2"`)

	// The timetable: times and days, their pattern, and the service's explanation of it.
	choose(tab, "A timetable")
	draft(t, tab, "taskLists[0].trigger.pattern", `"0 6 * * 1-5"`)
	tab.Type(`[data-field="times"] input`, "06:30, 14:30"+kb.Tab)
	draft(t, tab, "taskLists[0].trigger.pattern", `"30 6,14 * * 1-5"`)
	tab.Eval(`[...document.querySelectorAll(".days input")][5].click()`)
	draft(t, tab, "taskLists[0].trigger.pattern", `"30 6,14 * * 1-6"`)
	tab.Until(`document.querySelector(".fires strong")?.textContent.startsWith("At 06:30 and 14:30") && document.querySelectorAll(".fires li").length > 2`)
	tab.Type(`[data-field="availableBeforeDeadlineMinutes"] input`, "1 h 30 min"+kb.Tab)
	draft(t, tab, "taskLists[0].trigger.availableBeforeDeadlineMinutes", "90")
	looks(t, tab, "task-list")
	tab.Type(`[data-field="pattern"] input`, "61 6 * * 1"+kb.Tab)
	tab.Until(`document.querySelector('[data-field="pattern"] .problem').textContent.trim() !== "" && document.querySelector(".fires .bad")`)
	tab.Type(`[data-field="pattern"] input`, "0 */4 * * 1"+kb.Tab)
	tab.Until(`document.querySelector('[data-field="pattern"] .problem').textContent.trim() === "" && document.querySelector("#main").textContent.includes("more than times on days")`)

	tab.Click(`.ordered a[href="/console/tasks/t3"]`)
	tab.Type("#f-Task-code", "t9"+kb.Tab)
	tab.Until(`location.pathname === "/console/tasks/t9"`)
	draft(t, tab, "skus[1].taskCodes", `["t9"]`)
	looks(t, tab, "task")
	button(tab, "#main .page-head", "Remove")
	tab.Until(`document.querySelector("dialog")?.textContent.includes("1 SKU names it; its link goes too")`)
	button(tab, "dialog footer", "Remove")
	draft(t, tab, "tasks.map((t) => t.code)", `["t1","t2"]`)
	tab.Visit("/console/tasks/list/clean")
	button(tab, "#main .page-head", "Remove")
	button(tab, "dialog footer", "Remove")
	draft(t, tab, "taskLists.map((l) => l.code)", `["begin"]`) // before the review, which requests it again
	account := apply(s, tab)
	same(t, "the lists", account["taskLists"], `[{"code":"begin","name":"Start-up","trigger":{"availableBeforeDeadlineMinutes":90,"pattern":"0 */4 * * 1","type":"cron"}}]`)
	tab.Clean()
}
