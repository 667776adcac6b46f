// Package signal stores the signals of machines in an append-only log that is never edited (monitoring.md sections 1
// and 2).
//
// A batch of signals is durable when Append returns. It is one value in the store, for any number of stations, so
// many signals share a sync. The latest batches form the log's tail, which is also in memory. Every few minutes, Pack
// moves them to their final place: one part per station and day of signal time, sorted and compressed by column. Late
// signals add parts to their day. When the day is long over, Merge merges its parts into one or few; after that
// nothing changes it. Sweep removes signals beyond the retention.
//
// # Ids
//
// A repeated id counts once within seven days, per source and station. Ids are identified by 96 bits of their
// SHA-256. Those of the tail are in memory, all others in the store in sorted runs, which are merged by level and day
// and removed as a whole after seven days. Only a run's filter is in memory, to avoid lookups; the run itself decides
// whether it has an id. The filters take ten bits per id and at most 56 MiB in total, the ids of the tail 8 MiB, for
// any number of ids (ids.go).
//
// The bucket tree:
//
//	signalTail  seq -> signals of any station, in order of arrival
//	signalOpen  (account id, (station, day)) -> "": days that have more than one part
//	signal      (account id, (station, (day, part))) -> signals of one station and UTC day, by time
//	signalSettled account id -> ms: the results of earlier signals are stored
//	signalLate  (account id, station) -> ms: the earliest signal that was stored after its time was settled
//	signalSwept "log" -> ms: earlier signals are removed
//	signalId    (run, block) -> ids ordered by hash, with the arrival of each: for seven days
//	signalIdRun run -> its numbers, and its filter, which excludes nearly all ids that it does not have
//	signalCrowd (account id, station, time) -> number of signals with that time, if there are many
//	signalSender (account id, source) -> senderRecord: state of a sender, written periodically
package signal

import (
	"cmp"
	"slices"
	"strings"

	"opsmon/app/instant"
	"opsmon/kv"
)

// Field is a measured value of a signal.
type Field uint8

// The fields (monitoring.md section 2). They are stored by number: never change their meaning.
const (
	ProductionCompleteGood Field = iota // cycles since the previous such signal
	ProductionCompleteBad
	ProductionCountGood // running counter of cycles
	ProductionCountBad
	Productive            // 1 or 0: the machine is producing
	LineSpeed             // raw; shown speed = raw x speedScale + speedOffset
	ElectricalKwh         // meter reading, kWh
	ElectricalKwhInterval // kWh since the previous one
	ElectricalKw          // momentary, kW
	ElectricalVolts       // momentary, V
	ElectricalAmps        // momentary, A
	RSSI                  // dBm
	fieldCount
)

// FieldCount is the number of fields.
const FieldCount = int(fieldCount)

// Values are a signal's numbers by field; the mask has a bit for each field that is set.
type Values struct {
	Mask    uint16
	Numbers [FieldCount]float64
}

// Has reports whether a field is set.
func (v *Values) Has(f Field) bool { return v.Mask&(1<<f) != 0 }

// Get returns a field's number and whether it is set.
func (v *Values) Get(f Field) (float64, bool) { return v.Numbers[f], v.Has(f) }

// Set sets a field.
func (v *Values) Set(f Field, n float64) { v.Mask |= 1 << f; v.Numbers[f] = n }

// Signal is one message of a machine. Times are in milliseconds since 1970 in UTC.
type Signal struct {
	Account        string
	Station        string
	At             int64  // time of the measurement
	Arrived        int64  // time of arrival
	Source         string // the sender's credential: "device:<id>", "key:<id>"
	ID             string // set by the sender, "" if none
	ErrorCode      string // the machine's own error code, "" if none
	ClockCorrected bool   // the sender's time was too far in the future, so At is the arrival
	Values
}

// Sent returns the signal's values by their HTTP names.
func (s *Signal) Sent() map[string]any {
	sent := map[string]any{}
	for f, r := range fieldRules {
		switch n, ok := s.Get(Field(f)); {
		case ok && r.flag:
			sent[r.name] = n != 0
		case ok:
			sent[r.name] = n
		}
	}
	if s.ErrorCode != "" {
		sent["errorCode"] = s.ErrorCode
	}
	return sent
}

// Day returns the UTC day of a time, counted from 1970.
func Day(at int64) int64 { return floorDiv(at, instant.DayMs) }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Compare is the order in which signals of one station are evaluated: by time and then by content, never by arrival.
// The same signals therefore have the same results in any order of arrival.
func Compare(a, b *Signal) int {
	if a.At != b.At { // nearly always
		return cmp.Compare(a.At, b.At)
	}
	if c := cmp.Or(strings.Compare(a.Source, b.Source), strings.Compare(a.ID, b.ID),
		strings.Compare(a.ErrorCode, b.ErrorCode), cmp.Compare(a.Mask, b.Mask)); c != 0 {
		return c
	}
	for f := range a.Numbers {
		if c := cmp.Compare(a.Numbers[f], b.Numbers[f]); c != 0 {
			return c
		}
	}
	return 0
}

// Sort sorts signals of one station by Compare.
func Sort(list []Signal) { slices.SortFunc(list, func(a, b Signal) int { return Compare(&a, &b) }) }

type partKey = kv.Pair[string, kv.Pair[string, kv.Pair[uint64, uint64]]]

// partOf returns the key of a part: the day is shifted, so days before 1970 sort correctly.
func partOf(account, station string, day int64, part uint64) partKey {
	return partKey{A: account, B: kv.Pair[string, kv.Pair[uint64, uint64]]{A: station, B: kv.Pair[uint64, uint64]{A: uint64(day) ^ 1<<63, B: part}}}
}

func dayOf(k partKey) int64 { return int64(k.B.B.A ^ 1<<63) }

var (
	tail    = kv.NewBucket("signalTail", kv.Uint64, kv.Raw)
	parts   = kv.NewBucket("signal", kv.PairOf(kv.String, kv.PairOf(kv.String, kv.PairOf(kv.Uint64, kv.Uint64))), kv.Raw)
	open    = kv.NewBucket("signalOpen", kv.PairOf(kv.String, kv.PairOf(kv.String, kv.Uint64)), kv.Raw)
	settled = kv.NewBucket("signalSettled", kv.String, kv.JSON[int64]())
	late    = kv.NewBucket("signalLate", kv.PairOf(kv.String, kv.String), kv.JSON[int64]())
	swept   = kv.NewBucket("signalSwept", kv.String, kv.JSON[int64]())
)

// Buckets returns the names of the package's buckets, for kv.Config.Buckets.
func Buckets() []string {
	return []string{tail.Name(), parts.Name(), open.Name(), blocks.Name(), storedRuns.Name(), settled.Name(), late.Name(), swept.Name(), storedSenders.Name(), storedCrowds.Name()}
}

// largest is the maximum absolute value of a number: a larger one is not a measurement, and sums would lose digits.
const largest = 1e9
