//go:build !soak

package kv

import "testing"

const (
	killRounds = 3
	sampleKeys = 150
	bitFlips   = 9
)

func damageSeed(*testing.T) uint64 { return 1 }
