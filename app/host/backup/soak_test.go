//go:build soak

package backup

import (
	"math/rand/v2"
	"testing"
)

const (
	flips         = 1000
	benchmarkSize = 1 << 30 // of the store that is backed up under load, in bytes
	soakLoops     = 10
)

func seed(t *testing.T) uint64 {
	n := rand.Uint64()
	t.Logf("seed %d", n)
	return n
}
