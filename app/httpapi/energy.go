package httpapi

import (
	"cmp"
	"slices"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/energy"
	"opsmon/app/engine/oee"
	"opsmon/app/engine/station"
)

// energyView is a result of GET /energy. What is not known is null.
type energyView struct {
	PlantCode         *string   `json:"plantCode"`
	GroupCode         *string   `json:"groupCode"`
	StationCode       *string   `json:"stationCode"`
	StartAt           string    `json:"startAt"`
	EndAt             string    `json:"endAt"`
	ElectricalKwh     *float64  `json:"electricalKwh"`        // of what is known
	OutsideKwh        *float64  `json:"outsideProductionKwh"` // used while no production was scheduled; null: a meter knows no schedules
	Cost              *float64  `json:"cost"`                 // in the account's currency
	CO2               *float64  `json:"co2"`
	ProductionCount   float64   `json:"productionCount"` // good and bad
	ProductiveMs      int64     `json:"productiveMs"`
	KwhPerUnit        *float64  `json:"kwhPerUnit"`
	KwhPerProductiveH *float64  `json:"kwhPerProductiveHour"`
	Coverage          ratioView `json:"coverage"` // ms of the stations' time: that the energy is of, and all of it
}

// energyOf shows a usage; metered tells that some of it was measured by meters, which have no schedules.
func energyOf(u *energy.Usage, metered bool, b bucketView) energyView {
	f := u.Figures()
	f.Outside.Known = f.Outside.Known && !metered
	known := func(v energy.Figure) *float64 {
		if !v.Known {
			return nil
		}
		return &v.Value
	}
	return energyView{
		PlantCode: b.PlantCode, GroupCode: b.GroupCode, StationCode: b.StationCode, StartAt: b.StartAt, EndAt: b.EndAt,
		ElectricalKwh: known(f.KWh), OutsideKwh: known(f.Outside), Cost: known(f.Cost), CO2: known(f.CO2), ProductionCount: units(u.Units), ProductiveMs: u.ProductiveMs,
		KwhPerUnit: known(f.PerUnit), KwhPerProductiveH: known(f.PerProductiveHour), Coverage: covered(u.KnownMs, u.TotalMs),
	}
}

// causeEarlier says that a reading is of time before the range as well.
const causeEarlier = "readingFromBefore"

// covered is the share of time that is known, which is above 1 where a meter's first reading tells of time before.
func covered(known, total int64) ratioView {
	v := ratioView{Numerator: float64(known), Denominator: float64(total)}
	if total > 0 {
		share := v.Numerator / v.Denominator
		v.Value = &share
		if v.AboveOne = share > 1; v.AboveOne {
			v.Cause = causeEarlier
		}
	}
	return v
}

// part is a set of stations whose energy is shown as one.
type part struct {
	oee.Place
	members []string
	named   []string // the meters whose energy is that of the set; nil: the members'
}

// getEnergy answers GET /energy.
func getEnergy(c *call) (reply, error) {
	by := c.by(oee.ByPlant, oee.ByGroup, oee.ByStation, oee.ByHour, oee.ByDay, oee.ByWeek, oee.ByMonth)
	x, err := c.choose(longest(by), "today")
	if err != nil {
		return reply{}, err
	}
	shown := c.parts(x, by)
	read := withMeters(x, shown)
	if err := c.few(read, by); err != nil {
		return reply{}, err
	}
	if err := c.long(x, longSums); err != nil {
		return reply{}, err
	}
	var unit calendar.Unit
	var timed bool
	for _, b := range by {
		if u, ok := b.Time(); ok {
			unit, timed = u, true
		}
	}
	buckets := map[calendar.Range]map[string]energy.Usage{}
	err = c.sums(read, by, func(s *station.Rules, _ []oee.Row, used []energy.Row) error {
		var at calendar.Range
		for i := range used {
			if u := &used[i]; timed && (u.Start < at.Start || u.Start >= at.End) {
				at = s.Calendar.Bucket(u.Start, unit)
			}
			if buckets[at] == nil {
				buckets[at] = map[string]energy.Usage{}
			}
			sum := buckets[at][s.Code]
			sum.Add(&used[i].Usage)
			buckets[at][s.Code] = sum
		}
		return c.api.tooMany(len(buckets) * len(shown))
	})
	if err != nil {
		return reply{}, err
	}
	if len(buckets) == 0 && !timed {
		buckets[calendar.Range{}] = nil
	}
	if err := c.api.tooMany(len(buckets) * len(shown)); err != nil {
		return reply{}, err
	}
	results := energies(x, by, shown, buckets)
	return pourList(len(results), func(i int) any { return &results[i] }), nil
}

