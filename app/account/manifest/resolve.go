package manifest

import (
	"cmp"
	"reflect"
	"slices"
)

// StationView is a station's resolved configuration: the values in force and the level that each comes from
// (decisions.md section 3, GET /station/{stationCode}).
type StationView struct {
	Code         string              `json:"code"` // code of the station
	Name         string              `json:"name"` // name of the station
	Plant        PlantRef            `json:"plant"`
	Group        Ref                 `json:"group"` // the station's group
	Flags        map[string]Decision `json:"flags" schema:"is=StationFlags"`
	Reasons      []ReasonView        `json:"reasons"`      // the reasons available at the station, as a tree
	TaskLists    []TaskListView      `json:"taskLists"`    // the Task lists available at the station
	ShiftPattern *ShiftPatternView   `json:"shiftPattern"` // the shift pattern in force; null if there is none
	SKUs         []SKURef            `json:"skus"`         // the SKUs that the station can run
	Settings     map[string]any      `json:"settings" schema:"is=StationSettings"`
}

// Ref is a code and its name.
//
//openapi:schema Ref
type Ref struct {
	Code string `json:"code"` // its code
	Name string `json:"name"` // its name
}

// SKURef is a SKU that a station can run.
//
//openapi:schema StationSku
type SKURef struct {
	Ref
	Quick bool `json:"allowUseInQuickSchedule"` // whether it can be started without a plan
}

// PlantRef is the plant of a station.
//
//openapi:schema StationPlant
type PlantRef struct {
	Code     string `json:"code"`
	Name     string `json:"name"`
	Timezone string `json:"timezone"` // IANA name of the time zone
}

// Decision is a resolved flag and the level that decided it.
//
//openapi:schema FlagDecision
type Decision struct {
	Value string `json:"value" schema:"enum=on|off"`
	From  Level  `json:"from"` // default if no level sets it
}

// ReasonView is a reason available at a station, or a heading above such reasons.
//
//openapi:schema StationReason
type ReasonView struct {
	Code        string  `json:"code"`
	Name        *string `json:"name"`
	Description *string `json:"description"`
	Type        Codes   `json:"type" schema:"enum=downtime|non_production"` // what the reason applies to
	OEE         *string `json:"oee" schema:"enum=setup|changeover|planned"` // how OEE counts the time
	// A heading: it has children but cannot be chosen.
	Heading bool         `json:"heading"`
	Reasons []ReasonView `json:"reasons"`
}

// TaskListView is a Task list with its Tasks in order.
//
//openapi:schema StationTaskList
type TaskListView struct {
	Code        string     `json:"code"`
	Name        string     `json:"name"`
	Description *string    `json:"description"`
	Trigger     *Trigger   `json:"trigger"`
	Tasks       []TaskView `json:"tasks"`
}

// TaskView is a Task in a list.
//
//openapi:schema StationTask
type TaskView struct {
	Code         string   `json:"code"`
	Title        string   `json:"title"`
	Description  *string  `json:"description"`
	RequireNotes bool     `json:"requireNotes"`
	Order        Number   `json:"order"`   // position in the list; null if the manifest sets none
	Trigger      *Trigger `json:"trigger"` // the Task's own trigger, which applies if the list has none
}

// ShiftPatternView is the shift pattern in force and the level that names it.
//
//openapi:as {"$ref": "#/components/schemas/StationShiftPattern"}
type ShiftPatternView struct {
	ShiftPattern
	From Level `json:"from"`
}

// resolveFlags finds, for each flag, the lowest level that sets it on or off (http-api.md 2.2).
func resolveFlags(levels [4]Flags) map[string]Decision {
	out := make(map[string]Decision, FlagCount)
	for f := range FlagCount {
		d := Decision{Value: "off", From: LevelDefault}
		for i := range levels {
			level := &levels[i]
			if at := LevelAccount + Level(i); at >= flags[f].top && at <= flags[f].bottom && level[f].decided() {
				d = Decision{Value: level[f].String(), From: at}
			}
		}
		out[f.String()] = d
	}
	return out
}

// reasonLists are the include and exclude lists of one level as sets.
type reasonLists struct {
	includes         bool // the include list is set
	include, exclude map[string]bool
}

// resolveReasons applies the include and exclude lists from the account down. A code includes its whole subtree; the
// parents of remaining reasons remain as headings.
func resolveReasons(reasons []Reason, levels []*Lists) []ReasonView {
	var lists []reasonLists
	for _, l := range levels {
		if l.IncludeReasonCodes != nil || len(l.ExcludeReasonCodes) > 0 {
			lists = append(lists, reasonLists{l.IncludeReasonCodes != nil, set(l.IncludeReasonCodes), set(l.ExcludeReasonCodes)})
		}
	}
	return filterReasons(reasons, lists, 0)
}

