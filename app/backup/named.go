package backup

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// MaxNamed is how large a file that a setting names may be to be in a backup, in bytes: certificates, keys and passwords are
// far smaller.
const MaxNamed = 1 << 20

// ReadNamed reads a file that a setting names: a regular one of MaxNamed bytes at most, since the settings may come from
// anybody's backup and name a device. Error: *fs.PathError.
func ReadNamed(path string) ([]byte, error) {
	refuse := func(why string) error { return &fs.PathError{Op: "read", Path: path, Err: errors.New(why)} }
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, refuse("it is no file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxNamed+1))
	if err == nil && len(data) > MaxNamed {
		err = refuse("it has more than 1 MiB")
	}
	return data, err
}

// readNamed reads a file that a setting names, as far as it may be kept.
func (p *packing) readNamed(file File) (data []byte, omitted string) {
	data, err := ReadNamed(file.From)
	if err == nil && file.Opens && firstLine(data) != p.cfg.Passphrase {
		err = errors.New("it opens other backups")
	}
	if err == nil && file.Secret && !p.header.Encrypted {
		return nil, file.From
	}
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		err = failed.Err // which names no path
	}
	if err != nil {
		return nil, file.From + " (" + err.Error() + ")"
	}
	return data, ""
}
