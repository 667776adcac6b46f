package file

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// ErrLocked means that another process holds the lock.
var ErrLocked = errors.New("locked by another process")

// lockRetry is the wait between two attempts to take a lock.
const lockRetry = 20 * time.Millisecond

// Lock takes the lock of a file for this process, and returns a function that releases it. It creates the file if
// missing. A file that root creates in another user's directory belongs to that user, who must be able to lock it
// too. The lock ends with the process. Lock returns ErrLocked after the timeout; 0 is a single attempt.
func Lock(path string, timeout time.Duration) (unlock func() error, err error) {
	f, err := openLock(path)
	if err != nil {
		return nil, err
	}
	if err := handOver(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	for end := time.Now().Add(timeout); ; time.Sleep(lockRetry) {
		switch locked, err := TryLock(f); {
		case err != nil:
			return nil, errors.Join(err, f.Close())
		case locked:
			return f.Close, nil
		case !time.Now().Before(end):
			return nil, errors.Join(fmt.Errorf("%s is %w", path, ErrLocked), f.Close())
		}
	}
}

// openLock opens a file and creates it if missing. It never creates the target of a link: otherwise the directory's
// owner could make root create files anywhere.
func openLock(path string) (f *os.File, err error) {
	for range 3 { // another process may create or remove it between the two calls
		if f, err = os.OpenFile(path, os.O_RDWR, 0o600); !errors.Is(err, os.ErrNotExist) {
			break
		}
		if f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); !errors.Is(err, os.ErrExist) {
			break
		}
	}
	return f, err
}
