package httpapi

import (
	"slices"

	"opsmon/app/engine/floor"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/app/engine/report"
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

// oeeOf shows a sum.
func oeeOf(sum *oee.Sum, by []oee.By, p oee.Profile) oeeView {
	t := &sum.Terms
	f, lost := t.Figures(p), t.Lost()
	v := oeeView{
		bucketView: bucketView{
			PlantCode: orNull(sum.Plant), GroupCode: orNull(sum.Group), StationCode: orNull(sum.Station),
			StartAt: moment(sum.Start), EndAt: moment(sum.End),
		},
		Profile:      p.String(),
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
	if slices.Contains(by, oee.BySKU) {
		v.SKUCode = &sum.SKU
	}
	if slices.Contains(by, oee.ByShift) {
		v.ShiftName = orNull(sum.Shift)
	}
	return v
}

// by reads what figures are to be added up by.
func (c *call) by(allowed ...oee.By) []oee.By {
	by, err := report.ParseBy(c.query("by"), allowed...)
	_ = c.note(err) // ParseBy returns no other error
	return by
}

// getOEE answers GET /oee.
func getOEE(c *call) (reply, error) {
	by := c.by(oee.ByPlant, oee.ByGroup, oee.ByStation, oee.BySKU, oee.ByShift, oee.ByHour, oee.ByDay, oee.ByWeek, oee.ByMonth, oee.ByMinute)
	profile, ok := oee.ParseProfile(c.query("profile"))
	if !ok {
		c.fault("profile", "must be default, iso22400, vorne or evocon; it is %q", shorten(c.query("profile")))
	}
	x, err := c.choose(report.Longest(by), "today")
	if err != nil {
		return reply{}, err
	}
	reports := c.api.cfg.Reports
	if err := reports.CheckOEE(x, by); err != nil {
		return reply{}, err
	}
	if slices.Contains(by, oee.ByMinute) { // a row for each minute: few are a lot at once
		err = c.slot()
	} else {
		err = c.long(x, longSums)
	}
	if err != nil {
		return reply{}, err
	}
	sums, err := reports.OEE(c.r.Context(), x, by)
	if err != nil {
		return reply{}, err
	}
	return chunkedList(len(sums), func(i int) any { return oeeOf(&sums[i], by, profile) }), nil
}
