//go:build !soak

package backup

import "testing"

const (
	flips         = 50
	benchmarkSize = 64 << 20 // of the store that is backed up under load, in bytes
	soakLoops     = 1
)

func seed(*testing.T) uint64 { return 1 }
