// Package apptest runs the product's program for the tests of package app and of the rooms beside it: it is built once for
// all tests of a room, is run to its end or as a service, and is asked over HTTP.
package apptest

import "testing"

// Long skips a test with -short: one that takes long, and in which the race detector sees nothing that it does not see elsewhere.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("NOT RUN: -short leaves out what takes long")
	}
}
