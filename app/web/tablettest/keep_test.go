package tablettest_test

import (
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"opsmon/app/web/webtest"
)

// Who works at a station is known until the shift ends, or somebody else says so; then the station says nobody.
func TestInitialsHoldForTheShift(t *testing.T) {
	s := serve(t, nil)
	h := tablet(t, s, webtest.TabletTall, "Packing", "PACK-1")
	h.do("who")
	h.am("KLM")
	h.shows(".t-who", "KLM")
	h.Visit("/tablet")
	h.shows(".t-who", "KLM")
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
	// The shift ended a second ago.
	h.Eval(`(() => { const name = Object.keys(localStorage).find((k) => k.includes(":initials:")), kept = JSON.parse(localStorage.getItem(name)); localStorage.setItem(name, JSON.stringify({ ...kept, until: Date.now() - 1000 })); })()`)
	h.Visit("/tablet")
	h.shows(".t-who", "Who works here?")
	h.Until(`fetch("/station?stationcodes=PACK-1").then((a) => a.json()).then((a) => a.results[0].currentOperatorInitials === null)`)
	// The next one has begun.
	h.Eval(`(() => { const name = Object.keys(localStorage).find((k) => k.includes(":initials:")); localStorage.setItem(name, JSON.stringify({ initials: "KLM", at: Date.now() - 40 * 3600000, until: 0 })); })()`)
	h.Visit("/tablet")
	h.shows(".t-who", "Who works here?")
	h.Clean()
}

// The pages' policy lets the screen be kept awake, and the page asks for it.
func TestTheScreenStaysOn(t *testing.T) {
	s := serve(t, nil)
	h := tablet(t, s, webtest.TabletTall, "Packing", "PACK-1")
	source := `{ const real = WakeLock.prototype.request; window.locks = []; WakeLock.prototype.request = function (kind) { const asked = real.call(this, kind); window.locks.push(asked); return asked; }; }`
	if _, err := chromedp.Call(h.Context(), page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: source}); err != nil {
		t.Fatal(err)
	}
	h.Visit("/tablet")
	h.shows("h1", "Packer 1")
	if held := webtest.Eval[string](h.Tab, `window.locks.length === 1 && window.locks[0].then((l) => l.type + " " + l.released, (e) => e.name + ": " + e.message)`); held != "screen false" {
		t.Errorf("the lock is %s", held)
	}
	h.Clean()
}
