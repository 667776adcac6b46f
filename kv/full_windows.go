package kv

import (
	"errors"

	"golang.org/x/sys/windows"
)

// isFull reports whether a write failed because the disk is full or the user's quota is exceeded.
func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) ||
		errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}
