//go:build rig

package offline_test

import (
	"slices"
	"testing"

	"opsmon/app/test/browser/webtest"
)

// If answers take longer than the queue's initial timeout, the timeout increases until actions are sent. Immediate
// failures do not increase it.
func TestALineThatIsSlow(t *testing.T) {
	s, line, tab := wired(t)
	line.Cut()
	leave(tab, 10)
	leave(tab, 11)
	tab.Eval(`(() => {
		const real = fetch, timeout = AbortSignal.timeout.bind(AbortSignal);
		let limit = 0;
		globalThis.limits = [];
		AbortSignal.timeout = (ms) => timeout(globalThis.slow && ms === 15_000 ? 5 : ms, limit = ms);
		globalThis.fetch = (at, how) => {
			if (!/^.(production|auth)/.test(at)) return real(at, how);
			limits.push(limit);
			return globalThis.slow && limit < 25_000 ? new Promise((_, fail) => { how.signal.onabort = () => fail(how.signal.reason); }) : real(at, how);
		};
	})()`)
	for range 4 {
		tab.Eval(`queue.send()`)
	}
	if got := webtest.Eval[[]int](tab, `limits.filter((ms) => ms % 15_000 === 0)`); len(got) < 4 || slices.Max(got) > 15_000 {
		t.Errorf("on a line that is cut it waits for an answer %v ms", got)
	}
	tab.Eval(`(() => { globalThis.slow = true; })()`)
	line.Mend()
	tab.Until(`queue.send().then(() => queue.waiting.length === 0)`)
	if got := entered(s); !slices.Equal(got, []int{10, 11}) {
		t.Errorf("entered: %v", got)
	}
}

// A request without an answer is sent again when the network is back, and on request of the user.
func TestARequestThatHangs(t *testing.T) {
	s, _, tab := wired(t)
	tab.Until(`document.querySelector("[data-pick]")`)
	tab.Eval(`document.querySelector("[data-pick]").click()`)
	tab.Until(`document.querySelector("dialog[open] [data-do=done]").disabled === false`)
	tab.Eval(`document.querySelector("dialog[open] [data-do=done]").click()`)
	tab.Until(`!document.querySelector("dialog[open]") && document.querySelector(".t-state.ok")`)
	tab.Eval(`(() => {
		const real = fetch, timeout = AbortSignal.timeout.bind(AbortSignal);
		// disables the other timeout
		AbortSignal.timeout = (ms) => (ms === 15_000 ? new AbortController().signal : timeout(ms));
		globalThis.fetch = (at, how) => {
			if (at !== "/production" || !globalThis.hangs) return real(at, how);
			globalThis.hangs = false;
			return new Promise((_, fail) => { how.signal.onabort = () => fail(how.signal.reason); globalThis.hung = true; });
		};
	})()`)
	for i, anew := range []string{
		`(() => { dispatchEvent(new Event("online")); return true; })()`,
		`(() => { const button = document.querySelector("dialog[open] [data-do=send]"); button?.click(); if (!document.querySelector("dialog[open]")) document.querySelector("[data-do=waiting]")?.click(); return Boolean(button); })()`,
	} {
		tab.Eval(`(() => { globalThis.hangs = true; globalThis.hung = false; })()`)
		leave(tab, 10+i)
		tab.Until(`globalThis.hung`)
		tab.Until(anew)
		tab.Until(`queue.waiting.length === 0`)
	}
	if got := entered(s); !slices.Equal(got, []int{10, 11}) {
		t.Errorf("entered: %v", got)
	}
}
