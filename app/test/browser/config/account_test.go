//go:build rig

package config_test

import (
	"testing"

	"github.com/chromedp/chromedp/kb"

	"opsmon/app/test/browser/webtest"
)

func TestTheAccountIsSet(t *testing.T) {
	s, tab := console(t, "/console/account", ".flags")
	if got := webtest.Eval[string](tab, `[...document.querySelectorAll("#main input, #main select, #main textarea")].filter((e) => e.disabled).map((e) => e.id.replace("f-ManifestAccount-", "")).join()`); got != "id,domain,stationCountLimit" {
		t.Errorf("%s cannot be changed: what the appliance keeps for itself cannot, and all else can", got)
	}
	flag := `[...document.querySelectorAll(".flags .flag")].find((f) => f.textContent.includes("Quick start"))`
	tab.Eval(flag + `.querySelectorAll("input")[1].click()`)
	draft(t, tab, "enableQuickScheduleStart", `"on"`)
	tab.Eval(flag + `.querySelectorAll("input")[0].click()`)
	draft(t, tab, "enableQuickScheduleStart", "")
	tab.Until(workspace(`!w.dirty`))
	tab.Eval(flag + `.querySelectorAll("input")[2].click()`)
	draft(t, tab, "enableQuickScheduleStart", `"off"`)

	tab.Eval(`(s => { s.value = [...s.options].find((o) => o.text === "SEK").value; s.dispatchEvent(new Event("change", { bubbles: true })); })(document.querySelector("#f-ManifestAccount-currency"))`)
	draft(t, tab, "currency", `"SEK"`)
	tab.Type("#f-ManifestAccount-electricalPricePerKwh", "-1"+kb.Tab)
	tab.Until(`document.querySelector("#f-ManifestAccount-electricalPricePerKwh-problem").textContent.trim() !== ""`)
	looks(t, tab, "account")
	tab.Type("#f-ManifestAccount-electricalPricePerKwh", "0,25"+kb.Tab)
	draft(t, tab, "electricalPricePerKwh", "0.25")
	tab.Until(`document.querySelector("#f-ManifestAccount-electricalPricePerKwh-problem").textContent.trim() === ""`)
	account := apply(s, tab)
	same(t, "the account", []any{account["currency"], account["enableQuickScheduleStart"], account["electricalPricePerKwh"]}, `["SEK","off",0.25]`)
	tab.Clean()
}
