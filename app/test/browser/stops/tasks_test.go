//go:build rig

package stops_test

import (
	"fmt"
	"strings"
	"testing"

	"opsmon/app/test/browser/webtest"
)

type task struct {
	ID, TaskCode, State string
	CompletedBy, Note   *string
}

func (p *plant) tasks(query string) (list []task) {
	p.t.Helper()
	p.Call("GET", "/task?limit=1000&stationcode=PRESS-1&"+query, nil, &list)
	return list
}

// TestTasks: Tasks are started on demand, completed with initials and notes, and updated live; missed ones stay missed.
func TestTasks(t *testing.T) {
	p := open(t)
	tab := p.page("supervisor", "/floor/tasks", `document.querySelector(".page-head .button")`)
	tab.Until(`document.querySelector(".task-row")?.textContent.includes("Look at the gauge")`) // due each minute
	if cut := webtest.Eval[bool](tab, `(() => { const e = document.querySelector(".task-when > span").cloneNode(); e.textContent = "until the schedule ends"; document.querySelector(".task-when").prepend(e); const cut = e.scrollWidth > e.clientWidth; e.remove(); return cut; })()`); cut {
		t.Error("until when a Task is due is cut off")
	}
	tab.Axe()
	button(tab, ".page-head", "Start a list")
	choose(tab, "#f-start-station", "Hand work")
	tab.Until(`document.querySelector("dialog .empty")?.textContent.includes("No list of this station")`)
	choose(tab, "#f-start-station", "Пресс 1")
	tab.Until(`document.querySelector("#f-start-list")`)
	tab.Type("#f-start-initials", "ABC")
	p.signInAgain(tab, "supervisor")
	tab.Until(`document.querySelector("#f-start-list")?.value && document.querySelector("#f-start-initials").value === "ABC"`)
	button(tab, "dialog footer", "Start the list")
	gone(tab)
	tab.Until(`[...document.querySelectorAll(".task-row")].some((r) => r.textContent.includes("Test the guards"))`)
	tab.Shot("tasks")
	row := func(title string) {
		t.Helper()
		find := `[...document.querySelectorAll(".task-row button")].find((b) => b.ariaLabel === "Complete ` + title + `")`
		tab.Until(find)
		tab.Eval(find + `.click()`)
		tab.Until(`document.querySelector("#f-ask-initials")?.value === "ABC"`) // the last operator
	}
	row("Test the guards")
	button(tab, "dialog footer", "Complete") // it requires notes: the browser says so
	tab.Eval(`document.querySelector("#f-ask-note").required = false`)
	set(tab, "#f-ask-note", "   ")
	button(tab, "dialog footer", "Complete")
	tab.Until(`document.querySelector("#f-ask-note-problem")?.textContent.includes("is required")`)
	tab.Axe()
	// A user whose session ended finds the entered values again, including the field with the focus, even if the
	// browser only reports that the page is hidden.
	tab.Type("#f-ask-note", "защита на месте")
	tab.Eval(`dispatchEvent(new Event("pagehide"))`)
	if webtest.Eval[bool](tab, `document.activeElement.matches("#f-ask-note")`) {
		t.Error("what is typed when the page is hidden is not told")
	}
	p.signInAgain(tab, "supervisor")
	tab.Until(`document.querySelector("#f-ask-note")?.value === "защита на месте" && document.querySelector("#f-ask-initials").value === "ABC"`)
	// Going to another page and back with the browser's keys shows the same form, and no second one.
	set(tab, "#f-ask-note", "защита стоит на месте")
	tab.Eval(`document.querySelector("#menu a[href='/floor/stops']").click()`)
	tab.Until(`document.querySelector("h1")?.textContent === "Stops"`)
	tab.Eval(`history.back()`)
	tab.Until(`document.querySelector(".task-row") && document.querySelector("#f-ask-note")?.value === "защита стоит на месте"`)
	if n := webtest.Eval[int](tab, `document.querySelectorAll("dialog").length`); n != 1 {
		t.Errorf("%d forms are open", n)
	}
	set(tab, "#f-ask-note", "защита на месте")
	button(tab, "dialog footer", "Complete")
	gone(tab)
	const forms = `Object.keys(sessionStorage).filter((k) => k.includes("-form:")).length`
	if left := webtest.Eval[int](tab, forms); left > 0 {
		t.Errorf("%d forms are kept when they are sent", left)
	}
	tab.Until(`![...document.querySelectorAll(".task-row")].some((r) => r.textContent.includes("Test the guards"))`)
	for _, done := range p.tasks("state=completed") {
		if done.TaskCode != "GUARDS" || text(done.CompletedBy) != "ABC" || text(done.Note) != "защита на месте" {
			t.Errorf("done is %+v", done)
		}
	}
	// Another user completes the other one: it disappears here, and the slower user is notified.
	var ways task
	for _, pending := range p.tasks("state=pending") {
		if pending.TaskCode == "WAYS" {
			ways = pending
		}
	}
	row("Walk the escape routes")
	p.Call("POST", "/task/"+ways.ID+"/complete", map[string]string{"initials": "XYZ"}, nil)
	button(tab, "dialog footer", "Complete")
	tab.Until(`document.querySelector("dialog .notice.bad")?.textContent.includes("was completed by XYZ")`)
	set(tab, "#f-ask-note", "all of them")
	tab.Visit("/floor/tasks") // completed ones are not requested again
	tab.Until(`document.querySelector(".task-row") && ` + forms + ` === 0`)
	gone(tab)
	tab.Until(`![...document.querySelectorAll(".task-row")].some((r) => r.textContent.includes("Walk the escape routes"))`)
	tab.Visit("/floor/tasks?state=done&list=SAFETY&range=last7d")
	tab.Until(`document.querySelectorAll(".task-row").length === 2`)
	if got := tab.Text(".tasks"); !strings.Contains(got, "XYZ") || !strings.Contains(got, "защита на месте") || strings.Contains(got, "Look at the gauge") {
		t.Errorf("done: %q", got)
	}
	tab.Clean()

	reader := p.page("readonly", "/floor/tasks?state=missed&range=last7d", `document.querySelector("[role=status]")`, webtest.TabletTall)
	reader.Until(`document.querySelector(".task-row .bad, .empty")`)
	if webtest.Eval[bool](reader, `Boolean(document.querySelector(".task-row button, .page-head button"))`) {
		t.Error("who reads alone is offered something to do")
	}
	reader.Media("prefers-color-scheme", "dark")
	reader.Axe()
	reader.Clean()
}

