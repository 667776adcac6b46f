package transform

import "golang.org/x/sys/unix"

// limitMemory bounds the memory that this process may write to; what is beyond ends it.
func limitMemory(bytes int64) error {
	limit := unix.Rlimit{Cur: uint64(bytes), Max: uint64(bytes)}
	return unix.Setrlimit(unix.RLIMIT_DATA, &limit)
}
