package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"opsmon/kv/file"
)

// publish gives a finished file its name. Without overwrite it fails when the name is taken, also by somebody who was
// faster. Errors: ErrExists, the disk's.
func publish(temp, path string, overwrite bool) error {
	if overwrite {
		return os.Rename(temp, path)
	}
	err := file.Link(temp, path)
	if errors.Is(err, fs.ErrExist) {
		return &Error{Kind: ErrExists, Err: errors.New("it was made meanwhile")}
	}
	if err != nil {
		return err
	}
	return file.Remove(temp)
}

// needRoom refuses to put so many bytes into a directory when its disk has no room for them, or when less than a
// percentage of it would stay free. Error: ErrNoRoom.
func needRoom(dir string, bytes int64, percent int) error {
	disk, err := file.SpaceOf(dir)
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
