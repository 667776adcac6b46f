//go:build !soak

package app

const durabilityRounds = 5
