package cli

import (
	"os"

	"golang.org/x/sys/windows"
)

// hide turns off the echo of a console.
func hide(screen *os.File) error {
	var mode uint32
	if err := windows.GetConsoleMode(windows.Handle(screen.Fd()), &mode); err != nil {
		return err
	}
	return windows.SetConsoleMode(windows.Handle(screen.Fd()), mode&^windows.ENABLE_ECHO_INPUT)
}
