//go:build !windows

package file

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// SyncDir makes the names in a directory durable: files that were created, renamed or removed there remain so after a
// power cut. Some shares have no such call and refuse it, which is not an error.
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

// RemoveTree removes a directory and its content. A missing directory is not an error. It follows no link, not even
// one that appears meanwhile.
func RemoveTree(dir string) error { return os.RemoveAll(dir) }

// SpaceOf returns the space on the disk of a directory.
func SpaceOf(dir string) (Space, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return Space{}, err
	}
	return Space{Free: int64(s.Bavail) * int64(s.Bsize), Total: int64(s.Blocks) * int64(s.Bsize)}, nil
}

// SameDisk reports whether two directories are on one disk, as far as the system reports.
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
