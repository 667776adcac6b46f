// Package history keeps what stations did: their segments, minutes and issues, and the hourly sums that figures are made
// of, packed by station and UTC day (monitoring.md sections 1, 3 and 7). All of it is derived: computed again from the
// signals, the ledger and the manifest it comes out the same, byte for byte.
//
// # What goes in
//
// Replace puts what is final of a station, as monitor's Outputs have it, and everything that was there from that moment on
// goes. Days that are over are not touched again unless something late arrives. A segment that lies over midnight is cut
// for storage, and Detail joins it again; an issue is kept whole, once, and found by every range that it has time in.
// ReplaceRows puts the sums of a day: by hour, shift and SKU, and beside them by production day, shift and SKU, for years
// to be added up quickly (Days). PutState keeps a station's state as a place to start computing from again.
//
// What takes long to compute again is kept in a staging copy (Staging) until it is whole, and then takes the place of what
// was kept, in one transaction (Adopt).
//
// # Whole and half known
//
// A station's days follow each other up to a moment, told by Through; what comes after is not final yet, and the floor
// computes it. Sums may lag behind: each day's say up to which moment they hold what the detail holds. Rows and Days give
// that moment, and what comes after it is to be collected from Detail.
//
// # Stored form
//
// Numbers stand in columns, as differences and varints, compressed with zstd; strings and contexts stand once in each
// value. A value carries kv's checksum over its bucket, key and content, so a byte that flips on the disk is found when it
// is read. What passes the checksum and still makes no sense is kv.ErrDamaged too.
//
// The bucket tree:
//
//	historyDetail  (account id, (station, day)) -> segments, minutes, and the issues that lie in this UTC day wholly
//	historyIssue   (account id, (station, (type, end))) -> an issue that ended on a later UTC day than it began
//	historyHour    (account id, (station, day)) -> sums by hour, shift and SKU
//	historyDay     (account id, (station, day)) -> the same sums by production day, shift and SKU
//	historyState   (account id, (station, moment)) -> a station's state, as monitor encodes it
//	historyFormat  "format" -> that of all the above but states; one of another version is dropped, and computed again
//	historyLost    (account id, station) -> from when on, ms, what was dropped is still to be computed
package history
