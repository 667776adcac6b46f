package issue

import (
	"slices"

	"opsmon/app/account/manifest"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/station"
	"opsmon/app/instant"
)

// View is a stop, slow period or manual downtime, with what people entered about it.
//
//openapi:schema Issue
type View struct {
	// Identifier within the account. Late signals may change it; the old one keeps working.
	ID          string        `json:"id"`
	Type        string        `json:"type" schema:"enum=stop|slow|manual"`
	StationCode string        `json:"stationCode"`
	StartAt     instant.Time  `json:"startAt"`
	EndAt       *instant.Time `json:"endAt"`                     // end; null while it is open
	DurationMs  int64         `json:"durationMs" schema:"min=0"` // duration so far, ms
	// Code of the reason; null if unknown, or if its parts differ.
	CauseCode *string `json:"causeCode"`
	// Who set the cause. People's causes override the machine's.
	CauseFrom *string `json:"causeFrom" schema:"enum=person|machine"`
	// Time without a cause, ms.
	UncausedMs int64      `json:"uncausedMs" schema:"min=0"`
	Note       *string    `json:"note"`
	Parts      []PartView `json:"parts"`      // parts in order; they add up to the issue's time exactly
	ScheduleID *string    `json:"scheduleId"` // the production schedule that ran at its start
	SKUCode    *string    `json:"skuCode"`
	Excluded   bool       `json:"excluded"` // some of its time is excluded from figures
	// Acknowledgement; null if there is none.
	Acknowledged *AcknowledgedView `json:"acknowledged"`
	Estimate     *EstimateView     `json:"estimate"`   // expected end
	Escalation   *EscalationView   `json:"escalation"` // escalation; null if there is none
	// Late signals removed the stop; this is what people entered about it.
	Orphaned bool        `json:"orphaned"`
	Events   []EventView `json:"events"` // what people entered and did, in the order of arrival
}

// PartView is a part of a stop that has one cause.
//
//openapi:schema IssuePartNow
type PartView struct {
	StartAt    instant.Time  `json:"startAt"`
	EndAt      *instant.Time `json:"endAt"` // end; null while it is open
	DurationMs int64         `json:"durationMs" schema:"min=0"`
	CauseCode  *string       `json:"causeCode"` // null: uncaused
	CauseFrom  *string       `json:"causeFrom" schema:"enum=person|machine"`
	Excluded   bool          `json:"excluded"` // excluded from figures
}

// AcknowledgedView is the acknowledgement of an issue.
type AcknowledgedView struct {
	At       instant.Time `json:"at"`
	By       string       `json:"by"`
	Initials *string      `json:"initials"`
}

// EstimateView is the expected end of an issue and its author.
type EstimateView struct {
	ExpectedEndAt instant.Time `json:"expectedEndAt"`
	At            instant.Time `json:"at"`
	By            string       `json:"by"`
}

// EscalationView is the escalation level of an issue and its author.
type EscalationView struct {
	Level int          `json:"level" schema:"min=1,max=5"`
	Note  *string      `json:"note"`
	At    instant.Time `json:"at"`
	By    string       `json:"by"`
}

// EventView is something that people entered about a stop, or did.
//
//openapi:schema IssueEvent
type EventView struct {
	At         instant.Time `json:"at"`         // when it happened
	RecordedAt instant.Time `json:"recordedAt"` // when the service received it
	By         string       `json:"by"`         // e-mail address, or credential
	Initials   *string      `json:"initials"`
	Action     Action       `json:"action"`
	// The value: a reason's code, a level, a time or a number of parts.
	Value *string `json:"value"`
	Note  *string `json:"note"`
}

// show returns the API's representation of an issue.
func show(stationCode string, o *Of, now int64) *View {
	end := o.End
	if end == 0 {
		end = max(now, o.Start)
	}
	parts := o.Parts(now)
	v := &View{
		ID: ID(stationCode, o.Type, o.Start), Type: o.Type.String(), StationCode: stationCode,
		StartAt: instant.OfMs(o.Start), EndAt: instant.OfMsOrNil(o.End), DurationMs: end - o.Start, UncausedMs: Uncaused(parts),
		ScheduleID: textOrNil(o.Production), SKUCode: textOrNil(o.SKU), Parts: make([]PartView, len(parts)), Events: []EventView{},
	}
	if o.SKU == monitor.UnknownSKU {
		v.SKUCode = nil
	}
	same := true
	for i, p := range parts {
		v.Parts[i] = PartView{StartAt: instant.OfMs(p.Start), DurationMs: p.End - p.Start, CauseCode: textOrNil(p.Cause), CauseFrom: from(p), Excluded: p.Excluded}
		if i+1 < len(parts) || o.End != 0 {
			v.Parts[i].EndAt = instant.OfMsOrNil(p.End)
		}
		same = same && p.Cause == parts[0].Cause && p.ByMachine == parts[0].ByMachine
		v.Excluded = v.Excluded || p.Excluded
	}
	if same && len(parts) > 0 {
		v.CauseCode, v.CauseFrom = v.Parts[0].CauseCode, v.Parts[0].CauseFrom
	}
	for _, r := range append([]*Record{o.Own}, o.Others...) {
		if r != nil {
			v.add(r, r == o.Own)
		}
	}
	slices.SortStableFunc(v.Events, func(a, b EventView) int { return a.RecordedAt.Compare(b.RecordedAt.Time) })
	return v
}

// orphan returns the representation of a record without an issue.
func orphan(stationCode string, r *Record) *View {
	o := Of{Issue: monitor.Issue{Type: r.Type, Start: r.Start, End: r.end()}, Own: r}
	v := show(stationCode, &o, r.end())
	v.Orphaned = true
	return v
}

// add adds the content of a record. Of merged issues it adds only the events.
func (v *View) add(r *Record, own bool) {
	for _, e := range r.Events {
		v.Events = append(v.Events, EventView{At: instant.OfMs(e.At), RecordedAt: instant.OfMs(e.RecordedAt), By: e.By, Initials: textOrNil(e.Initials), Action: e.Action, Value: textOrNil(e.Value), Note: textOrNil(e.Note)})
	}
	if !own {
		return
	}
	v.Note = textOrNil(r.Note)
	if a := r.Acknowledged; a != nil {
		v.Acknowledged = &AcknowledgedView{instant.OfMs(a.At), a.By, textOrNil(a.Initials)}
	}
	if e := r.Estimate; e != nil {
		v.Estimate = &EstimateView{instant.OfMs(e.EndAt), instant.OfMs(e.At), e.By}
	}
	if e := r.Escalation; e != nil {
		v.Escalation = &EscalationView{e.Level, textOrNil(e.Text), instant.OfMs(e.At), e.By}
	}
}

func from(p Part) *string {
	switch {
	case p.Cause == "":
		return nil
	case p.ByMachine:
		return textOrNil("machine")
	}
	return textOrNil("person")
}

func textOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// heading reports whether a code is a heading in the station's tree of reasons.
func heading(s *station.Station, code string) bool {
	var find func(list []manifest.ReasonView) bool
	find = func(list []manifest.ReasonView) bool {
		for i := range list {
			if list[i].Code == code && list[i].Heading || find(list[i].Reasons) {
				return true
			}
		}
		return false
	}
	return find(s.Headings)
}
