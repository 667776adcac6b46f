//go:build rig

package offline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"opsmon/app/test/browser/webtest"
)

// An answer by another server, such as a guest network's page or a proxy, is no result: the action stays queued.
func TestSomebodyElseAnswers(t *testing.T) {
	s, line, tab := wired(t)
	for i, place := range []string{"/auth/profile", "/production"} {
		line.Cut()
		leave(tab, 10+i)
		tab.Eval(fmt.Sprintf(`(() => {
			globalThis.real ??= fetch;
			globalThis.answers = 0;
			const said = [401, 403, 404, 405, 413, 200];
			globalThis.fetch = (at, how) => (String(at).startsWith(%q) && globalThis.answers < said.length ? Promise.resolve(new Response("<h1>Guests</h1>", { status: said[globalThis.answers++], headers: { "Content-Type": "text/html" } })) : real(at, how));
		})()`, place))
		line.Mend()
		tab.Until(`queue.send().then(() => answers === 6 && queue.waiting.length === 0)`)
		if got := webtest.Eval[string](tab, `JSON.stringify([queue.refused, queue.signedOut])`); got != "[[],false]" {
			t.Errorf("where another one answers to %s: %s", place, got)
		}
	}
	if got := entered(s); !slices.Equal(got, []int{10, 11}) {
		t.Errorf("entered: %v", got)
	}
}

// A guest network that answers all requests, with any status, counts as offline: the page keeps its data, even when it
// is opened again, and nobody is signed out.
func TestAGuestNetwork(t *testing.T) {
	s, line, tab := wired(t)
	tab.Until(`document.querySelector("[data-pick]")`)
	tab.Eval(`document.querySelector("[data-pick]").click()`)
	tab.Until(`document.querySelector("dialog[open] [data-do=done]").disabled === false`)
	tab.Eval(`document.querySelector("dialog[open] [data-do=done]").click()`)
	tab.Before(`{
		const real = fetch;
		globalThis.asked = 0;
		globalThis.fetch = (at, how) => {
			if (!localStorage.guests) return real(at, how);
			if (at === "/ready") globalThis.asked++;
			return Promise.resolve(new Response("<h1>Guests</h1>", { status: Number(localStorage.guests), headers: { "Content-Type": "text/html; charset=utf-8" } }));
		};
	}`)
	var want []int
	for i, status := range []int{200, 401, 403, 511} {
		open(tab)
		tab.Until(`document.querySelector(".t-state.ok") && document.querySelector(".now h2")?.textContent === "CUP"`)
		tab.Eval(fmt.Sprintf(`localStorage.guests = %d`, status))
		line.Cut()
		tab.Eval(`queue.send()`)
		leave(tab, 5+i)
		want = append(want, 5+i)
		for _, page := range []string{"that is open", "that is opened anew"} {
			tab.Until(`globalThis.asked > 1 && document.querySelector(".t-state.away") && document.querySelector(".now h2")?.textContent === "CUP"`)
			if got := tab.Text("#tablet"); !strings.Contains(got, "Press 1") || webtest.Eval[bool](tab, `queue.signedOut`) {
				t.Errorf("answered %d, a page %s shows %s", status, page, got)
			}
			if page == "that is open" {
				open(tab)
			}
		}
		line.Mend()
		tab.Eval(`localStorage.removeItem("guests")`)
		tab.Until(`document.querySelector(".t-state.ok") && document.querySelector(".now h2")?.textContent === "CUP" && queue.waiting.length === 0`)
		if got := entered(s); !slices.Equal(got, want) {
			t.Errorf("answered %d: entered %v, want %v", status, got, want)
		}
	}
}
