//go:build rig

package stops_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"opsmon/app/test/browser/webtest"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// tuned returns a figure of the page: now, then.
func tuned(tab *webtest.Tab, figure string) string {
	return webtest.Eval[string](tab, fmt.Sprintf(`((row) => [...row.querySelectorAll("td")].slice(0, 2).map((c) => c.textContent.trim()).join(" "))([...document.querySelectorAll(".tuned tbody tr")].find((r) => r.textContent.includes(%q)))`, figure))
}

const settled = `document.querySelector(".tuned") && document.querySelector("[aria-busy=false]")`

// TestTuner: the effect of a threshold equals the API's calculation, outdated requests are cancelled, and the chosen
// value becomes part of the console's draft.
func TestTuner(t *testing.T) {
	p := open(t)
	p.runs("PRESS-1", [2]time.Duration{180 * min, 170 * min}, [2]time.Duration{120 * min, 117 * min}, [2]time.Duration{90 * min, 89*min + 30*time.Second})
	address := "/floor/tuner?" + url.Values{"station": {"PRESS-1"}, "range": {p.ago(4*time.Hour) + "/" + p.ago(time.Hour)}}.Encode()
	tab := p.page("admin", address, settled)
	if got := tuned(tab, "Stops") + ", " + tuned(tab, "Stopped"); got != "2 2, 13 min 13 min" {
		t.Errorf("now and then are %s", got)
	}
	if got := tab.Text("#main"); !strings.Contains(got, "3 stretches without production, 13 min 30 s in all") {
		t.Errorf("the page says %q", got)
	}
	tab.Axe()
	// Many movements of a slider, of which the last one counts.
	tab.Eval(`((r) => { for (const at of [900, 700, 500, 300, 420]) { r.value = at; r.dispatchEvent(new Event("input", { bubbles: true })); } })(document.querySelector("[data-knob=threshold] input[type=range]"))`)
	set(tab, "#f-knob-threshold", "5 min")
	tab.Until(settled + ` && document.querySelector(".mark-line.new text")?.textContent === "new 5 min"`)
	if got := tuned(tab, "Stops") + ", " + tuned(tab, "Stopped"); got != "2 1, 13 min 10 min" {
		t.Errorf("with five minutes: %s", got)
	}
	var want struct {
		Before, After struct {
			Figures struct{ Availability float64 }
		}
	}
	p.Call("POST", "/analysis/tuning", map[string]any{"stationCodes": []string{"PRESS-1"}, "from": p.ago(4 * time.Hour), "to": p.ago(time.Hour), "changes": map[string]any{"station": map[string]int{"utilisationDowntimeThreshold": 300_000}}}, &want)
	if got, say := tuned(tab, "Availability"), fmt.Sprintf("%.1f %% %.1f %%", 100*want.Before.Figures.Availability, 100*want.After.Figures.Availability); got != say {
		t.Errorf("the availability is %s, want %s", got, say)
	}
	if n := strings.Count(strings.Join(tab.Requests(), "\n"), "/analysis/tuning"); n > 3 {
		t.Errorf("it was computed %d times", n)
	}
	tab.Until(`location.search.includes("threshold=5min")`)
	tab.Axe()
	tab.Shot("tuner")
	tab.Do(chromedp.EmulateViewport(718, 1000)) // A4 without margins
	if _, err := chromedp.Call(tab.Context(), emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}); err != nil {
		t.Fatal(err)
	}
	if got := webtest.Eval[string](tab, `((name, main, table) => (main.includes(name) ? "" : main + " without " + name) + (table.getBoundingClientRect().right > table.closest(".card").getBoundingClientRect().right ? " and the table is cut" : ""))(document.querySelector(".tuner-station").selectedOptions[0].text, document.querySelector(".figure-card").innerText, document.querySelector(".tuned"))`); got != "" {
		t.Errorf("it prints %s", got)
	}
	tab.Do(chromedp.EmulateViewport(webtest.Laptop.Width, webtest.Laptop.Height))
	if _, err := chromedp.Call(tab.Context(), emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{}); err != nil {
		t.Fatal(err)
	}
	tab.Click("[data-figure=availability] button.figure") // explains the present one
	tab.Until(fmt.Sprintf(`document.querySelector("dialog[open] h2")?.textContent.includes("Availability") && document.querySelector("dialog[open]").textContent.includes("%.2f")`, 100*want.Before.Figures.Availability))
	tab.Press(kb.Escape)
	gone(tab)
	set(tab, "#f-knob-hold", "20 min")
	tab.Until(settled + ` && location.search.includes("hold=20min")`)
	if got := tuned(tab, "Stops"); got != "2 0" {
		t.Errorf("with a hold-on time of twenty minutes: %s", got)
	}
	tab.Visit(address + "&threshold=5min")
	tab.Until(settled + ` && document.querySelector(".mark-line.new")`)
	if href := webtest.Eval[string](tab, `new URL(document.querySelector("a[href*='new=1']").href).searchParams.get("station")`); href != `{"utilisationDowntimeThreshold":300000}` {
		t.Errorf("the past is corrected by %s", href)
	}
	button(tab, ".tuner-parts", "Put into the configuration's draft")
	tab.Until(`location.pathname === "/console/plants/mill/line/PRESS-1" && document.querySelector(".changes")?.textContent.includes("not applied")`)
	tab.Until(`[...document.querySelectorAll("#main input")].some((i) => i.value === "5 min")`)
	tab.Clean()

	other := p.page("supervisor", address+"&threshold=2min", settled, webtest.TabletTall)
	other.Media("prefers-color-scheme", "dark")
	button(other, ".tuner-parts", "Values to hand on")
	other.Until(`document.querySelector("dialog .snippet")?.textContent.includes("PRESS-1: Shortest stop that is downtime = 2 min")`)
	other.Axe()
	button(other, "dialog footer", "Close")
	gone(other)
	other.Axe()
	other.Shot("tuner-tablet")
	other.Visit("/floor/tuner?station=NONE")
	other.Until(`document.querySelector("#main .notice.bad")?.textContent.length > 20`)
	other.Clean()
	reader := p.page("operator", "/floor/tuner", `document.querySelector("main .notice.bad")?.textContent.includes("for the role supervisor")`)
	reader.Clean()
}

