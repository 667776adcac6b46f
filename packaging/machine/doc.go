// Package machine boots a Linux machine for a test: systemd as its first process, with the files of this machine as
// they are, and a layer of its own above them that goes away with the test. It has no network but loopback.
package machine