// withMeters gives the stations that were asked for and the meters that are named for what is shown.
func withMeters(x *choice, shown []part) []asked {
	read := slices.Clone(x.asked)
	for _, p := range shown {
		for _, code := range p.named {
			meter := x.plan.Of(code)
			if meter == nil || slices.ContainsFunc(read, func(a asked) bool { return a.Code == code }) {
				continue
			}
			from, to := x.spanOf(p.Plant)
			read = append(read, asked{Station: meter, from: from, to: to})
		}
	}
	return read
}

// parts gives the sets of stations that are shown, each as one: stations, groups or plants. Where only some stations of a
// group or plant are chosen, the meters that are named for it say nothing.
func (c *call) parts(x *choice, by []oee.By) (list []part) {
	q := c.r.URL.Query()
	some, group := q.Get("stationcodes") != "", q.Get("groupcode") != ""
	finest := oee.ByPlant
	if group {
		finest = oee.ByGroup
	}
	for _, b := range by {
		if _, timed := b.Time(); !timed {
			finest = max(finest, b)
		}
	}
	for _, s := range x.asked {
		p := part{Place: oee.Place{Plant: s.Plant.Code}}
		if finest >= oee.ByGroup {
			p.Group = s.Group.Code
		}
		if finest == oee.ByStation {
			p.Station = s.Code
		}
		at := slices.IndexFunc(list, func(o part) bool { return o.Place == p.Place })
		if at < 0 {
			if !some && finest < oee.ByStation && (finest == oee.ByGroup || !group) {
				p.named = metersOf(x.plan, p.Place)
			}
			at = len(list)
			list = append(list, p)
		}
		list[at].members = append(list[at].members, s.Code)
	}
	return list
}

// metersOf gives the stations whose energy is that of a plant or group: totalEnergyStationCodes; nil where it is not set.
func metersOf(plan *station.Plan, at oee.Place) []string {
	for i := range plan.Plants {
		p := &plan.Plants[i]
		if p.Code != at.Plant {
			continue
		}
		if at.Group == "" {
			return p.TotalEnergy
		}
		for k := range p.Groups {
			if p.Groups[k].Code == at.Group {
				return p.Groups[k].TotalEnergy
			}
		}
	}
	return nil
}

// energies makes the results, in order of place and time. Where a place has nothing in a time it has no result.
func energies(x *choice, by []oee.By, shown []part, buckets map[calendar.Range]map[string]energy.Usage) []energyView {
	times := make([]calendar.Range, 0, len(buckets))
	for r := range buckets {
		times = append(times, r)
	}
	slices.SortFunc(times, func(a, b calendar.Range) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	results := []energyView{}
	add := func(u energy.Usage, metered bool, p oee.Place, r calendar.Range) {
		if u != (energy.Usage{}) || r == (calendar.Range{}) {
			results = append(results, energyOf(&u, metered, x.bucketOf(&oee.Bucket{Place: p, Start: r.Start, End: r.End})))
		}
	}
	metered := func(p *part, r calendar.Range) bool {
		codes := p.named
		if codes == nil {
			codes = p.members
		}
		return slices.ContainsFunc(codes, func(code string) bool {
			s := x.plan.Of(code)
			return s != nil && s.Monitor.MeterOnly && buckets[r][code].KnownMs+buckets[r][code].KWh > 0
		})
	}
	if !slices.ContainsFunc(by, func(b oee.By) bool { return b <= oee.ByStation }) { // all that was chosen, as one
		for _, r := range times {
			sum, some := energy.Usage{}, false
			for i := range shown {
				p := &shown[i]
				u := energy.Total(p.members, p.named, buckets[r])
				sum.Add(&u)
				some = some || metered(p, r)
			}
			add(sum, some, oee.Place{}, r)
		}
		return results
	}
	for i := range shown {
		p := &shown[i]
		for _, r := range times {
			add(energy.Total(p.members, p.named, buckets[r]), metered(p, r), p.Place, r)
		}
	}
	return results
}
