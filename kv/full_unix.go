//go:build !windows

package kv

import (
	"errors"
	"syscall"
)

// isFull reports whether a write failed because the disk is full or the user's quota is exceeded.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
