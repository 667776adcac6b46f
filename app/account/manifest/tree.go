package manifest

import (
	"encoding/json"
	"reflect"
	"sync"
	"time"

	"opsmon/app/instant"
)

// ModelOf returns the typed manifest of a decoded document {version, account}. It skips values of a wrong type, which
// the schema reports. The later checks still see all other values, so all problems are reported together.
func ModelOf(doc any) *Manifest {
	m := &Manifest{}
	root, _ := doc.(map[string]any)
	acct, _ := root["account"].(map[string]any)
	m.ID, _ = acct["id"].(string)
	m.Domain, _ = acct["domain"].(string)
	if n, ok := acct["stationCountLimit"].(json.Number); ok {
		m.StationCountLimit = Number(n)
	}
	fill(acct, reflect.ValueOf(&m.Settings).Elem())
	fillSections(acct, m)
	return m
}

// fillSections fills the arrays of manifest.account.
func fillSections(acct map[string]any, m *Manifest) {
	fillSlice(acct["shiftPatterns"], reflect.ValueOf(&m.ShiftPatterns).Elem())
	fillSlice(acct["reasons"], reflect.ValueOf(&m.Reasons).Elem())
	fillSlice(acct["tasks"], reflect.ValueOf(&m.Tasks).Elem())
	fillSlice(acct["taskLists"], reflect.ValueOf(&m.TaskLists).Elem())
	fillSlice(acct["skus"], reflect.ValueOf(&m.SKUs).Elem())
	fillSlice(acct["plants"], reflect.ValueOf(&m.Plants).Elem())
}

// structPlan maps the members of an object to fields of a struct type: names to field indices, and the fields for
// flags, lifetimes and unknown members (-1: none).
type structPlan struct {
	fields             map[string][]int
	ordered            []planField // in the order of the type
	flags, life, extra int
}

type planField struct {
	name     string
	index    []int
	children bool // the next level of a tree
}

var plans sync.Map // reflect.Type -> *structPlan

func planOf(t reflect.Type) *structPlan {
	if p, ok := plans.Load(t); ok {
		return p.(*structPlan)
	}
	p := &structPlan{fields: map[string][]int{}, flags: -1, life: -1, extra: -1}
	for _, f := range reflect.VisibleFields(t) {
		switch {
		case f.Anonymous:
		case f.Type == reflect.TypeFor[Flags]():
			p.flags = f.Index[0]
		case f.Type == reflect.TypeFor[Lifetime]():
			p.life = f.Index[0]
		case f.Type == reflect.TypeFor[Extra]():
			p.extra = f.Index[0]
		default:
			if name := fieldName(f); name != "" {
				p.fields[name] = f.Index
				p.ordered = append(p.ordered, planField{name, f.Index, f.Tag.Get("tree") != ""})
			}
		}
	}
	plans.Store(t, p)
	return p
}

// fieldName returns the member name of a field: its json name or, for children, its tree name.
func fieldName(f reflect.StructField) string {
	if name := f.Tag.Get("tree"); name != "" {
		return name
	}
	name := f.Tag.Get("json")
	for i := range len(name) {
		if name[i] == ',' {
			name = name[:i]
			break
		}
	}
	if name == "-" {
		return ""
	}
	return name
}

func fill(obj map[string]any, dst reflect.Value) {
	p := planOf(dst.Type())
	for name, v := range obj {
		if index, ok := p.fields[name]; ok {
			fillValue(v, dst.FieldByIndex(index))
			continue
		}
		if f, ok := flagByName[name]; ok && p.flags >= 0 {
			if s, ok := v.(string); ok {
				dst.Field(p.flags).Addr().Interface().(*Flags)[f] = parseFlagValue(s)
			}
			continue
		}
		if p.life >= 0 && dst.Field(p.life).Addr().Interface().(*Lifetime).take(name, v) {
			continue
		}
		if p.extra >= 0 {
			extra := dst.Field(p.extra).Addr().Interface().(*Extra)
			if *extra == nil {
				*extra = Extra{}
			}
			(*extra)[name] = v
		}
	}
}

func (l *Lifetime) take(name string, v any) bool {
	var at *time.Time
	switch name {
	case "createdAt":
		at = &l.CreatedAt
	case "updatedAt":
		at = &l.UpdatedAt
	case "archivedAt":
		at = &l.ArchivedAt
	default:
		return false
	}
	if s, ok := v.(string); ok {
		*at, _ = ParseTime(s)
	}
	return true
}

// ParseTime parses a time of a document, truncated to milliseconds, in UTC. It refuses a time whose year in UTC does
// not have four digits, because it could not be formatted.
func ParseTime(s string) (time.Time, bool) {
	t, err := instant.Parse(s)
	t = t.UTC().Truncate(time.Millisecond)
	if err != nil || t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}, false
	}
	return t, true
}

func fillValue(v any, dst reflect.Value) {
	switch v := v.(type) {
	case string:
		switch {
		case dst.Kind() == reflect.String && dst.Type() != reflect.TypeFor[Number]():
			dst.SetString(v)
		case dst.Type() == reflect.TypeFor[*string]():
			dst.Set(reflect.ValueOf(&v))
		}
	case json.Number:
		if dst.Type() == reflect.TypeFor[Number]() {
			dst.SetString(string(v))
		}
	case bool:
		if dst.Type() == reflect.TypeFor[*bool]() {
			dst.Set(reflect.ValueOf(&v))
		}
	case map[string]any:
		switch {
		case dst.Kind() == reflect.Struct:
			fill(v, dst)
		case dst.Kind() == reflect.Pointer && dst.Type().Elem().Kind() == reflect.Struct:
			dst.Set(reflect.New(dst.Type().Elem()))
			fill(v, dst.Elem())
		case dst.Kind() == reflect.Map:
			dst.Set(reflect.ValueOf(v))
		}
	case []any:
		if dst.Type() == reflect.TypeFor[Codes]() {
			codes := make(Codes, 0, len(v))
			for _, item := range v {
				s, _ := item.(string)
				codes = append(codes, s)
			}
			dst.Set(reflect.ValueOf(codes))
			return
		}
		fillSlice(v, dst)
	}
}

// fillSlice creates one element per item, so that indices in problems match the document.
func fillSlice(v any, dst reflect.Value) {
	items, ok := v.([]any)
	if !ok || dst.Kind() != reflect.Slice || dst.Type().Elem().Kind() != reflect.Struct {
		return
	}
	dst.Set(reflect.MakeSlice(dst.Type(), len(items), len(items)))
	for i, item := range items {
		if obj, ok := item.(map[string]any); ok {
			fill(obj, dst.Index(i))
		}
	}
}
