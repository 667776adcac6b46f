// Package apptest runs the product's program for the tests of package app and of other packages. The program is built
// once for all tests of a package, runs to its end or as a service, and is tested over HTTP.
package apptest

import "testing"

// Long skips a slow test with -short, if the race detector cannot find anything in it that other tests do not cover.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("NOT RUN: -short leaves out what takes long")
	}
}
