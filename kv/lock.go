package kv

import (
	"errors"
	"time"

	"opsmon/kv/file"
)

// LockFile takes the lock of a file in the way that Open takes a store's, and returns a function that gives it back. On
// a store file it finds out whether a process has the store open; any other file keeps processes apart (file.Lock).
// Error: ErrLocked after the time given; 0 is one try.
func LockFile(path string, timeout time.Duration) (unlock func() error, err error) {
	op := "lock " + path
	unlock, err = file.Lock(path, timeout)
	if errors.Is(err, ErrLocked) {
		return nil, &Error{Op: op, Kind: ErrLocked}
	}
	return unlock, wrap(op, err)
}
