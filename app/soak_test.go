//go:build soak

package app

const (
	durabilityRounds = 100
	fullDiskRounds   = 20
	powerCuts        = 60 // at each sync
)
