//go:build soak

package kill_test

import "time"

const (
	durabilityRounds = 10
	durabilityStores = 10
	fullDiskRounds   = 20

	floodLasts                     = 10 * time.Minute
	floodIDs                       = 9000 // signals with an ID per second
	largeStations                  = 10_000
	idleAfter                      = 3 * time.Minute // the memory is measured that much later
	slowestRead                    = 300 * time.Millisecond
	followsIn                      = 5 * time.Second
	endsIn                         = 5 * time.Second
	servesIn                       = 2 * time.Second
	settleChanges                  = 30 * time.Second
	mostResident                   = 250 << 10     // KiB
	manyRevisions, revisedStations = 182_500, 1000 // ten years of 50 changes a day
	revisedServesIn                = 5 * time.Second
)

var changed = []struct{ stations, changes int }{{30, 10_000}, {1000, 1000}}
