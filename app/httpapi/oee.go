package httpapi

import (
	"slices"
	"strings"
	"time"

	"opsmon/app/engine/energy"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
)

// ratioView is a figure with its terms: ms, or units. Live stations carry the same.
type ratioView = floor.Figure

func ratioOf(r oee.Ratio) ratioView { return floor.FigureOf(r) }

// lossView is where time and units went. What is not known is null.
type lossView struct {
	Ms      *float64 `json:"ms"`
	Units   *float64 `json:"units"`
	Money   *float64 `json:"money"`        // in the account's currency
	Partial bool     `json:"moneyPartial"` // Money is that of a part: something else that was lost has no price
}

func lossOf(l oee.LossOf) lossView {
	known := func(v float64, ok bool) *float64 {
		if !ok {
			return nil
		}
		return &v
	}
	return lossView{known(l.Time, l.TimeKnown), known(l.Units, l.UnitsKnown), known(l.Money, l.MoneyKnown), l.Partial}
}

// lossesView are the losses by name.
type lossesView struct {
	Schedule             lossView `json:"schedule"`
	PlannedNonProduction lossView `json:"plannedNonProduction"`
	Downtime             lossView `json:"downtime"`
	Speed                lossView `json:"speed"`
	Quality              lossView `json:"quality"`
}

// bucketView names what figures are of; what they are not by is null.
type bucketView struct {
	PlantCode   *string `json:"plantCode"`
	GroupCode   *string `json:"groupCode"`
	StationCode *string `json:"stationCode"`
	SKUCode     *string `json:"skuCode"`
	ShiftName   *string `json:"shiftName"`
	StartAt     string  `json:"startAt"`
	EndAt       string  `json:"endAt"`
}

// outsideView is units that are in no ratio and no loss, and in productionGoodCount and productionBadCount.
type outsideView struct {
	UnscheduledGoodCount float64 `json:"unscheduledGoodCount"` // made without a production schedule
	UnscheduledBadCount  float64 `json:"unscheduledBadCount"`
	NoDataGoodCount      float64 `json:"noDataGoodCount"` // entered for one while nothing was known of the station
	NoDataBadCount       float64 `json:"noDataBadCount"`
}

func outsideOf(o *monitor.Outside) outsideView {
	return outsideView{units(o.UnscheduledGood), units(o.UnscheduledBad), units(o.UnknownGood), units(o.UnknownBad)}
}

// oeeView is a result of GET /oee.
type oeeView struct {
	bucketView
	Profile                  string    `json:"profile"`
	Availability             ratioView `json:"availability"`
	Performance              ratioView `json:"performance"`
	Quality                  ratioView `json:"quality"`
	OEE                      ratioView `json:"oee"`
	Coverage                 ratioView `json:"coverage"`
	TotalMs                  int64     `json:"totalMs"`
	ShiftMs                  int64     `json:"shiftMs"`
	ScheduledProductionMs    int64     `json:"scheduledProductionMs"`
	ScheduledNonProductionMs int64     `json:"scheduledNonProductionMs"`
	OutOfShiftMs             int64     `json:"outOfShiftMs"`
	NoDataMs                 int64     `json:"noDataMs"`
	DowntimeMs               int64     `json:"downtimeMs"`
	SlowMs                   int64     `json:"slowMs"`
	ProductiveMs             int64     `json:"productiveMs"`
	IdleMs                   int64     `json:"idleMs"`
	ExcludedMs               int64     `json:"excludedMs"`
	ProductionGoodCount      float64   `json:"productionGoodCount"`
	ProductionBadCount       float64   `json:"productionBadCount"`
	ProductionOtherCount     float64   `json:"productionOtherCount"`
	outsideView
	ProductionIdealCount  *float64   `json:"productionIdealCount"`
	ProductionTargetCount *float64   `json:"productionTargetCount"`
	Losses                lossesView `json:"losses"`
}

func oeeOf(t *oee.Terms, p oee.Profile, b bucketView) oeeView {
	f, lost := t.Figures(p), t.Lost()
	v := oeeView{
		bucketView: b, Profile: p.String(),
		Availability: ratioOf(f.A), Performance: ratioOf(f.P), Quality: ratioOf(f.Q), OEE: ratioOf(f.OEE), Coverage: ratioOf(f.Coverage),
		TotalMs: t.Total(), ShiftMs: t.Shift(), ScheduledProductionMs: t.Of(monitor.Production), ScheduledNonProductionMs: t.Of(monitor.NonProduction),
		OutOfShiftMs: t.Was(monitor.OutOfShift), NoDataMs: t.Was(monitor.NoData), DowntimeMs: t.Was(monitor.Downtime), SlowMs: t.Was(monitor.Slow),
		ProductiveMs: t.Was(monitor.Productive), IdleMs: t.Was(monitor.Idle), ExcludedMs: t.Excluded[0] + t.Excluded[1] + t.Excluded[2],
		ProductionGoodCount: units(t.Good), ProductionBadCount: units(t.Bad), ProductionOtherCount: units(t.Other),
		outsideView: outsideOf(&t.Outside),
		Losses: lossesView{
			Schedule: lossOf(lost[oee.LossSchedule]), PlannedNonProduction: lossOf(lost[oee.LossPlanned]), Downtime: lossOf(lost[oee.LossDowntime]),
			Speed: lossOf(lost[oee.LossSpeed]), Quality: lossOf(lost[oee.LossQuality]),
		},
	}
	if t.HasRate {
		v.ProductionIdealCount, v.ProductionTargetCount = &t.Ideal, &t.Target
	}
	return v
}

