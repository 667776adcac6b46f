package manifest

import (
	"reflect"
	"slices"
)

// Patch changes fields of a manifest's entities, for a correction of the past (monitoring.md section 8). Each object
// has fields by their names in the manifest, decoded by strictjson: null unsets a field, a missing field remains. All
// objects except Station identify their entity by code. An unknown code is ignored, except for shift patterns, which
// are added.
type Patch struct {
	Station       map[string]any // for the selected stations
	SKUs          []map[string]any
	Reasons       []map[string]any
	ShiftPatterns []map[string]any
}

// Apply returns a copy of a manifest with all of the patch except Station; it shares unchanged parts.
func (p *Patch) Apply(m *Manifest) *Manifest {
	c := *m
	if len(p.SKUs) > 0 {
		c.SKUs = slices.Clone(m.SKUs)
		for _, fields := range p.SKUs {
			for i := range c.SKUs {
				if c.SKUs[i].Code == fields["code"] {
					c.SKUs[i].patch(fields)
				}
			}
		}
	}
	for _, fields := range p.Reasons {
		c.Reasons = patchReasons(c.Reasons, fields)
	}
	if len(p.ShiftPatterns) > 0 {
		c.ShiftPatterns = slices.Clone(m.ShiftPatterns)
		for _, fields := range p.ShiftPatterns {
			at := slices.IndexFunc(c.ShiftPatterns, func(s ShiftPattern) bool { return s.Code == fields["code"] })
			if at < 0 {
				at = len(c.ShiftPatterns)
				c.ShiftPatterns = append(c.ShiftPatterns, ShiftPattern{})
			}
			patchStruct(fields, reflect.ValueOf(&c.ShiftPatterns[at]).Elem())
		}
	}
	return &c
}

// ApplyTo returns a copy of a station with the fields in Station.
func (p *Patch) ApplyTo(s *Station) *Station {
	c := *s
	patchStruct(p.Station, reflect.ValueOf(&c).Elem())
	return &c
}

// patch changes fields of a SKU. A new rate replaces the previous one, even in another unit: exactly one is set.
func (k *SKU) patch(fields map[string]any) {
	if fields["cycleTime"] != nil || fields["unitsPerMinute"] != nil || fields["unitsPerHour"] != nil {
		k.CycleTime, k.UnitsPerMinute, k.UnitsPerHour = "", "", ""
	}
	patchStruct(fields, reflect.ValueOf(k).Elem())
}

// patchReasons returns a copy of a reason tree with changed fields of the reason with the given code.
func patchReasons(reasons []Reason, fields map[string]any) []Reason {
	list := slices.Clone(reasons)
	for i := range list {
		if list[i].Code == fields["code"] {
			patchStruct(fields, reflect.ValueOf(&list[i]).Elem())
		}
		list[i].Reasons = patchReasons(list[i].Reasons, fields)
	}
	return list
}

// patchStruct sets the fields of a struct from an object; null unsets a field.
func patchStruct(obj map[string]any, dst reflect.Value) {
	plan := planOf(dst.Type())
	for name, v := range obj {
		if index, ok := plan.fields[name]; ok {
			dst.FieldByIndex(index).SetZero()
		} else if f, ok := flagByName[name]; ok && v == nil && plan.flags >= 0 {
			dst.Field(plan.flags).Addr().Interface().(*Flags)[f] = FlagUnset
		}
	}
	fill(obj, dst)
}
