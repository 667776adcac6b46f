//go:build rig

package tablet_test

import (
	"testing"

	"opsmon/app/test/browser/webtest"
)

// The operator of a station is set until the shift ends or another operator is set; then it is nobody.
func TestInitialsHoldForTheShift(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	h := tablet(t, s, webtest.TabletTall, "Packing", "PACK-1")
	h.do("who")
	h.am("KLM")
	h.shows(".t-who", "KLM")
	told := `JSON.parse(localStorage.getItem(Object.keys(localStorage).find((k) => k.includes(":initials:")))).since`
	h.Until(told + ` !== undefined`)
	unsaid := `(() => { const name = Object.keys(localStorage).find((k) => k.includes(":initials:")); localStorage.setItem(name, JSON.stringify({ ...JSON.parse(localStorage.getItem(name)), since: undefined })); })()`
	h.Eval(unsaid) // as if the page was closed before the answer arrived
	h.Visit("/tablet")
	h.shows(".t-who", "KLM")
	h.Until(told + ` !== undefined`)
	works := func() string {
		var stations []struct {
			CurrentOperatorInitials *string
		}
		if s.Call("GET", "/station?stationcodes=PACK-1", nil, &stations); stations[0].CurrentOperatorInitials == nil {
			return ""
		}
		return *stations[0].CurrentOperatorInitials
	}
	if got := works(); got != "KLM" {
		t.Errorf("%q works there", got)
	}
	h.do("who") // the second one is selected
	h.am("ÅSE")
	h.shows(".t-who", "ÅSE")
	h.do("who")
	h.shows(`dialog[open] .tile[aria-pressed="true"]`, "ÅSE")
	h.in(".tile:not([aria-pressed=true])")
	h.shows(".t-who", "KLM")
	// Another tablet has set the same operator since: the end of the shift on this tablet does not remove it.
	h.Until(told + ` !== undefined`)
	s.Call("POST", "/station/PACK-1/operator", object{"initials": "ABC"}, nil)
	h.Visit("/tablet")
	h.shows(".t-state", "live")
	h.Eval(`fetch("/health")`)
	if got := works(); got != "ABC" {
		t.Errorf("over what was said on another tablet is put up what was said here before: %q works there", got)
	}
	s.Call("POST", "/station/PACK-1/operator", object{"initials": "KLM"}, nil)
	ended := `(() => { const name = Object.keys(localStorage).find((k) => k.includes(":initials:")), kept = JSON.parse(localStorage.getItem(name)); localStorage.setItem(name, JSON.stringify({ ...kept, until: Date.now() - 1000 })); })()`
	h.Eval(ended)
	h.Visit("/tablet")
	h.shows(".t-who", "Who works here?")
	// it has checked
	h.Until(`localStorage.getItem(Object.keys(localStorage).find((k) => k.includes(":initials:"))) === "null"`)
	if got := works(); got != "KLM" {
		t.Errorf("what was said on another tablet is taken down: %q works there", got)
	}
	h.do("who")
	h.in(".tile")
	h.shows(".t-who", "KLM")
	h.Until(told + ` !== undefined`)
	// The shift ended a second ago, and no answer had the time of the entry.
	h.Eval(ended)
	h.Eval(unsaid)
	h.Visit("/tablet")
	h.shows(".t-who", "Who works here?")
	h.Until(`fetch("/station?stationcodes=PACK-1").then((a) => a.json()).then((a) => a.results[0].currentOperatorInitials === null)`)
	// The next shift has begun.
	h.Eval(`(() => { const name = Object.keys(localStorage).find((k) => k.includes(":initials:")); localStorage.setItem(name, JSON.stringify({ initials: "KLM", at: Date.now() - 40 * 3600000, until: 0 })); })()`)
	h.Visit("/tablet")
	h.shows(".t-who", "Who works here?")
	// An operator who leaves while offline is removed when the network is back.
	h.do("who")
	h.am("LEA")
	h.Until(`fetch("/station?stationcodes=PACK-1").then((a) => a.json()).then((a) => a.results[0].currentOperatorInitials === "LEA")`)
	h.Eval(`(() => { const real = fetch; window.away = true; window.fetch = (at, how) => (window.away && String(at).endsWith("/operator") ? Promise.reject(new TypeError("away")) : real(at, how)); })()`)
	h.do("menu")
	h.in("[data-menu=leave]")
	h.shows(".t-who", "Who works here?")
	if got := works(); got != "LEA" {
		t.Errorf("%q works there", got)
	}
	h.Eval(`window.away = false`)
	h.Until(`fetch("/station?stationcodes=PACK-1").then((a) => a.json()).then((a) => a.results[0].currentOperatorInitials === null)`)
	h.Clean()
}

// The pages' policy allows a screen wake lock, and the page requests one.
func TestTheScreenStaysOn(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	h := tablet(t, s, webtest.TabletTall, "Packing", "PACK-1")
	source := `{ const real = WakeLock.prototype.request; window.locks = []; WakeLock.prototype.request = function (kind) { const asked = real.call(this, kind); window.locks.push(asked); return asked; }; }`
	h.Before(source)
	h.Visit("/tablet")
	h.shows("h1", "Packer 1")
	if held := webtest.Eval[string](h.Tab, `window.locks.length === 1 && window.locks[0].then((l) => l.type + " " + l.released, (e) => e.name + ": " + e.message)`); held != "screen false" {
		t.Errorf("the lock is %s", held)
	}
	h.Clean()
}

