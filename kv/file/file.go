// Package file has file operations that differ between operating systems or must survive a power cut: locks, free
// space, durable names, and atomic replacement of files.
package file

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Exists reports whether a path exists, including a link to a missing file.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Remove removes a file. A missing file is not an error.
func Remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Rename renames a file durably. It replaces an existing file.
func Rename(from, to string) error {
	if err := rename(from, to); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(to))
}

// Link gives a file a second name or, on a file system without links, renames it. It returns fs.ErrExist if the name
// is taken, even if another process was only just faster.
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

// Options modify Replace. The zero value makes a file that only its owner may read.
type Options struct {
	Mode fs.FileMode // 0 = 0600

	// Ready is called with the new file, complete and synced, before it replaces the old one. If it fails, the old
	// file remains.
	Ready func(temp string) error

	// Rename renames the new file to its final name; nil = the function Rename.
	Rename func(from, to string) error

	// Step is called after each step, for tests that end the process there.
	Step func(done string)
}

// Replace replaces a file's content atomically: it writes a file whose name ends in .new, syncs it, and renames it.
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
	if err := Remove(temp); err != nil { // a link would redirect the write
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

// Space is the space on a disk, in bytes.
type Space struct {
	Free  int64 // available to this user
	Total int64
}
