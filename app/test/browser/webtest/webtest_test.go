//go:build rig

package webtest_test

import (
	"fmt"
	"strings"
	"testing"

	"opsmon/app/test/browser/webtest"
)

func TestMain(m *testing.M) { webtest.Main(m) }

func TestTabsKnowNothingOfEachOther(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{})
	admin, reader, nobody := webtest.Open(t, s.Base, webtest.Laptop), webtest.Open(t, s.Base, webtest.TabletTall), webtest.Open(t, s.Base, webtest.TabletWide)
	s.SignIn(admin, "admin")
	s.SignIn(reader, "readonly")
	const who = `fetch("/auth/profile").then((a) => a.json()).then((a) => a.result ? a.result.email + " " + a.result.role : a.errorCode)`
	for tab, want := range map[*webtest.Tab]string{admin: "it@demo.example admin", reader: "readonly@demo.example readonly", nobody: "unauthorizedUser"} {
		tab.Visit("/docs")
		if got := webtest.Eval[string](tab, who); got != want {
			t.Errorf("a tab is signed in as %q, want %q", got, want)
		}
		tab.Clean()
	}
	if got := webtest.Eval[string](reader, "[innerWidth, innerHeight, devicePixelRatio, matchMedia('(pointer: coarse)').matches].join()"); got != "800,1280,2,true" {
		t.Errorf("the tablet is %s", got)
	}
	if webtest.Eval[bool](admin, "document.cookie.includes('session')") {
		t.Error("scripts can read the session")
	}
}

func TestAnEmptyStoreWaitsToBeSetUp(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Empty: true})
	if s.SetupCode == "" || s.Key != "" {
		t.Errorf("setup code %q, key %q", s.SetupCode, s.Key)
	}
}

func TestASimulatedPlantHasAPast(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Simulated: true})
	var stations []struct {
		StationCode, StatusCode string
		IsAlive                 bool
	}
	s.Call("GET", "/station", nil, &stations)
	alive := 0
	for _, station := range stations {
		if station.IsAlive {
			alive++
		}
	}
	if len(stations) < 10 || alive < len(stations)/2 {
		t.Errorf("after a day that was played, these are the stations: %+v", stations)
	}
}

// Forbidden behaviour of a page is detected: this page does all of it.
func TestBrokenPagesAreFound(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{})
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	tab.Visit("/link")
	tab.Eval(`(() => { const s = document.createElement("style"); s.textContent = "p { color: red }"; document.head.append(s); console.warn("loose", 7); setTimeout(() => { throw new Error("broken"); }); })()`)
	tab.Eval(`document.body.append(Object.assign(document.createElement("img"), { src: "data:," }), Object.assign(document.createElement("button"), { id: "dumb" }))`)
	tab.Until(`document.querySelector("#dumb")`)
	found := strings.Join(webtest.Problems(t, tab), "\n")
	for _, want := range []string{"Content Security Policy", "console: warning", "loose", "broken", "image-alt", "button-name"} {
		if !strings.Contains(found, want) {
			t.Errorf("%s is not found in:\n%s", want, found)
		}
	}
}

// TestAnElementThatIsReplacedIsPressed: a page may draw a button again while it is being pressed.
func TestAnElementThatIsReplacedIsPressed(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{})
	p := webtest.Open(t, s.Base, webtest.TabletTall)
	p.Visit("/signin")
	p.Eval(`(() => {
		globalThis.pressed = 0;
		addEventListener("pointerdown", (event) => { if (event.target.matches(".twin")) globalThis.pressed++; });
		const button = document.createElement("button");
		button.className = "twin";
		button.style = "position: fixed; inset: 0 auto auto 0; width: 100px; height: 100px; z-index: 9";
		document.body.append(button);
		let left = 1000;
		const draw = () => { document.querySelector(".twin").replaceWith(button.cloneNode()); if (--left > 0) setTimeout(draw, 0); };
		draw();
	})()`)
	const n = 40
	for range n / 2 {
		p.Tap(".twin")
		p.Click(".twin")
	}
	p.Until(fmt.Sprintf("pressed === %d", n))
}
