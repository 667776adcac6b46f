package manifest

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"opsmon/app/errdefs"
	"opsmon/schema/strictjson"
)

// Change is one difference between two configurations.
//
// Its path contains the codes of stations, SKUs and the like, long ones shortened: "currency", "skus[BK-1000]",
// "stationGroups[leeds/packing].shiftPatternCode".
//
//openapi:schema Change
type Change struct {
	// What differs, by code, not by position: stations[OVEN-1].name.
	Path string `json:"path"`
	Kind string `json:"kind" schema:"enum=added|removed|changed"`
	From any    `json:"from"` // the value before; null if there was none
	To   any    `json:"to"`   // the value after; null if it was removed
}

// maxChanges is the maximum number of changes in an answer; the total is next to them.
const maxChanges = 1000

// Differences collects changes. Beyond maxChanges it only counts them.
type Differences struct {
	Changes []Change
	Total   int
}

func (d *Differences) add(c Change) {
	d.Total++
	if len(d.Changes) < maxChanges {
		d.Changes = append(d.Changes, c)
	}
}

// room reports whether another change would be listed. Otherwise its values need not be built.
func (d *Differences) room() bool { return len(d.Changes) < maxChanges }

// Diff compares the content of two manifests without system fields, and sets the lifetimes in new: an added entity
// appears at now, a changed one changes at now, others retain theirs. life.Gone returns the lifetimes of entities
// that are only in earlier manifests.
func Diff(old, new *Manifest, life *Lifetimes) *Differences {
	d := &Differences{}
	d.structs("", reflect.ValueOf(&old.Settings).Elem(), reflect.ValueOf(&new.Settings).Elem())
	entities(d, "shiftPatterns", old.ShiftPatterns, new.ShiftPatterns, func(p *ShiftPattern) string { return p.Code })
	d.reasons(old.Reasons, new.Reasons)
	entities(d, "tasks", old.Tasks, new.Tasks, func(t *Task) string { return t.Code })
	entities(d, "taskLists", old.TaskLists, new.TaskLists, func(l *TaskList) string { return l.Code })
	entities(d, "skus", old.SKUs, new.SKUs, func(s *SKU) string { return s.Code })
	d.plants(old, new, life)
	return d
}

// entities compares two lists of entities with codes.
func entities[T any](d *Differences, name string, old, new []T, code func(*T) string) {
	before := make(map[string]*T, len(old))
	for i := range old {
		before[code(&old[i])] = &old[i]
	}
	kept := make([]string, 0, len(new))
	for i := range new {
		c := code(&new[i])
		path := name + "[" + errdefs.Shorten(c) + "]"
		was, ok := before[c]
		if !ok {
			d.whole(path, "added", reflect.Value{}, reflect.ValueOf(&new[i]).Elem())
			continue
		}
		kept = append(kept, c)
		d.structs(path+".", reflect.ValueOf(was).Elem(), reflect.ValueOf(&new[i]).Elem())
		delete(before, c)
	}
	order := make([]string, 0, len(kept))
	for i := range old {
		c := code(&old[i])
		if _, removed := before[c]; removed {
			d.whole(name+"["+errdefs.Shorten(c)+"]", "removed", reflect.ValueOf(&old[i]).Elem(), reflect.Value{})
			continue
		}
		order = append(order, c)
	}
	d.order(name, order, kept)
}

// order reports a changed order of the codes that are in both lists.
func (d *Differences) order(path string, old, new []string) {
	if !slices.Equal(old, new) {
		d.add(Change{Path: path, Kind: "changed", From: old, To: new})
	}
}

func (d *Differences) whole(path, kind string, from, to reflect.Value) {
	c := Change{Path: path, Kind: kind}
	if d.room() {
		if from.IsValid() {
			c.From = object(from)
		}
		if to.IsValid() {
			c.To = object(to)
		}
	}
	d.add(c)
}

