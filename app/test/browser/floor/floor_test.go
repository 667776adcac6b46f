//go:build rig

package floor_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"opsmon/app/test/browser/webtest"
)

func TestMain(m *testing.M) { webtest.Main(m) }

type object = map[string]any

// plant returns a manifest of stations in groups of a size, always in shift; S-0 is the first station. Cycles sent by
// machines count, and 50 s without one are a stop.
func plant(stations, size int) []byte {
	var groups []object
	for n := 0; n < stations; n += size {
		var list []object
		for i := n; i < min(n+size, stations); i++ {
			list = append(list, object{"code": fmt.Sprintf("S-%d", i), "name": fmt.Sprintf("Machine %d", i), "utilisationDowntimeThreshold": 50_000})
		}
		groups = append(groups, object{"code": fmt.Sprintf("g%d", n/size), "name": fmt.Sprintf("Hall %d", n/size), "stations": list})
	}
	b, err := json.Marshal(object{"version": "v1", "account": object{"id": "demo", "domain": "demo.example", "enableQuickScheduleStart": "on",
		"skus":    []object{{"code": "A", "name": "Apple crate", "unitsPerMinute": 60, "allowUseInQuickSchedule": true}},
		"reasons": []object{{"code": "JAM", "name": "Jam at the infeed"}},
		"plants":  []object{{"code": "big", "name": "Big works", "timezone": "Europe/Berlin", "dayStartHour": webtest.DayStart("Europe/Berlin"), "weekStartDay": 0, "stationGroups": groups}}}})
	if err != nil {
		panic(err)
	}
	return b
}

