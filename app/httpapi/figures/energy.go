package figures

import (
	"net/http"

	"opsmon/app/engine/energy"
	"opsmon/app/engine/oee"
	"opsmon/app/engine/report"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/httpapi/rest"
	"opsmon/app/instant"
)

// energyRoutes returns the operations on energy.
func (api *API) energyRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/energy", Handle: api.getEnergy, Query: append(rest.SelectionParams(), "by"),
			Operation: openapi.Operation{
				ID: "getEnergy", Tag: "Monitoring", Summary: "Read energy, cost and CO2",
				About: "Cost and CO2 use the account's prices and factors of that time. Energy that was not " +
					"measured is null, never 0. `coverage` is the share of the stations' time for which a sum " +
					"has data. The energy of a group or plant is that of its stations or, where " +
					"`totalEnergyStationCodes` is set and the whole group or plant is requested, of those " +
					"stations. The default range is today. An answer has at most 100,000 results.",
				Answer: "The energy, grouped as requested.", Form: openapi.FormList, Gives: "Energy", Also: []int{400},
				Sample: `{"plantCode":"leeds","groupCode":null,"stationCode":null,
					"startAt":"2026-11-20T00:00:00.000Z","endAt":"2026-11-21T00:00:00.000Z","electricalKwh":412.5,
					"outsideProductionKwh":38.2,"cost":97.8,"co2":80.2,"productionCount":24120,
					"productiveMs":50400000,"kwhPerUnit":0.0171,"kwhPerProductiveHour":29.46,
					"coverage":{"value":0.5,"numerator":86400000,"denominator":172800000}}`,
			},
		},
	}
}

// energyView is the energy of one group of stations and time.
//
//openapi:schema Energy
type energyView struct {
	PlantCode   *string `json:"plantCode"` // null unless grouped by plant
	GroupCode   *string `json:"groupCode"`
	StationCode *string `json:"stationCode"`
	StartAt     string  `json:"startAt" schema:"ref=Moment"` // start of the time bucket
	EndAt       string  `json:"endAt" schema:"ref=Moment"`
	// Measured energy; null if nothing was measured. coverage is the measured share.
	ElectricalKwh *float64 `json:"electricalKwh"`
	// Energy used while no production was scheduled; null if unknown, or if a meter measured some of it, as meters have
	// no schedules.
	OutsideKwh *float64 `json:"outsideProductionKwh"`
	// Cost of the measured energy at the prices of that time; null if a price is unknown.
	Cost *float64 `json:"cost"`
	// CO2 of the measured energy by the factors of that time; null if a factor is unknown.
	CO2             *float64 `json:"co2"`
	ProductionCount float64  `json:"productionCount"` // good and bad units
	ProductiveMs    int64    `json:"productiveMs"`
	KwhPerUnit      *float64 `json:"kwhPerUnit"` // null if nothing was made or no energy was measured
	// Null if nothing was productive or no energy was measured.
	KwhPerProductiveH *float64  `json:"kwhPerProductiveHour"`
	Coverage          ratioView `json:"coverage"` // share of the stations' time for which energy was measured, ms
}

func energyOf(e *report.Energy) energyView {
	f := e.Figures()
	known := func(v energy.Figure) *float64 {
		if !v.Known {
			return nil
		}
		return &v.Value
	}
	return energyView{
		PlantCode: rest.OrNull(e.Plant), GroupCode: rest.OrNull(e.Group), StationCode: rest.OrNull(e.Station), StartAt: instant.FormatMs(e.Start), EndAt: instant.FormatMs(e.End),
		ElectricalKwh: known(f.KWh), OutsideKwh: known(f.Outside), Cost: known(f.Cost), CO2: known(f.CO2), ProductionCount: units(e.Units), ProductiveMs: e.ProductiveMs,
		KwhPerUnit: known(f.PerUnit), KwhPerProductiveH: known(f.PerProductiveHour), Coverage: ratioOf(e.Coverage()),
	}
}

// getEnergy handles GET /energy.
func (api *API) getEnergy(c *rest.Call) (rest.Reply, error) {
	by := by(c, oee.ByPlant, oee.ByGroup, oee.ByStation, oee.ByHour, oee.ByDay, oee.ByWeek, oee.ByMonth)
	x, err := c.Choose(report.Longest(by), "today")
	if err != nil {
		return rest.Reply{}, err
	}
	reports := api.Reports
	if err := reports.CheckEnergy(x, by); err != nil {
		return rest.Reply{}, err
	}
	if err := c.WaitIfLong(x, rest.LongSums); err != nil {
		return rest.Reply{}, err
	}
	results, err := reports.Energy(c.Request.Context(), x, by)
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.ChunkedList(len(results), func(i int) any { return energyOf(&results[i]) }), nil
}
