// Package oee calculates OEE by four profiles, losses, Pareto lists and cycle times (monitoring.md section 7). It is
// pure arithmetic: it stores nothing and reads no clock.
//
// # Terms
//
// Collect converts a station's segments and minutes to rows: one for each hour (or minute), shift and SKU, with the
// Terms of all figures. Terms are additive: those of a group, a month or a plant are the sum of its rows' terms, and
// ratios are calculated from sums and never averaged. Rows are small and few, so they are stored, and a year is added
// up from them.
//
// # Profiles
//
// Only known time counts: time without data is in no numerator and no denominator, and Coverage is the share of known
// time. Excluded stops (monitor.Finding) are in no ratio either, but in Terms.Excluded. They do not lower Coverage,
// because their time is known, and their windows keep their class. Good and bad are the units of scheduled production.
// Units made without a schedule, or entered while the station's state was unknown, are kept separately
// (monitor.Outside). "all" is good + bad units made under a rate, "production" is time scheduled for it, "stop" is
// class downtime. Setup and changeover, and planned, are the Role of the reason of a stop or of a non-production
// schedule.
//
//	          A                                                   P                          Q
//	default   (production − stop) / production                    all / target               good / (good + bad)
//	iso22400  (productive + slow) / busy                          ideal time / (productive + slow)
//	          in production; busy = production − planned stops
//	          + non-production for setup and changeover
//	vorne     (production − stop) / (production + non-production  ideal time / (production − stop)
//	          for setup, changeover and planned stops)
//	evocon    (productive + slow) / (shift − planned)             productive / (productive + slow)
//	          planned = planned stops + non-production for
//	          anything but setup and changeover
//
// Q is the same in all profiles. OEE is the product of the three, and unknown if one of them is. A ratio is never
// capped: one above 1 is returned with its most likely cause.
package oee
