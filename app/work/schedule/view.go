package schedule

import (
	"strconv"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/station"
	"opsmon/app/instant"
)

// View is a schedule and its progress.
//
//openapi:schema Schedule
type View struct {
	ID          string `json:"id"` // identifier; empty in the answer of a dry run
	StationCode string `json:"stationCode"`
	Kind        Kind   `json:"kind"`
	// Which of quantity and end were given.
	Type            string        `json:"type" schema:"enum=continuous|fixedQuantity|fixedEnd|fixedQuantityAndEnd"`
	State           State         `json:"state"`
	Paused          bool          `json:"paused"` // a non-production schedule pauses it
	SKUCode         *string       `json:"skuCode"`
	ReasonCode      *string       `json:"reasonCode"`
	WorkOrder       *string       `json:"workOrderReference"`
	PlannedStart    instant.Time  `json:"plannedStartAt"`
	PlannedEnd      *instant.Time `json:"plannedEndAt"`    // as it was given
	PlannedQuantity *float64      `json:"plannedQuantity"` // as it was given
	CycleTime       *float64      `json:"cycleTime"`       // as it was given
	UnitsPerMinute  *float64      `json:"unitsPerMinute"`  // as it was given
	UnitsPerHour    *float64      `json:"unitsPerHour"`    // as it was given
	LineSpeedTarget *float64      `json:"lineSpeedTarget"` // as it was given
	PartsPerCycle   *float64      `json:"partsPerCycle"`   // as it was given
	AutoStart       bool          `json:"autoStart"`
	AutoEnd         bool          `json:"autoEnd"`
	AutoEndQuantity *bool         `json:"autoEndOnQuantityComplete"` // null to use the account's setting
	ExtendShift     bool          `json:"extendShift"`
	Note            *string       `json:"note"`

	ExpectedEnd      *instant.Time `json:"expectedEndAt"`    // the end that was set, or that follows from quantity and rate over shift time
	ExpectedQuantity *float64      `json:"expectedQuantity"` // the quantity that was set, or that follows from end and rate over shift time
	Rate             RateView      `json:"rate"`             // the effective rate
	ActualStart      *instant.Time `json:"actualStartAt"`
	ActualEnd        *instant.Time `json:"actualEndAt"`
	Good             *float64      `json:"goodCount"` // units recorded; null if not known yet
	Bad              *float64      `json:"badCount"`
	// Good units of the source that is not the schedule's; shown, not added.
	Other *float64 `json:"otherCount"`
	// Number of operators' entries that do not count in full, because later facts left no room for them. GET
	// /production lists them.
	Unapplied *int         `json:"unappliedEntries" schema:"min=0"`
	Events    []EventView  `json:"events"` // its events, in order
	Created   instant.Time `json:"createdAt"`
	Updated   instant.Time `json:"updatedAt"`
}

// RateView is the effective rate and where it comes from.
type RateView struct {
	UnitsPerMinute *float64 `json:"unitsPerMinute"`
	From           *string  `json:"from" schema:"enum=implied|schedule|sku|station"` // implied if it follows from quantity and end
}

// EventView is a change of a schedule's state.
//
//openapi:schema ScheduleEvent
type EventView struct {
	Move       Move         `json:"move"`
	At         instant.Time `json:"at"` // when it took effect
	RecordedAt instant.Time `json:"recordedAt"`
	// E-mail address or credential; service for automatic changes.
	By       string  `json:"by"`
	Initials *string `json:"initials"`
	Note     *string `json:"note"`
}

// Count is the recorded counts of a schedule, units.
type Count struct {
	Good, Bad, Other float64
	Unapplied        int // entries that do not count in full
}

func countOf(good, bad, other int64) *Count {
	return &Count{Good: float64(good) / monitor.Micro, Bad: float64(bad) / monitor.Micro, Other: float64(other) / monitor.Micro}
}

var typeNames = map[calendar.Type]string{
	calendar.Continuous: "continuous", calendar.FixedQuantity: "fixedQuantity", calendar.FixedEnd: "fixedEnd", calendar.FixedBoth: "fixedQuantityAndEnd",
}

