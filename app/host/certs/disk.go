package certs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"opsmon/kv"
)

// disk is the directory of the authority's files.
type disk struct {
	dir  string
	step func(done string) // told of each step of writing, for tests that end the process there; may be nil
}

func (d disk) path(name string) string { return filepath.Join(d.dir, name) }

// write makes a file with its whole content, or none: it is written under another name, synced, and then given its
// own. Only the user that the service runs as may read it.
func (d disk) write(name string, content []byte) (err error) {
	temp := d.path(name + ".new")
	if err := os.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) { // of an attempt that was cut off
		return err
	}
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	d.did("create " + name + ".new")
	_, err = f.Write(content)
	d.did("write " + name + ".new")
	if err == nil {
		err = f.Sync()
		d.did("sync " + name + ".new")
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	if err := os.Rename(temp, d.path(name)); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	d.did("rename " + name)
	err = kv.SyncDir(d.dir)
	d.did("sync directory")
	return err
}

func (d disk) did(what string) {
	if d.step != nil {
		d.step(what)
	}
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
