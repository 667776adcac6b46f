package schedule

import (
	"encoding/json"

	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
)

// Given is an optional value of a request. An absent one leaves the field unchanged, and null clears it.
type Given[T any] struct {
	Set, Null bool
	Value     T
}

// UnmarshalJSON implements json.Unmarshaler.
func (g *Given[T]) UnmarshalJSON(b []byte) error {
	*g = Given[T]{Set: true, Null: string(b) == "null"}
	if g.Null {
		return nil
	}
	return json.Unmarshal(b, &g.Value)
}

// put sets v if the value is given.
func (g Given[T]) put(v *T) {
	if g.Set {
		*v = g.Value // null is the zero value
	}
}

// Moment is a time in a request, Unix ms, written as RFC 3339.
type Moment int64

// UnmarshalJSON implements json.Unmarshaler.
func (m *Moment) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	t, err := instant.Parse(text)
	if err != nil {
		return err
	}
	*m = Moment(t.UnixMilli())
	return nil
}

// Input creates a schedule, or changes the one with ID: POST /schedule. Its numbers are within the limits of
// schedule-write.schema.json.
type Input struct {
	ID              string         `json:"id"` // "": create a new one
	At              *Moment        `json:"at"`
	StationCode     Given[string]  `json:"stationCode"`
	Kind            Given[Kind]    `json:"kind"`
	SKUCode         Given[string]  `json:"skuCode"`
	ReasonCode      Given[string]  `json:"reasonCode"`
	WorkOrder       Given[string]  `json:"workOrderReference"`
	PlannedStart    Given[Moment]  `json:"plannedStartAt"`
	PlannedEnd      Given[Moment]  `json:"plannedEndAt"`
	PlannedQuantity Given[float64] `json:"plannedQuantity"`
	CycleTime       Given[float64] `json:"cycleTime"`
	UnitsPerMinute  Given[float64] `json:"unitsPerMinute"`
	UnitsPerHour    Given[float64] `json:"unitsPerHour"`
	LineSpeedTarget Given[float64] `json:"lineSpeedTarget"`
	PartsPerCycle   Given[float64] `json:"partsPerCycle"`
	AutoStart       Given[bool]    `json:"autoStart"`
	AutoEnd         Given[bool]    `json:"autoEnd"`
	AutoEndQuantity Given[bool]    `json:"autoEndOnQuantityComplete"`
	ExtendShift     Given[bool]    `json:"extendShift"`
	Note            Given[string]  `json:"note"`
}

// over returns the fields with the input applied.
func (in *Input) over(f Fields) Fields {
	in.StationCode.put(&f.StationCode)
	in.Kind.put(&f.Kind)
	in.SKUCode.put(&f.SKUCode)
	in.ReasonCode.put(&f.ReasonCode)
	in.WorkOrder.put(&f.WorkOrder)
	in.PlannedQuantity.put(&f.PlannedQuantity)
	in.CycleTime.put(&f.CycleTime)
	in.UnitsPerMinute.put(&f.UnitsPerMinute)
	in.UnitsPerHour.put(&f.UnitsPerHour)
	in.LineSpeedTarget.put(&f.LineSpeedTarget)
	in.PartsPerCycle.put(&f.PartsPerCycle)
	in.AutoStart.put(&f.AutoStart)
	in.AutoEnd.put(&f.AutoEnd)
	in.ExtendShift.put(&f.ExtendShift)
	in.Note.put(&f.Note)
	if in.PlannedStart.Set {
		f.PlannedStart = int64(in.PlannedStart.Value)
	}
	if in.PlannedEnd.Set {
		f.PlannedEnd = int64(in.PlannedEnd.Value)
	}
	if in.AutoEndQuantity.Set {
		f.AutoEndQuantity = nil
		if !in.AutoEndQuantity.Null {
			f.AutoEndQuantity = &in.AutoEndQuantity.Value
		}
	}
	if f.Kind == "" { // derived from the code that is given
		switch {
		case f.SKUCode != "" && f.ReasonCode == "":
			f.Kind = Production
		case f.ReasonCode != "" && f.SKUCode == "":
			f.Kind = NonProduction
		}
	}
	return f
}

