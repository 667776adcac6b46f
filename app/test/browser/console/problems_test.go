//go:build rig

package console_test

import (
	"testing"

	"opsmon/app/test/browser/webtest"
)

// A problem stays with its object, and not with another one that takes its place, before the next check.
func TestProblemsStayWithWhatTheyAreAbout(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: small()})
	tab := open(t, s, "admin", "/console/skus")
	const skus = `(change) => w.edit((d) => ({ ...d, account: { ...d.account, skus: change(d.account.skus) } }))`
	tab.Eval(workspace(`(` + skus + `)((all) => all.with(1, { ...all[1], unitsPerMinute: -1 }))`))
	tab.Until(workspace(`w.checked === w.doc && w.problems.size === 1`))
	const said = `[...w.problems.keys()].join() + " " + w.problemsBelow(["account", "skus", 0]) + w.problemsBelow(["account", "skus", 1])`
	for _, step := range []struct{ what, do, want string }{
		{"the one before is removed", `(` + skus + `)((all) => all.slice(1))`, "account.skus[0].unitsPerMinute 10"},
		{"that is undone", `w.undo()`, "account.skus[1].unitsPerMinute 01"},
		{"it is removed", `(` + skus + `)((all) => all.toSpliced(1, 1))`, " 00"},
	} {
		if got := webtest.Eval[string](tab, workspace(`(`+step.do+`, `+said+`)`)); got != step.want {
			t.Errorf("when %s the problem is told of %q, not %q", step.what, got, step.want)
		}
	}
	tab.Clean()
}
