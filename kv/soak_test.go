//go:build soak

package kv

import (
	"math/rand/v2"
	"testing"
)

const (
	killRounds = 20
	sampleKeys = 600
	bitFlips   = 60

	recordedCommits = 16 // by each of three writers, twice
	powerCuts       = 12 // at each sync
)

func damageSeed(t *testing.T) uint64 {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return seed
}
