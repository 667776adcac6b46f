package floortest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"opsmon/app/web/webtest"
)

// metrics gives what the browser counts of a tab, by name; what is garbage is collected first.
func metrics(t *testing.T, tab *webtest.Tab) map[string]float64 {
	t.Helper()
	if _, err := chromedp.Call(tab.Context(), heapprofiler.CollectGarbage, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(tab.Context(), performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks}); err != nil {
		t.Fatal(err)
	}
	got, err := chromedp.Call(tab.Context(), performance.GetMetrics, cdp.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, m := range got.Metrics {
		all[m.Name] = m.Value
	}
	return all
}

// live is the page's own module of what stations do.
const live = `(import(document.querySelector("script[type=module]").src.replace(/floor\/main\.js$/, "shared/live.js")).then((m) => m.live))`

// Two hundred stations that each tell something every second, on a computer four times slower: what following them costs.
func TestTwoHundredStationsAreFollowed(t *testing.T) {
	for _, of := range []struct {
		path string
		view webtest.Viewport
	}{{"/floor", webtest.Laptop}, {"/floor?view=large", webtest.Laptop}, {"/floor", webtest.Viewport{Width: 1920, Height: 1080}}, {"/floor/wall", webtest.Viewport{Width: 1920, Height: 1080}}} {
		t.Run(fmt.Sprint(of.path, of.view.Width), func(t *testing.T) { follow(t, of.path, of.view) })
	}
}

func follow(t *testing.T, path string, view webtest.Viewport) {
	const stations, seconds = 200, 8
	s := webtest.Serve(t, webtest.Options{Manifest: plant(stations, 20)})
	all := make([]int, stations)
	for i := range all {
		all[i] = i
	}
	began := time.Now()
	signals(s, began.Add(-time.Minute), produces(1), all...)
	for i := range stations {
		start(s, i, began.Add(-time.Minute), 1000)
	}
	tab := open(t, s, path, view)
	tab.SlowCPU(4)
	tab.Eval(`(async () => { const live = await ` + live + `; window.changed = 0; live.addEventListener("stations", (e) => { window.changed += e.detail.size; }); })()`)
	tell := func(seconds int) {
		for second := range seconds {
			for part := range 4 { // not all in the same moment
				next := time.Now().Add(250 * time.Millisecond)
				signals(s, time.Now(), func(i int) object {
					return object{"productive": true, "productionCompleteGood": 1, "lineSpeed": 50 + float64((i+second)%10)}
				}, all[part*stations/4:(part+1)*stations/4]...)
				time.Sleep(time.Until(next))
			}
		}
	}
	tell(2)
	tab.Eval(`window.changed = 0`)
	before, from := metrics(t, tab), time.Now()
	tell(seconds)
	after, took := metrics(t, tab), time.Since(from).Seconds()
	changed := webtest.Eval[float64](tab, "window.changed")
	share := func(name string) float64 { return 100 * (after[name] - before[name]) / took }
	t.Logf("%.0f changes in %.1f s at a CPU 4 times slower: %.1f %% of a core (script %.1f, style %.1f, layout %.1f), %.0f layouts, %.0f styles a second",
		changed, took, share("TaskDuration"), share("ScriptDuration"), share("RecalcStyleDuration"), share("LayoutDuration"), (after["LayoutCount"]-before["LayoutCount"])/took, (after["RecalcStyleCount"]-before["RecalcStyleCount"])/took)
	if after["Nodes"] > 1.1*before["Nodes"]+100 || after["JSEventListeners"] > before["JSEventListeners"]+10 || after["JSHeapUsedSize"] > before["JSHeapUsedSize"]+3<<20 {
		t.Errorf("following leaves something behind: %.0f to %.0f nodes, %.0f to %.0f listeners, heap %.0f to %.0f bytes", before["Nodes"], after["Nodes"], before["JSEventListeners"], after["JSEventListeners"], before["JSHeapUsedSize"], after["JSHeapUsedSize"])
	}
	if changed < stations*2 {
		t.Errorf("the page saw %.0f changes", changed)
	}
	if each := (after["TaskDuration"] - before["TaskDuration"]) / changed; each > 0.01 { // 1 ms is the goal, which other work on the computer multiplies: 200 of them a second are 20 % of a core
		t.Errorf("a change of a station takes %.2f ms", 1000*each)
	}
	if path != "/floor/wall" { // what was out of view is there when it comes into view
		signals(s, time.Now(), produces(1234), stations-1)
		tab.Until(live + `.then((l) => l.stations.get("S-199").schedule.goodCount > 1234)`)
		tab.Eval(`document.querySelector('[data-station="S-199"]').scrollIntoView()`)
		tab.Until(card(stations-1, "[data-value=good]") + `.startsWith("1,2")`)
	}
	tab.Clean()
}

// A day of a plant, played while the floor and the wall are open: they hold no more than before.
func TestADayLeavesNothingBehind(t *testing.T) {
	var floor, wall *webtest.Tab
	var before [2]map[string]float64
	webtest.Serve(t, webtest.Options{Simulated: true, Before: func(s *webtest.Service) {
		floor, wall = open(t, s, "/floor", webtest.Laptop), open(t, s, "/floor/wall?every=3", webtest.Laptop)
		for i, tab := range []*webtest.Tab{floor, wall} {
			tab.Eval(`(async () => { const live = await ` + live + `; window.changed = 0; live.addEventListener("stations", (e) => { window.changed += e.detail.size; }); })()`)
			before[i] = metrics(t, tab)
		}
	}})
	for i, tab := range []*webtest.Tab{floor, wall} {
		after, changed := metrics(t, tab), webtest.Eval[float64](tab, "window.changed")
		t.Logf("%.0f changes: heap %.2f to %.2f MiB, %.0f to %.0f nodes, %.0f to %.0f listeners", changed, before[i]["JSHeapUsedSize"]/(1<<20), after["JSHeapUsedSize"]/(1<<20),
			before[i]["Nodes"], after["Nodes"], before[i]["JSEventListeners"], after["JSEventListeners"])
		if changed < 200 {
			t.Errorf("only %.0f changes were seen of the day", changed)
		}
		if after["JSHeapUsedSize"] > before[i]["JSHeapUsedSize"]+3<<20 || after["Nodes"] > 1.5*before[i]["Nodes"]+300 || after["JSEventListeners"] > before[i]["JSEventListeners"]+10 {
			t.Error("the page holds more after the day than before")
		}
		tab.Clean()
	}
}

// The first view of 200 stations: what it takes over the wire. How long it takes on a slow computer is told and not tested: it
// depends on what else the computer does. The goal is a second.
func TestTheFirstViewIsLight(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: plant(200, 20)})
	all := make([]int, 200)
	for i := range all {
		all[i] = i
	}
	signals(s, time.Now(), produces(1), all...)
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	s.SignIn(tab, "readonly")
	tab.SlowCPU(4)
	tab.Visit("/floor")
	took := webtest.Eval[float64](tab, `new Promise((done) => { const look = (at) => (document.querySelectorAll(".station").length === 200 ? setTimeout(() => done(performance.now())) : requestAnimationFrame(look)); look(); })`)
	size := tab.BytesOverWire()
	t.Logf("%.1f KiB over the wire in %d requests; all stations were there after %.0f ms with a CPU 4 times slower", float64(size)/1024, len(tab.Requests()), took)
	if size > 250<<10 {
		t.Errorf("the first view takes %d bytes over the wire; 250 KiB are too many", size)
	}
	tab.Clean()
}
