//go:build rig

package lists_test

import (
	"testing"

	"opsmon/app/test/browser/webtest"
)

// TestAnOlderAnswerDoesNotReplaceANewerOne: a list is refreshed automatically and after each change, and answers arrive
// in any order.
func TestAnOlderAnswerDoesNotReplaceANewerOne(t *testing.T) {
	_, tab := console(t, "admin", "/console/users", `document.querySelector("#main tbody tr")`)
	got := webtest.Eval[string](tab, `(async () => {
		const { listPage } = await import(document.querySelector("script[type=module]").src.replace("main.js", "listpage.js"));
		const asked = [], made = listPage({ update() {} }, { title: "", load: () => new Promise((answer) => asked.push(answer)), columns: () => [] });
		asked[0](["first"]);
		const { list } = await made, slow = list.reload(), quick = list.reload();
		asked[2](["newer"]);
		await quick;
		asked[1](["older"]);
		await slow;
		return list.rows[0];
	})()`)
	if got != "newer" {
		t.Errorf("the list shows the %s answer", got)
	}
	tab.Clean()
}
