//go:build !linux

package kv

import "go.etcd.io/bbolt"

// unmap does nothing where the system takes the pages back by itself.
func unmap(*bbolt.Tx) error { return nil }
