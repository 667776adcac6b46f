// Package install tests the installed service: on a booted Linux, through an upgrade, and with its own user in parallel
// to root.
package install
