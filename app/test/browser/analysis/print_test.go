//go:build rig

package analysis_test

import (
	"bytes"
	"strings"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"opsmon/app/test/browser/webtest"
)

// paper lays the tab out for printing, with the width of A4 without margins.
func (p *plant) paper(width int64) {
	p.t.Helper()
	p.Do(chromedp.EmulateViewport(width, 1000))
	if _, err := chromedp.Call(p.Context(), emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}); err != nil {
		p.t.Fatal(err)
	}
}

// testPrint: each view fits on paper, in portrait and landscape, and has a description.
func testPrint(p *plant) {
	t := p.t
	p.Before(`{
		const real = fetch; // the table has all of its possible columns
		globalThis.fetch = async (at, how) => {
			const answer = await real(at, how);
			if (!String(at).startsWith("/oee")) return answer;
			const text = await answer.text();
			return new Response(text.replaceAll(/"((?:noData|unscheduled)(?:Good|Bad)Count)":[-\d.e+]+/g, '"$1":1234.5'), { status: answer.status, headers: answer.headers });
		};
	}`)
	for view, title := range map[string]string{"oee": "OEE by station", "losses": "Losses by station", "pareto": "Causes of downtime", "energy": "Energy by station", "cycletimes": "Cycle times by SKU and station"} {
		p.show("&profile=vorne&view=" + view)
		for _, width := range []int64{718, 1047} {
			p.paper(width)
			head := webtest.Eval[string](p.Tab, `document.querySelector(".print-head").innerText`)
			for _, part := range []string{title, "demo · Riverside Works", "(Europe/Lisbon)", "OEE profile: Vorne", "Printed "} {
				if !strings.Contains(head, part) {
					t.Errorf("the head of %s is %q, without %q", view, head, part)
				}
			}
			if over := webtest.Eval[float64](p.Tab, `Math.max(...[...document.querySelectorAll(".analysis, .analysis *")].filter((e) => e.checkVisibility() && !e.closest(".visually-hidden, .visually-hidden *")).map((e) => e.getBoundingClientRect().right)) - innerWidth`); over > 0.5 {
				t.Errorf("%s is %g pixels wider than the paper at %d", view, over, width)
			}
			if seen := webtest.Eval[string](p.Tab, `[".top", ".menu", ".tabs", ".scope", ".button"].filter((s) => document.querySelector(s)?.checkVisibility()).join()`); seen != "" {
				t.Errorf("%s prints %s", view, seen)
			}
			// The legend is printed, without the values under the cursor.
			if lines := webtest.Eval[string](p.Tab, `[...document.querySelectorAll(".plot .u-series")].filter((e) => e.checkVisibility()).map((e) => e.innerText.trim() + getComputedStyle(e.querySelector("th"), "::after").content).filter((text) => text.startsWith("Time") || !text.endsWith("none")).join()`); lines != "" {
				t.Errorf("%s prints the legend %s", view, lines)
			}
		}
		p.Do(chromedp.EmulateViewport(webtest.Laptop.Width, webtest.Laptop.Height))
		if _, err := chromedp.Call(p.Context(), emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{}); err != nil {
			t.Fatal(err)
		}
	}
}

// testPrintDark: a page in dark colours is printed dark on white, including charts.
func testPrintDark(p *plant) {
	t := p.t
	p.Media("prefers-color-scheme", "dark")
	p.show("")
	p.Until(`document.querySelector(".plot canvas")`)
	// drawn returns an expression for whether the chart has points of a colour.
	drawn := func(color string) string {
		return `(() => { const c = document.querySelector(".plot canvas"); if (!c) return false;
			const copy = Object.assign(document.createElement("canvas"), { width: c.width, height: c.height }).getContext("2d", { willReadFrequently: true });
			copy.drawImage(c, 0, 0);
			const { data } = copy.getImageData(0, 0, c.width, c.height), want = [` + color + `];
			for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255 && want.every((v, k) => data[i + k] === v)) return true;
			return false; })()`
	}
	p.Until(drawn("99, 203, 181"))
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}
	if _, err := chromedp.Call(p.Context(), emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print", Features: features}); err != nil {
		t.Fatal(err)
	}
	p.Until(drawn("12, 107, 94"))
	if webtest.Eval[bool](p.Tab, drawn("99, 203, 181")) {
		t.Error("the chart prints in the colours of the dark")
	}
}

// testPages: the OEE of a plant of thirteen stations fits one page.
func testPages(p *plant) {
	p.show("")
	p.Until(`document.querySelector(".plot canvas")`)
	r, err := chromedp.Call(p.Context(), page.PrintToPDF, page.PrintToPDFParams{PaperWidth: 8.27, PaperHeight: 11.69})
	if err != nil {
		p.t.Fatal(err)
	}
	if n := bytes.Count(r.Data, []byte("/Type /Page\n")); n != 1 {
		p.t.Errorf("it is %d pages", n)
	}
}
