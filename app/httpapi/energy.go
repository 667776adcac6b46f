package httpapi

import (
	"opsmon/app/engine/energy"
	"opsmon/app/engine/oee"
	"opsmon/app/engine/report"
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

func energyOf(e *report.Energy) energyView {
	f := e.Figures()
	known := func(v energy.Figure) *float64 {
		if !v.Known {
			return nil
		}
		return &v.Value
	}
	return energyView{
		PlantCode: orNull(e.Plant), GroupCode: orNull(e.Group), StationCode: orNull(e.Station), StartAt: moment(e.Start), EndAt: moment(e.End),
		ElectricalKwh: known(f.KWh), OutsideKwh: known(f.Outside), Cost: known(f.Cost), CO2: known(f.CO2), ProductionCount: units(e.Units), ProductiveMs: e.ProductiveMs,
		KwhPerUnit: known(f.PerUnit), KwhPerProductiveH: known(f.PerProductiveHour), Coverage: ratioOf(e.Coverage()),
	}
}

// getEnergy answers GET /energy.
func getEnergy(c *call) (reply, error) {
	by := c.by(oee.ByPlant, oee.ByGroup, oee.ByStation, oee.ByHour, oee.ByDay, oee.ByWeek, oee.ByMonth)
	x, err := c.choose(report.Longest(by), "today")
	if err != nil {
		return reply{}, err
	}
	reports := c.api.cfg.Reports
	if err := reports.CheckEnergy(x, by); err != nil {
		return reply{}, err
	}
	if err := c.long(x, longSums); err != nil {
		return reply{}, err
	}
	results, err := reports.Energy(c.r.Context(), x, by)
	if err != nil {
		return reply{}, err
	}
	return chunkedList(len(results), func(i int) any { return energyOf(&results[i]) }), nil
}