// filterReasons returns the remaining part of a subtree. The bits of included mark the lists that include it through
// an ancestor. An excluded reason is removed with its subtree.
func filterReasons(reasons []Reason, lists []reasonLists, included uint8) []ReasonView {
	out := []ReasonView{}
next:
	for i := range reasons {
		r := &reasons[i]
		below, own := included, true
		for at, l := range lists {
			if l.exclude[r.Code] {
				continue next
			}
			if l.include[r.Code] {
				below |= 1 << at
			}
			own = own && (!l.includes || below>>at&1 == 1)
		}
		children := filterReasons(r.Reasons, lists, below)
		if own || len(children) > 0 {
			out = append(out, ReasonView{Code: r.Code, Name: r.Name, Description: r.Description, Type: r.Type, OEE: r.OEE, Heading: !own, Reasons: children})
		}
	}
	return out
}

func set(codes Codes) map[string]bool {
	m := make(map[string]bool, len(codes))
	for _, c := range codes {
		m[c] = true
	}
	return m
}

// taskLists applies the lists from the account down. If no level includes a Task list, the result is empty.
func (r *Resolver) taskLists(levels []*Lists) []TaskListView {
	out := []TaskListView{}
	var available map[string]bool // nil until a level includes some
	excluded := map[string]bool{}
	for _, l := range levels {
		if l.IncludeTaskListCodes != nil {
			kept := make(map[string]bool, len(l.IncludeTaskListCodes))
			for _, c := range l.IncludeTaskListCodes {
				kept[c] = available == nil || available[c]
			}
			available = kept
		}
		for _, c := range l.ExcludeTaskListCodes {
			excluded[c] = true // permanently: lower levels cannot add it again
		}
	}
	for i := range r.m.TaskLists {
		if l := &r.m.TaskLists[i]; available[l.Code] && !excluded[l.Code] {
			out = append(out, TaskListView{l.Code, l.Name, l.Description, l.Trigger, r.tasks[l.Code]})
		}
	}
	return out
}

// TasksByList returns the Tasks of every list by their order in it; equal orders as in the manifest.
func (m *Manifest) TasksByList() map[string][]TaskView {
	lists := make(map[string][]TaskView, len(m.TaskLists))
	for i := range m.TaskLists {
		lists[m.TaskLists[i].Code] = []TaskView{} // JSON shows an empty list, not null
	}
	for i := range m.Tasks {
		t := &m.Tasks[i]
		for _, in := range t.TaskListCodes {
			list := lists[in.Code]
			if n := len(list); n > 0 && list[n-1].Code == t.Code {
				continue // duplicate: the first counts
			}
			lists[in.Code] = append(list, TaskView{t.Code, t.Title, t.Description, t.RequireNotes != nil && *t.RequireNotes, in.Order, t.Trigger})
		}
	}
	for _, tasks := range lists {
		slices.SortStableFunc(tasks, func(a, b TaskView) int { return cmp.Compare(a.Order.Float(), b.Order.Float()) })
	}
	return lists
}

// settings returns the station's own fields with defaults (http-api.md 2.3).
func (s *Station) settings() map[string]any {
	o := map[string]any{}
	filled := s.WithDefaults()
	for _, f := range planOf(reflect.TypeFor[Station]()).ordered {
		switch f.name {
		case "code", "name",
			"includeReasonCodes", "excludeReasonCodes", "includeTaskCodes", "excludeTaskCodes", "includeTaskListCodes", "excludeTaskListCodes":
			continue // shown resolved
		}
		o[f.name] = value(reflect.ValueOf(&filled).Elem().FieldByIndex(f.index))
	}
	return o
}

// WithDefaults returns a copy of the station in which unset fields have the specification's default, if it has one
// (http-api.md 2.3).
func (s *Station) WithDefaults() Station {
	d := *s
	mode := func(field **string, fallback string) {
		if *field == nil {
			*field = &fallback
		}
	}
	number := func(field *Number, fallback Number) {
		if !field.Set() {
			*field = fallback
		}
	}
	mode(&d.DowntimeDetectionMode, "utilisation")
	number(&d.UtilisationDowntimeThreshold, "3600000") // ms, 1 hour
	number(&d.SlowDurationThreshold, "60000")          // ms, 1 minute
	mode(&d.ProductiveStatusMode, "productive_signal")
	number(&d.SpeedScale, "1")
	number(&d.SpeedOffset, "0")
	number(&d.ProductiveHoldOnTime, "0")
	number(&d.MinimumCycleTime, "0")
	if d.ForceAllShiftTimeAsPlannedProduction == nil {
		d.ForceAllShiftTimeAsPlannedProduction = new(bool)
	}
	return d
}
