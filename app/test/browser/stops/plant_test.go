//go:build rig

package stops_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"opsmon/app/host/config"
	"opsmon/app/test/browser/webtest"
)

func TestMain(m *testing.M) { webtest.Main(m) }

// manifest is a plant always in shift whose stations plan all of it: a stop needs no schedule and can be at any hour.
const manifest = `{"version": "v1", "account": {"id": "demo", "domain": "demo.example", "enableTasks": "on", "enableHistoricalCorrection": "on", "includeTaskListCodes": ["SAFETY", "SHIFT"],
	"reasons": [
		{"code": "FAULT", "name": "Breakdown", "type": ["downtime"], "reasons": [{"code": "JAM", "name": "Jam", "type": ["downtime"]}, {"code": "BELT", "name": "Ремень порван", "description": "Call the fitter.", "type": ["downtime"]}]},
		{"code": "SUPPLY", "name": "Supply", "type": ["downtime"], "reasons": [{"code": "NO-CLAY", "name": "Waiting for clay", "type": ["downtime"]}]},
		{"code": "BREAK", "name": "Break", "type": ["non_production"]}],
	"taskLists": [{"code": "SAFETY", "name": "Safety walk", "trigger": {"type": "on_demand"}}, {"code": "SHIFT", "name": "Each minute", "trigger": {"type": "cron", "pattern": "* * * * *"}}],
	"tasks": [{"code": "GUARDS", "title": "Test the guards", "requireNotes": true, "taskListCodes": [{"code": "SAFETY", "order": 1}]}, {"code": "WAYS", "title": "Walk the escape routes", "taskListCodes": [{"code": "SAFETY", "order": 2}]}, {"code": "LOOK", "title": "Look at the gauge", "taskListCodes": [{"code": "SHIFT", "order": 1}]}],
	"skus": [{"code": "BOWL", "name": "Bowl", "unitsPerMinute": 10}],
	"plants": [{"code": "mill", "name": "Mill", "timezone": "Asia/Tokyo", "dayStartHour": HOUR, "weekStartDay": 0, "enableManualDowntime": "on", "stationGroups": [{"code": "line", "name": "Line", "stations": [
		{"code": "PRESS-1", "name": "Пресс 1", "downtimeDetectionMode": "utilisation", "utilisationDowntimeThreshold": 60000, "forceAllShiftTimeAsPlannedProduction": true},
		{"code": "PRESS-2", "name": "Press 2", "downtimeDetectionMode": "utilisation", "utilisationDowntimeThreshold": 60000, "forceAllShiftTimeAsPlannedProduction": true, "excludeReasonCodes": ["BELT"]},
		{"code": "HAND", "name": "Hand work", "enableManualDowntime": "off", "includeTaskListCodes": []}]}]}]}}`

// past is the age of the plant at the start of a test.
const past = 5 * time.Hour

// plant is a service whose account has the age past.
type plant struct {
	*webtest.Service
	t   *testing.T
	now time.Time // a whole minute, shortly before now
}

// open starts the service. connected are stations whose silence counts as a standstill, so that their stops continue
// during the whole test.
func open(t *testing.T, connected ...string) *plant {
	t.Helper()
	var behind atomic.Int64
	behind.Store(int64(past))
	doc := strings.ReplaceAll(manifest, "HOUR", strconv.Itoa(webtest.DayStart("Asia/Tokyo")))
	for _, code := range connected {
		doc = strings.Replace(doc, `{"code": "`+code+`",`, `{"code": "`+code+`", "enableAlwaysConnected": "on",`, 1)
	}
	s := webtest.Serve(t, webtest.Options{Manifest: []byte(doc), Adjust: func(c *config.Settings) {
		c.Clock = func() time.Time { return time.Now().Add(-time.Duration(behind.Load())) }
	}})
	behind.Store(0)
	return &plant{Service: s, t: t, now: time.Now().Truncate(time.Minute)}
}

// ago returns a time in the past in the API's format.
func (p *plant) ago(d time.Duration) string {
	return p.now.Add(-d).UTC().Format("2006-01-02T15:04:05.000Z")
}

