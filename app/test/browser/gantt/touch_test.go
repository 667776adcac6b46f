//go:build rig

package gantt_test

import (
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"opsmon/app/test/browser/webtest"
)

// finger sends one touch event.
func (c *chart) finger(kind input.DispatchTouchEventType, at ...spot) {
	c.t.Helper()
	points := []*input.TouchPoint{}
	for _, p := range at {
		points = append(points, &input.TouchPoint{X: p.X, Y: p.Y})
	}
	if _, err := chromedp.Call(c.tab.Context(), input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points}); err != nil {
		c.t.Fatal(err)
	}
}

// swipe moves a finger from one position to another.
func (c *chart) swipe(from, to spot) {
	c.t.Helper()
	for i := range 8 {
		part := float64(i+1) / 8
		c.finger(input.DispatchTouchEventTypeTouchMove, spot{from.X + (to.X-from.X)*part, from.Y + (to.Y-from.Y)*part})
	}
}

// TestAFingerDragsAfterALongPress: without a long press, a finger scrolls and moves no bar.
func TestAFingerDragsAfterALongPress(t *testing.T) {
	c := serve(t)
	a := c.plan("PACK-1", "BOWL", 120, nil)
	c.open(webtest.TabletTall, "supervisor")
	c.tab.Until(bar(a.ID))
	from, to := c.place("PACK-1", 180), c.place("PACK-2", 300)
	c.finger(input.DispatchTouchEventTypeTouchStart, from)
	c.swipe(from, to)
	c.finger(input.DispatchTouchEventTypeTouchEnd)
	if webtest.Eval[bool](c.tab, `document.querySelector(".gantt").classList.contains("carrying")`) {
		t.Error("a finger that scrolls carries a bar")
	}
	c.visit(c.begin)
	c.tab.Until(bar(a.ID))
	from, to = c.place("PACK-1", 180), c.place("PACK-2", 300)
	c.finger(input.DispatchTouchEventTypeTouchStart, from)
	c.tab.Until(`document.querySelector(".gantt").classList.contains("carrying")`)
	c.swipe(from, to)
	c.tab.Until(`document.querySelector(".ghost.fine")`)
	c.finger(input.DispatchTouchEventTypeTouchEnd)
	got := c.eventually(a.ID, "moved", func(s schedule) bool { return s.StationCode == "PACK-2" })
	if d := got.PlannedStartAt.Sub(c.at(240)).Abs(); d > 5*time.Minute {
		t.Errorf("it starts at %s, not at about %s", got.PlannedStartAt, c.at(240))
	}
	if webtest.Eval[bool](c.tab, `Boolean(document.querySelector("dialog"))`) {
		t.Error("the drag opened the schedule")
	}
	c.tab.Clean()
}
