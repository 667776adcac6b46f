//go:build rig

package gantt_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"opsmon/app/test/browser/webtest"
)

// module returns an expression that uses the page's modules for tables and times.
func module(body string) string {
	return `(async () => {
		const at = (path) => import(document.querySelector("script[type=module]").src.replace("floor/main.js", path));
		const [table, zone, shifts, ticks, { schemas }] = await Promise.all(["floor/schedules/table.js", "shared/zone.js", "floor/schedules/shifts.js", "floor/schedules/ticks.js", "shared/schema.js"].map(at));
		const all = await schemas();
		` + body + ` })()`
}

// TestTheTableIsReadAsItIsWritten: every schedule is unchanged after export and import, with commas and semicolons, in
// any zone.
func TestTheTableIsReadAsItIsWritten(t *testing.T) {
	c := serve(t)
	c.plan("PACK-1", "PLATE", 60, object{"workOrderReference": "=1+1", "note": "a,b;c\n\"d\" مكبس", "cycleTime": 1500, "autoStart": true, "autoEndOnQuantityComplete": false})
	c.plan("PACK-2", "BOWL", 60, object{"plannedQuantity": 12.5, "unitsPerHour": 0.5, "note": "'quoted"})
	c.plan("PACK-3", "BOWL", 60, object{"plannedQuantity": nil, "plannedEndAt": c.at(300), "extendShift": true})
	c.s.Call("POST", "/schedule", object{"stationCode": "PACK-3", "reasonCode": "CLEAN", "plannedStartAt": c.at(90)}, nil)
	c.open(webtest.Laptop, "readonly")
	for _, wrong := range webtest.Eval[[]string](c.tab, module(`
		const { results } = await (await fetch("/schedule?from=`+c.at(0).Format(time.RFC3339)+`&to=`+c.at(600).Format(time.RFC3339)+`")).json(), wrong = [];
		if (results.length !== 4) wrong.push("there are " + results.length);
		const twice = [{ ...results[2], plannedStartAt: "2026-10-25T00:30:00.000Z", plannedEndAt: "2026-10-25T01:30:00.000Z" }, { ...results[2], id: "b", plannedStartAt: "2026-03-29T00:59:30.000Z", plannedEndAt: "2026-03-29T01:00:00.000Z" }];
		for (const list of [results, twice]) for (const comma of [false, true]) for (const place of ["Europe/Berlin", "UTC", "Asia/Kathmandu", "America/St_Johns"]) {
			const text = table.exportTable(all, list, () => place, comma), read = table.readSchedules(all, text);
			if (read.problems.length || read.unknown.length) wrong.push(JSON.stringify(read.problems) + read.unknown);
			read.rows.forEach((row, i) => {
				const same = table.bodyOfRow(row, list[i], () => place);
				if (Object.keys(same.body).length || same.problems.length) wrong.push(place + " is changed: " + JSON.stringify(same) + text);
				const made = table.bodyOfRow(row, null, () => place);
				for (const name of ["stationCode", "skuCode", "reasonCode", "workOrderReference", "plannedStartAt", "plannedEndAt", "plannedQuantity", "cycleTime", "unitsPerHour", "note"]) if ((made.body[name] ?? null) !== list[i][name]) wrong.push(place + " " + name + " is " + made.body[name] + ", was " + list[i][name]);
			});
		}
		return wrong;`)) {
		t.Error(wrong)
	}
	for text, want := range map[string]string{
		`Station,Start\nPACK-1,2026-03-29 02:30`:                 `2 Start must be a time that the clock of Europe/Berlin shows`,
		`Station,Start\nPACK-1,2026-10-25T02:30`:                 `{"stationCode":"PACK-1","plannedStartAt":"2026-10-25T00:30:00.000Z"}`,
		`Station,Start\nPACK-1,2026-10-25 02:30+01:00`:           `{"stationCode":"PACK-1","plannedStartAt":"2026-10-25T01:30:00.000Z"}`,
		`stationCode;Quantity;Cycle time (s)\nPACK-1;1,5;0,75`:   `{"stationCode":"PACK-1","plannedQuantity":1.5,"cycleTime":750}`,
		`Station,Quantity,Starts by itself\nPACK-1,many,perhaps`: `2 Quantity must be a number`,
		`Station;Quantity\nPACK-1;1.500`:                         `2 Quantity must be a number that cannot be read as another`,
		`Station;Quantity\nPACK-1;1,500`:                         `2 Quantity must be a number that cannot be read as another`,
		`Station,Quantity\nPACK-1,1.500`:                         `2 Quantity must be a number that cannot be read as another: without anything between thousands, or with one more decimal, 1.5000`,
		`Station,Quantity\nPACK-1,1.5000`:                        `{"stationCode":"PACK-1","plannedQuantity":1.5}`,
		`Station;Line speed target\nPACK-1;1.500`:                `2 Line speed target must be a number that cannot be read as another`,
		`Station;Line speed target\nPACK-1;1,500`:                `{"stationCode":"PACK-1","lineSpeedTarget":1.5}`,
		`Station,Quantity\nPACK-1,1.5`:                           `{"stationCode":"PACK-1","plannedQuantity":1.5}`,
		`Quantity\n5`:                                            `1  the first row must name the columns`,
		`Schedule,Quantity\nabc,5\nabc,6`:                        `3 Schedule “abc” stands in row 2 already`,
	} {
		got := webtest.Eval[string](c.tab, module(`
			const read = table.readSchedules(all, `+"`"+text+"`"+`.replaceAll("\\n", "\n")), told = (p) => p.row + " " + p.column + " " + p.issue;
			if (read.problems.length) return read.problems.map(told).join("|");
			const { body, problems } = table.bodyOfRow(read.rows[0], null, () => "Europe/Berlin");
			return problems.length ? problems.map(told).join("|") : JSON.stringify(body);`))
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s\nwant %s", text, got, want)
		}
	}
	c.tab.Clean()
}

