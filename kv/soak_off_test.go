//go:build !soak

package kv

import "testing"

const (
	killRounds = 3
	sampleKeys = 150
	bitFlips   = 9

	recordedCommits = 4 // by each of three writers, twice
	powerCuts       = 6 // at each sync
)

func damageSeed(*testing.T) uint64 { return 1 }
