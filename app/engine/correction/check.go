package correction

import (
	"fmt"
	"slices"
	"strings"

	"opsmon/app/account/manifest"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
)

// check validates a correction against the plans of its range, beyond its schema. Messages are those of a manifest.
func check(plans []*station.Plan, codes []string, p *manifest.Patch) (problems []errdefs.Detail) {
	problem := func(field, format string, args ...any) {
		problems = append(problems, errdefs.Detail{Field: field, Issue: fmt.Sprintf(format, args...)})
	}
	seen := map[string]bool{}
	for i, code := range codes {
		field := fmt.Sprintf("stationCodes[%d]", i)
		if seen[code] {
			problem(field, "must not be there twice")
		}
		seen[code] = true
		if len(plans) > 0 && !slices.ContainsFunc(plans, func(p *station.Plan) bool { return p.Of(code) != nil }) {
			problem(field, "names the station %q, which the account did not have then", errdefs.Shorten(code))
		}
	}
	if len(p.Station)+len(p.SKUs)+len(p.Reasons)+len(p.ShiftPatterns) == 0 {
		problem("changes", "must change something of station, skus, reasons or shiftPatterns")
	}
	unique := func(field string, list []map[string]any) {
		first := map[any]int{}
		for i, fields := range list {
			if at, dup := first[fields["code"]]; dup {
				problem(fmt.Sprintf("changes.%s[%d].code", field, i), "must be there once; it is also at changes.%s[%d]", field, at)
				continue
			}
			first[fields["code"]] = i
			if len(fields) == 1 {
				problem(fmt.Sprintf("changes.%s[%d]", field, i), "must change something")
			}
		}
	}
	unique("skus", p.SKUs)
	unique("reasons", p.Reasons)
	unique("shiftPatterns", p.ShiftPatterns)
	for _, plan := range plans {
		problems = append(problems, within(plan, p)...)
		if len(problems) > 0 { // plans differ little, and so would their problems
			return problems
		}
	}
	return problems
}

// within validates a patch against one plan.
func within(plan *station.Plan, p *manifest.Patch) (problems []errdefs.Detail) {
	problem := func(field, format string, args ...any) {
		problems = append(problems, errdefs.Detail{Field: field, Issue: fmt.Sprintf(format, args...)})
	}
	then := fmt.Sprintf("revision %d of the manifest", plan.Revision)
	m := p.Apply(plan.Manifest)
	if code, ok := p.Station["shiftPatternCode"].(string); ok && !slices.ContainsFunc(m.ShiftPatterns, func(s manifest.ShiftPattern) bool { return s.Code == code }) {
		problem("changes.station.shiftPatternCode", "names the shift pattern %q, which is neither in changes.shiftPatterns nor in %s", errdefs.Shorten(code), then)
	}
	for i, fields := range p.SKUs {
		field := fmt.Sprintf("changes.skus[%d]", i)
		var given []string
		for _, rate := range []string{"cycleTime", "unitsPerMinute", "unitsPerHour"} {
			if fields[rate] != nil {
				given = append(given, rate)
			}
		}
		at := slices.IndexFunc(m.SKUs, func(k manifest.SKU) bool { return k.Code == fields["code"] })
		switch {
		case at < 0:
			problem(field+".code", "names the SKU %q, which is not in %s", errdefs.Shorten(fmt.Sprint(fields["code"])), then)
		case len(given) > 1:
			problem(field, "must have exactly one of cycleTime, unitsPerMinute and unitsPerHour; %s are set", strings.Join(given, " and "))
		case !m.SKUs[at].CycleTime.Set() && !m.SKUs[at].UnitsPerMinute.Set() && !m.SKUs[at].UnitsPerHour.Set():
			problem(field, "must have exactly one of cycleTime, unitsPerMinute and unitsPerHour; none is set")
		}
	}
	for i, fields := range p.Reasons {
		if !hasReason(m.Reasons, fields["code"]) {
			problem(fmt.Sprintf("changes.reasons[%d].code", i), "names the reason %q, which is not in %s", errdefs.Shorten(fmt.Sprint(fields["code"])), then)
		}
	}
	for i, fields := range p.ShiftPatterns {
		if fields["shifts"] == nil {
			problem(fmt.Sprintf("changes.shiftPatterns[%d].shifts", i), "is required")
		}
	}
	return problems
}

func hasReason(tree []manifest.Reason, code any) bool {
	return slices.ContainsFunc(tree, func(r manifest.Reason) bool { return r.Code == code || hasReason(r.Reasons, code) })
}
