package kv

import (
	"os"

	"golang.org/x/sys/unix"
)

// prefetch has the system read a file into memory from start to end, because a walk in the order of keys jumps about,
// which disks are slow at.
func prefetch(f *os.File) {
	_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_WILLNEED) // a hint
}
