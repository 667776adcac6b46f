//go:build !soak

package monitor_test

// A day of 30 stations; the soak tests have a month.
const stations, days = 30, 1
