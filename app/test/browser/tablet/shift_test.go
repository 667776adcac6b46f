//go:build rig

package tablet_test

import (
	"testing"

	"opsmon/app/test/browser/webtest"
)

// An operator's shift, tap by tap: actions are stored by the service, and the screen shows the service's state.
func TestAShiftByTaps(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	id := plan(s, 5, "PACK-1", "BK-1000", 100)
	h := tablet(t, s, webtest.TabletTall, "Packing", "PACK-1")
	h.shows("h1", "Packer 1")
	h.shows(".now", "Nothing runs")
	h.sound(t, "nothing")
	h.do("go-next")
	h.shows(".entry", "WO-4711")
	h.sound(t, "next")
	h.do("start")
	h.shows("dialog[open]", "Start BK-1000?")
	h.sound(t, "start")
	h.in(".primary")
	h.sound(t, "who")
	h.am("KLM")
	h.said("sent", "Started BK-1000")
	h.page("run")
	h.shows(".now h2", "BK-1000")
	h.shows(".t-who", "KLM")
	var now struct{ State string }
	if s.Call("GET", "/schedule/"+id, nil, &now); now.State != "running" {
		t.Errorf("the schedule is %s", now.State)
	}
	h.do("good")
	h.sound(t, "keypad")
	h.key("48")
	h.said("sent", "48 good")
	h.shows("[data-value=good]", "48")
	h.do("bad")
	h.key("2")
	h.said("sent", "2 scrap")
	h.shows("[data-value=bad]", "2")
	h.do("reject")
	h.key("3")
	h.shows("[data-value=good]", "45")
	h.shows("[data-value=bad]", "5")
	h.do("undo")
	h.sound(t, "undo")
	h.in(".primary")
	h.said("sent", "Took back 3 rejected")
	h.shows("[data-value=good]", "48")
	h.do("correct")
	h.in("[data-of=good]")
	h.in(".signs button:last-child")
	h.shows("dialog[open] [data-do=done]", "0 fewer")
	h.sound(t, "correct")
	h.key("8")
	h.shows("[data-value=good]", "40")
	h.sound(t, "running")
	h.do("end")
	h.shows("dialog[open]", "60 short")
	h.in(".danger")
	h.said("sent", "Cut short")
	h.shows(".now", "Nothing runs")
	if s.Call("GET", "/schedule/"+id, nil, &now); now.State != "completed" {
		t.Errorf("the schedule is %s", now.State)
	}
	h.Clean()
}

// On eight inches all controls are visible at once, in portrait and landscape.
func TestEightInches(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.Call("POST", "/schedule/"+plan(s, 5, "PACK-1", "BK-500", 1000)+"/start", object{"initials": "ABC"}, nil)
	s.Call("POST", "/production", object{"stationCode": "PACK-1", "good": 100, "initials": "ABC"}, nil)
	for name, view := range map[string]webtest.Viewport{"upright": {Width: 600, Height: 960, Scale: 2, Touch: true}, "across": {Width: 960, Height: 600, Scale: 2, Touch: true}} {
		h := tablet(t, s, view, "Packing "+name, "PACK-1", "PACK-2")
		h.Until(`document.querySelectorAll(".act").length === 8`)
		if low := webtest.Eval[string](h.Tab, `(() => { const { bottom } = document.querySelector("main").getBoundingClientRect(); return [...document.querySelectorAll(".act")].filter((e) => e.getBoundingClientRect().bottom > bottom || e.scrollHeight > e.clientHeight + 1).map((e) => e.innerText).join(", "); })()`); low != "" {
			t.Errorf("%s one does not see: %s", name, low)
		}
		h.sound(t, "eight inches "+name)
		h.do("correct")
		h.in("[data-of=good]")
		h.Until(`document.querySelector("dialog[open] .keypad")`)
		if low := webtest.Eval[int](h.Tab, `[...document.querySelectorAll("dialog[open] button")].filter((e) => e.getBoundingClientRect().bottom > innerHeight).length`); low > 0 {
			t.Errorf("%s %d keys are below the screen", name, low)
		}
		h.sound(t, "keypad "+name)
		h.Clean()
	}
}
