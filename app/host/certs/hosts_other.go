//go:build !windows

package certs

// fullNames gives nothing: the machine's name and the search domain make its full name.
func fullNames() []string { return nil }
