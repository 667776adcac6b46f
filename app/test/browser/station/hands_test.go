//go:build rig

package station_test

import (
	"math"
	"slices"
	"testing"

	"opsmon/app/test/browser/webtest"
)

// aWheelTurns: small wheel movements add up to a zoom, and data is requested when the wheel stops.
func aWheelTurns(t *testing.T, tab *webtest.Tab) {
	t.Helper()
	tab.Visit("/floor/station/CAST-1?range=PT5M/now")
	tab.Until(isDrawn)
	written := webtest.Eval[int](tab, `(async () => {
		let written = 0;
		const write = history.replaceState, ribbon = document.querySelector(".ribbon"), box = ribbon.getBoundingClientRect();
		history.replaceState = (...given) => { written++; write.apply(history, given); };
		for (let i = 0; i < 60; i++) ribbon.dispatchEvent(new WheelEvent("wheel", { deltaY: -4, clientX: box.left + box.width / 2, clientY: box.top + 40, cancelable: true }));
		await new Promise((done) => { setTimeout(done, 500); });
		history.replaceState = write;
		return written;
	})()`)
	tab.Until(`document.querySelector(".ribbon").dataset.drawn.split("/").reduce((a, b) => b - a) <= 3 * 60000`)
	if written > 5 {
		t.Errorf("the address was written %d times in a turn of the wheel", written)
	}
}

// sharesMakeTheWhole: the classes of time add up to the whole, including planned non-production.
func sharesMakeTheWhole(t *testing.T, s *webtest.Service, tab *webtest.Tab) {
	t.Helper()
	var rows []struct {
		StationCode              string
		ScheduledNonProductionMs int
	}
	s.Call("GET", "/oee?by=station&rangecode=last7d", nil, &rows)
	most := rows[0]
	for _, row := range rows {
		if row.ScheduledNonProductionMs > most.ScheduledNonProductionMs {
			most = row
		}
	}
	if most.ScheduledNonProductionMs == 0 {
		t.Fatal("no station had planned non-production")
	}
	tab.Visit("/floor/station/" + most.StationCode + "?range=last7d")
	tab.Until(isDrawn)
	shares := webtest.Eval[[]float64](tab, `[...document.querySelectorAll(".legend li")].map((li) => /([\d.]+) %/.exec(li.textContent)).filter(Boolean).map((found) => Number(found[1]))`)
	sum := 0.0
	for _, share := range shares {
		sum += share
	}
	if len(shares) != 6 || math.Abs(sum-100) > .5 {
		t.Errorf("the shares of the time are %v: %.1f %%", shares, sum)
	}
}

// stationsAreChangedQuickly: the last selected station is shown, whichever answer arrives last.
func stationsAreChangedQuickly(t *testing.T, tab *webtest.Tab) {
	t.Helper()
	tab.Visit("/floor/station/CAST-1")
	tab.Until(isDrawn)
	tab.Eval(`(() => {
		const ask = window.fetch, held = new Promise((done) => { window.release = done; });
		window.fetch = async (path, ...more) => { if (String(path).includes("=KILN-1")) await held; return ask(path, ...more); };
		window.choose = (code) => { const select = document.querySelector(".station-title select"); select.value = code; select.dispatchEvent(new Event("change", { bubbles: true })); };
		choose("KILN-1");
		choose("KILN-3");
	})()`)
	tab.Until(`document.querySelector("[data-station]")?.dataset.station === "KILN-3"`)
	tab.Eval(`(async () => { release(); await new Promise((done) => { setTimeout(done, 500); }); })()`)
	if got := webtest.Eval[string](tab, `document.querySelector("[data-station]").dataset.station + " " + location.pathname`); got != "KILN-3 /floor/station/KILN-3" {
		t.Errorf("it shows %s", got)
	}
	tab.Clean()
}

// aPlotIsGivenOtherWords: the labels of times and values in a chart belong to the shown data.
func aPlotIsGivenOtherWords(t *testing.T, tab *webtest.Tab) {
	t.Helper()
	got := webtest.Eval[[]string](tab, with(`["plot.js", "../vendor/lit-html/lit-html.js"]`, `
		const [{ plot, load }, { html, render }] = m;
		await load();
		const host = document.body.appendChild(document.createElement("div")), drawn = new Set(), write = CanvasRenderingContext2D.prototype.fillText;
		const show = async (data, label) => {
			render(html`+"`<div ${plot({ data, label, series: [{ label: 'A', color: 'ink' }] })}></div>`"+`, host);
			await new Promise((done) => { setTimeout(done, 100); });
		};
		await show([[0, 3600000], [1, 2]], () => "an hour");
		CanvasRenderingContext2D.prototype.fillText = function (text, ...more) { drawn.add(text); return write.call(this, text, ...more); };
		await show([[0, 86400000], [1, 2]], () => "a day");
		CanvasRenderingContext2D.prototype.fillText = write;
		host.remove();
		return [...drawn];`))
	if !slices.Contains(got, "a day") || slices.Contains(got, "an hour") {
		t.Errorf("of days it has drawn %q", got)
	}
}
