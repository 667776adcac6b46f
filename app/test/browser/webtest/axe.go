package webtest

import _ "embed"

// axeSource is axe-core (MPL-2.0), which looks for what keeps people out: https://github.com/dequelabs/axe-core.
//
//go:embed testdata/axe-core/axe.min.js
var axeSource string

// axeRun lists what is serious or critical by WCAG 2.2, levels A and AA, and by what axe holds for good practice.
const axeRun = `axe.run(document, { resultTypes: ["violations"] }).then((found) => found.violations
	.filter((v) => v.impact === "serious" || v.impact === "critical")
	.flatMap((v) => v.nodes.slice(0, 5).map((n) => v.impact + " " + v.id + ": " + v.help + ": " + n.html.slice(0, 200) + " " + (n.any[0]?.message ?? ""))))`

// Axe checks that people with all sorts of eyes and hands can use the page as it stands.
func (p *Tab) Axe() {
	p.t.Helper()
	for _, problem := range p.barriers() {
		p.t.Errorf("%s: %s", Eval[string](p, "location.pathname"), problem)
	}
}

// barriers lists what Axe finds.
func (p *Tab) barriers() []string {
	p.t.Helper()
	p.Until("document.readyState === 'complete'")
	if !Eval[bool](p, "typeof axe === 'object'") {
		Eval[bool](p, axeSource+"\n;true")
	}
	return Eval[[]string](p, axeRun)
}
