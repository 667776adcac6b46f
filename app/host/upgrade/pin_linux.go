package upgrade

import (
	"fmt"
	"os"
	"syscall"

	"opsmon/kv"
)

// pin returns a path that leads to a directory, which this process has just made, whatever becomes of its name. Root
// needs it: the data directory is the service's own, who could put another directory, full of links, in the place of
// that name.
func pin(path string) (pinned string, release func(), err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return "", nil, err
	}
	release = func() { f.Close() }
	pinned = fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), f.Fd())
	info, err := f.Stat()
	if err != nil {
		release()
		return "", nil, err
	}
	if is, ok := info.Sys().(*syscall.Stat_t); !ok || int(is.Uid) != os.Geteuid() || info.Mode().Perm() != 0o700 {
		release()
		return "", nil, fmt.Errorf("%s is not the directory that was made", path)
	}
	if _, err := os.Stat(pinned); os.Geteuid() != 0 || err != nil { // without /proc the name must do
		return path, release, nil
	}
	return pinned, release, nil
}

// openIn opens a regular file in a directory. A link that leads out of it is not followed.
func openIn(dir, name string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if err := kv.MustBeRegular(f); err != nil {
		return nil, err
	}
	return f, nil
}
