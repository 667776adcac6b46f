//go:build rig

package tablet_test

import (
	"testing"

	"opsmon/app/test/browser/webtest"
)

// Offline, everything continues: actions are shown and marked, also on objects without an ID of the service, survive a
// reload, and are finally stored by the service.
func TestWhatIsMadeAwayCanBeUndoneAndEndedAway(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	line := webtest.NewLine(t, s)
	h := hand{webtest.Open(t, line.Base, webtest.TabletTall)}
	h.Visit("/link#" + pair(s, "Packing", "PACK-1"))
	h.Until(`!document.getElementById("here")?.disabled`)
	h.Tab.Tap("#here")
	h.Until(`location.pathname === "/tablet" && document.querySelector(".run")`)
	h.Until(`navigator.serviceWorker.ready.then(() => navigator.serviceWorker.controller !== null)`)
	h.do("quick")
	line.Cut()
	h.in(`[data-sku="BK-1000"]`)
	h.in(".primary")
	h.am("KLM")
	h.said("waiting", "Started BK-1000")
	h.shows(".now .waits", "waiting")
	h.do("good")
	h.key("480")
	h.shows("[data-value=good]", "480")
	h.do("undo")
	h.in(".primary")
	h.said("waiting", "Took back 480 good")
	h.shows("[data-value=good]", "0")
	h.do("good")
	h.key("48")
	h.shows("[data-value=good]", "48")
	h.shows(".t-state.away", "Not connected · 4 to send")
	h.sound(t, "away")
	h.do("waiting")
	h.shows("dialog[open] h2", "4 actions wait to be sent")
	h.sound(t, "waiting")
	h.in("footer .button:first-child")
	h.Visit("/tablet") // from the browser's cache
	h.shows("[data-value=good]", "48")
	h.shows(".t-state.away", "4 to send")
	h.do("down")
	h.in("[data-do=none]")
	h.shows(".band", "Manual downtime")
	h.do("reason")
	h.in("[data-reason=FILM]")
	h.shows(".band", "Out of film")
	h.do("up")
	h.in(".primary")
	h.lacks("[data-do=up]")
	h.do("end")
	h.in(".primary, dialog[open] .danger")
	h.shows(".now", "Nothing runs")
	line.Mend()
	h.shows(".t-state", "live")
	h.lacks(".refused")
	var schedules []struct {
		SkuCode, State string
		GoodCount      float64
	}
	s.Call("GET", "/schedule?stationcodes=PACK-1&rangecode=last7d", nil, &schedules)
	if len(schedules) != 1 || schedules[0].State != "completed" || schedules[0].GoodCount != 48 {
		t.Errorf("schedules: %v", schedules)
	}
	if got := cause(t, s, "manual"); got != "FILM" {
		t.Errorf("the downtime's cause is %q", got)
	}
	h.Clean()
}
