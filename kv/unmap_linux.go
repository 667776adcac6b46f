package kv

import (
	"go.etcd.io/bbolt"
	"golang.org/x/sys/unix"
)

// unmap lets go of the pages of the file that the process has read, which count as its memory. The system keeps them as it
// keeps those of other files: who reads them again finds them, unless memory was short. tx keeps the map where it is.
func unmap(tx *bbolt.Tx) error {
	if _, _, errno := unix.Syscall(unix.SYS_MADVISE, tx.DB().Info().Data, uintptr(tx.Size()), unix.MADV_DONTNEED); errno != 0 {
		return errno
	}
	return nil
}
