package backup

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"opsmon/kv/file"
)

// What a killed `app backup FILE` leaves is removed by the next one in the same directory, at once. Nothing else is: the name
// says which machine was writing, the file belongs to this user, and its lock says that nobody writes it any more. What those
// three do not show to be abandoned stays for a day (removePartials).

// machineMark returns the part of a file name that distinguishes this machine's unfinished files on a share from those
// of other machines.
func machineMark() string {
	host, _ := os.Hostname()
	id, _ := os.ReadFile("/etc/machine-id") // not there on Windows
	sum := sha256.Sum256([]byte(host + "\n" + string(id)))
	return fmt.Sprintf("%x-", sum[:4])
}

// errSwept says that another process took a new file for an abandoned one before this process held it.
var errSwept = errors.New("the file was removed before it was written")

// createHeld makes a file for an unfinished backup of a name, which is not abandoned until release is called.
func createHeld(dir, base string) (f *os.File, release func(), err error) {
	for range 5 {
		if f, err = os.CreateTemp(dir, base+partial+machineMark()+"*"); err != nil {
			return nil, nil, err
		}
		if release, err = hold(f.Name()); err == nil {
			return f, release, nil
		}
		err = errors.Join(err, f.Close(), file.Remove(f.Name()))
	}
	return nil, nil, err
}

// sweepAbandoned removes this machine's and this user's abandoned files from a directory.
func sweepAbandoned(dir string) error {
	entries, err := os.ReadDir(filepath.Clean(dir)) // "" is the present directory
	if err != nil {
		return err
	}
	mark := partial + machineMark()
	for _, entry := range entries {
		if !entry.Type().IsRegular() || !strings.Contains(entry.Name(), mark) {
			continue
		}
		if err := removeAbandoned(filepath.Join(dir, entry.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
