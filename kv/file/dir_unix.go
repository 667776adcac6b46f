//go:build !windows

package file

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// SyncDir makes the names in a directory last: a file that was made, renamed or removed there is so after a power cut,
// too. Windows does so by itself and has no call for it; neither have some shares, which refuse it.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

func rename(from, to string) error { return os.Rename(from, to) }

// RemoveTree removes a directory with what is in it. One that is not there is fine. It follows no link, whenever that
// is put there.
func RemoveTree(dir string) error { return os.RemoveAll(dir) }

// SpaceOf returns the room on the disk that a directory is on.
func SpaceOf(dir string) (Space, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return Space{}, err
	}
	return Space{Free: int64(s.Bavail) * int64(s.Bsize), Total: int64(s.Blocks) * int64(s.Bsize)}, nil
}

// SameDisk reports whether two directories are on one disk, as far as the system tells.
func SameDisk(a, b string) (bool, error) {
	var one, other unix.Stat_t
	if err := unix.Stat(a, &one); err != nil {
		return false, &os.PathError{Op: "stat", Path: a, Err: err}
	}
	if err := unix.Stat(b, &other); err != nil {
		return false, &os.PathError{Op: "stat", Path: b, Err: err}
	}
	return one.Dev == other.Dev, nil
}
