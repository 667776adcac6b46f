package backup

import (
	"os"
	"path/filepath"

	"opsmon/kv/file"
)

// within is a data directory, which is worked on by plain paths: an os.Root needs calls that not every file system of Windows
// has, and only administrators make links there. Names have slashes.
type within struct{ dir string }

func openWithin(dir string) (within, error) { return within{dir}, nil }

// Close does nothing.
func (w within) Close() error { return nil }

func (w within) at(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

func (w within) exists(name string) bool { return file.Exists(w.at(name)) }

func (w within) remove(name string) error { return file.Remove(w.at(name)) }

// Link makes a second name of a file.
func (w within) Link(name, second string) error { return os.Link(w.at(name), w.at(second)) }

// Rename gives a file another name.
func (w within) Rename(from, to string) error { return os.Rename(w.at(from), w.at(to)) }

// MkdirAll makes a directory and those above it.
func (w within) MkdirAll(name string, perm os.FileMode) error { return os.MkdirAll(w.at(name), perm) }

// OpenFile opens a file.
func (w within) OpenFile(name string, flag int, perm os.FileMode) (*os.File, error) {
	return os.OpenFile(w.at(name), flag, perm)
}

// ReadFile reads a file.
func (w within) ReadFile(name string) ([]byte, error) { return os.ReadFile(w.at(name)) }
