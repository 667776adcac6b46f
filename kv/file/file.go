// Package file has what the operating systems do each in their own way, and what a power cut would undo: locks, free
// space, names that last, and files that are replaced whole.
package file

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Exists reports whether a name is taken, also by a link that leads nowhere.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Remove removes a file that may be gone already.
func Remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Rename gives a file another name, which lasts when it returns. A file that has that name is replaced.
func Rename(from, to string) error {
	if err := rename(from, to); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(to))
}

// Link gives a file a second name, or where the file system has no links that name only. Error: fs.ErrExist when the
// name is taken, also by who was faster.
func Link(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if Exists(to) {
		return &os.LinkError{Op: "link", Old: from, New: to, Err: fs.ErrExist}
	}
	return os.Rename(from, to)
}

// Options are what Replace does besides. The zero value is a file that only its owner may read.
type Options struct {
	Mode fs.FileMode // 0 = 0600

	// Ready is called with the new file, whole and on the disk, before it takes its place. Its error leaves the old one
	// there.
	Ready func(temp string) error

	// Rename gives the new file its name, where that takes more than usual.
	Rename func(from, to string) error

	// Step is told of each step, for tests that end the process there.
	Step func(done string)
}

// Replace gives a file new content, whole or not at all: it is written to a file whose name ends in .new, synced, and
// renamed.
func Replace(path string, content io.Reader, o Options) (err error) {
	if o.Mode == 0 {
		o.Mode = 0o600
	}
	if o.Ready == nil {
		o.Ready = func(string) error { return nil }
	}
	if o.Rename == nil {
		o.Rename = rename
	}
	if o.Step == nil {
		o.Step = func(string) {}
	}
	temp, name := path+".new", filepath.Base(path)
	if err := Remove(temp); err != nil { // a link to elsewhere would be written through
		return err
	}
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	placed := false
	defer func() {
		if !placed {
			err = errors.Join(err, Remove(temp))
		}
	}()
	o.Step("create " + name + ".new")
	_, err = io.Copy(f, content)
	o.Step("write " + name + ".new")
	if err == nil {
		err = f.Chmod(o.Mode)
	}
	if err == nil {
		err = f.Sync()
		o.Step("sync " + name + ".new")
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := o.Ready(temp); err != nil {
		return err
	}
	if err := o.Rename(temp, path); err != nil {
		return err
	}
	placed = true
	o.Step("rename " + name)
	err = SyncDir(filepath.Dir(path))
	o.Step("sync directory")
	return err
}

// Space is the room on a disk, in bytes.
type Space struct {
	Free  int64 // for this user
	Total int64
}
