//go:build rig

package floor_test

import (
	"testing"
	"time"

	"opsmon/app/test/browser/webtest"
)

const shared = `document.querySelector("script[type=module]").src.replace(/floor\/main\.js$/, "shared/")`

// A page that was left before its module was loaded does not open, and temporary followers of a part of the floor do
// not affect others.
func TestWhoHasLeftTakesNothingAlong(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: plant(4, 2)})
	tab := open(t, s, "/floor", webtest.Laptop)
	tab.Eval(`(() => { window.asked = []; new PerformanceObserver((list) => window.asked.push(...list.getEntries().map((e) => e.name))).observe({ type: "resource", buffered: true }); })()`)
	tab.Eval(`(() => { document.querySelector('[data-station="S-1"] a').click(); history.back(); })()`)
	tab.Until(`location.pathname === "/floor" && document.querySelectorAll(".station").length === 4`)
	tab.Until(`window.asked.some((name) => name.endsWith("/pages/station.js"))`)
	tab.Eval(`import(` + shared + `.replace("shared/", "floor/pages/station.js"))`)
	time.Sleep(500 * time.Millisecond) // checks that nothing happens
	if got := webtest.Eval[string](tab, `window.asked.filter((name) => name.includes("stationcodes")).join()`); got != "" {
		t.Errorf("the page that was left asked for %s", got)
	}
	if got := webtest.Eval[int](tab, `(async () => { const live = await `+live+`, end = await live.follow({ stationcodes: "S-1" }), n = live.stations.size; end(); return n; })()`); got != 1 {
		t.Errorf("%d stations are followed instead of one", got)
	}
	tab.Until(`(async () => (await ` + live + `).stations.size === 4)()`)
	signals(s, time.Now(), produces(1), 3)
	tab.Until(card(3, "[data-value=status]") + ` === "Producing"`)
	tab.Clean()
}

// A reset is reported after all data was read again, even if the first attempt fails; new followers wait for that.
func TestAResetIsToldAfterAFailure(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: plant(2, 2)})
	tab := open(t, s, "/floor", webtest.Laptop)
	tab.Eval(`(async () => {
		const live = await ` + live + `, real = fetch;
		window.resets = 0;
		live.addEventListener("reset", () => { window.resets++; });
		window.fetch = (path, how) => (path.startsWith("/station?") ? Promise.resolve(Response.json({ errorMessage: "too many" }, { status: 429, headers: { "X-Time": Date.now() } })) : real(path, how));
		// it ends with that error, and the others' stream is opened again
		const told = await live.follow({ stationcodes: "S-1" }).then(() => "nothing", (error) => error.message);
		window.fetch = real;
		window.told = told;
		await Promise.all([live.follow(), live.follow()]);
		window.size = live.stations.size;
	})()`)
	tab.Until(`window.told === "too many" && window.size === 2 && window.resets === 1`)
	tab.Clean()
}

// Names changed while the page was not listening are updated; stations of an unknown group are shown under its code.
func TestNamesAreTakenAnew(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: plant(4, 2)})
	tabs := []*webtest.Tab{open(t, s, "/floor", webtest.Laptop), open(t, s, "/floor/wall?together=true", webtest.Laptop)}
	for _, tab := range tabs {
		tab.Eval(`(async () => {
			const live = await ` + live + `, { result } = await (await fetch("/directory")).json(), real = fetch;
			const [plant] = result.plants;
			plant.groups = plant.groups.slice(0, 1);
			plant.groups[0].name = plant.groups[0].stations[0].name = "Renamed";
			window.fetch = (path, how) => (path === "/directory" ? Promise.resolve(Response.json({ isSuccess: true, result })) : real(path, how));
			live.dispatchEvent(new Event("reset"));
		})()`)
		tab.Until(`[...document.querySelectorAll(".station-name, .cell [data-value=name]")].some((e) => e.textContent === "Renamed") && document.querySelectorAll("[data-station]").length === 4`)
		tab.Clean()
	}
	tabs[0].Until(`[...document.querySelectorAll(".group h2")].map((e) => e.textContent).join() === "Renamed,g1"`)
}
