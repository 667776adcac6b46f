//go:build unix

package apptest

import "syscall"

// Terminate is the signal that asks a process to end.
const Terminate = syscall.SIGTERM
