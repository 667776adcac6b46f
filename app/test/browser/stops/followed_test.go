//go:build rig

package stops_test

import (
	"strings"
	"testing"
	"time"

	"opsmon/app/test/browser/webtest"
)

// Reading a list that grows meanwhile ends. Stations are refreshed to their last row, one after the other, and again
// after a failure.
func TestAListIsFollowed(t *testing.T) {
	p := open(t)
	tab := p.page("supervisor", "/floor/stops", `document.querySelector(".empty")`)
	tab.Eval(`(async () => {
		const { Followed } = await import(document.querySelector("script[type=module]").src.replace("floor/main.js", "shared/followed.js"));
		const rows = [...Array(2500)].map((_, i) => ({ id: "r" + i, stationCode: "PRESS-1", value: 1 })), real = fetch;
		Object.assign(window, { grows: true, asked: [], failing: 0, under: 0, most: 0 });
		window.fetch = async (path, how) => {
			if (!path.startsWith("/issue?")) return real(path, how);
			const q = new URL(path, location).searchParams, skip = Number(q.get("skip") ?? 0);
			if (window.asked.push(skip) > 50) throw new Error("it asks without end");
			window.most = Math.max(window.most, ++window.under);
			const results = rows.slice(skip, skip + Number(q.get("limit")));
			if (window.grows) rows.unshift({ id: "n" + rows.length, stationCode: "PRESS-1", value: 1 });
			await new Promise((done) => { setTimeout(done, window.slow ?? 0); });
			window.under--;
			if (window.failing-- > 0) return Response.json({ errorMessage: "later" }, { status: 429, headers: { "X-Time": Date.now() } });
			return Response.json({ isSuccess: true, results, paging: { totalElements: rows.length } });
		};
		const list = window.list = new Followed("/issue", () => {});
		await list.read({});
		window.first = [list.loading, String(list.error), list.all.length, window.asked.join(" ")].join("; ");
		Object.assign(window, { grows: false, slow: 700, failing: 1, most: 0 });
		for (const row of rows) row.value = 2;
		list.heard(rows[0]);
		setTimeout(() => list.heard(rows[0]), 900);
	})()`)
	tab.Until(`window.first === "false; null; 2500; 0 1000 2000 2502"`)
	tab.Until(`list.all.length === 2504 && list.total === 2504 && list.all.every((row) => row.value === 2) && window.most === 1`)
	tab.Eval(`list.stop()`)
	tab.Clean()
}

// A range is entered on the plant's clock, whatever the viewer's zone, and the selection shows the actual range, even
// after cancelling.
func TestATimeIsAskedOnThePlantsClock(t *testing.T) {
	p := open(t)
	tab := p.page("supervisor", "/floor/stops", `document.querySelector(".empty")`)
	const chosen = `document.querySelector(".scope select").value`
	for _, from := range []string{"06:00", "07:00"} { // one after the other, neither with a name
		choose(tab, ".scope select", "Other …")
		tab.Until(`document.querySelector("dialog[open]")?.textContent.includes("On the clock of Asia/Tokyo")`)
		set(tab, "#range-from", "2026-02-03T"+from)
		set(tab, "#range-to", "2026-02-03T14:00")
		button(tab, "dialog", "Show")
		gone(tab)
		want := "2026-02-02T2" + map[string]string{"06:00": "1", "07:00": "2"}[from] + ":00:00.000Z/2026-02-03T05:00:00.000Z"
		tab.Until(`new URLSearchParams(location.search).get("range") === "` + want + `" && ` + chosen + ` === "` + want + `"`)
	}
	choose(tab, ".scope select", "Other …")
	button(tab, "dialog", "Cancel")
	gone(tab)
	tab.Until(chosen + `.startsWith("2026-02-02T22:00")`)
	tab.Clean()
}

// An entry about stops is made once, even if its answer was lost and it is repeated. If the network fails, the
// remaining stops of a selection are not tried one by one.
func TestWhatIsSaidTwiceStandsOnce(t *testing.T) {
	p := open(t)
	p.runs("PRESS-1", [2]time.Duration{180 * min, 170 * min}, [2]time.Duration{100 * min, 60 * min})
	one := p.issues("PRESS-1")[0]
	tab := p.page("supervisor", "/floor/stops?range="+rangeOf(p), `document.querySelector(".stop-row[data-issue]")`)
	rows(tab, 2)
	tab.Eval(`(() => { const real = fetch; window.lost = []; window.fetch = async (path, options) => {
		if (options?.method !== "POST" || window.lost.includes(path)) return real(path, options);
		window.lost.push(path);
		await real(path, options);
		throw new TypeError("no network");
	}; })()`)
	stop(tab, one.ID)
	button(tab, ".stop-one", "Escalate")
	tab.Until(`document.querySelector("#f-ask-level")`)
	button(tab, "dialog footer", "Escalate")
	tab.Until(`/does not answer/.test(document.querySelector("dialog .notice.bad")?.textContent)`)
	button(tab, "dialog footer", "Escalate")
	gone(tab)
	if got := p.only("PRESS-1", one.ID); len(got.Events) != 1 {
		t.Errorf("it stands there %d times: %+v", len(got.Events), got.Events)
	}
	tab.Eval(`document.querySelector(".stops-head input").click()`)
	button(tab, ".stops-sum", "Give the cause of 2 stops")
	tab.Until(`document.querySelector("dialog .reason")`)
	tab.Eval(`document.querySelector("dialog .reason").click()`)
	tab.Eval(`(() => { window.lost = []; })()`)
	button(tab, "dialog footer", "Give the cause")
	tab.Until(`/does not answer/.test(document.querySelector("dialog .notice.bad")?.textContent)`)
	if n := webtest.Eval[int](tab, `window.lost.length`); n != 1 {
		t.Errorf("%d were tried without a network", n)
	}
	got := strings.Join(strings.Fields(tab.Text("dialog .notice.bad")), " ")
	if !strings.HasPrefix(got, "0 of 2 stops have their cause.") || !strings.Contains(got, "it is not known whether it has its cause.") || !strings.HasSuffix(got, "1 other was not tried.") {
		t.Errorf("where an answer was lost in the midst of it, it says %q", got)
	}
	tab.Axe()
	if got := webtest.Eval[string](tab, `import(document.querySelector("script[type=module]").src.replace("floor/main.js", "shared/once.js")).then(async ({ once }) => {
		const real = fetch, now = Date.now, keys = [];
		window.fetch = (path, options) => { keys.push(options.headers["Idempotency-Key"]); Date.now = () => now() + 600_000 * keys.length; return Promise.reject(new TypeError("no network")); };
		for (let i = 0; i < 2; i++) await once("POST", "/correction", {}, { limit: 1 }).catch(() => {});
		Object.assign(window, { fetch: real });
		Date.now = now;
		return keys[0] === keys[1] ? "the same" : "another";
	})`); got != "the same" {
		t.Errorf("a write whose answer is given up after 10 min is %s when it is sent again", got)
	}
	tab.Clean()
}
