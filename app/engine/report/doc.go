// Package report calculates the figures of a range: minute windows and their sums, timelines, OEE, energy, Pareto
// lists, cycle times and standstills (monitoring.md sections 3, 4 and 7). It handles ranges, resolutions, grouping and
// limits of size, but no requests: a caller makes a Selection, reads its figures and encodes them.
//
// Times are Unix ms and durations ms. Integer units and kWh are millionths (monitor.Micro). Results are calculated
// station by station from the results of package floor, a few days at a time, so a year of a plant fits into memory.
// Long-running methods take a context and return its error.
package report
