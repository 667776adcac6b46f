//go:build rig

package tablet_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"opsmon/app/test/browser/webtest"
)

// Each control is only shown if its flag is on, and a list names the level that switched it off.
func TestWhatIsSwitchedOff(t *testing.T) {
	t.Parallel()
	s := serve(t, func(account, group object) {
		for _, name := range flags {
			delete(account, name)
		}
		account["enableManualProduction"], group["enableManualProduction"] = "on", "off"
		group["stations"].([]object)[0]["enableManualDowntime"] = "off"
		account["enableTasks"] = "off"
	})
	plan(s, 9, "PACK-2", "BK-500", 0)
	id := plan(s, 5, "PACK-1", "BK-1000", 100)
	s.Call("POST", "/schedule/"+id+"/start", object{"initials": "ABC"}, nil)
	h := tablet(t, s, webtest.TabletWide, "Packing", "PACK-1")
	h.shows(".now h2", "BK-1000")
	h.lacks(".act")
	h.lacks("[data-page=tasks]")
	h.page("next")
	h.shows("main", "Nothing is planned at this station") // PACK-2's stay there
	h.page("run")
	h.do("menu")
	h.sound(t, "menu")
	h.in("[data-menu=off]")
	h.sound(t, "off")
	for flag, level := range map[string]string{"enableManualProduction": "Off for the group Packing.", "enableManualDowntime": "Off for the station Packer 1.", "enableTasks": "Off for the whole account.", "enableQuickScheduleStart": "No level has switched it on."} {
		h.shows(fmt.Sprintf("dialog[open] [data-flag=%s]", flag), level)
	}
	h.in("footer button")
	// After the flag is switched on, the control appears automatically.
	s.Call("POST", "/account", object{"enableQuickScheduleStart": "on", "enableRejectProduction": "on"}, nil)
	h.Until(`document.querySelector("[data-do=quick]") && document.querySelector("[data-do=reject]") && document.querySelectorAll(".act").length === 2`)
	h.Clean()
}

// Two tablets at one station see each other's actions immediately.
func TestTwoTabletsAtOneStation(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	plan(s, 5, "PACK-1", "BK-1000", 100)
	a, b := tablet(t, s, webtest.TabletTall, "A", "PACK-1"), tablet(t, s, webtest.TabletWide, "B", "PACK-1", "PACK-2")
	b.page("next")
	b.shows(".entry", "WO-4711")
	a.page("next")
	a.do("start")
	a.in(".primary")
	a.am("ANN")
	b.lacks(".entry")
	b.page("run")
	b.shows(".now h2", "BK-1000")
	a.page("run")
	a.do("good")
	a.key("10")
	b.shows("[data-value=good]", "10")
	b.shows("[data-do=undo]", "10 good")
	b.do("undo")
	b.in(".primary")
	b.in(`.tile`) // ANN is offered
	b.said("sent", "Took back 10 good")
	a.shows("[data-value=good]", "0")
	a.lacks("[data-do=undo]")
	b.do("down")
	b.in("[data-do=none]")
	a.shows(".band", "Manual downtime") // known without a signal
	a.do("reason")
	a.in("[data-reason=FILM]")
	b.shows(".band", "Out of film")
	// The other station, and back.
	b.do("station")
	b.sound(t, "stations-wide")
	b.in(`[data-station-choice="PACK-2"]`)
	b.shows("button.t-station", "Packer 2")
	b.shows(".now", "Nothing runs")
	b.peek("station")
	a.Clean()
	b.Clean()
}

// peek opens a sheet and closes it by keyboard.
func (h hand) peek(name string) {
	h.do(name)
	h.Until(`document.querySelector("dialog[open]")`)
	h.Press(kb.Escape)
	h.lacks("dialog")
}

