package kv

import (
	"go.etcd.io/bbolt"
	"golang.org/x/sys/unix"
)

// unmap releases the pages of the file that the process has read, which count as its memory. They remain in the
// system's cache, unless memory is short. The open tx prevents bbolt from moving the mapping.
func unmap(tx *bbolt.Tx) error {
	if _, _, errno := unix.Syscall(unix.SYS_MADVISE, tx.DB().Info().Data, uintptr(tx.Size()), unix.MADV_DONTNEED); errno != 0 {
		return errno
	}
	return nil
}
