package transform

import "golang.org/x/sys/unix"

// limitMemory limits the writable memory of this process; exceeding it ends the process.
func limitMemory(bytes int64) error {
	limit := unix.Rlimit{Cur: uint64(bytes), Max: uint64(bytes)}
	return unix.Setrlimit(unix.RLIMIT_DATA, &limit)
}