// An error of the service is shown in its words until it was read, and the action is not shown as done.
func TestARefusedActionIsTold(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.Call("POST", "/quick-schedule", object{"stationCode": "PACK-1", "skuCode": "BK-1000", "initials": "ABC"}, nil)
	h := tablet(t, s, webtest.TabletTall, "Packing", "PACK-1")
	h.do("good")
	h.key("5")
	h.am("KLM")
	h.shows("[data-value=good]", "5")
	h.do("reject")
	h.key("9")
	h.shows(".refused", "a total must not be negative")
	h.shows(".refused", "Not done: 9 rejected")
	h.shows("[data-value=good]", "5")
	h.sound(t, "refused")
	h.do("dismiss")
	h.lacks(".refused")
	// A flag that was switched off, in the words of its control.
	h.do("reject")
	h.Until(`document.querySelector("dialog[open] .keypad")`)
	s.Call("POST", "/account", object{"enableRejectProduction": "off"}, nil)
	h.key("2")
	h.shows(".refused", "Not done: 2 rejected")
	h.shows(".refused", "Rejecting good units: switched off for the whole account.")
	h.do("dismiss")
	h.lacks(".refused")
	// A reason that was removed while the sheet was open.
	s.Call("POST", "/issue", object{"stationCode": "PACK-1"}, nil)
	h.shows(".band", "No reason given")
	h.do("reason")
	h.Until(`document.querySelector("dialog[open] [data-reason=FILM]")`)
	s.Call("POST", "/account", object{"excludeReasonCodes": []string{"FILM"}}, nil)
	h.in("[data-reason=FILM]")
	h.shows(".refused", "Reason: Out of film")
	h.shows(".refused", "The reason must be a reason that is available at the station PACK-1")
	h.shows(".band", "No reason given")
	h.do("dismiss")
	h.do("reason")
	h.Until(`document.querySelector("dialog[open] [data-reason=BRK]") && !document.querySelector("dialog[open] [data-reason=FILM]")`)
	h.Clean()
}

// A double tap has one effect, and a hand on the screen does not select, zoom or reload.
func TestHandsInGloves(t *testing.T) {
	s := serve(t, nil)
	s.Call("POST", "/quick-schedule", object{"stationCode": "PACK-1", "skuCode": "BK-1000", "initials": "ABC"}, nil)
	h := tablet(t, s, webtest.TabletTall, "Packing", "PACK-1")
	h.do("good")
	h.key("7")
	h.am("KLM")
	h.shows("[data-value=good]", "7")
	h.do("good")
	h.in(`[data-key="4"]`)
	h.in(`[data-key="2"]`)
	// The last key is hit twice, and so is the control that appears below it.
	h.Until(`!document.body.hasAttribute("data-resting")`)
	h.Eval(`(() => { const e = document.querySelector("dialog[open] [data-do=done]"), at = e.getBoundingClientRect(); e.click(); e.click(); document.elementFromPoint(at.x + 9, at.y + 9).dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 2 })); })()`)
	h.said("sent", "42 good")
	h.shows("[data-value=good]", "49")
	h.lacks("dialog")
	var entries []struct{ Good float64 }
	if s.Call("GET", "/production?stationcodes=PACK-1&rangecode=last7d", nil, &entries); len(entries) != 2 {
		t.Errorf("%d entries: %v", len(entries), entries)
	}
	styles := webtest.Eval[string](h.Tab, `[getComputedStyle(document.body).userSelect, getComputedStyle(document.querySelector(".act")).touchAction, getComputedStyle(document.documentElement).overscrollBehaviorY, getComputedStyle(document.body).overscrollBehaviorY].join()`)
	if styles != "none,pan-x pan-y,none,none" {
		t.Errorf("styles: %s", styles)
	}
	if kept := webtest.Eval[bool](h.Tab, `!document.body.dispatchEvent(new MouseEvent("contextmenu", { bubbles: true, cancelable: true }))`); !kept {
		t.Error("a long press opens a menu")
	}
	h.Clean()
}

// A signed-in person selects the stations once; read-only users see no controls. A session of another page is not a
// tablet's.
func TestPeopleAtATablet(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	h := hand{webtest.Open(t, s.Base, small8)}
	s.SignIn(h.Tab, "supervisor")
	h.Visit("/tablet")
	h.shows("dialog[open] h2", "Which stations does this tablet stand at?")
	h.in(`header [aria-label="Close"]`) // not yet
	h.do("choose")
	h.sound(t, "choose-small")
	h.in(`[data-pick="PACK-1"]`)
	h.in(`[data-pick="MIX-1"]`)
	h.in(`[data-do=done]`)
	h.shows("button.t-station", "Packer 1")
	h.sound(t, "several-small")
	h.Visit("/tablet")
	h.shows("button.t-station", "Packer 1")
	h.Media("prefers-color-scheme", "dark")
	h.sound(t, "dark-small")
	h.do("menu")
	h.sound(t, "menu-dark-small")
	h.in(`[data-menu=out]`)
	h.Until(`location.pathname === "/signin"`)
	for _, role := range []string{"readonly", "operator"} { // an operator bound to no station has no actions
		reader := hand{webtest.Open(t, s.Base, webtest.TabletTall)}
		s.SignIn(reader.Tab, role)
		reader.Visit("/tablet")
		reader.in(`[data-pick="PACK-1"]`)
		reader.in(`[data-do=done]`)
		reader.shows("main", "A tablet that is paired for it acts on it")
		reader.lacks(".act")
		reader.Clean()
	}
	h.Clean()
}
