package file

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// ErrLocked is the error when another process holds a lock.
var ErrLocked = errors.New("locked by another process")

// lockRetry is how long to wait before a lock is tried again.
const lockRetry = 20 * time.Millisecond

// Lock takes the lock of a file for this process, and returns a function that gives it back. The file is made where
// there is none. One that root makes in another user's directory belongs to that user, who must be able to lock it too.
// The lock goes with the process when that dies. Error: ErrLocked after the time given; 0 is one try.
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

// openLock opens a file, and makes one where there is none. It never makes the one that a link leads to: whoever owns
// the directory could have root make files anywhere.
func openLock(path string) (f *os.File, err error) {
	for range 3 { // another process may make or remove it between the two
		if f, err = os.OpenFile(path, os.O_RDWR, 0o600); !errors.Is(err, os.ErrNotExist) {
			break
		}
		if f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); !errors.Is(err, os.ErrExist) {
			break
		}
	}
	return f, err
}
