//go:build rig

package webtest

import "testing"

// Problems returns what Clean and Axe would complain of.
func Problems(t *testing.T, p *Tab) []string {
	t.Helper()
	return append(p.barriers(), p.noted()...)
}
