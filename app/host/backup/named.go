package backup

import (
	"errors"
	"io/fs"

	"opsmon/app/host/namedfile"
)

// readNamed reads a file that a setting names, as far as it may be kept.
func (p *packing) readNamed(file File) (data []byte, omitted string) {
	data, err := namedfile.Read(file.From)
	if err == nil && file.Opens && namedfile.FirstLine(data) != p.cfg.Passphrase {
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
