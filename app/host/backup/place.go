package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// publish gives a finished file its name. Without overwrite it fails when the name is taken, also by somebody who was
// faster. Errors: ErrExists, the disk's.
func publish(temp, path string, overwrite bool) error {
	if overwrite {
		return os.Rename(temp, path)
	}
	err := os.Link(temp, path)
	if err == nil {
		return remove(temp)
	}
	if exists(path) {
		return &Error{Kind: ErrExists, Err: errors.New("it was made meanwhile")}
	}
	return os.Rename(temp, path) // some file systems have no links
}

// remove removes a file that may be gone already.
func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Disk is the room on a disk, in bytes.
type Disk struct {
	Free  int64 // for this user
	Total int64
}

// needRoom refuses to put so many bytes into a directory when its disk has no room for them, or when less than a
// percentage of it would stay free. Error: ErrNoRoom.
func needRoom(dir string, bytes int64, percent int) error {
	disk, err := DiskOf(dir)
	if err != nil {
		return fmt.Errorf("find the room in %s: %w", dir, err)
	}
	reserve := disk.Total / 100 * int64(percent)
	if disk.Free-bytes >= reserve {
		return nil
	}
	text := fmt.Sprintf("%s in %s are free, and %s are needed", megabytes(disk.Free), dir, megabytes(bytes))
	if percent > 0 {
		text += fmt.Sprintf(" beside the %d %% of the disk that stay free", percent)
	}
	return &Error{Kind: ErrNoRoom, Err: errors.New(text)}
}

func megabytes(n int64) string { return fmt.Sprintf("%d MB", (n+1e6-1)/1e6) }
