//go:build rig

package config_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"opsmon/app/test/browser/webtest"
)

// drag drags a shift with the mouse, by hours in the week's time line and by days; edge: drags its end.
func drag(tab *webtest.Tab, shift int, hours, days float64, edge bool) {
	at := webtest.Eval[[]float64](tab, fmt.Sprintf(`(() => {
		const box = document.querySelector('.shift[data-shift="%d"]'), line = box.parentElement.getBoundingClientRect();
		box.scrollIntoView({ block: "center" });
		const r = box.getBoundingClientRect(), rows = [...document.querySelectorAll(".week-line")].slice(0, 2).map((l) => l.getBoundingClientRect().top);
		return [r.left, r.right, r.top + r.height / 2, line.width / 24, rows[1] - rows[0]]; })()`, shift))
	x := at[0] + 20
	if edge {
		x = at[1] - 4
	}
	tab.Do(chromedp.DragAndDropXY(x, at[2], x+hours*at[3], at[2]+days*at[4], 5))
}

func TestShiftsAreDraggedMovedByKeysAndApplied(t *testing.T) {
	s, tab := console(t, "/console/shifts", ".patterns .week")
	looks(t, tab, "shifts")
	tab.Click(`.patterns a[href$="/3x8"]`)
	tab.Until(found(".times"))

	drag(tab, 0, 2, 0, false)
	draft(t, tab, "shiftPatterns[0].shifts[0]", `{"name":"Early","startHour":8,"duration":8,"weekDay":"1"}`)
	drag(tab, 0, 0.5, 2, false)
	draft(t, tab, "shiftPatterns[0].shifts[0]", `{"name":"Early","startHour":8.5,"duration":8,"weekDay":"3"}`)
	drag(tab, 0, 1.25, 0, true)
	draft(t, tab, "shiftPatterns[0].shifts[0].duration", "9.25")
	tab.Until(`document.querySelector("#f-shift-0-duration").value === "9 h 15 min"`)

	// The keys move the same shift repeatedly: it keeps the focus when it moves to another day.
	tab.Eval(`document.querySelector('.shift[data-shift="0"]').focus()`)
	tab.Press(kb.ArrowRight)
	draft(t, tab, "shiftPatterns[0].shifts[0].startHour", "8.75")
	tab.Press(kb.ArrowDown)
	draft(t, tab, "shiftPatterns[0].shifts[0].weekDay", `"4"`)
	tab.Until(`document.activeElement.dataset.shift === "0"`)
	tab.Press(kb.ArrowDown)
	draft(t, tab, "shiftPatterns[0].shifts[0].weekDay", `"5"`)
	tab.Press(kb.ArrowLeft, chromedp.ModifierShift)
	draft(t, tab, "shiftPatterns[0].shifts[0].duration", "9")
	tab.Press(kb.Enter)
	tab.Until(found("#shift-0.chosen"))

	tab.Click(`.week [aria-label="Add a shift on Saturday"]`)
	draft(t, tab, "shiftPatterns[0].shifts[2]", `{"name":"Early","startHour":8,"duration":8,"weekDay":"6"}`)
	tab.Type("#f-shift-2-startHour", "9:30"+kb.Tab)
	draft(t, tab, "shiftPatterns[0].shifts[2].startHour", "9.5")
	tab.Type("#f-shift-2-duration", "6 h 30 min"+kb.Tab)
	draft(t, tab, "shiftPatterns[0].shifts[2].duration", "6.5")
	looks(t, tab, "shift")
	tab.Click(`.times [aria-label^="Remove Night"]`)
	draft(t, tab, "shiftPatterns[0].shifts.map((s) => s.name)", `["Early","Early"]`)

	tab.Type("#f-ShiftPattern-code", "late"+kb.Tab)
	tab.Until(`location.pathname === "/console/shifts/late"`)
	draft(t, tab, "plants[0].stationGroups[0].shiftPatternCode", `"late"`)
	draft(t, tab, "plants[0].stationGroups[0].stations[1].shiftPatternCode", `"late"`)
	account := apply(s, tab)
	same(t, "the pattern", account["shiftPatterns"].([]any)[0], `{"code":"late","shifts":[{"duration":9,"name":"Early","startHour":8.75,"weekDay":"5"},{"duration":6.5,"name":"Early","startHour":9.5,"weekDay":"6"}],"title":"Three shifts"}`)
	tab.Clean()
}
