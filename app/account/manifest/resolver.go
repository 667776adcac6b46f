package manifest

import (
	"cmp"
	"slices"
	"strings"
)

// Resolved is the configuration in force at a station of one manifest: flags, lists and references (decisions.md
// section 3).
type Resolved struct {
	Flags        map[string]Decision
	Reasons      []ReasonView
	TaskLists    []TaskListView
	ShiftPattern *ShiftPatternView // nil: none, all time is shift time
	SKUs         []*SKU            // SKUs that may be scheduled there, in the manifest's order
}

// Resolver resolves the stations of one manifest. Equal results share the same map or slice, which saves memory with
// thousands of stations: they must not be changed. It must not be used concurrently.
type Resolver struct {
	m     *Manifest
	tasks map[string][]TaskView // by Task list

	patterns  map[string]*ShiftPattern
	everySKU  []int                // indices of the SKUs that run on every station
	bySKUList map[placeOfSKU][]int // indices of those that name a station or a group
	flags     map[[4]Flags]map[string]Decision
	reasons   map[string][]ReasonView
	taskList  map[string][]TaskListView
	skus      map[string][]*SKU
}

// placeOfSKU is a station, or all groups with the same code.
type placeOfSKU struct {
	group bool
	code  string
}

// NewResolver returns a Resolver of a manifest, which must not change.
func NewResolver(m *Manifest) *Resolver { return NewResolverOf(m, m.TasksByList()) }

// NewResolverOf returns a Resolver of a manifest whose TasksByList are known.
func NewResolverOf(m *Manifest, tasks map[string][]TaskView) *Resolver {
	r := &Resolver{
		m: m, tasks: tasks,
		patterns: make(map[string]*ShiftPattern, len(m.ShiftPatterns)), bySKUList: map[placeOfSKU][]int{},
		flags: map[[4]Flags]map[string]Decision{}, reasons: map[string][]ReasonView{}, taskList: map[string][]TaskListView{}, skus: map[string][]*SKU{},
	}
	for i := range m.ShiftPatterns {
		r.patterns[m.ShiftPatterns[i].Code] = &m.ShiftPatterns[i]
	}
	for i := range m.SKUs {
		k := &m.SKUs[i]
		if k.StationCodes == nil && k.StationGroupCodes == nil {
			r.everySKU = append(r.everySKU, i)
		}
		for _, code := range k.StationCodes {
			r.bySKUList[placeOfSKU{false, code}] = append(r.bySKUList[placeOfSKU{false, code}], i)
		}
		for _, code := range k.StationGroupCodes {
			r.bySKUList[placeOfSKU{true, code}] = append(r.bySKUList[placeOfSKU{true, code}], i)
		}
	}
	return r
}

// Resolve returns the configuration in force at a station of a group of a plant. They may be changed copies of the
// manifest's own, which are resolved as if they replaced them.
func (r *Resolver) Resolve(plant *Plant, group *StationGroup, station *Station) Resolved {
	lists := []*Lists{&r.m.Settings.Lists, &plant.Lists, &group.Lists, &station.Lists}
	return Resolved{
		Flags:        cached(r.flags, [4]Flags{r.m.Settings.Flags, plant.Flags, group.Flags, station.Flags}, resolveFlags),
		Reasons:      cached(r.reasons, keyOf(lists, reasonCodesOf), func(string) []ReasonView { return resolveReasons(r.m.Reasons, lists) }),
		TaskLists:    cached(r.taskList, keyOf(lists, taskListCodesOf), func(string) []TaskListView { return r.taskLists(lists) }),
		ShiftPattern: r.shiftPattern(group, station),
		SKUs:         r.skusOf(group.Code, station.Code),
	}
}

// cached returns the cached value of a key, or computes and caches it.
func cached[K comparable, V any](made map[K]V, key K, makeOne func(K) V) V {
	v, ok := made[key]
	if !ok {
		v = makeOne(key)
		made[key] = v
	}
	return v
}

func reasonCodesOf(l *Lists) (include, exclude Codes) {
	return l.IncludeReasonCodes, l.ExcludeReasonCodes
}

func taskListCodesOf(l *Lists) (include, exclude Codes) {
	return l.IncludeTaskListCodes, l.ExcludeTaskListCodes
}

// keyOf returns a key that is equal for equal levels.
func keyOf(levels []*Lists, of func(*Lists) (include, exclude Codes)) string {
	var key []byte
	for _, l := range levels {
		include, exclude := of(l)
		if include != nil {
			key = append(key, '+') // an empty list differs from no list
		}
		for _, codes := range []Codes{include, exclude} {
			for _, c := range codes {
				key = AppendString(key, c)
			}
			key = append(key, ';')
		}
	}
	return string(key)
}

// shiftPattern returns the station's own pattern, else its group's, else nil.
func (r *Resolver) shiftPattern(g *StationGroup, s *Station) *ShiftPatternView {
	code, from := s.ShiftPatternCode, LevelStation
	if code == nil {
		code, from = g.ShiftPatternCode, LevelGroup
	}
	if code == nil {
		return nil
	}
	if p, ok := r.patterns[*code]; ok {
		return &ShiftPatternView{*p, from}
	}
	return nil // the checks exclude this
}

// skusOf returns the SKUs that may be scheduled at a station: those that name neither stations nor groups, and those
// that name it or its group.
func (r *Resolver) skusOf(group, station string) []*SKU {
	ofGroup, ofStation := r.bySKUList[placeOfSKU{true, group}], r.bySKUList[placeOfSKU{false, station}]
	var key strings.Builder
	if len(ofGroup) > 0 {
		key.WriteString("g" + group)
	}
	if len(ofStation) > 0 {
		key.WriteString("\x00s" + station)
	}
	return cached(r.skus, key.String(), func(string) []*SKU {
		at := slices.Concat(r.everySKU, ofGroup, ofStation)
		slices.SortFunc(at, cmp.Compare[int])
		at = slices.Compact(at)
		list := make([]*SKU, len(at))
		for i, n := range at {
			list[i] = &r.m.SKUs[n]
		}
		return list
	})
}

// View returns the resolved configuration of a station as the API shows it.
func (r *Resolver) View(plant *Plant, group *StationGroup, station *Station) *StationView {
	s := r.Resolve(plant, group, station)
	v := &StationView{
		Code: station.Code, Name: station.Name,
		Plant:        PlantRef{plant.Code, plant.Name, plant.Timezone},
		Group:        Ref{group.Code, group.Name},
		Flags:        s.Flags,
		Reasons:      s.Reasons,
		TaskLists:    s.TaskLists,
		ShiftPattern: s.ShiftPattern,
		SKUs:         make([]SKURef, len(s.SKUs)),
		Settings:     station.settings(),
	}
	for i, k := range s.SKUs {
		v.SKUs[i] = SKURef{Ref{k.Code, k.Name}, k.AllowUseInQuickSchedule != nil && *k.AllowUseInQuickSchedule}
	}
	return v
}
