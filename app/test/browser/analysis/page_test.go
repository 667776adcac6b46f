//go:build rig

package analysis_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"opsmon/app/demo"
	"opsmon/app/test/browser/webtest"
)

func TestMain(m *testing.M) { webtest.Main(m) }

// always returns the demo's manifest without shift patterns: its plant produces at every hour of every day.
func always(t *testing.T) []byte {
	t.Helper()
	var doc any
	if err := json.Unmarshal(demo.Manifest(), &doc); err != nil {
		t.Fatal(err)
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			delete(v, "shiftPatternCode")
			for _, below := range v {
				walk(below)
			}
		case []any:
			for _, below := range v {
				walk(below)
			}
		}
	}
	walk(doc)
	out, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// plant is a simulated plant, a tab with a signed-in user, and a past range.
type plant struct {
	*webtest.Service
	*webtest.Tab
	t     *testing.T
	span  string // in the format of the page's address
	where string // in the format of the API
}

// TestSimulated compares the page with the API's answers. One simulated plant is used for all parts.
func TestSimulated(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: always(t), Simulated: true})
	to := time.Now().UTC().Truncate(time.Hour).Add(-2 * time.Hour)
	span := url.QueryEscape(to.Add(-20*time.Hour).Format(time.RFC3339) + "/" + to.Format(time.RFC3339))
	for _, c := range []struct {
		name string
		test func(*plant)
	}{
		{"OEE", testOEE}, {"OEE in a file", testOEEFile}, {"OEE over time", testOEEOverTime},
		{"losses", testLosses}, {"causes", testPareto}, {"energy", testEnergy}, {"cycle times", testCycleTimes}, {"explained", testExplained},
		{"address", testAddress}, {"link", testLink}, {"time before", testBefore}, {"keyboard", testKeyboard}, {"barriers", testBarriers}, {"print", testPrint}, {"print from the dark", testPrintDark}, {"pages", testPages},
	} {
		t.Run(c.name, func(t *testing.T) {
			tab := webtest.Open(t, s.Base, webtest.Laptop)
			s.SignIn(tab, "supervisor")
			c.test(&plant{s, tab, t, span, "rangecode=" + span})
			tab.Clean()
		})
	}
}

// show opens the page with a query and waits for its result.
func (p *plant) show(query string) {
	p.t.Helper()
	p.Visit("/floor/analysis?range=" + p.span + query)
	p.shown()
}

func (p *plant) shown() {
	p.t.Helper()
	p.Until(`document.querySelector(".results[aria-busy=false] :is(table, .empty, .notice, .waterfall, .pareto)")`)
}

// same repeats something until the API's answers before and after it are equal, because late signals change figures.
func (p *plant) same(path string, into any, do func()) {
	p.t.Helper()
	for range 5 {
		var before, after json.RawMessage
		p.Call("GET", path, nil, &before)
		do()
		p.Call("GET", path, nil, &after)
		if string(before) == string(after) {
			if err := json.Unmarshal(before, into); err != nil {
				p.t.Fatal(err)
			}
			return
		}
	}
	p.t.Fatalf("%s answers anew each time", path)
}

// rows returns the cells of a table in the page by row, without the text for screen readers.
func (p *plant) rows(css string) [][]string {
	p.t.Helper()
	text := webtest.Eval[string](p.Tab, `JSON.stringify([...document.querySelectorAll("`+css+` tbody tr")].map((tr) => [...tr.cells].map((td) => td.innerText.trim())))`)
	var rows [][]string
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		p.t.Fatal(err)
	}
	return rows
}

// file returns the name and the rows of the file saved by a CSV button.
func (p *plant) file(button string) (name string, rows [][]string) {
	p.t.Helper()
	p.Until(`document.querySelector("` + button + `")`)
	text := webtest.Eval[string](p.Tab, `(async () => {
		const click = HTMLAnchorElement.prototype.click, make = URL.createObjectURL;
		let name, file;
		URL.createObjectURL = (blob) => { file = blob; return make.call(URL, blob); };
		HTMLAnchorElement.prototype.click = function () { name = this.download; };
		document.querySelector("`+button+`").click();
		HTMLAnchorElement.prototype.click = click;
		URL.createObjectURL = make;
		const { readTable } = await import(document.querySelector("script[type=module]").src.replace("floor/main.js", "shared/csv.js"));
		return JSON.stringify({ name, rows: readTable(await file.text(), ",") });
	})()`)
	var got struct {
		Name string
		Rows [][]string
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		p.t.Fatal(err)
	}
	return got.Name, got.Rows
}

// figure is a figure of GET /oee.
type figure struct {
	Value                  *float64
	Numerator, Denominator float64
}

func (f figure) percent() string {
	if f.Value == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", *f.Value*100)
}

type loss struct {
	Ms, Units, Money *float64
	MoneyPartial     bool
}

// result is a result of GET /oee.
type result struct {
	StationCode, SKUCode                        *string
	StartAt                                     time.Time
	Availability, Performance, Quality, OEE     figure
	Coverage                                    figure
	TotalMs, OutOfShiftMs, NoDataMs, ExcludedMs float64
	ProductionGoodCount, ProductionBadCount     float64
	UnscheduledGoodCount, UnscheduledBadCount   float64
	NoDataGoodCount, NoDataBadCount             float64
	ProductionIdealCount                        *float64
	Losses                                      struct{ Schedule, PlannedNonProduction, Downtime, Speed, Quality loss }
}

// number parses a number as formatted by the pages: "12,345".
func number(t *testing.T, text string) (n float64) {
	t.Helper()
	if _, err := fmt.Sscanf(strings.ReplaceAll(text, ",", ""), "%g", &n); err != nil {
		t.Fatalf("%q is no number", text)
	}
	return n
}
