//go:build rig

package offline_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"opsmon/app/test/browser/webtest"
)

func TestMain(m *testing.M) { webtest.Main(m) }

// press returns a plant of one press whose units are counted by people.
func press(t *testing.T) []byte {
	t.Helper()
	doc := map[string]any{"version": "v1", "account": map[string]any{
		"id": "demo", "domain": "demo.example", "durationFormat": "hours", "enableManualProduction": "on", "enableQuickScheduleStart": "on", "enableManualDowntime": "on",
		"skus":    []any{map[string]any{"code": "CUP", "name": "Cup", "cycleTime": 6000, "allowUseInQuickSchedule": true}},
		"reasons": []any{map[string]any{"code": "JAM", "name": "Jam"}},
		"plants": []any{map[string]any{"code": "north", "name": "North", "timezone": "UTC", "dayStartHour": 6, "weekStartDay": 0, "stationGroups": []any{
			map[string]any{"code": "presses", "name": "Presses", "stations": []any{map[string]any{"code": "PRESS-1", "name": "Press 1"}}}}}},
	}}
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// wired returns a tablet with a connection that can be cut. queue and clock are the page's modules.
func wired(t *testing.T) (*webtest.Service, *webtest.Line, *webtest.Tab) {
	t.Helper()
	s := webtest.Serve(t, webtest.Options{Manifest: press(t)})
	line := webtest.NewLine(t, s)
	tab := webtest.Open(t, line.Base, webtest.TabletTall)
	s.SignIn(tab, "supervisor")
	open(tab)
	tab.Until(`navigator.serviceWorker.ready.then(() => navigator.serviceWorker.controller !== null)`)
	s.Call("POST", "/quick-schedule", map[string]any{"stationCode": "PRESS-1", "skuCode": "CUP", "initials": "ABC", "at": time.Now().Add(-time.Minute).UTC().Format(time.RFC3339)}, nil)
	return s, line, tab
}

// open opens the page and gets its queue.
func open(tab *webtest.Tab) {
	tab.Visit("/tablet")
	hold(tab)
}

func hold(tab *webtest.Tab) {
	tab.Until(`document.querySelector('script[type="module"]')`)
	tab.Eval(`import(new URL("queue.js", document.querySelector('script[type="module"]').src).href).then((m) => { globalThis.queue = m.queue; })`)
	tab.Eval(`import(new URL("../shared/clock.js", document.querySelector('script[type="module"]').src).href).then((m) => { globalThis.clock = m; })`)
}

// count enters good units through the queue and returns the result: sent, waiting or refused.
func count(tab *webtest.Tab, good int) string {
	return webtest.Eval[string](tab, fmt.Sprintf(`queue.act({ path: "/production", body: { stationCode: "PRESS-1", good: %d, initials: "ABC" }, label: "%d good", station: "PRESS-1" }).then((r) => r.state)`, good, good))
}

// leave enters good units while offline, and waits until they are stored.
func leave(tab *webtest.Tab, good int) {
	tab.Eval(fmt.Sprintf(`void queue.act({ path: "/production", body: { stationCode: "PRESS-1", good: %d, initials: "ABC" }, label: "%d good", station: "PRESS-1", zone: "Asia/Tokyo" })`, good, good))
	tab.Until(fmt.Sprintf(`queue.waiting.some((a) => a.label === "%d good")`, good))
}

// sets shifts this device's clock by sessionStorage.off, ms, in pages opened from now on.
func sets(t *testing.T, tab *webtest.Tab) {
	t.Helper()
	source := `{ const real = Date.now, off = Number(sessionStorage.off ?? 0); Date.now = () => real() + off; }`
	tab.Before(source)
}

// entered returns the good units of each entry in the order of arrival.
func entered(s *webtest.Service) (good []int) {
	var entries []struct {
		Good       int
		RecordedAt string
	}
	s.Call("GET", "/production?rangecode=last7d&limit=100", nil, &entries)
	slices.SortStableFunc(entries, func(a, b struct {
		Good       int
		RecordedAt string
	}) int {
		return strings.Compare(a.RecordedAt, b.RecordedAt)
	})
	for _, e := range entries {
		good = append(good, e.Good)
	}
	return good
}

// entry is an entry of an operator.
type entry struct {
	Good        int
	EffectiveAt time.Time
	UndoneBy    *string
}

func entries(s *webtest.Service) (list []entry) {
	s.Call("GET", "/production?rangecode=last7d&limit=100", nil, &list)
	return list
}

// Offline actions are queued, survive a reload without the network, and are sent in order, once, with their original
// times, even if the service was restarted meanwhile.
func TestWhatIsDoneWithoutTheNetworkArrives(t *testing.T) {
	s, line, tab := wired(t)
	if got := count(tab, 1); got != "sent" {
		t.Fatalf("with the network an action is %s", got)
	}
	line.Cut()
	before := time.Now()
	for _, good := range []int{2, 3} {
		if got := count(tab, good); got != "waiting" {
			t.Fatalf("without the network an action is %s", got)
		}
	}
	after := time.Now()
	tab.Visit("/tablet") // from the browser's cache
	hold(tab)
	tab.Until(`queue.waiting.map((a) => a.label).join() === "2 good,3 good"`)
	if got := count(tab, 4); got != "waiting" {
		t.Fatalf("after a reload an action is %s", got)
	}
	if got := entered(s); !slices.Equal(got, []int{1}) {
		t.Fatalf("something came through: %v", got)
	}
	s.Stop()
	s.Start()
	time.Sleep(1500 * time.Millisecond) // so that the time of sending differs
	line.Mend()
	tab.Until(`queue.waiting.length === 0`)
	if got := entered(s); !slices.Equal(got, []int{1, 2, 3, 4}) {
		t.Errorf("entered: %v", got)
	}
	entries := entries(s)
	for _, e := range entries {
		if (e.Good == 2 || e.Good == 3) && (e.EffectiveAt.Before(before.Add(-1100*time.Millisecond)) || e.EffectiveAt.After(after.Add(1100*time.Millisecond))) {
			t.Errorf("%d good were entered at %v, done from %v to %v", e.Good, e.EffectiveAt, before, after)
		}
	}
	tab.Clean()
}

// A lost answer does not make an action count twice.
func TestAnAnswerThatIsLostCountsOnce(t *testing.T) {
	s, line, tab := wired(t)
	line.Swallow(2)
	count(tab, 5)
	tab.Until(`queue.waiting.length === 0`)
	if got := entered(s); !slices.Equal(got, []int{5}) {
		t.Errorf("entered: %v", got)
	}
}

// A refused action is reported, stored over a reload until somebody has read it, and does not block others.
func TestARefusedActionIsTold(t *testing.T) {
	s, line, tab := wired(t)
	line.Cut()
	tab.Eval(`Promise.all([
		queue.act({ path: "/production", body: { stationCode: "PRESS-1", reject: 1000, initials: "ABC" }, label: "1,000 rejected", station: "PRESS-1" }),
		queue.act({ path: "/production", body: { stationCode: "PRESS-1", good: 6, initials: "ABC" }, label: "6 good", station: "PRESS-1" }),
	])`)
	line.Mend()
	tab.Until(`queue.waiting.length === 0`)
	if got := entered(s); !slices.Equal(got, []int{6}) {
		t.Errorf("entered: %v", got)
	}
	open(tab)
	tab.Until(`queue.refused.length === 1`)
	got := webtest.Eval[string](tab, `((r) => r.label + ": " + r.error.status + " " + r.error.message)(queue.refused[0])`)
	if !strings.HasPrefix(got, "1,000 rejected: 403 enableRejectProduction is off") {
		t.Errorf("it tells %q", got)
	}
	tab.Eval(`queue.dismiss(queue.refused[0].id)`)
	// An action queued for longer than the service accepts is not entered with the current time.
	line.Cut()
	sets(t, tab)
	tab.Eval(`(() => { sessionStorage.off = -30 * 3600000; localStorage.setItem("clock", JSON.stringify([-1, 1, 0])); })()`)
	open(tab)
	tab.Until(`queue.refused.length === 0`)
	leave(tab, 7)
	tab.Eval(`sessionStorage.off = 0`)
	open(tab)
	line.Mend()
	tab.Until(`queue.waiting.length === 0 && queue.refused.some((a) => a.error.message.includes("24 hours ago"))`)
	if got := entered(s); !slices.Equal(got, []int{6}) {
		t.Errorf("entered: %v", got)
	}
}

// Actions of one user are not sent in the name of another.
func TestActionsBelongToWhoDidThem(t *testing.T) {
	s, line, tab := wired(t)
	line.Cut()
	count(tab, 7)
	s.SignIn(tab, "operator")
	line.Mend()
	tab.Eval(`queue.send()`) // the page does not know yet that another user has signed in
	if got := entered(s); len(got) != 0 || !webtest.Eval[bool](tab, `queue.signedOut && queue.waiting.length === 1`) {
		t.Errorf("in another one's name was entered: %v", got)
	}
	// Another user signs in between the queue's check and its request.
	s.SignIn(tab, "supervisor")
	tab.Eval(`(() => { const real = fetch, gate = new Promise((done) => { globalThis.go = done; }); globalThis.fetch = async (at, how) => { const answer = await real(at, how); if (at === "/auth/profile") { globalThis.looked = true; await gate; } globalThis.sent ||= String(at).startsWith("/production"); return answer; }; queue.send(); })()`)
	tab.Until(`globalThis.looked`)
	s.SignIn(tab, "member")
	tab.Eval(`globalThis.go()`)
	tab.Until(`globalThis.sent && (queue.signedOut && queue.waiting.length === 1 || queue.refused.length > 0 || queue.waiting.length === 0)`)
	if got := entered(s); len(got) != 0 || webtest.Eval[bool](tab, `queue.refused.length > 0`) {
		t.Errorf("in the name of who has just signed in was entered %v, refused: %s", got, webtest.Eval[string](tab, `JSON.stringify(queue.refused)`))
	}
	tab.Eval(`fetch("/auth/profile").then((a) => a.json()).then((a) => queue.open(a.result))`)
	tab.Until(`queue.waiting.length === 0 && queue.others.length === 1`)
	if got := entered(s); len(got) != 0 {
		t.Errorf("entered: %v", got)
	}
	s.SignIn(tab, "supervisor")
	open(tab)
	tab.Until(`fetch("/production?rangecode=last7d").then((a) => a.json()).then((a) => a.results.length > 0)`)
	if got := entered(s); !slices.Equal(got, []int{7}) {
		t.Errorf("entered: %v", got)
	}
}

// If the browser stores nothing, or only a part, nothing is lost while the page is open.
func TestABrowserThatKeepsNothing(t *testing.T) {
	s, line, tab := wired(t)
	line.Cut()
	leave(tab, 10)
	tab.Eval(`(() => { const put = IDBObjectStore.prototype.put; IDBObjectStore.prototype.put = function (...all) { if (globalThis.full) throw new DOMException("full", "QuotaExceededError"); return put.apply(this, all); }; globalThis.full = true; })()`)
	leave(tab, 11)
	if webtest.Eval[bool](tab, `queue.kept`) {
		t.Error("it does not say that it is not kept")
	}
	tab.Eval(`(() => { globalThis.full = false; })()`)
	leave(tab, 12)
	line.Mend()
	tab.Eval(`queue.send()`)
	tab.Until(`queue.waiting.length === 0`)
	if got := entered(s); !slices.Equal(got, []int{10, 11, 12}) {
		t.Errorf("entered: %v", got)
	}
	// If storage does not answer, actions are sent, and earlier ones follow as soon as the storage answers.
	line.Cut()
	tab.Eval(`(() => { queue.send = () => undefined; sessionStorage.hangs = 1; })()`)
	leave(tab, 13)
	line.Mend()
	hangs := `if (sessionStorage.hangs) {
		const later = setTimeout, real = IDBDatabase.prototype.transaction, never = new Proxy({}, { get: () => () => ({}) });
		// a shorter timeout for the browser's storage
		globalThis.setTimeout = (what, ms, ...all) => later(what, ms === 2000 ? (globalThis.sped = 100) : ms, ...all);
		globalThis.hangs = true;
		IDBDatabase.prototype.transaction = function (...all) { return globalThis.hangs ? { objectStore: () => never } : real.apply(this, all); };
	}`
	tab.Before(hangs)
	open(tab)
	count(tab, 14)
	tab.Until(`queue.waiting.length === 0`)
	if got := entered(s); !slices.Equal(got, []int{10, 11, 12, 14}) {
		t.Errorf("while it hangs was entered: %v", got)
	}
	tab.Until(`globalThis.sped`) // otherwise another timeout than the shortened one applies
	tab.Eval(`(() => { globalThis.hangs = false; })()`)
	tab.Until(`fetch("/production?rangecode=last7d").then((a) => a.json()).then((a) => a.results.length === 5)`)
}

// Actions in quick succession are sent without delay while earlier ones are in progress.
func TestManyActionsAtOnce(t *testing.T) {
	s, _, tab := wired(t)
	tab.Eval(`Promise.all(Array.from({ length: 12 }, (_, i) => new Promise((done) => { setTimeout(done, i * 7); }).then(() => queue.act({ path: "/production", body: { stationCode: "PRESS-1", good: 100 + i, initials: "ABC" }, label: String(i), station: "PRESS-1" }))))`)
	tab.Until(`queue.waiting.length === 0`)
	got := entered(s)
	slices.Sort(got)
	if len(got) != 12 || got[0] != 100 || got[11] != 111 {
		t.Errorf("entered: %v", got)
	}
}

// An action on an object that is being created, or is queued, gets the object's ID when it is sent. An action on a
// refused object is refused.
func TestWhatBelongsToWhatWaits(t *testing.T) {
	s, line, tab := wired(t)
	const act = `queue.act({ path: %s, body: %s, label: "x", station: "PRESS-1" })`
	entry := fmt.Sprintf(act, `"/production"`, `{ stationCode: "PRESS-1", good: 20, initials: "ABC" }`)
	undo := fmt.Sprintf(act, "`/production/@${id}/undo`", `{ initials: "ABC" }`)
	for i, network := range []bool{true, false} {
		if !network {
			line.Cut()
		}
		tab.Eval(`(async () => { const first = ` + entry + `; while (!queue.waiting.length) await new Promise((done) => { setTimeout(done); }); const id = queue.waiting[0].id; await Promise.all([first, ` + undo + `]); })()`)
		line.Mend()
		tab.Until(`queue.waiting.length === 0`)
		entries := entries(s)
		undone := 0
		for _, e := range entries {
			if e.UndoneBy != nil {
				undone++
			}
		}
		if len(entries) != 2*(i+1) || undone != i+1 {
			t.Errorf("with a network that is there: %v: %d entries, %d taken back; refused: %s", network, len(entries), undone, webtest.Eval[string](tab, `JSON.stringify(queue.refused)`))
		}
	}
	tab.Eval(`(async () => { const id = "000000000000001-abcdef"; await ` + undo + `; })()`)
	tab.Until(`queue.refused.length === 1 && queue.refused[0].error.message.includes("was not done")`)
}

// A clock that is corrected between an action and its sending, like that of a tablet with an empty battery, does no
// harm.
func TestAClockThatIsSetMeanwhile(t *testing.T) {
	s, line, tab := wired(t)
	line.Cut()
	tab.Eval(`localStorage.clear()`)
	open(tab)
	tab.Eval(`(() => { const real = Date.now; globalThis.off = -20000 * 86400000; Date.now = () => real() + globalThis.off; })()`)
	before := time.Now()
	leave(tab, 30)
	after := time.Now()
	tab.Eval(`(() => { globalThis.off = 0; })()`)
	time.Sleep(1200 * time.Millisecond)
	line.Mend()
	tab.Until(`queue.waiting.length === 0`)
	entries := entries(s)
	if len(entries) != 1 || entries[0].EffectiveAt.Before(before.Add(-time.Second)) || entries[0].EffectiveAt.After(after) {
		t.Errorf("%+v; done from %v to %v; refused: %s", entries, before, after, webtest.Eval[string](tab, `JSON.stringify([queue.refused, queue.waiting, queue.others])`))
	}
	// A correct clock is set forward by two hours after an action, in a page without contact with the service.
	line.Cut()
	open(tab)
	before = time.Now()
	leave(tab, 31)
	after = time.Now()
	tab.Eval(`(() => { const real = Date.now; Date.now = () => real() + 2 * 3600000; })()`)
	line.Mend()
	tab.Until(`queue.waiting.length === 0`)
	if at := effective(s, 31); at.Before(before.Add(-time.Second)) || at.After(after.Add(time.Second)) {
		t.Errorf("it was at %v; done from %v to %v", at, before, after)
	}
	// Nobody sets the clock: the tablet wakes up, an action is made, and it sleeps until the network is back.
	slept := `(() => { const real = performance.now; performance.now = () => real.call(performance) - 600000; })()`
	line.Cut()
	tab.Eval(slept)
	before = time.Now()
	leave(tab, 32)
	after = time.Now()
	tab.Eval(slept)
	line.Mend()
	tab.Until(`queue.waiting.length === 0`)
	if at := effective(s, 32); at.Before(before.Add(-time.Second)) || at.After(after.Add(time.Second)) {
		t.Errorf("before it slept it was at %v; done from %v to %v", at, before, after)
	}
	if unsure := webtest.Eval[string](tab, `queue.unsure.map((a) => a.label).join()`); unsure != "30 good" {
		t.Errorf("unsure: %s", unsure)
	}
}

// effective returns the effective time of the entry with a number of good units.
func effective(s *webtest.Service, good int) time.Time {
	for _, e := range entries(s) {
		if e.Good == good {
			return e.EffectiveAt
		}
	}
	return time.Time{}
}

// If there was a reload between an action and its sending, and the clock was set, the time is uncertain: the likely
// time is sent, and a message is shown until the operator has read it.
func TestAClockThatIsSetBackOverAReload(t *testing.T) {
	s, line, tab := wired(t)
	line.Cut()
	sets(t, tab)
	open(tab)
	at := map[int]time.Time{40: time.Now()}
	leave(tab, 40)
	tab.Eval(`(() => { const real = Date.now; Date.now = () => real() - 2 * 3600000; sessionStorage.off = -2 * 3600000; })()`)
	at[41] = time.Now()
	leave(tab, 41) // in the page in which the clock was set, and in the next
	open(tab)
	at[42] = time.Now()
	leave(tab, 42)
	open(tab)
	tab.Until(`queue.waiting.map((a) => a.label).join() === "40 good,41 good,42 good"`)
	line.Mend()
	tab.Until(`queue.waiting.length === 0`)
	for good, was := range at {
		if got := effective(s, good); got.Sub(was).Abs() > time.Minute { // not hours
			t.Errorf("%d good were entered at %v, done at %v; refused: %s", good, got, was, webtest.Eval[string](tab, `JSON.stringify(queue.refused)`))
		}
	}
	tab.Until(`document.querySelectorAll("[data-unsure]").length === 3`)
	// in the zone of its station, not of the shown one
	there := effective(s, 42).In(time.FixedZone("Asia/Tokyo", 9*3600)).Format("2 Jan 2006, 15:04")
	if told := tab.Text("[data-unsure]:nth-last-child(1 of [data-unsure])"); !strings.Contains(told, "The time may be wrong: 42 good") || !strings.Contains(told, there) {
		t.Errorf("it says %q; it was at %s", told, there)
	}
	tab.Axe()
	tab.Eval(`document.querySelector("[data-unsure] [data-do=dismiss]").click()`)
	tab.Until(`document.querySelectorAll("[data-unsure]").length === 2`)
	open(tab)
	tab.Until(`queue.unsure.length === 2`)
}

// A tablet's own clock may be wrong by years: actions have the service's time.
func TestATabletWithAWrongClock(t *testing.T) {
	s, _, tab := wired(t)
	tab.Eval(`(() => { const real = Date.now; Date.now = () => real() - 400 * 86400000; })()`)
	// like any answer
	tab.Eval(`fetch("/health").then((a) => clock.heard(a.headers.get("X-Time"), Date.now(), Date.now()))`)
	if got := webtest.Eval[float64](tab, `Math.abs(clock.ahead() - 400 * 86400000)`); got > 3000 {
		t.Fatalf("it is %v ms off", got)
	}
	if got := count(tab, 8); got != "sent" {
		t.Fatalf("an action is %s: %s", got, webtest.Eval[string](tab, `JSON.stringify(queue.refused)`))
	}
	if got := entered(s); !slices.Contains(got, 8) {
		t.Errorf("entered: %v", got)
	}
}

// Actions made by a tablet with a wrong clock before its first contact with the service have the service's time.
func TestAWrongClockBeforeTheNetworkIsThere(t *testing.T) {
	s, line, tab := wired(t)
	line.Cut()
	tab.Eval(`localStorage.clear()`)
	open(tab)
	tab.Eval(`(() => { const real = Date.now; Date.now = () => real() + 90 * 86400000; })()`)
	before := time.Now()
	if got := count(tab, 9); got != "waiting" {
		t.Fatalf("without the network an action is %s", got)
	}
	after := time.Now()
	time.Sleep(1200 * time.Millisecond)
	line.Mend()
	tab.Until(`queue.waiting.length === 0`)
	entries := entries(s)
	if len(entries) != 1 || entries[0].Good != 9 || entries[0].EffectiveAt.Before(before.Add(-time.Second)) || entries[0].EffectiveAt.After(after) {
		t.Errorf("%+v; done from %v to %v; refused: %s", entries, before, after, webtest.Eval[string](tab, `JSON.stringify(queue.refused)`))
	}
}