const (
	// maxBack is how far back a start may be planned, ms: as long as a tablet may have been offline.
	maxBack = instant.DayMs
	// maxAhead is how far ahead a start may be planned, ms.
	maxAhead = 731 * instant.DayMs
	// maxLength is how long a schedule may be planned to last, ms.
	maxLength = 366 * instant.DayMs
	// drift is the tolerated lead of a client's clock, ms.
	drift = 2 * 60 * 1000
)

// fixed returns the names of the changed fields that must not change while a schedule runs.
func fixed(a, b *Fields) (changed []string) {
	same := func(name string, same bool) {
		if !same {
			changed = append(changed, name)
		}
	}
	same("stationCode", a.StationCode == b.StationCode)
	same("kind", a.Kind == b.Kind)
	same("skuCode", a.SKUCode == b.SKUCode)
	same("reasonCode", a.ReasonCode == b.ReasonCode)
	same("workOrderReference", a.WorkOrder == b.WorkOrder)
	same("plannedStartAt", a.PlannedStart == b.PlannedStart)
	same("cycleTime", a.CycleTime == b.CycleTime)
	same("unitsPerMinute", a.UnitsPerMinute == b.UnitsPerMinute)
	same("unitsPerHour", a.UnitsPerHour == b.UnitsPerHour)
	same("lineSpeedTarget", a.LineSpeedTarget == b.LineSpeedTarget)
	same("partsPerCycle", a.PartsPerCycle == b.PartsPerCycle)
	same("autoStart", a.AutoStart == b.AutoStart)
	same("autoEnd", a.AutoEnd == b.AutoEnd)
	same("autoEndOnQuantityComplete", equal(a.AutoEndQuantity, b.AutoEndQuantity))
	same("extendShift", a.ExtendShift == b.ExtendShift)
	return changed
}

func equal(a, b *bool) bool { return a == b || a != nil && b != nil && *a == *b }

// check validates the fields of a schedule (monitoring.md section 4). at is the time of the request, ms. old has the
// previous fields, nil for a new schedule. st is nil if there is no such station.
func (f *Fields) check(st *station.Station, old *Fields, at int64) error {
	var p errdefs.Problems
	switch {
	case f.StationCode == "":
		p.Add("stationCode", "is required")
	case st == nil:
		p.Add("stationCode", "must be the code of a station; there is no station %q", f.StationCode)
	case st.Monitor.MeterOnly:
		p.Add("stationCode", "must be a station that produces; %s is an energy meter", st.Code)
	}
	switch f.Kind {
	case Production:
		f.checkProduction(&p, st)
	case NonProduction:
		f.checkNonProduction(&p, st)
	default:
		p.AddGiven("kind", "skuCode,reasonCode", "must be production (with a skuCode) or nonProduction (with a reasonCode)")
	}
	f.checkTimes(&p, old, at)
	if err := p.Err("the schedule"); err != nil {
		return err
	}
	if f.PartsPerCycle != 0 && (old == nil || old.PartsPerCycle != f.PartsPerCycle || old.StationCode != f.StationCode) {
		return st.Refuse("enableEditPartsPerCycle")
	}
	return nil
}

