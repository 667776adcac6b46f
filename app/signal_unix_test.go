//go:build unix

package app

import "syscall"

// terminate asks a process to end.
const terminate = syscall.SIGTERM
