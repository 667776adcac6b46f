//go:build !soak

package app

const (
	durabilityRounds = 5
	powerCuts        = 5 // at each sync
)
