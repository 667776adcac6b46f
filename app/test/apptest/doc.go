// Package apptest runs the product's program for the tests of package app and of the rooms beside it: it is built once for
// all tests of a room, is run to its end or as a service, and is asked over HTTP.
package apptest
