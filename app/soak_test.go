//go:build soak

package app

const durabilityRounds = 20