// show returns the API's representation of a schedule. st is its station as currently configured; nil: use the stored
// values. c has its counts; nil: unknown.
func (s *Schedule) show(st *station.Station, c *Count) *View {
	f := &s.Fields
	o := outlook{end: s.EndDue, quantity: f.PlannedQuantity, rate: s.Rate, rateFrom: s.RateFrom}
	if st != nil && s.open() {
		o = f.outlook(st, s.begins())
	}
	plan := calendar.Plan{Quantity: f.PlannedQuantity, End: f.PlannedEnd}
	v := &View{
		ID: s.ID, StationCode: f.StationCode, Kind: f.Kind, Type: typeNames[plan.Type()], State: s.State,
		SKUCode: given(f.SKUCode), ReasonCode: given(f.ReasonCode), WorkOrder: given(f.WorkOrder),
		PlannedStart: instant.OfMs(f.PlannedStart), PlannedEnd: instant.OfMsOrNil(f.PlannedEnd), PlannedQuantity: given(f.PlannedQuantity),
		CycleTime: given(f.CycleTime), UnitsPerMinute: given(f.UnitsPerMinute), UnitsPerHour: given(f.UnitsPerHour),
		LineSpeedTarget: given(f.LineSpeedTarget), PartsPerCycle: given(f.PartsPerCycle),
		AutoStart: f.AutoStart, AutoEnd: f.AutoEnd, AutoEndQuantity: f.AutoEndQuantity, ExtendShift: f.ExtendShift, Note: given(f.Note),
		ExpectedEnd: instant.OfMsOrNil(o.end), ExpectedQuantity: given(o.quantity), Rate: RateView{given(o.rate), given(o.rateFrom)},
		ActualStart: instant.OfMsOrNil(s.Start), ActualEnd: instant.OfMsOrNil(s.End), Events: []EventView{}, Created: instant.OfMs(s.Created), Updated: instant.OfMs(s.Updated),
	}
	if c != nil {
		v.Good, v.Bad, v.Other, v.Unapplied = &c.Good, &c.Bad, &c.Other, &c.Unapplied
	}
	for i := range s.Events {
		e := &s.Events[i]
		by := e.By.Email
		if by == "" {
			by = e.By.Credential
		}
		v.Events = append(v.Events, EventView{e.Move, instant.OfMs(e.At), instant.OfMs(e.Recorded), by, given(e.Initials), given(e.Note)})
	}
	return v
}

// given returns nil for the zero value.
func given[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// view returns the representation of a schedule after an operation. The counts of a running one are included if the
// operation took effect now.
func (a *act) view(s *Schedule) (*View, error) {
	st, err := a.find(s.StationCode)
	if err != nil {
		return nil, err
	}
	c := &Count{}
	switch {
	case s.State == Completed || s.State == Running && s.Start < a.w.Now-drift && a.at < a.w.Now-drift:
		c = nil
	case s.State == Running:
		if c, err = a.countAt(s, a.w.Now); err != nil {
			return nil, err
		}
	}
	return s.show(st, c), nil
}

// count returns the counts of a running schedule up to the act's moment.
func (a *act) count(s *Schedule) (*Count, error) { return a.countAt(s, a.at) }

func (a *act) countAt(s *Schedule, moment int64) (*Count, error) {
	v, err := a.w.ViewAt(s.StationCode, moment)
	if err != nil {
		return nil, err
	}
	for i := range v.Running {
		if r := &v.Running[i]; r.ID == s.ID {
			return countOf(r.Good, r.Bad, 0), nil
		}
	}
	return &Count{}, nil
}

// CSVHeader returns the column names of CSV.
func CSVHeader() []string {
	return []string{"id", "stationCode", "kind", "state", "skuCode", "reasonCode", "workOrderReference", "plannedStartAt", "plannedEndAt", "plannedQuantity",
		"actualStartAt", "actualEndAt", "expectedEndAt", "unitsPerMinute", "rateFrom", "goodCount", "badCount", "otherCount", "unappliedEntries", "note"}
}

// CSV returns a schedule as a row of a table; unknown values are empty.
func (v *View) CSV() []string {
	return []string{v.ID, v.StationCode, string(v.Kind), string(v.State), text(v.SKUCode), text(v.ReasonCode), text(v.WorkOrder),
		v.PlannedStart.UTC().Format(instant.Layout), timeText(v.PlannedEnd), number(v.PlannedQuantity), timeText(v.ActualStart), timeText(v.ActualEnd), timeText(v.ExpectedEnd),
		number(v.Rate.UnitsPerMinute), text(v.Rate.From), number(v.Good), number(v.Bad), number(v.Other), whole(v.Unapplied), text(v.Note)}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func timeText(t *instant.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(instant.Layout)
}

func whole(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

func number(n *float64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(*n, 'f', -1, 64)
}
