//go:build rig

package console_test

import (
	"fmt"
	"testing"

	"opsmon/app/test/browser/webtest"
)

// A field of the manifest is described by codes, and links to the page that changes it.
func TestPlacesOfFields(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: small()})
	tab := open(t, s, "admin", "/console")
	tab.Eval(workspace(`import(document.querySelector("script[type=module]").src.replace("main.js", "where.js")).then((m) => { globalThis.where = (f) => m.placeText(w.doc, f) + " " + m.hrefOf(w, f); })`))
	for field, want := range map[string]string{
		"account.currency": "currency /console/account",
		"account.plants[0].stationGroups[0].stations[1].code": "plants[leeds].stationGroups[mixing].stations[MIX-2].code /console/plants/leeds/mixing/MIX-2",
		"account.skus[2].cycleTime":                           "skus[C].cycleTime /console/skus/C",
		"account.skus[9].cycleTime":                           "skus[9].cycleTime /console/manifest?at=account.skus%5B9%5D.cycleTime",
		"version":                                             "version /console/manifest?at=version",
		"":                                                    " /console/manifest",
	} {
		if got := webtest.Eval[string](tab, fmt.Sprintf("where(%q)", field)); got != want {
			t.Errorf("%q: %q, not %q", field, got, want)
		}
	}
}

// An added object is described in the words and units of the pages, and a warning by the codes on its path.
func TestTheReviewSpeaksToPeople(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: small()})
	tab := open(t, s, "admin", "/console/skus")
	tab.Eval(workspace(`w.edit((d) => ({ ...d, account: { ...d.account, includeReasonCodes: ["NONE"], skus: [...d.account.skus, { code: "D", name: "Date", cycleTime: 90000 }] } }))`))
	button(tab, ".changes", "Review and apply")
	tab.Until(`document.querySelector("dialog .differences") && document.querySelector("dialog .notice.wait li a")`)
	if got := webtest.Eval[string](tab, `document.querySelector("dialog .differences .added details dl").textContent.replace(/\s+/g, " ").trim()`); got != "CodeDCycle time1 min 30 sNameDate" {
		t.Errorf("the SKU is told as %q", got)
	}
	if got := tab.Text("dialog .notice.wait li code"); got != "includeReasonCodes[0]" && got != "includeReasonCodes" {
		t.Errorf("the warning's place is %q", got)
	}
	tab.Axe()
	tab.Clean()
}
