//go:build rig

package floor_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"opsmon/app/test/browser/webtest"
)

// TestUnitsWithoutAScheduleAndStationsWithoutSignals has a machine that ran for an hour before its schedule, a station
// counted by hand, and one without signals, as pages show them.
func TestUnitsWithoutAScheduleAndStationsWithoutSignals(t *testing.T) {
	manifest := bytes.Replace(plant(4, 4), []byte(`"enableQuickScheduleStart":"on"`), []byte(`"enableQuickScheduleStart":"on","enableManualProduction":"on","enableManualDowntime":"on"`), 1)
	s := webtest.Serve(t, webtest.Options{Manifest: manifest})
	now := time.Now()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	moment := func(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }
	for m := range 60 {
		signals(s, ago(time.Duration(60-m)*time.Minute), produces(30), 0, 3)
	}
	start(s, 0, ago(30*time.Minute), 2000)
	start(s, 1, ago(30*time.Minute), 5000)
	s.Call("POST", "/issue", object{"stationCode": "S-1", "startAt": moment(ago(20 * time.Minute)), "endAt": moment(ago(10 * time.Minute)), "causeCode": "JAM", "initials": "KLM"}, nil)
	s.Call("POST", "/production", object{"stationCode": "S-1", "good": 900, "initials": "KLM", "at": moment(ago(time.Minute))}, nil)

	for _, view := range []webtest.Viewport{webtest.Laptop, webtest.Phone} {
		tab := webtest.Open(t, s.Base, view)
		s.SignIn(tab, "supervisor")
		tab.Visit("/floor")
		tab.Until(`document.querySelectorAll(".station[data-station] [data-value=status]").length === 4 && document.querySelector("[data-station=S-3] [data-value=extra]")?.textContent === "1,800"`)
		if got := tab.Text(`[data-station=S-2] [data-value=status]`); got != "No signal yet" {
			t.Errorf("of a station without signals the card says %q", got)
		}
		if got := webtest.Eval[string](tab, `document.querySelector("[data-station=S-2] .station-status time").textContent`); got != "" {
			t.Errorf("and that it is so for %q", got)
		}
		if got := tab.Text(`[data-station=S-1] [data-value=status]`); got != "Idle" {
			t.Errorf("a station that is counted by hand is %q", got)
		}
		tab.Shot(fmt.Sprint("floor-outside-", view.Width))
		tab.Visit("/floor/station/S-2")
		tab.Until(`document.querySelector(".station-now .muted")?.textContent.includes("No device has sent anything")`)
		tab.Shot(fmt.Sprint("station-silent-", view.Width))
		tab.Visit("/floor/station/S-0")
		tab.Until(`[...document.querySelectorAll(".station-tiles dt")].some((dt) => dt.textContent === "Good, made without a schedule" && dt.nextElementSibling.textContent.includes("900"))`)
		tab.Shot(fmt.Sprint("station-outside-", view.Width))
		tab.Visit("/floor/station/S-1")
		tab.Until(`document.querySelector(".station-tiles .main")`)
		tab.Shot(fmt.Sprint("station-by-hand-", view.Width))
		tab.Visit("/floor/analysis?stations=S-0")
		tab.Until(`document.querySelector("[data-figure=unscheduledGoodCount]")?.textContent.includes("900")`)
		tab.Shot(fmt.Sprint("analysis-outside-", view.Width))
		tab.Visit("/floor/wall")
		tab.Until(`document.querySelector("[data-station=S-2] [data-value=status]")?.textContent === "No signal yet"`)
		tab.Shot(fmt.Sprint("wall-", view.Width))
		tab.Clean()
	}
}
