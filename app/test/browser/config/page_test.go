//go:build rig

package config_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"opsmon/app/test/browser/webtest"
)

func TestMain(m *testing.M) { webtest.Main(m) }

type object = map[string]any

// document returns a manifest of one plant with every kind of object that the pages show.
func document() object {
	return object{"version": "v1", "account": object{
		"id": "demo", "domain": "demo.example", "currency": "EUR", "enableTasks": "on", "includeTaskListCodes": []string{"start"},
		"shiftPatterns": []object{
			{"code": "3x8", "title": "Three shifts", "shifts": []object{{"name": "Early", "startHour": 6, "duration": 8, "weekDay": "1"}, {"name": "Night", "startHour": 22, "duration": 8, "weekDay": "7"}}},
			{"code": "days", "title": "Days only", "shifts": []object{{"name": "Day", "startHour": 8, "duration": 8.5, "weekDay": "2"}}},
		},
		"reasons": []object{
			{"code": "BRK", "name": "Breakdown", "type": []string{"downtime"}, "reasons": []object{{"code": "BRK-E", "name": "Electrical"}, {"code": "BRK-M", "name": "Mechanical"}}},
			{"code": "SET", "name": "Set-up", "oee": "setup"}, {"code": "STAFF", "name": "No staff"},
		},
		"taskLists": []object{{"code": "start", "name": "Start-up", "trigger": object{"type": "schedule"}}, {"code": "clean", "name": "Cleaning"}},
		"tasks": []object{
			{"code": "t1", "title": "Check the guards", "requireNotes": true, "taskListCodes": []object{{"code": "start", "order": 1}}},
			{"code": "t2", "title": "Check the film", "taskListCodes": []object{{"code": "start", "order": 2}}},
			{"code": "t3", "title": "Check the date", "taskListCodes": []object{{"code": "start", "order": 3}}},
		},
		"skus": []object{
			{"code": "A-1", "name": "Loaf", "unitsPerHour": 1200},
			{"code": "A-2", "name": "Roll", "unitsPerMinute": 90, "taskCodes": []string{"t3"}},
			{"code": "A-3", "name": "Bun", "cycleTime": 1200},
		},
		"plants": []object{{
			"code": "leeds", "name": "Leeds bakery", "timezone": "Europe/London", "dayStartHour": 6, "weekStartDay": 0,
			"stationGroups": []object{{"code": "packing", "name": "Packing", "shiftPatternCode": "3x8", "stations": []object{
				{"code": "PACK-1", "name": "Packer 1", "includeReasonCodes": []string{"BRK"}}, {"code": "PACK-2", "name": "Packer 2", "shiftPatternCode": "3x8"}}}},
		}},
	}}
}

// console serves the document and opens a page of the console as a user who may change it.
func console(t *testing.T, path, ready string) (*webtest.Service, *webtest.Tab) {
	t.Helper()
	b, err := json.Marshal(document())
	if err != nil {
		t.Fatal(err)
	}
	s := webtest.Serve(t, webtest.Options{Manifest: b})
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	s.SignIn(tab, "member")
	tab.Visit(path)
	tab.Until(found(ready))
	return s, tab
}

func found(selector string) string { return fmt.Sprintf("document.querySelector(%q)", selector) }

// workspace returns an expression about the draft's workspace: w is the workspace, and a the draft's account.
func workspace(expression string) string {
	return `import(document.querySelector("script[type=module]").src.replace("console/main.js", "shared/workspace.js")).then(({ workspace: w }) => { const a = w.doc.account; return ` + expression + `; })`
}

// draft waits until a property of the draft has a value, as JSON; "": missing.
func draft(t *testing.T, tab *webtest.Tab, path, want string) {
	t.Helper()
	got := workspace(`JSON.stringify(a.` + path + `) ?? ""`)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		is := webtest.Eval[string](tab, got)
		if is == want || sorted(is) == sorted(want) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is %s, want %s", path, is, want)
		}
	}
}

// sorted formats JSON with sorted names; anything else is returned unchanged.
func sorted(text string) string {
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return text
	}
	b, err := json.Marshal(value)
	if err != nil {
		panic(err) // cannot fail for a decoded value
	}
	return string(b)
}

// button clicks the enabled button with a text below a selector.
func button(tab *webtest.Tab, below, text string) {
	find := fmt.Sprintf(`[...document.querySelectorAll(%q)].find((b) => b.textContent.trim().startsWith(%q) && !b.disabled)`, below+" button", text)
	tab.Until(find)
	tab.Eval(find + `.click()`)
}

// choose selects one of a few options.
func choose(tab *webtest.Tab, text string) {
	find := fmt.Sprintf(`[...document.querySelectorAll("#main .segmented label")].find((l) => l.textContent.trim() === %q)`, text)
	tab.Until(find)
	tab.Eval(find + `.querySelector("input").click()`)
}

// apply reviews and applies the draft, and returns the service's account.
func apply(s *webtest.Service, tab *webtest.Tab) (account map[string]any) {
	button(tab, ".changes", "Review and apply")
	button(tab, "dialog footer", "Apply")
	tab.Until(`!document.querySelector("dialog") && !document.querySelector(".changes")`)
	return applied(tab)
}

// applied returns the account of the applied manifest.
func applied(tab *webtest.Tab) (account map[string]any) {
	return webtest.Eval[map[string]any](tab, `fetch("/account/manifest").then((a) => a.json()).then((doc) => doc.account)`)
}

// same compares a part of the service's account with JSON.
func same(t *testing.T, what string, got any, want string) {
	t.Helper()
	b, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != want {
		t.Errorf("%s is %s, want %s", what, b, want)
	}
}

// looks checks the look of a page: accessible in light and dark colours, without horizontal overflow.
func looks(t *testing.T, tab *webtest.Tab, name string) {
	t.Helper()
	tab.Axe()
	sideways(t, tab, name)
	tab.Shot(name)
	tab.Media("prefers-color-scheme", "dark")
	tab.Axe()
	tab.Shot(name + "-dark")
	tab.Media("prefers-color-scheme", "light")
	tab.Do(chromedp.EmulateViewport(webtest.TabletTall.Width, webtest.TabletTall.Height, chromedp.EmulateScale(1), chromedp.EmulateTouch, chromedp.EmulateMobile))
	tab.Until(`innerWidth === 800`)
	sideways(t, tab, name)
	tab.Shot(name + "-tall")
	tab.Do(chromedp.EmulateViewport(webtest.Laptop.Width, webtest.Laptop.Height, chromedp.EmulateScale(1)))
	tab.Until(`innerWidth === 1280`)
}

func sideways(t *testing.T, tab *webtest.Tab, name string) {
	t.Helper()
	wide := webtest.Eval[[]string](tab, `document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll("#main *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 120)).slice(0, 5)`)
	over := webtest.Eval[int](tab, `document.documentElement.scrollWidth - innerWidth`)
	if over > 0 {
		t.Errorf("%s: the page is %d px too wide: %q", name, over, wide)
	}
}
