package figures

import (
	"net/http"
	"slices"

	"opsmon/app/engine/floor"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/app/engine/report"
	"opsmon/app/errdefs"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/httpapi/rest"
	"opsmon/app/instant"
)

// oeeRoutes returns the operations on OEE.
func (api *API) oeeRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/oee", Handle: api.getOEE, Query: append(rest.SelectionParams(), "by", "profile"),
			Operation: openapi.Operation{
				ID: "getOEE", Tag: "Monitoring", Summary: "Read OEE, losses and counts",
				About: "Energy meters, and stations that are only scheduled, are included only when they are named. " +
					"Ratios are calculated from sums and never averaged: a group's ratios come from the sums of " +
					"its stations. They are not capped at 1; `aboveOne` then names the likely cause. A ratio " +
					"with the denominator 0 is null. Time without data counts nowhere; `coverage` is the known " +
					"share of scheduled production. Ratios and losses use the units of known scheduled " +
					"production (with `forceAllShiftTimeAsPlannedProduction` also shift time without a " +
					"schedule); `unscheduledGoodCount` and `noDataGoodCount` are the rest of " +
					"`productionGoodCount`. The default range is today. Time buckets are complete even where the " +
					"range cuts them.\n\nAn answer has at most 100,000 results; a request for more is refused " +
					"before anything is read. Of requests for long ranges, three of an account and two of a " +
					"person run at once; others wait for up to 15 s, then get 503 with `Retry-After`.",
				Answer: "The figures, grouped as requested.", Form: openapi.FormList, Gives: "OEE", Also: []int{400},
				Sample: `{"plantCode":"leeds","groupCode":"packing","stationCode":"PACK-1","skuCode":null,
					"shiftName":null,"startAt":"2026-11-20T08:00:00.000Z","endAt":"2026-11-20T09:00:00.000Z",
					"profile":"default",
					"availability":{"value":0.8333333333333334,"numerator":3000000,"denominator":3600000},
					"performance":{"value":0.944,"numerator":2832,"denominator":3000},
					"quality":{"value":0.9957627118644068,"numerator":2820,"denominator":2832},
					"oee":{"value":0.7833333333333334,"numerator":0.7833333333333334,"denominator":1},
					"coverage":{"value":1,"numerator":3600000,"denominator":3600000},"totalMs":3600000,
					"shiftMs":3600000,"scheduledProductionMs":3600000,"scheduledNonProductionMs":0,"outOfShiftMs":0,
					"noDataMs":0,"downtimeMs":600000,"slowMs":120000,"productiveMs":2800000,"idleMs":80000,
					"excludedMs":0,"productionGoodCount":2820,"productionBadCount":12,"productionOtherCount":0,
					"unscheduledGoodCount":0,"unscheduledBadCount":0,"noDataGoodCount":0,"noDataBadCount":0,
					"productionIdealCount":3600,"productionTargetCount":3000,
					"losses":{"schedule":{"ms":0,"units":null,"money":0,"moneyPartial":false},
					"plannedNonProduction":{"ms":0,"units":null,"money":0,"moneyPartial":false},
					"downtime":{"ms":600000,"units":600,"money":300,"moneyPartial":false},
					"speed":{"ms":168000,"units":168,"money":84,"moneyPartial":false},
					"quality":{"ms":12000,"units":12,"money":6,"moneyPartial":false}}}`,
				Params: openapi.Params{
					"profile": {
						About:   "The profile by which ratios are calculated.",
						Schema:  `{"type": "string", "enum": ["default", "iso22400", "vorne", "evocon"], "default": "default"}`,
						Example: "iso22400",
					},
				},
			},
		},
	}
}

// ratioView is a figure with its terms: ms, or units. Live stations carry the same.
type ratioView = floor.Figure

func ratioOf(r oee.Ratio) ratioView { return floor.FigureOf(r) }

