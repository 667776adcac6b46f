// Package signal holds what machines send: an append-only log that is never edited (monitoring.md sections 1 and 2).
//
// A batch of signals is durable when Append returns. It costs one value in the store, whatever stations it is about, so
// that many signals share a sync. The batches that came last are the log's tail, and in memory too. Pack moves them, every
// few minutes, to where they stay: one part a station and day of signal time, sorted and compressed by columns. Late
// signals make further parts of their day; Merge joins a day's parts, into one or few, when the day is long over, and from then on
// nothing changes it. Sweep removes what is older than the retention.
//
// # Ids
//
// An id counts once within seven days, from one source for one station. Ids are kept by 96 bits of their SHA-256: those of the
// tail in memory, all others in the store in sorted runs, which are merged by level and by day and removed as a whole when their
// seven days are over. In memory a run is its filter, which only spares look-ups: whether an id came is decided by the run itself.
// The filters take ten bits an id and at most 56 MiB in all, the ids of the tail 8 MiB, however many ids there are (ids.go).
//
// The bucket tree:
//
//	signalTail  seq -> signals of any station, as they came
//	signalOpen  (account id, (station, day)) -> "": days that have more than one part
//	signal      (account id, (station, (day, part))) -> signals of one station and UTC day, by time
//	signalSettled account id -> ms: what came of signals before it is kept by whoever evaluates them
//	signalLate  (account id, station) -> ms: the earliest signal that was stored after its time was settled
//	signalSwept "log" -> ms: signals before it are removed
//	signalId    (run, block) -> ids in the order of their hashes, and when each came: for seven days
//	signalIdRun run -> what it is of, and its filter: of nearly all ids that it does not have that tells so
//	signalCrowd (account id, station, time) -> number: how many signals have that time, where they are many
//	signalSender (account id, source) -> senderRecord: what is known of who sends, written now and then
package signal

import (
	"cmp"
	"slices"
	"strings"

	"opsmon/app/instant"
	"opsmon/kv"
)

// Field is one of the things that a signal can tell.
type Field uint8

// The fields (monitoring.md section 2). They are stored by number: never give one a new meaning.
const (
	ProductionCompleteGood Field = iota // cycles since the last such signal
	ProductionCompleteBad
	ProductionCountGood // running counter of cycles
	ProductionCountBad
	Productive            // 1 or 0: the machine is producing
	LineSpeed             // raw; shown speed = raw x speedScale + speedOffset
	ElectricalKwh         // meter reading, kWh
	ElectricalKwhInterval // kWh since the last one
	ElectricalKw          // momentary, kW
	ElectricalVolts       // momentary, V
	ElectricalAmps        // momentary, A
	RSSI                  // dBm
	fieldCount
)

// FieldCount is how many fields there are.
const FieldCount = int(fieldCount)

// Values are a signal's numbers by field; which of them are set is told by the mask.
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

// Signal is one message of a machine. Moments are milliseconds since 1970 in UTC.
type Signal struct {
	Account        string
	Station        string
	At             int64  // when it was so
	Arrived        int64  // when the service took it
	Source         string // the credential it came with: "device:<id>", "key:<id>"
	ID             string // the sender's own, "" for none
	ErrorCode      string // the machine's own error, "" for none
	ClockCorrected bool   // its own time was too far in the future, so At is when it arrived
	Values
}

// Sent returns what the signal tells, by the names that HTTP has for it.
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

// Day is the UTC day of a moment, counted from 1970.
func Day(at int64) int64 { return floorDiv(at, instant.DayMs) }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Compare is the order in which signals of one station are evaluated: by time and then by what they say, never by when
// they came, so that the same signals give the same figures in whatever order they arrive.
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

// Sort puts signals of one station in the order of Compare.
func Sort(list []Signal) { slices.SortFunc(list, func(a, b Signal) int { return Compare(&a, &b) }) }

type partKey = kv.Pair[string, kv.Pair[string, kv.Pair[uint64, uint64]]]

// partOf names a part: the day is shifted so that days before 1970 sort as well.
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

// Buckets names the buckets of this room, for kv.Config.Buckets.
func Buckets() []string {
	return []string{tail.Name(), parts.Name(), open.Name(), blocks.Name(), runsKept.Name(), settled.Name(), late.Name(), swept.Name(), sendersKept.Name(), crowdsKept.Name()}
}

// largest bounds numbers: what is larger is no measurement, and sums of it would lose digits.
const largest = 1e9
