//go:build !soak

package killtest_test

import "time"

const (
	durabilityRounds = 5
	durabilityStores = 1
	fullDiskRounds   = 2

	floodLasts = 30 * time.Second
	floodIDs   = 10000 // signals with an id a second
)
