// Package namedfile reads files that settings name: certificates, keys and passwords. The settings may have come with
// anybody's backup, so a name may lead to a device without end.
package namedfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Max is how large such a file may be, in bytes: those that there are are far smaller.
const Max = 1 << 20

// Read reads a regular file of Max bytes at most. Error: *fs.PathError.
func Read(path string) ([]byte, error) {
	refuse := func(why string) error { return &fs.PathError{Op: "read", Path: path, Err: errors.New(why)} }
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, refuse("it is no file") // opening a device may do something
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a FIFO may have come since
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, refuse("it is no file")
	}
	data, err := io.ReadAll(io.LimitReader(f, Max+1))
	if err == nil && len(data) > Max {
		err = refuse("it has more than 1 MiB")
	}
	return data, err
}

// FirstLine returns the first line of a file's text, without its end: the secret of a file that holds one.
func FirstLine(text []byte) string {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return string(bytes.TrimSuffix(line, []byte("\r")))
}
