//go:build rig

package lists_test

import (
	"cmp"
	"strconv"
	"strings"
	"testing"

	"opsmon/app/test/browser/webtest"
)

const skusAreThere = `document.querySelector("h1")?.textContent === "SKUs"`

// TestTablesAreReadAsTheyAreWritten: every list is unchanged after export and import, whatever its values, with commas
// and semicolons.
func TestTablesAreReadAsTheyAreWritten(t *testing.T) {
	_, tab := console(t, "readonly", "/console/skus", skusAreThere)
	const hostile = `["=HYPERLINK(\"http://x\")", "'=1+1", "''-2", "-5", "+44", "@x", "\ttab", "a,b;c\td", "line\r\nbreak\nnext", "\"quoted\"", " blanks ", "مكبس ٤", "\u202eabc", "<img src=x onerror=alert(1)>", "\ufeffmark", "__proto__", "'", "1,5"]`
	got := webtest.Eval[[]string](tab, lists(`
		const odd = `+hostile+`, wrong = [];
		let strange = structuredClone(doc);
		strange.account.skus.forEach((sku, i) => { sku.name = odd[i % odd.length]; sku.specifications = odd[(i + 5) % odd.length]; });
		strange.account.skus.push({ code: "=A1", name: "x" }, { code: "a b", name: "y", stationCodes: [], stationGroupCodes: ["a b"], taskCodes: ["a;b", " c", "none"] }, { code: "'q", name: "z", taskCodes: ["none"], cycleTime: 1 });
		const flat = (list) => list.flatMap((r) => [r, ...flat(r.reasons ?? [])]);
		flat(strange.account.reasons).forEach((r, i) => { r.description = odd[i % odd.length]; });
		strange.account.plants[0].stationGroups.flatMap((g) => g.stations).forEach((s, i) => { s.description = odd[i % odd.length]; });
		for (const whole of [doc, strange]) for (const name of ["skus", "reasons", "stations"]) for (const comma of [false, true]) {
			const text = exportList(name, all, whole, { comma });
			if (text.charCodeAt(0) !== 0xfeff) wrong.push(name + " has no mark");
			const same = importList(name, all, whole, text);
			if (same.doc !== whole || same.problems.length || same.unknown.length) wrong.push(name + " " + JSON.stringify([same.problems, differences(whole, same.doc)]));
			const empty = name === "stations" ? doc : setIn(whole, ["account", name], []);
			const again = importList(name, all, empty, text);
			const left = differences(whole, again.doc).filter((d) => name !== "stations" || d.path.includes(".stations"));
			if (again.problems.length || left.length) wrong.push(name + " into others: " + JSON.stringify([again.problems, left]));
		}
		for (const code of ["createdAt", "statusCode", "alertMessage"]) if (exportList("stations", all, doc, {}).split("\r\n")[0].includes(code)) wrong.push(code + ", which a table cannot change, is a column of stations");
		return wrong;`))
	for _, wrong := range got {
		t.Error(wrong)
	}
	tab.Clean()
}

