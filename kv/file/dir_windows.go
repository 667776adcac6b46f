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

// SyncDir makes the names in a directory last: a file that was made, renamed or removed there is so after a power cut,
// too. Windows does so by itself and has no call for it.
func SyncDir(string) error { return nil }

// rename renames and returns when that is on the disk.
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

// RemoveTree removes a directory with what is in it. One that is not there is fine. It makes plain calls: os.RemoveAll
// needs some that not every file system of Windows has.
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

// SpaceOf returns the room on the disk that a directory is on.
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

// SameDisk reports whether two directories are on one disk, as far as their paths tell.
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