// lossView is a loss; unknown values are null.
//
//openapi:schema Loss
type lossView struct {
	Ms    *float64 `json:"ms"`
	Units *float64 `json:"units"`
	// In the account's currency; null where enableLostProductionCost is off or nothing has a price.
	Money *float64 `json:"money"`
	// The money covers only a part: some of the loss was, or may have been, at a station and with a SKU that have no
	// price.
	Partial bool `json:"moneyPartial"`
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
//
//openapi:schema Losses
type lossesView struct {
	Schedule             lossView `json:"schedule"`             // shift time without a schedule
	PlannedNonProduction lossView `json:"plannedNonProduction"` // time of non-production schedules
	Downtime             lossView `json:"downtime"`             // ideal less target
	Speed                lossView `json:"speed"`                // target less good and bad
	Quality              lossView `json:"quality"`              // bad units
}

// bucketView is the group of a result; dimensions that are not used are null.
type bucketView struct {
	PlantCode   *string `json:"plantCode"` // null unless grouped by plant
	GroupCode   *string `json:"groupCode"`
	StationCode *string `json:"stationCode"`
	SKUCode     *string `json:"skuCode"`
	ShiftName   *string `json:"shiftName"`
	StartAt     string  `json:"startAt" schema:"ref=Moment"` // start of the time bucket
	EndAt       string  `json:"endAt" schema:"ref=Moment"`
}

// outsideView is units that are in no ratio and no loss, and in productionGoodCount and productionBadCount.
type outsideView struct {
	// Part of productionGoodCount that was made without a production schedule; it is in no ratio and no loss.
	UnscheduledGoodCount float64 `json:"unscheduledGoodCount"`
	UnscheduledBadCount  float64 `json:"unscheduledBadCount"` // the same for bad units
	// Part of productionGoodCount that was entered for a production schedule during time without data; it is in no
	// ratio and no loss.
	NoDataGoodCount float64 `json:"noDataGoodCount"`
	NoDataBadCount  float64 `json:"noDataBadCount"` // the same for bad units
}

func outsideOf(o *monitor.Outside) outsideView {
	return outsideView{units(o.UnscheduledGood), units(o.UnscheduledBad), units(o.UnknownGood), units(o.UnknownBad)}
}

// oeeView is the figures of one group of stations and time, each with its terms.
//
//openapi:schema OEE
type oeeView struct {
	bucketView
	// The profile by which ratios are calculated.
	Profile      string    `json:"profile" schema:"enum=default|iso22400|vorne|evocon"`
	Availability ratioView `json:"availability"`
	Performance  ratioView `json:"performance"`
	Quality      ratioView `json:"quality"`
	OEE          ratioView `json:"oee"` // the product of the three ratios
	// Known share of scheduled production; the rest is in no figure.
	Coverage              ratioView `json:"coverage"`
	TotalMs               int64     `json:"totalMs" schema:"min=0"` // all of the time, ms
	ShiftMs               int64     `json:"shiftMs"`                // time in shift
	ScheduledProductionMs int64     `json:"scheduledProductionMs"`  // shift time in which a production schedule ran
	// Shift time in which a non-production schedule ran.
	ScheduledNonProductionMs int64 `json:"scheduledNonProductionMs"`
	// First of the classes of time: each millisecond is in exactly one.
	OutOfShiftMs int64 `json:"outOfShiftMs"`
	// Time without data: no signals, no manual downtime, no manual counts.
	NoDataMs     int64 `json:"noDataMs"`
	DowntimeMs   int64 `json:"downtimeMs"` // stopped in scheduled production, or by hand
	SlowMs       int64 `json:"slowMs"`     // slower than 80 % of the line speed target
	ProductiveMs int64 `json:"productiveMs"`
	IdleMs       int64 `json:"idleMs"` // time in none of the other classes
	// Excluded stops; part of noDataMs, but known to coverage.
	ExcludedMs int64 `json:"excludedMs"`
	// Good units reported in this time. Negative where more units made before were rejected or subtracted (see
	// StationWindow); a ratio above 1 for that reason has the cause negativeCount.
	ProductionGoodCount float64 `json:"productionGoodCount"`
	ProductionBadCount  float64 `json:"productionBadCount"` // the same for bad units
	// Units counted by a source that is not the schedule's; shown, not added.
	ProductionOtherCount float64 `json:"productionOtherCount"`
	outsideView
	// Units due in known scheduled production; null if there is no rate.
	ProductionIdealCount  *float64   `json:"productionIdealCount"`
	ProductionTargetCount *float64   `json:"productionTargetCount"` // the same without downtime
	Losses                lossesView `json:"losses"`                // the losses
}

// oeeOf returns the representation of a sum.
func oeeOf(sum *oee.Sum, by []oee.By, p oee.Profile) oeeView {
	t := &sum.Terms
	f, lost := t.Figures(p), t.Lost()
	v := oeeView{
		bucketView: bucketView{
			PlantCode: rest.OrNull(sum.Plant), GroupCode: rest.OrNull(sum.Group), StationCode: rest.OrNull(sum.Station),
			StartAt: instant.FormatMs(sum.Start), EndAt: instant.FormatMs(sum.End),
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
		v.ShiftName = rest.OrNull(sum.Shift)
	}
	return v
}

// by parses the dimensions of a request.
func by(c *rest.Call, allowed ...oee.By) []oee.By {
	by, err := report.ParseBy(c.Query("by"), allowed...)
	_ = c.Note(err) // ParseBy returns no other error
	return by
}

// getOEE handles GET /oee.
func (api *API) getOEE(c *rest.Call) (rest.Reply, error) {
	by := by(c, oee.ByPlant, oee.ByGroup, oee.ByStation, oee.BySKU, oee.ByShift, oee.ByHour, oee.ByDay, oee.ByWeek, oee.ByMonth, oee.ByMinute)
	profile, ok := oee.ParseProfile(c.Query("profile"))
	if !ok {
		c.Fault("profile", "must be default, iso22400, vorne or evocon; it is %q", errdefs.Shorten(c.Query("profile")))
	}
	x, err := c.Choose(report.Longest(by), "today")
	if err != nil {
		return rest.Reply{}, err
	}
	reports := api.Reports
	if err := reports.CheckOEE(x, by); err != nil {
		return rest.Reply{}, err
	}
	if slices.Contains(by, oee.ByMinute) { // with a row for each minute, a few days are many rows
		err = c.WaitLong()
	} else {
		err = c.WaitIfLong(x, rest.LongSums)
	}
	if err != nil {
		return rest.Reply{}, err
	}
	sums, err := reports.OEE(c.Request.Context(), x, by)
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.ChunkedList(len(sums), func(i int) any { return oeeOf(&sums[i], by, profile) }), nil
}
