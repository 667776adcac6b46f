// Package oee adds up what stations did and divides it: OEE by four profiles, losses, Pareto lists and cycle times
// (monitoring.md section 7). It is arithmetic: it keeps nothing and reads no clock.
//
// # Terms
//
// Collect makes rows of a station's segments and minutes: one for each hour (or minute), shift and SKU, with the Terms that every
// figure is made of. Terms add up; so a group, a month or a plant is the sum of its rows' terms, and ratios are formed of
// sums and never averaged. Rows are small and few, so they may be kept and a year be added up from them.
//
// # Profiles
//
// All time is known time: what had no data is in no numerator and no denominator, and Coverage says how much is left. A stop
// that people took out of the figures (monitor.Finding) is in none of them either, but in Terms.Excluded, and Coverage does
// not sink by it, as it is known what it was; its windows keep their class.
// Good and bad are the units of scheduled production; those made without a schedule, and those entered while nothing was known of the
// station, are kept beside (monitor.Outside). "all" is good + bad units made under a rate, "production" is time scheduled for it, "stop" is class downtime. Setup and
// changeover, and planned, are what the reason of a stop or of a non-production schedule says of itself (Role).
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
// Q is the same in all. OEE is their product, and not known where one of them is not. A ratio is never cut off: one above
// 1 says so, with what most likely causes it.
package oee
