package upgrade

import (
	"errors"

	"golang.org/x/sys/windows"
)

// busy reports whether a program could not be run because it is still open, by a scanner for instance.
func busy(err error) bool { return errors.Is(err, windows.ERROR_SHARING_VIOLATION) }