// by reads what figures are to be added up by.
func (c *call) by(allowed ...oee.By) []oee.By {
	by, err := readBy(c.query("by"), allowed)
	_ = c.note(err) // readBy returns no other error
	return by
}

// readBy reads what figures are to be added up by: at most two, of which at most one is a time.
func readBy(text string, allowed []oee.By) (by []oee.By, err error) {
	names := make([]string, len(allowed))
	for i, b := range allowed {
		names[i] = b.String()
	}
	times := 0
	for _, name := range parts(text) {
		b, ok := oee.ParseBy(name)
		switch {
		case !ok || !slices.Contains(allowed, b):
			return nil, errdefs.InvalidField("by", "must be up to two of %s, with a comma between them; it has %q", strings.Join(names, ", "), shorten(name))
		case slices.Contains(by, b):
			return nil, errdefs.InvalidField("by", "has %s twice", name)
		}
		if _, ok := b.Time(); ok {
			times++
		}
		by = append(by, b)
	}
	switch {
	case len(by) > 2:
		return nil, errdefs.InvalidField("by", "must be two or fewer; it has %d", len(by))
	case times > 1:
		return nil, errdefs.InvalidField("by", "must have one time at most; it is %q", shorten(text))
	}
	return by, nil
}

// Figures by the minute are given for a day at most, of 25 hours where the clock goes back, and for so many stations.
const (
	longestMinutes = 25 * time.Hour
	mostByMinute   = 4
)

// sums reads the sums that figures by something are made of: those of whole days, where hours do not matter.
func (c *call) sums(list []asked, by []oee.By, use func(*station.Rules, []oee.Row, []energy.Row) error) error {
	read := c.api.cfg.Floor.Days
	switch {
	case slices.Contains(by, oee.ByMinute):
		if read = c.api.cfg.Floor.Minutes; len(list) > mostByMinute {
			return errdefs.InvalidField("by", "may be minute for %d stations or fewer; there are %d", mostByMinute, len(list))
		}
	case slices.Contains(by, oee.ByHour):
		read = c.api.cfg.Floor.Rows
	}
	heard := func(s *station.Rules, rows []oee.Row, used []energy.Row) error {
		if err := c.r.Context().Err(); err != nil {
			return err
		}
		return use(s, rows, used)
	}
	for i := range list {
		if err := c.r.Context().Err(); err != nil {
			return err
		}
		if err := read(c.p.AccountID, []string{list[i].Code}, list[i].from, list[i].to, heard); err != nil {
			return err
		}
	}
	return nil
}

// longest is how long a range may be of which figures are asked for by something.
func longest(by []oee.By) time.Duration {
	switch {
	case slices.Contains(by, oee.ByMinute):
		return longestMinutes
	case slices.Contains(by, oee.ByHour):
		return longestDetail
	}
	return longestSums
}

// bucketOf names a bucket of a choice.
func (x *choice) bucketOf(b *oee.Bucket) bucketView {
	from, to := b.Start, b.End
	if to == 0 {
		from, to = x.spanOf(b.Plant)
	}
	return bucketView{PlantCode: orNull(b.Plant), GroupCode: orNull(b.Group), StationCode: orNull(b.Station), StartAt: moment(from), EndAt: moment(to)}
}

// getOEE answers GET /oee.
func getOEE(c *call) (reply, error) {
	by := c.by(oee.ByPlant, oee.ByGroup, oee.ByStation, oee.BySKU, oee.ByShift, oee.ByHour, oee.ByDay, oee.ByWeek, oee.ByMonth, oee.ByMinute)
	profile, ok := oee.ParseProfile(c.query("profile"))
	if !ok {
		c.fault("profile", "must be default, iso22400, vorne or evocon; it is %q", shorten(c.query("profile")))
	}
	x, err := c.choose(longest(by), "today")
	if err != nil {
		return reply{}, err
	}
	list := x.captured()
	if err := c.few(list, by); err != nil {
		return reply{}, err
	}
	if slices.Contains(by, oee.ByMinute) { // a row for each minute: few are a lot at once
		err = c.turn()
	} else {
		err = c.long(x, longSums)
	}
	if err != nil {
		return reply{}, err
	}
	places := make(map[string]oee.Place, len(list))
	for _, a := range list {
		places[a.Code] = oee.Place{Plant: a.Plant.Code, Group: a.Group.Code, Station: a.Code}
	}
	sums := oee.NewSummer(by...)
	err = c.sums(list, by, func(s *station.Rules, rows []oee.Row, _ []energy.Row) error {
		sums.Add(places[s.Code], s.Calendar, rows)
		return c.api.tooMany(sums.Len())
	})
	if err != nil {
		return reply{}, err
	}
	all := sums.Sums()
	if len(all) == 0 && len(by) == 0 {
		all = []oee.Sum{{}}
	}
	return pourList(len(all), func(i int) any { return x.oeeOf(&all[i], by, profile) }), nil
}

// oeeOf shows a sum of a choice.
func (x *choice) oeeOf(sum *oee.Sum, by []oee.By, profile oee.Profile) oeeView {
	b := x.bucketOf(&sum.Bucket)
	if slices.Contains(by, oee.BySKU) {
		b.SKUCode = &sum.SKU
	}
	if slices.Contains(by, oee.ByShift) {
		b.ShiftName = orNull(sum.Shift)
	}
	return oeeOf(&sum.Terms, profile, b)
}
