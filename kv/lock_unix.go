//go:build !windows

package kv

import (
	"os"
	"syscall"
)

// tryLock takes the lock that bbolt takes, when nobody has it.
func tryLock(f *os.File) (locked bool, err error) {
	for {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err {
		case nil:
			return true, nil
		case syscall.EWOULDBLOCK:
			return false, nil
		case syscall.EINTR:
		default:
			return false, os.NewSyscallError("flock", err)
		}
	}
}

// unlock gives back the lock that bbolt has taken. Closing the file is not enough as long as it is mapped.
func unlock(f *os.File) error {
	return os.NewSyscallError("flock", syscall.Flock(int(f.Fd()), syscall.LOCK_UN))
}
