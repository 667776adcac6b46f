package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// hide turns off the echo of a terminal.
func hide(screen *os.File) error {
	mode, err := unix.IoctlGetTermios(int(screen.Fd()), unix.TCGETS)
	if err != nil {
		return err
	}
	mode.Lflag &^= unix.ECHO
	return unix.IoctlSetTermios(int(screen.Fd()), unix.TCSETS, mode)
}
