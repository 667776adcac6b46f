//go:build !windows

package backup

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// DiskOf gives the room on the disk that a directory is on.
func DiskOf(dir string) (Disk, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return Disk{}, err
	}
	return Disk{Free: int64(s.Bavail) * int64(s.Bsize), Total: int64(s.Blocks) * int64(s.Bsize)}, nil
}

// refusesSync tells whether a file system has no way to sync a directory.
func refusesSync(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP)
}
