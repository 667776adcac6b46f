package kv

import (
	"errors"
	"time"

	"opsmon/kv/file"
)

// LockFile takes the lock of a file in the same way as Open, and returns a function that releases it. On a store file
// it detects a process that has the store open; on any other file it excludes other processes (file.Lock). It returns
// ErrLocked after the timeout; 0 is a single attempt.
func LockFile(path string, timeout time.Duration) (unlock func() error, err error) {
	op := "lock " + path
	unlock, err = file.Lock(path, timeout)
	if errors.Is(err, ErrLocked) {
		return nil, &Error{Op: op, Kind: ErrLocked}
	}
	return unlock, wrap(op, err)
}
