//go:build rig

package tablet_test

import (
	"testing"

	"opsmon/app/test/browser/webtest"
)

// Who works at a station is known until the shift ends, or somebody else says so; then the station says nobody.
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
	h.Eval(unsaid) // as of a page that was left before the answer came
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
	h.do("who") // the second one is chosen
	h.am("ÅSE")
	h.shows(".t-who", "ÅSE")
	h.do("who")
	h.shows(`dialog[open] .tile[aria-pressed="true"]`, "ÅSE")
	h.in(".tile:not([aria-pressed=true])")
	h.shows(".t-who", "KLM")
	// On another tablet they said the same since: when the shift is over here, it stays.
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
	h.Until(`localStorage.getItem(Object.keys(localStorage).find((k) => k.includes(":initials:"))) === "null"`) // it has looked
	if got := works(); got != "KLM" {
		t.Errorf("what was said on another tablet is taken down: %q works there", got)
	}
	h.do("who")
	h.in(".tile")
	h.shows(".t-who", "KLM")
	h.Until(told + ` !== undefined`)
	// The shift ended a second ago, and no answer had told when it was put up.
	h.Eval(ended)
	h.Eval(unsaid)
	h.Visit("/tablet")
	h.shows(".t-who", "Who works here?")
	h.Until(`fetch("/station?stationcodes=PACK-1").then((a) => a.json()).then((a) => a.results[0].currentOperatorInitials === null)`)
	// The next one has begun.
	h.Eval(`(() => { const name = Object.keys(localStorage).find((k) => k.includes(":initials:")); localStorage.setItem(name, JSON.stringify({ initials: "KLM", at: Date.now() - 40 * 3600000, until: 0 })); })()`)
	h.Visit("/tablet")
	h.shows(".t-who", "Who works here?")
	// Who leaves while the network is away is taken down when it is back.
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

// The pages' policy lets the screen be kept awake, and the page asks for it.
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

// A session that ends while somebody works leads nobody away: what is done is kept, and what was read is gone from the browser.
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
	s.Call("POST", "/account", object{"enableRejectProduction": "off"}, nil) // the page is told, and cannot read what changed
	h.do("bad")
	h.key("1")
	h.shows(".t-state", "2 to send")
	if at := webtest.Eval[string](h.Tab, `location.pathname`); at != "/tablet" {
		t.Errorf("the page is at %s", at)
	}
	s.SignIn(h.Tab, "operator")
	h.Visit("/tablet")
	h.shows("dialog[open] h2", "Which stations does this tablet stand at?") // somebody else's
	h.Clean()
}

// While the service refuses to tell what a station does, the page does not say that it is live, and asks again.
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

// What a tablet could not send before it was revoked is not forgotten when it is paired by another name: it is shown until it is
// paired by its own again, or somebody has seen to it.
func TestATabletThatIsPairedByAnotherName(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.Call("POST", "/quick-schedule", object{"stationCode": "PACK-1", "skuCode": "BK-1000", "initials": "ABC"}, nil)
	h := tablet(t, s, webtest.TabletTall, "Packing", "PACK-1")
	h.do("good") // says who works here
	h.key("1")
	h.am("KLM")
	h.said("sent", "1 good")
	var tablets []struct{ ID, Name string }
	s.Call("GET", "/tablet", nil, &tablets)
	s.Call("DELETE", "/tablet/"+tablets[0].ID, nil, nil)
	h.do("good")
	h.key("5")
	h.shows(".t-told", "when it is paired again by its name, Packing")
	h.lacks(`.t-told a[href^="/signin"]`) // by which what waits would be of others
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
	// What somebody has entered by hand is given up by who holds the tablet.
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
