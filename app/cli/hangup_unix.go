//go:build unix

package cli

import "os"

// hasTerminal reports whether the process has an open terminal.
func hasTerminal() bool {
	f, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	f.Close()
	return true
}
