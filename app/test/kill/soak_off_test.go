//go:build !soak

package kill_test

import "time"

const (
	durabilityRounds = 5
	durabilityStores = 1
	fullDiskRounds   = 2

	floodLasts = 30 * time.Second
	floodIDs   = 10000 // signals with an ID per second
	// On an unknown machine only hangs are detected.
	slowestRead                    = 10 * time.Second
	followsIn                      = 30 * time.Second
	endsIn                         = 20 * time.Second
	servesIn                       = 30 * time.Second
	settleChanges                  = 0
	mostResident                   = 400 << 10 // KiB
	manyRevisions, revisedStations = 2000, 100
	revisedServesIn                = 30 * time.Second
)

var changed = []struct{ stations, changes int }{{30, 200}, {300, 20}}
