//go:build !soak

package kv

const killRounds = 3
