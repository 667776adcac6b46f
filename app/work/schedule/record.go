package schedule

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"strings"

	"opsmon/app/audit"
	"opsmon/app/engine/monitor"
)

// Kind is what a schedule plans: production or non-production.
type Kind string

const (
	Production    Kind = "production"
	NonProduction Kind = "nonProduction"
)

// State is the state of a schedule.
type State string

// The states of monitoring.md section 4.
const (
	Planned   State = "planned"
	Running   State = "running"
	Completed State = "completed"
	Deleted   State = "deleted"
)

// Move is the kind of an Event.
type Move string

// The first two moves and the last one do not change the state.
const (
	MoveCreate          Move = "create"
	MoveChange          Move = "change" // of a running one
	MoveStart           Move = "start"
	MoveAutoStart       Move = "autoStart"
	MoveEnd             Move = "end"
	MoveCutShort        Move = "cutShort" // ended before the planned end
	MoveAutoEnd         Move = "autoEnd"
	MoveQuantityReached Move = "quantityReached"
	MoveReplaced        Move = "replaced" // ended by the start of another of its kind
	MoveStationLeft     Move = "stationLeft"
	MoveDelete          Move = "delete"
	MoveCorrection      Move = "correction"     // completed -> running
	MoveStation         Move = "move"           // to another station or time
	MoveNotStarted      Move = "notStarted"     // its automatic start was impossible
	MoveMaximumReached  Move = "maximumReached" // maxProductionCountPerSchedule: recording stopped
)

// Event is one move. It is stored: a changed field needs a migration.
type Event struct {
	Move     Move        `json:"move"`
	At       int64       `json:"at"`         // ms: when it took effect
	Recorded int64       `json:"recordedAt"` // ms
	By       audit.Actor `json:"by"`         // the service's own moves have the credential "service"
	Initials string      `json:"initials,omitempty"`
	Note     string      `json:"note,omitempty"` // other schedule, previous station, or why not started
}

// Fields are the fields that people enter. They are stored: a changed field needs a migration. 0 and "": not given.
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
	AutoEndQuantity *bool   `json:"autoEndOnQuantityComplete,omitempty"` // nil: the account's setting
	ExtendShift     bool    `json:"extendShift,omitempty"`
	Note            string  `json:"note,omitempty"`
}

// Schedule is a schedule as stored: a changed field needs a migration.
type Schedule struct {
	ID string `json:"id"`
	Fields
	State State `json:"state"`
	Start int64 `json:"startedAt,omitempty"` // ms; 0: not started
	End   int64 `json:"endedAt,omitempty"`   // ms; 0: not ended
	// EndDue is the due time of the end, ms: as entered, or calculated from quantity, rate and the actual or else
	// planned start; 0: unknown.
	EndDue int64 `json:"endDueAt,omitempty"`
	// Rate is the rate at the last move or change, units per minute, and RateFrom its source; 0: unknown.
	Rate     float64 `json:"rate,omitempty"`
	RateFrom string  `json:"rateFrom,omitempty"`
	// EndSequence is the sequence number of its end at the station, which a correction uses to cancel the end.
	EndSequence uint64  `json:"endSequence,omitempty"`
	Events      []Event `json:"events"`
	Created     int64   `json:"createdAt"` // ms
	Updated     int64   `json:"updatedAt"` // ms
}

// Entry is an operator's entry as stored: a changed field needs a migration. Quantities are units.
type Entry struct {
	ID          string      `json:"id"`
	StationCode string      `json:"stationCode"`
	ScheduleID  string      `json:"scheduleId"`
	At          int64       `json:"at"`        // ms, as entered
	Effective   int64       `json:"effective"` // ms: when it counts
	Good        float64     `json:"good,omitempty"`
	Bad         float64     `json:"bad,omitempty"`
	Reject      float64     `json:"reject,omitempty"`
	Correction  bool        `json:"correction,omitempty"`
	Initials    string      `json:"initials"`
	Note        string      `json:"note,omitempty"`
	Undoes      string      `json:"undoes,omitempty"`   // the entry that this one undoes
	UndoneBy    string      `json:"undoneBy,omitempty"` // the entry that undid this one
	Sequence    uint64      `json:"sequence,omitempty"` // sequence number at the station
	Recorded    int64       `json:"recordedAt"`         // ms
	By          audit.Actor `json:"by"`
}

// service is the author of automatic moves.
var service = audit.Actor{Credential: "service"}

// override returns the schedule's own rate.
func (f *Fields) override() monitor.Rate {
	return monitor.Rate{CycleTime: f.CycleTime, UnitsPerMinute: f.UnitsPerMinute, UnitsPerHour: f.UnitsPerHour}
}

// open reports whether the schedule may still change state.
func (s *Schedule) open() bool { return s.State == Planned || s.State == Running }

// begins returns the schedule's time in lists: its actual start, else the planned one.
func (s *Schedule) begins() int64 {
	if s.Start != 0 {
		return s.Start
	}
	return s.PlannedStart
}

// automatic returns the time of the schedule's next automatic move, ms; 0: none.
func (s *Schedule) automatic() int64 {
	switch {
	case s.State == Planned && s.AutoStart:
		return s.PlannedStart
	case s.State == Running && s.AutoEnd && s.EndDue > s.Start:
		return s.EndDue
	}
	return 0
}

// byQuantity reports whether a unit ended the schedule. The next of its kind then starts at least a millisecond later.
func (s *Schedule) byQuantity() bool {
	return len(s.Events) > 0 && s.Events[len(s.Events)-1].Move == MoveQuantityReached
}

// newID returns a random public ID of 60 bits.
func newID() string {
	var data [8]byte
	rand.Read(data[:])
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(data[:]))[:12]
}

// entryID returns the ID of an operator's entry: the time of recording, ms, and 40 random bits. IDs sort by that time,
// because entries that count at one moment are applied in the order of their IDs, so a reject comes after the entries
// made before it.
func entryID(now int64) string {
	data := binary.BigEndian.AppendUint64(nil, uint64(now))[2:]
	data = append(data, make([]byte, 5)...)
	rand.Read(data[6:])
	return strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(data))
}
