//go:build soak

package killtest_test

const (
	durabilityRounds = 10
	durabilityStores = 10
	fullDiskRounds   = 20
)
