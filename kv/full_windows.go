package kv

import (
	"errors"

	"golang.org/x/sys/windows"
)

// isFull reports whether a write failed because the disk or the user's share of it is used up.
func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) ||
		errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}