// An operator bound to no station sees Tasks and stops, without controls that the service would refuse.
func TestOperatorsBoundToNothing(t *testing.T) {
	p := open(t)
	tab := p.page("operator", "/floor/tasks", `document.querySelector(".task-row")`)
	if webtest.Eval[bool](tab, `Boolean(document.querySelector(".page-head .button, .task-do button"))`) {
		t.Error("Tasks can be started or completed")
	}
	tab.Visit("/floor/stops")
	tab.Until(`document.querySelector(".empty")`)
	if webtest.Eval[bool](tab, `[...document.querySelectorAll("button")].some((b) => b.textContent.includes("Manual downtime"))`) {
		t.Error("a manual downtime can be made")
	}
	tab.Visit("/floor/station/PRESS-1")
	tab.Until(`document.querySelector(".station-facts")`)
	if webtest.Eval[bool](tab, `Boolean(document.querySelector(".station-facts button"))`) {
		t.Error("who works there can be changed")
	}
	tab.Clean()
}

// A tablet on the floor's pages can only select its own stations, because the service refuses others.
func TestATabletChoosesAmongItsStations(t *testing.T) {
	p := open(t)
	var made struct{ Link string }
	p.Call("POST", "/tablet", map[string]any{"name": "Press 1", "role": "operator", "stationCodes": []string{"PRESS-1"}}, &made)
	tab := webtest.Open(t, p.Base, webtest.TabletTall)
	_, token, _ := strings.Cut(made.Link, "#")
	tab.Visit("/link#" + token)
	tab.Until(`document.getElementById("here")?.disabled === false`)
	tab.Tap("#here")
	tab.Until(`location.pathname === "/tablet" && document.querySelector("main")`)
	for _, form := range []struct{ path, button, options string }{
		{"/floor/stops", "Manual downtime", "#f-manual-station option"},
		{"/floor/tasks", "Start a list", "#f-start-station option"},
	} {
		tab.Visit(form.path)
		button(tab, ".page-head", form.button)
		codes := fmt.Sprintf(`[...document.querySelectorAll(%q)].map((o) => o.textContent).join("|")`, form.options)
		tab.Until(codes + `.length > 0`)
		if got := webtest.Eval[string](tab, codes); got != "Choose a station|Пресс 1" {
			t.Errorf("%s offers %q", form.path, got)
		}
	}
}
