//go:build !linux

package mdns

// runRole does nothing: the network of the tests needs Linux.
func runRole() bool { return false }