// signals sends one signal of each of some stations.
func signals(s *webtest.Service, at time.Time, of func(i int) object, stations ...int) {
	list := make([]object, len(stations))
	for n, i := range stations {
		list[n] = of(i)
		list[n]["stationCode"], list[n]["at"] = fmt.Sprintf("S-%d", i), at.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	s.Call("POST", "/signal", object{"signals": list}, nil)
}

func produces(units float64) func(int) object {
	return func(int) object {
		return object{"productive": true, "productionCompleteGood": units, "lineSpeed": 55.25}
	}
}

func stands(int) object { return object{"productive": false} }

// start starts a schedule at a station.
func start(s *webtest.Service, i int, at time.Time, planned float64) {
	s.Call("POST", "/quick-schedule", object{"stationCode": fmt.Sprintf("S-%d", i), "skuCode": "A", "workOrderReference": fmt.Sprintf("WO-%d", i), "plannedQuantity": planned, "initials": "KLM", "at": at.UTC().Format("2006-01-02T15:04:05.000Z")}, nil)
}

func open(t *testing.T, s *webtest.Service, path string, view webtest.Viewport) *webtest.Tab {
	t.Helper()
	tab := webtest.Open(t, s.Base, view)
	s.SignIn(tab, "readonly")
	tab.Visit(path)
	tab.Until(`document.querySelector(".station, .cell, .empty, .wall-empty")`)
	return tab
}

// card returns an expression for the text of a part of a station's card.
func card(station int, part string) string {
	return fmt.Sprintf(`document.querySelector('[data-station="S-%d"] %s')?.textContent`, station, part)
}

// The floor shows the state of every station, and updates automatically: status, counts, cause, operator, alert,
// configuration.
func TestTheFloorShowsWhatStationsDo(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: plant(6, 3)})
	now := time.Now()
	for i := range 3 {
		start(s, i, now.Add(-10*time.Minute), 1000)
	}
	for minute := 10; minute >= 0; minute -= 2 {
		signals(s, now.Add(-time.Duration(minute)*time.Minute), produces(25.5), 0, 1)
		signals(s, now.Add(-time.Duration(minute)*time.Minute), stands, 2)
	}
	tab := open(t, s, "/floor", webtest.Laptop)
	tab.Until(card(0, `[data-value=status]`) + ` === "Producing"`)
	tab.Until(card(2, `[data-value=status]`) + ` === "Stopped" && ` + card(2, `.cause`) + ` === "No cause yet"`)
	for part, want := range map[string]string{".station-name": "Machine 0", "[data-value=product]": "Apple crate", "[data-value=order]": "WO-0", "[data-value=good]": "153", "[data-value=planned]": "1,000", "[data-value=speed]": "55.3"} {
		tab.Until(card(0, part) + ` === "` + want + `"`)
	}
	// ten minutes at 60 a minute, of which 153 were made
	tab.Until(card(0, "[data-value=apart]") + `?.endsWith(" behind")`)
	if got := webtest.Eval[string](tab, card(4, "[data-value=status]")); got != "No signal yet" {
		t.Errorf("a machine that never told anything: %q", got)
	}
	if got := tab.Text("#tally"); got != "2 of 6 producing · 1 stopped · 3 without data" {
		t.Errorf("the tally: %q", got)
	}
	tab.Axe()
	tab.Shot("floor")

	// Events are shown.
	var issues []struct{ ID string }
	s.Call("GET", "/issue?stationcodes=S-2", nil, &issues)
	s.Call("POST", "/issue/"+issues[0].ID+"/cause", object{"causeCode": "JAM"}, nil)
	tab.Until(card(2, `.cause`) + ` === "Jam at the infeed"`)
	s.Call("POST", "/station/S-0/operator", object{"initials": "KLM"}, nil)
	s.Call("POST", "/station/S-0/alert", object{"message": "<b>Guard is open</b>"}, nil)
	tab.Until(card(0, `.operator`) + ` === "KLM" && ` + card(0, `[data-value=alert]`) + ` === "<b>Guard is open</b>"`)
	signals(s, time.Now(), produces(1), 2)
	tab.Until(card(2, `[data-value=status]`) + ` === "Producing"`)
	tab.Until(`document.querySelector("#tally").textContent === "3 of 6 producing · 3 without data"`)
	seconds := webtest.Eval[string](tab, card(2, "time"))
	tab.Until(card(2, "time") + ` !== "` + seconds + `"`) // the time advances automatically
	tab.Axe()
	tab.Shot("floor-alert")

	var message struct{ ID string }
	s.Call("POST", "/message", object{"stationCode": "S-1", "text": "Watch the <i>feeder</i>", "initials": "KLM"}, &message)
	tab.Until(`document.querySelector(".messages")?.textContent.includes("Watch the <i>feeder</i>")`)
	tab.Axe()
	tab.Shot("floor-message")
	s.Call("POST", "/message/"+message.ID+"/done", object{"initials": "ABC"}, nil)
	tab.Until(`!document.querySelector(".messages")`)

	// A new configuration is shown automatically: a changed name, an added and a removed station.
	changed := strings.NewReplacer(`"Machine 0"`, `"Press"`, `"S-5"`, `"S-99"`).Replace(string(plant(6, 3)))
	s.Call("PUT", "/account/manifest", json.RawMessage(changed), nil)
	tab.Until(card(0, ".station-name") + ` === "Press" && ` + card(99, ".station-name") + ` && !document.querySelector('[data-station="S-5"]')`)
	tab.Clean()
}

