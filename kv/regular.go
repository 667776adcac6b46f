package kv

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// OpenRegular opens a regular file for reading. If the path is a FIFO, it fails instead of waiting for a writer.
func OpenRegular(path string) (*os.File, error) {
	return openRegular(path, os.O_RDONLY, 0)
}

func openRegular(path string, flag int, mode os.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, flag|syscall.O_NONBLOCK, mode)
	if err != nil {
		return nil, err
	}
	if err := MustBeRegular(f); err != nil {
		return nil, err
	}
	return f, nil
}

// MustBeRegular closes a file that is not regular and returns an *fs.PathError.
func MustBeRegular(f *os.File) error {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: f.Name(), Err: errors.New("it is not a regular file")}
	}
	if err != nil {
		f.Close()
	}
	return err
}