// TestATableIsImported: additions, changes and refusals are shown with row and column, and nothing is stored before
// confirmation. Then each row is stored once, even if the import is interrupted and continued.
func TestATableIsImported(t *testing.T) {
	c := serve(t)
	berlin := c.steady()
	a := c.plan("PACK-1", "BOWL", 60, nil)
	c.open(webtest.Laptop, "supervisor")
	c.tab.Until(bar(a.ID))
	local := func(minutes int) string { return c.at(minutes).In(berlin).Format("2006-01-02 15:04") }
	text := strings.Join([]string{
		"Schedule,Station,SKU,Work order,Start,Quantity,Colour",
		a.ID + ",PACK-1,BOWL,WO-1," + local(60) + ",1500,red",
		",PACK-2,BOWL,WO-2," + local(60) + ",600,",
		",PACK-2,PLATE,WO-3," + local(90) + ",600,", // overlaps row 3
		",PACK-3,MUG,WO-4," + local(60) + ",600,",   // not allowed there
		",PACK-3,BOWL,WO-5," + local(60) + ",lots,", // not a number
		",PACK-1,BOWL,WO-6," + local(120) + ",60,",  // overlaps an existing schedule
		",PACK-3,BOWL,WO-7," + local(600) + ",600,",
	}, "\n")
	open := func() {
		c.tab.Eval(`[...document.querySelectorAll(".page-head button")].find((b) => b.textContent.startsWith("Import")).click()`)
		c.tab.Until(`document.querySelector("dialog textarea")`)
	}
	open()
	c.tab.Eval(`(() => { const box = document.querySelector("dialog textarea"); box.value = ` + quote(text) + `; box.dispatchEvent(new Event("input", { bubbles: true })); })()`)
	c.tab.Until(`/2 made, 1 changed, 4 refused/.test(document.querySelector("dialog").textContent)`)
	for _, want := range []string{"Colour", "Row 4, Start: would overlap row 3", "Row 5, SKU: must be a SKU that PACK-3 may run", "Row 6, Quantity: must be a number", "Row 7: at PACK-1 the schedule " + a.ID + " is planned"} {
		if got := c.tab.Text("dialog"); !strings.Contains(got, want) {
			t.Errorf("%q is not told: %s", want, got)
		}
	}
	c.tab.Axe()
	if list := c.list(); len(list) != 1 || *list[0].PlannedQuantity != 1200 {
		t.Errorf("something was written before it was taken: %+v", list)
	}
	// The answer to the second row is lost because of a proxy, then the network fails: the import waits, is
	// interrupted, and continues later.
	c.tab.Eval(`(() => { const real = fetch; let n = 0; window.restore = () => { window.fetch = real; }; window.fetch = async (path, options) => {
		if (path !== "/schedule" || options?.method !== "POST") return real(path, options);
		if (++n === 2) { await real(path, options); return new Response("<h1>Guests</h1>", { status: 403 }); }
		if (n > 2) throw new TypeError("no network");
		return real(path, options);
	}; })()`)
	c.tab.Eval(`[...document.querySelectorAll("dialog button")].find((b) => b.textContent.startsWith("Import 3 rows")).click()`)
	c.tab.Until(`/Writing row 1 of 3/.test(document.querySelector("dialog").textContent)`)
	c.tab.Press(kb.Escape) // does not interrupt by accident
	c.tab.Until(`/1 of 3 rows are written/.test(document.querySelector("dialog:last-of-type").textContent)`)
	c.tab.Press(kb.Escape)
	c.tab.Until(`document.querySelectorAll("dialog").length === 1`)
	c.tab.Eval(`[...document.querySelectorAll("dialog button")].find((b) => b.textContent === "Stop").click()`)
	c.tab.Until(`/Broken off. 0 made, 1 changed/.test(document.querySelector("dialog").textContent)`)
	c.s.SignIn(c.tab, "member") // another user of the computer does not see the import
	c.visit(c.begin)
	c.tab.Until(bar(a.ID))
	open()
	if got := c.tab.Text("dialog"); strings.Contains(got, "broken off") {
		t.Errorf("another person is offered to go on: %s", got)
	}
	c.s.SignIn(c.tab, "supervisor")
	c.visit(c.begin)
	c.tab.Until(bar(a.ID))
	open()
	c.tab.Until(`/An import was broken off. 1 of 3 rows/.test(document.querySelector("dialog").textContent)`)
	c.tab.Eval(`[...document.querySelectorAll("dialog button")].find((b) => b.textContent === "Go on").click()`)
	c.tab.Until(`/Done. 2 made, 1 changed, 0 refused/.test(document.querySelector("dialog").textContent)`)
	got := []string{}
	for _, s := range c.list() {
		got = append(got, fmt.Sprint(*s.WorkOrderReference, " ", s.StationCode, " ", *s.PlannedQuantity))
	}
	if want := "WO-1 PACK-1 1500|WO-2 PACK-2 600|WO-7 PACK-3 600"; strings.Join(got, "|") != want {
		t.Errorf("there is %s, not %s", strings.Join(got, "|"), want)
	}
	c.tab.Clean()
}

