// Package datadir makes the data directory, and files in it that belong to its owner.
package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"opsmon/kv/file"
)

// Make makes the data directory when it is not there, for its owner alone. Before there is a store in it, a file of that
// name, its own name and those above it are put on the disk: a store is of no use in a directory that a power cut takes away.
func Make(dir, store string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(dir, store)); err == nil {
		return nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	for dir != "/" {
		dir = filepath.Dir(dir)
		// What cannot be read was not made here either.
		if err := file.SyncDir(dir); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}

// HandOver gives what root has made in another user's data directory to that user: the service that runs as it
// must be able to open the store. A link is handed over itself: that user may have made it, to a file of root's.
func HandOver(dir, file string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || owner.Uid == 0 {
		return nil
	}
	if err := os.Lchown(file, int(owner.Uid), int(owner.Gid)); err != nil {
		return fmt.Errorf("give %s to the owner of its directory: %w", file, err)
	}
	return nil
}
