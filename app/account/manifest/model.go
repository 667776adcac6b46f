// Package manifest is the configuration document of an account (http-api.md section 2): its model, its flags, the rules
// that a schema cannot express, the differences between two documents, and what is in force at a station. It stores
// nothing; package account does.
package manifest

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"time"
)

// Number is a JSON number with its original digits; the empty Number is null or absent.
//
//openapi:as {"type": ["number", "null"]}
type Number string

// Set reports whether the number is set.
func (n Number) Set() bool { return n != "" }

// Float returns the number as a float64; 0 if unset.
func (n Number) Float() float64 {
	f, _ := strconv.ParseFloat(string(n), 64)
	return f
}

// Int returns a number that the schema requires to be an integer; 0 if unset, and the nearest int64 if it is out of
// range.
func (n Number) Int() int64 {
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return i
	}
	switch f := n.Float(); { // 1.0 and 1e3 are integers too
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	default:
		return int64(f)
	}
}

// Equal compares values, not digits: 1.50 equals 1.5.
func (n Number) Equal(o Number) bool {
	if n == o {
		return true
	}
	if n == "" || o == "" {
		return false
	}
	a, okA := new(big.Rat).SetString(string(n))
	b, okB := new(big.Rat).SetString(string(o))
	return okA && okB && a.Cmp(b) == 0
}

// MarshalJSON writes the digits, or null.
func (n Number) MarshalJSON() ([]byte, error) {
	if n == "" {
		return []byte("null"), nil
	}
	return []byte(n), nil
}

// Codes is a list of codes; nil is null or absent, an empty list is set.
//
//openapi:as {"type": ["array", "null"], "items": {"type": "string"}}
type Codes []string

// Extra has the properties of an object that are not in the specification, unchanged. Null equals absent.
type Extra map[string]any

// Lists are the include and exclude lists of one level (http-api.md 2.1).
type Lists struct {
	IncludeReasonCodes   Codes `json:"includeReasonCodes"`
	ExcludeReasonCodes   Codes `json:"excludeReasonCodes"`
	IncludeTaskCodes     Codes `json:"includeTaskCodes"` // legacy: stored, never applied
	ExcludeTaskCodes     Codes `json:"excludeTaskCodes"`
	IncludeTaskListCodes Codes `json:"includeTaskListCodes"`
	ExcludeTaskListCodes Codes `json:"excludeTaskListCodes"`
}

// Lifetime has the times when a plant, group or station first appeared and when its definition last changed. It is a system
// field: only the document that creates the account can set it.
type Lifetime struct {
	CreatedAt  time.Time
	UpdatedAt  time.Time
	ArchivedAt time.Time // zero: not archived
}

// Settings are the account's own fields that are part of a manifest (http-api.md 2.1, without system fields).
type Settings struct {
	ElectricalPricePerKwh         Number         `json:"electricalPricePerKwh"` // account currency per kWh
	ElectricalCo2PerKwh           Number         `json:"electricalCo2PerKwh"`   // per kWh
	Currency                      *string        `json:"currency"`              // ISO 4217
	MaxProductionCountPerSchedule Number         `json:"maxProductionCountPerSchedule"`
	DashboardConfig               map[string]any `json:"dashboardConfig"`
	DurationFormat                *string        `json:"durationFormat"`
	Lists
	Flags Flags `json:"-"`
}

// Manifest is the typed form of manifest.account, for the domain packages. The document itself is stored as bytes;
// both come from the same input.
type Manifest struct {
	ID, Domain        string
	StationCountLimit Number
	Settings          Settings
	ShiftPatterns     []ShiftPattern
	Reasons           []Reason
	Tasks             []Task
	TaskLists         []TaskList
	SKUs              []SKU
	Plants            []Plant
}

// ShiftPattern is a week of shifts (http-api.md 2.3).
//
//openapi:as {"$ref": "#/components/schemas/ShiftPattern"}
type ShiftPattern struct {
	Code   string  `json:"code"`
	Title  string  `json:"title"`
	Shifts []Shift `json:"shifts"`
}

// Shift is one shift of a pattern.
type Shift struct {
	Name      string `json:"name"`
	StartHour Number `json:"startHour"` // decimal hours, 14.5 = 14:30
	Duration  Number `json:"duration"`  // decimal hours
	WeekDay   string `json:"weekDay"`   // "1" = Monday … "7" = Sunday
}

// Reason categorises non-productive time and may have children.
type Reason struct {
	Code        string   `json:"code"`
	Name        *string  `json:"name"`
	Description *string  `json:"description"`
	Type        Codes    `json:"type"`
	OEE         *string  `json:"oee"`
	Reasons     []Reason `json:"-" tree:"reasons"`
	Extra       Extra    `json:"-"`
}

// Trigger says when a Task or Task list falls due.
//
//openapi:as {"$ref": "#/components/schemas/Trigger"}
type Trigger struct {
	Type                           string `json:"type"` // schedule, cron or on_demand
	Pattern                        string `json:"pattern,omitempty"`
	AvailableBeforeDeadlineMinutes Number `json:"availableBeforeDeadlineMinutes,omitzero"`
}

