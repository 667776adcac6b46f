//go:build soak

package monitor_test

const stations, days = 30, 30
