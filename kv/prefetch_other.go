//go:build !linux

package kv

import "os"

// prefetch does nothing on systems without such a call.
func prefetch(*os.File) {}
