//go:build !soak

package backup

import "testing"

const (
	flips     = 100
	soakLoops = 1
)

func seed(*testing.T) uint64 { return 1 }
