//go:build rig

package station_test

import (
	"encoding/json"
	"testing"

	"opsmon/app/demo"
	"opsmon/app/test/browser/webtest"
)

func TestMain(m *testing.M) { webtest.Main(m) }

// alwaysOn returns the demo's plant without shift patterns: it runs at every hour of every day, and its day has the
// same age whenever a test runs.
func alwaysOn(t *testing.T, change ...func(station map[string]any)) []byte {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(demo.Manifest(), &doc); err != nil {
		t.Fatal(err)
	}
	everywhere(doc, change)
	account := doc["account"].(map[string]any)
	account["enableLostProductionCost"], account["enableCycleTimeAnalysis"] = "on", "on"
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// everywhere removes the shift patterns and changes each station.
func everywhere(v any, change []func(station map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "shiftPatternCode")
		if zone, is := v["timezone"].(string); is {
			v["dayStartHour"] = webtest.DayStart(zone)
		}
		stations, _ := v["stations"].([]any)
		for _, station := range stations {
			for _, do := range change {
				do(station.(map[string]any))
			}
		}
		for _, below := range v {
			everywhere(below, change)
		}
	case []any:
		for _, below := range v {
			everywhere(below, change)
		}
	}
}

// floor opens a page of the floor with a simulated plant.
func floor(t *testing.T, role, path, ready string) (*webtest.Service, *webtest.Tab) {
	t.Helper()
	s := webtest.Serve(t, webtest.Options{Manifest: alwaysOn(t), Simulated: true})
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	s.SignIn(tab, role)
	tab.Visit(path)
	tab.Until(ready)
	return s, tab
}

// with returns an expression in which the named modules of assets/shared are m[0], m[1] …; body is its value.
func with(modules, body string) string {
	return `(async () => {
		const shell = document.querySelector("script[type=module]").src;
		const m = await Promise.all(` + modules + `.map((path) => import(shell.replace("floor/main.js", "shared/" + path))));
		` + body + ` })()`
}
