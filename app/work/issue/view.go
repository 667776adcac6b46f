package issue

import (
	"slices"

	"opsmon/app/account"
	"opsmon/app/audit"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/station"
)

// View is an issue as answers show it. What is null is not known, or was not said.
type View struct {
	ID           string            `json:"id"`
	Type         string            `json:"type"` // stop, slow or manual
	StationCode  string            `json:"stationCode"`
	StartAt      audit.Time        `json:"startAt"`
	EndAt        *audit.Time       `json:"endAt"` // null: it goes on
	DurationMs   int64             `json:"durationMs"`
	CauseCode    *string           `json:"causeCode"` // null: nobody knows, or its parts differ
	CauseFrom    *string           `json:"causeFrom"` // person or machine
	UncausedMs   int64             `json:"uncausedMs"`
	Note         *string           `json:"note"`
	Parts        []PartView        `json:"parts"` // they have its time exactly
	ScheduleID   *string           `json:"scheduleId"`
	SKUCode      *string           `json:"skuCode"`
	Excluded     bool              `json:"excluded"` // it is in no figure
	Acknowledged *AcknowledgedView `json:"acknowledged"`
	Estimate     *EstimateView     `json:"estimate"`
	Escalation   *EscalationView   `json:"escalation"`
	Orphaned     bool              `json:"orphaned"` // there is no such issue any more; this is what was said of it
	Events       []EventView       `json:"events"`
}

// PartView is a part of an issue.
type PartView struct {
	StartAt    audit.Time  `json:"startAt"`
	EndAt      *audit.Time `json:"endAt"` // null: it goes on
	DurationMs int64       `json:"durationMs"`
	CauseCode  *string     `json:"causeCode"`
	CauseFrom  *string     `json:"causeFrom"`
	Excluded   bool        `json:"excluded"`
}

// AcknowledgedView says who has seen an issue.
type AcknowledgedView struct {
	At       audit.Time `json:"at"`
	By       string     `json:"by"`
	Initials *string    `json:"initials"`
}

// EstimateView says when an issue is expected to end, and who said so.
type EstimateView struct {
	ExpectedEndAt audit.Time `json:"expectedEndAt"`
	At            audit.Time `json:"at"`
	By            string     `json:"by"`
}

// EscalationView says how far up an issue was taken.
type EscalationView struct {
	Level int        `json:"level"`
	Note  *string    `json:"note"`
	At    audit.Time `json:"at"`
	By    string     `json:"by"`
}

// EventView is what was said or done.
type EventView struct {
	At         audit.Time `json:"at"`
	RecordedAt audit.Time `json:"recordedAt"`
	By         string     `json:"by"`
	Initials   *string    `json:"initials"`
	Action     Action     `json:"action"`
	Value      *string    `json:"value"`
	Note       *string    `json:"note"`
}

// show gives an issue as answers show it.
func show(stationCode string, o *Of, now int64) *View {
	end := o.End
	if end == 0 {
		end = max(now, o.Start)
	}
	parts := o.Parts(now)
	v := &View{
		ID: ID(stationCode, o.Type, o.Start), Type: o.Type.String(), StationCode: stationCode,
		StartAt: audit.AtMs(o.Start), EndAt: audit.AtMsOrNil(o.End), DurationMs: end - o.Start, UncausedMs: Uncaused(parts),
		ScheduleID: textOrNil(o.Production), SKUCode: textOrNil(o.SKU), Parts: make([]PartView, len(parts)), Events: []EventView{},
	}
	if o.SKU == monitor.UnknownSKU {
		v.SKUCode = nil
	}
	same := true
	for i, p := range parts {
		v.Parts[i] = PartView{StartAt: audit.AtMs(p.Start), DurationMs: p.End - p.Start, CauseCode: textOrNil(p.Cause), CauseFrom: from(p), Excluded: p.Excluded}
		if i+1 < len(parts) || o.End != 0 {
			v.Parts[i].EndAt = audit.AtMsOrNil(p.End)
		}
		same = same && p.Cause == parts[0].Cause && p.ByMachine == parts[0].ByMachine
		v.Excluded = v.Excluded || p.Excluded
	}
	if same && len(parts) > 0 {
		v.CauseCode, v.CauseFrom = v.Parts[0].CauseCode, v.Parts[0].CauseFrom
	}
	for _, r := range append([]*Record{o.Own}, o.Others...) {
		if r != nil {
			v.said(r, r == o.Own)
		}
	}
	slices.SortStableFunc(v.Events, func(a, b EventView) int { return a.RecordedAt.Compare(b.RecordedAt.Time) })
	return v
}

// orphan shows what was said of an issue that is not there.
func orphan(stationCode string, r *Record) *View {
	o := Of{Issue: monitor.Issue{Type: r.Type, Start: r.Start, End: r.end()}, Own: r}
	v := show(stationCode, &o, r.end())
	v.Orphaned = true
	return v
}

// said adds what a record holds. Of those that the issue has taken in only the events are shown.
func (v *View) said(r *Record, own bool) {
	for _, e := range r.Events {
		v.Events = append(v.Events, EventView{At: audit.AtMs(e.At), RecordedAt: audit.AtMs(e.RecordedAt), By: e.By, Initials: textOrNil(e.Initials), Action: e.Action, Value: textOrNil(e.Value), Note: textOrNil(e.Note)})
	}
	if !own {
		return
	}
	v.Note = textOrNil(r.Note)
	if a := r.Acknowledged; a != nil {
		v.Acknowledged = &AcknowledgedView{audit.AtMs(a.At), a.By, textOrNil(a.Initials)}
	}
	if e := r.Estimate; e != nil {
		v.Estimate = &EstimateView{audit.AtMs(e.EndAt), audit.AtMs(e.At), e.By}
	}
	if e := r.Escalation; e != nil {
		v.Escalation = &EscalationView{e.Level, textOrNil(e.Text), audit.AtMs(e.At), e.By}
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

// heading tells whether a code is that of a heading above the reasons of a station.
func heading(s *station.Station, code string) bool {
	var find func(list []account.ReasonView) bool
	find = func(list []account.ReasonView) bool {
		for i := range list {
			if list[i].Code == code && list[i].Heading || find(list[i].Reasons) {
				return true
			}
		}
		return false
	}
	return find(s.Headings)
}
