//go:build rig

package offline_test

import (
	"slices"
	"testing"

	"opsmon/app/test/browser/webtest"
)

const keeping = `import(new URL("../shared/keep.js", document.querySelector('script[type="module"]').src).href)`

// wipe clears a browser's storage under an open page.
func wipe(tab *webtest.Tab) {
	tab.Eval(`new Promise((done, fail) => { const asked = indexedDB.deleteDatabase("opsmon"); asked.onsuccess = done; asked.onerror = fail; })`)
}

// Queued actions, reports, and the actions of other users survive clearing the browser's storage, and are stored again.
func TestABrowserThatIsCleared(t *testing.T) {
	s, line, tab := wired(t)
	tab.Eval(`queue.act({ path: "/production", body: { stationCode: "PRESS-1", reject: 1000, initials: "ABC" }, label: "1,000 rejected", station: "PRESS-1" })`)
	tab.Until(`queue.refused.length === 1`)
	tab.Eval(keeping + `.then(async ({ keep }) => {
		const one = { ...queue.refused[0], body: {}, stamp: "", error: undefined };
		await keep.set("unsure:000000000000001-aaaaaa", { ...one, id: "000000000000001-aaaaaa", label: "unsure" });
		await keep.set("queue:000000000000002-aaaaaa", { ...one, id: "000000000000002-aaaaaa", label: "another's", who: "demo/another@demo.example" });
	})`)
	const told = `JSON.stringify([queue.refused, queue.unsure, queue.others].map((list) => list.map((a) => a.label)))`
	const all = `[["1,000 rejected"],["unsure"],["another's"]]`
	tab.Until("queue.send().then(() => " + told + " === `" + all + "`)")
	line.Cut()
	leave(tab, 10)
	leave(tab, 11)
	wipe(tab)
	leave(tab, 12)
	tab.Eval(`queue.send()`)
	if got := webtest.Eval[int](tab, `queue.waiting.length`); got != 3 {
		t.Errorf("%d wait", got)
	}
	if got := webtest.Eval[string](tab, told); got != all {
		t.Errorf("refused, unsure and of others: %s", got)
	}
	tab.Until(keeping + `.then(({ keep }) => keep.list("queue:")).then((list) => list.length === 4)`)
	line.Mend()
	tab.Eval(`queue.send()`)
	tab.Until(`queue.waiting.length === 0`)
	if got := entered(s); !slices.Equal(got, []int{10, 11, 12}) {
		t.Errorf("entered: %v", got)
	}
	open(tab)
	tab.Until("queue.send().then(() => " + told + " === `" + all + "`)")
}

// If another tab stores data before a page checks, the page still detects that the storage was cleared.
func TestATabThatOpensInAClearedBrowser(t *testing.T) {
	s, _, tab := wired(t)
	tab.Eval(`(() => { queue.send = () => undefined; })()`)
	leave(tab, 10)
	wipe(tab)
	beside := tab.Beside()
	open(beside)
	beside.Until(`queue.send().then(() => true)`)
	tab.Eval(`(() => { delete queue.send; return queue.send(); })()`)
	tab.Until(`queue.waiting.length === 0`)
	if got := entered(s); !slices.Equal(got, []int{10}) {
		t.Errorf("entered: %v", got)
	}
}
