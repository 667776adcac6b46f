package cli

// hasTerminal is for Unix: a console that closes asks its processes to end in the way that the system does.
func hasTerminal() bool { return false }
