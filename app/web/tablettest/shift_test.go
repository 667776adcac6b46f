package tablettest_test

import (
	"testing"

	"opsmon/app/web/webtest"
)

// An operator's shift, tap by tap: what is pressed is in the service, and what the service knows is on the screen.
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