func (f *Fields) checkProduction(p *errdefs.Problems, st *station.Station) {
	switch {
	case f.SKUCode == "":
		p.Add("skuCode", "is required for a production schedule")
	case st != nil && st.SKUs[f.SKUCode] == nil:
		p.Add("skuCode", "must be a SKU that %s may run; %q is not one", st.Code, f.SKUCode)
	}
	if f.ReasonCode != "" {
		p.Add("reasonCode", "is for non-production schedules only")
	}
	rates := 0
	for _, rate := range []float64{f.CycleTime, f.UnitsPerMinute, f.UnitsPerHour} {
		if rate != 0 {
			rates++
		}
	}
	if rates > 1 {
		p.Add("cycleTime", "must be the only one of cycleTime, unitsPerMinute and unitsPerHour")
	}
	if f.AutoEnd && f.PlannedEnd == 0 && f.PlannedQuantity == 0 {
		p.AddGiven("autoEnd", "plannedEndAt,plannedQuantity", "needs a plannedEndAt or a plannedQuantity")
	}
	if f.AutoEndQuantity != nil && *f.AutoEndQuantity && f.PlannedQuantity == 0 {
		p.AddGiven("autoEndOnQuantityComplete", "plannedQuantity", "needs a plannedQuantity")
	}
}

func (f *Fields) checkNonProduction(p *errdefs.Problems, st *station.Station) {
	if f.ReasonCode == "" {
		p.Add("reasonCode", "is required for a non-production schedule")
	} else if st != nil {
		if r, found := st.Reasons[f.ReasonCode]; !found || !r.NonProduction {
			p.Add("reasonCode", "must be a reason for non-production at %s; %q is not one", st.Code, f.ReasonCode)
		}
	}
	for _, of := range []struct {
		name string
		set  bool
	}{
		{"skuCode", f.SKUCode != ""}, {"plannedQuantity", f.PlannedQuantity != 0}, {"cycleTime", f.CycleTime != 0},
		{"unitsPerMinute", f.UnitsPerMinute != 0}, {"unitsPerHour", f.UnitsPerHour != 0}, {"lineSpeedTarget", f.LineSpeedTarget != 0},
		{"partsPerCycle", f.PartsPerCycle != 0}, {"autoEndOnQuantityComplete", f.AutoEndQuantity != nil},
	} {
		if of.set {
			p.Add(of.name, "is for production schedules only")
		}
	}
	if f.AutoEnd && f.PlannedEnd == 0 {
		p.AddGiven("autoEnd", "plannedEndAt", "needs a plannedEndAt")
	}
}

func (f *Fields) checkTimes(p *errdefs.Problems, old *Fields, at int64) {
	moved := old == nil || old.PlannedStart != f.PlannedStart
	switch start := f.PlannedStart; {
	case start == 0:
		p.Add("plannedStartAt", "is required")
	case moved && start < at-maxBack:
		p.Add("plannedStartAt", "must not be more than 24 hours ago; it is %s", instant.FormatMs(start))
	case moved && start > at+maxAhead:
		p.Add("plannedStartAt", "must be within two years from now; it is %s", instant.FormatMs(start))
	case f.AutoStart && start < at-drift && (moved || !old.AutoStart):
		p.Add("autoStart", "needs a plannedStartAt that is still to come; it is %s", instant.FormatMs(start))
	}
	switch end := f.PlannedEnd; {
	case end == 0 || f.PlannedStart == 0:
	case end <= f.PlannedStart:
		p.Add("plannedEndAt", "must be after plannedStartAt, %s; it is %s", instant.FormatMs(f.PlannedStart), instant.FormatMs(end))
	case end > f.PlannedStart+maxLength:
		p.Add("plannedEndAt", "must be at most 366 days after plannedStartAt; it is %s", instant.FormatMs(end))
	}
}

// checkEnd validates a new end of a schedule running since a moment, ms, which may be before its planned start.
func (f *Fields) checkEnd(p *errdefs.Problems, since, at int64) {
	switch end := f.PlannedEnd; {
	case end == 0:
	case end <= at:
		p.Add("plannedEndAt", "must be after the change of a running schedule, %s; it is %s", instant.FormatMs(at), instant.FormatMs(end))
	case end > since+maxLength:
		p.Add("plannedEndAt", "must be at most 366 days after the schedule's start, %s; it is %s", instant.FormatMs(since), instant.FormatMs(end))
	}
}

// stamp formats a time as in answers of the API.
