package monitor

import (
	"cmp"
	"math"
	"strings"
)

// InputKind says what an Input is. The order of the kinds is the order in which inputs of one millisecond take effect.
type InputKind uint8

// The kinds of input.
const (
	InputConfig         InputKind = iota + 1 // a manifest revision comes into force
	InputScheduleEnd                         // a schedule ends by hand, by time or by the start of another
	InputScheduleStart                       // a schedule starts; one of its kind that still runs ends
	InputScheduleChange                      // a running schedule gets another quantity, rate or note
	InputManualEnd                           // manual downtime ends
	InputManualStart                         // manual downtime starts
	InputLink                                // a device's live connection begins or ends: a sign of life
	InputSignal                              // a signal: a sign of life
	InputEntry                               // what an operator enters, rejects or corrects
	InputQuantityEnd                         // a schedule ends because a unit completed its quantity: that unit is its own
)

// Has is a set of the values that a signal carries.
type Has uint16

// The values of a signal.
const (
	HasCompleteGood Has = 1 << iota
	HasCompleteBad
	HasCountGood
	HasCountBad
	HasProductive
	HasLineSpeed
	HasKwh
	HasKwhInterval
	HasKw
	HasVolts
	HasAmps
	HasRSSI
)

// Signal is what a machine sent in one message (monitoring.md section 2). Values are finite, and those of counts and
// energy not negative and at most 1e9: the way in refuses others. ErrorCode is "" when there is none.
type Signal struct {
	Has                       Has
	Productive                bool
	CompleteGood, CompleteBad float64 // cycles since the last such signal
	CountGood, CountBad       float64 // running counters of cycles
	LineSpeed                 float64 // raw
	Kwh, KwhInterval          float64
	Kw, Volts, Amps           float64
	RSSI                      float64 // dBm
	ErrorCode                 string
}

// Schedule is what the machine needs of a schedule that runs.
type Schedule struct {
	ID              string
	NonProduction   bool
	SKU             string  // of a production schedule
	Reason          string  // of a non-production schedule
	Quantity        float64 // units; 0: none planned
	Rate                    // the override, or what quantity and end imply
	LineSpeedTarget float64
	PartsPerCycle   float64
	ExtendShift     bool
	WorkOrder       string // as people call it; it changes nothing
}

// Entry is what an operator entered by hand, in units. Good and Bad are negative in corrections alone.
type Entry struct {
	Schedule  string // it counts for this one alone; "" is whatever runs
	Good, Bad float64
	Reject    float64 // good units that turned out bad
	// Correction marks Good and Bad as deltas that put a count right; they are no source of it.
	Correction bool
}

// Input is one thing that happened at a station. Which of the fields count depends on Kind.
type Input struct {
	At     int64 // Unix ms
	Kind   InputKind
	Source string // the device, user or service that it comes from
	ID     string // the signal's own id, or that of the schedule that ends, or of the entry
	Up     bool   // InputLink: begins
	Reason string // InputManualStart: the cause given; "" is none
	Signal
	Schedule Schedule // InputScheduleStart, InputScheduleChange
	Entry    Entry
	Config   *Config // InputConfig
}

// Compare is the total order in which inputs enter a machine: by time, by kind, by source, by id, and then by what they
// carry, so that only inputs that cannot be told apart are equal and the order of arrival never matters.
func Compare(a, b *Input) int {
	if c := cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Source, b.Source), strings.Compare(a.ID, b.ID)); c != 0 {
		return c
	}
	x, y := &a.Signal, &b.Signal
	if c := cmp.Or(cmp.Compare(x.Has, y.Has), boolean(x.Productive, y.Productive), strings.Compare(x.ErrorCode, y.ErrorCode)); c != 0 {
		return c
	}
	p, q := [...]float64{x.CompleteGood, x.CompleteBad, x.CountGood, x.CountBad, x.LineSpeed, x.Kwh, x.KwhInterval, x.Kw, x.Volts, x.Amps, x.RSSI, a.Entry.Good, a.Entry.Bad, a.Entry.Reject, a.Schedule.Quantity},
		[...]float64{y.CompleteGood, y.CompleteBad, y.CountGood, y.CountBad, y.LineSpeed, y.Kwh, y.KwhInterval, y.Kw, y.Volts, y.Amps, y.RSSI, b.Entry.Good, b.Entry.Bad, b.Entry.Reject, b.Schedule.Quantity}
	for i := range p {
		if c := cmp.Compare(p[i], q[i]); c != 0 {
			return c
		}
	}
	return cmp.Or(boolean(a.Up, b.Up), boolean(a.Entry.Correction, b.Entry.Correction), strings.Compare(a.Reason, b.Reason), strings.Compare(a.Schedule.ID, b.Schedule.ID), strings.Compare(a.Entry.Schedule, b.Entry.Schedule), cmp.Compare(revision(a), revision(b)))
}

func boolean(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func revision(in *Input) int64 {
	if in.Config == nil {
		return 0
	}
	return in.Config.Revision
}

// Micro is the number of parts that a unit, or a kilowatt-hour, is counted in. Integers add up to the same whatever the
// order, so a range is exactly the sum of its parts.
const Micro = 1_000_000

// micro returns a quantity in millionths; what no plant can make in one message is cut off.
func micro(v float64) int64 {
	const most = 1e9
	if math.IsNaN(v) {
		return 0
	}
	return int64(math.Round(max(-most, min(v, most)) * Micro))
}
