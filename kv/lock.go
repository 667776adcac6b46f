package kv

import (
	"errors"
	"os"
	"time"
)

// lockRetry is how long to wait before a lock is tried again.
const lockRetry = 20 * time.Millisecond

// LockFile takes the lock of a file for this process, in the way that Open takes a store's, and gives a function that
// gives it back. On a store file it tells whether a process has the store open; any other file, made when there is none,
// keeps processes apart. One that root makes in another user's directory belongs to that user, who must be able to lock it
// too. The lock goes with the process when that dies. Error: ErrLocked after the time given; 0 is one try.
func LockFile(path string, timeout time.Duration) (unlock func() error, err error) {
	op := "lock " + path
	f, err := openLock(path)
	if err != nil {
		return nil, wrap(op, err)
	}
	if err := handOver(f); err != nil {
		return nil, wrap(op, errors.Join(err, f.Close()))
	}
	for end := time.Now().Add(timeout); ; time.Sleep(lockRetry) {
		switch locked, err := tryLock(f); {
		case err != nil:
			return nil, wrap(op, errors.Join(err, f.Close()))
		case locked:
			return f.Close, nil
		case !time.Now().Before(end):
			return nil, errors.Join(&Error{Op: op, Kind: ErrLocked}, f.Close())
		}
	}
}

// openLock opens a file, and makes one where there is none. It never makes the one that a link leads to: whoever owns the
// directory could have root make files anywhere.
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