// The end of a session during work does not change the page: actions are stored, and cached data is deleted from the
// browser.
func TestASessionThatEnds(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.Call("POST", "/quick-schedule", object{"stationCode": "PACK-1", "skuCode": "BK-1000", "initials": "ABC"}, nil)
	h := tablet(t, s, webtest.TabletTall, "Packing", "PACK-1")
	h.shows(".now h2", "BK-1000")
	h.Eval(`fetch("/auth/logout", { method: "POST", headers: { "Content-Type": "application/json" } })`)
	h.do("good")
	h.key("5")
	h.am("KLM")
	h.shows(".t-told", "This tablet is signed out")
	h.shows("[data-value=good]", "5")
	h.shows(".t-state", "1 to send")
	h.Until(`new Promise((done) => {
		const asked = indexedDB.open("opsmon");
		asked.onsuccess = () => { const names = asked.result.transaction("kept").objectStore("kept").getAllKeys(); names.onsuccess = () => { asked.result.close(); done(names.result.some((n) => /^queue:./.test(n)) && !names.result.some((n) => n.startsWith("read:"))); }; };
	})`)
	// the page gets an event, and cannot read the change
	s.Call("POST", "/account", object{"enableRejectProduction": "off"}, nil)
	h.do("bad")
	h.key("1")
	h.shows(".t-state", "2 to send")
	if at := webtest.Eval[string](h.Tab, `location.pathname`); at != "/tablet" {
		t.Errorf("the page is at %s", at)
	}
	s.SignIn(h.Tab, "operator")
	h.Visit("/tablet")
	h.shows("dialog[open] h2", "Which stations does this tablet stand at?") // another user's
	h.Clean()
}

// While the service refuses to return a station's state, the page does not claim to be live, and retries.
func TestAReadingThatIsRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	h := tablet(t, s, webtest.TabletTall, "Packing", "PACK-1")
	source := `{ const real = fetch; window.busy = true; window.fetch = (at, how) => (window.busy && String(at).startsWith("/station?stationcodes") ? Promise.resolve(new Response("{}", { status: 429, headers: { "X-Time": Date.now(), "Content-Type": "application/json" } })) : real(at, how)); }`
	h.Before(source)
	h.Visit("/tablet")
	h.shows(".t-state.wait", "not up to date")
	h.Eval(`window.busy = false`)
	h.shows(".t-state.ok", "live")
	h.Clean()
}

// Unsent actions of a revoked tablet are not lost when it is paired with another name: they are shown until it is
// paired with its old name again, or somebody has handled them.
func TestATabletThatIsPairedByAnotherName(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.Call("POST", "/quick-schedule", object{"stationCode": "PACK-1", "skuCode": "BK-1000", "initials": "ABC"}, nil)
	h := tablet(t, s, webtest.TabletTall, "Packing", "PACK-1")
	h.do("good") // sets the operator
	h.key("1")
	h.am("KLM")
	h.said("sent", "1 good")
	var tablets []struct{ ID, Name string }
	s.Call("GET", "/tablet", nil, &tablets)
	s.Call("DELETE", "/tablet/"+tablets[0].ID, nil, nil)
	h.do("good")
	h.key("5")
	h.shows(".t-told", "when it is paired again by its name, Packing")
	h.lacks(`.t-told a[href^="/signin"]`) // it would assign queued actions to another user
	h.do("bad")
	h.key("2")
	h.shows(".t-state", "2 to send")
	again := func(name string) {
		h.Visit("/link#" + pair(s, name, "PACK-1"))
		h.Until(`!document.getElementById("here")?.disabled`)
		h.Tab.Tap("#here")
		h.Until(`location.pathname === "/tablet" && document.querySelector(".t-nav")`)
	}
	again("Another")
	h.shows("[data-others]", "2 actions of others wait here")
	h.do("others")
	h.shows("dialog[open]", "by the tablet packing")
	h.shows("dialog[open] .entry", "5 good")
	h.shows("dialog[open] .entry", "KLM")
	h.sound(t, "others")
	h.in("footer .button:first-child")
	again("Packing")
	h.shows("[data-value=good]", "6")
	h.shows("[data-value=bad]", "2")
	h.lacks("[data-others]")
	h.shows(".t-state.ok", "live")
	// The user of the tablet discards actions that somebody has entered by hand.
	s.Call("GET", "/tablet", nil, &tablets)
	for _, is := range tablets {
		s.Call("DELETE", "/tablet/"+is.ID, nil, nil)
	}
	h.do("good")
	h.key("3")
	h.shows(".t-state", "1 to send")
	again("Third")
	h.do("others")
	h.in("[data-do=drop]")
	h.shows("dialog[open]", "They are never sent then")
	h.in(".danger")
	h.lacks("[data-others]")
	h.Visit("/tablet")
	h.shows("[data-value=good]", "6")
	h.Until(`document.querySelector(".t-state.ok") && !document.querySelector("[data-others]")`)
	h.Clean()
}
