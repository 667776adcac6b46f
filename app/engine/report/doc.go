// Package report computes the figures of a range: minute windows and their sums, timelines, OEE, energy, Pareto lists, cycle
// times and standstills (monitoring.md sections 3, 4 and 7). It knows ranges, resolutions, what figures are added up by and how
// large an answer may be, and no request: a caller makes a Selection, asks for its figures and encodes them.
//
// Times are Unix ms and lengths of time ms; units and kWh are millionths (monitor.Micro) where they are integers. Results are
// made station by station from what package floor returns, a few days at a time, so that a year of a plant fits in memory. Long
// methods take a context and end with its error.
package report
