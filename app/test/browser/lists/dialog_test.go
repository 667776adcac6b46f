//go:build rig

package lists_test

import (
	"encoding/json"
	"strings"
	"testing"

	"opsmon/app/test/browser/webtest"
)

// paste pastes a table into the dialog.
func paste(tab *webtest.Tab, text string) {
	b, _ := json.Marshal(text)
	tab.Eval(`(box => { box.value = ` + string(b) + `; box.dispatchEvent(new Event("input", { bubbles: true })); })(document.querySelector("dialog textarea"))`)
}

const ready = `!document.querySelector("dialog footer .primary").disabled`

// TestAnImportIsSeenBeforeItIsTaken: changes are previewed, then become the draft, which can be applied.
func TestAnImportIsSeenBeforeItIsTaken(t *testing.T) {
	_, tab := console(t, "member", "/console/skus", skusAreThere)
	tab.Axe()
	button(tab, ".page-head", "Import CSV")
	tab.Until(`document.querySelector("dialog textarea")`)
	tab.Axe()
	paste(tab, "Code;Name;Cycle time (s);Colour\nPL-16-WHITE;<b>Plate</b>;5,35;red\nNEW-1;New one;0,5;\n")
	tab.Until(ready)
	for _, want := range []string{"Colour", "2 rows read", "21 SKUs are not in the table and stay", "skus[PL-16-WHITE].cycleTime", "5.2 s", "5.35 s", "<b>Plate</b>", "skus[NEW-1]"} {
		if !strings.Contains(tab.Text("dialog"), want) {
			t.Errorf("%q is not told in %s", want, tab.Text("dialog"))
		}
	}
	tab.Axe()
	tab.Shot("import")
	if got := webtest.Eval[bool](tab, lists(`return w.dirty;`)); got {
		t.Error("what is looked at is the draft already")
	}
	button(tab, "dialog footer", "Take over")
	tab.Until(`!document.querySelector("dialog")`)
	button(tab, ".changes", "Review and apply")
	button(tab, "dialog footer", "Apply")
	tab.Until(`!document.querySelector("dialog") && !document.querySelector(".changes")`)
	got := webtest.Eval[string](tab, `fetch("/account/manifest").then((a) => a.json()).then(({ account: { skus } }) => [skus.length, ...[skus[0], skus.at(-1)].flatMap((s) => [s.code, s.name, s.cycleTime])].join("|"))`)
	if want := "23|PL-16-WHITE|<b>Plate</b>|5350|NEW-1|New one|500"; got != want {
		t.Errorf("the plant has %s, want %s", got, want)
	}
	tab.Clean()
}