// runs lets a station produce except for some stops, each {begin, end} ago; one that ends 0 ago is in progress. It
// waits until the API returns those that are long enough.
func (p *plant) runs(code string, stops ...[2]time.Duration) {
	p.t.Helper()
	var signals []string
	say := func(at time.Duration, productive bool) {
		signals = append(signals, fmt.Sprintf(`{"stationCode":%q,"at":%q,"productive":%t}`, code, p.ago(at), productive))
	}
	stopped := func(at time.Duration) bool {
		return slices.ContainsFunc(stops, func(s [2]time.Duration) bool { return at <= s[0] && (at > s[1] || s[1] == 0) })
	}
	for at := past; at >= 0; at -= 2 * time.Minute { // a machine that is silent for five minutes is unknown
		say(at, !stopped(at))
	}
	for _, s := range stops {
		say(s[0], false)
		if s[1] > 0 {
			say(s[1], true)
		}
	}
	p.Call("POST", "/signal", raw(`{"signals":[`+strings.Join(signals, ",")+`]}`), nil)
	stops = slices.DeleteFunc(stops, func(s [2]time.Duration) bool { return s[0]-s[1] < time.Minute })
	for range 200 { // until they are calculated, it may be one long stop
		found := p.issues(code)
		if len(found) == len(stops) && !slices.ContainsFunc(stops, func(s [2]time.Duration) bool {
			return !slices.ContainsFunc(found, func(x issue) bool { return x.StartAt == p.ago(s[0]) })
		}) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	p.t.Fatalf("%s has the stops %v", code, p.issues(code))
}

type raw string

// MarshalJSON returns the text unchanged.
func (r raw) MarshalJSON() ([]byte, error) { return []byte(r), nil }

type part struct {
	StartAt    string
	DurationMs int64
	CauseCode  *string
}

type issue struct {
	ID, Type, StationCode, StartAt string
	EndAt, CauseCode, Note         *string
	DurationMs, UncausedMs         int64
	Parts                          []part
	Excluded                       bool
	Acknowledged                   *struct{ By string }
	Estimate                       *struct{ ExpectedEndAt string }
	Escalation                     *struct {
		Level int
		Note  *string
	}
	Events []struct {
		Action   string
		Initials *string
	}
}

// issues returns the issues of a station, the latest first.
func (p *plant) issues(code string) (list []issue) {
	p.t.Helper()
	p.Call("GET", "/issue?limit=1000&stationcodes="+code+"&from="+p.ago(past)+"&to="+p.ago(-time.Hour), nil, &list)
	return list
}

// only returns the issue with an ID; it fails unless there is exactly one.
func (p *plant) only(code, id string) issue {
	p.t.Helper()
	for _, i := range p.issues(code) {
		if i.ID == id {
			return i
		}
	}
	p.t.Fatalf("there is no stop %s", id)
	return issue{}
}

// page opens a page of the floor as a user with a role.
func (p *plant) page(role, path, ready string, view ...webtest.Viewport) *webtest.Tab {
	p.t.Helper()
	v := webtest.Laptop
	if len(view) > 0 {
		v = view[0]
	}
	tab := webtest.Open(p.t, p.Base, v)
	p.SignIn(tab, role)
	tab.Visit(path)
	tab.Until(ready)
	return tab
}

// button clicks the button with a text below a selector.
func button(tab *webtest.Tab, below, text string) {
	find := fmt.Sprintf(`[...document.querySelectorAll(%q)].find((b) => b.textContent.trim().startsWith(%q) && !b.disabled)`, below+" button", text)
	tab.Until(find)
	tab.Eval(find + `.click()`)
}

// gone waits until no dialog exists: a closed one is removed a moment later, with its stored values.
func gone(tab *webtest.Tab) { tab.Until(`!document.querySelector("dialog")`) }

// set enters a value in a control and leaves it, like a person.
func set(tab *webtest.Tab, selector, value string) {
	tab.Until(fmt.Sprintf(`document.querySelector(%q)`, selector))
	tab.Eval(fmt.Sprintf(`((e) => { e.value = %q; e.dispatchEvent(new Event("input", { bubbles: true })); e.dispatchEvent(new Event("change", { bubbles: true })); })(document.querySelector(%q))`, value, selector))
}

// choose selects the option with a label.
func choose(tab *webtest.Tab, selector, label string) {
	tab.Until(fmt.Sprintf(`[...(document.querySelector(%q)?.options ?? [])].some((o) => o.label.trim() === %q)`, selector, label))
	tab.Eval(fmt.Sprintf(`((e) => { e.selectedIndex = [...e.options].findIndex((o) => o.label.trim() === %q); e.dispatchEvent(new Event("change", { bubbles: true })); })(document.querySelector(%q))`, label, selector))
}

func text(s *string) string {
	if s == nil {
		return "null"
	}
	return *s
}

// signInAgain ends a page's session, waits until the page notices, and signs its user in again.
func (p *plant) signInAgain(tab *webtest.Tab, role string) {
	p.t.Helper()
	tab.Eval(`fetch("/auth/logout", { method: "POST", headers: { "Content-Type": "application/json" } })`)
	at := webtest.Eval[string](tab, `location.pathname + location.search`)
	tab.Eval(`import(document.querySelector("script[type=module]").src.replace("floor/main.js", "shared/api.js")).then(({ get }) => { get("/station"); })`)
	tab.Until(`location.pathname === "/signin" && new URLSearchParams(location.search).get("next") === ` + strconv.Quote(at))
	p.SignIn(tab, role)
	tab.Visit(at)
}
