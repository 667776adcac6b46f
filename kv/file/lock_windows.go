package file

import (
	"os"

	"golang.org/x/sys/windows"
)

// TryLock takes the lock of an open file if it is free. bbolt takes the same lock on a store, at the last possible
// byte.
func TryLock(f *os.File) (locked bool, err error) {
	last := windows.Overlapped{Offset: ^uint32(0), OffsetHigh: ^uint32(0)}
	const how = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err = windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &last)
	if err == windows.ERROR_LOCK_VIOLATION {
		return false, nil
	}
	return err == nil, os.NewSyscallError("LockFileEx", err)
}

// handOver does nothing: on Windows permissions are inherited from the directory.
func handOver(*os.File) error { return nil }

// Unlock releases a lock.
func Unlock(f *os.File) error {
	last := windows.Overlapped{Offset: ^uint32(0), OffsetHigh: ^uint32(0)}
	return os.NewSyscallError("UnlockFileEx", windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &last))
}
