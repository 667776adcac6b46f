package schedule

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"strings"

	"opsmon/app/audit"
	"opsmon/app/engine/monitor"
)

// Kind says what a schedule plans.
type Kind string

// The kinds.
const (
	Production    Kind = "production"
	NonProduction Kind = "nonProduction"
)

// State is how far a schedule has got.
type State string

// The states (monitoring.md section 4).
const (
	Planned   State = "planned"
	Running   State = "running"
	Completed State = "completed"
	Deleted   State = "deleted"
)

// Move says what brought a schedule on.
type Move string

// The moves. The first two and the last leave the state as it is.
const (
	MoveCreate          Move = "create"
	MoveChange          Move = "change" // of a running one
	MoveStart           Move = "start"
	MoveAutoStart       Move = "autoStart"
	MoveEnd             Move = "end"
	MoveCutShort        Move = "cutShort" // an end before the planned one
	MoveAutoEnd         Move = "autoEnd"
	MoveQuantityReached Move = "quantityReached"
	MoveReplaced        Move = "replaced" // ended by the start of another of its kind
	MoveStationLeft     Move = "stationLeft"
	MoveDelete          Move = "delete"
	MoveCorrection      Move = "correction"     // completed -> running
	MoveStation         Move = "move"           // to another station or time
	MoveNotStarted      Move = "notStarted"     // its automatic start was not possible
	MoveMaximumReached  Move = "maximumReached" // maxProductionCountPerSchedule: recording stopped
)

// Event is one move. It is stored: a changed field needs a migration.
type Event struct {
	Move     Move        `json:"move"`
	At       int64       `json:"at"`         // ms: when it took effect
	Recorded int64       `json:"recordedAt"` // ms
	By       audit.Actor `json:"by"`         // the service's own moves have the credential "service"
	Initials string      `json:"initials,omitempty"`
	Note     string      `json:"note,omitempty"` // the other schedule, the station before, why not
}

// Fields are what people say of a schedule. They are stored: a changed field needs a migration. 0 and "": not given.
type Fields struct {
	StationCode     string  `json:"stationCode"`
	Kind            Kind    `json:"kind"`
	SKUCode         string  `json:"skuCode,omitempty"`
	ReasonCode      string  `json:"reasonCode,omitempty"`
	WorkOrder       string  `json:"workOrderReference,omitempty"`
	PlannedStart    int64   `json:"plannedStartAt"`         // ms
	PlannedEnd      int64   `json:"plannedEndAt,omitempty"` // ms
	PlannedQuantity float64 `json:"plannedQuantity,omitempty"`
	CycleTime       float64 `json:"cycleTime,omitempty"` // ms
	UnitsPerMinute  float64 `json:"unitsPerMinute,omitempty"`
	UnitsPerHour    float64 `json:"unitsPerHour,omitempty"`
	LineSpeedTarget float64 `json:"lineSpeedTarget,omitempty"`
	PartsPerCycle   float64 `json:"partsPerCycle,omitempty"`
	AutoStart       bool    `json:"autoStart,omitempty"`
	AutoEnd         bool    `json:"autoEnd,omitempty"`
	AutoEndQuantity *bool   `json:"autoEndOnQuantityComplete,omitempty"` // nil: as the account says
	ExtendShift     bool    `json:"extendShift,omitempty"`
	Note            string  `json:"note,omitempty"`
}

// Schedule is one schedule as it is stored: a changed field needs a migration.
type Schedule struct {
	ID string `json:"id"`
	Fields
	State State `json:"state"`
	Start int64 `json:"startedAt,omitempty"` // ms; 0: not yet
	End   int64 `json:"endedAt,omitempty"`   // ms; 0: not yet
	// EndDue is when it is to end: as it was given, or as quantity and rate imply from the actual start, else from the
	// planned one. ms; 0: not known.
	EndDue int64 `json:"endDueAt,omitempty"`
	// Rate is the rate when it last moved or changed, units per minute, and RateFrom where it came from; 0: none was known.
	Rate     float64 `json:"rate,omitempty"`
	RateFrom string  `json:"rateFrom,omitempty"`
	// EndSequence is the number of its end at the station, by which a correction takes it back.
	EndSequence uint64  `json:"endSequence,omitempty"`
	Events      []Event `json:"events"`
	Created     int64   `json:"createdAt"` // ms
	Updated     int64   `json:"updatedAt"` // ms
}

// Entry is what an operator entered, as it is stored: a changed field needs a migration. Units.
type Entry struct {
	ID          string      `json:"id"`
	StationCode string      `json:"stationCode"`
	ScheduleID  string      `json:"scheduleId"`
	At          int64       `json:"at"`        // ms, as it was said
	Effective   int64       `json:"effective"` // ms: where it counts
	Good        float64     `json:"good,omitempty"`
	Bad         float64     `json:"bad,omitempty"`
	Reject      float64     `json:"reject,omitempty"`
	Correction  bool        `json:"correction,omitempty"`
	Initials    string      `json:"initials"`
	Note        string      `json:"note,omitempty"`
	Undoes      string      `json:"undoes,omitempty"`   // the entry that this one takes back
	UndoneBy    string      `json:"undoneBy,omitempty"` // the entry that took this one back
	Sequence    uint64      `json:"sequence,omitempty"` // at the station
	Recorded    int64       `json:"recordedAt"`         // ms
	By          audit.Actor `json:"by"`
}

// service is who makes the moves that time and counts make.
var service = audit.Actor{Credential: "service"}

// override is the schedule's own rate.
func (f *Fields) override() monitor.Rate {
	return monitor.Rate{CycleTime: f.CycleTime, UnitsPerMinute: f.UnitsPerMinute, UnitsPerHour: f.UnitsPerHour}
}

// open reports whether the schedule may still move on.
func (s *Schedule) open() bool { return s.State == Planned || s.State == Running }

// begins is where the schedule stands in lists: its actual start, else the planned one.
func (s *Schedule) begins() int64 {
	if s.Start != 0 {
		return s.Start
	}
	return s.PlannedStart
}

// automatic returns the moment at which the schedule moves by itself, ms; 0 is never.
func (s *Schedule) automatic() int64 {
	switch {
	case s.State == Planned && s.AutoStart:
		return s.PlannedStart
	case s.State == Running && s.AutoEnd && s.EndDue > s.Start:
		return s.EndDue
	}
	return 0
}

// byQuantity reports whether a unit ended the schedule: the next of its kind starts a millisecond later at the earliest.
func (s *Schedule) byQuantity() bool {
	return len(s.Events) > 0 && s.Events[len(s.Events)-1].Move == MoveQuantityReached
}

// newID is a random public id: 60 bits.
func newID() string {
	var data [8]byte
	rand.Read(data[:])
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(data[:]))[:12]
}

// entryID is an id of an operator's entry: when it was recorded, ms, and 40 random bits. It sorts by time, since entries
// that count at one moment do so in the order of their ids: a reject finds what was entered before it.
func entryID(now int64) string {
	data := binary.BigEndian.AppendUint64(nil, uint64(now))[2:]
	data = append(data, make([]byte, 5)...)
	rand.Read(data[6:])
	return strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(data))
}