// TestTheEffectOfOtherSettings: after a failed calculation, the result of other settings is not shown as its effect.
func TestTheEffectOfOtherSettings(t *testing.T) {
	p := open(t)
	p.runs("PRESS-1", [2]time.Duration{180 * min, 170 * min})
	tab := p.page("admin", "/floor/tuner?"+url.Values{"station": {"PRESS-1"}, "range": {p.ago(4*time.Hour) + "/" + p.ago(time.Hour)}}.Encode(), settled)
	tab.Eval(`(() => { const ask = fetch; window.fetch = (path, options) => { if (path !== "/analysis/tuning") return ask(path, options); window.fetch = ask; return Promise.resolve(Response.json({ isSuccess: false, errorCode: "busy", errorMessage: "too much is asked" }, { status: 429, headers: { "X-Time": Date.now() } })); }; })()`)
	set(tab, "#f-knob-threshold", "20 min")
	tab.Until(`document.querySelector("#main .notice.bad")?.textContent.includes("Too much is asked.")`)
	if got := tuned(tab, "Stops"); got != "1 –" || !strings.Contains(tab.Text(".tuner-status"), "is not known") {
		t.Errorf("the effect that is not known is shown as %s", got)
	}
	tab.Axe()
	set(tab, "#f-knob-threshold", "21 min")
	tab.Until(settled + ` && !document.querySelector(".tuner-status").textContent.includes("not known")`)
	if got := tuned(tab, "Stops"); got != "1 0" {
		t.Errorf("the effect is %s", got)
	}
	tab.Clean()
}