// structs compares two structs of one type field by field.
func (d *Differences) structs(prefix string, old, new reflect.Value) {
	p := planOf(old.Type())
	for _, f := range p.ordered {
		a, b := old.FieldByIndex(f.index), new.FieldByIndex(f.index)
		if f.children || equal(a, b) {
			continue
		}
		d.add(Change{Path: prefix + f.name, Kind: kindOf(a, b), From: value(a), To: value(b)})
	}
	if p.flags >= 0 {
		a, b := old.Field(p.flags).Interface().(Flags), new.Field(p.flags).Interface().(Flags)
		for f := range FlagCount {
			if a[f] != b[f] {
				d.add(Change{Path: prefix + f.String(), Kind: kindOf(reflect.ValueOf(a[f]), reflect.ValueOf(b[f])), From: flagJSON(a[f]), To: flagJSON(b[f])})
			}
		}
	}
	if p.extra >= 0 {
		a, b := old.Field(p.extra).Interface().(Extra), new.Field(p.extra).Interface().(Extra)
		for _, name := range extraNames(a, b) {
			x, y := a[name], b[name]
			if EqualJSON(x, y) {
				continue
			}
			kind := "changed"
			if x == nil {
				kind = "added"
			} else if y == nil {
				kind = "removed"
			}
			d.add(Change{Path: strictjson.AppendKey(strings.TrimSuffix(prefix, "."), name), Kind: kind, From: x, To: y})
		}
	}
}

