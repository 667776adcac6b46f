package account

import (
	"cmp"
	"reflect"
	"slices"

	"opsmon/app/errdefs"
)

// StationView is a station's resolved configuration: what holds there and which level decided it
// (decisions.md section 3, GET /station/{stationCode}).
type StationView struct {
	Code         string              `json:"code"`
	Name         string              `json:"name"`
	Plant        PlantRef            `json:"plant"`
	Group        Ref                 `json:"group"`
	Flags        map[string]Decision `json:"flags"`
	Reasons      []ReasonView        `json:"reasons"`
	TaskLists    []TaskListView      `json:"taskLists"`
	ShiftPattern *ShiftPatternView   `json:"shiftPattern"`
	SKUs         []Ref               `json:"skus"`
	Settings     map[string]any      `json:"settings"`
}

// Ref names a thing.
type Ref struct {
	Code string `json:"code"`
	Name string `json:"name"`
}

// PlantRef names a plant and its IANA time zone.
type PlantRef struct {
	Code     string `json:"code"`
	Name     string `json:"name"`
	Timezone string `json:"timezone"`
}

// Decision is a resolved value and the level that decided it.
type Decision struct {
	Value string `json:"value"` // on or off
	From  Level  `json:"from"`
}

// ReasonView is a reason that may be used at a station, or the heading of some that may.
type ReasonView struct {
	Code        string       `json:"code"`
	Name        *string      `json:"name"`
	Description *string      `json:"description"`
	Type        Codes        `json:"type"`
	OEE         *string      `json:"oee"`
	Heading     bool         `json:"heading"` // shown for its children only; it cannot be chosen
	Reasons     []ReasonView `json:"reasons"`
}

// TaskListView is a Task list with its Tasks in order.
type TaskListView struct {
	Code        string     `json:"code"`
	Name        string     `json:"name"`
	Description *string    `json:"description"`
	Trigger     *Trigger   `json:"trigger"`
	Tasks       []TaskView `json:"tasks"`
}

// TaskView is a Task as it stands in one list.
type TaskView struct {
	Code         string   `json:"code"`
	Title        string   `json:"title"`
	Description  *string  `json:"description"`
	RequireNotes bool     `json:"requireNotes"`
	Order        Number   `json:"order"`
	Trigger      *Trigger `json:"trigger"` // the Task's own; it applies where the list has none
}

// ShiftPatternView is the shift pattern in force and the level that names it.
type ShiftPatternView struct {
	ShiftPattern
	From Level `json:"from"`
}

// Resolve gives the configuration in force at a station; errdefs.NotFound when there is no such station.
func (s *Snapshot) Resolve(stationCode string) (*StationView, error) {
	t, err := s.arrays.typed()
	if err != nil {
		return nil, err
	}
	m, err := s.Manifest()
	if err != nil {
		return nil, err
	}
	ref, ok := t.stations[stationCode]
	if !ok {
		return nil, errdefs.New(errdefs.NotFound, "there is no station with this code")
	}
	plant := &m.Plants[ref.plant]
	group := &plant.Groups[ref.group]
	station := &group.Stations[ref.station]
	lists := []*Lists{&m.Settings.Lists, &plant.Lists, &group.Lists, &station.Lists}
	v := &StationView{
		Code: station.Code, Name: station.Name,
		Plant:     PlantRef{plant.Code, plant.Name, plant.Timezone},
		Group:     Ref{group.Code, group.Name},
		Flags:     resolveFlags(&m.Settings.Flags, &plant.Flags, &group.Flags, &station.Flags),
		Reasons:   resolveReasons(m.Reasons, lists),
		TaskLists: resolveTaskLists(m, lists),
		SKUs:      []Ref{},
		Settings:  station.settings(),
	}
	v.ShiftPattern = m.shiftPattern(group, station)
	for i := range m.SKUs {
		if m.SKUs[i].runsOn(group.Code, station.Code) {
			v.SKUs = append(v.SKUs, Ref{m.SKUs[i].Code, m.SKUs[i].Name})
		}
	}
	return v, nil
}

// resolveFlags finds for each flag the lowest level that says on or off (http-api.md 2.2).
func resolveFlags(levels ...*Flags) map[string]Decision {
	out := make(map[string]Decision, flagCount)
	for f := range flagCount {
		d := Decision{Value: "off", From: LevelDefault}
		for i, level := range levels {
			if at := LevelAccount + Level(i); at >= flags[f].top && at <= flags[f].bottom && level[f].decided() {
				d = Decision{Value: level[f].String(), From: at}
			}
		}
		out[f.String()] = d
	}
	return out
}

