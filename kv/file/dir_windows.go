package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/windows"
)

// SyncDir does nothing: Windows makes the names in a directory durable automatically and has no call for it.
func SyncDir(string) error { return nil }

// rename renames a file durably.
func rename(from, to string) error {
	f, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return err
	}
	t, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return err
	}
	err = windows.MoveFileEx(f, t, windows.MOVEFILE_REPLACE_EXISTING|windows.MOVEFILE_WRITE_THROUGH)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

// RemoveTree removes a directory and its content. A missing directory is not an error. It uses plain calls, because
// os.RemoveAll needs some that not every file system of Windows supports.
func RemoveTree(dir string) error {
	var paths []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			paths = append(paths, path)
		} else if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	})
	for _, path := range slices.Backward(paths) {
		err = errors.Join(err, Remove(path))
	}
	return err
}

// SpaceOf returns the space on the disk of a directory.
func SpaceOf(dir string) (Space, error) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return Space{}, err
	}
	var free, total uint64
	if err := windows.GetDiskFreeSpaceEx(path, &free, &total, nil); err != nil {
		return Space{}, err
	}
	return Space{Free: int64(free), Total: int64(total)}, nil
}

// SameDisk reports whether two directories are on one disk, judged by their paths.
func SameDisk(a, b string) (bool, error) {
	var volumes [2]string
	for i, dir := range []string{a, b} {
		if _, err := os.Stat(dir); err != nil {
			return false, err
		}
		path, err := filepath.Abs(dir)
		if err != nil {
			return false, err
		}
		volumes[i] = filepath.VolumeName(path)
	}
	return strings.EqualFold(volumes[0], volumes[1]), nil
}
