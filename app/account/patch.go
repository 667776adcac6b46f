package account

import (
	"reflect"
	"slices"
)

// Patch changes some fields of a manifest's things, as a correction of the past does (monitoring.md section 8). Each
// object holds fields by their names in the manifest, as strictjson decodes them: null unsets one, what is missing stays.
// All but Station name what they are of by their code; what the manifest does not have is left out, but for shift
// patterns, which are added.
type Patch struct {
	Station       map[string]any // of the stations that it is for
	SKUs          []map[string]any
	Reasons       []map[string]any
	ShiftPatterns []map[string]any
}

// Apply returns a copy of a manifest with all of the patch but Station; what does not change is shared.
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

// ApplyTo returns a copy of a station with the patch's fields of a station.
func (p *Patch) ApplyTo(s *Station) *Station {
	c := *s
	patchStruct(p.Station, reflect.ValueOf(&c).Elem())
	return &c
}

// patch changes fields of a SKU. A rate that is given takes the place of the one that there was, in whatever way that was
// given: exactly one is set.
func (k *SKU) patch(fields map[string]any) {
	if fields["cycleTime"] != nil || fields["unitsPerMinute"] != nil || fields["unitsPerHour"] != nil {
		k.CycleTime, k.UnitsPerMinute, k.UnitsPerHour = "", "", ""
	}
	patchStruct(fields, reflect.ValueOf(k).Elem())
}

// patchReasons returns a tree of reasons in which the one of a code has other fields.
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

// patchStruct sets the fields of a struct that an object names; null makes one unset.
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
