//go:build rig

package tablet_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"opsmon/app/test/browser/webtest"
)

func TestMain(m *testing.M) { webtest.Main(m) }

type object = map[string]any

// flags are the flags that allow actions of operators.
var flags = []string{
	"enableManualProduction", "enableRejectProduction", "enableProductionCorrection", "enableQuickScheduleStart", "enableScheduleCutShort",
	"enableScheduleStationFlexibility", "enableManualDowntime",
}

// plant returns a manifest of two stations in one group and one in another, always in shift. change may be nil.
func plant(change func(account, group object)) []byte {
	group := object{"code": "packing", "name": "Packing", "stations": []object{
		{"code": "PACK-1", "name": "Packer 1", "unitsPerMinute": 60, "downtimeDetectionMode": "utilisation", "utilisationDowntimeThreshold": 1000, "productiveStatusMode": "productive_signal"},
		{"code": "PACK-2", "name": "Packer 2", "unitsPerMinute": 60, "utilisationDowntimeThreshold": 3600000}}}
	account := object{
		"id": "demo", "domain": "demo.example", "enableTasks": "on", "includeTaskListCodes": []string{"start", "clean"},
		"reasons": []object{
			{"code": "BRK", "name": "Breakdown", "type": []string{"downtime"}, "reasons": []object{{"code": "BRK-E", "name": "Electrical", "type": []string{"downtime"}}, {"code": "BRK-M", "name": "Mechanical", "type": []string{"downtime"}}}},
			{"code": "FILM", "name": "Out of film", "type": []string{"downtime"}}, {"code": "BREAK", "name": "Break", "type": []string{"non_production"}, "oee": "planned"},
		},
		"taskLists": []object{{"code": "start", "name": "Start-up", "trigger": object{"type": "schedule"}}, {"code": "clean", "name": "Cleaning", "description": "When the belt looks dirty.", "trigger": object{"type": "on_demand"}}},
		"tasks": []object{
			{"code": "guards", "title": "Check the guards", "description": "All four.", "taskListCodes": []object{{"code": "start", "order": 1}}},
			{"code": "weigh", "title": "Weigh three packs", "requireNotes": true, "taskListCodes": []object{{"code": "start", "order": 2}}},
			{"code": "belt", "title": "Wipe the belt", "taskListCodes": []object{{"code": "clean", "order": 1}}},
		},
		"skus": []object{{"code": "BK-1000", "name": "Bread, 1 kg", "unitsPerMinute": 60, "allowUseInQuickSchedule": true}, {"code": "BK-500", "name": "Bread, 500 g", "unitsPerMinute": 60}, {"code": "CAKE", "name": "Cake", "unitsPerMinute": 30, "stationCodes": []string{"PACK-2"}}},
		"plants": []object{{"code": "leeds", "name": "Leeds bakery", "timezone": "Europe/London", "dayStartHour": webtest.DayStart("Europe/London"), "weekStartDay": 0,
			"stationGroups": []object{group, {"code": "mixing", "name": "Mixing", "stations": []object{{"code": "MIX-1", "name": "Mixer 1"}}}}}},
	}
	for _, name := range flags {
		account[name] = "on"
	}
	if change != nil {
		change(account, group)
	}
	b, err := json.Marshal(object{"version": "v1", "account": account})
	if err != nil {
		panic(err)
	}
	return b
}

func serve(t *testing.T, change func(account, group object)) *webtest.Service {
	t.Helper()
	return webtest.Serve(t, webtest.Options{Manifest: plant(change)})
}

// pair creates a tablet with stations and returns the token of its link.
func pair(s *webtest.Service, name string, stations ...string) (token string) {
	var made struct{ Link string }
	s.Call("POST", "/tablet", object{"name": name, "role": "operator", "stationCodes": stations}, &made)
	_, token, _ = strings.Cut(made.Link, "#")
	return token
}

// tablet opens the page as a tablet that was paired by its link, with a known operator.
func tablet(t *testing.T, s *webtest.Service, view webtest.Viewport, name string, stations ...string) hand {
	t.Helper()
	h := hand{webtest.Open(t, s.Base, view)}
	h.Visit("/link#" + pair(s, name, stations...))
	h.Until(`!document.getElementById("here")?.disabled`)
	h.Tab.Tap("#here")
	h.Until(`location.pathname === "/tablet" && document.querySelector(".t-nav")`)
	return h
}

// hand taps controls of a tablet, and waits until a tap has an effect.
type hand struct{ *webtest.Tab }

func (h hand) tap(selector string) {
	for range 5 {
		h.Until(fmt.Sprintf(`(() => {
			const e = document.querySelector(%q), sheet = document.querySelector("dialog");
			if (!e || e.disabled || !e.checkVisibility() || (sheet && !sheet.contains(e)) || document.body.hasAttribute("data-resting")) return false;
			globalThis.tapped = false;
			addEventListener("click", (event) => { globalThis.tapped ||= Boolean(event.target.closest?.(%[1]q)); }, { capture: true, once: true });
			return true;
		})()`, selector))
		h.Tab.Tap(selector)
		if h.tapped() {
			return
		}
	}
}

