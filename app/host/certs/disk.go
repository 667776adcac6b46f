package certs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"opsmon/kv/file"
)

// disk is the directory of the authority's files.
type disk struct {
	dir  string
	step func(done string) // told of each step of writing, for tests that end the process there; may be nil
}

func (d disk) path(name string) string { return filepath.Join(d.dir, name) }

// write makes a file with its whole content, or none: it is written under another name, synced, and then given its
// own. Only the user that the service runs as may read it.
func (d disk) write(name string, content []byte) error {
	return file.Replace(d.path(name), bytes.NewReader(content), file.Options{Step: d.step})
}

// private takes a file's rights away from all but its owner. Windows keeps rights by the directory.
func (d disk) private(name string) (changed bool, err error) {
	if runtime.GOOS == "windows" {
		return false, nil
	}
	info, err := os.Stat(d.path(name))
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return false, err
	}
	if err := os.Chmod(d.path(name), 0o600); err != nil {
		return false, fmt.Errorf("others can read it: %w", err)
	}
	return true, nil
}
