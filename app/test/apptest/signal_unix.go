//go:build unix

package apptest

import "syscall"

// Terminate asks a process to end.
const Terminate = syscall.SIGTERM
