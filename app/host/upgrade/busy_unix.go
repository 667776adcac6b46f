//go:build !windows

package upgrade

import (
	"errors"
	"syscall"
)

// busy reports whether a program could not be run because it is still open for writing.
func busy(err error) bool { return errors.Is(err, syscall.ETXTBSY) }
