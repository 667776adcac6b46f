//go:build !windows

package file

import (
	"os"
	"path/filepath"
	"syscall"
)

// TryLock takes the lock of an open file if it is free. bbolt takes the same lock on a store.
func TryLock(f *os.File) (locked bool, err error) {
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

// handOver gives an empty file of root to the directory's owner, unless the path may be a link, which the owner could
// have placed there.
func handOver(f *os.File) error {
	if os.Geteuid() != 0 {
		return nil
	}
	file, err := f.Stat()
	if err != nil {
		return err
	}
	dir, err := os.Stat(filepath.Dir(f.Name()))
	if err != nil {
		return err
	}
	named, err := os.Lstat(f.Name())
	if err != nil || !named.Mode().IsRegular() || !os.SameFile(named, file) {
		return err
	}
	is, known := file.Sys().(*syscall.Stat_t)
	owner, known2 := dir.Sys().(*syscall.Stat_t)
	if !known || !known2 || file.Size() > 0 || is.Uid != 0 || is.Nlink != 1 || owner.Uid == 0 {
		return nil
	}
	return f.Chown(int(owner.Uid), int(owner.Gid))
}

// Unlock releases a lock. Closing the file is not enough while it is mapped.
func Unlock(f *os.File) error {
	return os.NewSyscallError("flock", syscall.Flock(int(f.Fd()), syscall.LOCK_UN))
}
