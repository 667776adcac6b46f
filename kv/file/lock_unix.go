//go:build !windows

package file

import (
	"os"
	"path/filepath"
	"syscall"
)

// TryLock takes the lock of an open file when nobody has it. It is the lock that bbolt takes of a store.
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

// handOver gives an empty file of root's to the owner of its directory, unless that may be one that lies elsewhere: the
// owner can put links there.
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

// Unlock gives back a lock. Closing the file is not enough as long as it is mapped.
func Unlock(f *os.File) error {
	return os.NewSyscallError("flock", syscall.Flock(int(f.Fd()), syscall.LOCK_UN))
}
