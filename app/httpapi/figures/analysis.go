package figures

import (
	"net/http"

	"opsmon/app/engine/report"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/httpapi/rest"
)

// analysisRoutes returns the operations on causes of downtime and cycle times.
func (api *API) analysisRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/pareto", Handle: api.getPareto, Query: rest.SelectionParams(),
			Operation: openapi.Operation{
				ID: "getPareto", Tag: "Monitoring", Summary: "List downtime by cause",
				About: "The longest comes first. Only the part of a stop that lies in the range counts. Downtime " +
					"without a cause is a line of its own.",
				Answer: "The causes.", Form: openapi.FormList, Gives: "ParetoLine", Also: []int{400},
				Sample: `{"causeCode":"JAM","name":"Jam","downtimeMs":1860000,"count":7,"share":0.62,"cumulative":0.62}`,
			},
		},
		{
			Method: http.MethodGet, Path: "/analysis/cycletime", Handle: api.getCycleTimes, Query: rest.SelectionParams(),
			Operation: openapi.Operation{
				ID: "getCycleTimes", Tag: "Monitoring", Summary: "List cycle times",
				About: "Measured from one signal to the next while a station ran on the same schedule, without a " +
					"stop, a pause or missing data in between. The range may be at most 31 days. A signal that " +
					"reports several cycles counts as that many equal ones.\n\n403: `enableCycleTimeAnalysis` is " +
					"off at a station that was named, or at all stations.",
				Answer: "The cycle times, by station and SKU.", Form: openapi.FormList, Gives: "CycleTimes", Also: []int{400},
				Sample: `{"stationCode":"PACK-1","skuCode":"BOWL","specifiedCycleMs":1000,"count":2812,
					"medianMs":1040,"best10PercentMs":985,"spreadMs":62}`,
			},
		},
	}
}

// barView is the downtime of one cause.
//
//openapi:schema ParetoLine
type barView struct {
	CauseCode  *string `json:"causeCode"` // code of the reason; null for downtime without a cause
	Name       *string `json:"name"`
	DowntimeMs int64   `json:"downtimeMs"`
	Count      int     `json:"count"`      // number of stops that overlap the range
	Share      float64 `json:"share"`      // share of all downtime
	Cumulative float64 `json:"cumulative"` // the share of this and all lines before
}

// getPareto handles GET /pareto.
func (api *API) getPareto(c *rest.Call) (rest.Reply, error) {
	x, err := c.Choose(report.LongestDetail, "today")
	if err != nil {
		return rest.Reply{}, err
	}
	if err := c.WaitIfLong(x, rest.LongDetail); err != nil {
		return rest.Reply{}, err
	}
	causes, err := api.Reports.Pareto(c.Request.Context(), x)
	if err != nil {
		return rest.Reply{}, err
	}
	results := make([]barView, len(causes))
	for i, b := range causes {
		results[i] = barView{rest.OrNull(b.Cause), rest.OrNull(b.Name), b.Ms, b.Count, b.Share, b.Cumulative}
	}
	return rest.List(results, -1)
}

// cycleView is the cycle times of a SKU at a station, ms.
//
//openapi:schema CycleTimes
type cycleView struct {
	StationCode      string   `json:"stationCode"`
	SKUCode          string   `json:"skuCode"`
	SpecifiedCycleMs *float64 `json:"specifiedCycleMs"` // cycle time by the present rate; null if there is no rate
	Count            int      `json:"count"`            // number of measured cycles
	MedianMs         float64  `json:"medianMs"`
	Best10PercentMs  float64  `json:"best10PercentMs"` // a tenth of the cycles took at most this long
	SpreadMs         float64  `json:"spreadMs"`        // from the first to the third quartile
}

// getCycleTimes handles GET /analysis/cycletime.
func (api *API) getCycleTimes(c *rest.Call) (rest.Reply, error) {
	x, err := c.Choose(report.LongestCycles, "today")
	if err != nil {
		return rest.Reply{}, err
	}
	on, err := x.Measured()
	if err != nil {
		return rest.Reply{}, err
	}
	if err := c.WaitIfLong(x, rest.LongDetail); err != nil {
		return rest.Reply{}, err
	}
	times, err := api.Reports.Cycles(c.Request.Context(), c.Principal.AccountID, on)
	if err != nil {
		return rest.Reply{}, err
	}
	results := make([]cycleView, len(times))
	for i, t := range times {
		results[i] = cycleView{t.Station, t.SKU, rest.OrNull(t.Specified), t.Count, t.Median, t.Best, t.Spread}
	}
	return rest.List(results, -1)
}
