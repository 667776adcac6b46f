//go:build soak

package app

const (
	powerCuts     = 60 // at each sync
	growthMonths  = 18 // more than the 400 days that the ends of keys are kept for
	growthKeys    = true
	shiftMinutes  = 8 * 60
	shiftKills    = 20
	retentionDays = 1200 // three years, and more than the 400 days that Tasks are kept for
)