// tapped reports whether the last tap was recognized. A slow browser mistakes a tap for a long press, which has no
// effect.
func (h hand) tapped() bool {
	is, err := chromedp.Run(h.Context(), chromedp.Evaluate[bool](`new Promise((done) => {
		const began = performance.now(), look = () => (globalThis.tapped !== false || performance.now() - began > 1500 ? done(globalThis.tapped !== false) : setTimeout(look, 10));
		look();
	})`, chromedp.EvalAwaitPromise))
	return is || err != nil // it opened another page
}

// do taps a control by its name.
func (h hand) do(name string) { h.tap(fmt.Sprintf(`[data-do=%q]`, name)) }

// in taps a control of the open sheet.
func (h hand) in(selector string) { h.tap("dialog[open] " + selector) }

func (h hand) page(name string) { h.tap(fmt.Sprintf(`[data-page=%q]`, name)) }

// am enters initials in the sheet that asks for the operator.
func (h hand) am(initials string) {
	h.Until(`document.querySelector("dialog[open] #f-initials")`)
	h.Type("#f-initials", initials)
	h.in("[data-do=done]")
}

// key enters a number on the keypad and confirms it.
func (h hand) key(digits string) {
	h.Until(`document.querySelector("dialog[open] .keypad")`)
	for _, d := range digits {
		h.in(fmt.Sprintf(`[data-key="%c"]`, d))
	}
	h.in("[data-do=done]")
}

// said waits until the message at the bottom has a text and a state. A slow machine queues an action before it is sent.
func (h hand) said(state, text string) {
	h.Until(fmt.Sprintf(`(async () => {
		const foot = document.querySelector(".t-last"), says = (state) => foot?.matches("." + state) && foot.textContent.includes(%[2]q);
		if (says(%[1]q)) return true;
		if (%[1]q === "sent" && says("waiting")) globalThis.queued = %[2]q;
		if (globalThis.queued !== %[2]q) return false;
		const { queue } = await import(new URL("queue.js", document.querySelector('script[type="module"]').src).href);
		if (queue.waiting.length) return false;
		globalThis.queued = null;
		return true;
	})()`, state, text))
}

// shows waits until an element contains a text.
func (h hand) shows(selector, text string) {
	h.Until(fmt.Sprintf(`[...document.querySelectorAll(%q)].some((e) => e.textContent.replace(/\s+/g, " ").includes(%q))`, selector, text))
}

// lacks waits until a selector finds nothing.
func (h hand) lacks(selector string) { h.Until(fmt.Sprintf(`!document.querySelector(%q)`, selector)) }

// small is an expression for controls that are smaller than 48 px, outside of the page or covered.
const small = `[...document.querySelectorAll("button, a[href], input, textarea, select, summary")].filter((e) => e.checkVisibility() && (!document.querySelector("dialog[open]") || e.closest("dialog[open]")))
	.map((e) => [e, e.getBoundingClientRect()]).filter(([, r]) => r.width < 48 || r.height < 48 || r.left < -1 || r.right > innerWidth + 1)
	.map(([e, r]) => Math.round(r.width) + "x" + Math.round(r.height) + " at " + Math.round(r.left) + ": " + e.outerHTML.slice(0, 120))`

// sound checks what must be true in every state: controls are large enough, nothing overflows horizontally, and the
// page is accessible.
func (h hand) sound(t *testing.T, state string) {
	t.Helper()
	h.Until(`!document.body.hasAttribute("data-resting")`)
	for _, found := range webtest.Eval[[]string](h.Tab, small) {
		t.Errorf("%s: %s", state, found)
	}
	if wide := webtest.Eval[int](h.Tab, `Math.max(...[document.body, ...document.querySelectorAll("main, dialog[open] .dialog-body")].map((e) => e.scrollWidth - e.clientWidth))`); wide > 0 {
		t.Errorf("%s: it is %d px too wide", state, wide)
	}
	h.Axe()
	h.Shot(state)
}

// plan plans a schedule of a SKU at a station, starting in some minutes, and returns its ID.
func plan(s *webtest.Service, minutes int, station, sku string, quantity int) string {
	var made struct{ ID string }
	body := object{"stationCode": station, "skuCode": sku, "plannedStartAt": time.Now().Add(time.Duration(minutes) * time.Minute).UTC().Format(time.RFC3339), "workOrderReference": "WO-4711"}
	if quantity > 0 {
		body["plannedQuantity"] = quantity
	}
	s.Call("POST", "/schedule", body, &made)
	return made.ID
}
