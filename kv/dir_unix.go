//go:build !windows

package kv

import (
	"errors"
	"os"
	"syscall"
)

// SyncDir makes the names in a directory last: a file that was made, renamed or removed there is so after a power cut, too.
// Windows does so by itself and has no call for it; neither have some shares, which refuse it.
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
