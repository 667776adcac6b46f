package kv

import (
	"os"

	"golang.org/x/sys/windows"
)

// tryLock takes the lock that bbolt takes, on the file's last possible byte, when nobody has it.
func tryLock(f *os.File) (locked bool, err error) {
	last := windows.Overlapped{Offset: ^uint32(0), OffsetHigh: ^uint32(0)}
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &last)
	if err == windows.ERROR_LOCK_VIOLATION {
		return false, nil
	}
	return err == nil, os.NewSyscallError("LockFileEx", err)
}

// handOver is for Unix: on Windows the rights come from the directory.
func handOver(*os.File) error { return nil }

// unlock gives back the lock that bbolt has taken.
func unlock(f *os.File) error {
	last := windows.Overlapped{Offset: ^uint32(0), OffsetHigh: ^uint32(0)}
	return os.NewSyscallError("UnlockFileEx", windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &last))
}
