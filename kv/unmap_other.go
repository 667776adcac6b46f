//go:build !linux

package kv

import "go.etcd.io/bbolt"

// unmap does nothing where the system reclaims the pages automatically.
func unmap(*bbolt.Tx) error { return nil }
