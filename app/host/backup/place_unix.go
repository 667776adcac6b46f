//go:build !windows

package backup

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"opsmon/kv/file"
)

// openUnfollowed opens a regular file for its lock, and tells whose it is; nil for anything else.
func openUnfollowed(path string) (f *os.File, uid int, err error) {
	if f, err = os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0); err != nil {
		return nil, 0, err
	}
	var s unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &s); err != nil {
		return nil, 0, errors.Join(os.NewSyscallError("fstat", err), f.Close())
	}
	if s.Mode&unix.S_IFMT != unix.S_IFREG || s.Nlink == 0 {
		return nil, 0, f.Close()
	}
	return f, int(s.Uid), nil
}

// hold takes the lock that keeps a file from being swept. It has a descriptor of its own: the lock outlasts the one that the
// file is written by. What it has just made may belong to another user: a stick with FAT and many shares have one owner for all
// files. Error: errSwept.
func hold(path string) (release func(), err error) {
	f, _, err := openUnfollowed(path)
	if err != nil || f == nil {
		return nil, errors.Join(errSwept, err)
	}
	switch locked, err := file.TryLock(f); {
	case err != nil: // some shares have no locks: nothing there is swept either
		return func() {}, f.Close()
	case !locked:
		return nil, errors.Join(errSwept, f.Close())
	}
	var s unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &s); err != nil || s.Nlink == 0 { // removed between the two
		return nil, errors.Join(errSwept, f.Close())
	}
	return func() { f.Close() }, nil
}

// removeAbandoned removes a file of this user's that nobody holds.
func removeAbandoned(path string) error {
	f, uid, err := openUnfollowed(path)
	if err != nil || f == nil {
		return err
	}
	defer f.Close()
	if uid != os.Geteuid() {
		return nil
	}
	if locked, _ := file.TryLock(f); !locked {
		return nil
	}
	return os.Remove(path)
}
