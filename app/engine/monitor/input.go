package monitor

import (
	"cmp"
	"math"
	"strings"
)

// InputKind is the kind of an Input. Inputs of one millisecond take effect in the order of their kinds.
type InputKind uint8

// The kinds of input.
const (
	InputConfig         InputKind = iota + 1 // a manifest revision comes into force
	InputScheduleEnd                         // a schedule ends by hand, by time or by the start of another
	InputScheduleStart                       // a schedule starts; the running one of its kind ends
	InputScheduleChange                      // a running schedule gets another quantity, rate or note
	InputManualEnd                           // manual downtime ends
	InputManualStart                         // manual downtime starts
	InputLink                                // a device's live connection begins or ends: a sign of life
	InputSignal                              // a signal: a sign of life
	InputEntry                               // an operator's entry, reject or correction
	// a schedule ends because a unit completed its quantity; that unit still counts for it
	InputQuantityEnd
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

// Signal has the values of one message of a machine (monitoring.md section 2). Values are finite; those of counts and
// energy are from 0 to 1e9, because others are refused on arrival. ErrorCode is "" if there is none.
type Signal struct {
	Has                       Has
	Productive                bool
	CompleteGood, CompleteBad float64 // cycles since the previous signal of this kind
	CountGood, CountBad       float64 // running counters of cycles
	LineSpeed                 float64 // raw
	Kwh, KwhInterval          float64
	Kw, Volts, Amps           float64
	RSSI                      float64 // dBm
	ErrorCode                 string
}

// Schedule has the fields of a running schedule that the engine needs.
type Schedule struct {
	ID              string
	NonProduction   bool
	SKU             string  // of a production schedule
	Reason          string  // of a non-production schedule
	Quantity        float64 // units; 0: not planned
	Rate                    // the override, or the rate implied by quantity and end
	LineSpeedTarget float64
	PartsPerCycle   float64
	ExtendShift     bool
	WorkOrder       string // shown to people only
}

// Entry is an operator's entry, in units. Good and Bad are negative only in corrections.
type Entry struct {
	Schedule  string // the schedule that it counts for; "": the running one
	Good, Bad float64
	Reject    float64 // good units that turned out to be bad
	// Correction marks Good and Bad as deltas that correct a count; they do not make operators its source.
	Correction bool
}

// Input is one event at a station. Which fields are used depends on Kind.
type Input struct {
	At     int64 // Unix ms
	Kind   InputKind
	Source string // the device, user or service that it comes from
	ID     string // the ID of the signal, of the schedule that ends, or of the entry
	Up     bool   // InputLink: begins
	Reason string // InputManualStart: the cause; "": none
	Signal
	Schedule Schedule // InputScheduleStart, InputScheduleChange
	Entry    Entry
	Config   *Config // InputConfig
}

// Compare is the total order in which inputs enter a state: by time, kind, source, ID and then content. Only identical
// inputs are equal, so the order of arrival has no influence.
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

// Micro is the number of counted parts of a unit or a kilowatt-hour. Sums of integers do not depend on their order, so
// a range is exactly the sum of its parts.
const Micro = 1_000_000

// micro converts a quantity to millionths, limited to what a plant can make in one message.
func micro(v float64) int64 {
	const most = 1e9
	if math.IsNaN(v) {
		return 0
	}
	return int64(math.Round(max(-most, min(v, most)) * Micro))
}
