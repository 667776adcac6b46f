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
	step func(done string) // called at each step of writing, for tests that end the process there; may be nil
}

func (d disk) path(name string) string { return filepath.Join(d.dir, name) }

// write creates a file with its whole content, or none: it writes and syncs a temporary file, and then renames it. Only
// the service's user may read it.
func (d disk) write(name string, content []byte) error {
	return file.Replace(d.path(name), bytes.NewReader(content), file.Options{Step: d.step})
}

// private removes the rights of everybody except the owner from a file. On Windows the directory's rights apply.
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
