//go:build !windows

package kv

import (
	"errors"
	"syscall"
)

// isFull reports whether a write failed because the disk or the user's share of it is used up.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
