package stationtest_test

import (
	"testing"

	"opsmon/app/web/webtest"
)

// isDrawn is true when the ribbon shows the time of the address and the figures stand below it.
const isDrawn = `document.querySelector(".ribbon")?.dataset.drawn && document.querySelectorAll(".station-tiles .figure").length > 6 && document.querySelector(".u-over")`

func TestAStationsPage(t *testing.T) {
	_, tab := floor(t, "supervisor", "/floor/station/CAST-1", isDrawn)
	for _, view := range []string{"station"} {
		tab.Shot(view)
	}
	tab.Axe()
	tab.Media("prefers-color-scheme", "dark")
	tab.Shot("station-dark")
	tab.Axe()
	tab.Clean()
	_ = webtest.Laptop
}
