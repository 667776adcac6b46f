//go:build !linux

package upgrade

import (
	"os"
	"path/filepath"
)

// pin is for Linux: elsewhere the data directory belongs to whoever upgrades.
func pin(path string) (pinned string, release func(), err error) { return path, func() {}, nil }

// openIn opens a file in a directory.
func openIn(dir, name string) (*os.File, error) { return os.Open(filepath.Join(dir, name)) }
