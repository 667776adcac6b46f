package app

import (
	"fmt"
	"os"
	"syscall"
)

// makeDataDir makes the data directory when it is not there, for its owner alone.
func makeDataDir(dir string) error { return os.MkdirAll(dir, 0o700) }

// handOver gives what root has made in another user's data directory to that user: the service that runs as it
// must be able to open the store.
func handOver(dir, file string) error {
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
	if err := os.Chown(file, int(owner.Uid), int(owner.Gid)); err != nil {
		return fmt.Errorf("give %s to the owner of its directory: %w", file, err)
	}
	return nil
}