// resolveReasons applies the include and exclude lists from the account down. A code stands for its whole
// subtree; the parents of what is left stay as headings.
func resolveReasons(reasons []Reason, levels []*Lists) []ReasonView {
	available := func(map[string]bool) bool { return true } // by the codes on the way from the root
	for _, l := range levels {
		if l.IncludeReasonCodes == nil && l.ExcludeReasonCodes == nil {
			continue
		}
		above, include, exclude := available, set(l.IncludeReasonCodes), set(l.ExcludeReasonCodes)
		available = func(way map[string]bool) bool {
			return above(way) && (l.IncludeReasonCodes == nil || meet(include, way)) && !meet(exclude, way)
		}
	}
	return filterReasons(reasons, map[string]bool{}, available)
}

func filterReasons(reasons []Reason, way map[string]bool, available func(map[string]bool) bool) []ReasonView {
	out := []ReasonView{}
	for i := range reasons {
		r := &reasons[i]
		way[r.Code] = true
		own := available(way)
		children := filterReasons(r.Reasons, way, available)
		delete(way, r.Code)
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

func meet(codes, way map[string]bool) bool {
	for c := range way {
		if codes[c] {
			return true
		}
	}
	return false
}

// resolveTaskLists applies the lists from the account down; where no level includes any, there are none.
func resolveTaskLists(m *Manifest, levels []*Lists) []TaskListView {
	out := []TaskListView{}
	for i := range m.TaskLists {
		l := &m.TaskLists[i]
		included, ok := false, true
		for _, level := range levels {
			if level.IncludeTaskListCodes != nil {
				included = true
				ok = ok && contains(level.IncludeTaskListCodes, l.Code)
			}
			ok = ok && !contains(level.ExcludeTaskListCodes, l.Code)
		}
		if included && ok {
			out = append(out, TaskListView{l.Code, l.Name, l.Description, l.Trigger, m.tasksOf(l.Code)})
		}
	}
	return out
}

// tasksOf gives the Tasks of a list by their order in it, equal ones as the manifest has them.
func (m *Manifest) tasksOf(list string) []TaskView {
	tasks := []TaskView{}
	for i := range m.Tasks {
		t := &m.Tasks[i]
		for _, in := range t.TaskListCodes {
			if in.Code == list {
				tasks = append(tasks, TaskView{t.Code, t.Title, t.Description, t.RequireNotes != nil && *t.RequireNotes, in.Order, t.Trigger})
				break
			}
		}
	}
	slices.SortStableFunc(tasks, func(a, b TaskView) int { return cmp.Compare(a.Order.Float(), b.Order.Float()) })
	return tasks
}

// shiftPattern gives the pattern that a station follows: its own, else its group's, else nil.
func (m *Manifest) shiftPattern(g *StationGroup, s *Station) *ShiftPatternView {
	code, from := s.ShiftPatternCode, LevelStation
	if code == nil {
		code, from = g.ShiftPatternCode, LevelGroup
	}
	if code == nil {
		return nil
	}
	for _, p := range m.ShiftPatterns {
		if p.Code == *code {
			return &ShiftPatternView{p, from}
		}
	}
	return nil // the checks do not let this happen
}

// runsOn tells whether a station may be scheduled with the SKU.
func (k *SKU) runsOn(group, station string) bool {
	if k.StationCodes == nil && k.StationGroupCodes == nil {
		return true
	}
	return contains(k.StationCodes, station) || contains(k.StationGroupCodes, group)
}

func contains(codes Codes, code string) bool { return slices.Contains(codes, code) }

// settings gives the station's own fields with the specification's defaults filled in (http-api.md 2.3).
func (s *Station) settings() map[string]any {
	o := map[string]any{}
	for _, f := range planOf(reflect.TypeFor[Station]()).ordered {
		switch f.name {
		case "code", "name",
			"includeReasonCodes", "excludeReasonCodes", "includeTaskCodes", "excludeTaskCodes", "includeTaskListCodes", "excludeTaskListCodes":
			continue // shown resolved
		}
		o[f.name] = value(reflect.ValueOf(s).Elem().FieldByIndex(f.index))
		if fallback, ok := stationDefaults[f.name]; ok && (o[f.name] == nil || o[f.name] == Number("")) {
			o[f.name] = fallback
		}
	}
	return o
}

// stationDefaults are what a station field means when it is unset: ms, factors and modes.
var stationDefaults = map[string]any{
	"downtimeDetectionMode":                "utilisation",
	"utilisationDowntimeThreshold":         Number("3600000"), // 1 hour
	"slowDurationThreshold":                Number("60000"),   // 1 minute
	"productiveStatusMode":                 "productive_signal",
	"speedScale":                           Number("1"),
	"speedOffset":                          Number("0"),
	"productiveHoldOnTime":                 Number("0"),
	"minimumCycleTime":                     Number("0"),
	"forceAllShiftTimeAsPlannedProduction": false,
}
