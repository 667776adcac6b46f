package backup

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// hold does nothing: a file that is open cannot be removed here, and one that is locked cannot be renamed.
func hold(string) (release func(), err error) { return func() {}, nil }

// removeAbandoned leaves everything to removePartials, since nothing tells who still writes.
func removeAbandoned(string) error { return nil }

// DiskOf gives the room on the disk that a directory is on.
func DiskOf(dir string) (Disk, error) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return Disk{}, err
	}
	var free, total uint64
	if err := windows.GetDiskFreeSpaceEx(path, &free, &total, nil); err != nil {
		return Disk{}, err
	}
	return Disk{Free: int64(free), Total: int64(total)}, nil
}

// sameDisk tells whether two directories are on one disk, as far as their paths tell.
func sameDisk(a, b string) (bool, error) {
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