// list returns all schedules from the start on.
func (c *chart) list() (all []schedule) {
	c.t.Helper()
	c.s.Call("GET", "/schedule?from="+c.at(0).Format(time.RFC3339)+"&to="+c.at(6000).Format(time.RFC3339), nil, &all)
	return all
}

// TestWhatItMadeStays: a schedule that starts and ends while the page is open keeps showing its count; an unknown count
// is not 0; and every row of the table can be opened by keyboard.
func TestWhatItMadeStays(t *testing.T) {
	c := serve(t)
	a := c.plan("PACK-1", "BOWL", 60, nil)
	c.begin = c.begin.Add(-4 * time.Hour)
	c.open(webtest.Laptop, "readonly")
	c.tab.Eval(`document.querySelector(".gantt-table > summary").click()`)
	c.tab.Until(bar(a.ID))
	c.s.Call("POST", "/schedule/"+a.ID+"/start", object{"at": time.Now().Add(-10 * time.Minute).UTC()}, nil)
	c.s.Call("POST", "/signal", object{"signals": []object{
		{"stationCode": "PACK-1", "at": time.Now().Add(-9 * time.Minute).UTC(), "productive": true, "productionCompleteGood": 5},
		{"stationCode": "PACK-1", "at": time.Now().Add(-8 * time.Minute).UTC(), "productive": true, "productionCompleteGood": 7},
	}}, nil)
	row := func(good string) string {
		return bar(a.ID) + `?.textContent.includes("` + good + ` of 1,200") && [...document.querySelectorAll(".gantt-table tbody td")].some((cell) => cell.dataset.label === "Good" && cell.textContent.trim() === "` + good + `")`
	}
	c.tab.Until(bar(a.ID) + `?.classList.contains("running") && ` + row("12"))
	c.s.Call("POST", "/schedule/"+a.ID+"/end", object{}, nil)
	c.tab.Until(bar(a.ID) + `?.classList.contains("completed") && ` + row("12"))
	if got := webtest.Eval[string](c.tab, module(`
		const { goodOf } = await at("floor/schedules/bars.js");
		return goodOf({ id: "a", kind: "production", state: "completed", goodCount: null, plannedQuantity: 5 }, undefined);`)); got != "–" {
		t.Errorf("what is not known is %q", got)
	}
	c.tab.Eval(`document.querySelector(".gantt-table tbody button").focus()`)
	c.tab.Press(kb.Enter)
	c.tab.Until(`/Good12/.test(document.querySelector("dialog .facts")?.textContent.replace(/\s/g, ""))`)
	c.tab.Clean()
}
