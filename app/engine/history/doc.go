// Package history stores the results of stations: segments, minutes and issues, and the hourly sums that figures are
// calculated from, packed by station and UTC day (monitoring.md sections 1, 3 and 7). All of it is derived data:
// recalculated from the signals, the ledger and the manifest, it is the same byte for byte.
//
// # Writing
//
// Replace stores a station's final results, as in monitor's Outputs, and deletes everything from their start on. A past
// day is only changed by late inputs. A segment across midnight is split for storage and joined by Detail. An issue is
// stored once and whole, and found by every range that it overlaps. ReplaceRows stores the sums of a day: by hour,
// shift and SKU, and also by production day, shift and SKU, so that years can be added up quickly (Days). PutState
// stores a station's state as a checkpoint for recalculation.
//
// The results of a long recalculation are staged (Staging) until they are complete, and then replace the stored results
// in one transaction (Adopt).
//
// # Incomplete data
//
// A station's stored days are contiguous up to the moment returned by Through. Later results are not final, and the
// floor calculates them. Sums may lag behind the detail: each day's sums have the moment up to which they are complete.
// Rows and Days return that moment, and the caller collects later sums from Detail.
//
// # Encoding
//
// Numbers are stored in columns as differences and varints, compressed with zstd. Strings and contexts are stored once
// for each value. kv adds a checksum over bucket, key and content, so that a flipped bit is detected on reading. A
// value with a valid checksum that cannot be decoded is kv.ErrDamaged, too.
//
// The bucket tree:
//
//	historyDetail  (account id, (station, day)) -> segments, minutes, and the issues entirely within this UTC day
//	historyIssue   (account id, (station, (type, end))) -> an issue that ended on a later UTC day than it began
//	historyHour    (account id, (station, day)) -> sums by hour, shift and SKU
//	historyDay     (account id, (station, day)) -> the same sums by production day, shift and SKU
//	historyState   (account id, (station, moment)) -> a station's state, as encoded by monitor
//	historyFormat  "format" -> format of the above except states; data of another one is deleted and recalculated
//	historyLost    (account id, station) -> the moment, ms, from which deleted data must still be recalculated
package history
