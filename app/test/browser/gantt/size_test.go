//go:build rig

package gantt_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"

	"opsmon/app/test/browser/webtest"
)

// frames has the durations of a page's frames, ms.
type frames struct {
	Count                int
	Median, Slowest, P95 float64
	Rows, Bars, Elements int
	Styles               []string
}

// record starts to record frames and changes in the rows, except classes, which show conflicts, and the stations'
// sequence numbers, which change at any time.
const record = `(() => {
	const times = [], wrong = new Set();
	let last = performance.now(), on = true;
	const note = (now) => { times.push(now - last); last = now; if (on) requestAnimationFrame(note); };
	requestAnimationFrame(note);
	const watch = new MutationObserver((list) => { for (const m of list) if (m.attributeName !== "class" && (m.attributeName !== "data-sequence" || m.oldValue === m.target.dataset.sequence)) wrong.add((m.attributeName ?? m.type) + " of " + m.target.className); });
	if (window.watched) watch.observe(document.querySelector(".gantt-rows"), { subtree: true, childList: true, attributes: true, attributeOldValue: true, characterData: true });
	window.recorded = () => {
		on = false;
		watch.disconnect();
		const sorted = times.slice(1).sort((a, b) => a - b), at = (part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
		return { count: sorted.length, median: at(0.5), p95: at(0.95), slowest: sorted.at(-1), rows: document.querySelectorAll(".gantt-row").length, bars: document.querySelectorAll(".slot").length, elements: document.querySelectorAll(".gantt *").length, styles: [...wrong] };
	};
})()`

// TestTwoHundredStationsAndAWeek: only visible bars are in the page, and dragging a bar changes nothing else, although
// the clock ticks continuously in this test. Durations of frames are logged because they depend on the computer.
func TestTwoHundredStationsAndAWeek(t *testing.T) {
	c := &chart{t: t, s: webtest.Serve(t, webtest.Options{Manifest: plant(t, 198)}), begin: time.Now().Truncate(time.Hour).Add(3 * time.Hour)}
	c.fill(198, 14, 4)
	a := c.plan("PACK-1", "BOWL", -90, nil)
	c.open(webtest.Laptop, "supervisor")
	c.tab.SlowCPU(4)
	at := c.begin.Add(-4 * time.Hour)
	began := time.Now()
	c.tab.Visit("/floor/schedules?zoom=week&at=" + at.UTC().Format(time.RFC3339))
	c.tab.Until(bar(a.ID) + ` && document.querySelectorAll(".slot").length > 60 && !/Reading schedules/.test(document.querySelector(".gantt-foot").textContent)`)
	t.Logf("a week of 200 stations is there after %v", time.Since(began).Round(10*time.Millisecond))

	c.tab.Eval(record)
	c.tab.Eval(`new Promise((done) => { let n = 0; const step = () => (++n < 90 ? requestAnimationFrame(step) : done()); step(); })`)
	idle := webtest.Eval[frames](c.tab, `recorded()`)
	t.Logf("doing nothing at 4x: median %.1f ms, p95 %.1f ms, slowest %.1f ms", idle.Median, idle.P95, idle.Slowest)
	c.tab.Eval(record)
	c.tab.Eval(`new Promise((done) => { const box = document.querySelector(".gantt"); let n = 0; const step = () => { box.scrollTop += 60; box.scrollLeft += n % 2 ? 40 : -10; if (++n < 90) requestAnimationFrame(step); else done(); }; step(); })`)
	scroll := webtest.Eval[frames](c.tab, `recorded()`)
	t.Logf("scrolling at 4x: %d frames, median %.1f ms, p95 %.1f ms, slowest %.1f ms; %d rows, %d bars, %d elements", scroll.Count, scroll.Median, scroll.P95, scroll.Slowest, scroll.Rows, scroll.Bars, scroll.Elements)
	if scroll.Rows > 45 || scroll.Elements > 8000 {
		t.Errorf("%d rows and %d elements are in the page", scroll.Rows, scroll.Elements)
	}

	c.tab.Before(`{ const real = setInterval; globalThis.setInterval = (what, ms, ...all) => real(what, ms === 10_000 ? (globalThis.sped = 50) : ms, ...all); }`)
	c.visit(at)
	c.tab.Until(bar(a.ID))
	c.tab.Until(`globalThis.sped`) // otherwise the page draws with another interval than the shortened one
	c.tab.Eval(`window.watched = true`)
	from := c.place("PACK-1", -60)
	c.drag(from, spot{from.X + 30, from.Y})
	c.tab.Until(`!document.querySelector(".ghost").hidden`)
	c.tab.Eval(record)
	for i := range 60 {
		c.mouse(input.DispatchMouseEventTypeMouseMoved, spot{from.X + 30 + float64(3*i), from.Y + float64(2*(i%40))})
	}
	drag := webtest.Eval[frames](c.tab, `recorded()`)
	t.Logf("dragging at 4x: %d frames, median %.1f ms, p95 %.1f ms, slowest %.1f ms", drag.Count, drag.Median, drag.P95, drag.Slowest)
	if len(drag.Styles) > 0 {
		t.Errorf("beside what is carried was changed: %q", drag.Styles)
	}
	c.tab.Clean()
}

// fill plans a week of schedules for each station: many for the first 40, half a day apart, and some for the others.
func (c *chart) fill(stations, many, some int) {
	c.t.Helper()
	var wait sync.WaitGroup
	failed := make(chan string, 8)
	for worker := range 8 {
		wait.Go(func() {
			for i := worker; i < stations; i += 8 {
				each := some
				if i < 40 {
					each = many
				}
				for n := range each {
					body, _ := json.Marshal(object{"stationCode": fmt.Sprintf("PACK-%d", i+1), "skuCode": "BOWL", "plannedQuantity": 1200 + 60*(i%10), "plannedStartAt": c.at(180 + 720*(many-1)/(each-1)*n + 7*(i%30)), "workOrderReference": fmt.Sprintf("WO-%d-%d", i, n)})
					request, _ := http.NewRequest("POST", c.s.Base+"/schedule", bytes.NewReader(body))
					request.Header.Set("X-API-KEY", c.s.Key)
					request.Header.Set("Content-Type", "application/json")
					answer, err := http.DefaultClient.Do(request)
					if err != nil || answer.StatusCode != 200 {
						failed <- fmt.Sprint(err, answer)
						return
					}
					answer.Body.Close()
				}
			}
		})
	}
	wait.Wait()
	select {
	case why := <-failed:
		c.t.Fatal(why)
	default:
	}
}