// extraNames returns the names in either of two Extras, in alphabetical order.
func extraNames(a, b Extra) []string {
	if len(a) == 0 {
		return SortedKeys(b)
	}
	names := SortedKeys(a)
	for name := range b {
		if _, both := a[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func kindOf(a, b reflect.Value) string {
	switch {
	case a.IsZero():
		return "added"
	case b.IsZero():
		return "removed"
	}
	return "changed"
}

func flagJSON(v FlagValue) any {
	if v == FlagUnset {
		return nil
	}
	return v.String()
}

// equal compares two values of one type; null equals absent, and numbers are compared by value.
func equal(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.String:
		if a.Type() == reflect.TypeFor[Number]() {
			return Number(a.String()).Equal(Number(b.String()))
		}
		return a.String() == b.String()
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return equal(a.Elem(), b.Elem())
	case reflect.Bool:
		return a.Bool() == b.Bool()
	case reflect.Slice:
		// an empty list of codes is set, an empty list of entities equals none
		codes := a.Type() == reflect.TypeFor[Codes]()
		if a.Len() != b.Len() || codes && a.IsNil() != b.IsNil() {
			return false
		}
		for i := range a.Len() {
			if !equal(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Map:
		if x, ok := a.Interface().(Extra); ok {
			y := b.Interface().(Extra)
			return !slices.ContainsFunc(extraNames(x, y), func(name string) bool { return !EqualJSON(x[name], y[name]) })
		}
		return a.IsNil() == b.IsNil() && EqualJSON(a.Interface(), b.Interface())
	case reflect.Struct:
		for i := range a.NumField() {
			if !equal(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	}
	panic("account: equal of " + a.Type().String())
}

// EqualJSON compares decoded JSON. In free-form data null is an ordinary value.
func EqualJSON(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k, v := range x {
			if w, both := y[k]; !both || !EqualJSON(v, w) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !EqualJSON(x[i], y[i]) {
				return false
			}
		}
		return true
	case json.Number:
		y, ok := b.(json.Number)
		return ok && Number(x).Equal(Number(y))
	}
	return a == b
}

// value returns a field's value for JSON.
func value(v reflect.Value) any {
	switch {
	case v.Kind() == reflect.Pointer && v.IsNil(), v.Kind() == reflect.Slice && v.IsNil(), v.Kind() == reflect.Map && v.IsNil():
		return nil
	case v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Struct:
		return object(v.Elem())
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = object(v.Index(i))
		}
		return list
	}
	return v.Interface()
}

// object returns the members that are set, without children.
func object(v reflect.Value) map[string]any {
	p := planOf(v.Type())
	o := map[string]any{}
	for _, f := range p.ordered {
		if field := v.FieldByIndex(f.index); !f.children && !field.IsZero() {
			o[f.name] = value(field)
		}
	}
	if p.flags >= 0 {
		for f, set := range v.Field(p.flags).Interface().(Flags) {
			if set != FlagUnset {
				o[Flag(f).String()] = set.String()
			}
		}
	}
	if p.extra >= 0 {
		for k, x := range v.Field(p.extra).Interface().(Extra) {
			if x != nil {
				o[k] = x
			}
		}
	}
	return o
}

// SortedKeys returns the names of an object in order.
func SortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// reasonTree is one of two reason trees being compared. Codes are numbered across both trees, which compares a long
// code of a parent with many children only once; 0 is no code.
type reasonTree struct {
	order   []int // in document order, parents before children
	reasons map[int]*Reason
	parent  map[int]int
}

func newReasonTree(list []Reason, numbers map[string]int) *reasonTree {
	t := &reasonTree{reasons: map[int]*Reason{}, parent: map[int]int{}}
	t.add(list, 0, numbers)
	return t
}

func (t *reasonTree) add(list []Reason, parent int, numbers map[string]int) {
	for i := range list {
		n, ok := numbers[list[i].Code]
		if !ok {
			n = len(numbers) + 1
			numbers[list[i].Code] = n
		}
		t.order = append(t.order, n)
		t.reasons[n], t.parent[n] = &list[i], parent
		t.add(list[i].Reasons, n, numbers)
	}
}

// code returns the code of a reason, nil for the number 0.
func (t *reasonTree) code(n int) any {
	if n == 0 {
		return nil
	}
	return errdefs.Shorten(t.reasons[n].Code)
}

// reasons compares the reason trees: a reason may move.
func (d *Differences) reasons(oldList, newList []Reason) {
	numbers := map[string]int{}
	old, new := newReasonTree(oldList, numbers), newReasonTree(newList, numbers)
	siblings := map[int]*[2][]string{} // by parent: the codes that remain below it, before and after
	for _, n := range new.order {
		r, was := new.reasons[n], old.reasons[n]
		path := "reasons[" + errdefs.Shorten(r.Code) + "]"
		switch {
		case was == nil:
			d.whole(path, "added", reflect.Value{}, reflect.ValueOf(r).Elem())
			continue
		case old.parent[n] != new.parent[n]:
			d.structs(path+".", reflect.ValueOf(was).Elem(), reflect.ValueOf(r).Elem())
			d.add(Change{Path: path + ".parent", Kind: "changed", From: old.code(old.parent[n]), To: new.code(new.parent[n])})
			continue
		}
		d.structs(path+".", reflect.ValueOf(was).Elem(), reflect.ValueOf(r).Elem())
		pair := siblings[new.parent[n]]
		if pair == nil {
			pair = &[2][]string{}
			siblings[new.parent[n]] = pair
		}
		pair[1] = append(pair[1], r.Code)
	}
	var parents []int // those with siblings, in the order of the old document
	for _, n := range old.order {
		r, parent := old.reasons[n], old.parent[n]
		switch {
		case new.reasons[n] == nil:
			d.whole("reasons["+errdefs.Shorten(r.Code)+"]", "removed", reflect.ValueOf(r).Elem(), reflect.Value{})
		case new.parent[n] == parent:
			pair := siblings[parent]
			if pair[0] == nil {
				parents = append(parents, parent)
			}
			pair[0] = append(pair[0], r.Code)
		}
	}
	for _, parent := range parents {
		path := "reasons"
		if parent != 0 {
			path = "reasons[" + errdefs.Shorten(old.reasons[parent].Code) + "].reasons"
		}
		d.order(path, siblings[parent][0], siblings[parent][1])
	}
}
