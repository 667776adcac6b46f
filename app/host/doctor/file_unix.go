//go:build !windows

package doctor

import (
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// inspect describes one file or directory.
func inspect(path string, secret bool) (File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return File{}, err
	}
	f := File{Path: path, Dir: info.IsDir(), Others: info.Mode().Perm()&0o007 != 0, Secret: secret, Modified: info.ModTime()}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		f.Owner = strconv.FormatUint(uint64(s.Uid), 10)
		if u, err := user.LookupId(f.Owner); err == nil {
			f.Owner = u.Username
		}
	}
	return f, nil
}
