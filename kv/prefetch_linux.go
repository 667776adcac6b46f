package kv

import (
	"os"

	"golang.org/x/sys/unix"
)

// prefetch asks the system to read a file into memory sequentially, because a walk in key order reads pages at
// random, which disks are slow at.
func prefetch(f *os.File) {
	_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_WILLNEED) // a hint
}
