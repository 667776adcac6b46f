package report

import (
	"cmp"
	"context"
	"slices"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/energy"
	"opsmon/app/engine/oee"
	"opsmon/app/engine/station"
)

// Energy is the energy of a place in a range.
type Energy struct {
	oee.Place
	Start, End int64 // ms
	energy.Usage
	Metered bool // some of it was measured by meters, which have no schedules
}

// Figures calculates the figures. Energy outside of production is unknown for meters.
func (e *Energy) Figures() energy.Figures {
	f := e.Usage.Figures()
	f.Outside.Known = f.Outside.Known && !e.Metered
	return f
}

// CauseEarlier is the cause of a coverage above 1: a meter's first reading covers time before the range as well.
const CauseEarlier = "readingFromBefore"

// Coverage returns the share of the stations' time that the energy covers, in ms. A meter's first reading may put it
// above 1.
func (e *Energy) Coverage() oee.Ratio {
	r := oee.Ratio{Numerator: float64(e.KnownMs), Denominator: float64(e.TotalMs)}
	if e.TotalMs > 0 {
		r.Value, r.Known = r.Numerator/r.Denominator, true
		if r.AboveOne = r.Value > 1; r.AboveOne {
			r.Cause = CauseEarlier
		}
	}
	return r
}

// part is a set of stations with one result.
type part struct {
	oee.Place
	members []string
	named   []string // the meters with the energy of the set; nil: the members'
}

// usages is the usage of stations by time and code.
type usages map[calendar.Range]map[string]energy.Usage

// CheckEnergy returns errdefs.Invalid if Energy would have too many results.
func (s *Service) CheckEnergy(x *Selection, by []oee.By) error {
	return s.checkSize(x.Account, x.withMeters(x.parts(by)), by)
}

// Energy returns the energy of a selection's stations, ordered by place and time, without results for times without
// usage. With an empty by it returns one result. Errors: errdefs.Invalid if there are too many results; the store's.
func (s *Service) Energy(ctx context.Context, x *Selection, by []oee.By) ([]Energy, error) {
	parts := x.parts(by)
	var unit calendar.Unit
	var timed bool
	for _, b := range by {
		if u, ok := b.Time(); ok {
			unit, timed = u, true
		}
	}
	used := usages{}
	err := s.sums(ctx, x.Account, x.withMeters(parts), by, func(r *station.Rules, _ []oee.Row, rows []energy.Row) error {
		var at calendar.Range
		for i := range rows {
			if u := &rows[i]; timed && (u.Start < at.Start || u.Start >= at.End) {
				at = r.Calendar.Bucket(u.Start, unit)
			}
			if used[at] == nil {
				used[at] = map[string]energy.Usage{}
			}
			sum := used[at][r.Code]
			sum.Add(&rows[i].Usage)
			used[at][r.Code] = sum
		}
		return s.tooMany(len(used) * len(parts))
	})
	if err != nil {
		return nil, err
	}
	if len(used) == 0 && !timed {
		used[calendar.Range{}] = nil
	}
	if err := s.tooMany(len(used) * len(parts)); err != nil {
		return nil, err
	}
	return x.energies(by, parts, used), nil
}

// parts returns the sets of stations with one result each: stations, groups or plants. If only some stations of a group
// or plant are selected, the meters named for it are not used.
func (x *Selection) parts(by []oee.By) (list []part) {
	finest := oee.ByPlant
	if x.Grouped {
		finest = oee.ByGroup
	}
	for _, b := range by {
		if _, timed := b.Time(); !timed {
			finest = max(finest, b)
		}
	}
	for _, s := range x.Stations {
		p := part{Place: oee.Place{Plant: s.Plant.Code}}
		if finest >= oee.ByGroup {
			p.Group = s.Group.Code
		}
		if finest == oee.ByStation {
			p.Station = s.Code
		}
		at := slices.IndexFunc(list, func(o part) bool { return o.Place == p.Place })
		if at < 0 {
			if !x.Named && finest < oee.ByStation && (finest == oee.ByGroup || !x.Grouped) {
				p.named = x.Plan.TotalEnergy(p.Plant, p.Group)
			}
			at = len(list)
			list = append(list, p)
		}
		list[at].members = append(list[at].members, s.Code)
	}
	return list
}

// withMeters returns the selected stations and the meters named for the parts.
func (x *Selection) withMeters(shown []part) []Station {
	read := slices.Clone(x.Stations)
	for _, p := range shown {
		for _, code := range p.named {
			meter := x.Plan.Of(code)
			if meter == nil || slices.ContainsFunc(read, func(a Station) bool { return a.Code == code }) {
				continue
			}
			from, to := x.Span(p.Plant)
			read = append(read, Station{Station: meter, From: from, To: to})
		}
	}
	return read
}

// energies returns the results.
func (x *Selection) energies(by []oee.By, shown []part, used usages) []Energy {
	times := make([]calendar.Range, 0, len(used))
	for r := range used {
		times = append(times, r)
	}
	slices.SortFunc(times, func(a, b calendar.Range) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	results := []Energy{}
	add := func(u energy.Usage, metered bool, p oee.Place, r calendar.Range) {
		if u == (energy.Usage{}) && r != (calendar.Range{}) {
			return
		}
		if r.End == 0 {
			r.Start, r.End = x.Span(p.Plant)
		}
		results = append(results, Energy{Place: p, Start: r.Start, End: r.End, Usage: u, Metered: metered})
	}
	// one result for the whole selection
	if !slices.ContainsFunc(by, func(b oee.By) bool { return b <= oee.ByStation }) {
		for _, r := range times {
			sum, some := energy.Usage{}, false
			for i := range shown {
				p := &shown[i]
				u := energy.Total(p.members, p.named, used[r])
				sum.Add(&u)
				some = some || x.metered(p, used[r])
			}
			add(sum, some, oee.Place{}, r)
		}
		return results
	}
	for i := range shown {
		p := &shown[i]
		for _, r := range times {
			add(energy.Total(p.members, p.named, used[r]), x.metered(p, used[r]), p.Place, r)
		}
	}
	return results
}

// metered reports whether meters measured some of the energy of a set of stations.
func (x *Selection) metered(p *part, used map[string]energy.Usage) bool {
	codes := p.named
	if codes == nil {
		codes = p.members
	}
	return slices.ContainsFunc(codes, func(code string) bool {
		s := x.Plan.Of(code)
		return s != nil && s.Monitor.MeterOnly && used[code].KnownMs+used[code].KWh > 0
	})
}
