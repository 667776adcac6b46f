//go:build soak

package killtest_test

import "time"

const (
	durabilityRounds = 10
	durabilityStores = 10
	fullDiskRounds   = 20

	floodLasts = 10 * time.Minute
	floodIDs   = 3000 // signals with an id a second
)
