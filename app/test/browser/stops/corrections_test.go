//go:build rig

package stops_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"opsmon/app/test/browser/webtest"
)

type correction struct {
	ID, Note     string
	StationCodes []string
	Changes      json.RawMessage
	UndoneAt     *string
}

// availability returns a station's availability in a range, from GET /oee.
func (p *plant) availability(code string, from, to time.Duration) float64 {
	p.t.Helper()
	var list []struct{ Availability struct{ Value float64 } }
	p.Call("GET", "/oee?stationcodes="+code+"&from="+p.ago(from)+"&to="+p.ago(to), nil, &list)
	return list[0].Availability.Value
}

// TestCorrections: a past threshold is corrected after a preview that stores nothing; the figures follow it and its
// undoing.
func TestCorrections(t *testing.T) {
	p := open(t)
	p.runs("PRESS-1", [2]time.Duration{180 * min, 170 * min}, [2]time.Duration{120 * min, 117 * min})
	query := url.Values{"new": {"1"}, "stations": {"PRESS-1"}, "from": {p.ago(4 * time.Hour)}, "to": {p.ago(time.Hour)}}
	tab := p.page("admin", "/floor/corrections?"+query.Encode(), `document.querySelector(".maker")`)
	list := func() (all []correction) { p.Call("GET", "/correction", nil, &all); return all }
	before := p.availability("PRESS-1", 4*time.Hour, time.Hour)
	button(tab, ".maker", "+ Station setting")
	choose(tab, "#f-field-0", "Shortest stop that is downtime")
	tab.Until(`document.querySelector(".change")?.textContent.includes("Now: 1 min")`)
	tab.Type("#f-value-0", "5 min")
	p.signInAgain(tab, "admin") // the entered values remain
	tab.Until(`document.querySelector("#f-value-0")?.value === "5 min"`)
	tab.Axe()
	button(tab, ".maker", "Look at the effect")
	tab.Until(`document.querySelector(".effects tbody tr")`)
	if _, err := chromedp.Call(tab.Context(), emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}); err != nil {
		t.Fatal(err)
	}
	if got := webtest.Eval[string](tab, `getComputedStyle(document.querySelector(".effects")).maxHeight`); got != "none" {
		t.Errorf("of the figures before and after paper has %s", got)
	}
	if _, err := chromedp.Call(tab.Context(), emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{}); err != nil {
		t.Fatal(err)
	}
	if got := tab.Text(".effects tbody"); !strings.Contains(got, "Пресс 1") || !strings.Contains(got, "−3 min") {
		t.Errorf("the effect is %q", got)
	}
	tab.Axe()
	tab.Shot("correction")
	if len(list()) != 0 {
		t.Error("a look has made a correction")
	}
	set(tab, "#f-value-0", "20 min") // the preview is outdated
	tab.Until(`!document.querySelector(".effects") && ![...document.querySelectorAll(".maker button")].some((b) => b.textContent === "Make the correction")`)
	button(tab, ".maker", "Look at the effect")
	tab.Until(`document.querySelector(".effects")?.textContent.includes("−13 min")`)
	set(tab, "#f-correct-note", "the threshold was meant to be longer")
	button(tab, ".maker", "Make the correction")
	tab.Until(`!document.querySelector(".maker") && document.querySelector("tbody")?.textContent.includes("the threshold was meant to be longer")`)
	made := list()
	if len(made) != 1 || string(made[0].Changes) != `{"station":{"utilisationDowntimeThreshold":1200000}}` || made[0].StationCodes[0] != "PRESS-1" {
		t.Fatalf("made is %s", made[0].Changes)
	}
	follows := func(want float64) {
		t.Helper()
		for range 200 {
			if p.availability("PRESS-1", 4*time.Hour, time.Hour) == want {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Errorf("the availability is %v, want %v", p.availability("PRESS-1", 4*time.Hour, time.Hour), want)
	}
	follows(1)
	tab.Axe()

	// Already undone by another user: the error is shown at the question.
	button(tab, "tbody", "Undo")
	tab.Until(`document.querySelector("dialog .effects")?.textContent.includes("+13 min")`)
	tab.Shot("undo")
	p.Call("POST", "/correction/"+made[0].ID+"/undo", nil, nil)
	button(tab, "dialog footer", "Undo it")
	tab.Until(`document.querySelector("dialog .notice.bad")?.textContent.length > 20`)
	button(tab, "dialog footer", "Leave it")
	gone(tab)
	follows(before)
	tab.Visit("/floor/corrections")
	tab.Until(`document.querySelector("tr.undone")?.textContent.includes("Undone")`)

	// A missing shift pattern, a SKU's rate, and an error of the service.
	tab.Visit("/floor/corrections?" + query.Encode())
	button(tab, ".maker", "+ Shift pattern")
	choose(tab, "#f-code-0", "One that there is not now")
	set(tab, "#f-new-0", "nights")
	button(tab, ".change", "Another shift")
	set(tab, "#f-shift-0-0-name", "Night")
	button(tab, ".maker", "+ SKU")
	choose(tab, "#f-code-1", "Bowl (BOWL)")
	choose(tab, "#f-field-1", "Units per hour")
	set(tab, "#f-value-1", "1200")
	button(tab, ".maker", "+ Station setting")
	choose(tab, "#f-field-2", "Shift pattern")
	set(tab, "#f-correct-to", "2090-01-01T00:00")
	button(tab, ".maker", "Look at the effect")
	tab.Until(`document.querySelector("#f-correct-to-problem")?.textContent.length > 10`)
	tab.Until(`!document.querySelector(".effects")`)
	tab.Clean()
	if n := len(list()); n != 1 {
		t.Errorf("there are %d corrections", n)
	}
	other := p.page("supervisor", "/floor/corrections", `document.querySelector("main .notice.bad")?.textContent.includes("for the role admin")`, webtest.TabletTall)
	other.Clean()
}
