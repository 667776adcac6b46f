//go:build rig

package webtest

import "testing"

// Problems returns the problems found by Clean and Axe.
func Problems(t *testing.T, p *Tab) []string {
	t.Helper()
	return append(p.barriers(), p.noted()...)
}