// Task is an operator's procedure step.
type Task struct {
	Code          string       `json:"code"`
	Title         string       `json:"title"`
	Description   *string      `json:"description"`
	Trigger       *Trigger     `json:"trigger"`
	RequireNotes  *bool        `json:"requireNotes"`
	TaskListCodes []TaskInList `json:"taskListCodes"`
}

// TaskInList is a Task's place in one list.
type TaskInList struct {
	Code  string `json:"code"`
	Order Number `json:"order"`
	Extra Extra  `json:"-"`
}

// TaskList groups Tasks under one trigger.
type TaskList struct {
	Code        string   `json:"code"`
	Name        string   `json:"name"`
	Description *string  `json:"description"`
	Trigger     *Trigger `json:"trigger"`
}

// SKU is a product or part. Exactly one of CycleTime, UnitsPerMinute and UnitsPerHour is set.
type SKU struct {
	Code                                string  `json:"code"`
	Name                                string  `json:"name"`
	Specifications                      *string `json:"specifications"`
	InstructionsURL                     *string `json:"instructionsUrl"`
	CycleTime                           Number  `json:"cycleTime"` // ms
	UnitsPerMinute                      Number  `json:"unitsPerMinute"`
	UnitsPerHour                        Number  `json:"unitsPerHour"`
	MinimumCycleTime                    Number  `json:"minimumCycleTime"` // ms
	PartsPerCycle                       Number  `json:"partsPerCycle"`
	LineSpeedTarget                     Number  `json:"lineSpeedTarget"`
	DowntimeDurationThresholdMultiplier Number  `json:"downtimeDurationThresholdMultiplier"`
	Value                               Number  `json:"value"` // account currency per unit
	AllowUseInQuickSchedule             *bool   `json:"allowUseInQuickSchedule"`
	StationCodes                        Codes   `json:"stationCodes"`
	StationGroupCodes                   Codes   `json:"stationGroupCodes"`
	TaskCodes                           Codes   `json:"taskCodes"`
}

// Plant is a site with its own time zone and production day.
type Plant struct {
	Code         string `json:"code"`
	Name         string `json:"name"`
	Timezone     string `json:"timezone"`
	DayStartHour Number `json:"dayStartHour"`
	WeekStartDay Number `json:"weekStartDay"` // 0 = Monday
	Lists
	TotalEnergyStationCodes Codes          `json:"totalEnergyStationCodes"`
	Flags                   Flags          `json:"-"`
	Groups                  []StationGroup `json:"-" tree:"stationGroups"`
	Life                    Lifetime       `json:"-"`
}

// StationGroup is a line or an area of a plant.
type StationGroup struct {
	Code             string  `json:"code"`
	Name             string  `json:"name"`
	ShiftPatternCode *string `json:"shiftPatternCode"`
	Lists
	TotalEnergyStationCodes Codes     `json:"totalEnergyStationCodes"`
	Flags                   Flags     `json:"-"`
	Stations                []Station `json:"-" tree:"stations"`
	Life                    Lifetime  `json:"-"`
}

// Station is a machine or an energy meter.
type Station struct {
	Code                                 string  `json:"code"`
	Name                                 string  `json:"name"`
	Description                          *string `json:"description"`
	ShiftPatternCode                     *string `json:"shiftPatternCode"`
	MinimumCycleTime                     Number  `json:"minimumCycleTime"` // ms
	SpeedScale                           Number  `json:"speedScale"`
	SpeedOffset                          Number  `json:"speedOffset"`
	SpeedToProductionRatio               Number  `json:"speedToProductionRatio"`
	ElectricalPowerNominalKw             Number  `json:"electricalPowerNominalKw"`
	IdleCostPerMinute                    Number  `json:"idleCostPerMinute"`
	DowntimeDetectionMode                *string `json:"downtimeDetectionMode"`
	UtilisationDowntimeThreshold         Number  `json:"utilisationDowntimeThreshold"` // ms
	SlowDurationThreshold                Number  `json:"slowDurationThreshold"`        // ms
	ForceAllShiftTimeAsPlannedProduction *bool   `json:"forceAllShiftTimeAsPlannedProduction"`
	ProductiveStatusMode                 *string `json:"productiveStatusMode"`
	ElectricalUsageStoppedThresholdKw    Number  `json:"electricalUsageStoppedThresholdKw"`
	LineSpeedStoppedThreshold            Number  `json:"lineSpeedStoppedThreshold"`
	ProductiveHoldOnTime                 Number  `json:"productiveHoldOnTime"` // ms
	CycleTime                            Number  `json:"cycleTime"`            // ms
	UnitsPerMinute                       Number  `json:"unitsPerMinute"`
	UnitsPerHour                         Number  `json:"unitsPerHour"`
	LineSpeedTarget                      Number  `json:"lineSpeedTarget"`
	Lists
	Flags Flags    `json:"-"`
	Life  Lifetime `json:"-"`
}

// StationCount returns the number of stations across all plants.
func (m *Manifest) StationCount() int {
	n := 0
	for i := range m.Plants {
		for j := range m.Plants[i].Groups {
			n += len(m.Plants[i].Groups[j].Stations)
		}
	}
	return n
}

var _ json.Marshaler = Number("")
