//go:build !soak

package killtest_test

const (
	durabilityRounds = 5
	durabilityStores = 1
	fullDiskRounds   = 2
)
