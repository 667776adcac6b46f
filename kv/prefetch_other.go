//go:build !linux

package kv

import "os"

// prefetch does nothing where the system reads ahead by itself.
func prefetch(*os.File) {}
