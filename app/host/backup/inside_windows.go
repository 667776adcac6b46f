package backup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// within is a data directory, which is worked on by plain paths: an os.Root needs calls that not every file system of Windows
// has, and only administrators make links there. Names have slashes.
type within struct{ dir string }

func openWithin(dir string) (within, error) { return within{dir}, nil }

// Close does nothing.
func (w within) Close() error { return nil }

func (w within) at(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

func (w within) exists(name string) bool { return exists(w.at(name)) }

func (w within) remove(name string) error { return remove(w.at(name)) }

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

// removeTree removes a directory with what is in it, by plain calls: os.RemoveAll needs some that not every Windows file
// system has.
func removeTree(dir string) error {
	var paths []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			paths = append(paths, path)
		} else if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	})
	for _, path := range slices.Backward(paths) {
		err = errors.Join(err, remove(path))
	}
	return err
}