// TestWhatATableMeans: each text leads to the expected changes or problems.
func TestWhatATableMeans(t *testing.T) {
	_, tab := console(t, "readonly", "/console/skus", skusAreThere)
	for _, c := range []struct{ name, list, text, want, options, look string }{
		{"semicolons and decimal commas", "skus", `code;CYCLE TIME (s);Value of a unit\nPL-16-WHITE;5,35;1.5`, `changed account.skus[PL-16-WHITE].cycleTime 5350|changed account.skus[PL-16-WHITE].value 1.5`, "", ""},
		{"tabs", "skus", `Code\tname\r\nPL-16-WHITE\tA\r\n`, `changed account.skus[PL-16-WHITE].name A`, "", ""},
		{"a comma in a table of commas", "skus", `code,value\nPL-16-WHITE,"1,5"`, `2 Value of a unit must be a number, with digits and a point alone; it is “1,5”`, "", ""},
		{"another rate", "skus", `code,unitsPerMinute\nPL-16-WHITE,12`, `removed account.skus[PL-16-WHITE].cycleTime undefined|added account.skus[PL-16-WHITE].unitsPerMinute 12`, "", ""},
		{"two rates", "skus", `code,unitsPerMinute,unitsPerHour\nPL-16-WHITE,12,1`, `2 Units per hour must be empty, since the row has another rate: an element has one`, "", ""},
		{"an empty cell", "skus", `code,value\nPL-16-WHITE,`, `removed account.skus[PL-16-WHITE].value undefined`, "", ""},
		{"one more", "skus", `code,name,cycle time in seconds\nNEW,New,2\n,,\n`, `added account.skus[NEW] {"code":"NEW","name":"New","cycleTime":2000}`, "", ""},
		{"one more without a name", "skus", `code,name\nNEW,`, `2 Name must not be empty`, "", ""},
		{"bad cells", "skus", `code,name,cycle time (s),partsPerCycle,quick\nPL-16-WHITE,A,43200.1,1.5,x\nPL-16-WHITE,B,0,0,`,
			`2 Cycle time (s) must be 43200 s or less; it is “43200.1”|2 Parts per cycle must be a whole number; it is “1.5”|3 Code “PL-16-WHITE” stands in row 2 already|3 Cycle time (s) must be more than 0 s; it is “0”|3 Parts per cycle must be more than 0; it is “0”|unknown quick`, "", ""},
		{"no code", "skus", `name\nA`, `1 Code the first row must name the columns, and one of them must be Code`, "", ""},
		{"an open quote", "skus", `code,name\nA,"x`, `2  a quote (") is opened and never closed`, "", ""},
		{"a stray quote", "skus", `code,name\nA,x"y`, `2  a quote (") stands inside a cell: put the cell in quotes, and write each quote in it twice`, "", ""},
		{"the rest goes", "reasons", `code\nFAULT\nAIR\n`, `FAULT(AIR)`, "{ remove: true }", "() => names(account.reasons)"},
		{"a parent below", "reasons", `code,parent\nFAULT,AIR`, `2 Parent the reason would stand below itself`, "", ""},
		{"no such parent", "reasons", `code,parent\nAIR,NOPE`, `2 Parent there is no reason “NOPE”`, "", ""},
		{"a reason moves", "reasons", `code,parent,type\nAIR,SETUP,downtime; non_production`, `MOULD GLAZE-COLOUR WARM-UP AIR`, "", `() => names(account.reasons.find((r) => r.code === "SETUP").reasons)`},
		{"a station of no group", "stations", `code,name,plant,group\nX-1,New,riverside,nope`, `2 Group the plant has no group “nope”; add it first`, "", ""},
		{"a bad station", "stations", `code,name,plant,group,Manual downtime,Downtime is detected by\nX-1,New,riverside,packing,maybe,Line speed`, `2 Manual downtime must be one of on, off, inherit; it is “maybe”`, "", ""},
		{"flags", "stations", `code,Manual downtime,Downtime is detected by\nCAST-1,OFF,Line speed`, `off line_speed`, "", `() => station("CAST-1").enableManualDowntime + " " + station("CAST-1").downtimeDetectionMode`},
	} {
		got := webtest.Eval[string](tab, lists(`
			const found = importList("`+c.list+`", all, doc, `+strconv.Quote(strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t").Replace(c.text))+`, `+cmp.Or(c.options, "{}")+`), { account } = found.doc;
			const told = [...found.problems.map((p) => p.row + " " + p.column + " " + p.issue), ...found.unknown.map((u) => "unknown " + u)];
			if (found.problems.length && found.doc !== doc) return "it was taken";
			if (told.length) return told.join("|");
			const names = (list) => list.map((r) => r.code + (r.reasons?.length ? "(" + names(r.reasons) + ")" : "")).join(" ");
			const station = (code) => account.plants[0].stationGroups.flatMap((g) => g.stations).find((s) => s.code === code);
			const look = `+cmp.Or(c.look, "null")+`;
			if (look) return look();
			return differences(doc, found.doc).map((d) => d.kind + " " + d.path + " " + (typeof d.to === "object" ? JSON.stringify(d.to) : d.to)).join("|");`))
		if got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
	tab.Clean()
}
