// Package issue records what people enter about stops, slow periods and manual downtimes (monitoring.md section 6):
// causes, splits, notes, acknowledgements, estimates of the end, escalations and exclusions from the figures. It also
// starts and ends manual downtime.
//
// # Issues and records
//
// Issues themselves are not stored here. The engine finds them (monitor.Issue), and finds them again whenever late
// signals, a correction or a new manifest cause a station to be recalculated. An issue may then begin earlier or later,
// be split in two, be merged with another or disappear. What people entered is stored as a Record with the time range
// that the issue had at that moment, and only people change it. Follow matches records with issues on every read. Its
// result depends on the records and the issues, never on the order in which they arrived.
//
// # How records are matched with issues
//
//   - A record belongs to all issues of its type that overlap its time range.
//   - An issue's own record is the one with the same start. Without one, it is the overlapping record whose range is
//     nearest to the issue's start. If late signals cut an issue in two, both parts therefore keep the cause.
//   - The cause in the own record applies to the whole issue, even after the issue has moved or grown.
//   - If two issues became one, the other record's cause applies only to that record's time range. Where the ranges of
//     several records overlap, the latest entry wins.
//   - The latest entry is the one with the latest time of entry (at), not the one received last, because a tablet may
//     have been offline. Of two entries with the same time, the one received last wins. An older entry is stored as an
//     event and changes nothing else.
//   - A record that matches no issue is orphaned. It is stored and shown, and applies again as soon as an issue
//     matches.
//
// # The cause of a minute
//
// A cause entered by a person overrides the machine's. An error code that is a reason is the cause of a stop until a
// person enters another. A part without a cause is shown as uncaused. An excluded stop keeps its windows and its place
// in the list but counts in no figure (package oee).
//
// The bucket tree:
//
//	issue      (account, (station, (start, type))) -> Record
//	issueReach (account, station) -> the longest time range of the station's records, ms
//	issueOpen  (account, station) -> the start of the manual downtime in progress, Unix ms
package issue
