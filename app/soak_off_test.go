//go:build !soak

package app

const (
	durabilityRounds = 5
	durabilityStores = 1
	fullDiskRounds   = 2
	powerCuts        = 5 // at each sync
	growthMonths     = 4
	growthKeys       = false
	shiftMinutes     = 60
	shiftKills       = 4
)
