//go:build !soak

package app

const (
	powerCuts     = 5 // at each sync
	growthMonths  = 4
	growthKeys    = false
	shiftMinutes  = 60
	shiftKills    = 4
	retentionDays = 100
)
