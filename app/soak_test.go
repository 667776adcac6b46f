//go:build soak

package app

const (
	durabilityRounds = 100
	powerCuts        = 60 // at each sync
)