// TestWhatIsWrongWithATableIsNamed: with problems found by the page or by the service, nothing is imported.
func TestWhatIsWrongWithATableIsNamed(t *testing.T) {
	_, tab := console(t, "admin", "/console/plants", `document.querySelector(".page-head button")`)
	button(tab, ".page-head", "Import CSV")
	tab.Until(`document.querySelector("dialog textarea")`)
	for text, want := range map[string]string{
		"Code,Name,Plant,Group\nX 1,New,riverside,packing\n": `Row 2, Code: must be text of letters without accents`,
		"Code,Shift pattern\nCAST-1,nights\n":                `Row 2, Shift pattern: `,
		"Code,Nominal power (kW)\n\nCAST-1,much\n":           `Row 3, Nominal power (kW): must be a number`,
		"Code,Name\nCAST-1,\"open\n":                         `Row 2: a quote (") is opened`,
	} {
		paste(tab, text)
		b, _ := json.Marshal(want)
		tab.Until(`document.querySelector("dialog .notice.bad")?.textContent.includes(` + string(b) + `)`)
		if !webtest.Eval[bool](tab, `document.querySelector("dialog footer .primary").disabled`) {
			t.Errorf("%q can be taken", text)
		}
	}
	tab.Axe()
	tab.Shot("import-problems")

	// A problem without a cell, such as a group that loses all of its stations, is shown, too.
	rest := webtest.Eval[string](tab, lists(`return "Code\n" + doc.account.plants[0].stationGroups.slice(1).flatMap((g) => g.stations.map((s) => s.code)).join("\n");`))
	tab.Eval(`document.querySelector("dialog input[type=checkbox]").click()`)
	paste(tab, rest)
	tab.Until(`document.querySelector("dialog .notice.bad")?.textContent.includes("plants[0].stationGroups[0].stations")`)
	tab.Eval(`document.querySelector("dialog input[type=checkbox]").click()`)

	// The draft changed during the preview: the previewed changes are imported.
	paste(tab, "Code,Name\nCAST-1,Caster\n")
	tab.Until(ready)
	tab.Eval(lists(`w.edit((doc) => importList("stations", all, doc, "Code,Name\nCAST-1,Bench\n").doc);`))
	button(tab, "dialog footer", "Take over")
	tab.Until(`document.querySelector("dialog del")?.textContent === "Bench"`)
	paste(tab, "Code\nCAST-1\n")
	tab.Eval(`document.querySelector("dialog input[type=checkbox]").click()`)
	tab.Until(`document.querySelector("dialog .differences")?.textContent.includes("stations[CAST-2]") || document.querySelector("dialog .differences")?.textContent.includes("CAST-2")`)
	tab.Clean()
}

// TestFilesThatAreNoUTF8AreRefused: with a hint; UTF-8 is accepted with and without a byte order mark.
func TestFilesThatAreNoUTF8AreRefused(t *testing.T) {
	_, tab := console(t, "admin", "/console/reasons", `document.querySelector(".tree-row")`)
	button(tab, ".page-head", "Import CSV")
	tab.Until(`document.querySelector("dialog input[type=file]")`)
	for _, c := range [][2]string{
		{`[0xff, 0xfe, 67, 0, 111, 0]`, "UTF-16"}, {`[67, 0, 111, 0, 100, 0]`, "not UTF-8"}, {`[67, 111, 100, 101, 10, 0xe9, 10]`, "not UTF-8"}, {`[80, 75, 3, 4]`, "workbook"},
		{`[0xef, 0xbb, 0xbf, ...new TextEncoder().encode("Code,Name\nAIR,Druckluft für alle\n")]`, "Druckluft für alle"},
	} {
		tab.Eval(`((input) => { const t = new DataTransfer(); t.items.add(new File([new Uint8Array(` + c[0] + `)], "list.csv")); input.files = t.files; input.dispatchEvent(new Event("change", { bubbles: true })); })(document.querySelector("dialog input[type=file]"))`)
		tab.Until(`document.querySelector("dialog").innerText.includes("` + c[1] + `")`)
	}
	tab.Until(ready)
	tab.Clean()
}

// TestTheDraftIsExported: as a file that spreadsheets recognize as UTF-8; read-only users may export, too.
func TestTheDraftIsExported(t *testing.T) {
	_, tab := console(t, "readonly", "/console/skus", skusAreThere)
	tab.Eval(`(() => {
		const make = URL.createObjectURL;
		URL.createObjectURL = (blob) => { window.made = blob; return make.call(URL, blob); };
		HTMLAnchorElement.prototype.click = function () { window.file = this.download; };
	})()`)
	button(tab, ".page-head", "Export CSV")
	tab.Until(`window.made && window.file`)
	if got := webtest.Eval[string](tab, `window.file`); got != "demo-skus.csv" {
		t.Errorf("the file is %q", got)
	}
	got := webtest.Eval[string](tab, `window.made.arrayBuffer().then((b) => [...new Uint8Array(b).slice(0, 8)].map((c) => String.fromCharCode(c)).join(""))`)
	if got != "ï»¿Code," {
		t.Errorf("it begins with %q", got)
	}
	if strings.Contains(tab.Text(".page-head"), "Import") {
		t.Error("who only reads can import")
	}
	tab.Clean()
}
