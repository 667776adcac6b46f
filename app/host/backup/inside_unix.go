//go:build !windows

package backup

import (
	"errors"
	"io/fs"
	"os"
)

// within is a data directory in which root works on names that belong to the service's user: no name leads out of it, whatever
// that user exchanges for a link at the same moment. Names have slashes.
type within struct{ *os.Root }

func openWithin(dir string) (within, error) {
	root, err := os.OpenRoot(dir)
	return within{root}, err
}

func (w within) exists(name string) bool {
	_, err := w.Lstat(name)
	return err == nil
}

// remove removes a file that may be gone already.
func (w within) remove(name string) error {
	if err := w.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