// The filter is in the address, can be set by keyboard, and a link shows the same.
func TestTheFloorIsFiltered(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: plant(9, 3)})
	now := time.Now()
	start(s, 1, now.Add(-10*time.Minute), 1000)
	for minute := 10; minute >= 0; minute -= 2 {
		signals(s, now.Add(-time.Duration(minute)*time.Minute), stands, 1)
	}
	signals(s, now, produces(1), 4, 7)
	tab := open(t, s, "/floor", webtest.Laptop)
	shown := func(want string) {
		t.Helper()
		tab.Until(`[...document.querySelectorAll(".station")].map((e) => e.dataset.station).join() === "` + want + `"`)
	}
	shown("S-0,S-1,S-2,S-3,S-4,S-5,S-6,S-7,S-8")
	tab.Until(card(1, `[data-value=status]`) + ` === "Stopped"`)
	tab.Eval(`document.querySelector(".status-chip.stop").focus()`)
	tab.Press(kb.Enter)
	shown("S-1")
	tab.Eval(`document.querySelector(".status-chip.idle, .status-chip.productive").focus()`)
	tab.Until(`location.search === "?status=downtime"`)

	// A card that reappears shows the current state immediately.
	signals(s, time.Now(), stands, 7)
	signals(s, time.Now().Add(time.Second/10), produces(1), 7)
	start(s, 7, time.Now(), 1000)
	tab.Until(live + `.then((l) => l.stations.get("S-7").schedule)`)
	tab.Eval(`document.querySelector(".status-chip.stop").click()`)
	if got := webtest.Eval[string](tab, `Promise.resolve().then(() => `+card(7, "[data-value=product]")+`)`); got != "Apple crate" {
		t.Errorf("a card that comes back shows %q", got)
	}
	tab.Visit("/floor?group=g1&search=machine%204")
	shown("S-4")
	tab.Type(`input[type=search]`, "hall nothing")
	tab.Until(`document.querySelector(".board .empty")`)
	tab.Axe()
	tab.Visit("/floor?sort=trouble&view=dense")
	tab.Until(`document.querySelector(".station")?.dataset.station === "S-1" && document.querySelector(".dense.by-trouble")`)
	signals(s, time.Now(), produces(1), 1)
	tab.Until(`document.querySelector(".station")?.dataset.station !== "S-1" && document.querySelector("#tally").textContent.startsWith("3 of 9 producing")`)
	tab.Axe()
	tab.Shot("floor-trouble")
	tab.Media("prefers-color-scheme", "dark")
	tab.Axe()
	tab.Shot("floor-dark")
	if got := webtest.Eval[string](tab, `document.querySelector('[data-station="S-3"] a').getAttribute("href")`); got != "/floor/station/S-3" {
		t.Errorf("a card leads to %s", got)
	}
	tab.Clean()
}

func TestAFloorWithoutStations(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: []byte(`{"version":"v1","account":{"id":"demo","domain":"demo.example","plants":[{"code":"big","name":"Big works","timezone":"UTC","dayStartHour":0,"weekStartDay":0,"stationGroups":[{"code":"g0","name":"Meters","stations":[{"code":"M-0","name":"Main meter","enableMeterOnly":"on"}]}]}]}}`)})
	tab := open(t, s, "/floor", webtest.Laptop)
	tab.Axe()
	tab.Visit("/floor/wall")
	tab.Until(`document.querySelector(".wall-empty")`)
	tab.Axe()
	tab.Clean()
}

// Cards in view are drawn before the page is shown, and the others when the page is idle, but all of them before
// printing.
func TestCardsOutOfViewAreDrawnLate(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: plant(200, 50)})
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	s.SignIn(tab, "readonly")
	tab.Before(`{ const real = setTimeout; window.held = []; globalThis.setTimeout = (what, ms, ...all) => (ms === undefined && held ? (held.push(what), -1) : real(what, ms, ...all)); }`)
	const drawn = `document.querySelectorAll(".station time").length`
	show := func() {
		t.Helper()
		tab.Visit("/floor")
		tab.Until(`document.querySelectorAll(".station").length === 200 && window.held.length > 0`)
		if n := webtest.Eval[int](tab, drawn); n < 40 || n == 200 {
			t.Errorf("%d cards are drawn at first", n)
		}
	}
	show()
	tab.Eval(`(() => { const first = held; held = null; first.forEach((what) => what()); })()`)
	tab.Until(drawn + ` === 200`)
	show()
	tab.Eval(`dispatchEvent(new Event("beforeprint"))`)
	if n := webtest.Eval[int](tab, drawn); n != 200 {
		t.Errorf("%d of 200 cards are printed", n)
	}
	tab.Clean()
}
