// Package issue keeps what people say of stops, slow periods and manual downtimes (monitoring.md section 6): their causes,
// how a stop is split, notes, who has seen it, when it is expected to end, how far it was escalated, and whether it is
// left out of the figures. It also starts and ends manual downtime.
//
// # What is derived, and what is said
//
// Issues themselves are never stored here. The engine finds them (monitor.Issue), and finds them again whenever late
// signals, a correction or a new manifest make a station be computed anew: then an issue may begin earlier or later, be
// two where it was one, be one where it was two, or be gone. What people said is a Record of its own, about the time that
// the issue had when they spoke, and nothing but people ever changes it. Which records belong to which issue is worked out
// each time that it is asked for (Follow), so that the answer depends on what was said and on what is known, and never
// on the order in which both arrived.
//
// # How records follow issues
//
//   - A record is about the issues of its type that have time in common with what it was said of.
//   - An issue's own record is the one that was said of it by name. Where there is none, it is that which was said of a time
//     nearest to its start. An issue that late signals cut in two so keeps its cause in both parts.
//   - The own record's cause holds for the whole issue, however far that has moved or grown since.
//   - Any further record that an issue took in (two stops became one) gives its cause to the time that it was said of, and to
//     no more. Of what was said of one time the last word counts.
//   - The last word is the one that was spoken last (at), not the one that was heard last: a tablet may have been offline. Of
//     two of one moment it is the one that was heard last. An older word is kept as an event and changes nothing.
//   - A record that is about no issue any more is orphaned: kept, shown, and heard again as soon as an issue is there.
//
// # The cause of a minute
//
// People's word comes before the machine's: an error code that is a reason names a stop until somebody does. A part without
// either is uncaused, and shown as such. A stop that is excluded keeps its windows and its place in the list; it is in no
// figure (package oee).
//
// The bucket tree:
//
//	issue      (account, (station, (start, type))) -> Record
//	issueReach (account, station) -> the longest time that a record of the station was said of, ms
//	issueOpen  (account, station) -> the start of the manual downtime that goes on, Unix ms
package issue
