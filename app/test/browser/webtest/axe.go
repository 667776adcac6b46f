package webtest

import _ "embed"

// axeSource is axe-core (MPL-2.0), an accessibility checker: https://github.com/dequelabs/axe-core.
//
//go:embed testdata/axe-core/axe.min.js
var axeSource string

// axeRun lists serious and critical violations of WCAG 2.2, levels A and AA, and of axe's best practices.
const axeRun = `axe.run(document, { resultTypes: ["violations"] }).then((found) => found.violations
	.filter((v) => v.impact === "serious" || v.impact === "critical")
	.flatMap((v) => v.nodes.slice(0, 5).map((n) => v.impact + " " + v.id + ": " + v.help + ": " + n.html.slice(0, 200) + " " + (n.any[0]?.message ?? ""))))`

// Axe checks the accessibility of the page in its present state.
func (p *Tab) Axe() {
	p.t.Helper()
	for _, problem := range p.barriers() {
		p.t.Errorf("%s: %s", Eval[string](p, "location.pathname"), problem)
	}
}

// barriers returns Axe's results.
func (p *Tab) barriers() []string {
	p.t.Helper()
	p.Until("document.readyState === 'complete'")
	if !Eval[bool](p, "typeof axe === 'object'") {
		Eval[bool](p, axeSource+"\n;true")
	}
	return Eval[[]string](p, axeRun)
}
