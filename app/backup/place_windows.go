package backup

import "golang.org/x/sys/windows"

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

// refusesSync is of no use here: directories are not synced.
func refusesSync(error) bool { return false }
